"""State what a question is, and what goes into it and comes out: a guess, draws and an outcome.

All but the answer is fixed before the holdout is looked at. What happens to a question, in the order of the
methods of `Question`: `describe` says what is fixed; `why_exhausted` and `foreseen_half_width` decide whether
it is admitted, without the holdout; `evaluate` looks at the holdout; `release` turns what was seen into
symbols, with noise if need be; `outcome` turns these into an interval.

A *guess* is an estimate of the metric from rows that are not the holdout's. A *draw* is noise as a function
of the ledger's secret and the question: asked again, it is the same. An *outcome* is value, interval and
verdict, the part of a record that becomes an `Answer`.
"""

from __future__ import annotations

import hashlib
import hmac
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sklearn_ada._validation import bad_parameter, check_option, check_real
from sklearn_ada.accounting.events import Event, Symbol
from sklearn_ada.answer import VERDICTS
from sklearn_ada.data.labels import check_labels, n_rows
from sklearn_ada.digest.canonical import canonical_digest
from sklearn_ada.digest.rows import rows_digest
from sklearn_ada.exceptions import UnsupportedEventError
from sklearn_ada.guarantees import description_length
from sklearn_ada.guarantees import transfer as direct_transfer
from sklearn_ada.metrics.base import UndefinedMetricError
from sklearn_ada.metrics.metric import Metric, undefined_metric
from sklearn_ada.metrics.outputs import StoredOutputs
from sklearn_ada.questions.seals import Seal
from sklearn_ada.terms.holdout_data import HoldoutData
from sklearn_ada.terms.outputs import Observation
from sklearn_ada.terms.policy import Allowance
from sklearn_ada.terms.privacy_account import PrivateRelease, TransferAllowance

Seen = Any
"""What one look gave: of the type that a class's `evaluate` makes and its `release` takes."""
Failure = tuple[Symbol, ...]
"""The symbols of a failure, which stand where a value would."""
Released = tuple[Event, dict[str, Any]]
"""The event of what is released, and what the mechanism remembers of it."""


