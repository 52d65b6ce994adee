"""Every function of scikit-learn that a scorer can be made of, with options: its own value, or a reason.

``docs/functions.csv`` is what these tests find: in a holdout of rows at its class mix, of a population
(``class_mix="priced"``), at declared shares, with groups, and with weights.
"""

import csv
import inspect
import pathlib
import warnings
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest
from sklearn import metrics
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV

from sklearn_ada import Holdout, Metric, ReusableHoldoutCV, StableHoldoutScorer, ThresholdoutScorer

TABLE = pathlib.Path(__file__).parents[4] / "docs" / "functions.csv"
COLUMNS = ("function", "options", "own mix", "priced", "declared", "groups", "weights")
OF_LABELS = ("y_true", "labels_true")
LOSS, PROBABLE = {"greater_is_better": False}, {"response_method": "predict_proba"}
BOTH = {"response_method": ("decision_function", "predict_proba")}


class Labels(ClassifierMixin, BaseEstimator):
    """Has a label in the first column of X, and what a score depends on in the second."""

    def __init__(self, classes=2):
        self.classes = classes

    def __sklearn_is_fitted__(self):
        return True

    @property
    def classes_(self):
        return np.arange(self.classes)

    def fit(self, X, y):
        return self

    def predict(self, X):
        return X[:, 0].astype(int)

    def predict_proba(self, X):
        odds = np.exp(1.5 * (X[:, :1] == self.classes_) + X[:, 1:2] * self.classes_)
        return odds / odds.sum(axis=1, keepdims=True)

    def decision_function(self, X):
        found = np.log(self.predict_proba(X))
        return found[:, 1] - found[:, 0] if self.classes == 2 else found


LONG = 20231101


class LongLabels(Labels):
    """Has labels with more digits than digests have of floats."""

    @property
    def classes_(self):
        return np.arange(2) + LONG

    def predict(self, X):
        return super().predict(X) + LONG


@dataclass
class Cost:
    """What a mistake costs; it has no hash."""

    each: float

    def __call__(self, y, predicted):
        return float(-self.each * np.mean(y != predicted))


class Numbers(RegressorMixin, BaseEstimator):
    """Has a number in the first column of X."""

    def __sklearn_is_fitted__(self):
        return True

    def fit(self, X, y):
        return self

    def predict(self, X):
        return X[:, 0]


SEARCH = GridSearchCV(Labels(), {"classes": [2]})


@pytest.fixture(scope="module")
def holdout(tmp_path_factory):
    """Return a holdout of two classes of which nothing is asked."""
    return Holdout(*rows(0, 2), ledger=tmp_path_factory.mktemp("rows") / "a.db")


def spent(holdout):
    return holdout.ledger.read(lambda state: state.account.nats)


def model_of(classes):
    return Labels(classes) if classes else Numbers()


def rows(seed, classes, n=240):
    """Return rows of which a model gets four fifths right, or numbers that it has nearly."""
    rng = np.random.default_rng(seed)
    if not classes:
        y = rng.gamma(4.0, size=n)
        return np.c_[y * rng.uniform(0.7, 1.3, n), rng.random(n)], y
    y = np.arange(n) % classes
    return np.c_[np.where(rng.random(n) < 0.8, y, rng.integers(0, classes, n)), rng.random(n)], y


