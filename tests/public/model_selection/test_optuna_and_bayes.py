"""Searches of other packages: how they ask, how they end when the holdout is exhausted."""

import pickle

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier
from sklearn.tree import DecisionTreeClassifier

from sklearn_ada import Holdout, LadderScorer, ReusableHoldoutCV, ThresholdoutScorer
from sklearn_ada.exceptions import BudgetExhaustedError

TREE = DecisionTreeClassifier(random_state=0)


def optuna_search(model=TREE, parameter=("max_depth", 1, 9), **params):
    optuna = pytest.importorskip("optuna")
    search = pytest.importorskip("optuna_integration").OptunaSearchCV
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    name, low, high = parameter
    law = optuna.distributions.IntDistribution(low, high)
    return search(model, {name: law}, **{"n_trials": 8, "random_state": 0, **params})


def bayes_search(model=TREE, **params):
    search = pytest.importorskip("skopt").BayesSearchCV
    steps = {"n_iter": 6, "optimizer_kwargs": {"n_initial_points": 4}, "random_state": 0}
    return search(model, {"max_depth": (1, 9)}, **{**steps, **params})


SEARCHES = {
    "optuna": optuna_search,
    "optuna, two threads": lambda **params: optuna_search(n_jobs=2, **params),
    "bayes": bayes_search,
    "bayes, two workers": lambda **params: bayes_search(n_jobs=2, n_points=2, **params),
}


@pytest.fixture(params=SEARCHES)
def search(request):
    return SEARCHES[request.param]


def crossed(first, second):
    """Return all searches with two ways to ask; of each two runs of a kind one belongs to the quick tests."""
    quick = dict(zip(SEARCHES, (first, second, second, first), strict=True))
    return [
        pytest.param(
            SEARCHES[name], way, marks=() if quick[name] == way else pytest.mark.thorough, id=f"{name}-{way}"
        )
        for name in SEARCHES
        for way in (first, second)
    ]


@pytest.mark.parametrize(("search", "kind"), crossed(ThresholdoutScorer, LadderScorer))
def test_a_bare_scorer_asks_once_a_candidate(search, kind, rows, holdout):
    scorer = kind("accuracy", holdout, on_exhausted="raise")
    found = search(scoring=scorer, cv=scorer.cv, error_score="raise").fit(rows[0], rows[1])
    answers = {answer.value for _, answer in holdout.report().answers}
    assert set(found.cv_results_["mean_test_score"]) == answers
    assert found.best_score_ == max(answers)


def test_a_search_stops_when_the_holdout_is_exhausted_and_a_wrapped_one_tells_the_parent(
    search, coins, tmp_path
):
    X, y = coins
    for ask in (None, "candidates"):
        (tmp_path / str(ask)).mkdir()
        holdout = tight(X[:100], y[:100], tmp_path / str(ask))
        scorer = ThresholdoutScorer("accuracy", holdout, on_exhausted="raise")
        bare = {} if ask else {"scoring": scorer, "cv": scorer.cv, "error_score": "raise"}
        found = ReusableHoldoutCV(search(), ask=ask, holdout=holdout) if ask else search(**bare)
        with pytest.raises(BudgetExhaustedError, match="" if ask else "tolerance"):
            found.fit(X[100:], y[100:])
        assert 1 <= holdout.report().refused <= 2  # as many as there are workers


def test_a_wrapped_search_asks_about_every_candidate_and_leads_to_no_holdout(search, numbered, searched):
    X, held = numbered[0].copy(), np.arange(400) % 4 == 1
    X[held, 0] = 987654.125
    wrapped = searched(search(), X, holdout=held, ask="candidates", answers="exact")
    table = wrapped.cv_results_
    assert (table["verdict"] != "").all()
    assert list(table["mean_test_score"]) == [answer.value for answer in wrapped.answers_[:-1]]
    assert wrapped.best_params_ == table["params"][wrapped.best_index_]
    assert wrapped.best_answer_.verdict == "exact"
    assert wrapped.predict(X).shape == (400,)
    assert np.float64(987654.125).tobytes() not in pickle.dumps(wrapped.search_)


@pytest.mark.parametrize(("search", "ask"), crossed("winner", 2))
def test_the_winner_is_the_searchs_own(search, ask, searched):
    wrapped = searched(search(), ask=ask)
    certified = wrapped.cv_results_["verdict"] != ""
    assert certified[int(np.argmax(wrapped.cv_results_["mean_test_score"]))]
    assert sum(wrapped.holdout_.report().asked.values()) == (1 if ask == "winner" else 2)


def test_bayes_cannot_go_on_when_a_model_fails_on_the_holdout_and_says_so(numbered, searched):
    X, held = numbered[0].copy(), np.arange(400) % 4 == 1
    X[held, 1] = np.inf
    with pytest.raises(ValueError, match=r"cannot go on.*prediction raised ValueError"):
        searched(bayes_search(), X, ask="candidates", holdout=held)


pytestmark = [
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore:OptunaSearchCV is experimental"),
]


def tight(X, y, path):
    """Return a holdout that answers some questions of a search, not all."""
    for number, tolerance in enumerate(np.arange(0.2, 0.5, 0.005)):
        holdout = Holdout(X, y, tolerance=float(tolerance), ledger=path / f"tight {number}.db")
        if holdout.remaining() == 3:
            return holdout
    raise AssertionError("no tolerance admits three questions")


def steps(**params):
    model = SGDClassifier(random_state=0)
    return optuna_search(model, ("n_iter_no_change", 3, 9), n_trials=2, max_iter=5, **params)


def test_pruning_is_refused_before_anything_is_charged_and_names_winner(rows, holdout, uncharged, sentence):
    wrapped = ReusableHoldoutCV(steps(enable_pruning=True), ask="candidates", holdout=holdout)
    with uncharged(holdout), pytest.raises(ValueError, match=sentence("search") + ".*ask='winner'"):
        wrapped.fit(rows[0], rows[1])


def test_with_winner_a_search_may_prune(rows, holdout):
    wrapped = ReusableHoldoutCV(steps(enable_pruning=True), holdout=holdout, ask="winner")
    assert wrapped.fit(rows[0], rows[1]).holdout_.report().asked == {"check": 0, "certify": 1}


def test_with_a_bare_scorer_every_step_of_pruning_is_a_question(rows, holdout, asked):
    """The price that the documentation tells."""
    scorer = ThresholdoutScorer("accuracy", holdout)
    steps(enable_pruning=True, scoring=scorer, cv=scorer.cv).fit(rows[0], rows[1])
    assert asked(holdout) > 2


def test_a_study_with_trials_of_its_own_is_refused(rows, holdout, uncharged, sentence):
    optuna = pytest.importorskip("optuna")
    study = optuna.create_study(direction="maximize")
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=1)
    wrapped = ReusableHoldoutCV(optuna_search(study=study), holdout=holdout)
    with uncharged(holdout), pytest.raises(ValueError, match=sentence("search")):
        wrapped.fit(rows[0], rows[1])
