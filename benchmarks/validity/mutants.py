"""Slightly wrong certificates, and attacks under which each of them must be noticed.

    python -m benchmarks.validity.mutants [--conversations 1000]

A mutant is the package itself with one thing patched. Under the same attack the package must hold. A correct
bound is hardly ever missed by a clever analyst, so cleverness alone proves little: the first three mutants
need the tight case, independent coins in one batch, in which the miss rate is close to beta. The last six
draw half the noise that is booked; what is missed then is the law of the answers, of which beta is a tail.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.validity.analysts import class_counts, hill_climbing, probing_refusals, unsealing
from benchmarks.validity.booked_noise import BOOKED
from benchmarks.validity.coverage import consistent
from benchmarks.validity.inquiries import BETA, MECHANISMS, Inquiry
from benchmarks.validity.kernels import (
    laplace_times,
    normal_times,
    quantile_times,
    search_times,
    selection_times,
)
from benchmarks.validity.populations import COINS, HUNDRED_CLASSES, Population
from benchmarks.validity.simulated import SimulatedHoldout
from sklearn_ada.accounting.codes import DescriptionLength, ln_count_prior, symbols_of
from sklearn_ada.guarantees.description_length import PURPOSES, ln_delta, round_weight
from sklearn_ada.holdout.state import RefusedError
from sklearn_ada.mechanisms.rounding import Cells
from sklearn_ada.questions.coded import CodedQuestion
from sklearn_ada.questions.question import Guess, Transcript

__all__ = ["MUTANTS", "Mutant", "coins"]

_LN2 = math.log(2.0)
_COIN_ROWS = 20_000


def coins(rng: np.random.Generator, *, batch: int = 50, beta: float = 0.1) -> bool:
    """Whether any of two batches of coins, one checked and one certified, is missed: the tight case.

    All questions are fixed together, independent, and answered exactly, so that nothing is lost but the
    union bound over independent events and the binomial's steps.
    """
    holdout = SimulatedHoldout.of_counts(_COIN_ROWS, confidence_level=1.0 - beta, check_share=0.5)
    half = {"check": Guess(0.5, _COIN_ROWS), "certify": None}  # a guess would tilt the interval
    for purpose in PURPOSES:  # both, before any answer is seen
        holdout.open_round(batch, purpose, purpose)
    counts = rng.binomial(_COIN_ROWS, 0.5, (2, batch))
    asked = [
        (int(count), purpose, half[purpose], finest)
        for purpose, finest, row in zip(PURPOSES, (0.5 / _COIN_ROWS, None), counts, strict=True)
        for count in row
    ]
    ends = [answer.interval for answer in holdout.ask_counts_together(asked)]
    return any(not low <= 0.5 <= high for low, high in ends)


def _attack(population: Population, mechanism: str, converse: Any, rng: np.random.Generator) -> bool:
    asked = Inquiry(MECHANISMS[mechanism], population, rng)
    converse(asked, rng)
    return asked.missed()


def _coin_at_the_edge(rng: np.random.Generator) -> bool:
    """Whether a coin is missed whose guess holds only because the cell is wide."""
    holdout = SimulatedHoldout.of_counts(300)
    count = int(rng.binomial(300, 0.5))
    low, high = holdout.ask_count(count, "check", Guess(0.75, 300.0), settings=0.3).interval
    return not low <= 0.5 <= high


def _one_side() -> AbstractContextManager[Any]:
    return patch("sklearn_ada.guarantees.intervals.ln_side", lambda ln: min(ln, -_LN2))


def _no_share() -> AbstractContextManager[Any]:
    return patch("sklearn_ada.holdout.state.ln_share", lambda purpose, share: 0.0)


def _no_union() -> AbstractContextManager[Any]:
    real = round_weight
    spent = lambda p, first, size, k: size * real(p, first, size, k)  # noqa: E731
    return patch("sklearn_ada.holdout.state.round_weight", spent)


def _no_price() -> AbstractContextManager[Any]:
    return patch("sklearn_ada.holdout.state.ln_delta", lambda ln, weight, nats: ln_delta(ln, weight, 0))


def _no_ends() -> AbstractContextManager[Any]:
    return patch.object(Cells, "ends", lambda self, index: (self.centre(index), self.centre(index)))


def _free_refusal() -> AbstractContextManager[Any]:
    """Refuse, at no price, checks that would turn out too dear."""
    real = DescriptionLength.price

    def price(self: DescriptionLength, event: Any) -> float:
        nats = real(self, event)
        if symbols_of(event)[0].stream == "cells" and self.nats + nats > 3.0:
            raise RefusedError("too dear")
        return nats

    return patch.object(DescriptionLength, "price", price)


def _free_class_counts() -> AbstractContextManager[Any]:
    """Promise the population's accuracy to an analyst who knows the holdout's class counts."""
    real = CodedQuestion.plan

    def plan(purpose: str, metric: Any, guess: Any, data: Any, policy: Any, *others: Any) -> Any:
        question = real(purpose, metric, guess, data, policy, *others)
        return replace(question, target=question.target.replace(f" at the holdout's {metric.mix}", ""))

    return patch.object(CodedQuestion, "plan", plan)


def _coins_in_cells(rng: np.random.Generator, n: int = 500, questions: int = 60, beta: float = 0.4) -> bool:
    """Whether a coin is missed whose cell begins where a surprise is as rare as the level: the tight case.

    Guesses are off by so much that the next cell begins 1.7 standard errors above the truth. The transcript
    has a fifth of beta, and its level is nearly that far in the tail.
    """
    # Under a tolerance, if one that never refuses, cells keep their width and no interval is tilted.
    plain = {"answers": "coarse", "tolerance": 0.5}
    holdout = SimulatedHoldout.of_counts(n, confidence_level=1.0 - beta, **plain)
    error = 0.5 / math.sqrt(n)
    guess = Guess(0.5 - (2.5 * math.sqrt(2.0) - 1.7) * error, float(n))
    for _ in range(questions):
        low, high = holdout.ask_count(int(rng.binomial(n, 0.5)), "certify", guess).interval
        if not low <= 0.5 <= high:
            return True
    return False


def _no_own_price() -> AbstractContextManager[Any]:
    """Let the transcript's test leave out what its own answer costs."""
    told = lambda state, event, at_least=0.0: Transcript(  # noqa: E731
        state.policy.ln_transcript, max(at_least, state.account.nats)
    )
    return patch("sklearn_ada.holdout.asking.transcript_of", told)


