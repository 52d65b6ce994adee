"""The parts of which the published figures are made, compared with libraries."""

import numpy as np
import pytest
from scipy.stats import binom, ttest_ind
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from benchmarks.validity.figures import auc_selection, boosting, continuous_integration, reusable_holdout
from benchmarks.validity.figures import guess_and_check as correlation


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 6))
    return X, (X[:, 0] - X[:, 1] + rng.normal(size=120) > 0).astype(np.int64)


def test_p_values_of_the_t_test_equal_those_of_scipy(rows):
    X, y = rows
    two_sided = ttest_ind(X[y == 1], X[y == 0]).pvalue
    np.testing.assert_allclose(auc_selection.p_values(X, y), two_sided / 2.0, rtol=1e-9)


def test_the_auc_and_the_regression_are_scikit_learns(rows):
    X, y = rows
    coef = auc_selection.fitted(X, y)
    model = LogisticRegression(C=1e4, tol=1e-10, max_iter=1000).fit(X, y)  # the same tiny ridge
    np.testing.assert_allclose(coef[:-1], model.coef_[0], rtol=1e-3)
    scores = auc_selection.Linear(list(range(6)), coef).decision_function(X)
    assert auc_selection.auc(scores, y) == pytest.approx(roc_auc_score(y, scores))


def test_cross_validation_is_the_mean_over_folds_of_models_fitted_on_the_others(rows):
    X, y = rows
    numbers, expected = auc_selection.folds(y, np.random.default_rng(1)), []
    for out in (row == fold for row in numbers for fold in range(auc_selection.FOLDS)):
        coef = auc_selection.fitted(X[~out], y[~out])
        expected.append(roc_auc_score(y[out], X[out] @ coef[:-1] + coef[-1]))
    found = auc_selection.cross_validated(X, y, auc_selection.fitted(X, y), numbers)
    assert found == pytest.approx(np.mean(expected), abs=2e-3)  # three steps from the fit on all rows


def test_the_subsets_of_a_round_are_all_that_join_new_features_to_those_kept():
    p = np.array([0.5, 0.001, 0.002, 0.4, 0.003])
    assert sorted(map(tuple, auc_selection.subsets(p, [1]))) == [(1,), (1, 2), (1, 2, 4), (1, 4)]


def test_features_are_kept_that_exceed_on_both_samples_in_one_direction(monkeypatch):
    monkeypatch.setattr(reusable_holdout, "N", 100)
    trained = np.array([0.2, 0.3, -0.4, 0.05, 0.5])
    held = np.array([0.2, -0.3, -0.2, 0.3, 0.15])
    assert reusable_holdout.chosen(trained, held).tolist() == [4, 2, 0]


def test_the_vote_is_that_of_the_first_k_features():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 600)).astype(np.float32)
    features, signs = rng.permutation(600), np.sign(rng.normal(size=600))
    sums = reusable_holdout.votes(X, features, signs)
    for k, total in zip(reusable_holdout.KS, sums, strict=True):
        np.testing.assert_allclose(total, X[:, features[:k]] @ signs[features[:k]], atol=1e-3)


def test_the_boosting_vote_of_those_that_scored_above_chance_is_better_on_the_holdout_alone():
    sub = boosting.Submissions(np.random.default_rng(0), 400)
    wrong, validation = sub.vote(sub.losses(400) < 0.5)
    assert wrong.mean() < 0.46
    assert abs(validation - 0.5) < 0.03


def test_honest_guesses_stay_at_chance_and_hostile_ones_do_not():
    sub = boosting.Submissions(np.random.default_rng(1), 200)
    honest, hostile = (boosting.certified(sub, 200, kind, 0) for kind in ("honest", "hostile"))
    assert honest["exact"] > hostile["exact"] + 0.02
    assert hostile["holds"]
    assert hostile["nats"] > 50.0 > honest["nats"]


def test_the_correlation_analyst_surprises_with_each_classifier():
    data = correlation.Data(0, 3000, 150)
    found = correlation.ours(data, 3000, correlation.additive, 150, "fill", 150, 0)
    assert found["surprises"] >= 1
    assert found["widest"] <= correlation.TAU
    guess, count = data.classifier(data.guesses[:99].tolist())
    assert guess - count / 3000 > 0.06  # the classifier is overfitted to the rows of its guess


def test_exact_labels_are_enough_and_fewer_are_not():
    n = continuous_integration.exact_binomial(0.1, np.log(0.01), 0.5)
    assert n <= continuous_integration.hoeffding(0.1, np.log(0.01))

    tails = [binom.cdf(np.floor(size * 0.4 + 1e-9), size, 0.5) for size in (n, n // 2)]
    assert tails[0] <= 0.01 < tails[1]
