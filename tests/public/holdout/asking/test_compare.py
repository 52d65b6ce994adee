"""Is model b better than model a: coverage out of Holdouts, widths, identity, bad input."""

import zlib

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, make_classification, make_regression
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import get_scorer_names
from sklearn.naive_bayes import GaussianNB

from sklearn_ada import Holdout, Metric, Predictions
from sklearn_ada.metrics import as_metric
from tests.support.laws import is_too_often
from tests.support.models import Column

BETA = 0.05
REFUSED = "an interval of its own"


def drawn(rng, n, gain, loss):
    """Return rows of which model a alone is right on a share ``loss`` and model b alone on ``gain``."""
    y = rng.integers(0, 2, n)
    kind = rng.choice(3, n, p=[gain, loss, 1 - gain - loss])
    both = rng.random(n) < 0.8
    right_a, right_b = np.where(kind == 2, both, kind == 1), np.where(kind == 2, both, kind == 0)
    return np.c_[np.where(right_a, y, 1 - y), np.where(right_b, y, 1 - y)], y


LAWS = {"seldom": (0.02, 0.01), "often": (0.3, 0.2), "never worse": (0.1, 0.0), "never": (0.0, 0.0)}


def compared(law, seed, n=300, level=0.5, **options):
    rng = np.random.default_rng([seed, zlib.crc32(law.encode())])  # no two laws share a ledger
    X, y = drawn(rng, n, *LAWS[law])
    holdout = Holdout(X, y, ledger=":memory:", confidence_level=level, **options)
    guess = {} if seed % 2 else {"guess_from": drawn(rng, n, *LAWS[law])}
    return holdout.compare(Column(0), Column(1), scoring="accuracy", **guess)


def misses_of(answers, truth):
    return sum(not answer.interval[0] <= truth <= answer.interval[1] for answer in answers)


@pytest.mark.parametrize(
    ("law", "runs"), [("often", 8), *(pytest.param(law, 300, marks=pytest.mark.thorough) for law in LAWS)]
)
def test_intervals_of_differences_cover_the_truth(law, runs):
    answers = [compared(law, seed) for seed in range(runs)]
    truth, delta = LAWS[law][0] - LAWS[law][1], np.exp(answers[0].certificate.ln_delta)
    assert delta > 0.3
    assert not is_too_often(misses_of(answers, truth), runs, delta)


def test_a_difference_that_is_off_is_noticed():
    answers = [compared("often", seed) for seed in range(20)]
    off = 0.1 - 2.5 * np.mean([a.half_width for a in answers])
    assert is_too_often(misses_of(answers, off), 20, np.exp(answers[0].certificate.ln_delta))


def test_models_that_mostly_agree_are_told_apart_by_few_rows(tmp_path):
    rng = np.random.default_rng(0)
    X, y = drawn(rng, 2000, 0.05, 0.01)
    holdout = Holdout(X, y, ledger=tmp_path / "ledger.db")
    a, b = Column(0), Column(1)
    answer = holdout.compare(a, b, scoring="accuracy", guess_from=drawn(rng, 2000, 0.05, 0.01))
    singly = [Holdout(X, y, ledger=tmp_path / f"{name}.db") for name in "ab"]
    alone = [each.certify(m, scoring="accuracy", guess=0.8) for each, m in zip(singly, (a, b), strict=True)]
    assert answer.interval[0] > 0.0
    assert answer.half_width < 0.6 * sum(each.half_width for each in alone)
    assert answer.value == pytest.approx(b.score(X, y) - a.score(X, y), abs=0.001)


