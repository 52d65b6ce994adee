"""Measure the widths of all candidates of one search that are asked about on a holdout of sealed answers.

    python -m benchmarks.validity.candidates [--rows 10000] [--seeds 20] [--spread 0.02]

The candidates of a search are one round: ``k`` guesses from ``n`` rows, each checked on ``n`` others. Printed
for k = 100 and 1,000, all at 95 % at once, over the seeds:

- searching: the half-width of a check that agrees, once the round is closed (median);
- closed: the half-width of all exact values, unsealed in the end (median);
- kept: the exact value of the candidate with the best guess, published, over that of a single use (median,
  and the widest);
- over Guess-and-Check: the *widest* check that agrees over Guess-and-Check's tau, which is tuned in hindsight
  on the same guesses and values (median, quartiles).

``--spread`` is the standard deviation of the true accuracies around .85. Guess-and-Check has one tau for all
questions, so it pays for the widest of them; of ours the widest is that of the lowest accuracy.
"""

from __future__ import annotations

import argparse
import math

import numpy as np
from numpy.typing import NDArray

from benchmarks.validity.guess_and_check import smallest_tau
from benchmarks.validity.searches import single_use
from benchmarks.validity.simulated import SimulatedHoldout
from sklearn_ada.answer import Answer
from sklearn_ada.holdout.asking import put_question
from sklearn_ada.holdout.framing import Ask
from sklearn_ada.holdout.holdout import session_of
from sklearn_ada.holdout.session import close_round
from sklearn_ada.questions.question import Guess
from sklearn_ada.terms.models import Subject

__all__ = ["asked", "draw", "publish_best", "widths"]

SIZES = (100, 1_000)


def draw(n: int, size: int, seed: int, spread: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how many of n guess rows, and of n holdout rows, each candidate gets right."""
    rng = np.random.default_rng([seed, n, size])
    accuracies = np.clip(rng.normal(0.85, spread, size), 0.0, 1.0)
    return rng.binomial(n, accuracies), rng.binomial(n, accuracies)


def asked(
    guesses: NDArray[np.int64],
    counts: NDArray[np.int64],
    n: int,
    *,
    guess_rows: int | None = None,
    seed: int = 0,
) -> tuple[SimulatedHoldout, list[Answer]]:
    """Ask about all candidates as one round, close it, and return the holdout and its answers."""
    holdout = SimulatedHoldout.of_counts(n, answers="coarse", seed=seed)
    session, size, rows = session_of(holdout), len(guesses), guess_rows or n
    name = holdout.open_round(size, "check", "search")
    for number, (guess, count) in enumerate(zip(guesses, counts, strict=True)):
        model = holdout.model_of_count(int(count))
        question = holdout.plan(model, "check", Guess(guess / rows, rows))
        subject = Subject(model, f"candidate {number}", "any", "simulated")
        asked = Ask(subject, question.metric, "check", round_name=name, candidates=size)
        put_question(session, asked, question)
    close_round(session.ledger, session.asker, "search")
    sealed = [record.seq for record in holdout.ledger.records() if record.body.get("kind") == "sealed"]
    answers = [session.recorded_answer(number) for number in sealed]
    return holdout, [answer for answer in answers if answer is not None]


def publish_best(
    holdout: SimulatedHoldout, guesses: NDArray[np.int64], counts: NDArray[np.int64], guess_rows: int
) -> Answer:
    """Refit the candidate of the best guess, publish it, and return its exact answer."""
    kept = int(np.argmax(guesses))
    model = holdout.model_of_count(int(counts[kept]))
    question = holdout.plan(model, "certify", Guess(guesses[kept] / guess_rows, guess_rows))
    holdout.put_new(question, model)
    return holdout.publish_last(question, model)


def widths(n: int, size: int, seed: int, spread: float) -> dict[str, float]:
    """Return the widths of one search."""
    guesses, counts = draw(n, size, seed, spread)
    holdout, told = asked(guesses, counts, n)
    agreeing = [answer.half_width for answer in told if answer.verdict == "agrees"]
    kept = int(np.argmax(guesses))
    published = publish_best(holdout, guesses, counts, n)
    holdout.close()
    return {
        "searching": float(np.median(agreeing)),
        "closed": float(np.median([answer.half_width for answer in holdout.unseal_quietly()])),
        "kept": published.half_width / single_use(int(counts[kept]), n),
        "over Guess-and-Check": max(agreeing) / smallest_tau(guesses / n, counts / n, n),
        "surprises": float(size - len(agreeing)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--spread", type=float, default=0.02)
    options = parser.parse_args()
    print(f"n = {options.rows:,}; accuracies N(.85, {options.spread:g}); seeds 0 to {options.seeds - 1}")
    for size in SIZES:
        runs = [widths(options.rows, size, seed, options.spread) for seed in range(options.seeds)]
        of = {name: np.array([run[name] for run in runs]) for name in runs[0]}
        low, middle, high = np.quantile(of["over Guess-and-Check"], [0.25, 0.5, 0.75])
        print(
            f"k = {size:>5,}: searching +-{np.median(of['searching']):.4f}, "
            f"closed +-{np.median(of['closed']):.4f}, "
            f"kept {np.median(of['kept']):.3f} (widest {of['kept'].max():.2f}), "
            f"over Guess-and-Check {middle:.3f} ({low:.3f} to {high:.3f}), "
            f"surprises a search {math.fsum(of['surprises']) / len(runs):.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
