"""A search whose scores certify nothing says so, once."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from sklearn_ada import Holdout, ThresholdoutScorer
from tests.support.searches import asking, grid, warned

STRENGTHS = [0.01, 0.1, 1.0]


MEDIAN = {"mechanism": "stable_median"}


@pytest.fixture
def fitted(rows, wrap):
    """Fit a search whose holdout has n rows, and return it with what it warned of."""

    def fit(scoring="accuracy", n=12, n_jobs=None, **params):
        inner = grid(LogisticRegression(), STRENGTHS, scoring=scoring, n_jobs=n_jobs)
        search = wrap(inner, holdout=np.arange(300) < n, **params)
        return warned("certif", search.fit, rows[0], rows[1])

    return fit


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("ask", ["candidates", "winner", 3])
def test_one_warning_for_a_search_that_certifies_nothing(ask, n_jobs, fitted):
    search, (text,) = fitted("rand_score", 30, n_jobs, ask=ask, **MEDIAN)
    assert search.best_score_interval_ == (0.0, 1.0)
    assert search.best_answer_.certificate.vacuous
    assert "The interval of best_score_ certifies nothing" in text
    for part in ("30 rows in 1 subsamples, with", "nats revealed", "top_up", "plan_holdout"):
        assert part in text


def test_a_search_that_certifies_warns_of_nothing(fitted):
    search, texts = fitted(n=150)
    assert not search.best_answer_.certificate.vacuous
    assert not texts


def test_every_fit_tells_even_if_its_answer_was_recorded_before(fitted):
    (_, first), (search, second) = (fitted("rand_score", 30, **MEDIAN) for _ in range(2))
    assert search.best_answer_.repeated
    assert len(first) == len(second) == 1


def test_it_tells_of_candidates_where_the_winner_is_certified(fitted):
    search, (text,) = fitted(n=10, ask="candidates", answers="exact")
    flags = [answer.certificate.vacuous for answer in search.answers_]
    assert any(flags)
    assert not flags[-1]
    assert text.startswith(f"{sum(flags)} of the 4 answers of this search certify nothing.")


def test_a_median_names_its_subsamples(fitted):
    search, (text,) = fitted("f1_macro", 75, **MEDIAN)
    assert search.best_score_interval_ == (0.0, 1.0)
    assert "75 rows in 3 subsamples" in text


def test_a_scorer_in_a_search_of_ones_own_tells_once(rows, tmp_path):
    holdout = Holdout(rows[2][:3], rows[3][:3], ledger=tmp_path / "ledger.db")
    search = asking(ThresholdoutScorer("accuracy", holdout))
    _, (text,) = warned("certif", search.fit, rows[0], rows[1])
    assert text.startswith("An answer of the holdout certifies nothing.")