class Question(ABC):
    """One question to a holdout; all but the answer is fixed before the look.

    A mechanism is a class of questions in a module of its own. It says what is fixed (`describe`), how wide
    an answer can be (`half_width_bound`), what a look gives (`evaluate`), what of that is released
    (`release`) and what is certified by it (`described_outcome`). Where there is noise, `private_half_width`
    and `private_outcome` say the same for the privacy route.
    """

    purpose: str
    """The purpose, "check" or "certify"; each has its part of the failure probability."""
    metric: Metric
    guess: Guess | None
    """What the answer is expected to be; None if nothing is."""
    stream: str
    """The code that prices its first symbol (`sklearn_ada.accounting.codes`)."""
    scale: float
    """How large that code expects the symbol to be; 0 where the code has no such parameter."""
    target: str
    """The population quantity that is certified."""
    memory_name: str = ""
    """Name under which its mechanism remembers earlier questions; empty if it remembers nothing."""
    seal: Seal | None = None
    """What is sealed while only its cell, or its window, is released; None if the answer is all there is."""
    n_subsamples: int | None = None
    """Of how many subsamples it takes the median; None if of none."""
    may_use_all_rows: bool = False
    """Whether an interval that is a function of all rows may be narrower."""

    settings_type: ClassVar[type | None] = None
    """The class of ``settings`` that asks for this mechanism."""
    first_word: ClassVar[str] = ""
    """How the mechanism's name in records begins; empty where its purpose is its name."""
    purposes: ClassVar[tuple[str, ...]] = ("check", "certify")
    """What settings of its own may be given for."""
    may_be_declared: ClassVar[bool] = False
    """Whether its interval may rest on a family of models that was declared beforehand."""
    is_drawn: bool = False
    """Whether its noise, its subsamples or the ends of its interval are drawn from the ledger's secret."""
    needs_interval: ClassVar[bool] = True
    """Whether the metric must have an interval of its own."""
    improvements_only: ClassVar[bool] = False
    """Whether no more is released than by how much the best so far is beaten, if it is."""
    is_found_by_subject: ClassVar[bool] = False
    """Whether any record about model and metric is one of this question, whatever its guess was."""

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if cls.settings_type is not None and "settings_type" in vars(cls):
            QUESTIONS[cls.settings_type] = cls
        FIRST_WORDS.update({cls.first_word} - {""})

    @property
    def at_once(self) -> bool:
        """Whether an exact value is released at once, which takes more of the budget."""
        return self.purpose == "certify" and self.seal is None

    @property
    def exact(self) -> Question:
        """The same question, answered at once."""
        return self

    @property
    def untilted(self) -> Question:
        """The same question, with an interval that no guess tunes."""
        return self

    def after(self, transcript_of: Callable[[Event], Transcript] | None) -> Question:
        """Return the question as it is asked after some records.

        ``transcript_of`` gives what the transcript theorem takes once an event is recorded; None where that
        does not hold.
        """
        return self

    def coarse(self, seen: Seen) -> Any:
        """Return what is released of what was seen, ready for JSON, where all that tells more is left out."""
        symbols = seen if isinstance(seen, tuple) and all(isinstance(each, Symbol) for each in seen) else ()
        return [symbol.to_dict() for symbol in symbols]

    def sealing(self, seen: Seen | Failure, allowance: Allowance, draw: Draw) -> tuple[Released, Any]:
        """Return what `release` does, and what is sealed beside it: of a question with a seal."""
        return self.release(seen, allowance, draw), seen

    def point(self, seen: Seen, ln_delta: float, draw: Draw, final: float) -> Any:
        """Return what is published: at the level of the asking, and at that of a final."""
        return seen

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """Return everything that is fixed, ready for JSON."""

    def chosen(self) -> dict[str, Any] | None:
        """Return what the asker has chosen of the mechanism, where nothing else makes it another question.

        None where the guess does: noise is drawn anew around another one.
        """
        return None

    def why_exhausted(self, memory: dict[str, Any]) -> str | None:
        """Return why the mechanism answers no more, judged from what it remembers, or None."""
        return None

    def private_release(self, memory: dict[str, Any]) -> PrivateRelease | None:
        """Return what it may cost of the privacy budget; None if it is not private."""
        return None

    def expected_symbols(self, allowance: Allowance) -> tuple[Any, ...]:
        """Return what would be released if the guess were exact: number 0 of everything."""
        return (Symbol(self.stream, 0, self.scale),)

    @abstractmethod
    def half_width_bound(self, allowance: Allowance) -> tuple[float, float]:
        """Return the worst half-width of the answer, and the width of the metric's range."""

    def private_half_width(self, transfer: TransferAllowance) -> float:
        """Return the worst half-width by the privacy route, in the units of `half_width_bound`."""
        return math.inf

    def foreseen_half_width(
        self, allowance: Allowance, transcript_of: Callable[[Event], Transcript]
    ) -> tuple[float, float]:
        """Return the half-width that decides on admission, and the width of the range.

        It is the worst there can be, by the better route. ``transcript_of`` gives what the transcript theorem
        takes once an event is recorded.
        """
        half, width = self.half_width_bound(allowance)
        bounds = [half] if allowance.described else []
        if allowance.transfer is not None:
            bounds.append(self.private_half_width(allowance.transfer))
        return min(bounds, default=math.inf), width

    @abstractmethod
    def evaluate(self, estimator: Any, data: HoldoutData) -> Observation:
        """Look at the holdout and return what was seen, which nobody is shown before `release`.

        What the model raises becomes a failure (`sklearn_ada.holdout.looking`).
        """

    @abstractmethod
    def release(self, seen: Seen | Failure, allowance: Allowance, draw: Draw) -> Released:
        """Return the event of what is released, and what the mechanism remembers of it."""

    @abstractmethod
    def described_outcome(self, event: Event, allowance: Allowance, memory: dict[str, Any]) -> Outcome:
        """Return value and interval by description length."""

    def private_outcome(self, event: Event, allowance: Allowance) -> Outcome:
        """Return value and interval by the privacy route."""
        raise UnsupportedEventError("An answer without noise has no certificate by privacy.")

    def outcome(
        self, event: Event, allowance: Allowance, memory: dict[str, Any], transcript: Transcript | None
    ) -> Outcome:
        """Return value and interval of what was released, by every route that certifies it.

        ``transcript`` is what the transcript theorem takes; None where it does not hold.
        """
        described = self.described_outcome(event, allowance, memory) if allowance.described else None
        if allowance.transfer is None:
            assert described is not None  # a question without any route was refused
            return described
        private = replace(self.private_outcome(event, allowance), route="differential_privacy")
        if described is None or described.verdict == "failed":
            return private
        levels = described.levels
        if levels is not None and private.levels is not None:
            levels = (max(levels[0], private.levels[0]), min(levels[1], private.levels[1]))
        interval = description_length.intersection(described.interval, [private.interval])
        theorem, vacuous = f"{described.theorem}; {private.theorem}", described.vacuous and private.vacuous
        made = replace(described, interval=interval, levels=levels, theorem=theorem, vacuous=vacuous)
        return replace(made, route="both")