def _free_unsealing() -> AbstractContextManager[Any]:
    """Tell what is sealed for nothing."""
    return patch(
        "sklearn_ada.accounting.codes.ln_count_prior",
        lambda symbol: 0.0 if symbol.stream == "unsealed" else ln_count_prior(symbol),
    )


@dataclass(frozen=True)
class Mutant:
    """One thing that could be forgotten.

    Parameters
    ----------
    patched : callable
        Returns the context in which it is forgotten.
    attack : callable
        Takes a generator; whether a certificate was wrong.
    beta : float
        What the certificates promise.
    """

    patched: Callable[[], AbstractContextManager[Any]]
    attack: Callable[[np.random.Generator], bool]
    beta: float = BETA

    def misses(self, conversations: int, *, mutated: bool, seed: int = 0) -> int:
        """Return how many seeded conversations are missed, by the package as it is or by the mutant."""
        with self.patched() if mutated else nullcontext():
            return sum(self.attack(np.random.default_rng([seed, run])) for run in range(conversations))


_HALVED = {
    "Gaussian": normal_times,
    "Thresholdout, Laplace": laplace_times,
    "Thresholdout, Gaussian": normal_times,
    "median, exponential": quantile_times,
    "median, binary search": search_times,
    "selection": selection_times,
}

MUTANTS = {
    "no ln 2 for two sides": Mutant(_one_side, coins, 0.1),
    "no share of beta": Mutant(_no_share, coins, 0.1),
    "no union over a round (G)": Mutant(_no_union, coins, 0.1),
    "no price of earlier answers (L)": Mutant(_no_price, partial(_attack, COINS, "certify", hill_climbing)),
    "cell ends omitted": Mutant(_no_ends, _coin_at_the_edge),
    "free refusal": Mutant(_free_refusal, partial(_attack, COINS, "check, then certify", probing_refusals)),
    "free class counts": Mutant(
        _free_class_counts, partial(_attack, HUNDRED_CLASSES, "certify", class_counts)
    ),
    "no price of the own answer": Mutant(_no_own_price, _coins_in_cells, 0.4),
    "free unsealing": Mutant(_free_unsealing, partial(_attack, COINS, "cells, then a final", unsealing)),
    **{
        f"half the noise: {name}": Mutant(partial(times, 0.5), BOOKED[name], BOOKED[name].beta)
        for name, times in _HALVED.items()
    },
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--conversations", type=int, default=1000)
    runs = parser.parse_args().conversations
    print(f"conversations with a wrong interval, of {runs}, under the same attack (seed 0)")
    print(f"{'mutant':40}{'beta':>7}{'package':>9}{'mutant':>8}  noticed")
    unmutated: dict[Any, int] = {}  # of each attack, which may serve several mutants
    for name, mutant in MUTANTS.items():
        if mutant.attack not in unmutated:
            unmutated[mutant.attack] = mutant.misses(runs, mutated=False)
        real, wrong = unmutated[mutant.attack], mutant.misses(runs, mutated=True)
        verdict = (
            "yes" if consistent(real, runs, mutant.beta) > consistent(wrong, runs, mutant.beta) else "NO"
        )
        print(f"{name:40}{mutant.beta:>7.3g}{real:>9}{wrong:>8}  {verdict}", flush=True)


if __name__ == "__main__":
    main()