def test_a_comparison_is_recorded_repeated_and_reported_like_any_question(tmp_path):
    X, y = drawn(np.random.default_rng(1), 600, 0.1, 0.05)
    a, b = Column(0), Column(1)
    holdout = Holdout(X, y, ledger=tmp_path / "ledger.db", answers="coarse")
    first = holdout.compare(a, b, scoring="accuracy")
    again = Holdout(X, y, ledger=tmp_path / "ledger.db").compare(a, b, scoring="accuracy")
    assert (again.repeated, again.interval) == (True, first.interval)
    other = holdout.compare(b, a, scoring="accuracy")
    assert (other.repeated, other.value) == (True, -first.value)
    assert "of b minus a" in str(holdout.report())
    assert holdout.report().nats > 10.0


@pytest.fixture
def ridges():
    X, y = make_regression(1500, 5, noise=30, random_state=0)
    a, b = (Ridge(alpha=alpha).fit(X[:500], y[:500]) for alpha in (200.0, 1.0))
    return Holdout(X[1000:], y[1000:], ledger=":memory:"), (a, b), (X[500:1000], y[500:1000])


def test_bounded_errors_are_compared_by_bets(ridges):
    holdout, (a, b), rows = ridges
    metric, data = Metric("neg_mean_absolute_error", range=(-250, 0)), holdout._session.data
    answer = holdout.compare(a, b, scoring=metric, guess_from=rows)
    plain = metric.score(b, data.X, data.y) - metric.score(a, data.X, data.y)
    assert answer.value == pytest.approx(plain, abs=1.0)
    assert answer.interval[0] > 0.0
    assert "betting" in answer.certificate.theorem
    assert "clipped to +-250" in answer.certificate.target


def test_validation_rows_suggest_the_range_of_both_models(ridges):
    (holdout, pair, rows), scoring = ridges, "neg_mean_absolute_error"
    answer = holdout.compare(*pair, scoring=scoring, guess_from=rows)
    widest = min(as_metric(scoring).tuned(model, *rows).range for model in pair)
    assert f"clipped to +-{-widest[0]:g}" in answer.certificate.target
    assert answer.interval[0] > 0.0
    bounded = Metric(scoring, range=(-250, 0))
    for question, message in (
        ({"scoring": scoring}, r"It needs a range: Metric\(.*guess_from=\(X_val, y_val\)"),
        ({"scoring": "neg_root_mean_squared_error", "guess_from": rows}, "no interval for a difference"),
        ({"scoring": bounded, "guess_from": rows[0]}, "'guess_from' parameter of Holdout.compare must be a"),
        ({"scoring": bounded, "guess": 1e9}, "'guess' parameter of Holdout.compare"),
    ):
        with pytest.raises(ValueError, match=message):
            holdout.compare(*pair, **question)


