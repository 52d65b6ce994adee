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
    assert 2.0 < holdout.report().nats < 6.0
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
    asked = {"scoring": Metric("roc_auc", kind="general", range=(0, 1)), "settings": settings}
    answer = holdouts.ask(made(sample_weight=weight), model, purpose="check", **asked)
    expected = roc_auc_score(rows[3], model.decision_function(rows[2]), sample_weight=weight)
    assert answer.value == pytest.approx(expected, abs=0.002)


def test_subsamples_of_the_stable_median_hold_whole_groups_and_are_no_more_than_they(made, model, groups):
    holdout, scoring = made(groups=groups), Metric("f1", kind="general", range=(0, 1))
    settings = MedianSettings(n_subsamples=7)
    question = holdouts.plan(holdout, model, scoring=scoring, purpose="check", settings=settings)
    taken = [set(groups[block]) for block in question.rows]
    assert [len(some) for some in taken] == [7] * 7
    together = set().union(*taken)
    assert len(together) == 49
    assert sorted(np.concatenate(list(question.rows))) == sorted(
        np.flatnonzero(np.isin(groups, list(together)))
    )
    answer = holdout.check(model, scoring=scoring, guess=0.8)
    assert "random subsamples of 25 groups" in answer.certificate.target
    with pytest.raises(ValueError, match="groups"):
        holdouts.plan(holdout, model, scoring=scoring, purpose="check", guess=0.5,
                      settings=MedianSettings(n_subsamples=60))  # fmt: skip


REFUSED = ["roc_auc", "f1", "precision", "jaccard"]


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("params", ["sample_weight", "groups"])
def test_what_is_not_sound_is_refused_and_names_the_way(name, params, made, model, weight, groups, uncharged):
    holdout = made(**{params: weight if params == "sample_weight" else groups})
    with uncharged(holdout), pytest.raises(ValueError, match=r"StableHoldoutScorer, or Metric\("):
        holdout.certify(model, scoring=name, guess=0.8)
    assert not holdout._session.data.has_interval(Metric(name))


def test_class_means_with_a_bound_are_refused(made, model, weight):
    with pytest.raises(ValueError, match="a mean to have"):
        made(sample_weight=weight, weight_bound=4.0).certify(model, scoring="recall", guess=0.8)


def test_noise_is_scaled_to_the_heaviest_unit(made, model, weight, groups):
    settings = NoiseSettings("laplace", 0.01, threshold=0.05)
    asked = {"scoring": "accuracy", "purpose": "check", "guess": 0.8, "settings": settings}
    question = holdouts.plan(made(sample_weight=weight, groups=groups), model, **asked)
    assert question.sensitivity == pytest.approx(weight.reshape(-1, 5).sum(axis=1).max() / weight.sum())
    with pytest.raises(ValueError, match="weight_bound"):
        holdouts.plan(made("bound", sample_weight=weight, weight_bound=4.0), model, **asked)


def test_models_are_selected_by_the_weighted_metric(made, rows):
    early, late = (Right(rows[3], np.arange(N) < 0.2 * N, sign) for sign in (True, False))
    holdout = made(sample_weight=np.where(np.arange(N) < 0.2 * N, 100.0, 1.0))
    assert holdout.select([late, early], scoring="accuracy", epsilon=None) == 1
    assert made("plain").select([late, early], scoring="accuracy", epsilon=None) == 0


class Right:
    """Is right on some rows, or on all others."""

    classes_ = np.array([0, 1])

    def __init__(self, y, rows, sign):
        self.labels = np.where(rows == sign, y, 1 - y)

    def predict(self, X):
        return self.labels


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
    assert "weights" in ThresholdoutScorer("accuracy", holdout).answer(model, X, y).certificate.target
    assert StableHoldoutScorer("f1", holdout, n_subsamples=10).answer(model, X, y).answered


def test_the_weights_of_other_rows_do_not_touch_the_answer(made, rows, weight):
    model = LogisticRegression(C=0.1).fit(rows[0], rows[1])
    scorer = ThresholdoutScorer("accuracy", made(sample_weight=weight))
    first = scorer(model, rows[0], rows[1], sample_weight=np.arange(len(rows[1])))
    assert first == scorer.holdout.report().answers[-1][1].value
    plain = scorer(model, rows[0][:50], rows[1][:50], sample_weight=np.arange(50))  # no question: free
    assert plain == get_scorer("accuracy")(model, rows[0][:50], rows[1][:50], sample_weight=np.arange(50))


def test_the_target_of_a_weighted_median_names_weights(made, model):
    targets = []
    for name, weight in (("plain", None), ("weighted", np.linspace(1.0, 2.0, N))):
        holdout = made(name, sample_weight=weight)
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
    holdout = made(class_mix="priced", **{units: {"sample_weight": weight, "groups": groups}[units]})
    assert not holdout._session.data.has_interval(Metric(name))
    with uncharged(holdout), pytest.raises(ValueError, match=r"class_mix='priced'.*must be a mean"):
        holdout.certify(model, scoring=name, guess=0.8)
    with uncharged(holdout), pytest.raises(ValueError, match=r"'scoring' parameter of Holdout\.declare"):
        holdout.declare([model], scoring=name)
    assert holdout.certify(model, scoring="accuracy", guess=0.8).answered


def test_widths_at_priced_class_counts_tell_nothing_of_weights_and_classes_together(made, rows, model):
    """The same weights given to the other class: the same interval around the same value."""
    weight = 1.0 + np.arange(N) % 2
    order = np.argsort(rows[3], kind="stable")
    widths = set()
    for name, given in (("one", weight), ("other", weight[np.argsort(order)])):
        holdout = made(name, class_mix="priced", sample_weight=given)
        widths.add(round(holdout.check(model, scoring="accuracy", guess=0.5).half_width, 12))
    assert len(widths) == 1


MAY_NOT_BE_PUBLIC = [
    (["sample_weight"], {}, {}, "class counts (AUCs and recalls tell them) or weights"),
    (["groups"], {}, {}, "class counts (AUCs and recalls tell them) or group sizes"),
    (["sample_weight"], {"class_mix": "priced"}, {}, "holdout's weights"),
    (["sample_weight"], {}, {"stratify": True}, "at the holdout's class mix, if nobody who asks knows"),
]


@pytest.mark.parametrize(("given", "params", "how", "message"), MAY_NOT_BE_PUBLIC)
def test_the_target_of_a_median_names_what_nobody_may_know(
    given, params, how, message, made, model, weight, groups
):
    arrays = {"sample_weight": weight, "groups": groups}
    holdout = made(**params, **{name: arrays[name] for name in given})
    settings = MedianSettings(n_subsamples=10, **how)
    answer = holdout.check(model, scoring="accuracy", guess=0.8, settings=settings)
    assert message in answer.certificate.target


def test_the_target_of_a_median_of_numbers_names_weights_that_nobody_may_know(made, weight, rows):
    holdout = made(y=rows[2][:, 0], sample_weight=weight)
    how = {"scoring": Metric("r2", range=(-1, 1)), "settings": MedianSettings(n_subsamples=10)}
    answer = holdout.check(Ridge().fit(rows[0], rows[0][:, 0]), guess=0.8, **how)
    assert "if nobody who asks knows the holdout's weights" in answer.certificate.target
