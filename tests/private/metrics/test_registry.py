"""Every scorer of scikit-learn is certified on its own value or refused with the reason, at any holdout.

No answer is a median over subsamples, which is another quantity, unless the user has written that it may be.
"""

import pickle
import warnings
from dataclasses import dataclass

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor
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
from sklearn_ada.metrics import classify_scorers
from sklearn_ada.metrics.base import SCORERS
from tests.support.searches import grid

INSTALLED = get_scorer_names()
REFUSED = {name for name, each in SCORERS.items() if each.is_refused}
USABLE = [name for name in INSTALLED if name not in REFUSED]
WITH_INTERVAL = [name for name in INSTALLED if SCORERS[name].value_is_enough]
NO_INTERVAL = {
    name: SCORERS[name].reason
    for name in USABLE
    if not (SCORERS[name].value_is_enough or SCORERS[name].of_all_rows)
} | dict.fromkeys(
    ("neg_negative_likelihood_ratio", "positive_likelihood_ratio"), "has no finite range: declare one"
)
CLUSTERING = {
    "adjusted_mutual_info_score", "adjusted_rand_score", "completeness_score", "fowlkes_mallows_score",
    "homogeneity_score", "mutual_info_score", "normalized_mutual_info_score", "rand_score", "v_measure_score",
}  # fmt: skip
THREE_CLASSES = {
    "top_k_accuracy", "roc_auc_ovr", "roc_auc_ovo", "f1_macro", "f1_weighted", "jaccard_macro",
    "jaccard_weighted",
}  # fmt: skip
RANGES = {
    "d2_brier_score": (-9, 1),
    "d2_log_loss_score": (-9, 1),
    "neg_mean_poisson_deviance": (-30, 0),
    "neg_mean_gamma_deviance": (-30, 0),
    "neg_log_loss": (-9, 0),
}
N = 600
KINDS = {
    "independent rows": {"class_mix": "priced"},
    "at the class mix": {},
    "weighted": {"sample_weight": np.tile([1.0, 2.0, 0.5], N)[:N]},
    "grouped": {"groups": np.arange(N) // 2},
}
KINDS_OF_ROWS = [pytest.param(k, marks=[pytest.mark.thorough] * (k != "at the class mix")) for k in KINDS]
ALIKE, COUNTS = "rows that count alike", "known class counts"
WORDS = np.array(["stays", "churned"], dtype=object)


@pytest.fixture(scope="module")
def tasks():
    """Per task of scorers: a fitted model, 300 rows for a guess, 600 rows for a holdout."""
    two = make_classification(1200, 5, n_informative=3, flip_y=0.2, random_state=0)
    three = make_classification(1200, 5, n_informative=4, n_redundant=0, n_classes=3, random_state=0)
    X, y = make_regression(1200, 5, noise=20.0, random_state=0)
    models = {
        "two": (LogisticRegression(), *two),
        "three": (LogisticRegression(), *three),
        "numbers": (PoissonRegressor(), X, np.exp(y / 200)),
        "clusters": (KMeans(2, n_init=3, random_state=0), *two),
    }
    return {
        task: (model.fit(X[:300], y[:300]), (X[300:600], y[300:600]), (X[600:], y[600:]))
        for task, (model, X, y) in models.items()
    }


@pytest.fixture
def opened(tmp_path):
    """Open a holdout with a ledger of its own."""
    return lambda rows, **options: Holdout(*rows, ledger=tmp_path / "ledger.db", **options)


@pytest.fixture
def worded(tasks, opened):
    """Models of words and of numbers, the same rows with labels of words and numbers, and their holdout."""
    _, (X_guess, y_guess), (X, y) = tasks["two"]
    model, as_numbers = (LogisticRegression().fit(X_guess, labels) for labels in (WORDS[y_guess], y_guess))
    return model, as_numbers, X, WORDS[y], y, opened((X, WORDS[y]))


def task_of(name, clusters="two"):
    if name in CLUSTERING:
        return clusters
    is_of_numbers = name in SCORERS and SCORERS[name].response.target == "numbers"
    return "three" if name in THREE_CLASSES else "numbers" if is_of_numbers else "two"


def test_the_table_names_every_scorer_once_and_in_a_kind():
    table = classify_scorers()
    assert [name for name, _, _ in table] == list(INSTALLED)
    kinds = {"mean", "root_mean", "auc", "class_mean", "ratio", "general", "refused"}
    assert {kind for _, kind, _ in table} <= kinds
    for name, kind, how in table:
        assert kind == ("refused" if name in REFUSED else Metric(name).kind)
        assert how
    newer = {"d2_brier_score", "d2_log_loss_score"}  # than the oldest scikit-learn
    older = {"max_error"}  # than the newest
    assert set(SCORERS) <= set(INSTALLED) | newer | older


@pytest.mark.parametrize("kind", KINDS_OF_ROWS)
@pytest.mark.parametrize("name", USABLE)
def test_a_scorer_is_certified_on_its_own_value_or_refused_with_the_reason(name, kind, tasks, opened):
    model, guess_rows, (X, y) = tasks[task_of(name)]
    if kind == "independent rows" and task_of(name) == "numbers":
        kind = "at the class mix"  # of numbers it is the same
    holdout = opened((X, y), **KINDS[kind])
    answer, refusal = None, ""
    try:
        answer = holdout.certify(model, scoring=name, guess_from=guess_rows)
    except ValueError as error:
        refusal = str(error)
    if answer is None:
        assert any(why in refusal for why in (NO_INTERVAL.get(name, ALIKE), ALIKE, COUNTS, "a mean"))
        assert not holdout.report().answers
        if kind == "at the class mix":
            assert f"Got '{name}' instead. It {NO_INTERVAL[name]}" in refusal
            assert "answers the median over subsamples instead" in refusal
        return
    assert name not in NO_INTERVAL
    assert "median" not in answer.certificate.theorem
    target = answer.certificate.target
    assert target.startswith((f"population {name}", f"expected {name}", f"{name} expected")), target
    weight = {name: value for name, value in KINDS[kind].items() if name == "sample_weight"}
    plain = get_scorer(name)(model, X, y, **weight)
    slack = 0.1 * (answer.interval[1] - answer.interval[0])
    if "clipped" in target:  # some rows may be: the others' errors are the smaller ones
        assert plain - slack <= answer.value <= plain + 0.15 * abs(plain) + slack
        return
    assert answer.interval[0] <= plain <= answer.interval[1]
    assert answer.value == pytest.approx(plain, abs=slack)


@pytest.mark.thorough
@pytest.mark.parametrize("ask", ["winner", "candidates"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", USABLE)
def test_a_search_certifies_a_scorer_on_its_own_value_or_says_why_not(name, kind, ask, tasks, opened):
    model, guess_rows, rows = tasks[task_of(name)]
    if kind == "independent rows" and task_of(name) == "numbers":
        kind = "at the class mix"
    holdout = opened(rows, **KINDS[kind])
    search = GridSearchCV(model, {"tol": [1e-3, 1e-4]}, scoring=name)
    found, refusal = None, ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = ReusableHoldoutCV(search, holdout=holdout, ask=ask).fit(*guess_rows)
        except ValueError as error:
            refusal = str(error)
    if found is None:
        reasons = (NO_INTERVAL.get(name, ALIKE), ALIKE, COUNTS, "no finite range", "ask='winner'")
        assert any(why in refusal for why in reasons), refusal
        assert not holdout.report().answers
        return
    assert "median of" not in found.best_score_target_
    assert name in found.best_score_target_


@pytest.mark.parametrize("name", WITH_INTERVAL)
def test_scorers_with_an_interval_are_certified_without_a_guess_and_checked_by_thresholdout(
    name, tasks, opened
):
    model, guess_rows, rows = tasks[task_of(name)]
    metric = Metric(name, range=RANGES.get(name, (-20, 0)) if Metric(name).range is None else None)
    holdout, width = opened(rows), metric.range[1] - metric.range[0]
    plain = get_scorer(name)(model, *rows)
    scored = ThresholdoutScorer(metric, holdout)(model, *guess_rows)
    assert scored == pytest.approx(plain, abs=0.3 * width)
    answer = holdout.certify(model, scoring=metric)
    assert answer.value == pytest.approx(plain, abs=0.03 * width)
    assert answer.interval[0] < plain < answer.interval[1]
    assert "median" not in answer.certificate.target
    assert holdout.report().asked == {"check": 1, "certify": 1}


@pytest.mark.parametrize("name", USABLE)
def test_every_scorer_goes_through_the_stable_median_where_it_is_written(name, tasks, opened):
    model, guess_rows, rows = tasks[task_of(name, "clusters")]
    metric, holdout, plain = Metric(name, kind="general"), opened(rows), get_scorer(name)(model, *rows)
    whole = StableHoldoutScorer(
        metric, holdout, n_subsamples=1, grid=UniformGrid(plain - 1.2345, plain + 1.0, 2001), method="exact"
    )
    assert whole.answer(model, *guess_rows).value == pytest.approx(plain, abs=0.001)
    answer = holdout.certify(model, scoring=metric, guess=Guess(plain, size=20.0, deviation=0.1))
    assert answer.answered
    assert answer.certificate.target.startswith(f"median of {name}")
    bounds = SCORERS[name].bounds
    if bounds and not SCORERS[name].value_is_enough:
        assert bounds[0] <= plain <= bounds[1]
        settings = MedianSettings(n_subsamples=10)
        assert holdout.certify(model, scoring=metric, settings=settings).answered  # no guess is needed


@pytest.mark.parametrize("task", ["two", "three"])
@pytest.mark.parametrize("name", ["f1_micro", "precision_micro", "recall_micro", "recall_weighted"])
def test_micro_averages_and_the_weighted_recall_are_the_accuracy(name, task, tasks):
    model, _, rows = tasks[task]
    assert get_scorer(name)(model, *rows) == pytest.approx(model.score(*rows), abs=1e-12)


@pytest.mark.parametrize("name", ["f1", "jaccard", "precision", "recall"])
def test_the_positive_class_may_be_a_word(name, worded):
    model, as_numbers, X, words, y, holdout = worded
    metric, general = Metric(name, pos_label="churned"), Metric(name, pos_label="churned", kind="general")
    expected = get_scorer(name)(as_numbers, X, y)
    assert metric.score(model, X, words) == pytest.approx(expected)
    assert holdout.certify(model, scoring=metric, guess=0.8).value == pytest.approx(expected, abs=0.01)
    settings = MedianSettings(n_subsamples=1, method="exact")
    answer = holdout.check(model, scoring=general, settings=settings)
    assert answer.value == pytest.approx(expected, abs=0.002)


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
    words, model = WORDS[y], model.fit(guess_rows[0], WORDS[guess_rows[1]])
    column = model.predict_proba(X)[:, list(model.classes_).index(label)]
    rows, sign = np.random.default_rng(0).permutation(len(y)).reshape(10, -1), -1 if "neg" in name else 1
    parts = [*rows, slice(None)]
    expected = [sign * function(words[part], column[part], pos_label=label) for part in parts]
    for kind in (None, "general"):
        metric = Metric(name, pos_label=label, kind=kind)
        assert metric.range == Metric(name).range
        values = [*metric.blocks(model, X, words, rows), metric.score(model, X, words)]
        assert values == pytest.approx(expected)
    assert Metric(name, pos_label=label).kind == Metric(name).kind


@pytest.mark.parametrize("label", ["churned", "stays"])
def test_the_brier_score_of_a_word_has_the_interval_of_its_mean(label, worded):
    model, _, X, words, _, holdout = worded
    metric = Metric("neg_brier_score", pos_label=label)
    answer = holdout.certify(model, scoring=metric, guess=-0.1)
    assert answer.value == pytest.approx(metric.score(model, X, words), abs=0.01)
    assert "median" not in answer.certificate.target


def test_the_average_precision_of_a_word_is_searched_for(worded):
    _, _, X, words, _, _ = worded
    metric = Metric("average_precision", pos_label="churned")
    search = ReusableHoldoutCV(grid(LogisticRegression()), scoring=metric, ledger=":memory:")
    found = search.fit(X, words)
    data = session_of(found.holdout_).data
    turned = np.where(data.y == "stays", "churned", "stays")
    own, other = (metric.score(found.best_estimator_, data.X, labels) for labels in (data.y, turned))
    assert own - other > 0.2
    assert found.best_score_ == pytest.approx(own, abs=0.1)  # a median over subsamples


def test_the_same_metric_of_two_classes_is_two_questions(tasks, opened):
    model, _, rows = tasks["two"]
    holdout = opened(rows)
    for label in (0, 1, None):  # 1 is what scikit-learn takes for positive by itself
        holdout.certify(model, scoring=Metric("recall", pos_label=label), guess=0.8)
    assert holdout.report().asked["certify"] == 2


F2 = make_scorer(fbeta_score, beta=2)
FOR_OTHERS = "'pos_label' parameter of Metric must be None for accuracy.*it is for average_precision, f1, "
BAD = [
    ("f1_macro", {"range": (0, 2)}, "left out"),
    ("accuracy", {"pos_label": "churned"}, FOR_OTHERS),
    (F2, {"pos_label": "churned"}, r"must be None for a function\..*make_scorer\(function, pos_label="),
    (Metric("accuracy"), {}, "must be a scorer string or a scorer"),
    (get_scorer("f1_samples"), {}, "metric of one label a row"),
    *((name, {}, f"Got '{name}' instead. It is for rows with several labels") for name in sorted(REFUSED)),
]  # fmt: skip


@pytest.mark.parametrize(("scoring", "options", "message"), BAD)
def test_what_makes_no_metric_is_refused_with_the_reason(scoring, options, message):
    with pytest.raises(ValueError, match=message):
        Metric(scoring, **options)


@pytest.mark.parametrize("name", USABLE)
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
    with config_context(enable_metadata_routing=True):
        routed = get_scorer("accuracy").set_score_request(sample_weight=True)
    for own in (
        make_scorer(accuracy_score, response_method="predict_proba"),
        make_scorer(accuracy_score, greater_is_better=False),
        make_scorer(lambda y, predictions: 0.0),
        make_scorer(fbeta_score, beta=2),
        lambda estimator, X, y: 0.0,
        routed,
    ):
        assert Metric(own).string is None


def test_a_scorer_of_several_numbers_is_refused_before_anything_is_charged(tasks, opened):
    model, guess_rows, rows = tasks["two"]
    several = Metric(lambda estimator, X, y: {"f1": 0.5, "accuracy": 0.5})
    with pytest.raises(ValueError, match=r"a scorer that returns one number\. Got 'dict'"):
        several.score(model, *rows)
    holdout = opened(rows)
    with pytest.raises(ValueError, match="a scorer that returns one number"):
        holdout.certify(model, scoring=several.scoring, guess_from=guess_rows)
    assert not holdout.report().answers


def test_deviances_are_undefined_for_what_is_not_positive(tasks, opened):
    _, _, (X, y) = tasks["numbers"]
    negative = LinearRegression().fit(X, -y)
    answer = opened((X, y)).certify(negative, scoring=Metric("neg_mean_poisson_deviance", range=(-30, 0)))
    assert (answer.verdict, answer.reason) == ("failed", "metric is undefined")


def test_a_metric_is_a_scorer_of_the_search_that_is_certified_by_it(tmp_path):
    X, y = make_classification(1200, 5, flip_y=0.1, random_state=0)
    y = np.array(["no", "yes"])[y]
    metric = Metric("f1", pos_label="yes")
    plain = make_scorer(f1_score, pos_label="yes")
    search, expected = (grid(LogisticRegression(), [0.01, 1.0], scoring=each) for each in (metric, plain))
    assert clone(search).fit(X, y).best_score_ == expected.fit(X, y).best_score_
    certified = ReusableHoldoutCV(search, ledger=tmp_path / "ledger.db", answers="exact").fit(X, y)
    assert certified.best_score_target_ == "population f1 of 'yes' at the holdout's class mix"
    guess = certified.holdout_.report().entries[-1].guess
    assert guess == pytest.approx(certified.cv_results_["mean_test_score"].max())  # its own folds' score
    assert pickle.loads(pickle.dumps(metric)) == metric == Metric("f1", pos_label="yes")
    assert Metric(get_scorer("f1"), pos_label="yes") == metric != Metric("f1", pos_label="no")
    assert len({metric, Metric("f1", pos_label="yes")}) == 1
    same = ReusableHoldoutCV(expected, ledger=tmp_path / "other.db", answers="exact").fit(X, y)
    assert (
        same.best_score_target_ == certified.best_score_target_
    )  # of 'make_scorer(f1_score, pos_label="yes")'


@dataclass
class HasNoHash:
    """What dataclasses are that can be compared."""

    def __call__(self, y, predicted):
        return 0.5


def test_a_callable_without_a_hash_is_a_metric_of_its_own():
    assert Metric(make_scorer(HasNoHash())).kind == "general"
