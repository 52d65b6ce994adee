"""What a plan costs, and what a certificate costs after many answers."""

from __future__ import annotations

import itertools
import time
from typing import Any

import numpy as np

from benchmarks.speed.finding import Finding
from benchmarks.speed.stored import StoredPredictions
from benchmarks.speed.timing import timed
from benchmarks.validity.simulated import SimulatedHoldout
from sklearn_ada import plan_holdout
from sklearn_ada.accounting.events import Symbol
from sklearn_ada.holdout.asking import with_routes
from sklearn_ada.questions.coded import CodedQuestion
from sklearn_ada.questions.question import Draw, Guess

PLAN_SECONDS = 5.0
CERTIFICATE_MS = 1.0
N_ROWS = 10_000

_PLANS: dict[str, dict[str, Any]] = {
    "width": {"n": 10_000, "n_questions": 1_000},
    "questions": {"n": 1_000_000, "width": 0.05},
    "rows": {"n_questions": 1_000, "width": 0.05},
}


def measure_plans(*, rounds: int) -> list[Finding]:
    """Return the median seconds of a plan, whichever of the three is solved for; all methods are in it.

    Of processor time: a plan does nothing but compute, on one core.
    """
    plan_holdout(**_PLANS["rows"])  # warm
    medians = {
        name: float(np.median([_cpu_seconds(given) for _ in range(rounds)])) for name, given in _PLANS.items()
    }
    shown = ", ".join(f"{name}: {seconds:.2f} s" for name, seconds in medians.items())
    worst = max(medians.values())
    return [
        Finding(
            "plan_holdout, all methods: seconds of one core, the dearest of the three solves",
            worst, f"{worst:.2f} s ({shown})", at_most=PLAN_SECONDS, detail={"medians": medians},
        )
    ]  # fmt: skip


def _cpu_seconds(given: dict[str, Any]) -> float:
    start = time.process_time()
    plan_holdout(**given)
    return time.process_time() - start


def measure_certificates(seed: int, *, ages: tuple[int, ...], repeats: int) -> list[Finding]:
    """Return the cost of one certificate after so many answers: from the state of the log to the interval.

    The model has predicted and the question is planned; nothing is recorded.
    """
    rng = np.random.default_rng(seed)
    holdout = SimulatedHoldout.of_counts(N_ROWS, expected_questions=max(ages))
    seconds: dict[int, list[float]] = {}
    answered = 0
    for age in ages:
        for _ in range(age - answered):
            holdout.ask_count(rng.binomial(N_ROWS, 0.85), "check", _guess(rng))
        answered = age
        seconds[age] = [_certificate(holdout, purpose, _guess(rng)) for purpose in _purposes(repeats)]
    medians = {age: 1e3 * float(np.median(times)) for age, times in seconds.items()}
    oldest = medians[ages[-1]]
    shown = ", ".join(f"{age:,}: {1e3 * median:.0f} us" for age, median in medians.items())
    return [
        Finding(
            f"one certificate after {ages[-1]:,} answers, in ms (checks and certifies, n = {N_ROWS:,})",
            oldest, f"{oldest:.3f} ms (after k answers, {shown})", at_most=CERTIFICATE_MS,
            detail={"medians": medians},
        )
    ]  # fmt: skip


def _guess(rng: np.random.Generator) -> Guess:
    return Guess(rng.binomial(N_ROWS, 0.85) / N_ROWS, N_ROWS)


def _purposes(repeats: int) -> list[str]:
    return list(itertools.islice(itertools.cycle(("check", "certify")), repeats))


def _certificate(holdout: SimulatedHoldout, purpose: str, guess: Guess) -> float:
    """Return the seconds from a symbol and the state of the log to an interval."""
    model = StoredPredictions(np.zeros(N_ROWS))  # never asked
    question = holdout.plan(model, purpose, guess)
    assert isinstance(question, CodedQuestion)
    symbols = (Symbol(question.stream, question.cells.index(0.85), question.scale),)

    def read(state: Any) -> Any:
        share = with_routes(state, question, state.allowance(purpose))
        event, remembered = question.release(symbols, share, Draw(b"", ""))
        return question.outcome(event, share, remembered, None)

    return timed(holdout.ledger.read, read)[0]
