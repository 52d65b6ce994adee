"""A holdout that certifies the population at declared class shares: what it answers, and what it refuses."""

import math
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    balanced_accuracy_score,
    f1_score,
    fbeta_score,
    jaccard_score,
    log_loss,
    make_scorer,
    matthews_corrcoef,
    precision_score,
    recall_score,
)
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from sklearn_ada import (
    Holdout,
    LadderSettings,
    MedianSettings,
    Metric,
    NoiseSettings,
    Predictions,
    ReusableHoldoutCV,
    StableHoldoutScorer,
    ThresholdoutScorer,
)
from sklearn_ada.exceptions import LedgerMismatchError
from sklearn_ada.guarantees import two_class_interval

FRAUD = {0: 0.999, 1: 0.001}
SCORES = {
    "f1": ("f_beta", f1_score), "precision": ("precision", precision_score),
    "jaccard": ("jaccard", jaccard_score), "matthews_corrcoef": ("matthews_corrcoef", matthews_corrcoef),
    "accuracy": ("accuracy", accuracy_score),
}  # fmt: skip


class ReadsAColumn(ClassifierMixin, BaseEstimator):
    """A model whose predictions stand in the first column."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[np.asarray(X)[:, 0].astype(int)]

    def predict_proba(self, X):
        likely = np.asarray(X)[:, :1] == np.arange(len(self.classes_))
        return np.where(likely, 0.8, 0.2 / (len(self.classes_) - 1))


def drawn(seed, n=1000, classes=2):
    """Return rows of classes of equal size, of which a model gets nine tenths right."""
    rng, y = np.random.default_rng(seed), np.arange(n) % classes
    wrong = (y + rng.integers(1, classes, n)) % classes
    return np.column_stack((np.where(rng.random(n) < 0.9, y, wrong), rng.random(n))), y


X, Y = drawn(0)
MODEL = ReadsAColumn().fit(X, Y)


def opened(path, **options):
    options = {"class_mix": FRAUD, "answers": "exact", "random_state": 0, **options}
    return Holdout(options.pop("X", X), options.pop("y", Y), ledger=path / "a.db", **options)


def weights(y, mix=FRAUD):
    return np.array([mix[label] / np.mean(y == label) for label in y.tolist()])


@pytest.mark.parametrize("metric", SCORES)
def test_the_value_and_the_interval_are_those_of_the_declared_shares(metric, tmp_path):
    name, score = SCORES[metric]
    answer = opened(tmp_path).certify(MODEL, scoring=metric, guess_from=drawn(1, 600))
    assert answer.value == pytest.approx(score(Y, X[:, 0], sample_weight=weights(Y)), abs=0.005)
    hits, false = (int(np.count_nonzero((label == Y) & (X[:, 0] == 1))) for label in (1, 0))
    low, high = two_class_interval(name, hits, 500, false, 500, answer.certificate.ln_delta, share=0.001)
    step = (high - low) / 20
    assert low - step < answer.interval[0] <= low
    assert high <= answer.interval[1] < high + step
    assert (
        f"population {metric} at the declared class mix {{0: 0.999, 1: 0.001}}" in answer.certificate.target
    )


def test_guesses_are_weighed_like_the_holdout(tmp_path):
    rows, y = drawn(1, 3000)
    some = np.flatnonzero((y == 0) | (np.arange(3000) < 1500))  # of another class mix
    answer = opened(tmp_path).certify(MODEL, scoring="f1", guess_from=(rows[some], y[some]))
    expected = f1_score(y[some], rows[some, 0], sample_weight=weights(y[some]))
    record = opened(tmp_path)._session.ledger.record(answer.index)
    assert record.body["guess"]["value"] == pytest.approx(expected)


@pytest.mark.parametrize("metric", [
    "balanced_accuracy", "recall", "roc_auc", Metric("positive_likelihood_ratio", range=(0, 50)),
    Metric(make_scorer(balanced_accuracy_score, adjusted=True)),
    Metric(make_scorer(recall_score, labels=[0], average="macro")),
], ids=str)  # fmt: skip
def test_what_no_class_mix_is_part_of_is_answered_as_ever(metric, tmp_path):
    answer = opened(tmp_path).certify(MODEL, scoring=metric, guess_from=drawn(1, 600))
    (tmp_path / "b").mkdir()
    usual = opened(tmp_path / "b", class_mix="conditional")
    assert usual.certify(MODEL, scoring=metric, guess_from=drawn(1, 600)).interval == answer.interval
    assert answer.certificate.target.startswith(
        f"population {getattr(metric, 'name', metric)} at any class mix"
    )


@pytest.mark.parametrize("metric", ["accuracy", "neg_log_loss", "top_k_accuracy"])
@pytest.mark.parametrize("answers", ["exact", "coarse"])
def test_means_of_several_classes_are_means_of_class_means(metric, answers, tmp_path):
    mix, (rows, y) = {0: 0.6, 1: 0.3, 2: 0.1}, drawn(0, 900, classes=3)
    holdout, model = (
        opened(tmp_path, X=rows, y=y, class_mix=mix, answers=answers),
        ReadsAColumn().fit(rows, y),
    )
    asked = Metric(metric, range=(-10, 0)) if metric == "neg_log_loss" else metric
    holdout.certify(model, scoring=asked, guess_from=drawn(1, 900, classes=3))
    answer = holdout.publish(model, scoring=asked, guess_from=drawn(1, 900, classes=3))
    if metric == "neg_log_loss":
        assert answer.value == pytest.approx(
            -log_loss(y, model.predict_proba(rows), sample_weight=weights(y, mix)), abs=0.01
        )
    elif metric == "accuracy":
        assert answer.value == pytest.approx(
            accuracy_score(y, model.predict(rows), sample_weight=weights(y, mix)), abs=0.001
        )
    low, high = answer.interval
    assert high - low < (0.35 if metric == "neg_log_loss" else 0.12)
    assert "declared class mix {0: 0.6, 1: 0.3, 2: 0.1}" in answer.certificate.target


@pytest.mark.parametrize(("name", "other"), [
    ("f1", Metric("f1", pos_label=1)), ("precision", make_scorer(precision_score, zero_division=0)),
    ("accuracy", "recall_weighted"), ("recall", Metric("recall", pos_label=1)),
    ("balanced_accuracy", "recall_macro"),
])  # fmt: skip
@pytest.mark.parametrize("answers", ["exact", "coarse"])
def test_another_name_of_one_score_is_no_other_question(name, other, answers, tmp_path):
    holdout = opened(tmp_path, answers=answers)
    first, again = (holdout.certify(MODEL, scoring=s, guess_from=drawn(1, 600)) for s in (name, other))
    assert (first.value, first.interval, again.repeated) == (again.value, again.interval, True)
    published = [holdout.publish(MODEL, scoring=scoring).index for scoring in (other, name)]
    assert published[0] == published[1]


def test_a_check_has_the_interval_of_its_value(tmp_path):
    holdout = opened(tmp_path)
    answer = holdout.check(MODEL, scoring="accuracy", guess_from=drawn(1, 600))
    assert answer.interval[0] < accuracy_score(Y, X[:, 0], sample_weight=weights(Y)) < answer.interval[1]
    with pytest.raises(ValueError, match="which a certify releases and a check does not"):
        holdout.check(MODEL, scoring="f1", guess_from=drawn(1, 600))


def test_the_mix_is_fixed_when_the_ledger_is_begun(tmp_path):
    opened(tmp_path).certify(MODEL, scoring="f1", guess=0.01)
    for same in ({1: 0.001, 0: 0.999}, {0: 1.0 - 0.001, 1: 1.0 - 0.999}):
        assert opened(tmp_path, class_mix=same).report().nats > 0.0
    for other in ("conditional", {0: 0.99, 1: 0.01}):
        with pytest.raises(LedgerMismatchError, match="another policy"):
            opened(tmp_path, class_mix=other)


def test_shares_of_32_bits_are_made_to_sum_to_one(tmp_path):
    mix = {0: np.float32(0.9), 1: np.float32(0.1)}
    holdout = opened(tmp_path, class_mix=mix)
    target = holdout.certify(MODEL, scoring="f1", guess=0.01).certificate.target
    assert "declared class mix {0: 0.899999996, 1: 0.100000004}" in target
    assert opened(tmp_path, class_mix=mix).report().nats == holdout.report().nats > 0.0


BAD = {
    "sum to one": {0: 0.9, 1: 0.2},
    "which sum to 1.000002": {0: 0.9, 1: 0.100002},
    "between 0 and 1": {0: 1.0, 1: 0.0},
    "two classes or more": {0: 1.0},
    "all whole numbers or all texts": {0: 0.5, "1": 0.5},
    "that the holdout has rows of. Got 'also 2'": {0: 0.5, 1: 0.4, 2: 0.1},
    "with every class of the holdout. Got 'none of 2'": {0: 0.5, 1: 0.5},
    "share of every class": "population",
    "or a dict of the share of every class. Got array": np.array([0.9, 0.1]),
}


@pytest.mark.parametrize("expected", BAD)
def test_a_mix_that_cannot_be_is_refused_before_there_is_a_ledger(expected, tmp_path):
    rows, y = drawn(0, 900, classes=3 if "none of" in expected else 2)
    with pytest.raises(ValueError, match=r"The 'class_mix' parameter of Holdout must be") as caught:
        opened(tmp_path, X=rows, y=y, class_mix=BAD[expected])
    assert expected in str(caught.value)
    assert not (tmp_path / "a.db").exists()


@pytest.mark.parametrize("options", [
    {"y": np.random.default_rng(0).random(1000)}, {"groups": np.arange(1000) // 2},
    {"sample_weight": np.ones(1000)}, {"route": "both"}, {"route": "differential_privacy"},
])  # fmt: skip
def test_rows_and_routes_that_a_mix_does_not_go_with_are_refused(options, tmp_path):
    with pytest.raises(ValueError, match=r"The 'class_mix' parameter of Holdout must be 'conditional' "):
        opened(tmp_path, **options)
    assert not (tmp_path / "a.db").exists()


REFUSED = {
    "average_precision": {"scoring": "average_precision"},
    "roc_auc_ovr": {"scoring": "roc_auc_ovr"},
    "d2_log_loss_score": {"scoring": "d2_log_loss_score"},
    "general": {"scoring": Metric("accuracy", kind="general")},
    "a function": {"scoring": make_scorer(average_precision_score)},
    "a median": {"scoring": "accuracy", "settings": MedianSettings()},
    "a class without a share": {"scoring": Metric("f1", pos_label=7)},
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_interval_at_declared_shares_is_refused_for_nothing(name, tmp_path):
    holdout = opened(tmp_path)
    with pytest.raises(ValueError, match=r"The '\w+' parameter of .* must be "):
        holdout.certify(MODEL, guess_from=drawn(1, 600), **REFUSED[name])
    assert holdout.report().nats == 0.0


WITHOUT_CELLS = {
    "f1": [None, 0.05, NoiseSettings("gaussian"), LadderSettings(), MedianSettings()],
    "accuracy": [NoiseSettings("laplace"), MedianSettings()],
}


@pytest.mark.parametrize(
    ("scoring", "settings"), [(s, each) for s in WITHOUT_CELLS for each in WITHOUT_CELLS[s]], ids=str
)
def test_a_check_that_there_is_not_is_refused_without_a_way_that_there_is_not(scoring, settings, tmp_path):
    holdout = opened(tmp_path)
    with pytest.raises(ValueError, match=r"a check does not|class_mix|declared shares") as caught:
        holdout.check(MODEL, scoring=scoring, guess_from=drawn(1, 600), settings=settings)
    assert "answers the median" not in str(caught.value)
    assert holdout.report().nats < 1e-5  # of a look whether the rows of the guess are the holdout's


def test_a_scorer_of_medians_is_refused_before_it_is_one(tmp_path):
    with pytest.raises(ValueError, match=r"'conditional' or 'priced'. Got {0: 0.999, 1: 0.001} instead"):
        StableHoldoutScorer("accuracy", opened(tmp_path))
    for name, way in (("f1", "certify it"), ("neg_log_loss", "certify it or declare one")):
        with pytest.raises(ValueError, match=way) as caught:
            ThresholdoutScorer(name, opened(tmp_path))
        assert "median" not in str(caught.value)


def test_predictions_are_refused_for_nothing(tmp_path):
    holdout = opened(tmp_path)
    with pytest.raises(ValueError, match="class_mix"):
        holdout.certify(Predictions(X[:, 0].astype(int)), scoring="accuracy", guess=0.9)
    assert holdout.report().nats == 0.0


class ReadsAnother(ReadsAColumn):
    """A model whose predictions stand in the second column, rounded."""

    def predict(self, X):
        return super().predict(np.round(np.asarray(X)[:, 1:]))


@pytest.mark.parametrize("scoring", ["accuracy", Metric("neg_log_loss", range=(-3, 0))])
def test_a_comparison_is_of_the_declared_shares(scoring, tmp_path):
    mix, guess = {0: 0.7, 1: 0.3}, drawn(1, 600)
    answer = opened(tmp_path, class_mix=mix).compare(
        ReadsAnother().fit(X, Y), MODEL, scoring=scoring, guess_from=guess
    )
    first = np.round(X[:, 1])
    if scoring == "accuracy":
        value = np.average((X[:, 0] == Y) * 1.0 - (first == Y), weights=weights(Y, mix))
        assert answer.value == pytest.approx(value, abs=0.01)
    assert answer.interval[0] < answer.value < answer.interval[1] < answer.interval[0] + 0.35
    clipped = "" if scoring == "accuracy" else ", each score clipped to [-3, 0]"
    target = f"b minus a at the declared class mix {{0: 0.7, 1: 0.3}}{clipped}, rounded to steps of "
    assert target in answer.certificate.target


MIXES = {
    "conditional": None,
    "priced": "the population has no class of which the holdout has no record",
    "declared": "new data have the class mix {0: 0.9, 1: 0.1}",
}


@pytest.mark.parametrize("mix", MIXES)
def test_assumptions_name_a_class_mix_that_was_declared_or_paid_for(mix, tmp_path):
    holdout = opened(tmp_path, class_mix={0: 0.9, 1: 0.1} if mix == "declared" else mix)
    assumed = holdout.certify(MODEL, scoring="accuracy", guess=0.9).certificate.assumptions
    of_classes = [each.partition(", and")[0] for each in assumed if "class" in each]
    assert of_classes == [MIXES[mix]] * bool(MIXES[mix])


@pytest.mark.parametrize("scoring", ["accuracy", "f1", "matthews_corrcoef"])
def test_a_guess_that_is_a_number_is_of_a_model_that_errs_in_both_classes(scoring, tmp_path):
    holdout = opened(tmp_path, class_mix={0: 0.9, 1: 0.1})
    guess = {"accuracy": 0.9, "f1": 0.64, "matthews_corrcoef": 0.62}[scoring]
    answer = holdout.certify(MODEL, scoring=scoring, guess=guess)
    assert answer.interval[0] < answer.value < answer.interval[1]
    assert holdout.report().nats < 10.0


def test_nothing_is_predicted_positive(tmp_path):
    holdout = opened(tmp_path, X=np.zeros_like(X))
    answer = holdout.certify(MODEL, scoring="precision", guess=0.01)
    assert math.isnan(answer.value)
    assert answer.interval == (0.0, 1.0)


@pytest.mark.parametrize("class_mix", ["priced", {0: 0.9, 1: 0.1}])
@pytest.mark.parametrize("scoring", ["f1", "matthews_corrcoef"])
def test_a_search_certifies_its_winner_at_the_mix(class_mix, scoring, tmp_path):
    rng = np.random.default_rng(0)
    rows, y = rng.normal(size=(1200, 3)), np.arange(1200) % 2
    rows[:, 0] += 2 * y
    grid = GridSearchCV(LogisticRegression(), {"C": [0.01, 1.0]}, cv=3)
    search = ReusableHoldoutCV(
        grid, scoring=scoring, class_mix=class_mix, ledger=tmp_path / "a.db", answers="exact", holdout=0.5
    ).fit(rows, y)
    target = (
        search.certificate_.target
        if hasattr(search, "certificate_")
        else search.answers_[0].certificate.target
    )
    declared = " at the declared class mix {0: 0.9, 1: 0.1}" if class_mix != "priced" else ""
    assert target.startswith(f"population {scoring}{declared}")
    if declared:  # by which the search ranks, too
        session = search.holdout_._session
        metric = session.metric(scoring)
        assert search.cv_results_["mean_test_score"].max() < 0.85
        assert metric.score(search.best_estimator_, rows, y) == pytest.approx(
            SCORES[scoring][1](y, search.predict(rows), sample_weight=weights(y, {0: 0.9, 1: 0.1}))
        )


@pytest.mark.parametrize(("options", "parameter"), [
    ({"scoring": "accuracy", "mechanism": "stable_median"}, "class_mix"),
    ({"scoring": "f1", "ask": "candidates"}, "scoring"),
    ({"scoring": make_scorer(fbeta_score, beta=2), "ask": "candidates"}, "scoring"),
    ({"scoring": make_scorer(average_precision_score)}, "scoring"),
])  # fmt: skip
def test_a_search_that_a_mix_does_not_go_with_is_refused_before_anything_is_fitted(
    options, parameter, tmp_path
):
    class IsNotFitted(ReadsAColumn):
        def fit(self, X, y):
            raise AssertionError

    search = ReusableHoldoutCV(
        GridSearchCV(IsNotFitted(), {}), class_mix={0: 0.9, 1: 0.1}, ledger=tmp_path / "a.db", **options
    )
    with pytest.raises(ValueError, match=f"The '{parameter}' parameter of ") as caught:
        search.fit(X, Y)
    assert "answers the median" not in str(caught.value)
    assert "class_mix" in str(caught.value) or "ask='winner'" in str(caught.value)


def test_a_search_that_ranks_at_its_own_mix_says_how_it_would_rank_at_the_declared_one(tmp_path):
    search = ReusableHoldoutCV(
        GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 2]}), class_mix={0: 0.9, 1: 0.1}, ledger=None
    )
    with pytest.warns(UserWarning, match=r"not accuracy at the declared .*ReusableHoldoutCV\(scoring='accur"):
        search.fit(X, Y)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="The search ranks")
        search.set_params(scoring="accuracy").fit(X, Y)


@pytest.mark.parametrize("metric", ["f1", "precision", "jaccard", "matthews_corrcoef"])
@pytest.mark.parametrize("answers", ["exact", "coarse"])
def test_priced_class_counts_leave_tables_of_two_classes(metric, answers, tmp_path):
    holdout = opened(tmp_path, class_mix="priced", answers=answers)
    holdout.certify(MODEL, scoring=metric, guess_from=drawn(1, 600))
    answer = holdout.publish(MODEL, scoring=metric)
    assert answer.value == pytest.approx(SCORES[metric][1](Y, X[:, 0]), abs=0.003)
    assert answer.interval[1] - answer.interval[0] < 0.2
    assert answer.certificate.target.startswith(f"population {metric}")
    assert "class mix" not in answer.certificate.target
