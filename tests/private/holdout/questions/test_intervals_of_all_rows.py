"""Metrics that only an interval of all rows certifies: coverage out of a Holdout, targets, refusals."""

import math
import warnings
import zlib
from functools import partial

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.datasets import make_classification, make_regression
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier

from sklearn_ada import Holdout, Metric, ReusableHoldoutCV
from sklearn_ada.metrics.base import SCORERS
from tests.support.guarantees.intervals.of_metrics.hard_laws import ranking_case
from tests.support.laws import is_too_often
from tests.support.models import Column
from tests.support.searches import grid


class Scores(Column):
    """Predicts the class in the first column; its score is in the second."""

    def decision_function(self, X):
        return X[:, 1]


class SaysNumber(RegressorMixin, BaseEstimator):
    """Predicts the first column."""

    def fit(self, X, y):
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        return X[:, 0]


TABLES = {
    "a rare class": ([180, 14, 6], [[0.95, 0.04, 0.01], [0.3, 0.6, 0.1], [0.3, 0.3, 0.4]]),
    "two classes, 1 percent": ([396, 4], [[0.99, 0.01], [0.5, 0.5]]),
    "chance": ([30, 30, 30], [[1 / 3] * 3] * 3),
    "nearly perfect": ([60, 60], [[0.995, 0.005], [0.005, 0.995]]),
}
"""How many rows each class has, and what is predicted of it with which probability."""


def truth_of_table(name, sizes, law):
    """Return a metric of the population at the class mix."""
    t = np.array(sizes) / sum(sizes)
    joint = t[:, None] * np.array(law)
    p, hit = joint.sum(axis=0), np.diag(joint)
    if name == "matthews_corrcoef":
        return (hit.sum() - t @ p) / math.sqrt((1 - t @ t) * (1 - p @ p))
    kind, _, average = name.partition("_")
    each = {"f1": 2 * hit / (t + p), "precision": hit / p, "jaccard": hit / (t + p - hit)}[kind]
    return float(t @ each if average == "weighted" else each.mean())


def drawn_table(rng, sizes, law):
    y = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))  # other labels, another ledger
    return np.c_[np.array([rng.choice(len(sizes), p=law[label]) for label in y]), rng.random(len(y))], y


def first_answer(model, X, y, scoring, **guess):
    """Return the answer of a fresh holdout, whose failure probability is .36."""
    return Holdout(X, y, ledger=":memory:", confidence_level=0.5).certify(model, scoring=scoring, **guess)


def of_table(name, law, seed):
    """Ask with a guess from rows; every other guess is wrong."""
    sizes, rows = TABLES[law]
    rng = np.random.default_rng([seed, zlib.crc32(name.encode())])  # no two metrics share a ledger
    X, y = drawn_table(rng, sizes, rows)
    wrong = {"guess": 0.9 if law == "chance" else 0.3}
    guess = wrong if seed % 2 else {"guess_from": drawn_table(rng, sizes, rows)}
    return first_answer(Scores().fit(X, y), X, y, name, **guess)


TOO_NARROW = "it takes rows that the model was not trained on"


def of_scores(law, n, seed):
    rng = np.random.default_rng([seed, 7])

    def drawn():
        scores, y = rng.permutation(ranking_case(law).draw(rng, n)).T
        return np.c_[np.zeros(n), scores], y.astype(int)

    X, y = drawn()
    return first_answer(Scores().fit(X, y), X, y, "average_precision", guess_from=drawn())


def drawn_numbers(rng, n, law):
    """Return predictions and y; what they explain is known, as nothing of them is clipped."""
    if law == "atoms":  # mostly 0, rarely 1
        y = (rng.random(n) < 0.1).astype(float)
        return np.c_[np.where(rng.random(n) < 0.7, y, 0.1), np.zeros(n)], y
    p = rng.uniform(-1, 1, n)
    return np.c_[p, np.zeros(n)], p + rng.uniform(-0.5, 0.5, n)


def truth_of_numbers(name, law):
    """Return what is explained, by a large sample that is clipped like the holdout."""
    X, y = drawn_numbers(np.random.default_rng(1), 2_000_000, law)
    (low, high), most = clip_of(name, law)
    y = np.clip(y, low, high)
    error = np.clip(y - np.clip(X[:, 0], low, high), -most, most)
    if name == "r2":
        return 1 - np.mean(error**2) / np.var(y)
    return 1 - np.mean(np.abs(error)) / np.mean(np.abs(y - np.median(y)))


def of_numbers(name, law, seed, n=200):
    X, y = drawn_numbers(np.random.default_rng([seed, zlib.crc32(name.encode())]), n, law)
    rows = drawn_numbers(np.random.default_rng(5), n, law)  # the same, so that one range is suggested
    return first_answer(SaysNumber().fit(X, y), X, y, name, guess_from=rows)


