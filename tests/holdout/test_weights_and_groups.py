"""A holdout with sample_weight and groups: values, intervals, targets, prices, refusals."""

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import balanced_accuracy_score, get_scorer, recall_score, roc_auc_score

from sklearn_ada import (
    Holdout,
    MedianSettings,
    Metric,
    NoiseSettings,
    StableHoldoutScorer,
    ThresholdoutScorer,
)
from sklearn_ada.exceptions import LedgerMismatchError
from sklearn_ada.holdout.holdout import session_of
from tests.support import holdouts

N = 250


@pytest.fixture(scope="module")
def weight():
    return np.random.default_rng(0).exponential(size=N).clip(0.1, 4.0)


@pytest.fixture(scope="module")
def groups():
    return np.array([f"patient {i // 5}" for i in range(N)])


@pytest.fixture
def made(rows, tmp_path):
    """A holdout of the rows with a ledger of its own."""

    def make(name="ledger", y=None, **params):
        return Holdout(rows[2], rows[3] if y is None else y, ledger=tmp_path / f"{name}.db", **params)

    return make


def hoeffding_end(value, size, ln_delta, side):
    return value + side * math.sqrt((math.log(2) - ln_delta) / (2 * size))


PLAIN = {
    "accuracy": lambda y, p, w: np.average(y == p, weights=w),
    "balanced_accuracy": lambda y, p, w: balanced_accuracy_score(y, p, sample_weight=w),
    "recall": lambda y, p, w: recall_score(y, p, sample_weight=w),
}


@pytest.mark.parametrize("name", PLAIN)
def test_certified_values_are_scikit_learns_weighted_scores(name, made, rows, model, weight):
    _, _, X, y = rows
    answer = made(sample_weight=weight).certify(model, scoring=name, guess=0.8)
    assert answer.value == pytest.approx(PLAIN[name](y, model.predict(X), weight), abs=0.01)
    assert answer.interval[0] < answer.value < answer.interval[1]
    assert answer.certificate.target == f"population {name} at the holdout's class mix and weights"


@pytest.mark.parametrize("with_groups", [False, True])
def test_a_weighted_mean_has_hoeffdings_interval_of_kishs_size(
    with_groups, made, rows, model, weight, groups
):
    holdout = made(sample_weight=weight, groups=groups if with_groups else None)
    answer = holdout.certify(model, scoring="accuracy", guess=0.8)
    totals = weight.reshape(-1, 5).sum(axis=1) if with_groups else weight
    size = totals.sum() ** 2 / np.sum(totals**2)
    value = np.average(model.predict(rows[2]) == rows[3], weights=weight)
    cell = 1.001 * abs(answer.value - value) + 0.01
    for end, side in zip(answer.interval, (-1, 1), strict=True):
        assert end == pytest.approx(hoeffding_end(value, size, answer.certificate.ln_delta, side), abs=cell)
    assert ("group sizes" in answer.certificate.target) is with_groups
    assert ("holdout groups are independent" in answer.certificate.assumptions[0]) is with_groups


def test_groups_of_one_size_have_chernoffs_interval(made, model, groups, rows):
    answer = made(groups=groups).certify(model, scoring="accuracy", guess=0.8)
    hoeffding_width = hoeffding_end(0, 50, answer.certificate.ln_delta, 2)
    assert 0.5 * hoeffding_width < answer.interval[1] - answer.interval[0] < 0.95 * hoeffding_width


def test_groups_widen_the_interval(made, model, groups):
    plain = made("plain").certify(model, scoring="accuracy", guess=0.8)
    grouped = made("grouped", groups=groups).certify(model, scoring="accuracy", guess=0.8)
    assert grouped.half_width > 1.8 * plain.half_width


@pytest.mark.parametrize("mechanism", ["check", "certify"])
def test_a_bound_certifies_the_population_and_releases_the_mean_weight_once(mechanism, made, model, weight):
    holdout = made(sample_weight=weight, weight_bound=4.0)
    paid = holdout.report().nats
    assert 2.0 < paid < 6.0
    answer = holdouts.ask(holdout, model, scoring="accuracy", purpose=mechanism, guess=0.8)
    assert answer.certificate.target == "population's weighted accuracy at the holdout's class mix"
    assert "weight_bound" in " ".join(answer.certificate.assumptions)
    least = N * (weight.mean() / 4.0) ** 2
    assert answer.interval[0] <= hoeffding_end(answer.value, least, answer.certificate.ln_delta, -1)
    again = made(sample_weight=weight, weight_bound=4.0)
    assert [r.body["kind"] for r in again.ledger.records() if "kind" in r.body].count("mean weight") == 1


def test_a_bounded_group_size_certifies_the_population(made, model, groups):
    answer = made(groups=groups, weight_bound=10).certify(model, scoring="accuracy", guess=0.8)
    assert answer.certificate.target == "population accuracy at the holdout's class mix"


