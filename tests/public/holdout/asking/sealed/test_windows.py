"""Windows: every metric with an interval of its own, and every difference, is told coarsely, and sealed."""

import itertools
import json
import math
import re
from inspect import signature

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV

from sklearn_ada import Guess, Holdout, Metric, ReusableHoldoutCV
from sklearn_ada.cli import main
from sklearn_ada.guarantees import Windows
from tests.support.holdout.asking.sealed.counts import Failing

pytestmark = pytest.mark.filterwarnings("ignore:These rows, or nearly all")

N = 400
X, Y = make_classification(4 * N, n_features=8, flip_y=0.1, random_state=0)
XR, YR = make_regression(4 * N, n_features=5, noise=40.0, random_state=0)
TRAIN, GUESS, HELD = slice(0, N), slice(N, 3 * N), slice(3 * N, 4 * N)
MODEL, OTHER = (LogisticRegression(C=c).fit(X[TRAIN], Y[TRAIN]) for c in (1.0, 0.001))
RIDGE = Ridge().fit(XR[TRAIN], YR[TRAIN])
OF_CLASSES = (
    "roc_auc", "f1", "precision", "recall", "balanced_accuracy", "f1_macro", "matthews_corrcoef",
    "average_precision", "neg_log_loss", "neg_brier_score",
)  # fmt: skip
OF_NUMBERS = ("r2", "neg_mean_absolute_error", "neg_root_mean_squared_error", "neg_median_absolute_error")


@pytest.fixture
def opened(tmp_path):
    """Return a holdout, each time on a ledger of its own."""

    def opened(numbers=False, rows=HELD, **policy):
        policy = {"answers": "coarse", "random_state": 0, "ledger": tmp_path / f"{next(count)}.db", **policy}
        return Holdout(*((XR[rows], YR[rows]) if numbers else (X[rows], Y[rows])), **policy)

    count = itertools.count()
    return opened


def asked(scoring, numbers=None, rows=GUESS):
    """What is asked: a model, and how."""
    if scoring in OF_NUMBERS:
        return RIDGE, {"scoring": scoring, "guess_from": (XR[rows], YR[rows])}
    return MODEL, {"scoring": scoring, "guess_from": (X[rows], Y[rows])}


def bodies(holdout):
    return [record.body for record in holdout.ledger.records()]


def recomputed(holdout, path, capsys):
    """How many intervals of the certificate were computed again; none may only be compared."""
    holdout.export(path)
    assert main(["ledger", "verify", str(path.with_name("0.db")), "--certificate", str(path)]) == 0
    said = capsys.readouterr().out
    assert "only be compared" not in said
    return int(re.search(r"(\d+) intervals?", said)[1])


@pytest.mark.parametrize("scoring", [*OF_CLASSES, *OF_NUMBERS])
def test_while_searching_it_is_the_guess_for_next_to_nothing_and_later_the_value(
    scoring, tmp_path, capsys, opened
):
    holdout, (model, how) = opened(scoring in OF_NUMBERS), asked(scoring)
    answer = holdout.certify(model, **how)
    assert answer.verdict == "agrees"
    assert answer.cost.nats < 0.05
    X_held, y_held = (XR, YR) if scoring in OF_NUMBERS else (X, Y)
    truth = Metric(scoring).score(model, X_held[HELD], y_held[HELD])
    assert answer.value == pytest.approx(
        Metric(scoring).score(model, *how["guess_from"]), abs=0.02 * abs(truth)
    )
    published = holdout.publish(model, **how)
    assert published.verdict == "exact"
    assert published.value == pytest.approx(truth, rel=1e-2)
    assert answer.interval[0] <= published.interval[0] < published.interval[1] <= answer.interval[1]
    assert published.half_width < 0.8 * answer.half_width
    assert answer.published == pytest.approx(published.half_width, rel=0.25)
    is_table = "table" in bodies(holdout)[answer.index]["mechanism"]
    assert ("rounded to steps of" in published.certificate.target) != is_table
    assert not is_table or published.value == pytest.approx(truth, rel=1e-12)
    assert recomputed(holdout, tmp_path / "c.json", capsys) == 2