QUESTIONS: dict[type, type[Question]] = {}
"""The class of questions for each class of settings."""
FIRST_WORDS: set[str] = set()
"""How the names of mechanisms in records begin."""


def question_class(settings: object) -> type[Question] | None:
    """Return the class of questions that settings ask for; None if there is none."""
    if isinstance(settings, Real) and not isinstance(settings, bool):
        return QUESTIONS[float]
    return QUESTIONS.get(type(settings))


@dataclass(frozen=True)
class Guess:
    """Hold a score that was found without the holdout, and its precision.

    An interval is valid whatever the guess is, but a good guess makes it narrower and a bad one wider. One of
    three times as many rows as the holdout has, that is 0, 1, 2 or 3 standard errors off, makes the exact
    interval of a count .86, .89, .99 or 1.11 times as wide as without a guess; none can make it narrower than
    .85 times. That is so of a holdout that is used once, too (`sklearn_ada.guarantees.Tilt`).

    Attributes
    ----------
    value : float
        The estimate, in units of the metric.
    size : float or None
        Number of independent terms behind it, in [1e-15, 1e15]; for a mean, the number of rows. None for a
        number that does not come from rows.
    deviation : float or None
        Standard deviation of one term, in [0, 1e100].
    share : float or None
        ``size`` divided by the number of rows. It suggests how large the denominator of a ratio such as F1 is
        on the holdout.
    outputs : str
        Digest of the model's outputs on the rows that the guess is from. Where privacy certifies, guesses
        with different digests make different questions.
    rows : str
        Digest of these rows and their labels. Where description length certifies, guesses with different
        digests make different questions.
    details : object
        What else the rows suggest, for an interval that is a function of all rows. It is not recorded.
    """

    value: float
    size: float | None = None
    deviation: float | None = None
    share: float | None = None
    outputs: str = ""
    rows: str = ""
    details: Any = field(default=None, repr=False, compare=False)

    def describe(self) -> dict[str, Any]:
        """Return a JSON-ready description."""
        return {"value": self.value, "size": self.size, "deviation": self.deviation, "share": self.share}


_PRECISION = {"size": (1e-15, 1e15), "deviation": (0.0, 1e100), "share": (0.0, 1e15)}  # so nothing overflows


def as_guess(guess: object, metric: Metric, owner: str) -> Guess | None:
    """Return a number or `Guess` as a `Guess`, checked against the metric's range."""
    if guess is None:
        return None
    value = guess.value if isinstance(guess, Guess) else guess
    low, high = metric.range or (-np.inf, np.inf)
    fix = "A guess is an estimate of the metric from validation data."
    number = check_real(value, "guess", owner, low=low, high=high, closed="both", fix=fix)
    if not isinstance(guess, Guess):
        return Guess(number)
    for name, (least, most) in _PRECISION.items():
        if getattr(guess, name) is not None:
            check_real(getattr(guess, name), name, "Guess", low=least, high=most, closed="both")
    return guess


def in_short(guess: Guess, metric: Metric) -> Guess:
    """Return a guess with fewer digits: the shorter a record is, the more of them are on one page."""
    given = {name: getattr(guess, name) for name in _PRECISION}
    fewer: dict[str, Any] = {name: rounded(each) for name, each in given.items() if each is not None}
    low, high = metric.bounds
    return replace(guess, value=min(max(rounded(guess.value, 12), low), high), **fewer)


