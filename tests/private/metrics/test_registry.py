"""Every scorer of scikit-learn is classified, and what the classification says holds on a holdout."""

import pickle

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    brier_score_loss,
    f1_score,
    fbeta_score,
    get_scorer,
    get_scorer_names,
    jaccard_score,
    make_scorer,
    precision_score,
    recall_score,
)
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB

from sklearn_ada import (
    Guess,
    Holdout,
    MedianSettings,
    Metric,
    ReusableHoldoutCV,
    StableHoldoutScorer,
    ThresholdoutScorer,
)
from sklearn_ada.holdout.holdout import session_of
from sklearn_ada.mechanisms import UniformGrid
from sklearn_ada.metrics import Measure, classify_scorers
from sklearn_ada.metrics.base import SCORERS
from tests.support import holdouts

INSTALLED = get_scorer_names()
REFUSED = {name: each.reason for name, each in SCORERS.items() if each.is_refused}
WITH_INTERVAL = {name for name, each in SCORERS.items() if each.value_is_enough}
NO_INTERVAL = {
    name: each.reason
    for name, each in SCORERS.items()
    if not (each.value_is_enough or each.of_all_rows or each.is_refused)
}
KNOWN_RANGES = {
    name: each.bounds for name, each in SCORERS.items() if not each.value_is_enough and each.bounds
}
CLUSTERING = {
    "adjusted_mutual_info_score", "adjusted_rand_score", "completeness_score", "fowlkes_mallows_score",
    "homogeneity_score", "mutual_info_score", "normalized_mutual_info_score", "rand_score", "v_measure_score",
}  # fmt: skip
THREE_CLASSES = {"top_k_accuracy", "roc_auc_ovr", "roc_auc_ovo", "f1_macro", "jaccard_weighted"}
RANGES = {
    "d2_brier_score": (-9, 1),
    "d2_log_loss_score": (-9, 1),
    "neg_mean_poisson_deviance": (-30, 0),
    "neg_mean_gamma_deviance": (-30, 0),
    "neg_log_loss": (-9, 0),
}
REGRESSION = {
    "explained_variance", "r2", "d2_absolute_error_score", "neg_max_error", "neg_median_absolute_error",
    "neg_root_mean_squared_error", "neg_root_mean_squared_log_error", "neg_mean_absolute_error",
    "neg_mean_absolute_percentage_error", "neg_mean_gamma_deviance", "neg_mean_poisson_deviance",
    "neg_mean_squared_error", "neg_mean_squared_log_error",
}  # fmt: skip


def task_of(name):
    if name in CLUSTERING:
        return "clusters"
    return "three" if name in THREE_CLASSES else "numbers" if name in REGRESSION else "two"


def test_the_table_names_every_scorer_once_and_in_a_kind():
    table = classify_scorers()
    assert [name for name, _, _ in table] == list(INSTALLED)
    kinds = {"mean", "root_mean", "auc", "class_mean", "ratio", "general", "refused"}
    assert {kind for _, kind, _ in table} <= kinds
    for name, kind, how in table:
        assert kind == ("refused" if name in REFUSED else Metric(name).kind)
        assert how


def test_every_name_that_is_registered_is_a_scorer():
    newer = {"d2_brier_score", "d2_log_loss_score"}  # than the oldest scikit-learn
    older = {"max_error"}  # than the newest
    assert set(SCORERS) <= set(INSTALLED) | newer | older


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_scorers_of_several_labels_are_refused_by_name_with_the_reason(name):
    with pytest.raises(ValueError, match=f"Got '{name}' instead. It is for rows with several labels"):
        Metric(name)


