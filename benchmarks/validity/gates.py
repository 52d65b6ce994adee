"""Print how often somebody breaks a gate who keeps whatever it lets pass, where nothing is better.

    python -m benchmarks.validity.gates [--conversations 1000] [--only models]

No feature has anything to do with y, so all models are equally good. The analyst adds one feature after the
other to the model that is kept, and asks how much better that is, with a guess that is off by as much as
makes the announced window hold half of the time. What passes is kept, and the next is compared with it; what
does not pass goes in with the other sign. In between he asks about scores, has a difference unsealed, and
asks whether the kept model is better than the first one, which he publishes in the end; then everything is
unsealed. A conversation is missed if anything that was shown, unsealed or published does not contain the
truth: a model that the gate lets pass as better is a miss. The naive gate has the values, keeps what is
better, and the normal interval of the last score.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from typing import Any

import numpy as np
from scipy import stats

from benchmarks.validity.simulated import SimulatedHoldout
from benchmarks.validity.window_conversations import BETA, FEATURES, ROWS, Vote
from sklearn_ada import Predictions
from sklearn_ada.answer import Answer

__all__ = ["GATES", "conversation", "missed_by_naive"]

GATES = ("models", "models, class counts paid for", "predictions")
_VALIDATION_ROWS = 450


class Gate:
    """A holdout whose labels are coins, asked about votes or about what they predict.

    Parameters
    ----------
    kind : str
        One of `GATES`.
    seed : int
    """

    def __init__(self, kind: str, seed: int) -> None:
        rng = np.random.default_rng([46, seed])
        self.of_predictions = kind == "predictions"
        self.X, y = rng.normal(size=(ROWS, FEATURES)), rng.permutation(np.arange(ROWS) % 2)
        self.X_val = rng.normal(size=(_VALIDATION_ROWS, FEATURES))
        mix = "conditional" if kind == "models" else "priced"
        rows = np.empty((ROWS, 0)) if self.of_predictions else self.X
        how: dict[str, Any] = {"answers": "coarse", "confidence_level": 1.0 - BETA, "class_mix": mix}
        self.holdout = SimulatedHoldout(rows, y, seed=seed, scoring="accuracy", **how)
        self.asked: list[tuple[Answer, float]] = []

    def compare(self, a: Vote, b: Vote, guess: float) -> Answer:
        """Ask how much better b is than a, with validation rows that say so."""
        one, other = a.predict(self.X_val), b.predict(self.X_val)
        y, differ = other.copy(), np.flatnonzero(one != other)
        worse = round((len(differ) - guess * _VALIDATION_ROWS) / 2.0)
        y[differ[: min(max(worse, 0), len(differ))]] ^= 1
        public: Any = (Predictions(one), Predictions(other)) if self.of_predictions else self.X_val
        pair = [self._as_asked(each) for each in (a, b)]
        answer = self.holdout.compare(*pair, scoring="accuracy", guess_from=(public, y))
        self.asked.append((answer, 0.0))
        return answer

    def score(self, model: Vote, guess: float, *, publish: bool = False) -> Answer:
        """Ask about a score, or publish it."""
        ask = self.holdout.publish if publish else self.holdout.certify
        answer = ask(self._as_asked(model), scoring="accuracy", guess=guess)
        self.asked.append((answer, 0.5))
        return answer

    def _as_asked(self, model: Vote) -> Any:
        return Predictions(model.predict(self.X)) if self.of_predictions else model

    def unseal(self, answers: list[Answer] | None = None) -> None:
        """Have exact values of differences and scores, each of which is about its own truth."""
        truths = {answer.index: truth for answer, truth in self.asked}
        for answer in self.holdout.unseal_quietly(answers):
            record = self.holdout.ledger.record(answer.index)
            assert record is not None
            self.asked.append((answer, truths[int(record.body.get("of", answer.index))]))

    def missed(self) -> bool:
        """Return whether anything was wrong about its own truth."""
        return any(
            not answer.interval[0] - 1e-9 <= truth <= answer.interval[1] + 1e-9
            for answer, truth in self.asked
            if answer.answered
        )


def conversation(kind: str, seed: int) -> bool:
    """Return whether any answer of a conversation missed."""
    gate, signs, off = Gate(kind, seed), np.eye(FEATURES)[0], 0.0
    first = Vote(signs)
    for number in range(1, FEATURES):
        step = np.eye(FEATURES)[number]
        answer = gate.compare(Vote(signs), Vote(signs + step), off)
        passes = answer.is_above(0.0) or answer.verdict == "agrees"
        signs = signs + (step if passes else -step)
        record = gate.holdout.ledger.record(answer.index)
        assert record is not None
        # So that it is at an edge, and one answer is as likely as the other.
        fixed = record.body["mechanism"]
        off = min(max(off + (0.5 if passes else -0.5) * fixed["tau"], 0.0), 0.4) or fixed["tau"]
        if number % 5 == 0:
            gate.score(Vote(signs), 0.5 + off)
        if number == FEATURES // 2:
            gate.unseal([answer])
    kept = Vote(signs)
    gate.compare(first, kept, off)
    gate.score(kept, 0.5, publish=True)
    gate.holdout.close()
    gate.unseal()
    return gate.missed()


def missed_by_naive(seed: int) -> bool:
    """Return whether the normal interval of the model misses that is kept by the values themselves."""
    gate, signs = Gate("models", seed), np.eye(FEATURES)[0]
    y = np.random.default_rng([47, seed]).permutation(np.arange(ROWS) % 2)

    def value(signs: Any) -> float:
        return float((Vote(signs).predict(gate.X) == y).mean())

    for number in range(1, FEATURES):
        step = np.eye(FEATURES)[number]
        signs = max((signs + step, signs - step), key=value)
    score = value(signs)
    reach = float(stats.norm.isf(BETA / 2.0)) * math.sqrt(score * (1.0 - score) / ROWS)
    return abs(score - 0.5) > reach


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--conversations", type=int, default=1000)
    parser.add_argument("--only", choices=GATES, action="append")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    seeds = range(given.conversations)
    print(f"misses of {len(seeds)} conversations of {FEATURES} features, {ROWS} rows, beta {BETA}")
    print(f"naive gate: {sum(map(missed_by_naive, seeds))}")
    for kind in given.only or GATES:
        begun = time.perf_counter()
        missed = sum(conversation(kind, seed) for seed in seeds)
        p = stats.binomtest(missed, len(seeds), BETA, alternative="greater").pvalue
        print(f"{kind}: {missed}, p {p:.2g}, {time.perf_counter() - begun:.0f} s", flush=True)


if __name__ == "__main__":
    main()