def clip_of(name, law, n=200):
    X, y = drawn_numbers(np.random.default_rng(5), n, law)
    rule = Metric(name).tuned(SaysNumber().fit(X, y), X, y).certified_measure
    return rule.target_range, rule.most_error


AVERAGES = [
    name for name, each in SCORERS.items() if each.of_all_rows and ("_macro" in name or "_weighted" in name)
]
CASES = {
    f"{name}, {law}": (partial(of_table, name, law), partial(truth_of_table, name, *TABLES[law]))
    for name in (*AVERAGES, "matthews_corrcoef")
    for law in TABLES
}
CASES |= {
    f"average_precision, {law}": (partial(of_scores, law, n), partial(ranking_case(law).value, n))
    for law, n in (("two percent", 300), ("separated", 200))
}
CASES |= {
    f"{name}, {law}": (partial(of_numbers, name, law), partial(truth_of_numbers, name, law))
    for name in ("r2", "d2_absolute_error_score")
    for law in ("atoms", "uniform")
}
FEW = ["f1_macro, a rare class", "matthews_corrcoef, chance", "average_precision, separated", "r2, uniform"]


def is_missed(answers, truth):
    """Return whether intervals miss a truth more often than they may, with a false alarm below 1e-6."""
    misses = sum(not a.interval[0] <= truth <= a.interval[1] for a in answers)
    return is_too_often(misses, len(answers), max(math.exp(a.certificate.ln_delta) for a in answers))


RUNS = [
    *((case, 6) for case in FEW),
    *(pytest.param(case, 60, marks=pytest.mark.thorough) for case in CASES),
    *(pytest.param(case, 2000, marks=pytest.mark.slow) for case in CASES),
]


@pytest.mark.parametrize(("case", "runs"), RUNS)
def test_intervals_of_all_rows_cover_the_truth(case, runs):
    asked, truth = CASES[case]
    answers = [asked(seed) for seed in range(runs)]
    assert min(math.exp(a.certificate.ln_delta) for a in answers) > 0.35
    assert all("median" not in a.certificate.target for a in answers)
    assert all(a.interval[0] <= a.value <= a.interval[1] for a in answers)
    assert not is_missed(answers, truth())


def test_a_truth_that_is_off_is_noticed():
    """The power of the tests above: a population that is an interval away is missed too often."""
    asked, truth = CASES["r2, uniform"]
    answers = [asked(seed) for seed in range(30)]
    assert is_missed(answers, truth() - 2.0 * np.mean([a.half_width for a in answers]))


def certify(model, rows, scoring, guess_from, **how):
    """Return the answer of a holdout of these rows that was never asked."""
    holdout = Holdout(*rows, ledger=":memory:", **how)
    return holdout.certify(model, scoring=scoring, guess_from=guess_from)


@pytest.fixture(scope="module")
def classification():
    X, y = make_classification(900, 8, n_informative=5, n_classes=3, flip_y=0.1, random_state=0)
    return LogisticRegression().fit(X[:300], y[:300]), (X[300:600], y[300:600]), (X[600:], y[600:])


@pytest.fixture(scope="module")
def regression():
    X, y = make_regression(900, 5, noise=40, random_state=0)
    return Ridge().fit(X[:300], y[:300]), (X[300:600], y[300:600]), (X[600:], y[600:])


def test_targets_say_what_is_certified(classification, regression):
    model, guess_rows, rows = classification
    answer = certify(model, rows, "f1_macro", guess_rows)
    target = "population f1_macro at the holdout's class mix"
    assert answer.certificate.target.startswith(f"{target}, rounded to steps of ")
    assert "confusion matrix" in answer.certificate.theorem
    assert answer.value == pytest.approx(get_scorer("f1_macro")(model, *rows), abs=0.01)
    model, guess_rows, rows = regression
    answer = certify(model, rows, "r2", guess_rows)
    assert "population r2 (-1 if below), y and predictions clipped to [" in answer.certificate.target


def test_again_is_the_same_and_the_final_is_as_narrow_as_a_single_use(classification, tmp_path):
    model, guess_rows, rows = classification
    holdout = Holdout(*rows, ledger=tmp_path / "ledger.db", answers="coarse")
    first = holdout.certify(model, scoring="jaccard_macro", guess_from=guess_rows)
    again = holdout.certify(model, scoring="jaccard_macro", guess_from=guess_rows)
    assert (again.repeated, again.interval) == (True, first.interval)
    final = holdout.publish(model, scoring="jaccard_macro", guess_from=guess_rows)
    single = certify(model, rows, "jaccard_macro", guess_rows)
    assert final.half_width < min(0.6 * first.half_width, 1.1 * single.half_width)