def guess_from_rows(metric: Metric, estimator: Any, X: Any, y: Any) -> Guess:
    """Return the metric on validation rows as a guess.

    Raises
    ------
    ValueError
        If y is no column of labels, or the metric has no value there.
    """
    with _labels_of(metric, X, y) as labels:
        metric.certified_measure.size(labels)  # says more of classes than outputs do
        outputs = metric.outputs(estimator, X, labels)
        measured = metric.measured(estimator, labels, outputs)
    value, share = _finite(measured.value, metric), measured.size / len(labels)
    guess = Guess(value, float(measured.size), measured.deviation, share, details=measured.details)
    return _identified(guess, X, labels, outputs)


def tuned_metric(metric: Metric, estimator: Any, X: Any, y: Any) -> Metric:
    """Return a metric with what validation rows suggest: its range, or the scale of all rows.

    Raises
    ------
    ValueError
        If y is no column of labels, or the metric has no value for these rows.
    """
    with _labels_of(metric, X, y) as labels:
        return metric.tuned(estimator, X, labels)


_LEAST_SUBSAMPLES = 5


def median_guess_from_rows(metric: Metric, estimator: Any, X: Any, y: Any, subsample_size: int) -> Guess:
    """Return the guess for a stable median: the median of the metric over subsamples of validation rows.

    With fewer than five subsamples of this size it is the metric on all rows, and the deviation is scaled
    from smaller subsamples.
    """
    with _labels_of(metric, X, y) as labels:
        metric.check_classes(labels)
    order = np.random.default_rng(0).permutation(len(labels))
    count = len(labels) // subsample_size
    enough = count >= _LEAST_SUBSAMPLES
    if not enough:
        count = _LEAST_SUBSAMPLES if len(labels) >= 2 * _LEAST_SUBSAMPLES else 1
    size = len(labels) // count
    outputs = metric.block_outputs(estimator, X, labels)
    rows = order[: count * size].reshape(count, size)
    values = metric.blocks_of(outputs, estimator, X, labels, rows)
    values = values[np.isfinite(values)]
    if not enough or not len(values):
        centre = _finite(metric.whole(estimator, X, labels, outputs), metric)
    else:
        centre = float(np.median(values))
    spread = float(np.std(values)) * math.sqrt(size / subsample_size) if len(values) > 1 else abs(centre)
    if outputs is None:
        outputs = np.asarray(estimator.predict(X))
    predicted = outputs.outputs if isinstance(outputs, StoredOutputs) else outputs
    return _identified(Guess(centre, float(count), spread), X, labels, predicted)


def _identified(guess: Guess, X: Any, labels: NDArray[Any], outputs: Any) -> Guess:
    """Add the digests of outputs, to nine digits, and rows.

    If the rows cannot be read, that of the outputs stands for both.
    """
    digest = canonical_digest(_to_nine_digits(outputs))
    try:
        return replace(guess, outputs=digest, rows=rows_digest(X, labels))
    except ValueError:
        return replace(guess, outputs=digest, rows=digest)


def _to_nine_digits(outputs: Any) -> Any:
    """Return floats to nine digits or so: last bits depend on the order in which threads add.

    Each by its own size, down to a billionth of the middle one, so that one that is huge hides no other. The
    step is no round number, as numbers such as 1/2 would then lie between two multiples.
    """
    if not isinstance(outputs, np.ndarray) or outputs.dtype.kind != "f":
        return outputs
    wide = outputs.astype(np.float64)
    sizes = np.abs(wide[np.isfinite(wide) & (wide != 0.0)])
    middle, step = (float(np.median(sizes)) if len(sizes) else 1.0), 1e-9 / math.pi
    with np.errstate(over="ignore"):
        return [np.round(np.arcsinh(wide / middle) / step) + 0.0, round(math.log(middle) / step)]


@contextmanager
def _labels_of(metric: Metric, X: Any, y: Any) -> Iterator[NDArray[Any]]:
    """Check y of a guess's rows like the y of a holdout; in the block, errors say how to mend it."""
    labels = check_labels(y, metric.name)
    if len(labels) != n_rows(X):
        expected = f"as long as X, which has {n_rows(X)} rows"
        raise bad_parameter("y", metric.name, expected, f"{len(labels)} values")
    try:
        metric.check_target(labels)
        yield labels
    except UndefinedMetricError as error:
        fix = "Give validation rows of every class that the model knows."
        raise undefined_metric(metric, labels, error, metric.name, fix) from error


