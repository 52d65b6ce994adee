"""A holdout with sample_weight and groups: values, intervals, targets, prices, refusals."""

import math
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import (
    balanced_accuracy_score,
    cohen_kappa_score,
    get_scorer,
    make_scorer,
    recall_score,
    roc_auc_score,
)
from sklearn.model_selection import GridSearchCV, GroupKFold

from sklearn_ada import (
    Holdout,
    MedianSettings,
    Metric,
    NoiseSettings,
    ReusableHoldoutCV,
    StableHoldoutScorer,
    ThresholdoutScorer,
)
from sklearn_ada.exceptions import LedgerMismatchError
from tests.support import holdouts

N = 250
WEIGHT = np.random.default_rng(0).exponential(size=N).clip(0.1, 4.0)
GROUPS = np.array([f"patient {i // 5}" for i in range(N)])
UNITS = {"sample_weight": WEIGHT, "groups": GROUPS}
WEIGHTED, GROUPED = {"sample_weight": WEIGHT}, {"groups": GROUPS}
BOUNDED = {"sample_weight": WEIGHT, "weight_bound": 4.0}


@pytest.fixture
def made(rows, tmp_path):
    """A holdout of the rows with a ledger of its own."""

    def make(name="ledger", y=None, **params):
        return Holdout(rows[2], rows[3] if y is None else y, ledger=tmp_path / f"{name}.db", **params)

    return make


def certify(holdout, model, scoring="accuracy"):
    return holdout.certify(model, scoring=scoring, guess=0.8)


def hoeffding_end(value, size, ln_delta, side):
    return value + side * math.sqrt((math.log(2) - ln_delta) / (2 * size))


PLAIN = {
    "accuracy": lambda y, p, w: np.average(y == p, weights=w),
    "balanced_accuracy": lambda y, p, w: balanced_accuracy_score(y, p, sample_weight=w),
    "recall": lambda y, p, w: recall_score(y, p, sample_weight=w),
}


@pytest.mark.parametrize("name", PLAIN)
def test_certified_values_are_scikit_learns_weighted_scores(name, made, rows, model):
    answer = certify(made(**WEIGHTED), model, name)
    assert answer.value == pytest.approx(PLAIN[name](rows[3], model.predict(rows[2]), WEIGHT), abs=0.01)
    assert answer.interval[0] < answer.value < answer.interval[1]
    target = f"population {name} at the holdout's class mix and weights"
    assert answer.certificate.target.startswith(f"{target}, rounded to steps of ")


@pytest.mark.parametrize("units", [WEIGHTED, UNITS], ids=" and ".join)
def test_a_weighted_mean_has_hoeffdings_interval_of_kishs_size(units, made, rows, model):
    answer, with_groups = certify(made(**units), model), "groups" in units
    totals = WEIGHT.reshape(-1, 5).sum(axis=1) if with_groups else WEIGHT
    size = totals.sum() ** 2 / np.sum(totals**2)
    value = np.average(model.predict(rows[2]) == rows[3], weights=WEIGHT)
    cell = 1.001 * abs(answer.value - value) + 0.01
    for end, side in zip(answer.interval, (-1, 1), strict=True):
        assert end == pytest.approx(hoeffding_end(value, size, answer.certificate.ln_delta, side), abs=cell)
    assert ("group sizes" in answer.certificate.target) is with_groups
    assert ("holdout groups are independent" in answer.certificate.assumptions[0]) is with_groups


def test_groups_of_one_size_widen_the_interval_to_chernoffs_of_their_number(made, model):
    plain, grouped = certify(made("plain"), model), certify(made(**GROUPED), model)
    assert grouped.half_width > 1.8 * plain.half_width
    hoeffding_width = hoeffding_end(0, 50, grouped.certificate.ln_delta, 2)
    assert 0.5 * hoeffding_width < grouped.interval[1] - grouped.interval[0] < 0.95 * hoeffding_width