@pytest.mark.parametrize("scoring", [each for each in OF_CLASSES if each != "average_precision"])
def test_two_records_of_a_model_of_classes_are_on_one_page(scoring, opened):
    """A page of SQLite has 4,096 octets: room for two records whose bodies have some 1,836."""
    holdout, (model, how) = opened(), asked(scoring)
    holdout.certify(model, **how)
    body = bodies(holdout)[-1]
    assert len(json.dumps(body, sort_keys=True, separators=(",", ":"))) <= 1836
    assert not {"who", "label"} & body.keys()
    assert not {"reason", "route"} & body["outcome"].keys()


@pytest.mark.parametrize("value", [0.51, 0.57, 0.63, 0.69, 0.97, 0.99])
def test_a_window_is_recorded_with_eleven_digits_and_never_narrower(value, opened):
    holdout = opened()
    answer = holdout.certify(MODEL, scoring="roc_auc", guess=Guess(value, size=700.0))
    body = bodies(holdout)[-1]
    windows = Windows(**{name: body["mechanism"][name] for name in signature(Windows).parameters})
    number, ln_level = body["event"]["symbols"][0]["value"], body["ln_delta"] - math.log(2.0)
    (low, high), (least, most) = answer.interval, windows.window(number, ln_level)
    assert number != 0
    assert least - 2e-10 < low <= least < most <= high < most + 2e-10
    assert answer.interval == tuple(float(f"{end:.11g}") for end in answer.interval)


@pytest.mark.parametrize("scoring", ["roc_auc", "f1", "f1_macro", "r2", "neg_mean_absolute_error"])
def test_after_the_end_the_sealed_value_is_exact_at_the_level_of_its_asking(
    scoring, tmp_path, capsys, opened
):
    holdout, (model, how) = opened(scoring in OF_NUMBERS), asked(scoring)
    answer = holdout.certify(model, **how)
    early = holdout.unseal([holdout.certify(OTHER, **asked("roc_auc")[1])]) if scoring == "f1_macro" else []
    holdout.close()
    late = holdout.unseal([answer])[0]
    rows = (XR[HELD], YR[HELD]) if scoring in OF_NUMBERS else (X[HELD], Y[HELD])
    assert late.value == pytest.approx(Metric(scoring).score(model, *rows), rel=1e-6)
    assert answer.interval[0] <= late.interval[0] < late.value < late.interval[1] <= answer.interval[1]
    assert "rounded" not in late.certificate.target
    assert all("rounded to steps of" in each.certificate.target for each in early)
    assert holdout.unseal([answer])[0] == late
    assert recomputed(holdout, tmp_path / "c.json", capsys) == 2 + 2 * len(early)


@pytest.mark.parametrize("has_key", [False, True])
@pytest.mark.parametrize("scoring", ["roc_auc", "neg_log_loss", "f1", "f1_macro", "r2"])
def test_another_guess_is_answered_with_the_record(scoring, has_key, opened):
    holdout = opened(
        scoring in OF_NUMBERS, seal_key=X25519PrivateKey.generate().public_key() if has_key else None
    )
    model, how = asked(scoring)
    first = holdout.certify(model, **how)
    spent = holdout.report().nats
    again = holdout.certify(model, **asked(scoring, rows=slice(N, 2 * N))[1])
    guessed = holdout.certify(model, **asked(scoring, rows=slice(2 * N, 3 * N))[1])
    assert holdout.report().nats - spent < 0.003
    assert (again.index, guessed.index, again.interval) == (first.index, first.index, first.interval)
    if Metric(scoring).has_interval:
        assert holdout.certify(model, scoring=scoring).index == first.index


