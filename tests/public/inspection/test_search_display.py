"""A picture of a search shows its own scores, the naive best and the certified interval."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError

from sklearn_ada import CertifiedSearchDisplay, ReusableHoldoutCV
from sklearn_ada.planning.display import PUBLISHED
from tests.support.searches import grid

pyplot = pytest.importorskip("matplotlib.pyplot")
X, Y = make_classification(600, 6, n_informative=4, flip_y=0.1, random_state=0)
drawn = CertifiedSearchDisplay.from_estimator


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


@pytest.fixture
def fitted(tmp_path):
    """Fit a search over four depths of a tree, by default on a ledger that answers in cells."""

    def fit(refit=True, ask="winner", own=None, **how):
        inner = grid(values=[1, 2, 3, 4], refit=refit, scoring=own, cv=3 if ask == "winner" else None)
        ledger = tmp_path / "ledger.db"
        return ReusableHoldoutCV(inner, ask=ask, ledger=ledger, holdout=0.4, **how).fit(X, Y)

    return fit


def points(display):
    return np.asarray(display.points_.get_offsets())


def test_the_search_saw_its_own_scores_and_the_winner_is_certified(fitted):
    search = fitted()
    display = drawn(search)
    own = search.cv_results_["mean_test_score"]
    np.testing.assert_allclose(points(display), np.column_stack([range(4), own]))
    assert set(display.naive_.get_ydata()) == {own.max()}
    assert display.value_ is None
    low, high = search.best_score_interval_
    assert (display.band_.get_y(), display.band_.get_height()) == pytest.approx((low, high - low))
    assert display.bars is None
    chosen = [each for each in display.ax_.collections if each.get_label().startswith("chosen")]
    np.testing.assert_allclose(chosen[0].get_offsets(), [[search.best_index_, own.max()]])
    _, ax = pyplot.subplots()
    again = drawn(pickle.loads(pickle.dumps(search)), ax=ax)
    assert again.ax_ is ax
    assert again.figure_ is ax.figure
    np.testing.assert_array_equal(points(again), points(display))


def test_a_score_is_drawn_once_it_is_published_in_the_colour_of_published_scores(fitted):
    search = fitted()
    assert drawn(search).band_.get_label().startswith("while searching: in [")
    final, display = search.publish(), drawn(search)
    assert set(display.value_.get_ydata()) == {final.value}
    assert display.value_.get_color() == PUBLISHED
    assert display.band_.get_label().startswith("published: in [")


def test_candidates_that_were_asked_have_a_bar_each(fitted):
    search = fitted(ask="candidates")
    display, table = drawn(search), search.cv_results_
    entries = search.holdout_.report().entries[:4]
    certified = np.column_stack([table["certified_low"], table["certified_high"]])
    np.testing.assert_allclose(display.bars, certified)
    np.testing.assert_allclose(points(display)[:, 1], [entry.guess for entry in entries])
    (bars,) = [each for each in display.ax_.collections if each.get_label() == "certified, each candidate"]
    np.testing.assert_allclose([each[:, 1] for each in bars.get_segments()], display.bars)


def test_scores_of_another_metric_are_not_drawn(fitted):
    display = drawn(fitted(own="accuracy", scoring="roc_auc"))
    assert len(points(display)) == 0
    assert np.isfinite(display.naive_.get_ydata()).all()  # what was guessed of the winner


def test_what_certified_nothing_is_refused(fitted):
    with pytest.raises(ValueError, match=r"(?s)^The 'estimator' parameter .+ Wrap your search"):
        drawn(grid())
    with pytest.raises(NotFittedError):
        drawn(ReusableHoldoutCV(grid()))
    with pytest.warns(UserWarning, match="keeps no model"):
        unkept = fitted(refit=False)
    with pytest.raises(ValueError, match="refit=True"):
        drawn(unkept)
