"""A picture of a search shows its own scores, the naive best and the certified interval."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError

from sklearn_ada import CertifiedSearchDisplay, ReusableHoldoutCV
from tests.support.searches import grid

pyplot = pytest.importorskip("matplotlib.pyplot")
X, Y = make_classification(600, 6, n_informative=4, flip_y=0.1, random_state=0)


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


def fitted(path, refit=True, ask="winner", own=None, **how):
    inner = grid(values=[1, 2, 3, 4], refit=refit, scoring=own, cv=3 if ask == "winner" else None)
    return ReusableHoldoutCV(inner, ask=ask, ledger=path, holdout=0.4, **how).fit(X, Y)


def points(display):
    return np.asarray(display.points_.get_offsets())


def test_the_search_saw_its_own_scores_and_the_winner_is_certified(tmp_path):
    search = fitted(tmp_path / "one.db")
    display = CertifiedSearchDisplay.from_estimator(search)
    own = search.cv_results_["mean_test_score"]
    np.testing.assert_allclose(points(display), np.column_stack([range(4), own]))
    assert set(display.naive_.get_ydata()) == {own.max()}
    assert set(display.value_.get_ydata()) == {search.best_score_}
    low, high = search.best_score_interval_
    assert (display.band_.get_y(), display.band_.get_height()) == pytest.approx((low, high - low))
    assert display.bars is None
    chosen = [each for each in display.ax_.collections if each.get_label().startswith("chosen")]
    np.testing.assert_allclose(chosen[0].get_offsets(), [[search.best_index_, own.max()]])


def test_candidates_that_were_asked_have_a_bar_each(tmp_path):
    search = fitted(tmp_path / "all.db", ask="candidates")
    display = CertifiedSearchDisplay.from_estimator(search)
    table, entries = search.cv_results_, search.holdout_.report().entries
    np.testing.assert_allclose(
        display.bars, np.column_stack([table["certified_low"], table["certified_high"]])
    )
    np.testing.assert_allclose(points(display)[:, 1], [entry.guess for entry in entries[:4]])
    (bars,) = [each for each in display.ax_.collections if each.get_label() == "certified, each candidate"]
    np.testing.assert_allclose([each[:, 1] for each in bars.get_segments()], display.bars)


def test_scores_of_another_metric_are_not_drawn(tmp_path):
    search = fitted(tmp_path / "auc.db", own="accuracy", scoring="roc_auc")
    display = CertifiedSearchDisplay.from_estimator(search)
    assert len(points(display)) == 0
    assert np.isfinite(display.naive_.get_ydata()).all()  # what was guessed of the winner


def test_what_certified_nothing_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"(?s)^The 'estimator' parameter .+ Wrap your search"):
        CertifiedSearchDisplay.from_estimator(grid())
    with pytest.raises(NotFittedError):
        CertifiedSearchDisplay.from_estimator(ReusableHoldoutCV(grid()))
    with pytest.warns(UserWarning, match="keeps no model"):
        unkept = fitted(tmp_path / "none.db", refit=False)
    with pytest.raises(ValueError, match="refit=True"):
        CertifiedSearchDisplay.from_estimator(unkept)


def test_a_search_that_was_pickled_can_be_drawn_and_axes_are_used(tmp_path):
    search = fitted(tmp_path / "kept.db")
    _, ax = pyplot.subplots()
    display = CertifiedSearchDisplay.from_estimator(pickle.loads(pickle.dumps(search)), ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    np.testing.assert_array_equal(points(display), points(CertifiedSearchDisplay.from_estimator(search)))