def test_a_difference_of_models_the_other_way_round_has_the_other_sign_whatever_the_window(opened):
    """A window around 0 is its own negation, and so nothing of it tells which way round it was asked."""
    holdout = opened()
    one, other = (
        holdout.compare(*models, scoring="accuracy", guess=0.0) for models in ((MODEL, OTHER), (OTHER, MODEL))
    )
    assert (one.value, one.interval) == (other.value, other.interval)
    assert (one.is_negated, other.is_negated, one.index) == (False, True, other.index)
    holdout.close()
    exact, negation = holdout.unseal([one, other])
    assert 0.0 != exact.value == -negation.value
    assert exact.interval == tuple(-end for end in reversed(negation.interval))
    assert holdout.unseal([negation]) == [negation]


@pytest.mark.parametrize("scoring", ["accuracy", "neg_brier_score"])
def test_a_difference_is_told_by_a_window_and_is_the_mirrored_one_the_other_way_round(scoring, opened):
    holdout, (_, how) = opened(), asked(scoring)
    one, other = holdout.compare(MODEL, OTHER, **how), holdout.compare(OTHER, MODEL, **how)
    assert (one.index, one.value, one.interval) == (
        other.index,
        -other.value,
        tuple(-e for e in other.interval[::-1]),
    )
    assert one.cost.nats < 0.05
    assert holdout.compare(MODEL, OTHER, scoring=scoring).index == one.index
    holdout.close()
    exact = holdout.unseal([one])[0]
    scores = [Metric(scoring).score(each, X[HELD], Y[HELD]) for each in (MODEL, OTHER)]
    assert exact.value == pytest.approx(scores[1] - scores[0])


@pytest.mark.parametrize(
    "scoring", ["neg_log_loss", "r2", "neg_mean_absolute_error", "neg_median_absolute_error", "f1_macro"]
)
@pytest.mark.parametrize("drawn", [True, False])
def test_publishing_by_hand_takes_the_guess_on_record(scoring, drawn, opened):
    """Range, tuning and guess of the asking are recorded: rows that are given again change nothing."""
    published = []
    for again in (True, False):
        holdout, (model, how) = opened(scoring in OF_NUMBERS), asked(scoring)
        holdout.certify(model, **how, drawn=drawn)
        how = how if again else {"scoring": scoring}
        published.append(holdout.publish(model, **how, drawn=drawn))
        assert holdout.publish(model, **how, drawn=drawn).index == published[-1].index
    assert published[0].interval == published[1].interval
    assert published[0].cost.nats == published[1].cost.nats


def test_publishing_by_hand_what_was_never_asked_needs_rows_that_tune_it(opened):
    holdout = opened(numbers=True)
    with pytest.raises(ValueError, match="give guess_from"):
        holdout.publish(RIDGE, scoring="r2")
    assert holdout.report().nats == 0.0


@pytest.mark.parametrize("scoring", ["neg_log_loss", "r2", "neg_mean_absolute_error", "f1_macro"])
def test_what_is_published_is_of_the_target_that_was_asked_whatever_rows_come_with_it(
    scoring, tmp_path, opened
):
    """Other rows suggest another range: what is clipped to that is another target.

    That they are no rows of the holdout is asked, too, for a millionth of a nat.
    """
    found = []
    for rows in (GUESS, slice(N, N + 60)):
        holdout, (model, how) = opened(scoring in OF_NUMBERS), asked(scoring)
        holdout.certify(model, **how)
        found.append(holdout.publish(model, **asked(scoring, rows=rows)[1]))
    assert found[0].value == found[1].value
    assert found[0].interval == pytest.approx(found[1].interval, rel=1e-7)
    assert found[0].certificate.target == found[1].certificate.target


