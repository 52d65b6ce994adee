"""`CertifiedSearchDisplay`: what a search believed of its candidates, and what the holdout certifies."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sklearn_ada._axes import axes_or_new
from sklearn_ada._checks import bad_parameter
from sklearn_ada._table import percent
from sklearn_ada.inspection.source import report_from
from sklearn_ada.model_selection import ReusableHoldoutCV

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["CertifiedSearchDisplay"]

_OWNER = "CertifiedSearchDisplay.from_estimator"


class CertifiedSearchDisplay:
    """The candidates of a search in their order, the best score it saw, and the certified band.

    Hollow points are the scores that the search itself saw, which the best of many overstates: the dashed
    line is the *naive best*. The band is the certified interval of ``best_estimator_``, valid however many
    candidates and searches there were; the solid line its value: dotted, and the centre of its cell, which
    the guess decides, as long as the exact one is sealed. Where the holdout was asked about candidates, each
    has its certified interval as a bar. Scores of another metric than the certified one are not drawn.

    Parameters
    ----------
    scores : ndarray of float of shape (n_candidates,)
        What the search itself saw; NaN where nothing is to be drawn.
    best_index : int
        Number of the candidate that was chosen.
    naive_best : float
        What the search saw of its best.
    value : float
        The certified score.
    interval : tuple of float
        The certified interval.
    bars : ndarray of float of shape (n_candidates, 2) or None, default=None
        Certified intervals of candidates; NaN where there is none.
    target : str, default="score"
        What the scores are scores of.
    confidence_level : float, default=0.95
    exact : bool, default=True
        Whether the certified score was told exactly; else it is the centre of a cell.

    Attributes
    ----------
    ax_ : matplotlib axes
    figure_ : matplotlib figure
    points_ : matplotlib PathCollection
        The candidates.
    naive_, value_ : matplotlib lines
    band_ : matplotlib patch

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from sklearn_ada import CertifiedSearchDisplay, ReusableHoldoutCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> inner = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2, 3]})
    >>> search = ReusableHoldoutCV(inner, ask="winner").fit(X, y)
    >>> display = CertifiedSearchDisplay.from_estimator(search)
    >>> len(display.points_.get_offsets())
    3
    """

    def __init__(
        self,
        scores: NDArray[np.float64],
        *,
        best_index: int,
        naive_best: float,
        value: float,
        interval: tuple[float, float],
        bars: NDArray[np.float64] | None = None,
        target: str = "score",
        confidence_level: float = 0.95,
        exact: bool = True,
    ) -> None:
        self.scores = scores
        self.best_index = best_index
        self.naive_best = naive_best
        self.value = value
        self.interval = interval
        self.bars = bars
        self.target = target
        self.confidence_level = confidence_level
        self.exact = exact

    @classmethod
    def from_estimator(
        cls, estimator: ReusableHoldoutCV, *, ax: Axes | None = None
    ) -> CertifiedSearchDisplay:
        """Draw a fitted search; see `plot`.

        Parameters
        ----------
        estimator : ReusableHoldoutCV
            Fitted, with a certified score.
        ax : matplotlib axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        CertifiedSearchDisplay

        Raises
        ------
        NotFittedError
            Before fit.
        ValueError
            For another estimator, or a search that certified nothing.
        """
        if not isinstance(estimator, ReusableHoldoutCV):
            fix = "Wrap your search: ReusableHoldoutCV(search).fit(X, y)."
            raise bad_parameter("estimator", _OWNER, "a ReusableHoldoutCV", estimator, fix)
        check_is_fitted(estimator, "search_")
        if not hasattr(estimator, "best_answer_"):
            fix = "It needs refit=True and scores of its own, so that a model is kept and certified."
            raise bad_parameter("estimator", _OWNER, "a search that certified a score", "none", fix)
        report = report_from(estimator.holdout_, _OWNER)
        guesses = {entry.index: entry.guess for entry in report.entries}
        scores, bars = _scores(estimator, guesses)
        best, answer = int(estimator.best_index_), estimator.best_answer_
        behind = guesses.get(answer.index)
        if bars is None and behind is not None and not np.isclose(scores[best], behind):
            scores = np.full(len(scores), np.nan)  # of another metric than the one that is certified
        seen = scores[np.isfinite(scores)]
        naive = float(seen.max()) if len(seen) else np.nan if behind is None else behind
        target = answer.target or "score"
        display = cls(
            scores, best_index=best, naive_best=naive, value=answer.value, interval=answer.interval,
            bars=bars, target=target.partition(", told as")[0], confidence_level=report.confidence_level,
            exact=answer.published is None,
        )  # fmt: skip
        return display.plot(ax=ax)

    def plot(self, *, ax: Axes | None = None) -> CertifiedSearchDisplay:
        """Draw candidates, naive best and certified band.

        Parameters
        ----------
        ax : matplotlib axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        CertifiedSearchDisplay
            Itself.

        Raises
        ------
        ImportError
            If matplotlib is missing.
        """
        ax = axes_or_new(ax, "A search is", (8.0, 4.5))
        numbers = np.arange(len(self.scores))  # as best_index_ and the rows of cv_results_ count
        low, high = (end if np.isfinite(end) else None for end in self.interval)
        shown = np.isfinite(self.scores)
        if self.bars is not None:
            asked = np.isfinite(self.bars).all(axis=1)
            ax.vlines(
                numbers[asked], *self.bars[asked].T, color="tab:blue", linewidth=1.2,
                label="certified, each candidate", zorder=2,
            )  # fmt: skip
        if low is not None and high is not None:
            self.band_ = ax.axhspan(
                low, high, facecolor="tab:green", alpha=0.18, edgecolor="tab:green", hatch="//", linewidth=0,
                label=f"certified [{low:.3g}, {high:.3g}]", zorder=0,
            )  # fmt: skip
        self.value_ = ax.axhline(
            self.value,
            color="tab:green",
            linewidth=2,
            zorder=1,
            linestyle="-" if self.exact else ":",
            label=f"{'certified score' if self.exact else 'centre of its cell, exact score sealed:'} "
            f"{self.value:.3g}",
        )
        self.naive_ = ax.axhline(
            self.naive_best, color="black", linestyle="--", label=f"naive best {self.naive_best:.3g}",
            zorder=1,
        )  # fmt: skip
        self.points_ = ax.scatter(
            numbers[shown], self.scores[shown], facecolors="white", edgecolors="black", s=28, zorder=3,
            label="what the search saw",
        )  # fmt: skip
        if shown[self.best_index]:
            ax.scatter(
                [self.best_index], [self.scores[self.best_index]], marker="*", color="black", s=110,
                zorder=4, label=f"chosen: candidate {self.best_index}",
            )  # fmt: skip
        ax.set_xlim(-0.5, len(numbers) - 0.5)
        if len(numbers) <= 20:
            ax.set_xticks(numbers)
        ax.set(xlabel="candidate: row of cv_results_", ylabel=textwrap.fill(self.target, 52))
        held = f"{percent(self.confidence_level)} for all answers of its ledger together"
        ax.set_title(f"The certified band holds with {held}", fontsize="medium")
        ax.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _scores(
    search: ReusableHoldoutCV, guesses: dict[int, float | None]
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Return what the search saw of its candidates, and certified intervals where each was asked about."""
    table = search.cv_results_
    low, high = (np.asarray(table[f"certified_{end}"], dtype=float) for end in ("low", "high"))
    if search.ask == "candidates" and search.reveal == "all":
        seen = np.full(len(low), np.nan)
        asked = [number for number, verdict in enumerate(table["verdict"]) if verdict]
        for number, answer in zip(asked, search.answers_, strict=False):  # then the winner, certified
            guess = guesses.get(answer.index)
            seen[number] = np.nan if guess is None else guess
        return seen, np.column_stack([low, high])
    refit = search.search.get_params(deep=False).get("refit")
    names = ("mean_test_score", f"mean_test_{refit}", *(n for n in table if n.startswith("mean_test_")))
    own = next((table[name] for name in names if name in table), np.full(len(low), np.nan))
    return np.asarray(own, dtype=float), None