@pytest.mark.parametrize("name", [name for name in INSTALLED if name in WITH_INTERVAL])
def test_scorers_with_an_interval_are_certified_and_checked(name, tasks, tmp_path):
    model, guess_rows, rows = tasks[task_of(name)]
    metric = Metric(name, range=RANGES.get(name, (-20, 0)) if Metric(name).range is None else None)
    holdout = Holdout(*rows, ledger=tmp_path / "ledger.db")
    plain = get_scorer(name)(model, *rows)
    answer = holdout.certify(model, scoring=metric)
    assert answer.value == pytest.approx(plain, abs=0.03 * (metric.range[1] - metric.range[0]))
    assert answer.interval[0] < plain < answer.interval[1]
    assert "median" not in answer.certificate.target
    scored = ThresholdoutScorer(metric, holdout)(model, *guess_rows)
    assert scored == pytest.approx(plain, abs=0.3 * (metric.range[1] - metric.range[0]))
    assert holdout.report().asked == {"check": 1, "certify": 1}


@pytest.mark.parametrize("name", [name for name in INSTALLED if name not in REFUSED])
def test_every_scorer_goes_through_the_stable_median(name, tasks, tmp_path):
    model, guess_rows, rows = tasks[task_of(name)]
    metric = Metric(name, kind="general")
    holdout = Holdout(*rows, ledger=tmp_path / "ledger.db")
    plain = get_scorer(name)(model, *rows)
    grid = UniformGrid(plain - 1.2345, plain + 1.0, 2001)
    whole = StableHoldoutScorer(metric, holdout, n_subsamples=1, grid=grid, method="exact")
    assert whole.answer(model, *guess_rows).value == pytest.approx(plain, abs=0.001)
    guess = Guess(plain, size=20.0, deviation=0.1)
    assert holdout.certify(model, scoring=metric, guess=guess).answered
    if name in KNOWN_RANGES:
        assert KNOWN_RANGES[name][0] <= plain <= KNOWN_RANGES[name][1]
        settings = MedianSettings(n_subsamples=10)
        certified = holdout.certify(model, scoring=metric, settings=settings)  # no guess needed
        assert certified.answered


def test_every_scorer_has_an_interval_or_a_reason_why_not():
    assert set(INSTALLED) <= set(SCORERS)
    assert all(reason != Measure.reason for reason in NO_INTERVAL.values())


@pytest.mark.parametrize("task", ["two", "three"])
@pytest.mark.parametrize("name", ["f1_micro", "precision_micro", "recall_micro", "recall_weighted"])
def test_these_are_the_accuracy_under_another_name(name, task, tasks):
    model, _, rows = tasks[task]
    assert get_scorer(name)(model, *rows) == pytest.approx(model.score(*rows), abs=1e-12)


def test_a_natural_range_cannot_be_declared_otherwise():
    with pytest.raises(ValueError, match="left out"):
        Metric("f1_macro", range=(0, 2))


WORDS = np.array(["stays", "churned"], dtype=object)


@pytest.mark.parametrize("name", ["f1", "jaccard", "precision", "recall"])
def test_the_positive_class_may_be_a_word(name, tasks, tmp_path):
    _, guess_rows, (X, y) = tasks["two"]
    worded = LogisticRegression().fit(guess_rows[0], WORDS[guess_rows[1]])
    as_numbers = LogisticRegression().fit(*guess_rows)
    metric = Metric(name, pos_label="churned")
    holdout = Holdout(X, WORDS[y], ledger=tmp_path / "ledger.db")
    expected = get_scorer(name)(as_numbers, X, y)
    assert metric.score(worded, X, WORDS[y]) == pytest.approx(expected)
    assert holdout.certify(worded, scoring=metric, guess=0.8).value == pytest.approx(expected, abs=0.01)
    general = Metric(name, pos_label="churned", kind="general")
    settings = MedianSettings(n_subsamples=1, method="exact")
    asked = holdouts.ask(holdout, worded, scoring=general, purpose="check", settings=settings)
    assert asked.value == pytest.approx(expected, abs=0.002)
    with pytest.raises(ValueError, match=rf"scoring=Metric\('{name}', pos_label='churned'\)"):
        holdout.certify(worded, scoring=name)