@pytest.mark.parametrize("scoring", ["roc_auc", "neg_brier_score", "balanced_accuracy"])
def test_a_guess_that_is_far_off_is_contradicted_and_its_window_contains_what_is_sealed(scoring, opened):
    holdout, truth = opened(), Metric(scoring).score(MODEL, X[HELD], Y[HELD])
    answers = [
        holdout.certify(
            LogisticRegression(C=c).fit(X[TRAIN], Y[TRAIN]), scoring=scoring, guess=Guess(truth - off, 800)
        )
        for c, off in ((1.0, 0.0), (1.1, 0.11), (1.2, 0.3))
    ]
    assert [each.verdict for each in answers] == ["agrees", "differs", "differs"]
    assert answers[0].cost.nats < 0.05 < 3.0 < answers[1].cost.nats
    for answer in answers:
        assert answer.interval[0] <= answer.value <= answer.interval[1]
        assert answer.interval[0] < truth < answer.interval[1]
        assert "universal inference" in answer.certificate.theorem or answer.verdict == "differs"
    holdout.close()
    for answer, exact in zip(answers, holdout.unseal(answers), strict=True):
        assert answer.interval[0] <= exact.interval[0] < exact.interval[1] <= answer.interval[1]


def test_without_a_guess_nothing_is_foreseen_so_the_answer_is_exact_and_told_as_that(opened):
    holdout = opened()
    answer = holdout.certify(MODEL, scoring="roc_auc")
    assert (answer.verdict, answer.published) == ("exact", None)
    assert answer.cost.nats > 2.0
    published = holdout.publish(MODEL, **asked("roc_auc")[1])
    assert (published.value, published.verdict) == (answer.value, "exact")
    with pytest.warns(UserWarning, match="Without guess_from= the difference of two models is released"):
        assert holdout.compare(MODEL, OTHER, scoring="accuracy").verdict == "exact"


@pytest.mark.parametrize(
    "scoring", ["neg_brier_score", "r2", "neg_mean_absolute_error", "roc_auc", "f1_macro"]
)
def test_nothing_of_the_holdout_but_its_class_counts_is_in_what_is_fixed_before_the_look(scoring, tmp_path):
    rows, numbers = np.arange(3 * N, 4 * N), scoring in OF_NUMBERS
    X_held, y_held = (XR[rows], YR[rows]) if numbers else (X[rows], Y[rows])
    other = 5.0 * y_held if numbers else y_held[::-1]
    found = []
    for number, y in enumerate((y_held, other)):
        holdout = Holdout(X_held, y, ledger=tmp_path / f"{number}.db", answers="coarse")
        model, how = asked(scoring)
        holdout.certify(model, **how)
        found.append(next(body for body in bodies(holdout) if body.get("kind") == "sealed"))
    assert found[0]["mechanism"] == found[1]["mechanism"]


def test_all_that_is_sealed_has_one_length_and_stands_nowhere_in_the_clear(opened):
    holdout, lengths = opened(), set()
    for scoring in OF_CLASSES:
        holdout.certify(MODEL, **asked(scoring)[1])
    lengths = {len(body["sealed"]) for body in bodies(holdout) if body.get("kind") == "sealed"}
    assert lengths == {48}
    truth = Metric("roc_auc").score(MODEL, X[HELD], Y[HELD])
    assert f"{truth:.6f}" not in json.dumps(bodies(holdout))


def test_what_fails_is_paid_for_and_seals_nothing(opened):
    holdout = opened()
    answer = holdout.certify(Failing(1), scoring="balanced_accuracy", guess=Guess(0.5, 400))
    assert answer.verdict == "failed"
    assert answer.cost.nats > 6.0
    assert bodies(holdout)[-1]["sealed"] is None
    assert (
        holdout.publish(Failing(1), scoring="balanced_accuracy", guess=Guess(0.5, 400)).index == answer.index
    )


@pytest.mark.parametrize("guess", [1.01, -0.1, float("nan")])
def test_a_guess_that_is_no_value_of_the_metric_is_refused_for_nothing(guess, sentence, uncharged, opened):
    holdout = opened()
    with uncharged(holdout), pytest.raises(ValueError, match=sentence("guess", "Holdout.certify")):
        holdout.certify(MODEL, scoring="roc_auc", guess=guess)


