"""Scorers of ``make_scorer`` and of scikit-learn, certified by the table of their predictions."""

import math

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    cohen_kappa_score,
    f1_score,
    fbeta_score,
    jaccard_score,
    make_scorer,
    matthews_corrcoef,
    precision_score,
    recall_score,
)
from sklearn.model_selection import GridSearchCV

from sklearn_ada import Holdout, Metric, ReusableHoldoutCV

WORDS = np.array(["no", "yes"])


class ReadsAColumn(ClassifierMixin, BaseEstimator):
    """A model whose predictions stand in the first column, as positions of classes."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[np.asarray(X)[:, 0].astype(int)]


def drawn(classes, seed, n=600, labels=None):
    """Return rows of some classes, the last of which is rare, of which a model gets most right."""
    rng = np.random.default_rng(seed)
    shares = np.r_[np.full(classes - 1, 0.8 / (classes - 1)), 0.2]
    y = np.repeat(np.arange(classes), np.round(shares * n).astype(int))
    predicted = np.where(rng.random(len(y)) < 0.8, y, rng.integers(0, classes, len(y)))
    return np.column_stack((predicted, rng.random(len(y)))), y if labels is None else labels[y]


def holdout_of(path, classes=2, labels=None, **options):
    """Return a holdout, its model, and rows for a guess."""
    X, y = drawn(classes, 0, labels=labels)
    holdout = Holdout(X, y, ledger=path, **{"answers": "exact", "random_state": 0} | options)
    return holdout, ReadsAColumn().fit(X, y), drawn(classes, 1, labels=labels)


TWO, RATES = "binomial laws of both classes", "boxes for the rates"
REST, BETS = "those of the rest unequal (Hoeffding 1956)", "fixed bets on the confusion matrix"
OF_TWO = [
    make_scorer(fbeta_score, beta=2), make_scorer(fbeta_score, beta=0.5, pos_label=0),
    make_scorer(fbeta_score, beta=0), make_scorer(f1_score, pos_label=0),
    make_scorer(precision_score, pos_label=0), make_scorer(jaccard_score, pos_label=0),
    make_scorer(f1_score, labels=[0], average="macro"), make_scorer(cohen_kappa_score),
    make_scorer(balanced_accuracy_score, adjusted=True), "f1_macro", "f1_weighted", "precision_macro",
    "jaccard_weighted", make_scorer(fbeta_score, beta=2, average="weighted"), "matthews_corrcoef",
    "balanced_accuracy", "f1", "precision", "jaccard",
    Metric("positive_likelihood_ratio", range=(0, 50)),
    Metric("neg_negative_likelihood_ratio", range=(-2, 0)),
]  # fmt: skip
OF_FOUR = [
    (make_scorer(f1_score, labels=[2], average="macro"), REST),
    (make_scorer(precision_score, labels=[3], average="micro"), REST),
    (make_scorer(jaccard_score, labels=[0], average="weighted", zero_division=0), REST),
    (make_scorer(recall_score, labels=[1], average="macro"), "Clopper-Pearson"),
    (make_scorer(fbeta_score, beta=2, labels=[3], average="macro"), REST),
    ("f1_macro", RATES), ("precision_weighted", RATES), ("jaccard_macro", RATES),
    (make_scorer(f1_score, labels=[3, 1], average="macro"), RATES),
    (make_scorer(fbeta_score, beta=0.5, labels=[0, 3], average="weighted"), RATES),
    (make_scorer(cohen_kappa_score), BETS),
    (make_scorer(balanced_accuracy_score, adjusted=True), "Clopper-Pearson for each class, or Hoeffding"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("classes", "scoring", "theorem"),
    [*((2, scoring, TWO) for scoring in OF_TWO), *((4, *case) for case in OF_FOUR)],
    ids=lambda case: getattr(case, "name", str(case)).replace("response_method='predict', ", ""),
)
def test_an_answer_is_the_value_of_scikit_learn_in_the_interval_of_its_table(
    classes, scoring, theorem, tmp_path
):
    holdout, model, validation = holdout_of(tmp_path / "a.db", classes)
    answer, (X, y) = holdout.certify(model, scoring=scoring, guess_from=validation), drawn(classes, 0)
    metric = scoring if isinstance(scoring, Metric) else Metric(scoring)
    plain, (low, high) = metric.score(model, X, y), answer.interval
    assert low < plain < high
    assert answer.value == pytest.approx(plain, abs=0.1 * (high - low))
    assert theorem in answer.certificate.theorem
    assert "class mix" in answer.certificate.target


@pytest.mark.parametrize(("scoring", "metric"), [
    (make_scorer(f1_score, pos_label="yes"), Metric("f1", pos_label="yes")),
    (make_scorer(precision_score, pos_label=0), Metric("precision", pos_label=0)),
    (make_scorer(jaccard_score, pos_label=0), Metric("jaccard", pos_label=0)),
    (make_scorer(recall_score, pos_label="no"), Metric("recall", pos_label="no")),
])  # fmt: skip
def test_a_scorer_of_another_class_is_the_metric_of_that_class(scoring, metric):
    assert (Metric(scoring), Metric(scoring).name, Metric(scoring).kind) == (metric, metric.name, metric.kind)


def test_words_are_classes_too(tmp_path):
    answers = []
    for options in ({"pos_label": "yes"}, {"labels": ["yes"], "average": "macro"}):
        holdout, model, validation = holdout_of(tmp_path / f"{len(answers)}.db", labels=WORDS)
        scoring = make_scorer(f1_score, **options)
        answers.append(holdout.certify(model, scoring=scoring, guess_from=validation))
    assert answers[0].value == pytest.approx(answers[1].value, abs=0.002)
    assert answers[0].interval == pytest.approx(answers[1].interval, abs=0.005)


@pytest.mark.parametrize("scoring", [
    make_scorer(cohen_kappa_score, labels=[0, 1]), make_scorer(f1_score, average="micro", labels=[0, 1]),
    make_scorer(precision_score, zero_division=1), make_scorer(fbeta_score, beta=2, greater_is_better=False),
    make_scorer(recall_score, average="macro", labels=[0, 1]), make_scorer(fbeta_score, beta=math.inf),
    make_scorer(f1_score, average="macro", labels=[0, 1, 1]),
    make_scorer(lambda y, predicted: 0.5),
])  # fmt: skip
def test_what_is_no_metric_of_a_table_keeps_the_median(scoring):
    metric = Metric(scoring)
    assert not metric.has_interval_of_all_rows
    assert (metric.kind, metric.range) == ("general", None)


def test_a_metric_of_one_class_is_asked_of_older_ledgers_as_before():
    """Their questions were about the median, and are found again."""
    for scoring in (make_scorer(fbeta_score, beta=2), make_scorer(f1_score, pos_label="yes")):
        older = Metric(scoring).of_format(4)
        assert (older.kind, older.range, older.string) == ("general", None, None)
        assert older.scoring is scoring
    older = Metric("positive_likelihood_ratio").of_format(4)
    assert "older one" in older.measure.reason
    assert Metric("f1_macro").of_format(4) is not None
    assert Metric("f1").of_format(1).string == "f1"


@pytest.mark.parametrize("label", [np.int64(7), np.str_("yes"), np.bool_(True)], ids=type)
def test_a_class_is_named_without_the_type_that_numpy_has_for_it(label):
    for metric in (Metric("f1", pos_label=label), Metric(make_scorer(f1_score, pos_label=label))):
        assert metric == Metric("f1", pos_label=label.item())
        assert metric.name == f"f1 of {label.item()!r}"
    older = Metric("f1", pos_label=label).of_format(4)  # as its questions stand on record
    assert older.name == f"f1 of {label!r}"


@pytest.mark.parametrize(("classes", "scoring", "message"), [
    (3, make_scorer(fbeta_score, beta=2), "it is a metric of two classes"),
    (3, Metric("positive_likelihood_ratio", range=(0, 50)), "it is a metric of two classes"),
    (2, "positive_likelihood_ratio", r"declare one, Metric\('positive_likelihood_ratio', range=\(0, 100"),
    (2, "neg_negative_likelihood_ratio", r"range=\(-10, 0\)"),
    (3, make_scorer(f1_score, labels=[7], average="macro"), "it needs rows of class 7"),
    (3, make_scorer(f1_score, labels=[0, 7], average="macro"), "it needs rows of class 7"),
    (2, make_scorer(fbeta_score, beta=2, pos_label="yes"), "it needs rows of class 'yes'"),
])  # fmt: skip
@pytest.mark.parametrize("by_rows", [True, False])
def test_what_has_no_value_is_refused_before_the_charge(classes, scoring, message, by_rows, tmp_path):
    holdout, model, validation = holdout_of(tmp_path / "a.db", classes)
    guess = {"guess_from": validation} if by_rows else {"guess": 0.5}
    with pytest.raises(ValueError, match=message):
        holdout.certify(model, scoring=scoring, **guess)
    assert holdout.report().nats < 1e-5  # what it costs that the rows of the guess are not the holdout's
    assert not holdout.report().entries


@pytest.mark.parametrize(("classes", "scoring"), [
    (3, make_scorer(precision_score, labels=[2], average="macro")),
    (2, make_scorer(fbeta_score, beta=0, pos_label=1)),
    (2, Metric("positive_likelihood_ratio", range=(0, 50))),
])  # fmt: skip
def test_a_denominator_of_nothing_is_a_failure_with_its_reason(classes, scoring, tmp_path):
    X, y = drawn(classes, 0)
    X[X[:, 0] == classes - 1, 0] = 0.0  # nobody is predicted to be of the last class
    holdout = Holdout(X, y, ledger=tmp_path / "a.db", answers="exact", random_state=0)
    answer = holdout.certify(ReadsAColumn().fit(X, y), scoring=scoring, guess=0.5)
    assert math.isnan(answer.value)
    assert "undefined" in str(answer)


@pytest.mark.parametrize(("scoring", "value"), [
    (make_scorer(fbeta_score, beta=2), lambda a, b: 5 * a / (4 + a + 9 * b)),
    (make_scorer(f1_score, labels=[1], average="macro"), lambda a, b: 2 * a / (1 + a + 9 * b)),
    ("precision_macro", lambda a, b: (a / (a + 9 * b) + 9 * (1 - b) / (9 * (1 - b) + 1 - a)) / 2),
])  # fmt: skip
def test_a_declared_class_mix_is_that_of_the_value_and_of_the_target(scoring, value, tmp_path):
    mix = {0: 0.9, 1: 0.1}
    holdout, model, validation = holdout_of(tmp_path / "a.db", class_mix=mix)
    answer, (X, y) = holdout.certify(model, scoring=scoring, guess_from=validation), drawn(2, 0)
    recall, false_rate = (float(np.mean(X[y == label, 0])) for label in (1, 0))
    low, high = answer.interval
    assert low < value(recall, false_rate) < high
    assert answer.value == pytest.approx(value(recall, false_rate), abs=0.1 * (high - low))
    assert answer.certificate.target.endswith("class mix {0: 0.9, 1: 0.1}")


@pytest.mark.parametrize("scoring", ["precision_macro", "precision_weighted"])
@pytest.mark.parametrize("class_mix", ["conditional", {0: 0.8, 1: 0.2}])
@pytest.mark.parametrize("answers", ["exact", "coarse"])
def test_a_class_that_is_never_predicted_counts_as_in_scikit_learn(scoring, class_mix, answers, tmp_path):
    X, y = drawn(2, 0)
    X[:, 0] = 1
    holdout = Holdout(X, y, ledger=tmp_path / "a.db", answers=answers, class_mix=class_mix, random_state=0)
    model = ReadsAColumn().fit(X, y)
    told = holdout.certify(model, scoring=scoring, guess_from=drawn(2, 1))
    answer = told if answers == "exact" else holdout.publish(model, scoring=scoring)
    assert answer.value == pytest.approx(Metric(scoring).score(model, X, y))
    assert answer.interval[0] < answer.value < answer.interval[1]


@pytest.mark.parametrize(("scoring", "theorem"), [
    (make_scorer(cohen_kappa_score), "binomial laws, exactly"),
    (make_scorer(fbeta_score, beta=2), "binomial laws, exactly"),
    (make_scorer(balanced_accuracy_score, adjusted=True), "binomial laws, exactly"),
])  # fmt: skip
def test_where_classes_are_priced_rows_of_one_law_have_intervals_too(scoring, theorem, tmp_path):
    holdout, model, validation = holdout_of(tmp_path / "a.db", class_mix="priced")
    answer, (X, y) = holdout.certify(model, scoring=scoring, guess_from=validation), drawn(2, 0)
    assert answer.interval[0] < scoring(model, X, y) < answer.interval[1]
    assert theorem in answer.certificate.theorem
    assert "class mix" not in answer.certificate.target


def test_weights_leave_the_median_of_a_scorer_as_its_answer(tmp_path):
    X, y = drawn(2, 0)
    weighted = Holdout(X, y, sample_weight=np.ones(len(y)), ledger=tmp_path / "a.db", answers="exact")
    model, validation = ReadsAColumn().fit(X, y), drawn(2, 1)
    answer = weighted.certify(model, scoring=make_scorer(cohen_kappa_score), guess_from=validation)
    assert "median" in answer.certificate.target


def test_a_search_by_a_scorer_is_certified_by_its_table(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 3))
    y = (X[:, 0] + rng.normal(size=900) > 0).astype(int)
    search = GridSearchCV(LogisticRegression(), {"C": [0.01, 1.0]}, scoring=make_scorer(cohen_kappa_score))
    found = ReusableHoldoutCV(search, ledger=tmp_path / "a.db", answers="exact", random_state=0).fit(X, y)
    assert "median" not in found.best_score_target_
    assert "cohen_kappa_score" in found.best_score_target_
    assert found.best_score_ == pytest.approx(cohen_kappa_score(y, found.predict(X)), abs=0.15)


def test_a_plain_scorer_stays_what_it_is():
    assert Metric(make_scorer(accuracy_score)) == Metric("accuracy")
    assert Metric(make_scorer(matthews_corrcoef)).string == "matthews_corrcoef"


def test_the_geometric_mean_of_imbalanced_learn_is_a_metric_of_a_table(tmp_path):
    metrics = pytest.importorskip("imblearn.metrics")
    holdout, model, validation = holdout_of(tmp_path / "a.db")
    scoring = make_scorer(metrics.geometric_mean_score)
    answer = holdout.certify(model, scoring=scoring, guess_from=validation)
    assert TWO in answer.certificate.theorem
    assert answer.value == pytest.approx(scoring(model, *drawn(2, 0)), abs=0.005)