@pytest.mark.parametrize("label", ["churned", "stays"])
@pytest.mark.parametrize("model", [LogisticRegression(), GaussianNB()], ids=["decisions", "probabilities"])
@pytest.mark.parametrize(
    ("name", "function"),
    [("average_precision", average_precision_score), ("neg_brier_score", brier_score_loss)],
)
def test_a_ranking_or_a_probability_of_a_word_is_scikit_learns_on_every_subsample(
    name, function, model, label, tasks
):
    _, guess_rows, (X, y) = tasks["two"]
    worded = model.fit(guess_rows[0], WORDS[guess_rows[1]])
    metric, general = Metric(name, pos_label=label), Metric(name, pos_label=label, kind="general")
    column = worded.predict_proba(X)[:, list(worded.classes_).index(label)]
    rows = np.random.default_rng(0).permutation(len(y)).reshape(10, -1)
    sign = -1 if name.startswith("neg_") else 1
    expected = [sign * function(WORDS[y[block]], column[block], pos_label=label) for block in rows]
    for one in (metric, general):
        assert one.range == Metric(name).range
        assert one.blocks(worded, X, WORDS[y], rows) == pytest.approx(expected)
        assert one.score(worded, X, WORDS[y]) == pytest.approx(
            sign * function(WORDS[y], column, pos_label=label)
        )
    assert metric.kind == Metric(name).kind


@pytest.mark.parametrize("label", ["churned", "stays"])
def test_the_brier_score_of_a_word_has_the_interval_of_its_mean(label, tasks, tmp_path):
    _, guess_rows, (X, y) = tasks["two"]
    worded = LogisticRegression().fit(guess_rows[0], WORDS[guess_rows[1]])
    holdout = Holdout(X, WORDS[y], ledger=tmp_path / "ledger.db")
    metric = Metric("neg_brier_score", pos_label=label)
    answer = holdout.certify(worded, scoring=metric, guess=-0.1)
    assert answer.value == pytest.approx(metric.score(worded, X, WORDS[y]), abs=0.01)
    assert "median" not in answer.certificate.target


def test_the_average_precision_of_a_word_is_searched_for(tasks):
    _, _, (X, y) = tasks["two"]
    search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]})
    metric = Metric("average_precision", pos_label="churned")
    found = ReusableHoldoutCV(search, scoring=metric, ledger=":memory:").fit(X, WORDS[y])
    data = session_of(found.holdout_).data
    turned = np.where(data.y == "stays", "churned", "stays")
    own, other = (metric.score(found.best_estimator_, data.X, labels) for labels in (data.y, turned))
    assert own - other > 0.2
    assert found.best_score_ == pytest.approx(own, abs=0.1)  # a median over subsamples


def test_the_same_metric_of_two_classes_is_two_questions(tasks, tmp_path):
    model, _, rows = tasks["two"]
    holdout = Holdout(*rows, ledger=tmp_path / "ledger.db")
    for label in (0, 1, None):
        holdout.certify(model, scoring=Metric("recall", pos_label=label), guess=0.8)
    assert holdout.report().asked["certify"] == 3


def test_a_positive_class_is_for_metrics_of_one_class():
    what = "The 'pos_label' parameter of Metric must be None for accuracy.*it is for average_precision, f1, "
    with pytest.raises(ValueError, match=what):
        Metric("accuracy", pos_label="churned")
    with pytest.raises(ValueError, match=r"must be None for a function\..*make_scorer\(function, pos_label="):
        Metric(make_scorer(fbeta_score, beta=2), pos_label="churned")
    assert Metric(get_scorer("f1"), pos_label="churned") == Metric("f1", pos_label="churned")


@pytest.mark.parametrize("name", [name for name in get_scorer_names() if name not in REFUSED])
def test_a_scorer_of_scikit_learn_is_the_metric_of_its_name(name):
    assert Metric(get_scorer(name)) == Metric(name)
    assert Metric(pickle.loads(pickle.dumps(get_scorer(name)))) == Metric(name)


@pytest.mark.parametrize("average", ["macro", "micro", "weighted"])
@pytest.mark.parametrize("function", [f1_score, jaccard_score, precision_score, recall_score])
def test_averages_are_known_as_people_write_them(function, average):
    name = function.__name__.removesuffix("_score")
    assert Metric(make_scorer(function, average=average)) == Metric(f"{name}_{average}")
    assert Metric(make_scorer(function, average=average, zero_division=0)) == Metric(f"{name}_{average}")
    assert Metric(make_scorer(function)) == Metric(name)
    assert Metric(make_scorer(function, average=average, zero_division=1.0)).string is None


