"""What a holdout answers: the answer, its cost and its certificate."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal

from sklearn_ada._html import facts, folded, framed, paragraph
from sklearn_ada._validation import in_full, percent

VERDICTS = ("agrees", "differs", "exact", "drawn", "improves", "no improvement", "failed", "refused")
"""The words for what came of a question (see `Answer`); only the last two come without a value."""
ROUNDED = ", rounded to steps of "
"""How a target goes on where its value is no count, and so is released in steps."""
OF_TWO = " of b minus a"
"""How the name of a metric of one model, minus that of another, goes on."""
_OF_PARTS = re.compile(r"median of .+ over random (subsamples of \d+ \w+)")
_SHOWN_AS = re.compile(", told as |, shown as ")


@dataclass(frozen=True)
class Cost:
    """Count how much one answer reveals about the holdout.

    Attributes
    ----------
    nats : float
        Information that the answer revealed about the holdout: ``-ln p``, where p is the probability that
        this answer had before the look at the holdout. The more is revealed, the wider are later intervals.
    epsilon, rho : float or None
        Privacy loss of an answer with noise: the parameters of pure differential privacy and of
        zero-concentrated differential privacy. None where no theorem bounds it.
    """

    nats: float
    epsilon: float | None = None
    rho: float | None = None


@dataclass(frozen=True)
class Certificate:
    """State what an interval guarantees, for which quantity, and under which assumptions.

    With probability at least ``confidence_level``, all intervals of one ledger contain their ``target`` at
    once, even if each question was chosen after seeing the answers to earlier ones. The probability is over
    the random draw of the holdout's rows and of the ledger's secret.

    Attributes
    ----------
    theorem : str
        The theorem that the guarantee rests on.
    confidence_level : float
        Probability that all intervals of the ledger hold together.
    ln_delta : float
        Natural logarithm of the part of the failure probability ``1 - confidence_level`` that this interval
        used. With ``route="differential_privacy"`` it is what all intervals of one kind of metric use
        together.
    target : str
        The population quantity that the interval contains.
    assumptions : tuple of str
        What must be true for the guarantee to hold; the holdout alone cannot show whether it is.
    vacuous : bool
        Whether the interval says nothing, because it contains all values that the metric can have.
    route : {"description_length", "differential_privacy", "both"}
        The theory that certifies this answer; see `Holdout`.
    """

    theorem: str
    confidence_level: float
    ln_delta: float
    target: str
    assumptions: tuple[str, ...]
    vacuous: bool
    route: str = "description_length"

    def __str__(self) -> str:
        worth = "VACUOUS: it says nothing" if self.vacuous else "valid for all answers together"
        return f"{percent(self.confidence_level)} {worth}; target: {self.target}; by {self.theorem}"

    def _repr_html_(self) -> str:
        worth = "VACUOUS: the interval says nothing" if self.vacuous else "holds together with all others"
        named = {
            "Confidence": f"{percent(self.confidence_level)}, {worth}",
            "Of": population_of(self.target),
            "By": self.theorem,
            "If": "; ".join(self.assumptions),
        }
        return framed(facts(named))


@dataclass(frozen=True, repr=False)
class Answer:
    """Hold what the holdout says of one model: a confidence interval, mostly with a score.

    Attributes
    ----------
    value : float
        The holdout's score; NaN if the question was refused or failed. Of a coarse answer, which releases no
        score, it is the middle of the range that the score lies in, or the guess.
    interval : tuple of float
        The ends of the confidence interval, ``(low, high)``, in units of the metric. An end may be infinite.
    verdict : {"agrees", "differs", "exact", "drawn", "improves", "no improvement", "failed", "refused"}
        What came of the question.

        - Of a check: "agrees" if the holdout's value is close to the guess, else "differs". Of
          `LadderScorer`: "improves" or "no improvement" on the best score so far.
        - Of a certify: "exact" or, with noise, "drawn". An exact value is the holdout's: a count of rows as
          it is, any other rounded to the steps that the target names. It is not the population's.
        - Without a value: "failed" if the model or the metric failed on the holdout, which has a cost;
          "refused" if the question was not admitted, which costs nothing. A search raises an error instead:
          `BudgetExhaustedError` where its own question was refused, ValueError where all models failed.
    cost : Cost
        What the answer cost. Not included is the price of learning whether the question was asked before: if
        a model predicts something else than is recorded for the same digest, "different" is paid for, about 7
        nats the first time, even if the new question is then refused.
    certificate : Certificate or None
        What is guaranteed about the interval. None for a refusal.
    index : int
        Position of the record in the ledger.
    levels : tuple of float or None
        For a check by the stable median, which has no interval. The metric on random subsamples has a
        distribution, and the value is between its quantiles at these levels, such as ``(0.3, 0.7)``. A level
        of 0 or 1 says nothing on that side.
    reason : str or None
        Why the question failed or was refused.
    repeated : bool
        True if the identical question had been answered before; ``cost`` is what it cost then. It was
        confirmed that the model still predicts the same on the holdout, for a thousandth of a nat if few
        models differed before.
    published : float or None
        Of a coarse answer: about the half-width that the interval would have if the score were published now
        (`Holdout.publish`). It follows from the guess and from what was released so far, not from the score.
    is_negated : bool
        Of a comparison: True if what is on record is that of the models the other way round.
    guess : float or None
        The score with which the question was asked; None if it had none.
    is_final : bool
        Whether it was published.
    """

    value: float
    interval: tuple[float, float]
    verdict: str
    cost: Cost
    certificate: Certificate | None
    index: int
    levels: tuple[float, float] | None = None
    reason: str | None = None
    repeated: bool = field(default=False, compare=False)
    published: float | None = None
    is_negated: bool = False
    guess: float | None = None
    is_final: bool = False

    @property
    def half_width(self) -> float:
        """Half the width of the interval."""
        low, high = self.interval
        return (high - low) / 2.0

    @property
    def answered(self) -> bool:
        """Whether there is a value."""
        return not math.isnan(self.value)

    def is_above(self, bound: float) -> bool:
        """Return whether the whole interval is above a bound.

        Of a comparison: 0 asks whether the new model is better, a negative bound whether it is not worse by
        so much. False if there is no value, and if nothing is decided yet.

        Parameters
        ----------
        bound : float
        """
        return self.answered and self.interval[0] > bound

    def negated(self) -> Answer:
        """Return the answer about the same quantity with the other sign."""
        low, high = self.interval
        ends = (0.0 - high, 0.0 - low)  # not -0.0
        guess = None if self.guess is None else 0.0 - self.guess
        mirrored = not self.is_negated
        return replace(self, value=0.0 - self.value, interval=ends, guess=guess, is_negated=mirrored)

    @property
    def target(self) -> str | None:
        """The population quantity that the value estimates; None for a refusal."""
        return None if self.certificate is None else self.certificate.target

    def __repr__(self) -> str:
        return f"<Answer: {self}>"

    def __str__(self) -> str:
        return "; ".join(self._lines)

    def _repr_html_(self) -> str:
        shown = [paragraph(*self._lines, strong=1)]
        if self.certificate is not None and self.answered:
            shown.append(folded("certificate", self.certificate._repr_html_()))
        return framed(*shown)

    @property
    def _lines(self) -> list[str]:
        if not self.answered or self.target is None:
            return [self.summary]
        which = " (b: the new model)" if OF_TWO in self.target else ""
        return [self.summary, f"target: {population_of(self.target)}{which}"]

    @property
    def summary(self) -> str:
        """What came of the question and its cost in one line, for tables that name the target elsewhere."""
        if not self.answered:
            return f"{self.verdict}: {self.reason}"
        unsaid = self.is_final or self.verdict in ("agrees", "differs", "exact")
        text = f"{self.in_words()} ({'' if unsaid else f'{self.verdict}, '}{self.cost.nats:.3g} nats)"
        if self.levels is not None:
            # Levels are rounded outwards.
            below, above = math.floor(1000.0 * self.levels[0]), math.ceil(1000.0 * self.levels[1])
            text += f", between the {below / 10:g}% and {above / 10:g}% quantiles of rounded values"
        if self.published is not None and OF_TWO in (self.target or ""):
            text += f", unseal({self.index}) releases its value"
        elif self.published is not None:
            text += f", published now: about +-{in_full(self.published)}"
        if self.reason is not None:
            text += f": {self.reason}"
        return text + (", VACUOUS" if self.certificate is not None and self.certificate.vacuous else "")

    def in_words(self, guess: float | None = None, name: str = "guess") -> str:
        """Return what the holdout says of a score, with as many digits as the interval has meaning for.

        Parameters
        ----------
        guess : float or None, default=None
            The score that was found without the holdout. None: that of the question.
        name : str, default="guess"
            What that score is called.

        Returns
        -------
        str

        Examples
        --------
        >>> from sklearn_ada.answer import Answer, Cost
        >>> coarse = Answer(0.9615, (0.9412, 0.9818), "agrees", Cost(0.04), None, 1, guess=0.9671)
        >>> coarse.in_words()
        'guess .967, not contradicted by the holdout: in [.941, .982]'
        >>> Answer(0.9584, (0.9411, 0.9712), "exact", Cost(2.1), None, 2, is_final=True).in_words()
        'published: .958 in [.941, .972]'
        """
        guess = self.guess if guess is None else guess
        value, ends = shown(self.value, self.interval), f"in {shown_interval(self.interval)}"
        if self.is_final:
            return f"published: {value} {ends}"
        if self.verdict not in ("agrees", "differs") or guess is None:
            parts = _OF_PARTS.match(self.target or "")  # which is no score of all rows
            return f"{f'holdout, median over {parts[1]}' if parts else 'holdout'}: {value} {ends}"
        found, differs = f"{name} {shown(guess, self.interval)}", self.verdict == "differs"
        how = fate(self.verdict, guess, self.interval)
        return f"{found}, {how} by the holdout: {f'about {value} ' if differs else ''}{ends}"


def fate(verdict: str, guess: float | None, interval: tuple[float, float]) -> str:
    """Return in words what became of a guess; the verdict itself where none was examined.

    Examples
    --------
    >>> fate("agrees", 0.9, (0.85, 0.95)), fate("differs", 0.9, (0.8, 0.89)), fate("failed", 0.9, (0.0, 1.0))
    ('not contradicted', 'contradicted', 'failed')
    """
    if verdict not in ("agrees", "differs") or guess is None:
        return verdict
    if not interval[0] <= guess <= interval[1]:
        return "contradicted"
    return "doubted" if verdict == "differs" else "not contradicted"


def population_of(target: str) -> str:
    """Return a target without how a score that is sealed is shown."""
    return _SHOWN_AS.split(target)[0]


def certifies_nothing(answer: Answer) -> bool:
    """Return whether an answer has a value but a vacuous interval."""
    return answer.answered and answer.certificate is not None and answer.certificate.vacuous


def shown(value: float, interval: tuple[float, float], rounding: str = ROUND_HALF_EVEN) -> str:
    """Return a value in text, to two digits of the interval's half-width.

    Examples
    --------
    >>> shown(0.96714, (0.94, 0.98)), shown(-53.21, (-58.0, -49.0)), shown(0.5, (0.5, math.inf))
    ('.967', '-53.2', '.5')
    """
    half_width = (interval[1] - interval[0]) / 2.0
    text = f"{float(Context(4, rounding).create_decimal(repr(float(value)))):.4g}"
    if 0.0 < half_width < math.inf and math.isfinite(value):
        places = max(1 - math.floor(math.log10(half_width)), 0)
        text = str(Decimal(repr(float(value))).quantize(Decimal(1).scaleb(-places), rounding))
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def shown_interval(interval: tuple[float, float]) -> str:
    """Return an interval in text, with ends rounded outwards: what is shown contains what is certified.

    Examples
    --------
    >>> shown_interval((0.94188, 0.98111)), shown_interval((0.0, 1.0))
    ('[.941, .982]', '[.00, 1.00]')
    """
    low, high = interval
    return f"[{shown(low, interval, ROUND_FLOOR)}, {shown(high, interval, ROUND_CEILING)}]"
