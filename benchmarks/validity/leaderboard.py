"""A leaderboard on random labels, asked by three processes: a plain one climbs, the ledger does not.

``python -m benchmarks.validity.leaderboard 10`` runs ten of them, each with 2,000 submissions to 1,000 rows
whose labels are coins. Whatever is submitted, the expected accuracy on these rows is one half. Participants
attack as Blum and Hardt (2015) describe: they submit coins, keep what was told to be better than one half and
the reverse of what was told to be worse, and every fiftieth submission is the majority of what was kept.
The same participants play against two boards. The plain one tells exact scores, as leaderboards do. The
other is a `Holdout` with one ledger file, which all three processes ask by `Predictions`. What is kept in the
end is the majority of all votes; its score on the plain board is shown with the interval that is usual for
one model, and that on the ledger as it was certified.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_ada import Holdout, Predictions
from sklearn_ada.guarantees import clopper_pearson

__all__ = ["TRUTH", "Board", "leaderboard"]

TRUTH = 0.5
_PROCESSES = 3
_MAJORITY_EVERY = 50
_LEVEL = 0.95

Labels = NDArray[np.int64]
Told = Callable[[Labels], float]


@dataclass(frozen=True)
class Board:
    """What came of one leaderboard.

    Attributes
    ----------
    climb : tuple of float
        Best score on the plain board after 10, 100, 1,000 submissions and after all, of any participant.
    plain, plain_interval : float, tuple of float
        Score of what was kept on the plain board, and the usual 95 % interval of one model.
    kept, interval : float, tuple of float
        The same on the ledger.
    missed : int
        How many intervals of the ledger, of all submissions, miss the truth.
    asked, refused : int
        Submissions that the ledger answered, and those that it refused.
    nats : float
    seconds : float
        Of all submissions to the ledger.
    """

    climb: tuple[float, ...]
    plain: float
    plain_interval: tuple[float, float]
    kept: float
    interval: tuple[float, float]
    missed: int
    asked: int
    refused: int
    nats: float
    seconds: float

    @property
    def plain_misses(self) -> bool:
        """Whether the usual interval misses the truth."""
        return not self.plain_interval[0] <= TRUTH <= self.plain_interval[1]

    @property
    def kept_misses(self) -> bool:
        """Whether the certified interval misses the truth."""
        return not self.interval[0] <= TRUTH <= self.interval[1]


def participate(told: Told, rows: int, submissions: int, seed: list[int]) -> NDArray[np.int64]:
    """Submit so often, and return the votes for label 1 of each row."""
    rng = np.random.default_rng(seed)
    votes = np.zeros(rows, dtype=np.int64)
    for number in range(1, submissions + 1):
        said = majority(votes, rng) if number % _MAJORITY_EVERY == 0 else rng.integers(0, 2, rows)
        score = told(said)
        if not math.isnan(score):
            votes += int(np.sign(score - TRUTH)) * (2 * said - 1)
    return votes


def majority(votes: NDArray[np.int64], rng: np.random.Generator) -> Labels:
    """Return the labels with more votes; a coin where there are as many."""
    return np.where(votes == 0, rng.integers(0, 2, len(votes)), votes > 0).astype(np.int64)


def labels_of(rows: int, seed: int) -> Labels:
    """Return the labels, which nobody but the holder has."""
    return np.random.default_rng([seed, 0]).integers(0, 2, rows)


def opened(rows: int, seed: int, ledger: str, who: str, expected: int) -> Holdout:
    """Return the holdout as each process opens it."""
    return Holdout(
        np.empty((rows, 0)), labels_of(rows, seed), class_mix="priced", ledger=ledger, who=who,
        expected_questions=expected, confidence_level=_LEVEL,
    )  # fmt: skip


def leaderboard(
    seed: int, *, rows: int = 1000, submissions: int = 2000, processes: int = _PROCESSES
) -> Board:
    """Run both boards with the same participants; each process has as many submissions."""
    each = math.ceil(submissions / processes)
    y = labels_of(rows, seed)
    scores: list[list[float]] = []
    plain_votes = np.zeros(rows, dtype=np.int64)
    for process in range(processes):
        scores.append([])

        def plain(said: Labels, seen: list[float] = scores[-1]) -> float:
            seen.append(float(np.mean(said == y)))
            return seen[-1]

        plain_votes += participate(plain, rows, each, [seed, 1, process])
    kept_plain = majority(plain_votes, np.random.default_rng([seed, 2]))
    right = int(np.sum(kept_plain == y))
    in_turn = np.array(scores).T.ravel()
    climb = tuple(float(in_turn[:count].max()) for count in (10, 100, 1000) if count < len(in_turn))

    with tempfile.TemporaryDirectory() as folder:
        ledger = os.path.join(folder, "board.db")
        opened(rows, seed, ledger, "holder", submissions)
        started = time.perf_counter()
        tasks = [(seed, rows, each, process, ledger, submissions) for process in range(processes)]
        with multiprocessing.get_context("spawn").Pool(processes) as pool:
            results = pool.starmap(_asked, tasks, chunksize=1)
        seconds = time.perf_counter() - started
        votes = sum((votes for votes, *_ in results), np.zeros(rows, dtype=np.int64))
        kept = majority(votes, np.random.default_rng([seed, 2]))
        holdout = opened(rows, seed, ledger, "holder", submissions)
        answer = holdout.certify(Predictions(kept), scoring="accuracy", guess=TRUTH)
        report = holdout.report()
    return Board(
        climb=(*climb, float(max(in_turn.max(), right / rows))),
        plain=right / rows,
        plain_interval=clopper_pearson(right, right, rows, math.log(1.0 - _LEVEL)),
        kept=answer.value,
        interval=answer.interval,
        missed=sum(missed for _, missed, _ in results) + (not _contains(answer.interval)),
        asked=sum(report.asked.values()),
        refused=sum(refused for *_, refused in results),
        nats=report.nats,
        seconds=seconds,
    )


def _asked(
    seed: int, rows: int, submissions: int, process: int, ledger: str, expected: int
) -> tuple[NDArray[np.int64], int, int]:
    """Return the votes of one process, how many of its intervals missed, and how many were refused."""
    holdout = opened(rows, seed, ledger, f"process {process}", expected)
    missed = refused = 0

    def told(said: Labels) -> float:
        nonlocal missed, refused
        answer = holdout.check(Predictions(said), scoring="accuracy", guess=TRUTH)
        refused += not answer.answered
        missed += answer.answered and not _contains(answer.interval)
        return answer.value

    return participate(told, rows, submissions, [seed, 1, process]), missed, refused


def _contains(interval: tuple[float, float]) -> bool:
    return interval[0] <= TRUTH <= interval[1]


def main(arguments: list[str] | None = None) -> None:
    """Run several boards and print them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repetitions", type=int, nargs="?", default=5)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--submissions", type=int, default=2000)
    chosen: Any = parser.parse_args(arguments)
    boards = []
    for seed in range(chosen.repetitions):
        board = leaderboard(seed, rows=chosen.rows, submissions=chosen.submissions)
        boards.append(board)
        climb = " ".join(f"{best:.3f}" for best in board.climb)
        (low, high), (certified_low, certified_high) = board.plain_interval, board.interval
        print(
            f"plain best {climb}; kept {board.plain:.3f} [{low:.3f}, {high:.3f}]"
            f"{' MISSES' if board.plain_misses else ''}; ledger {board.kept:.3f} [{certified_low:.3f}, "
            f"{certified_high:.3f}]{' MISSES' if board.kept_misses else ''}; of {board.asked} intervals "
            f"{board.missed} miss; refused {board.refused}; {board.nats:.1f} nats; {board.seconds:.0f} s",
            flush=True,
        )
    print(
        f"the plain board's interval missed {sum(board.plain_misses for board in boards)} times in "
        f"{len(boards)}, the ledger's {sum(board.kept_misses for board in boards)} times"
    )


if __name__ == "__main__":
    main()
