"""A search whose scores certify nothing says so, once."""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from sklearn_ada import Holdout, ReusableHoldoutCV, ThresholdoutScorer
from tests.support.searches import grid

GRID = {"C": [0.01, 0.1, 1.0]}


def vacuous(caught):
    return [str(each.message) for each in caught if "certif" in str(each.message)]


def fitted(rows, scoring="accuracy", n=12, times=1, **params):
    """Return a search of a holdout of n rows, and what it warned of."""
    X, y = rows[0], rows[1]
    mask = np.arange(len(y)) < n
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search = ReusableHoldoutCV(
            grid(LogisticRegression(), [0.01, 0.1, 1.0], scoring=scoring), holdout=mask, **params
        )
        for _ in range(times):
            search.fit(X, y)
    return search, vacuous(caught)


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("ask", ["candidates", "winner", 3])
def test_one_warning_for_a_search_that_certifies_nothing(ask, n_jobs, rows, tmp_path):
    X, y = rows[0], rows[1]
    mask = np.arange(len(y)) < 30
    inner = grid(LogisticRegression(), [0.01, 0.1, 1.0], scoring="rand_score", n_jobs=n_jobs)
    median = {"mechanism": "stable_median"}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search = ReusableHoldoutCV(inner, holdout=mask, ask=ask, ledger=tmp_path / "ledger.db", **median)
        search.fit(X, y)
    assert search.best_score_interval_ == (0.0, 1.0)
    assert search.best_answer_.certificate.vacuous
    (told,) = vacuous(caught)
    assert "The interval of best_score_ certifies nothing" in told
    assert "30 rows in 1 subsamples, with" in told
    assert "nats revealed" in told
    assert "top_up" in told
    assert "plan_holdout" in told


def test_a_search_that_certifies_warns_of_nothing(rows, tmp_path):
    search, told = fitted(rows, n=150, ask="winner", ledger=tmp_path / "ledger.db")
    assert not search.best_answer_.certificate.vacuous
    assert not told


def test_every_fit_tells_even_if_its_answer_was_recorded_before(rows, tmp_path):
    median = {"mechanism": "stable_median", "ledger": tmp_path / "ledger.db"}
    search, told = fitted(rows, "rand_score", n=30, times=2, ask="winner", **median)
    assert search.best_answer_.repeated
    assert len(told) == 2


def test_it_tells_of_candidates_where_the_winner_is_certified(rows, tmp_path):
    search, told = fitted(rows, n=10, ask="candidates", answers="exact", ledger=tmp_path / "ledger.db")
    flags = [answer.certificate.vacuous for answer in search.answers_]
    assert any(flags)
    assert not flags[-1]
    (text,) = told
    assert text.startswith(f"{sum(flags)} of the 4 answers of this search certify nothing.")


def test_a_median_names_its_subsamples(rows, tmp_path):
    X, y = rows[0], rows[1]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search = ReusableHoldoutCV(
            grid(LogisticRegression(), [0.01, 0.1, 1.0], scoring="f1_macro"),
            ask="winner",
            mechanism="stable_median",
            ledger=tmp_path / "ledger.db",
        ).fit(X, y)
    assert search.best_score_interval_ == (0.0, 1.0)
    (told,) = vacuous(caught)
    assert "75 rows in 3 subsamples" in told


def test_a_scorer_in_a_search_of_ones_own_tells_once(rows, tmp_path):
    holdout = Holdout(rows[2][:3], rows[3][:3], ledger=tmp_path / "ledger.db")
    scorer = ThresholdoutScorer("accuracy", holdout)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        grid(
            LogisticRegression(), [0.01, 0.1, 1.0], scoring=scorer, cv=scorer.cv, refit=scorer.select_best
        ).fit(rows[0], rows[1])
    (told,) = vacuous(caught)
    assert told.startswith("An answer of the holdout certifies nothing.")