def test_a_window_as_wide_as_the_range_is_called_vacuous(opened):
    holdout = opened(rows=slice(3 * N, 3 * N + 10))
    with pytest.warns(UserWarning, match="certif"):
        answer = holdout.certify(MODEL, scoring="roc_auc", guess=Guess(0.6, 2))
    assert (answer.interval, answer.certificate.vacuous) == ((0.0, 1.0), True)


@pytest.mark.parametrize("rows", [1, 10, 99])
def test_few_validation_rows_make_a_window_wider_than_their_number_alone(rows, opened):
    truth = Metric("neg_brier_score").score(MODEL, X[HELD], Y[HELD])
    asked_with = [Guess(truth, size, 0.15) for size in (rows, 100.0)]
    few, many = (opened().certify(MODEL, scoring="neg_brier_score", guess=guess) for guess in asked_with)
    wider = many.interval[0] - few.interval[0]
    assert wider > 0.0
    if rows == 10:  # Student's t at nine degrees of freedom
        tau = 0.15 * np.sqrt(1 / N + 1 / np.array([10.0, 100.0]))
        assert wider > 2.6 * 1.15 * tau[0] - 2.65 * tau[1]


def test_a_ledger_is_begun_with_the_shares_of_its_metric(tmp_path, opened):
    def shares(name, numbers=False, **policy):  # a ledger stays as it was begun
        return opened(numbers, ledger=tmp_path / name, **policy).ledger.genesis["shares"]

    assert shares("a.db") == shares("b.db", scoring="accuracy") == [0.8, 0.2]
    assert shares("c.db", scoring="roc_auc") == shares("d.db", True) == pytest.approx([0.95, 0.05])
    assert (
        shares("c.db") == shares("c.db", scoring="accuracy") == pytest.approx([0.95, 0.05])
    )  # as it was begun
    search = GridSearchCV(LogisticRegression(), {"C": [1.0]}, scoring="f1")
    path = tmp_path / "e.db"
    found = ReusableHoldoutCV(search, answers="coarse", ledger=path).fit(X, Y)
    assert found.holdout_.ledger.genesis["shares"] == pytest.approx([0.95, 0.05])


@pytest.mark.parametrize("scoring", ["roc_auc", "f1_macro", "neg_log_loss"])
def test_a_search_takes_the_stake_of_a_question_and_publishes(scoring):
    inner = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, scoring=scoring)
    search = ReusableHoldoutCV(inner, answers="coarse", ledger=":memory:", random_state=0).fit(X, Y)
    told = search.best_answer_
    assert told.verdict == "agrees"
    assert search.holdout_.ledger.read(lambda state: state.purse.left) > 0.9
    assert search.publish().half_width < 0.75 * told.half_width


def test_winners_of_one_round_rest_on_description_length():
    inner = GridSearchCV(LogisticRegression(), {"C": [0.01, 0.1, 1.0]}, scoring="roc_auc")
    search = ReusableHoldoutCV(inner, ask=2, answers="coarse", ledger=":memory:", random_state=0).fit(X, Y)
    assert [each.verdict for each in search.answers_] == ["agrees"] * 2
    assert not any("universal inference" in each.certificate.theorem for each in search.answers_)


def test_a_tolerance_looks_at_the_window_that_is_announced(opened):
    model, how = asked("roc_auc")
    wide = opened().certify(model, **how).half_width
    admitted, refused = (opened(tolerance=wide * factor).certify(model, **how) for factor in (1.1, 0.9))
    assert (admitted.verdict, refused.verdict) == ("agrees", "refused")


def test_weights_and_groups_have_windows_where_the_metric_has_an_interval(opened):
    rng = np.random.default_rng(0)
    for name, given in {"sample_weight": rng.uniform(0.5, 1.5, N), "groups": np.arange(N) // 2}.items():
        holdout = opened(**{name: given})
        for scoring in ("accuracy", "balanced_accuracy"):
            answer = holdout.certify(MODEL, **asked(scoring)[1])
            assert (answer.verdict, answer.cost.nats < 0.05) == ("agrees", True), (name, scoring)
        holdout.close()
        assert len(holdout.unseal()) == 2