@pytest.mark.parametrize("units", ["sample_weight", "groups"])
def test_with_weights_or_groups_the_difference_is_in_the_interval(units, tmp_path):
    X, y = drawn(np.random.default_rng(2), 600, 0.3, 0.05)
    holdout = Holdout(X, y, ledger=tmp_path / "ledger.db", **{units: 1 + np.arange(600) // 2})
    low, high = holdout.compare(Column(0), Column(1), scoring="accuracy").interval
    assert low < 0.25 < high


@pytest.mark.parametrize("scoring", ["f1", "roc_auc", "balanced_accuracy", "r2", "neg_mean_absolute_error"])
def test_metrics_without_a_paired_interval_are_refused_by_name(scoring):
    X, y = drawn(np.random.default_rng(3), 100, 0.1, 0.1)
    holdout = Holdout(X, y, ledger=":memory:")
    with pytest.raises(ValueError, match=rf"'scoring' parameter of Holdout.compare .* Got '{scoring}'"):
        holdout.compare(Column(0), Column(1), scoring=scoring)
    assert not holdout.report().answers


def test_bad_models_are_refused_before_anything_is_charged():
    X, y = drawn(np.random.default_rng(4), 100, 0.1, 0.1)
    holdout = Holdout(X, y, ledger=":memory:")
    good = LogisticRegression().fit(X, y)
    for bad, error in (
        (LogisticRegression(), NotFittedError),
        (LogisticRegression().fit(np.c_[X, X], y), ValueError),
        (LogisticRegression().fit(X, y + (np.arange(100) == 0)), ValueError),
        ("a model", TypeError),
        (Predictions(y), ValueError),
    ):
        for pair in ((good, bad), (bad, good)):
            with pytest.raises(error):
                holdout.compare(*pair, scoring="accuracy")
    assert not holdout.report().answers
    private = Holdout(X[:90], y[:90], ledger=":memory:", route="differential_privacy")
    with pytest.raises(ValueError, match=r"'route' parameter of Holdout\.compare"):
        private.compare(good, good, scoring="accuracy")


SETS = {
    "digits": lambda: load_digits(return_X_y=True),
    "breast cancer": lambda: load_breast_cancer(return_X_y=True),
    "5 percent": lambda: make_classification(4000, weights=[0.95], flip_y=0.02, random_state=0),
    "noisy": lambda: make_classification(4000, flip_y=0.4, random_state=1),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_differences_on_real_sets_are_covered(name):
    """Holdouts are drawn anew from rows that nobody was fitted on; the truth is at their class mix."""
    X, y = SETS[name]()
    order = np.random.default_rng(0).permutation(len(y))
    X, y, fitted_on = X[order], y[order], len(y) // 3
    a = GaussianNB().fit(X[:fitted_on], y[:fitted_on])
    b = LogisticRegression(max_iter=5000).fit(X[:fitted_on], y[:fitted_on])
    rest, labels = X[fitted_on:], y[fitted_on:]
    away = (b.predict(rest) == labels) * 1.0 - (a.predict(rest) == labels)
    by_class = {label: away[labels == label].mean() for label in np.unique(labels)}
    misses = 0
    for seed in range(500):
        rng = np.random.default_rng(seed)
        rows, others = (rng.integers(0, len(labels), 400) for _ in range(2))
        holdout = Holdout(rest[rows], labels[rows], ledger=":memory:")
        answer = holdout.compare(a, b, scoring="accuracy", guess_from=(rest[others], labels[others]))
        misses += misses_of([answer], np.mean([by_class[label] for label in labels[rows]]))
    assert not is_too_often(misses, 500, BETA)


NEWER = [name for name in ("d2_brier_score", "d2_log_loss_score") if name in get_scorer_names()]
PER_RECORD = ["neg_brier_score", *(Metric(name, range=(-3, 1)) for name in NEWER)]
PER_RECORD.append(Metric("neg_log_loss", range=(-3, 0)))


@pytest.mark.parametrize("scoring", PER_RECORD, ids=str)
@pytest.mark.parametrize("how", ["conditional", "priced", "weights", "groups"])
def test_probabilities_are_compared_exactly_where_they_are_certified(scoring, how, tmp_path):
    """A metric of which the class mix is a part has no difference either where it has no interval."""
    X, y = make_classification(700, 6, flip_y=0.1, random_state=1)
    kinds = {
        "conditional": {}, "priced": {"class_mix": "priced"},
        "weights": {"sample_weight": np.linspace(0.5, 1.0, 300)}, "groups": {"groups": np.arange(300) // 3},
    }  # fmt: skip
    holdout = Holdout(X[:300], y[:300], ledger=tmp_path / "ledger.db", **kinds[how])
    a, b = (LogisticRegression(C=C).fit(X[300:500], y[300:500]) for C in (1e-4, 1.0))
    rows = X[500:], y[500:]
    if str(scoring).startswith("Metric('d2") and how != "conditional":
        messages = set()
        for ask, models in ((holdout.certify, [b]), (holdout.compare, [a, b])):
            with pytest.raises(ValueError, match=REFUSED) as refused:
                ask(*models, scoring=scoring, guess_from=rows)
            messages.add(str(refused.value))
        assert len(messages) == 1
        assert holdout.report().asked == {"check": 0, "certify": 0}
        return
    answer = holdout.compare(a, b, scoring=scoring, guess_from=rows)
    of_a, of_b = (as_metric(scoring).score(model, X[:300], y[:300]) for model in (a, b))
    if how in ("conditional", "priced"):
        assert answer.value == pytest.approx(of_b - of_a, abs=0.1 * answer.half_width)
        assert answer.half_width < 0.2
    assert answer.interval[0] <= answer.value <= answer.interval[1]


BEFORE = "sklearn_ada.metrics.pairs.chosen"
"""What decides whether tables of pairs are used; they were not in ledgers that are older than they are."""


def one_in_twenty(tmp_path, name, **options):
    """Return a holdout of rows of which two models differ on one in twenty, and what is asked."""
    rng = np.random.default_rng(3)
    X, y = drawn(rng, 1000, 0.03, 0.02)
    holdout = Holdout(X, y, ledger=tmp_path / f"{name}.db", random_state=0, **options)
    asked = {"scoring": "accuracy", "guess_from": drawn(rng, 1000, 0.03, 0.02)}
    return holdout, lambda: holdout.compare(Column(0), Column(1), **asked)


@pytest.mark.parametrize(
    ("class_mix", "theorem"), [("priced", "tables of pairs"), ("conditional", "two bin")]
)
@pytest.mark.parametrize("answers", ["exact", "coarse"])
def test_tables_of_pairs_are_narrower_and_named_with_the_question(
    class_mix, theorem, answers, tmp_path, monkeypatch
):
    options = {"class_mix": class_mix, "answers": answers}
    holdout, compare = one_in_twenty(tmp_path, "now", **options)
    now = compare()
    with monkeypatch.context() as patched:
        patched.setattr(BEFORE, lambda *given: None)
        then = one_in_twenty(tmp_path, "then", **options)[1]()
    assert now.half_width < (0.97 if answers == "coarse" else 0.9) * then.half_width
    assert theorem in now.certificate.theorem
    (mechanism,) = (r.body["mechanism"] for r in holdout.ledger.records() if "mechanism" in r.body)
    named = mechanism["interval"]["construction"] if answers == "exact" else mechanism["tuning"]["by"]
    assert named == "tables of pairs"


def test_a_bare_guess_at_a_class_mix_decides_nothing(tmp_path):
    holdout, _ = one_in_twenty(tmp_path, "bare")
    answer = holdout.compare(Column(0), Column(1), scoring="accuracy", guess=0.01)
    assert "McNemar" in answer.certificate.theorem


def test_a_record_that_names_no_construction_is_read_by_the_one_that_it_was_asked_with(tmp_path, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(BEFORE, lambda *given: None)
        old, compare = one_in_twenty(tmp_path, "old", answers="coarse")
        answer = compare()
        twin, compare_twin = one_in_twenty(tmp_path, "twin", answers="coarse")
        twins = compare_twin()
        twin.close()
        expected = twin.unseal([twins])[0]
    assert compare().index == answer.index  # the construction is no part of the question
    old.close()
    assert old.unseal([answer])[0].interval == expected.interval
    assert "McNemar" in expected.certificate.theorem


@pytest.mark.parametrize("class_mix", ["priced", pytest.param("conditional", marks=pytest.mark.thorough)])
def test_tables_of_pairs_cover_the_difference_out_of_holdouts(class_mix):
    """At a delta at which misses are seen; rows of each class are of a law of their own."""
    runs, missed = 30, 0
    for seed in range(runs):
        rng = np.random.default_rng([seed, len(class_mix)])
        rows = [drawn(rng, 300, 0.05, 0.03) for _ in range(2)]
        holdout = Holdout(*rows[0], ledger=":memory:", confidence_level=0.5, class_mix=class_mix)
        answer = holdout.compare(Column(0), Column(1), scoring="accuracy", guess_from=rows[1])
        missed += not answer.interval[0] <= 0.02 <= answer.interval[1]
    assert not is_too_often(missed, runs, np.exp(answer.certificate.ln_delta))