@pytest.mark.parametrize("purpose", ["check", "certify"])
def test_a_bound_certifies_the_population_and_releases_the_mean_weight_once(purpose, made, model):
    holdout = made(**BOUNDED)
    assert 2.0 < holdout.report().nats < 6.0
    answer = holdouts.ask(holdout, model, scoring="accuracy", purpose=purpose, guess=0.8)
    target = "population's weighted accuracy at the holdout's class mix"
    assert answer.certificate.target.partition(", rounded")[0] == target
    assert "weight_bound" in " ".join(answer.certificate.assumptions)
    least = N * (WEIGHT.mean() / 4.0) ** 2
    assert answer.interval[0] <= hoeffding_end(answer.value, least, answer.certificate.ln_delta, -1)
    records = list(made(**BOUNDED).ledger.records())
    assert [record.body.get("kind") for record in records].count("mean weight") == 1


def test_a_bounded_group_size_certifies_the_population(made, model):
    answer = certify(made(groups=GROUPS, weight_bound=10), model)
    target = "population accuracy at the holdout's class mix"
    assert answer.certificate.target.startswith(f"{target}, rounded to steps of ")


def test_the_stable_median_takes_any_metric_with_weights(made, model, rows):
    settings = MedianSettings(n_subsamples=1, method="exact")
    asked = {"scoring": Metric("roc_auc", kind="general", range=(0, 1)), "settings": settings}
    answer = holdouts.ask(made(**WEIGHTED), model, purpose="check", **asked)
    expected = roc_auc_score(rows[3], model.decision_function(rows[2]), sample_weight=WEIGHT)
    assert answer.value == pytest.approx(expected, abs=0.002)


def test_subsamples_of_the_stable_median_hold_whole_groups_and_are_no_more_than_they(made, model):
    holdout = made(**GROUPED)
    asked = {"scoring": Metric("f1", kind="general", range=(0, 1)), "purpose": "check"}
    question = holdouts.plan(holdout, model, settings=MedianSettings(n_subsamples=7), **asked)
    blocks = list(question.rows)
    taken = [set(GROUPS[block]) for block in blocks]
    assert [len(some) for some in taken] == [7] * 7
    together = set().union(*taken)
    assert len(together) == 49
    assert sorted(np.concatenate(blocks)) == sorted(np.flatnonzero(np.isin(GROUPS, list(together))))
    answer = holdouts.ask(holdout, model, guess=0.8, **asked)
    assert "random subsamples of 25 groups" in answer.certificate.target
    with pytest.raises(ValueError, match="groups"):
        holdouts.plan(holdout, model, guess=0.5, settings=MedianSettings(n_subsamples=60), **asked)


@pytest.mark.parametrize("name", ["roc_auc", "f1", "precision", "jaccard", "roc_auc_ovr"])
@pytest.mark.parametrize("units", [WEIGHTED, GROUPED, BOUNDED], ids=["weights", "groups", "bound"])
def test_what_is_not_sound_is_refused_and_names_the_way(name, units, made, model, uncharged):
    holdout = made(**units)
    if units is not BOUNDED and name != "roc_auc_ovr":
        assert holdout._session.data.has_interval(Metric(name))
        return
    with uncharged(holdout), pytest.raises(ValueError, match=r"StableHoldoutScorer, or Metric\("):
        certify(holdout, model, name)
    assert not holdout._session.data.has_interval(Metric(name))


def test_class_means_with_a_bound_are_refused(made, model):
    with pytest.raises(ValueError, match="a mean to have"):
        certify(made(**BOUNDED), model, "recall")


def test_noise_is_scaled_to_the_heaviest_unit(made, model):
    settings = NoiseSettings("laplace", 0.01, threshold=0.05)
    asked = {"scoring": "accuracy", "purpose": "check", "guess": 0.8, "settings": settings}
    question = holdouts.plan(made(**UNITS), model, **asked)
    assert question.sensitivity == pytest.approx(WEIGHT.reshape(-1, 5).sum(axis=1).max() / WEIGHT.sum())
    with pytest.raises(ValueError, match="weight_bound"):
        holdouts.plan(made("bound", **BOUNDED), model, **asked)