def _finite(value: float, metric: Metric) -> float:
    return check_real(value, "guess", metric.name, fix="The metric is undefined on the validation rows.")


@dataclass(frozen=True)
class Draw:
    """The random generators of one question, and what its mechanism remembers of earlier questions.

    Parameters
    ----------
    secret : bytes
        The ledger's.
    key : str
        Identity of the question.
    memory : dict
        What the mechanism recorded last; empty at first, and for mechanisms that remember nothing.
    """

    secret: bytes = field(repr=False)
    key: str
    memory: dict[str, Any] = field(default_factory=dict)

    def own_generator(self) -> np.random.Generator:
        """Return a generator for this question alone."""
        return self._generator(f"question {self.key}")

    def shared_generator(self, name: str, number: int) -> np.random.Generator:
        """Return a generator for successive questions that have noise in common, as in Thresholdout."""
        return self._generator(f"run {name} {number}")

    def _generator(self, label: str) -> np.random.Generator:
        seed = hmac.new(self.secret, label.encode(), hashlib.sha256).digest()
        return np.random.default_rng(int.from_bytes(seed, "little"))


_THEOREMS = {
    "description_length": description_length.THEOREM,
    "differential_privacy": direct_transfer.THEOREM,
    "both": f"{description_length.THEOREM} and {direct_transfer.THEOREM}, each with half of the failure "
    "probability",
}


@dataclass(frozen=True)
class Outcome:
    """A value and its interval, or the reason why there is none.

    The attributes are those of `sklearn_ada.answer.Answer` and its certificate; ``verdict`` is one of
    `VERDICTS`, so that whatever shows answers knows all there can be. ``theorem`` is only the part of the
    metric and mechanism: `full_theorem` adds the one of the route. In JSON, NaN and infinity are None.
    """

    value: float
    interval: tuple[float, float]
    verdict: str
    theorem: str
    target: str
    vacuous: bool
    levels: tuple[float, float] | None = None
    reason: str | None = None
    route: str = "description_length"

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            check_option(self.verdict, "verdict", "Outcome", VERDICTS)
        if self.route not in _THEOREMS:
            check_option(self.route, "route", "Outcome", tuple(_THEOREMS))
        if not (isinstance(self.target, str) and isinstance(self.theorem, str)):
            raise TypeError("The target and the theorem of an outcome are texts.")

    @classmethod
    def failed(cls, reason: str, bounds: tuple[float, float], target: str) -> Outcome:
        """Return the outcome of a question that the holdout could not answer."""
        return cls(math.nan, bounds, "failed", "none: the question failed", target, True, reason=reason)

    @property
    def full_theorem(self) -> str:
        """The theorems of the route, which allows for adaptive questions, and of the metric."""
        return f"{_THEOREMS[self.route]}; {self.theorem}"

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-ready dict, without reason or route where these are as usual."""
        body = {**vars(self), "value": finite_or_none(self.value)}
        for name in ("reason", "route"):
            if body[name] == getattr(Outcome, name):
                del body[name]
        return body | {"interval": [finite_or_none(end) for end in self.interval]}

    @classmethod
    def from_dict(cls, body: dict[str, Any]) -> Self:
        """Return the outcome that `to_dict` described."""
        low, high = body["interval"]
        ends = -math.inf if low is None else float(low), math.inf if high is None else float(high)
        value = math.nan if body["value"] is None else float(body["value"])
        levels = None if body["levels"] is None else tuple(body["levels"])
        return cls(**{**body, "value": value, "interval": ends, "levels": levels})


def rounded(number: float, digits: int = 6) -> float:
    """Return a number that foresees, which is the same on every machine and short on record."""
    return float(f"{number:.{digits}g}")


def finite_or_none(value: float) -> float | None:
    """Return a finite number; None for others, as JSON has neither infinity nor NaN."""
    return float(value) if math.isfinite(value) else None


@dataclass(frozen=True)
class Transcript:
    """What the transcript theorem takes: its level, and the nats with the own price.

    Attributes
    ----------
    ln_beta : float
    nats : float
    """

    ln_beta: float
    nats: float
