"""The correlation analyst of Guess-and-Check (Rogers et al., AISTATS 2020), against their mechanism and ours.

Data of n rows: features and a label of +-1, all fair coins. The analyst asks for the agreement of one
feature after the other with the label, ``(x_j y + 1)/2``; and now and then for the accuracy of the sign
classifier with weights ``ln((1 + c)/(1 - c))``, c from the answers so far: every 100th question
("additive"), or whenever the number of the question is a square. Guesses come from n training rows, on
which that classifier is overfitted, so each of its questions is a surprise. Every true value is one half,
so a wrong interval is seen for what it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.validity.coverage import consistent
from benchmarks.validity.figures.results import Claim, Shown, Table
from benchmarks.validity.guess_and_check import GuessAndCheck
from benchmarks.validity.simulated import SimulatedHoldout
from sklearn_ada import Guess
from sklearn_ada.answer import Answer
from sklearn_ada.planning.display import PUBLISHED, SEARCHING

TITLE = "Guess-and-Check's own analyst (Rogers et al., AISTATS 2020)"
SEED = 2020
TAU, CHECK_SHARE = 0.1, 0.9
LARGE, SMALL = (10_000, 2000), (4000, 300)  # rows, and the horizon that "known" means
MOST = 3000
METHODS = ("Guess-and-Check", "default cells, horizon known", "fill, horizon known", "fill, no horizon")

Ask = Callable[[float, int], float | None]


def additive(number: int) -> bool:
    """Return whether a question, numbered from 1, is an adaptive one: every 100th."""
    return number % 100 == 0


def squares(number: int) -> bool:
    """Return whether a question, numbered from 1, is an adaptive one: 4, 9, 16 and so on."""
    return number > 1 and math.isqrt(number) ** 2 == number


ANALYSTS = {"additive": additive, "squares": squares}


class Data:
    """Training and holdout rows: for every feature, the rows on which it agrees with the label."""

    def __init__(self, seed: int, n: int, features: int) -> None:
        rng = np.random.default_rng([SEED, seed, n])
        bits = rng.integers(0, 2, (2, features, n), dtype=np.int8)
        self.train, self.held = np.float32(2.0) * bits.astype(np.float32) - np.float32(1.0)
        self.guesses, self.counts = bits[0].mean(axis=1), bits[1].sum(axis=1, dtype=np.int64)

    def classifier(self, told: list[float]) -> tuple[float, int]:
        """Return the accuracy in training, and how many holdout rows are right, of the combination."""
        c = np.clip(2.0 * np.array(told) - 1.0, -0.999, 0.999)
        weights = (np.log1p(c) - np.log1p(-c)).astype(np.float32)
        k = len(told)
        return float(np.mean(weights @ self.train[:k] > 0.0)), int(
            np.count_nonzero(weights @ self.held[:k] > 0.0)
        )


def converse(data: Data, ask: Ask, adaptive: Callable[[int], bool], most: int) -> int:
    """Return how many questions are answered."""
    told: list[float] = []
    for number in range(1, most + 1):
        if adaptive(number):
            answer = ask(*data.classifier(told))
        else:
            answer = ask(float(data.guesses[len(told)]), int(data.counts[len(told)]))
            if answer is not None:
                told.append(min(max(answer, 0.0), 1.0))
        if answer is None:
            return number - 1
    return most


def theirs(
    data: Data, n: int, adaptive: Callable[[int], bool], most: int, tau: float = TAU
) -> dict[str, Any]:
    """Return what Guess-and-Check answers."""
    mechanism, missed = GuessAndCheck(n, tau), 0

    def ask(guess: float, count: int) -> float | None:
        nonlocal missed
        answer = mechanism.ask(guess, count / n)
        missed += answer is not None and abs(answer - 0.5) > tau
        return answer

    answered = converse(data, ask, adaptive, most)
    return {"answered": answered, "surprises": mechanism.failures, "missed": missed > 0}


def ours(
    data: Data,
    n: int,
    adaptive: Callable[[int], bool],
    most: int,
    settings: str | None,
    horizon: int | None,
    seed: int,
    tau: float = TAU,
) -> dict[str, Any]:
    """Return what a `Holdout` answers within the tolerance."""
    holdout = SimulatedHoldout.of_counts(
        n, seed=seed, tolerance=tau, expected_questions=horizon, check_share=CHECK_SHARE
    )
    answers: list[Answer] = []

    def ask(guess: float, count: int) -> float | None:
        answer = holdout.ask_count(count, "check", Guess(guess, float(n)), settings=settings)
        if answer.verdict == "refused":
            return None
        answers.append(answer)
        return answer.value

    answered = converse(data, ask, adaptive, most)
    return {
        "answered": answered,
        "surprises": sum(answer.verdict == "differs" for answer in answers),
        "missed": any(not answer.interval[0] <= 0.5 <= answer.interval[1] for answer in answers),
        "widest": max((answer.half_width for answer in answers), default=0.0),
        "nats": holdout.nats,
    }


def methods(
    data: Data, n: int, horizon: int, adaptive: Callable[[int], bool], seed: int, names: tuple[str, ...]
) -> Any:
    """Return what each method answers of the same questions."""
    settings = {METHODS[1]: (None, horizon), METHODS[2]: ("fill", horizon), METHODS[3]: ("fill", None)}
    return {
        name: theirs(data, n, adaptive, MOST)
        if name == METHODS[0]
        else ours(data, n, adaptive, MOST, *settings[name], seed)
        for name in names
    }


def smallest_tau(answers_all: Callable[[float], bool], start: float, steps: int = 7) -> float:
    """Return, in hindsight, the smallest width at which all questions are answered."""
    high = start
    while not answers_all(high):
        high *= 1.5
    while answers_all(high / 1.5):
        high /= 1.5
    low = high / 1.5
    for _ in range(steps):
        middle = (low + high) / 2.0
        low, high = (low, middle) if answers_all(middle) else (middle, high)
    return high


def after_closing(data: Data, n: int, k: int, seed: int) -> dict[str, Any]:
    """Return half-widths of the same k questions answered in cells, and unsealed in the end."""
    holdout = SimulatedHoldout.of_counts(n, seed=seed, answers="coarse", expected_questions=k)
    answers: list[Answer] = []

    def ask(guess: float, count: int) -> float:
        answers.append(holdout.ask_count(count, "certify", Guess(guess, float(n))))
        return answers[-1].value

    converse(data, ask, additive, k)
    holdout.close()
    exact = holdout.unseal_quietly()
    intervals = [answer.interval for answer in (*answers, *exact)]
    return {
        "searching": float(np.median([answer.half_width for answer in answers])),
        "last": answers[-1].half_width,
        "closed": float(np.median([answer.half_width for answer in exact])),
        "closed_widest": max(answer.half_width for answer in exact),
        "missed": any(not low <= 0.5 <= high for low, high in intervals),
    }


def smallest_widths(seeds: int) -> dict[str, Any]:
    """Return, for 100 and 1,000 additive questions, smallest taus, and widths while searching and closed."""
    n, _ = LARGE
    smallest: dict[str, Any] = {}
    for k in (100, 1000):
        pairs = []
        for seed in range(seeds):
            data = Data(seed, n, k)

            def by_theirs(tau: float, data: Data = data, k: int = k) -> bool:
                return theirs(data, n, additive, k, tau)["answered"] == k

            def by_ours(tau: float, data: Data = data, k: int = k, seed: int = seed) -> bool:
                return ours(data, n, additive, k, "fill", k, seed, tau)["answered"] == k

            tau = smallest_tau(by_theirs, 0.1, 12)
            pairs.append((tau, smallest_tau(by_ours, 1.02 * tau, 6)))
        smallest[str(k)] = {
            "Guess-and-Check": [pair[0] for pair in pairs],
            "fill": [pair[1] for pair in pairs],
            "closed": [after_closing(Data(seed, n, k), n, k, seed) for seed in range(seeds)],
        }
    return smallest


def run(full: bool) -> dict[str, Any]:
    """Return numbers of answers within tau, smallest taus, widths after closing, and how often all held."""
    seeds, coverage, taus = (4, 200, 2) if full else (1, 5, 1)
    n, horizon = LARGE
    answered: dict[str, Any] = {}
    for name, adaptive in ANALYSTS.items():
        runs = [methods(Data(seed, n, MOST), n, horizon, adaptive, seed, METHODS) for seed in range(seeds)]
        answered[name] = {
            method: {key: [each[method][key] for each in runs] for key in ("answered", "surprises", "missed")}
            for method in METHODS
        }
    small, near = SMALL
    counted: dict[str, Any] = {method: {"answered": [], "missed": 0} for method in METHODS}
    for seed in range(coverage):
        adaptive = list(ANALYSTS.values())[seed % 2]
        for method, each in methods(
            Data(seed, small, 1000), small, near, adaptive, seed, METHODS[::2] + METHODS[3:]
        ).items():
            counted[method]["answered"].append(each["answered"])
            counted[method]["missed"] += each["missed"]
    counted.pop(METHODS[1])
    return {
        "tau": TAU,
        "large": {"n": n, "horizon": horizon, "seeds": seeds, "answered": answered},
        "small": {"n": small, "horizon": near, "repetitions": coverage, "counted": counted},
        "smallest": smallest_widths(taus),
        "seeds_of_smallest": taus,
    }


def shown(result: dict[str, Any]) -> Shown:
    """Return what the page says."""
    large, small = result["large"], result["small"]
    mean = {
        analyst: {method: float(np.mean(each["answered"])) for method, each in methods.items()}
        for analyst, methods in large["answered"].items()
    }
    first = mean["additive"]
    sentence = (
        f"On Guess-and-Check's own questions at tau = {result['tau']}, n = {large['n']:,}, it answers "
        f"{first[METHODS[0]]:,.0f}; checks whose cells are as wide as tau admits (fill) answer "
        f"{first[METHODS[2]]:,.0f} "
        f"with a horizon and {first[METHODS[3]]:,.0f} without, and the default cells, which spare the kept "
        f"model's interval, {first[METHODS[1]]:,.0f}. Every 100th question (additive), or each whose "
        "number is a "
        "square (squares), is about the vote of all answers so far. Cells are the coarse answers "
        "while searching, "
        "whose exact values are unsealed in the end."
    )
    rows = [
        [
            method,
            *(f"{mean[analyst][method]:,.0f}" for analyst in ANALYSTS),
            *(f"{np.mean(large['answered'][analyst][method]['surprises']):.1f}" for analyst in ANALYSTS),
        ]
        for method in METHODS
    ]
    table = Table(
        f"Questions answered within {result['tau']} at n = {large['n']:,}, mean of {large['seeds']} seeds, "
        "and surprises",
        ("method", *(f"answered, {name}" for name in ANALYSTS), *(f"surprises, {name}" for name in ANALYSTS)),
        rows,
    )
    runs = small["repetitions"]
    counted = Table(
        f"{runs} conversations at n = {small['n']:,} (half additive, half squares): answers, and intervals "
        "that miss",
        ("method", "questions answered, mean", "conversations with a miss"),
        [
            [method, f"{np.mean(each['answered']):.1f}", f"{each['missed']} of {runs}"]
            for method, each in small["counted"].items()
        ],
    )
    closed_rows = []
    for k, each in result["smallest"].items():
        closed = each["closed"]
        closed_rows.append(
            [
                f"{int(k):,}",
                f"{np.mean(each['Guess-and-Check']):.4f}",
                f"{np.mean(each['fill']):.4f}",
                f"{np.mean([c['searching'] for c in closed]):.4f}",
                f"{np.mean([c['closed'] for c in closed]):.4f}",
                f"{np.mean([c['closed_widest'] for c in closed]):.4f}",
            ]
        )
    tau = Table(
        "Widths for k additive questions: the smallest tau in hindsight, and the same questions answered "
        "in cells",
        (
            "k",
            "Guess-and-Check",
            "fill",
            "cells, while searching (median)",
            "after closing (median)",
            "after closing (widest)",
        ),
        closed_rows,
    )
    claims = []
    for analyst, means in mean.items():
        ratio, without = means[METHODS[2]] / means[METHODS[0]], means[METHODS[3]] / means[METHODS[0]]
        claims += [
            Claim(
                f"{analyst}: fill with a known horizon answers at least as many",
                f"{ratio:.3f} times as many",
                ratio >= 1.0,
            ),
            Claim(
                f"{analyst}: fill without one at least .97", f"{without:.3f} times as many", without >= 0.97
            ),
        ]
    theirs_mean = np.mean(small["counted"][METHODS[0]]["answered"])
    for method, least in ((METHODS[2], 1.0), (METHODS[3], 0.97)):
        each = small["counted"][method]
        ratio = float(np.mean(each["answered"]) / theirs_mean)
        claims += [
            Claim(
                f"n = {small['n']:,}, {method}: at least {least:g}",
                f"{ratio:.3f} times as many",
                ratio >= least,
            ),
            Claim(
                f"n = {small['n']:,}, {method}: misses within beta",
                f"{each['missed']} of {runs}",
                each["missed"] <= 0.05 * runs and consistent(each["missed"], runs),
            ),
        ]
    remarks = [
        "Guess-and-Check has to be told tau, and every answer has that width for ever. Cells that fill a "
        "tolerance are the same bargain. The answers in cells are told coarsely while the search goes on, "
        "and each exact value can be unsealed once it is closed, with the interval of its asking."
    ]
    settings = (
        f"{CHECK_SHARE:.0%} of the failure probability is for checks, the rest for a certify that is not "
        f"asked here. The known horizon is {large['horizon']:,} questions (n = {small['n']:,}: "
        f"{small['horizon']}). Smallest taus: mean of {result['seeds_of_smallest']} seeds. Guess-and-Check "
        "is an implementation from the paper's formula."
    )
    return Shown(sentence, settings, (table, counted, tau), claims, remarks)


LINES = {
    "Guess-and-Check": "tab:gray",
    "fill": "tab:cyan",
    "cells, while searching": SEARCHING,
    "cells, unsealed": PUBLISHED,
}


def draw(result: dict[str, Any], figure: Any) -> None:
    """Draw numbers of answers by method."""
    left, right = figure.subplots(1, 2, width_ratios=(2, 1))
    colours = SEARCHING, "lightsteelblue"
    for number, (analyst, methods_of) in enumerate(result["large"]["answered"].items()):
        means = [np.mean(methods_of[method]["answered"]) for method in METHODS]
        left.barh(
            np.arange(len(METHODS)) + 0.38 * number, means, height=0.36, color=colours[number], label=analyst
        )
    left.set_yticks(np.arange(len(METHODS)) + 0.19, METHODS)
    left.invert_yaxis()
    left.set_xlabel(f"questions answered within {result['tau']}")
    left.legend(frameon=False, fontsize="small")
    ks = [int(k) for k in result["smallest"]]
    for name in ("Guess-and-Check", "fill"):
        right.plot(
            ks,
            [np.mean(each[name]) for each in result["smallest"].values()],
            marker="o",
            color=LINES[name],
            label=name,
        )
    for name, label in (("searching", "cells, while searching"), ("closed", "cells, unsealed")):
        values = [np.mean([each[name] for each in k["closed"]]) for k in result["smallest"].values()]
        right.plot(ks, values, marker="o", linestyle="--", color=LINES[label], label=label)
    right.set_xscale("log")
    right.set_xlabel("questions")
    right.set_ylabel("half-width")
    right.set_ylim(0.0)
    right.legend(frameon=False, fontsize="small")