class Right:
    """Is right on some rows, or on all others."""

    classes_ = np.array([0, 1])

    def __init__(self, y, rows, sign):
        self.labels = np.where(rows == sign, y, 1 - y)

    def predict(self, X):
        return self.labels


def test_models_are_selected_by_the_weighted_metric(made, rows):
    heavy = np.arange(N) < 0.2 * N
    early, late = (Right(rows[3], heavy, sign) for sign in (True, False))
    pair = (made("weighted", sample_weight=np.where(heavy, 100.0, 1.0)), made("plain"))
    chosen = [each.select([late, early], scoring="accuracy", epsilon=None) for each in pair]
    assert chosen == [1, 0]


def test_the_genesis_fixes_weights_and_groups(made):
    made(**WEIGHTED)
    made(**WEIGHTED)
    for other in ({}, {"sample_weight": WEIGHT[::-1]}, UNITS):
        with pytest.raises(LedgerMismatchError):
            made(**other)


BAD = {
    "weights too short": ("sample_weight", np.ones(N - 1)),
    "a table of weights": ("sample_weight", np.ones((N, 1))),
    "negative weights": ("sample_weight", np.r_[-918273.0, np.ones(N - 1)]),
    "NaN among weights": ("sample_weight", np.r_[np.nan, np.ones(N - 1)]),
    "no weight at all": ("sample_weight", np.zeros(N)),
    "weights that are words": ("sample_weight", ["heavy"] * N),
    "groups too short": ("groups", np.arange(N - 1)),
    "a missing group": ("groups", [None, *range(N - 1)]),
    "pandas.NA among groups": ("groups", pd.Series([None, *"ab" * 124, "a"], dtype="string")),
    "NaN among groups": ("groups", np.r_[np.nan, np.ones(N - 1)]),
    "one group": ("groups", np.ones(N)),
    "a bound below a weight": ("weight_bound", 0.5),
    "a bound of NaN": ("weight_bound", math.nan),
    "a bound of 0": ("weight_bound", 0),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_weights_and_groups_are_refused_before_there_is_a_ledger(case, made, sentence, tmp_path):
    name, value = BAD[case]
    with pytest.raises(ValueError, match=sentence(name, "Holdout")) as caught:
        made(**{name: value})
    assert "918273" not in str(caught.value)
    assert not list(tmp_path.iterdir())


FEW = np.arange(N) % 5
GIANT = {"groups": np.maximum(np.arange(N) - 150, 0)}
HEAVY = {"sample_weight": np.r_[1e6, np.ones(N - 1)]}


ASKS = {
    "certify": lambda holdout, model, scoring: holdout.certify(model, scoring=scoring, guess=0.8),
    "publish": lambda holdout, model, scoring: holdout.publish(model, scoring=scoring, guess=0.8),
    "check": lambda holdout, model, scoring: holdout.check(model, scoring=scoring, guess=0.8),
    "many": lambda holdout, model, scoring: holdout.check_many([model], scoring=scoring, guesses=[0.8]),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("ask", ASKS.values(), ids=ASKS)
@pytest.mark.parametrize(("units", "scoring", "message"), [
    (GIANT, "accuracy", "100 groups, which for accuracy count like 2.* one of them has 60% of the rows"),
    (GIANT, "roc_auc", "100 groups, which for roc_auc count like .* one of them has 60% of the rows"),
    (HEAVY, "recall", "250 rows, which for recall count like .* one of them has 100% of the weight"),
    (HEAVY | {"weight_bound": 1e7}, "accuracy", "as weight_bound is far above the mean weight"),
    ({"groups": FEW}, "roc_auc", "has 5 groups: of a model"),
    ({"groups": np.arange(N)}, "accuracy", "Every group of the holdout is one row"),
], ids=["giant", "giant of pairs", "heavy", "bound", "few", "of one"])  # fmt: skip
def test_what_certifies_little_is_warned_of_before_it_is_paid_for(
    units, scoring, message, ask, made, model, uncharged
):
    holdout = made(**units)
    with uncharged(holdout), pytest.raises(UserWarning, match=message):
        ask(holdout, model, scoring)


def test_a_search_is_warned_of_a_group_with_most_rows_before_it_is_fitted(rows, tmp_path):
    groups = np.maximum(np.arange(len(rows[1])) - 120, 0)
    search = ReusableHoldoutCV(
        GridSearchCV(LogisticRegression(), {"C": [0.1]}, cv=GroupKFold(2)), ledger=tmp_path / "a.db",
        holdout=groups % 4 == 0, scoring="roc_auc",
    )  # fmt: skip
    with pytest.warns(UserWarning, match="for roc_auc count like .* equal ones, as one of them has"):
        search.fit(*rows[:2], groups=groups)


def of_one_class(y):
    """Return groups and weights of which all positives, and the only negative that counts, are one group."""
    counts = (y == 1) | (np.arange(len(y)) == np.flatnonzero(y == 0)[0])
    return {"groups": np.where(counts, -1, np.arange(len(y))), "sample_weight": counts}


UNCOUNTED = "Give some of them a weight above 0"


@pytest.mark.parametrize(("units", "scoring", "name", "fix"), [
    (lambda y: {"groups": FEW}, "f1", "groups", r"8 groups at least\. Got '5 groups' .* Hold out more"),
    (lambda y: {"sample_weight": y != 1}, "f1", "sample_weight", UNCOUNTED),
    (lambda y: {"sample_weight": y != 1}, "roc_auc", "sample_weight", UNCOUNTED),
    (lambda y: {"sample_weight": y != 1}, "balanced_accuracy", "sample_weight", UNCOUNTED),
    (of_one_class, "roc_auc", "groups", "both classes in different groups.* Hold out more groups"),
])  # fmt: skip
def test_units_without_an_interval_are_refused_by_name(
    units, scoring, name, fix, made, model, rows, uncharged
):
    holdout = made(**units(rows[3]))
    sentence = rf"The '{name}' parameter of Holdout must be .*{fix}"
    with uncharged(holdout), pytest.raises(ValueError, match=sentence):
        holdout.certify(model, scoring=scoring, guess_from=rows[:2])


@pytest.mark.parametrize(("scoring", "more"), [
    ("accuracy", ""), ("roc_auc", ", over pairs of rows of different groups"),
    ("neg_log_loss", r", each score clipped to \[.*, 0\]"),
])  # fmt: skip
def test_a_target_names_mix_and_units_before_what_is_clipped(scoring, more, made, model, rows):
    answer = made(**UNITS).certify(model, scoring=scoring, guess_from=rows[:2])
    target = f"population {scoring} at the holdout's class mix, weights and group sizes"
    assert re.fullmatch(f"{target}{more}, rounded to steps of .*", answer.certificate.target)


@pytest.mark.parametrize(("scoring", "reason"), [
    ("f1_macro", "averages ratios over classes: use 'balanced_accuracy', or the metric of one class of two"),
    ("matthews_corrcoef", "is no ratio of two sums over rows: use 'balanced_accuracy', or 'f1'"),
    ("roc_auc_ovr", "compares each class with several others: use 'balanced_accuracy'"),
    ("average_precision", "depends on where each row ranks among all others: use 'roc_auc'"),
    ("jaccard_micro", "is a function of the accuracy: use 'accuracy'"),
])  # fmt: skip
def test_a_refusal_says_why_and_what_to_use_instead(scoring, reason, made, model, rows, uncharged):
    holdout = made(**GROUPED)
    with uncharged(holdout), pytest.raises(ValueError, match=f"[Ii]t {reason}"):
        holdout.certify(model, scoring=scoring, guess_from=rows[:2])


def test_a_median_of_kappa_says_why_groups_have_no_interval(made, model, rows):
    kappa = make_scorer(cohen_kappa_score)
    with pytest.warns(UserWarning, match="no interval with weights or groups, as it is no ratio of two sums"):
        made(**GROUPED).certify(model, scoring=kappa, guess_from=rows[:2])


def test_groups_may_be_of_any_type(made, model):
    mixed = np.array([i // 5 if i < 100 else f"p{i // 5}" for i in range(N)], dtype=object)
    of_numbers = np.array([(int, float, np.int64)[i % 3](i // 5) for i in range(N)], dtype=object)
    kinds = enumerate((GROUPS, GROUPS.tolist(), np.arange(N) // 5, mixed, of_numbers))
    assert len({certify(made(str(number), groups=groups), model).interval for number, groups in kinds}) == 1


def test_scorers_ask_about_the_weighted_holdout(made, rows, model):
    holdout = made(**WEIGHTED)
    answer = ThresholdoutScorer("accuracy", holdout).answer(model, *rows[:2])
    assert "weights" in answer.certificate.target
    assert StableHoldoutScorer("f1", holdout, n_subsamples=10).answer(model, *rows[:2]).answered


def test_the_weights_of_other_rows_do_not_touch_the_answer(made, rows):
    model, (X, y) = LogisticRegression(C=0.1).fit(*rows[:2]), rows[:2]
    scorer = ThresholdoutScorer("accuracy", made(**WEIGHTED))
    first = scorer(model, X, y, sample_weight=np.arange(len(y)))
    assert first == scorer.holdout.report().answers[-1][1].value
    plain = scorer(model, X[:50], y[:50], sample_weight=np.arange(50))  # no question: free
    assert plain == get_scorer("accuracy")(model, X[:50], y[:50], sample_weight=np.arange(50))


@pytest.mark.parametrize("name", ["balanced_accuracy", "recall", "recall_macro"])
@pytest.mark.parametrize("units", UNITS)
def test_a_class_mean_would_tell_more_of_the_classes_than_was_paid_for(name, units, made, model, uncharged):
    """Its width depends on how weights and classes go together: .348 to .652 against .327 to .673."""
    holdout = made(class_mix="priced", **{units: UNITS[units]})
    assert not holdout._session.data.has_interval(Metric(name))
    with uncharged(holdout), pytest.raises(ValueError, match=r"class_mix='priced'.*must be a mean"):
        certify(holdout, model, name)
    with uncharged(holdout), pytest.raises(ValueError, match=r"'scoring' parameter of Holdout\.declare"):
        holdout.declare([model], scoring=name)
    assert certify(holdout, model).answered


def test_widths_at_priced_class_counts_tell_nothing_of_weights_and_classes_together(made, rows, model):
    """The same weights given to the other class: the same interval around the same value."""
    weight, order, widths = 1.0 + np.arange(N) % 2, np.argsort(rows[3], kind="stable"), set()
    for name, given in (("one", weight), ("other", weight[np.argsort(order)])):
        holdout = made(name, class_mix="priced", sample_weight=given)
        widths.add(round(holdout.check(model, scoring="accuracy", guess=0.5).half_width, 12))
    assert len(widths) == 1


TARGETS = [
    ({}, {}, "^median of accuracy over .*"),
    (WEIGHTED, {}, r"^median of weighted accuracy .*class counts \(AUCs and recalls tell them\) or weights"),
    (GROUPED, {}, r"class counts \(AUCs and recalls tell them\) or group sizes"),
    ({**WEIGHTED, "class_mix": "priced"}, {}, "holdout's weights"),
    (WEIGHTED, {"stratify": True}, "at the holdout's class mix, if nobody who asks knows"),
]


@pytest.mark.parametrize(("params", "how", "target"), TARGETS)
def test_the_target_of_a_median_names_weights_and_what_nobody_may_know(params, how, target, made, model):
    settings = MedianSettings(n_subsamples=10, **how)
    answer = made(**params).check(model, scoring="accuracy", guess=0.8, settings=settings)
    assert re.search(target, answer.certificate.target)


def test_the_target_of_a_median_of_numbers_names_weights_that_nobody_may_know(made, rows):
    holdout = made(y=rows[2][:, 0], **WEIGHTED)
    how = {"scoring": Metric("r2", range=(-1, 1)), "settings": MedianSettings(n_subsamples=10)}
    answer = holdout.check(Ridge().fit(rows[0], rows[0][:, 0]), guess=0.8, **how)
    assert "if nobody who asks knows the holdout's weights" in answer.certificate.target