def test_a_scorer_of_ones_own_is_not_taken_for_one_of_a_name():
    for own in (
        make_scorer(accuracy_score, response_method="predict_proba"),
        make_scorer(accuracy_score, greater_is_better=False),
        make_scorer(lambda y, predictions: 0.0),
        make_scorer(fbeta_score, beta=1),
        lambda estimator, X, y: 0.0,
    ):
        assert Metric(own).string is None
    with config_context(enable_metadata_routing=True):
        assert Metric(get_scorer("accuracy").set_score_request(sample_weight=True)).string is None
    with pytest.raises(ValueError, match="metric of one label a row"):
        Metric(get_scorer("f1_samples"))


def test_a_scorer_of_several_numbers_is_refused_before_anything_is_charged(tasks):
    model, guess_rows, rows = tasks["two"]
    several = Metric(lambda estimator, X, y: {"f1": 0.5, "accuracy": 0.5})
    with pytest.raises(ValueError, match=r"a scorer that returns one number\. Got 'dict'"):
        several.score(model, *rows)
    holdout = Holdout(*rows, ledger=":memory:")
    with pytest.raises(ValueError, match="a scorer that returns one number"):
        holdout.certify(model, scoring=several.scoring, guess_from=guess_rows)
    assert not holdout.report().answers


def test_deviances_are_undefined_for_what_is_not_positive(tasks, tmp_path):
    _, _, (X, y) = tasks["numbers"]
    negative = LinearRegression().fit(X, -y)
    holdout = Holdout(X, y, ledger=tmp_path / "ledger.db")
    answer = holdout.certify(negative, scoring=Metric("neg_mean_poisson_deviance", range=(-30, 0)))
    assert (answer.verdict, answer.reason) == ("failed", "metric is undefined")


def test_a_metric_is_a_scorer_of_the_search_that_is_certified_by_it(tmp_path):
    X, y = make_classification(1200, 5, flip_y=0.1, random_state=0)
    y = np.array(["no", "yes"])[y]
    metric = Metric("f1", pos_label="yes")
    plain = make_scorer(f1_score, pos_label="yes")
    grid = {"C": [0.01, 1.0]}
    found = GridSearchCV(LogisticRegression(), grid, scoring=metric).fit(X, y)
    expected = GridSearchCV(LogisticRegression(), grid, scoring=plain).fit(X, y)
    assert found.best_score_ == expected.best_score_
    search = clone(GridSearchCV(LogisticRegression(), grid, scoring=metric))
    certified = ReusableHoldoutCV(search, ledger=tmp_path / "ledger.db", answers="exact").fit(X, y)
    assert certified.best_score_target_ == "population f1 of 'yes' at the holdout's class mix"
    guess = certified.holdout_.report().entries[-1].guess
    assert guess == pytest.approx(certified.cv_results_["mean_test_score"].max())  # its own folds' score
    assert pickle.loads(pickle.dumps(metric)) == metric == Metric("f1", pos_label="yes")
    assert metric != Metric("f1", pos_label="no")
    assert len({metric, Metric("f1", pos_label="yes")}) == 1


def test_a_scorer_made_of_a_metric_of_one_class_is_told_what_to_write(tmp_path):
    X, y = make_classification(1200, 5, flip_y=0.1, random_state=0)
    y = np.array(["no", "yes"])[y]
    search = GridSearchCV(LogisticRegression(), {"C": [1.0]}, scoring=make_scorer(f1_score, pos_label="yes"))
    with pytest.warns(UserWarning, match=r"Use Metric\('f1', pos_label='yes'\), which is a scorer, too"):
        ReusableHoldoutCV(search, ledger=tmp_path / "ledger.db").fit(X, y)


def test_a_metric_is_not_made_of_another():
    with pytest.raises(ValueError, match="must be a scorer string or a scorer"):
        Metric(Metric("accuracy"))