def test_the_stable_median_takes_any_metric_with_weights(made, model, weight, rows):
    settings = MedianSettings(n_subsamples=1, method="exact")
    answer = holdouts.ask(
        made(sample_weight=weight),
        model,
        scoring=Metric("roc_auc", kind="general", range=(0, 1)),
        purpose="check",
        settings=settings,
    )
    expected = roc_auc_score(rows[3], model.decision_function(rows[2]), sample_weight=weight)
    assert answer.value == pytest.approx(expected, abs=0.002)


def test_subsamples_of_the_stable_median_hold_whole_groups(made, model, groups, rows):
    holdout = made(groups=groups)
    question = holdouts.plan(holdout,
        model, scoring=Metric("f1", kind="general", range=(0, 1)), purpose="check",
        settings=MedianSettings(n_subsamples=7),
    )  # fmt: skip
    taken = [set(groups[block]) for block in question.rows]
    assert [len(some) for some in taken] == [7] * 7
    assert len(set().union(*taken)) == 49
    assert sorted(np.concatenate(list(question.rows))) == sorted(
        np.flatnonzero(np.isin(groups, list(set().union(*taken))))
    )
    answer = holdout.check(model, scoring=Metric("f1", kind="general", range=(0, 1)), guess=0.8)
    assert "random subsamples of 25 groups" in answer.certificate.target


def test_there_are_no_more_subsamples_than_groups(made, groups):
    with pytest.raises(ValueError, match="groups"):
        holdouts.plan(made(groups=groups),
            Ridge().fit(np.zeros((3, 5)), [0.0, 1.0, 2.0]), scoring="r2", purpose="check", guess=0.5,
            settings=MedianSettings(n_subsamples=60),
        )  # fmt: skip


REFUSED = ["roc_auc", "f1", "precision", "jaccard"]


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("params", ["sample_weight", "groups"])
def test_what_is_not_sound_is_refused_and_names_the_way(name, params, made, model, weight, groups, uncharged):
    holdout = made(**{params: weight if params == "sample_weight" else groups})
    with uncharged(holdout), pytest.raises(ValueError, match=r"StableHoldoutScorer, or Metric\("):
        holdout.certify(model, scoring=name, guess=0.8)
    assert not session_of(holdout).data.has_interval(Metric(name))


def test_class_means_with_a_bound_are_refused(made, model, weight):
    with pytest.raises(ValueError, match="a mean to have"):
        made(sample_weight=weight, weight_bound=4.0).certify(model, scoring="recall", guess=0.8)


def test_noise_is_scaled_to_the_heaviest_unit(made, model, weight, groups):
    settings = NoiseSettings("laplace", 0.01, threshold=0.05)
    holdout = made(sample_weight=weight, groups=groups)
    question = holdouts.plan(
        holdout, model, scoring="accuracy", purpose="check", guess=0.8, settings=settings
    )
    assert question.sensitivity == pytest.approx(weight.reshape(-1, 5).sum(axis=1).max() / weight.sum())
    with pytest.raises(ValueError, match="weight_bound"):
        holdouts.plan(
            made("bound", sample_weight=weight, weight_bound=4.0),
            model,
            scoring="accuracy",
            purpose="check",
            guess=0.8,
            settings=settings,
        )


def test_models_are_selected_by_the_weighted_metric(made, rows):
    y = rows[3]

    class Right:
        classes_ = np.array([0, 1])

        def __init__(self, share):
            self.share = share

        def predict(self, X):
            good = np.arange(len(X)) < self.share * len(X)
            return np.where(good, y, 1 - y)

    weight = np.where(np.arange(N) < 0.2 * N, 100.0, 1.0)
    late = Right(0.1)
    late.predict = lambda X: np.where(np.arange(len(X)) >= 0.2 * N, y, 1 - y)
    holdout = made(sample_weight=weight)
    assert holdout.select([late, Right(0.2)], scoring="accuracy", epsilon=None) == 1
    assert made("plain").select([late, Right(0.2)], scoring="accuracy", epsilon=None) == 0


def test_the_genesis_fixes_weights_and_groups(made, weight, groups):
    made(sample_weight=weight)
    made(sample_weight=weight)
    for other in ({}, {"sample_weight": weight[::-1]}, {"sample_weight": weight, "groups": groups}):
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