OF_CLUSTERINGS = (
    "adjusted_mutual_info_score", "adjusted_rand_score", "completeness_score", "fowlkes_mallows_score",
    "homogeneity_score", "mutual_info_score", "normalized_mutual_info_score", "rand_score", "v_measure_score",
)  # fmt: skip
OF_SEVERAL_LABELS = {
    "coverage_error",
    "dcg_score",
    "label_ranking_average_precision_score",
    "label_ranking_loss",
    "multilabel_confusion_matrix",
    "ndcg_score",
}
NO_SCORES = {  # of labels: curves, tables, and a pair of numbers
    "class_likelihood_ratios",
    "classification_report",
    "confusion_matrix",
    "confusion_matrix_at_thresholds",
    "det_curve",
    "homogeneity_completeness_v_measure",
    "metric_at_thresholds",
    "pair_confusion_matrix",
    "precision_recall_curve",
    "precision_recall_fscore_support",
    "roc_curve",
}
# Of how many classes the rows are (0: numbers), and the options of the function and of ``make_scorer``.
CASES = [
    (2, metrics.accuracy_score, {}, {}), (2, metrics.accuracy_score, {"normalize": True}, {}),
    (2, metrics.accuracy_score, {"normalize": False}, {}),
    (2, metrics.zero_one_loss, {}, LOSS), (3, metrics.hamming_loss, {}, LOSS),
    (3, metrics.balanced_accuracy_score, {}, {}),
    (3, metrics.balanced_accuracy_score, {"adjusted": True}, {}),
    (2, metrics.cohen_kappa_score, {}, {}), (3, metrics.cohen_kappa_score, {}, {}),
    (3, metrics.cohen_kappa_score, {"weights": "linear"}, {}),
    (3, metrics.cohen_kappa_score, {"weights": "quadratic"}, {}),
    (2, metrics.matthews_corrcoef, {}, {}), (3, metrics.matthews_corrcoef, {}, {}),
    (2, metrics.f1_score, {}, {}), (2, metrics.f1_score, {"pos_label": 0}, {}),
    (3, metrics.f1_score, {"average": "macro"}, {}), (3, metrics.f1_score, {"average": "micro"}, {}),
    (2, metrics.fbeta_score, {"beta": 2}, {}), (2, metrics.precision_score, {}, {}),
    (2, metrics.recall_score, {}, {}), (2, metrics.jaccard_score, {}, {}),
    (3, metrics.fbeta_score, {"beta": 2, "average": "weighted"}, {}),
    (2, metrics.roc_auc_score, {}, BOTH), (2, metrics.roc_auc_score, {}, PROBABLE),
    (2, metrics.roc_auc_score, {"max_fpr": 0.2}, PROBABLE),
    (3, metrics.roc_auc_score, {"multi_class": "ovr"}, PROBABLE),
    (3, metrics.roc_auc_score, {"multi_class": "ovo", "average": "weighted"}, PROBABLE),
    (2, metrics.average_precision_score, {}, PROBABLE),
    (2, metrics.average_precision_score, {"pos_label": 0}, PROBABLE),
    (2, metrics.brier_score_loss, {}, {**LOSS, **PROBABLE}),
    (2, metrics.brier_score_loss, {"pos_label": 0}, {**LOSS, **PROBABLE}),
    (3, metrics.log_loss, {}, {**LOSS, **PROBABLE}),
    (3, metrics.d2_log_loss_score, {}, PROBABLE),
    (2, metrics.hinge_loss, {}, {**LOSS, "response_method": "decision_function"}),
    (3, metrics.top_k_accuracy_score, {}, BOTH), (4, metrics.top_k_accuracy_score, {"k": 3}, BOTH),
    (0, metrics.mean_absolute_error, {}, LOSS), (0, metrics.mean_squared_error, {}, LOSS),
    (0, metrics.root_mean_squared_error, {}, LOSS), (0, metrics.mean_squared_log_error, {}, LOSS),
    (0, metrics.mean_absolute_percentage_error, {}, LOSS), (0, metrics.median_absolute_error, {}, LOSS),
    (0, metrics.mean_pinball_loss, {"alpha": 0.9}, LOSS),
    (0, metrics.mean_poisson_deviance, {}, LOSS), (0, metrics.mean_gamma_deviance, {}, LOSS),
    (0, metrics.mean_tweedie_deviance, {"power": 1.5}, LOSS),
    (0, metrics.mean_tweedie_deviance, {"power": 3}, LOSS),
    (0, metrics.mean_tweedie_deviance, {"power": -1}, LOSS),
    (0, metrics.r2_score, {}, {}), (0, metrics.explained_variance_score, {}, {}),
    (0, metrics.d2_absolute_error_score, {}, {}), (0, metrics.d2_pinball_score, {"alpha": 0.9}, {}),
    (0, metrics.d2_tweedie_score, {"power": 1}, {}), (0, metrics.max_error, {}, LOSS),
    (0, metrics.root_mean_squared_log_error, {}, LOSS),
    *((3, getattr(metrics, name), {}, {}) for name in OF_CLUSTERINGS),
    *((3, getattr(metrics, name), {}, PROBABLE) for name in ("d2_brier_score",) if hasattr(metrics, name)),
]  # fmt: skip
SETTINGS = {
    "own mix": lambda y, classes: {},
    "priced": lambda y, classes: {"class_mix": "priced"},
    "declared": lambda y, classes: {
        "class_mix": {c: (c + 1.0) / (classes * (classes + 1) / 2) for c in range(classes)}
    },
    "groups": lambda y, classes: {"groups": np.arange(len(y)) // 4},
    "weights": lambda y, classes: {"sample_weight": 1.0 + np.arange(len(y)) % 3},
}
# What a message has, and what the table says of it.
REASONS = {
    "weights or groups": "refused: rows that count alike",
    "sample_weight or groups": "refused: rows that count alike", "class_mix='priced'": "refused: own mix",
    "known class counts": "refused: own mix", "declared shares": "refused: no mix",
    "is decided by one row": "refused: one row decides", "clusterings": "refused: pairs of rows",
    "ratio of means": "refused: no interval", "any mix": "refused: own mix",
}  # fmt: skip


def options_of(case):
    _, _, options, made = case
    return ", ".join(f"{name}={value!r}" for name, value in {**options, **made}.items())


def word(case, setting, path):
    """Return what a certify of a function is in a setting, and its answer."""
    classes, function, options, made = case
    (X, y), scorer = rows(0, classes), make_scorer(function, **made, **options)
    if setting == "declared" and not classes:
        return "no classes", None, None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            holdout = Holdout(X, y, ledger=path, random_state=0, **SETTINGS[setting](y, classes))
        except ValueError as error:
            return ("no classes" if not classes else f"refused: {error}"), None, None
        try:
            answer = holdout.certify(model_of(classes), scoring=scorer, guess_from=rows(1, classes))
        except ValueError as error:
            found = [short for part, short in REASONS.items() if part in str(error)]
            return (found or [f"refused: {str(error)[:200]}"])[0], None, None
    is_median = "median of" in answer.certificate.target
    return "median" if is_median else "interval", answer, scorer


def listed():
    with TABLE.open() as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("settings", [
    pytest.param(("own mix",), id="own mix"),
    pytest.param(tuple(SETTINGS)[1:], marks=pytest.mark.thorough, id="others"),
])  # fmt: skip
@pytest.mark.parametrize("number", range(len(CASES)))
def test_a_function_is_what_the_table_says(number, settings, tmp_path):
    case, found = CASES[number], {}
    if case[1] is metrics.d2_log_loss_score and "d2_log_loss_score" not in metrics.get_scorer_names():
        pytest.skip("this scikit-learn has no string for it")
    for setting in settings:
        found[setting], answer, scorer = word(case, setting, tmp_path / f"{setting}.db")
        if setting == "own mix" and found[setting] == "interval":
            X, y = rows(0, case[0])
            value, (low, high) = scorer(model_of(case[0]), X, y), answer.interval
            assert answer.value == pytest.approx(value, abs=0.1 * (high - low) + 1e-3)
            assert low <= value <= high
    row = listed()[number]
    assert (row["function"], row["options"]) == (case[1].__name__, options_of(case))
    assert {setting: row[setting] for setting in settings} == found


def test_the_table_has_every_function_of_labels_or_numbers():
    """Other functions compare rows of X, biclusters, or make scorers."""
    found = set()
    for name in set(metrics.__all__) - {row["function"] for row in listed()}:
        function = getattr(metrics, name)
        if (
            inspect.isfunction(function)
            and next(iter(inspect.signature(function).parameters), None) in OF_LABELS
        ):
            found.add(name)
    assert found <= OF_SEVERAL_LABELS | NO_SCORES


@pytest.mark.parametrize(("classes", "first", "second"), [
    (0, make_scorer(metrics.mean_pinball_loss, alpha=0.9, **LOSS),
     make_scorer(metrics.mean_pinball_loss, alpha=0.90, **LOSS)),
    (0, make_scorer(metrics.mean_pinball_loss, alpha=0.5, **LOSS),
     make_scorer(metrics.mean_pinball_loss, **LOSS)),
    (0, "neg_mean_squared_error", make_scorer(metrics.mean_tweedie_deviance, power=0, **LOSS)),
    (0, make_scorer(metrics.mean_tweedie_deviance, **LOSS),
     make_scorer(metrics.mean_squared_error, **LOSS)),
    (0, "d2_absolute_error_score", make_scorer(metrics.d2_pinball_score)),
    (0, make_scorer(metrics.d2_pinball_score, alpha=0.5),
     make_scorer(metrics.d2_absolute_error_score)),
    (3, make_scorer(metrics.hamming_loss, **LOSS), make_scorer(metrics.zero_one_loss, **LOSS)),
    (2, make_scorer(metrics.zero_one_loss, **LOSS), make_scorer(metrics.hamming_loss, **LOSS)),
    (0, "neg_mean_squared_error",
     make_scorer(metrics.mean_squared_error, multioutput="uniform_average", **LOSS)),
    (2, "precision", make_scorer(metrics.fbeta_score, beta=0)),
    (2, make_scorer(metrics.fbeta_score, beta=0, pos_label=0), Metric("precision", pos_label=0)),
    (3, make_scorer(metrics.fbeta_score, beta=0.0, average="macro"), "precision_macro"),
    (3, make_scorer(metrics.precision_score, labels=[0, 2], average="macro"),
     make_scorer(metrics.fbeta_score, beta=0.0, labels=[0, 2], average="macro")),
    (2, "neg_brier_score", make_scorer(metrics.brier_score_loss, pos_label=0, **LOSS, **PROBABLE)),
    (2, Metric("neg_brier_score", pos_label=0),
     make_scorer(metrics.brier_score_loss, pos_label=1, **LOSS, **PROBABLE)),
    (2, Metric("average_precision", pos_label=0),
     make_scorer(metrics.average_precision_score, pos_label=0, **BOTH)),
])  # fmt: skip
def test_one_metric_written_in_two_ways_is_one_question(classes, first, second, tmp_path):
    (X, y), seen = rows(0, classes), rows(1, classes)
    holdout = Holdout(X, y, ledger=tmp_path / "a.db")
    answer, paid = holdout.certify(model_of(classes), scoring=first, guess_from=seen), spent(holdout)
    again = holdout.certify(model_of(classes), scoring=second, guess_from=seen)
    assert again.repeated
    assert (again.value, again.interval) == (answer.value, answer.interval)
    assert spent(holdout) == pytest.approx(paid, abs=0.01)  # that the model is the same has a price


def test_two_classes_with_long_numbers_are_two_questions(tmp_path):
    """What is published without rows of a guess does not have those of the other class."""
    (X, y), (seen, of_seen) = (rows(seed, 2) for seed in (0, 1))
    kept = np.r_[np.flatnonzero(y), np.flatnonzero(y == 0)[::3]]
    X, y, of_seen = X[kept], y[kept] + LONG, of_seen + LONG
    scorers = [make_scorer(metrics.fbeta_score, beta=2, pos_label=LONG + c) for c in (0, 1)]
    holdout = Holdout(X, y, ledger=tmp_path / "a.db", answers="coarse")
    holdout.certify(LongLabels(), scoring=scorers[0], guess_from=(seen, of_seen))
    published = holdout.publish(LongLabels(), scoring=scorers[1])
    assert published.value == pytest.approx(scorers[1](LongLabels(), X, y))
    assert not published.repeated


@pytest.mark.parametrize(("function", "options", "made", "named"), [
    (metrics.roc_auc_score, {"multi_class": "nope"}, PROBABLE, "multi_class"),
    (metrics.fbeta_score, {"beta": "x"}, {}, "beta"), (metrics.fbeta_score, {"beta": -1}, {}, "beta"),
    (metrics.f1_score, {"average": "macro", "labels": [[1]]}, {}, "labels"),
    (metrics.f1_score, {"average": None}, {}, "average"),
    (metrics.f1_score, {"average": None, "labels": [0, 1]}, {}, "average"),
    (metrics.f1_score, {"pos_label": [1]}, {}, "pos_label"),
    (metrics.f1_score, {"nope": 3}, {}, "nope"),
    (metrics.f1_score, {"zero_division": 3}, {}, "zero_division"),
    (partial(metrics.f1_score, average=None), {}, {}, "average"),
    (metrics.mean_absolute_error, {"multioutput": "raw_values"}, LOSS, "multioutput"),
    (metrics.mean_pinball_loss, {"alpha": 2}, LOSS, "alpha"),
    (metrics.mean_pinball_loss, {"alpha": None}, LOSS, "alpha"),
    (metrics.mean_tweedie_deviance, {"power": "x"}, LOSS, "power"),
    (metrics.top_k_accuracy_score, {"k": 2.7}, PROBABLE, "k"),
    (metrics.cohen_kappa_score, {"weights": "x"}, {}, "weights"),
    (metrics.accuracy_score, {"normalize": "x"}, {}, "normalize"),
    (metrics.class_likelihood_ratios, {}, {}, "scoring"), (metrics.confusion_matrix, {}, {}, "scoring"),
    (metrics.roc_curve, {}, PROBABLE, "scoring"),
])  # fmt: skip
@pytest.mark.parametrize("give", [
    lambda scoring, holdout: Metric(scoring),
    lambda scoring, holdout: Metric(scoring, kind="general"),
    lambda scoring, holdout: holdout.certify(Labels(), scoring=scoring),
    lambda scoring, holdout: holdout.check(Labels(), scoring=scoring, guess=0.5),
    lambda scoring, holdout: holdout.publish(Labels(), scoring=scoring),
    lambda scoring, holdout: ThresholdoutScorer(scoring, holdout),
    lambda scoring, holdout: StableHoldoutScorer(scoring, holdout),
    lambda scoring, holdout: ReusableHoldoutCV(SEARCH, scoring=scoring, holdout=holdout).fit(*rows(1, 2)),
    lambda scoring, holdout: ReusableHoldoutCV(
        GridSearchCV(Labels(), {"classes": [2]}, scoring=scoring), holdout=holdout
    ).fit(*rows(1, 2)),
], ids=[
    "Metric", "general", "certify", "check", "publish", "thresholdout", "stable", "scoring", "search",
])  # fmt: skip
def test_an_option_that_has_no_value_is_named_before_a_charge(give, function, options, made, named, holdout):
    scoring = make_scorer(function, **made, **options)
    before = spent(holdout)
    with pytest.raises(ValueError, match=rf"^The '{named}' parameter of .* must be .* Got .* instead\."):
        give(scoring, holdout)
    assert spent(holdout) == before


def test_an_average_that_only_several_classes_have_none_of_is_named(tmp_path):
    """Of two classes ``average=None`` is one area."""
    scoring = make_scorer(metrics.roc_auc_score, average=None, multi_class="ovr", **PROBABLE)
    X, y = rows(0, 3)
    holdout = Holdout(X, y, ledger=tmp_path / "a.db")
    before = spent(holdout)
    with pytest.raises(ValueError, match=r"returns one number\. Got 'ndarray' instead"):
        holdout.certify(Labels(3), scoring=scoring, guess_from=rows(1, 3))
    assert spent(holdout) == pytest.approx(before, abs=1e-5)  # whether the rows are the holdout's has a price


@pytest.mark.parametrize("scoring", [
    make_scorer(Cost(0.2)), make_scorer(metrics.jaccard_score, average="samples", zero_division=1),
    make_scorer(metrics.f1_score, pos_label="yes", zero_division=1.0),
    make_scorer(metrics.f1_score, labels=["a", "b"], average="micro"),
    make_scorer(metrics.ndcg_score, response_method="predict_proba"),
    make_scorer(metrics.roc_auc_score, average=None, **PROBABLE),
    make_scorer(metrics.brier_score_loss, sample_weight=[1.0, 2.0, 1.0, 2.0], **LOSS, **PROBABLE),
])  # fmt: skip
def test_what_may_have_a_value_is_not_refused(scoring):
    """A callable without a hash, and options that labels of one's own take."""
    assert Metric(scoring).kind == "general"


@pytest.mark.parametrize("number", [1, 3, 4])
def test_on_older_ledgers_functions_are_what_they_were(number):
    scoring = make_scorer(metrics.mean_pinball_loss, alpha=0.9, **LOSS)
    assert (Metric(scoring).kind, Metric(scoring).of_format(number).kind) == ("mean", "general")
