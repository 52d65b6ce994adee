"""A metric that cannot weigh records is refused on a weighted holdout before anything is charged."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import fbeta_score, get_scorer, get_scorer_names, make_scorer, max_error

from sklearn_ada import Holdout, MedianSettings, Metric, StableHoldoutScorer
from sklearn_ada.mechanisms import UniformGrid
from sklearn_ada.metrics.base import SCORERS
from tests.support import holdouts

WITHOUT = {
    "adjusted_mutual_info_score", "adjusted_rand_score", "completeness_score", "fowlkes_mallows_score",
    "homogeneity_score", "mutual_info_score", "neg_max_error", "neg_negative_likelihood_ratio",
    "normalized_mutual_info_score", "positive_likelihood_ratio", "rand_score", "v_measure_score",
}  # fmt: skip
SETTINGS = MedianSettings(n_subsamples=5, grid=UniformGrid(-2.0, 2.0, 401))


def plain(estimator, X, y):
    return float(np.mean(estimator.predict(X) == y))


def weighing(estimator, X, y, sample_weight=None):
    return float(np.average(estimator.predict(X) == y, weights=sample_weight))


class Undecided:
    """A scorer that is an object."""

    def __call__(self, estimator, X, y):
        return plain(estimator, X, y)


REFUSED = {
    "neg_max_error": "neg_max_error",
    "rand_score": Metric("rand_score"),
    "positive_likelihood_ratio": "positive_likelihood_ratio",
    "function": plain,
    "object": Undecided(),
    "made scorer": make_scorer(lambda y, outputs: -float(np.ptp(y - outputs))),
    "made of max_error": make_scorer(max_error, greater_is_better=False),
}
TAKEN = {
    "weighing": weighing,
    "any keyword": lambda estimator, X, y, **params: weighing(estimator, X, y, **params),
    "made scorer": make_scorer(fbeta_score, beta=2),
    "made scorer of scores": make_scorer(
        lambda y, scores, sample_weight=None: float(np.std(scores)), response_method="decision_function"
    ),
    "string": Metric("f1", kind="general"),
    "mean of one's own": Metric(lambda y, p: (y == p) * 1.0, kind="mean", range=(0, 1)),
    "two classes": "roc_auc_ovo",
}  # fmt: skip


@pytest.fixture
def weighted(rows, tmp_path):
    weight = np.random.default_rng(0).uniform(0.5, 2.0, size=len(rows[3]))
    return Holdout(rows[2], rows[3], sample_weight=weight, ledger=tmp_path / "weighted.db")


@pytest.fixture
def models(model):
    X = np.random.default_rng(0).normal(size=(50, model.n_features_in_))
    return [model, LogisticRegression(C=0.01).fit(X, (X[:, 0] > 0).astype(int))]


@pytest.mark.parametrize("case", REFUSED)
def test_it_is_refused_where_a_median_or_a_selection_is_planned_and_answered_without_weights(
    case, weighted, holdout, rows, model, models, uncharged, sentence
):
    scoring, refused = REFUSED[case], sentence("scoring", "a holdout with sample_weight")
    scorer = StableHoldoutScorer(scoring, weighted, n_subsamples=5, grid=SETTINGS.grid)
    asked = {"scoring": scoring, "guess": 0.5, "settings": SETTINGS}
    with uncharged(weighted):
        for purpose in ("check", "certify"):
            with pytest.raises(ValueError, match=refused) as error:
                holdouts.ask(weighted, model, purpose=purpose, **asked)
            assert "Use such a scorer" in str(error.value)
        with pytest.raises(ValueError, match="a scorer that takes sample_weight"):
            scorer(model, rows[0], rows[1])
        with pytest.raises(ValueError, match=refused):
            weighted.select(models, scoring=scoring, epsilon=None)
    assert holdout.check(model, **asked).answered


@pytest.mark.parametrize("case", TAKEN)
def test_scorers_that_weigh_are_answered(case, weighted, model, models):
    assert weighted.check(model, scoring=TAKEN[case], guess=0.5, settings=SETTINGS).answered
    assert weighted.select(models, scoring=TAKEN[case], epsilon=None) in (0, 1)


def test_one_against_one_weighs_two_classes_only(uncharged, tmp_path):
    X, y = np.random.default_rng(0).normal(size=(90, 2)), np.arange(90) % 3
    model = LogisticRegression().fit(X, y)
    holdout = Holdout(X, y, sample_weight=np.arange(90) + 1.0, ledger=tmp_path / "three.db")
    with uncharged(holdout), pytest.raises(ValueError, match="takes sample_weight for 3 classes"):
        holdout.check(model, scoring="roc_auc_ovo", guess=0.5, settings=SETTINGS)
    assert holdout.check(model, scoring="roc_auc_ovr", guess=0.5, settings=SETTINGS).answered


def test_groups_without_weights_need_no_weighing(rows, model, tmp_path):
    holdout = Holdout(*rows[2:], groups=np.arange(250) // 5, weight_bound=5, ledger=tmp_path / "groups.db")
    assert holdout.check(model, scoring=plain, guess=0.5, settings=SETTINGS).answered


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name in get_scorer_names() if not SCORERS[name].is_refused])
def test_whether_a_scorer_string_weighs_is_known_for_every_one(name):
    assert Metric(name, kind="general").takes_weights() is (name not in WITHOUT)
    y = 1.0 + np.arange(40) % 2
    model = LogisticRegression().fit(y[:, None], y)
    if name in WITHOUT:
        get_scorer(name)(model, y[:, None], y)
        with pytest.raises(TypeError, match="sample_weight"):
            get_scorer(name)(model, y[:, None], y, sample_weight=y)
