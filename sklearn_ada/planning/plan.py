"""`plan_holdout`: from two of rows, questions and width to the third, for every method.

A `HoldoutPlan` is a table, a picture and words. The words compare: coded checks with a plain holdout and with
sample splitting; for searches in a row coarse answers (cells) from all rows with new rows for each; and,
where pass or fail is all that is wanted, as in continuous integration, verdicts with numbers.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from sklearn_ada._html import folded, framed, paragraph, table
from sklearn_ada._validation import (
    aligned,
    bad_parameter,
    check_real,
    checked,
    in_full,
    instance,
    integer,
    or_none,
    percent,
    real,
)
from sklearn_ada.planning.display import PlanDisplay
from sklearn_ada.planning.laws import methods
from sklearn_ada.planning.methods import MOST_QUESTIONS, MOST_ROWS, Assumptions, MethodPlan, PlanRows, solve
from sklearn_ada.planning.typical import check_scoring
from sklearn_ada.planning.words import many, reason, recommendation

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

_HEAD = ("method", "held out", "all rows", "questions", "half-width", "of", "certifies", "adaptive")
_NUMBERS = ("held out", "all rows", "questions", "half-width")
_QUARTER = 4  # of all rows are held out unless said
_SHORT = 5  # methods
_OF_ALL = ("sample splitting", "one use", "fixed in advance")
_MAIN = {
    "searches": ("cells, published", "cells, while searching", "certify each", *_OF_ALL),
    "verdicts": ("verdicts", "coded checks", *_OF_ALL),
    "questions": ("coded checks", "certify after checks", *_OF_ALL),
}
"""Methods that are shown first, by what is asked."""
_QUESTIONS = or_none(integer(high=MOST_QUESTIONS))
_WORST = "It is a share such as an accuracy; None plans for the worst mean of values in [0, 1]."
_HALF = "It is half of an interval's width."
_ONE_MODEL = "It is a share of rows; None plans for verdicts about one model."


@checked(
    confidence_level="(0, 1)",
    expected_value="finite or None",
    surprise_rate="[0, 1]",
    guess_rows=or_none(integer(fix="None plans for as many as the holdout has.")),
    subsample_size="count",
    grid_size="integer >= 2",
    verdicts=instance(bool, "True or False"),
    passes=or_none(integer(fix="None plans for a process that goes on whatever the verdicts.")),
    disagreement=or_none(real(0.0, 1.0, closed="high", fix=_ONE_MODEL)),
    searches=_QUESTIONS,
    n=or_none(integer(high=MOST_ROWS)),
    n_questions=_QUESTIONS,
    width=or_none(real(0.0, fix=_HALF)),
    positive_share="(0, 1) or None",
    error_spread="> 0 or None",
)
def plan_holdout(
    n: int | None = None,
    n_questions: int | None = None,
    width: float | None = None,
    *,
    searches: int | None = None,
    scoring: str | None = Assumptions.scoring,
    confidence_level: float = Assumptions.confidence_level,
    expected_value: float | None = Assumptions.expected_value,
    guess_rows: int | None = Assumptions.guess_rows,
    surprise_rate: float = Assumptions.surprise_rate,
    subsample_size: int = Assumptions.subsample_size,
    grid_size: int = Assumptions.grid_size,
    verdicts: bool = Assumptions.verdicts,
    passes: int | None = Assumptions.passes,
    disagreement: float | None = Assumptions.disagreement,
    positive_share: float | None = Assumptions.positive_share,
    error_spread: float | None = Assumptions.error_spread,
) -> HoldoutPlan:
    """Find the rows, questions or width of a holdout from the other two.

    There is one row for each method, with what it certifies. It is a plan, not a certificate: methods without
    a guess are planned at what they guarantee, and coded checks, certifies and guessed medians at what is
    expected if guesses hold as assumed. Numbers of rows are rounded up, and numbers of questions down.

    Parameters
    ----------
    n : int or None
        Records of the holdout, at most 10^12. Exactly one of ``n``, ``n_questions`` and ``width`` is left
        out.
    n_questions : int or None
        Adaptive questions, at most 10^9.
    searches : int or None, default=None
        In place of ``n_questions``: so many searches in a row, each of which asks about its winner
        (``ReusableHoldoutCV(ask="winner")``). The recommendation then compares coarse answers about winners,
        the exact value that is published in the end, and splitting the holdout.
    scoring : str or None, default=None
        By which metric searches choose: the name of a scorer, such as "roc_auc", "f1", "neg_log_loss",
        "neg_mean_absolute_error" or "r2". None plans for an accuracy. The ledger is taken to be begun for it.
        Any but a share of right labels is planned on typical rows, which have the ``expected_value``: of two
        classes with normal scores and calibrated probabilities, or of numbers with normal predictions and
        independent errors. Metrics that need more than two classes, or relative errors, are not planned.
    width : float or None
        Half-width, in (0, 1/2): half of the width of an interval, which holds for all answers at once. For
        means in units of the metric's range; for medians in quantile levels; with ``scoring`` in units of
        the metric, and then any positive number. It is that of answers near ``expected_value``. A Holdout's
        ``tolerance`` goes by the widest answer that there can be, so for a width that will be a tolerance,
        plan with ``expected_value=None``.
    confidence_level : float, default=0.95
        That all intervals hold together, in (0, 1).
    expected_value : float or None, default=0.85
        About what the answers will be, for shares such as an accuracy, in (0, 1): exact binomial intervals
        narrow towards 0 and 1. None plans for the worst mean of values in [0, 1], by Hoeffding's inequality.
        Methods with noise do not depend on it. With ``scoring`` the score that is expected: of an error minus
        its size, in the units of y, such as -2.5.
    guess_rows : int or None, default=None
        Records behind each guess (validation or out-of-fold); None is as many as the holdout has.
    surprise_rate : float, default=0.0
        Share of the guesses that are off by more than sampling explains, in [0, 1]. Thresholdout's budget of
        hits is planned for it too.
    subsample_size : int, default=20
        Records in each subsample of a median. (`Holdout` takes at most 400 subsamples by default.)
    grid_size : int, default=401
        Points of a median's grid.
    verdicts : bool, default=False
        Whether pass or fail is all that is wanted of each question, as in continuous integration. ``best`` is
        then the row of verdicts, and no methods with noise nor medians are planned.
    passes : int or None, default=None
        Of verdicts: the process stops after so many passes, which leaves fewer transcripts to allow for.
        None: it goes on whatever they are.
    disagreement : float or None, default=None
        Of verdicts: each is about how much better one model is than another, and their predictions differ on
        at most this share of the rows, in (0, 1], which rows without labels can show. Only methods that are
        planned for such differences have a row then; ``expected_value`` counts for nothing. None: each is
        about one model.
    positive_share : float or None, default=None
        With a ``scoring`` of classes: share of the rows in the positive one, in (0, 1). None: one half.
    error_spread : float or None, default=None
        With a ``scoring`` of numbers: standard deviation of the errors' sizes over their mean, positive. Of
        normal errors it is 0.76, which None is; of Laplace's law 1, and more where tails are heavier.

    Returns
    -------
    HoldoutPlan
        One row for each method; ``best``, ``recommendation``, ``to_frame()`` and ``plot()``.

    Raises
    ------
    ValueError
        If a parameter is out of range, or not exactly two of the three are given.

    Examples
    --------
    >>> plan = plan_holdout(n=10_000, n_questions=1_000)
    >>> round(plan["coded checks"].width, 3), round(plan["certify after checks"].width, 4)
    (0.038, 0.0072)
    >>> plan_holdout(n=10_000, width=0.1)["sample splitting"].n_questions
    66
    >>> plan_holdout(n_questions=1_000, width=0.05).best.method
    'coded checks'
    >>> plan = plan_holdout(n=10_000, searches=9)
    >>> round(plan["cells, while searching"].width, 3), round(plan["cells, published"].width, 4)
    (0.022, 0.0078)
    >>> plan = plan_holdout(n=2_000, searches=9, scoring="neg_mean_absolute_error", expected_value=-2.5)
    >>> round(plan["one use"].width, 2), round(plan["cells, published"].width, 2)
    (0.09, 0.09)
    >>> plan_holdout(n_questions=32, width=0.1, verdicts=True, disagreement=0.1, passes=1).best.n
    186
    """
    if (passes is not None or disagreement is not None) and not verdicts:
        name, value = ("passes", passes) if passes is not None else ("disagreement", disagreement)
        raise bad_parameter(
            name, "plan_holdout", "None where 'verdicts' is False", value,
            "It is planned for pass or fail only: set 'verdicts' to True.",
        )  # fmt: skip
    if searches is not None and (verdicts or n_questions is not None):
        expected, fix = "None where 'n_questions' is given", "A search is one question, about its winner."
        if verdicts:
            expected, fix = "None where 'verdicts' is True", "A search asks for the score of its winner."
        raise bad_parameter("searches", "plan_holdout", expected, searches, fix)
    named = {"n": n, "n_questions": n_questions, "searches": searches, "width": width}
    got = [repr(name) for name, value in named.items() if value is not None]
    if len(got) != 2:
        raise ValueError(
            "plan_holdout needs exactly two of 'n', 'n_questions' (or 'searches') and 'width', and solves "
            f"for the third. Got {', '.join(got) or 'none of them'}."
        )
    given = Assumptions(
        confidence_level, expected_value, guess_rows, surprise_rate, subsample_size, grid_size, verdicts,
        passes, disagreement, scoring, positive_share, error_spread,
    )  # fmt: skip
    _check_metric(given, n_questions, width)
    questions = n_questions if searches is None else searches
    rows = tuple(solve(method, n, questions, width) for method in methods(given))
    return HoldoutPlan(n, questions, width, given, rows, searches is not None or scoring is not None)


def _check_metric(given: Assumptions, n_questions: int | None, width: float | None) -> None:
    """Raise ValueError if the metric cannot be planned, or something does not fit it."""
    wrong, value = partial(bad_parameter, owner="plan_holdout"), given.expected_value
    if given.scoring is not None:
        if n_questions is not None or given.verdicts:
            other = "'n_questions' is given" if n_questions is not None else "'verdicts' is True"
            expected, fix = f"None where {other}", "It is planned for winners of searches: give 'searches'."
            raise wrong("scoring", expected=expected, got=given.scoring, fix=fix)
        check_scoring(given.scoring)
        if value is None:
            expected, fix = "a number where 'scoring' is given", "It is the score that you expect."
            raise wrong("expected_value", expected=expected, got=None, fix=fix)
    of_numbers = given.typical is not None and given.typical.of_numbers
    of_classes = given.typical is not None and not of_numbers
    for name, fits, kind in (
        ("positive_share", of_classes, "classes"),
        ("error_spread", of_numbers, "numbers"),
    ):
        if getattr(given, name) is not None and not fits:
            expected = f"None where 'scoring' is not a metric of {kind} that it matters for"
            raise wrong(name, expected=expected, got=getattr(given, name))
    if given.typical is not None:
        given.typical.check_value()
    elif value is not None:
        check_real(value, "expected_value", "plan_holdout", low=0.0, high=1.0, fix=_WORST)
    if width is not None and given.typical is None:
        check_real(
            width, "width", "plan_holdout", low=0.0, high=0.5, fix="It is half of an interval's width."
        )


@dataclass(frozen=True, repr=False)
class HoldoutPlan(PlanRows):
    """What every method certifies; made by `plan_holdout`.

    Attributes
    ----------
    n : int or None
        Records of the holdout, as asked for; None if solved for.
    n_questions : int or None
        Adaptive questions, as asked for; None if solved for.
    width : float or None
        Half-width of every interval, as asked for; None if solved for.
    given : Assumptions
        Everything else that the plan rests on.
    rows : tuple of MethodPlan
        One for each method. ``plan["coded checks"]`` is the row of that name.
    of_searches : bool
        Whether the questions are winners of searches.
    """

    @property
    def recommendation(self) -> str:
        """What to do, in words."""
        return recommendation(self)

    def to_frame(self) -> DataFrame:
        """Return a data frame with a row for each method.

        The columns are the attributes of `MethodPlan`.

        Raises
        ------
        ImportError
            If pandas is missing.
        """
        try:
            from pandas import DataFrame
        except ImportError as error:
            raise ImportError(
                "HoldoutPlan.to_frame needs pandas: pip install pandas. Plain rows are in `rows`."
            ) from error
        return DataFrame(self.to_dicts()).set_index("method")

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return one dict for each method."""
        return [asdict(row) for row in self.rows]

    def plot(self, *, ax: Axes | None = None) -> PlanDisplay:
        """Draw what was solved for as bars, one for each method that says something.

        Parameters
        ----------
        ax : matplotlib axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        PlanDisplay
            With ``ax_`` and ``figure_``.

        Raises
        ------
        ImportError
            If matplotlib is missing.
        """
        return PlanDisplay.from_plan(self, ax=ax)

    def to_text(self, *, all_methods: bool = False) -> str:
        """Return what to do, why, and a table of methods.

        Parameters
        ----------
        all_methods : bool, default=False
            Whether to have all methods and the whole recommendation. False: its first sentence, and the five
            methods that it is about.

        Returns
        -------
        str
        """
        rows = self.rows if all_methods else self._main
        advice = self.recommendation if all_methods else self._first_sentence
        parts = [textwrap.fill(text, 100) for text in (advice, reason(self)) if text]
        table = aligned(_HEAD, [_cells(row) for row in rows], right=_NUMBERS)
        text = "\n".join([*parts, "", textwrap.fill(self._title(), 100), "", table])
        left = len(self.rows) - len(rows)
        return (
            f"{text}\n{many(left, 'more method')}: --all, or plan.to_text(all_methods=True)" if left else text
        )

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        def shown(rows: Sequence[MethodPlan]) -> str:
            return table((*_HEAD, "note"), ((*_cells(row), row.note) for row in rows))

        main, rest = self._main, [row for row in self.rows if row not in self._main]
        return framed(
            paragraph(self._first_sentence, reason(self) or "", strong=1),
            paragraph(self._title()),
            shown(main),
            folded(
                f"all of it, {many(len(rest), 'more method')}",
                paragraph(self.recommendation),
                shown(rest) if rest else "",
            ),
        )

    @property
    def _first_sentence(self) -> str:
        return re.split(r"(?<=\.) (?=[A-Z])", self.recommendation, maxsplit=1)[0]

    @property
    def _main(self) -> tuple[MethodPlan, ...]:
        """The methods that the recommendation is about, in the order of the plan."""
        first = () if self.best is None else (self.best.method,)
        asked = "searches" if self.of_searches else "verdicts" if self.given.verdicts else "questions"
        order = dict.fromkeys((*first, *_MAIN[asked], *(row.method for row in self.rows)))
        present = {row.method for row in self.rows}
        names = [name for name in order if name in present][:_SHORT]
        return tuple(row for row in self.rows if row.method in names)

    def _title(self) -> str:
        noun = "adaptive verdict" if self.given.verdicts else "adaptive question"
        asked = [
            many(self.n, "held-out row") if self.n else "",
            many(self.n_questions, noun, of_searches=self.of_searches) if self.n_questions else "",
            f"half-width {self.width:g}" if self.width else "",
        ]
        value = self.given.expected_value
        apart = self.given.disagreement
        kind = "any mean in [0, 1]" if value is None else f"{self.given.scoring or 'scores'} about {value:g}"
        if apart is not None:
            kind = f"differences of two models that disagree on at most {apart:g} of the rows"
        return (
            f"Plan for {' and '.join(filter(None, asked))}; {kind}; all intervals hold together with "
            f"{percent(self.given.confidence_level)}; all rows, if a quarter of them is held out"
        )


def _cells(row: MethodPlan) -> list[str]:
    return [
        row.method, *(f"{rows:,}" if math.isfinite(rows) else "none" for rows in (row.n, _QUARTER * row.n)),
        f"{row.n_questions:,}" + ("+" if row.n_questions == MOST_QUESTIONS else ""),
        "none" if row.vacuous else in_full(row.width, 3),
        row.unit, row.certifies, "yes" if row.adaptive else "no",
    ]  # fmt: skip