def test_groups_may_be_of_any_type(made, groups, model):
    mixed = np.array([i // 5 if i < 100 else f"p{i // 5}" for i in range(N)], dtype=object)
    answers = [
        made(str(i), groups=g).certify(model, scoring="accuracy", guess=0.8)
        for i, g in enumerate((groups, groups.tolist(), np.arange(N) // 5, mixed))
    ]
    assert {answer.interval for answer in answers} == {answers[0].interval}


def test_scorers_ask_about_the_weighted_holdout(made, rows, model, weight):
    holdout = made(sample_weight=weight)
    X, y = rows[0], rows[1]
    thresholdout = ThresholdoutScorer("accuracy", holdout).answer(model, X, y)
    assert "weights" in thresholdout.certificate.target
    median = StableHoldoutScorer("f1", holdout, n_subsamples=10).answer(model, X, y)
    assert median.answered


def test_the_weights_of_other_rows_do_not_touch_the_answer(made, rows, weight):
    model = LogisticRegression(C=0.1).fit(rows[0], rows[1])
    scorer = ThresholdoutScorer("accuracy", made(sample_weight=weight))
    first = scorer(model, rows[0], rows[1], sample_weight=np.arange(len(rows[1])))
    assert first == scorer.holdout.report().answers[-1][1].value
    plain = scorer(model, rows[0][:50], rows[1][:50], sample_weight=np.arange(50))  # no question: free
    assert plain == get_scorer("accuracy")(model, rows[0][:50], rows[1][:50], sample_weight=np.arange(50))


def test_the_target_of_a_weighted_median_says_so(rows, model, tmp_path):
    weights = np.linspace(1.0, 2.0, len(rows[3]))
    targets = []
    for name, weight in (("plain", None), ("weighted", weights)):
        holdout = Holdout(rows[2], rows[3], sample_weight=weight, ledger=tmp_path / f"{name}.db")
        answer = holdout.certify(model, scoring="accuracy", settings=MedianSettings())
        targets.append(answer.certificate.target.split(" over ")[0])
    assert targets == ["median of accuracy", "median of weighted accuracy"]


# --- class counts that are paid for, and what else the widths tell ------------------------------------------


@pytest.mark.parametrize("name", ["balanced_accuracy", "recall", "recall_macro"])
@pytest.mark.parametrize("units", ["sample_weight", "groups"])
def test_a_class_mean_would_tell_more_of_the_classes_than_was_paid_for(
    name, units, made, model, weight, groups, uncharged
):
    """Its width depends on how weights and classes go together: .348 to .652 against .327 to .673."""
    given = {"sample_weight": weight, "groups": groups}[units]
    holdout = made(class_mix="priced", **{units: given})
    assert not session_of(holdout).data.has_interval(Metric(name))
    with uncharged(holdout), pytest.raises(ValueError, match=r"class_mix='priced'.*must be a mean"):
        holdout.certify(model, scoring=name, guess=0.8)
    with uncharged(holdout), pytest.raises(ValueError, match=r"'scoring' parameter of Holdout\.declare"):
        holdout.declare([model], scoring=name)
    assert holdout.certify(model, scoring="accuracy", guess=0.8).answered


def test_widths_at_priced_class_counts_tell_nothing_of_weights_and_classes_together(made, rows, model):
    """The same weights given to the other class: the same interval around the same value."""
    weight = 1.0 + np.arange(N) % 2
    y = rows[3]
    order = np.argsort(y, kind="stable")
    widths = set()
    for name, given in (("one", weight), ("other", weight[np.argsort(order)])):
        holdout = made(name, class_mix="priced", sample_weight=given)
        widths.add(round(holdout.check(model, scoring="accuracy", guess=0.5).half_width, 12))
    assert len(widths) == 1


@pytest.mark.parametrize(
    ("params", "told"),
    [
        ({"sample_weight": True}, "class counts (AUCs and recalls tell them) or weights"),
        ({"groups": True}, "class counts (AUCs and recalls tell them) or group sizes"),
        ({"sample_weight": True, "class_mix": "priced"}, "holdout's weights"),
        ({"sample_weight": True, "stratify": True}, "at the holdout's class mix, if nobody who asks knows"),
    ],
)
def test_a_median_says_what_nobody_may_know(params, told, made, model, weight, groups):
    params = dict(params)
    how = MedianSettings(n_subsamples=10, stratify=params.pop("stratify", False))
    given = {"sample_weight": weight, "groups": groups}
    params.update({name: given[name] for name in given if name in params})
    answer = made(**params).check(model, scoring="accuracy", guess=0.8, settings=how)
    assert told in answer.certificate.target


def test_a_median_of_numbers_with_weights_says_so_too(made, weight, rows):
    y = rows[2][:, 0]
    holdout = made(y=y, sample_weight=weight)
    model = Ridge().fit(rows[0], rows[0][:, 0])
    how = MedianSettings(n_subsamples=10)
    metric = Metric("r2", range=(-1, 1))
    answer = holdout.check(model, scoring=metric, guess=0.8, settings=how)
    assert "if nobody who asks knows the holdout's weights" in answer.certificate.target
