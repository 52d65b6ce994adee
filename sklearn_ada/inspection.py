"""Pictures of a holdout: its answers, what it can still certify, and a certified search.

- `AnswersDisplay`: every answer of a ledger with its interval, beside the guess.
- `HoldoutBudgetDisplay`: how wide the next answers would be.
- `CertifiedSearchDisplay`: what a search believed of its candidates, and what the holdout certifies.

They are made from a holdout, or from the report that a pickled search keeps in its place.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sklearn_ada._validation import bad_parameter, percent
from sklearn_ada.answer import Answer, certifies_nothing, population_of
from sklearn_ada.holdout.holdout import Holdout
from sklearn_ada.holdout.records import Entry
from sklearn_ada.holdout.report import HoldoutReport, Targets, askers_of
from sklearn_ada.metrics.metric import Metric
from sklearn_ada.model_selection.reusable import ReusableHoldoutCV
from sklearn_ada.planning.display import PUBLISHED, SEARCHING, axes_or_new, panels_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def report_from(holdout: Holdout | HoldoutReport, owner: str) -> HoldoutReport:
    """Return a report as it is, and that of a holdout; raise ValueError for anything else."""
    if isinstance(holdout, HoldoutReport):
        return holdout
    if isinstance(holdout, Holdout):
        return holdout.report()
    fix = "Of a fitted ReusableHoldoutCV, give its holdout_."
    raise bad_parameter("holdout", owner, "a Holdout or a HoldoutReport", holdout, fix)


_MARKERS = {
    "agrees": ("o", "tab:cyan"),
    "differs": ("D", "tab:purple"),
    "published": ("s", PUBLISHED),
    "exact": ("s", "tab:green"),
    "drawn": ("^", "tab:olive"),
    "improves": ("P", "tab:pink"),
    "no improvement": ("v", "tab:gray"),
    "sealed": ("h", SEARCHING),
    "vacuous": ("x", "dimgray"),
    "failed": ("*", "tab:brown"),
    "refused": ("X", "tab:red"),
}
_WORDS = {"sealed": "while searching", "vacuous": "vacuous: certifies nothing"}
_WITHOUT_BAR = ("vacuous", "failed", "refused")
_MOST_NAMES = 40


class AnswersDisplay:
    """Draw all answers of a ledger, one on each line with its interval.

    They are in the order of the ledger, and all intervals hold together.

    The full marker is the answer's value, its bar the certified interval, the hollow circle the guess. The
    kind of marker is the verdict, such as "agrees" or "exact", or that the score was published. Lines are
    named by the number of the record, the model and the label of whoever asked. The title has the holdout and
    who asked, the label of the axis is the target of the scores, of which three lines are shown.

    A sealed answer is drawn at the centre of its cell or, where it has a window, at the guess; the exact
    value may lie elsewhere in these. The thick bar is about as wide as the interval of the exact value would
    have been if it had been published when it was asked. It is left out once the value was released. A
    vacuous answer has no bar. A refused or failed question has no value and stands at the left edge.

    Parameters
    ----------
    report : HoldoutReport
    metric : str or None, default=None
        The metric whose answers are drawn. None: all metrics, a panel for each.

    Attributes
    ----------
    ax_ : matplotlib axes, or ndarray of them
        An array where there are several panels.
    figure_ : matplotlib figure
    metrics_ : list of str
        The metric of each panel.
    bars_ : dict of str to matplotlib ErrorbarContainer, or list of such dicts
        The intervals, by verdict. A list if there are several panels.

    Raises
    ------
    ValueError
        If nothing was asked about the metric.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from sklearn_ada import AnswersDisplay, Holdout
    >>> X, y = load_iris(return_X_y=True)
    >>> holdout = Holdout(X[::2], y[::2])
    >>> for depth in (1, 2, 3):
    ...     tree = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X[1::2], y[1::2])
    ...     answer = holdout.check(tree, scoring="accuracy", guess=0.9)
    >>> display = AnswersDisplay.from_holdout(holdout)
    >>> print(display.ax_.get_xlabel())
    population accuracy at the holdout's class mix
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]
    ['#1 DecisionTreeClassifier', '#2 DecisionTreeClassifier', '#3 DecisionTreeClassifier']
    """

    def __init__(self, report: HoldoutReport, *, metric: str | None = None) -> None:
        self.report = report
        every = sorted({name for name, _ in report.answers})
        if not every or metric not in (None, *every):
            asked = f"a metric that was asked about ({', '.join(every) or 'none was'})"
            fix = "None shows them all." if every else "Ask the holdout first: check or certify."
            raise bad_parameter("metric", "AnswersDisplay", asked, metric, fix)
        self.metric = metric
        self.metrics_ = every if metric is None else [metric]

    @classmethod
    def from_holdout(
        cls,
        holdout: Holdout | HoldoutReport,
        *,
        metric: str | None = None,
        ax: Axes | Sequence[Axes] | None = None,
    ) -> AnswersDisplay:
        """Draw the answers of a holdout; see `plot`.

        Parameters
        ----------
        holdout : Holdout or HoldoutReport
            A search that was pickled has a report in place of its holdout.
        metric : str or None, default=None
            The metric whose answers are drawn. None: a panel for each.
        ax : matplotlib axes, sequence of them or None, default=None
            Where to draw, one for each panel. None makes a new figure.

        Returns
        -------
        AnswersDisplay
        """
        return cls(report_from(holdout, "AnswersDisplay.from_holdout"), metric=metric).plot(ax=ax)

    def plot(self, *, ax: Axes | Sequence[Axes] | None = None) -> AnswersDisplay:
        """Draw the answers.

        Parameters
        ----------
        ax : matplotlib axes, sequence of them or None, default=None
            Where to draw, one for each panel. None makes a new figure.

        Returns
        -------
        AnswersDisplay
            Itself.

        Raises
        ------
        ImportError
            If matplotlib is missing.
        ValueError
            If there are fewer or more axes than panels.
        """
        pairs = list(zip(self.report.answers, self.report.entries, strict=True))
        of_each = [[(a, e) for (name, a), e in pairs if name == metric] for metric in self.metrics_]
        heights = [min(max(2.4 + 0.26 * len(shown), 3.4), 12.0) for shown in of_each]
        if len(of_each) == 1 and not isinstance(ax, Sequence):
            panels = [axes_or_new(ax, "Answers are", (8.0, heights[0]))]
        else:
            fix = f"Give {len(of_each)} axes, or name one metric: metric={self.metrics_[0]!r}."
            panels = panels_or_new(ax, "Answers are", heights, "AnswersDisplay.plot", fix)
        bars = [
            self._draw(panel, metric, shown)
            for panel, metric, shown in zip(panels, self.metrics_, of_each, strict=True)
        ]
        panels[0].set_title(_title(self.report), fontsize="medium")
        self.bars_ = bars[0] if len(bars) == 1 else bars
        self.ax_ = panels[0] if len(panels) == 1 else np.array(panels, dtype=object)
        self.figure_ = panels[0].figure
        return self

    def _draw(self, ax: Any, metric: str, shown: Sequence[tuple[Answer, Entry]]) -> dict[str, Any]:
        """Draw the answers about one metric, from the top down, and return their bars."""
        groups: dict[str, list[tuple[int, Answer]]] = {}
        for place, (answer, entry) in enumerate(shown):
            groups.setdefault(_group(answer, entry), []).append((place, answer))
        bars = {}
        for name, (marker, colour) in _MARKERS.items():
            if name not in groups:
                continue
            rows, mine = zip(*groups[name], strict=True)
            label = _WORDS.get(name, name)
            if name in ("failed", "refused"):
                ax.scatter(
                    [0.015] * len(rows), rows, marker=marker, color=colour, s=34, label=label,
                    transform=ax.get_yaxis_transform(), zorder=4,
                )  # fmt: skip
                continue
            values = np.array([answer.value for answer in mine])
            if name not in _WITHOUT_BAR:
                low, high = np.transpose([answer.interval for answer in mine])
                arms = np.maximum([values - low, high - values], 0.0)
                arms[np.isinf(arms)] = 0.0  # an open end has no bar
                bars[name] = ax.errorbar(values, rows, xerr=arms, fmt="none", ecolor=colour, capsize=3)
            if name == "sealed":
                self._draw_published(ax, rows, mine, colour)
            ax.scatter(values, rows, marker=marker, color=colour, s=34, label=label, zorder=4)
        guesses = [(entry.guess, place) for place, (_, entry) in enumerate(shown) if entry.guess is not None]
        if guesses:
            ax.scatter(
                *zip(*guesses, strict=True), marker="o", facecolors="none", edgecolors="black", s=60,
                linewidths=1.0, label="guess", zorder=3,
            )  # fmt: skip
        ax.set_ylim(len(shown) - 0.4, -0.6)
        if len(shown) <= _MOST_NAMES:
            ax.set_yticks(range(len(shown)), [_name(entry) for _, entry in shown], fontsize="small")
        else:
            ticks = np.unique(np.linspace(0, len(shown) - 1, 10).astype(int))
            ax.set_yticks(ticks, [f"#{shown[tick][1].index}" for tick in ticks], fontsize="small")
        ax.set_xlabel(_label(shown, metric, ax))
        ax.grid(axis="x", alpha=0.3)
        _end_at_range(ax, metric)
        _legend_beneath(ax)
        return bars

    def _draw_published(self, ax: Any, rows: Sequence[int], answers: Sequence[Answer], colour: str) -> None:
        """Draw the widths that published values would have had, around what stands for them."""
        still = [
            (
                place,
                *np.clip(
                    [answer.value - answer.published, answer.value + answer.published], *answer.interval
                ),
            )
            for place, answer in zip(rows, answers, strict=True)
            if answer.published is not None and answer.index not in self.report.released_in
        ]
        if self.report.closed or not still:
            return
        at, low, high = zip(*still, strict=True)
        label = "about what publish() would have given"
        ax.hlines(at, low, high, color=colour, linewidth=6, alpha=0.35, zorder=1, label=label)


def _title(report: HoldoutReport) -> str:
    """Return which holdout it is, who asked, and what holds of all intervals."""
    lines = [f"Holdout {report.fingerprint[:8]} of {report.n_rows:,} rows"]
    if report.asked_by.keys() - {"?"}:
        lines.append(textwrap.shorten(f"asked by {askers_of(report.asked_by)}", 50, placeholder=" ..."))
    return "\n".join([*lines, f"All intervals hold together with {percent(report.confidence_level)}"])


def _end_at_range(ax: Axes, metric: str) -> None:
    """Have no number beyond what a metric can be on the axis of values."""
    try:
        ends = Metric(metric).range
    except ValueError:  # a name of the user's own
        return
    if ends is not None:
        low, high = ax.get_xlim()
        ax.set_xticks([tick for tick in ax.get_xticks() if ends[0] <= tick <= ends[1]])
        ax.set_xlim(low, high)


def _legend_beneath(ax: Any) -> None:
    """Put the legend beneath the label of the horizontal axis, from the left of the figure if it is free."""
    from matplotlib.transforms import ScaledTranslation, blended_transform_factory

    place = ax.get_subplotspec()
    is_alone = place is not None and place.get_gridspec().ncols == 1
    across = ax.figure.transFigure if is_alone else ax.transAxes
    lines, size = 1 + ax.get_xlabel().count("\n"), ax.xaxis.label.get_size() / 72.0
    down = ScaledTranslation(0.0, -size * (2.2 + 1.3 * lines), ax.figure.dpi_scale_trans)
    ax.legend(
        fontsize="small", loc="upper left", bbox_to_anchor=(0.01, 0.0), frameon=False, borderaxespad=0.0,
        bbox_transform=blended_transform_factory(across, ax.transAxes) + down, ncols=2,
    )  # fmt: skip


def _group(answer: Answer, entry: Entry) -> str:
    """Return what came of a question, in one of the words of the legend."""
    if certifies_nothing(answer):
        return "vacuous"
    if answer.answered and answer.is_final:
        return "published"
    return "sealed" if answer.answered and entry.kind == "sealed" else answer.verdict


def _name(entry: Entry) -> str:
    model = f"#{entry.index} {entry.model}" if entry.model else f"#{entry.index}"
    return f"{model}, {entry.label}" if entry.label else model


def _label(shown: Sequence[tuple[Answer, Entry]], metric: str, ax: Any) -> str:
    """Return the targets of the scores, in at most three lines: more would leave the picture no room."""
    given = (entry.score_of for _, entry in shown)
    targets = Targets(given)
    most = int(ax.figure.get_figwidth() * 72.0 / (0.8 * ax.xaxis.label.get_size()))  # room is for names, too
    lines = textwrap.wrap("; ".join(targets.counts) or metric, min(most, 80), max_lines=3, placeholder=" ...")
    return "\n".join(lines)


_STYLES = {"check": ("tab:cyan", "o", "--"), "certify": (SEARCHING, "s", "-")}
_LONGEST_TITLE = 100  # characters, in two lines; widths are in the picture anyway


class HoldoutBudgetDisplay:
    """Draw how wide the intervals of the next answers would be.

    Shown are half-widths, now and after more checks whose guesses hold.
    Half-widths are for a mean of a bounded score, such as accuracy, near the last answer's value, as a share
    of its range. A hollow marker is a question that the tolerance (dotted line) would refuse.

    On a ledger with coarse answers, half-widths are those of the next searches by the metric of the last one.
    The dash-dotted line is the half-width of the exact value that `publish` would release now. Checks are
    drawn only if some were asked. Where nothing is foreseen, as of a closed holdout, the picture says why.

    Parameters
    ----------
    report : HoldoutReport

    Attributes
    ----------
    ax_ : matplotlib axes
    figure_ : matplotlib figure
    lines_ : dict of str to matplotlib line
        The half-widths, by purpose.
    published_ : matplotlib line or None
        The half-width that `publish` would give; None where all answers are exact, or none is foreseen.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_ada import Holdout, HoldoutBudgetDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> display = HoldoutBudgetDisplay.from_holdout(Holdout(X, y, tolerance=0.2, ledger=":memory:"))
    >>> sorted(display.lines_)
    ['certify', 'check']
    """

    def __init__(self, report: HoldoutReport) -> None:
        self.report = report

    @classmethod
    def from_holdout(
        cls, holdout: Holdout | HoldoutReport, *, ax: Axes | None = None
    ) -> HoldoutBudgetDisplay:
        """Draw what is left of a holdout; see `plot`.

        Parameters
        ----------
        holdout : Holdout or HoldoutReport
            A search that was pickled has a report in place of its holdout.
        ax : matplotlib axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        HoldoutBudgetDisplay
        """
        return cls(report_from(holdout, "HoldoutBudgetDisplay.from_holdout")).plot(ax=ax)

    def plot(self, *, ax: Axes | None = None) -> HoldoutBudgetDisplay:
        """Draw the half-widths.

        Parameters
        ----------
        ax : matplotlib axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        HoldoutBudgetDisplay
            Itself.

        Raises
        ------
        ImportError
            If matplotlib is missing.
        """
        ax = axes_or_new(ax, "A budget is", (8.0, 4.0))
        report, outlook = self.report, self.report.outlook
        self.lines_ = {}
        for purpose in report.foreseen:
            colour, marker, style = _STYLES[purpose]
            name = f"search by {outlook.metric}" if outlook.in_cells and purpose == "certify" else purpose
            ahead = outlook.of(purpose)
            at, widths = [forecast.after for forecast in ahead], [forecast.half_width for forecast in ahead]
            (line,) = ax.plot(at, widths, color=colour, linestyle=style, marker=marker, label=f"next {name}")
            refused = [(f.after, f.half_width) for f in ahead if not f.admitted]
            if refused:
                ax.plot(
                    *zip(*refused, strict=True), marker, markerfacecolor="white", markeredgecolor=colour,
                    zorder=3, label=f"next {name}: refused",
                )  # fmt: skip
            above = 7 if purpose == "certify" else -14
            for place, width in zip(at, widths, strict=True):
                ax.annotate(
                    f"{width:.3f}", (place, width), xytext=(0, above), textcoords="offset points",
                    ha="center", fontsize="small", color=colour,
                )  # fmt: skip
            self.lines_[purpose] = line
        self.published_ = None
        if outlook.published is not None and not report.closed:
            label = f"publish() would release: {outlook.published:.3f}"
            self.published_ = ax.axhline(outlook.published, color=PUBLISHED, linestyle="-.", label=label)
        if report.tolerance is not None:
            label = f"tolerance {report.tolerance:g}"
            ax.axhline(report.tolerance, color="black", linestyle=":", label=label)
        forecasts = [forecast for purpose in report.foreseen for forecast in outlook.of(purpose)]
        steps = sorted({forecast.after for forecast in outlook.forecasts})
        ax.set_xscale("symlog", linthresh=1)
        ax.set_xticks(steps, [f"{step:,}" if step else "now" for step in steps])
        ax.set_xlim(-0.2, 1.6 * max(steps))
        tallest = max([forecast.half_width for forecast in forecasts] + [report.tolerance or 0.0])
        ax.set_ylim(0.0, 1.2 * tallest or 1.0)
        if not forecasts:
            why = textwrap.fill(report.headline, 60)
            ax.text(0.5, 0.5, why, transform=ax.transAxes, ha="center", va="center")
        more = "checks"
        if outlook.in_cells:
            more = "searches (or checks)" if "check" in report.foreseen else "searches"
        ax.set_xlabel(f"after so many more {more} whose guesses hold")
        ax.set_ylabel("half-width, share of the range")
        is_short = len(report.headline) <= _LONGEST_TITLE and bool(forecasts)
        title = report.headline if is_short else "How wide the next answers would be"
        ax.set_title(title, fontsize="medium", wrap=True)
        if ax.get_legend_handles_labels()[0]:
            _legend_beneath(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self


_OWNER = "CertifiedSearchDisplay.from_estimator"


@dataclass(eq=False, repr=False)
class CertifiedSearchDisplay:
    """Draw the candidates of a search, and the interval of its winner's score.

    Hollow points are the scores that the search itself saw. The dashed line is the best of them, the *naive
    best*, which is too good, as it is the best of many. The band is the certified interval of
    ``best_estimator_``, which holds however many candidates and searches there were: blue while searching,
    orange once its score is published. The solid line is this score; there is none while it is sealed. If the
    holdout was asked about candidates, each has its certified interval as a bar. Scores of another metric
    than the certified one are not drawn.

    Parameters
    ----------
    scores : ndarray of float of shape (n_candidates,)
        The scores that the search itself saw; NaN is not drawn.
    best_index : int
        Number of the candidate that was chosen.
    naive_best : float
        The best score that the search saw.
    value : float
        The certified score.
    interval : tuple of float
        The certified interval.
    bars : ndarray of float of shape (n_candidates, 2) or None, default=None
        Certified intervals of candidates; NaN where there is none.
    target : str, default="score"
        What the scores are scores of.
    confidence_level : float, default=0.95
        The probability that all intervals of the ledger hold together.
    exact : bool, default=True
        Whether the value is the holdout's own score, which is drawn; else only the interval is.
    published : bool, default=False
        Whether it was published.
    about : str, default=""
        Which holdout it is and who asked, for the title.

    Attributes
    ----------
    ax_ : matplotlib axes
    figure_ : matplotlib figure
    points_ : matplotlib PathCollection
        The candidates.
    naive_ : matplotlib line
    value_ : matplotlib line or None
        None while the score is sealed.
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

    scores: NDArray[np.float64]
    _: KW_ONLY
    best_index: int
    naive_best: float
    value: float
    interval: tuple[float, float]
    bars: NDArray[np.float64] | None = None
    target: str = "score"
    confidence_level: float = 0.95
    exact: bool = True
    published: bool = False
    about: str = ""

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
            bars=bars, target=population_of(target), confidence_level=report.confidence_level,
            exact=answer.published is None, published=answer.is_final, about=_title(report),
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
        ax = axes_or_new(ax, "A search is", (8.0, 5.0))
        numbers = np.arange(len(self.scores))  # as best_index_ and the rows of cv_results_ count
        low, high = (end if np.isfinite(end) else None for end in self.interval)
        shown = np.isfinite(self.scores)
        if self.bars is not None:
            asked = np.isfinite(self.bars).all(axis=1)
            ax.vlines(
                numbers[asked], *self.bars[asked].T, color=SEARCHING, linewidth=1.2,
                label="certified, each candidate", zorder=2,
            )  # fmt: skip
        what = "certified" if self.exact else "while searching"
        what, colour = ("published", PUBLISHED) if self.published else (what, SEARCHING)
        if low is not None and high is not None:
            self.band_ = ax.axhspan(
                low, high, facecolor=colour, alpha=0.18, edgecolor=colour, hatch="//", linewidth=0,
                label=f"{what}: in [{low:.3g}, {high:.3g}]", zorder=0,
            )  # fmt: skip
        self.value_ = None
        if self.exact:
            label = f"{what}: {self.value:.3g}"
            self.value_ = ax.axhline(self.value, color=colour, linewidth=2, zorder=1, label=label)
        label = f"best score of the search {self.naive_best:.3g}"
        self.naive_ = ax.axhline(self.naive_best, color="black", linestyle="--", label=label, zorder=1)
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
        ax.set(xlabel="candidate: row of cv_results_", ylabel=textwrap.fill(self.target, 32))
        held = (
            f"The band holds with {percent(self.confidence_level)}, with all answers of its ledger together"
        )
        ax.set_title(self.about or held, fontsize="medium")
        _legend_beneath(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _scores(
    search: ReusableHoldoutCV, guesses: dict[int, float | None]
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Return the scores that the search saw, and certified intervals of candidates if any."""
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