def test_rows_of_the_guess_make_it_narrower(classification, tmp_path):
    model, guess_rows, rows = classification
    bare = Holdout(*rows, ledger=tmp_path / "ledger.db").certify(model, scoring="f1_macro", guess=0.1)
    assert certify(model, rows, "f1_macro", guess_rows).half_width < 0.8 * bare.half_width


@pytest.mark.parametrize(
    ("scoring", "options", "why"),
    [
        ("f1_macro", {"class_mix": "priced"}, "at known class counts only"),
        ("f1_macro", {"sample_weight": np.linspace(1, 2, 300)}, "not with weights or groups"),
        ("matthews_corrcoef", {"groups": np.arange(300) // 2}, "not with weights or groups"),
        ("f1_weighted", {"route": "differential_privacy"}, "certifies by privacy alone"),
    ],
)
def test_what_it_is_not_for_is_refused_by_name(scoring, options, why, classification, tmp_path):
    model, guess_rows, rows = classification
    holdout = Holdout(*rows, ledger=tmp_path / "ledger.db", **options)
    with pytest.raises(ValueError, match=why):
        holdout.certify(model, scoring=scoring, guess_from=guess_rows)
    assert not holdout.report().answers


@pytest.mark.parametrize("scoring", ["r2", "d2_absolute_error_score"])
def test_a_ratio_of_losses_needs_rows(scoring, regression):
    model, _, rows = regression
    holdout = Holdout(*rows, ledger=":memory:")
    with pytest.raises(ValueError, match=r"give guess_from=\(X_val, y_val\)"):
        holdout.certify(model, scoring=scoring, guess=0.5)
    with pytest.raises(ValueError, match="a certify releases and a check does not"):
        holdout.check(model, scoring=scoring, guess=0.5)
    assert not holdout.report().answers


def test_a_tolerance_below_the_whole_range_refuses_it(classification):
    model, guess_rows, rows = classification
    assert certify(model, rows, "f1_macro", guess_rows, tolerance=0.2).verdict == "refused"


def test_a_class_that_is_predicted_and_has_no_rows_is_a_failure(classification):
    model, _, (X, y) = classification
    answer = Holdout(X[y > 0], y[y > 0], ledger=":memory:").certify(model, scoring="f1_macro", guess=0.6)
    assert answer.verdict == "failed"
    assert answer.cost.nats > 6.0


def test_what_is_below_minus_one_is_answered_as_minus_one(regression):
    _, guess_rows, rows = regression
    wrong = Ridge().fit(guess_rows[0], -guess_rows[1])
    assert wrong.score(*rows) < -2.0
    answer = certify(wrong, rows, "r2", guess_rows)
    assert answer.value == answer.interval[0] == -1.0
    assert answer.interval[1] < 0.0


@pytest.mark.parametrize("offset", [2000.0, 1e6])
def test_the_range_of_y_is_rounded_by_its_width_wherever_it_lies(offset, regression):
    _, (X, y), rows = regression
    rows, guess_rows = (rows[0], offset + rows[1] / y.std()), (X, offset + y / y.std())
    shifted = Ridge().fit(*guess_rows)
    assert certify(shifted, rows, "r2", guess_rows).value == pytest.approx(shifted.score(*rows), abs=0.02)


def test_where_no_y_is_within_the_range_of_the_validation_rows_it_is_a_failure(regression):
    model, (X, y), rows = regression
    answer = certify(model, rows, "r2", (X, y + 10_000.0))
    assert answer.verdict == "failed"
    assert answer.cost.nats > 6.0


@pytest.mark.parametrize("scoring", ["r2", "d2_absolute_error_score"])
def test_a_constant_y_is_a_failure_which_is_paid_for_and_in_validation_rows_it_is_refused(scoring, tmp_path):
    X, y = np.random.default_rng(0).normal(size=(200, 2)), np.arange(200.0)
    model = KNeighborsRegressor(1).fit(X[:100], y[:100])
    holdout = Holdout(X[100:], np.full(100, 2.5), ledger=tmp_path / "ledger.db")
    with pytest.raises(ValueError, match="y is constant"):
        holdout.certify(model, scoring=scoring, guess_from=(X[:50], np.full(50, 2.5)))
    assert holdout.report().asked == {"check": 0, "certify": 0}
    answer = holdout.certify(model, scoring=scoring, guess_from=(X[:50], y[:50] + 1.0))
    assert answer.verdict == "failed"
    assert "metric is undefined" in answer.reason
    assert holdout.report().asked == {"check": 0, "certify": 1}
    assert holdout.report().nats > 5.0


def test_where_no_row_can_be_left_out_the_scale_of_y_tunes_the_interval(tmp_path):
    X, y = make_regression(400, 3, noise=1, random_state=0)
    mask = np.arange(400) >= 4
    found = ReusableHoldoutCV(grid(Ridge(), cv=2), holdout=mask, ledger=tmp_path / "ledger.db").fit(X, y)
    assert found.best_score_target_.startswith("population r2 (-1 if below), y and predictions clipped")
    assert found.publish().certificate.target == found.best_score_target_


NOISE = np.random.default_rng(0)
FEATURES, NUMBERS = NOISE.normal(size=(2000, 4)), NOISE.normal(size=2000)
LABELS = (NUMBERS > 0).astype(int)
SEEN, UNSEEN = slice(0, 300), slice(300, 2000)
NEAREST = KNeighborsRegressor(1).fit(FEATURES[SEEN], NUMBERS[SEEN])
NEAR = FEATURES[SEEN], NUMBERS[SEEN] + 0.001 * NOISE.normal(size=300)
DEEP = DecisionTreeClassifier(max_leaf_nodes=150).fit(FEATURES[SEEN], LABELS[SEEN])


def holdout_of(y):
    return Holdout(FEATURES[UNSEEN], y[UNSEEN], ledger=":memory:")


@pytest.mark.parametrize(
    "scoring",
    [
        "r2",
        "d2_absolute_error_score",
        "neg_mean_absolute_error",
        "neg_mean_squared_error",
        "neg_root_mean_squared_error",
        "neg_median_absolute_error",
    ],
)
def test_a_model_does_not_look_good_because_it_has_seen_the_rows_of_the_guess(scoring):
    """Errors are clipped by the rows that tune, where this model hardly errs: then there is no answer."""
    holdout = holdout_of(NUMBERS)
    median = scoring == "neg_median_absolute_error"  # its interval does not rest on the clip
    if not median:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(UserWarning, match="Give rows that the model was not trained on"):
                holdout.certify(NEAREST, scoring=scoring, guess_from=NEAR)
        assert holdout.report().asked == {"check": 0, "certify": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answer = holdout.certify(NEAREST, scoring=scoring, guess_from=NEAR)
    if median:
        plain = get_scorer(scoring)(NEAREST, FEATURES[UNSEEN], NUMBERS[UNSEEN])
        assert answer.value == pytest.approx(plain, rel=0.05)
    else:
        assert answer.verdict == "failed"
        assert TOO_NARROW in answer.reason
        assert answer.cost.nats > 5.0
    honest = KNeighborsRegressor(1).fit(FEATURES[:150], NUMBERS[:150])
    rows = FEATURES[150:300], NUMBERS[150:300]
    assert holdout.certify(honest, scoring=scoring, guess_from=rows).answered


@pytest.mark.parametrize("scoring", ["neg_log_loss", "d2_log_loss_score"])
def test_a_classifier_does_not_look_good_because_it_has_seen_the_rows_of_the_guess(scoring):
    if scoring not in get_scorer_names():
        pytest.skip("this scikit-learn has no such scorer")
    rows = FEATURES[SEEN], LABELS[SEEN]
    answer = holdout_of(LABELS).certify(DEEP, scoring=scoring, guess_from=rows)
    assert answer.verdict == "failed"
    assert TOO_NARROW in answer.reason


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_compared_model_does_not_look_good_because_it_has_seen_the_rows_of_the_guess():
    holdout, how = holdout_of(NUMBERS), {"scoring": "neg_mean_absolute_error", "guess_from": NEAR}
    other = KNeighborsRegressor(1).fit(FEATURES[SEEN] + 1e-6, NUMBERS[SEEN])  # the same on all rows
    alike = holdout.compare(NEAREST, other, **how)
    assert alike.verdict == "failed"
    assert TOO_NARROW in alike.reason  # and not that the answer has no symbol
    answer = holdout.compare(DummyRegressor().fit(FEATURES, NUMBERS), NEAREST, **how)
    assert answer.value < -0.2  # within the range of the constant: the other one is seen to be worse
    holdout, rows = holdout_of(LABELS), (FEATURES[SEEN], LABELS[SEEN])
    constant = DummyClassifier().fit(FEATURES, LABELS)
    for pair in ((DEEP, constant), (constant, DEEP)):
        answer = holdout.compare(*pair, scoring="neg_log_loss", guess_from=rows)
        assert answer.verdict == "failed"  # it is beyond the range in half of the rows
        assert TOO_NARROW in answer.reason


@pytest.mark.parametrize("scoring", ["r2", "d2_absolute_error_score"])
def test_a_model_without_an_error_on_the_rows_of_the_guess_has_an_interval(scoring):
    y = FEATURES @ [1.0, 2.0, 3.0, 4.0]
    model = LinearRegression().fit(FEATURES[:300], y[:300])
    rows = FEATURES[600:900], y[600:900]
    answer = certify(model, rows, scoring, (FEATURES[300:600], y[300:600]))
    assert answer.value == pytest.approx(1.0)
    assert answer.interval[0] > 0.7
