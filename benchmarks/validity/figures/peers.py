"""Peers on the same job: one holdout, and adaptive questions about accuracies, in one run.

Labels are coins, so that every model is right half of the time. Every tenth question is about the vote of
all models so far that were said to be better than chance; the last is such a vote. What each peer says of it,
how far its answers are from one half, what half-width it states, and how long it takes. Then three questions
are put to the keeper of each budget: directly, to a clone, to a pickled copy, and by two workers; how many of
them the keeper knows of afterwards is what it can charge for.
"""

from __future__ import annotations

import importlib.metadata
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.validity.coverage import consistent
from benchmarks.validity.figures.results import Claim, Shown, Table, load
from benchmarks.validity.peers import (
    ASKERS,
    EPSILON,
    KEEPERS,
    TAU,
    WAYS,
    Ask,
    NotInstalledError,
    Told,
    kept,
)  # fmt: skip
from sklearn_ada.planning.display import NAIVE, SEARCHING

TITLE = "Peers in one run"
SEED = 23
N, K, EVERY = 10_000, 200, 10
PACKAGES = ("diffprivlib", "opendp", "scikit-learn")
GIVES = {
    "plain holdout": "the value; no bound",
    "sklearn_ada, checks": "guess or cell, with an interval each; kept in a file",
    "Guess-and-Check": "guess or rounded value, within a tau fixed in advance",
    "ThresholdoutAUC's setting": "guess or noisy value; no bound",
    "ease.ml/ci's counting": "pass or fail, within a width for all steps planned",
    "diffprivlib": "a value with noise; a loss of privacy, no interval",
    "OpenDP": "a value with noise; a loss of privacy, no interval",
}


def converse(ask: Ask, y: np.ndarray, k: int, seed: int) -> tuple[list[Told], float]:
    """Return all answers, the vote's last, and the seconds that asking took."""
    rng = np.random.default_rng([SEED, seed])
    known = rng.integers(0, 2, 3 * len(y))  # labels of validation rows
    votes, seen, told, seconds = np.zeros((2, 4 * len(y))), 0, [], 0.0
    for number in range(1, k + 1):
        is_vote = number % EVERY == 0
        said = (votes[0] > votes[1]).astype(np.int8) if is_vote and seen else rng.integers(0, 2, 4 * len(y))
        said = said.astype(np.int8)
        guess = float(np.mean(said[len(y) :] == known))
        begun = time.perf_counter()
        told.append(ask(said[: len(y)], guess))
        seconds += time.perf_counter() - begun
        if told[-1].above and not is_vote:
            votes[0] += said
            votes[1] += 1 - said
            seen += 1
    return told, seconds


def measured(peer: str, k: int, runs: int) -> dict[str, Any] | None:
    """Return what one peer says, the mean of all runs, or None where it is not installed."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(runs):
            y = np.random.default_rng([SEED, 1, seed]).integers(0, 2, N)
            try:
                told, seconds = converse(ASKERS[peer](y, k, seed, Path(folder)), y, k, seed)
            except NotInstalledError:
                return None
            found.append((told, seconds))
    last = [told[-1].value for told, _ in found if told[-1].value is not None]
    widths = [each.half_width for told, _ in found for each in told if each.half_width is not None]
    answers = [sum(each.value is not None or each.half_width is not None for each in t) for t, _ in found]
    errors = [max((abs(e.value - 0.5) for e in t if e.value is not None), default=0.0) for t, _ in found]
    return {
        "answers": float(np.mean(answers)),
        "last": float(np.mean(last)) if last else None,
        "largest error": float(np.mean(errors)) if last else None,
        "half-width": max(widths) if widths else None,
        "runs that hold": sum(_all_hold(told) for told, _ in found) if widths and last else None,
        "seconds": float(np.median([seconds for _, seconds in found])) / k,
    }


def _all_hold(told: list[Told]) -> bool:
    """Return whether every value is within its half-width of the truth."""
    known = [each for each in told if each.value is not None and each.half_width is not None]
    return all(abs(each.value - 0.5) <= each.half_width for each in known)


def run(full: bool) -> dict[str, Any]:
    """Return the answers of all peers, and what their budgets know of questions put to copies.

    Of a peer that is not installed, what is in the results' folder is kept, if it was measured in this form.
    """
    k, runs = (K, 10) if full else (50, 2)
    asked = {peer: measured(peer, k, runs) for peer in ASKERS}
    budgets = {keeper: shared(keeper) for keeper in KEEPERS}
    found = {"k": k, "runs": runs, "peers": asked, "budgets": budgets, "versions": versions(), "earlier": []}
    last = load("peers")
    if last is not None and (last["result"]["k"], last["result"]["runs"]) == (k, runs):
        keep(found, last)
    return found


def keep(found: dict[str, Any], last: dict[str, Any]) -> None:
    """Put what was measured earlier in the place of what is not installed."""
    for part in ("peers", "budgets", "versions"):
        for name, each in found[part].items():
            earlier = last["result"][part].get(name)
            if each is None and earlier is not None:
                found[part][name] = earlier
                if part == "versions":
                    found["earlier"].append(name)


def shared(keeper: str) -> dict[str, int | str] | None:
    """Return how many of three questions a keeper knows of, by how they were put."""
    known = {}
    for way in WAYS:
        with tempfile.TemporaryDirectory() as folder:
            try:
                known[way] = kept(keeper, way, Path(folder))
            except NotInstalledError:
                return None
    return known


def versions() -> dict[str, str | None]:
    """Return the versions of the peers, None of those that are not installed."""
    found: dict[str, str | None] = {}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = None
    return found


def shown(result: dict[str, Any]) -> Shown:
    """Return what the page says."""
    peers, budgets, runs = result["peers"], result["budgets"], result["runs"]
    own, naive = peers["sklearn_ada, checks"], peers["plain holdout"]
    lost = [name for name, each in budgets.items() if each and any(each[way] == 0 for way in WAYS)]
    sentence = (
        f"After {result['k']} adaptive questions about coins the plain holdout says {naive['last']:.3f}, "
        f"ours {own['last']:.3f} within {own['half-width']:.3f}; of the peers that were run, {len(lost)} "
        f"lose their count when a search clones, pickles or sends them to workers ({'; '.join(lost)}; of "
        "Guess-and-Check and ThresholdoutAUC no code was used, they were written here from their articles)."
    )
    rows = []
    for name, each in peers.items():
        if each is None:
            rows.append([name, GIVES[name], "not installed", "", "", "", "", ""])
            continue
        rows.append(
            [
                name,
                GIVES[name],
                f"{each['answers']:.0f}",
                _number(each["last"]),
                _number(each["largest error"]),
                _number(each["half-width"], "none"),
                "" if each["runs that hold"] is None else f"{each['runs that hold']} of {runs}",
                f"{each['seconds'] / naive['seconds']:,.0f}",
            ]
        )
    answers = Table(
        f"{result['k']} questions, n = {N:,}: the last vote as reported (true: .5), errors and bounds, means "
        f"of {runs} runs",
        (
            "peer", "what it gives", "answers", "reported", "largest error", "largest half-width stated",
            "runs in which it held", "time over the plain holdout's",
        ),
        rows,
    )  # fmt: skip
    shared = Table(
        "Questions that the keeper of a budget knows of, of three that were put",
        ("keeper", *WAYS),
        [
            [name, *(["not installed"] * len(WAYS) if each is None else (str(each[way]) for way in WAYS))]
            for name, each in budgets.items()
        ],
    )
    ledger = budgets["sklearn_ada, the ledger"]
    claims = [
        Claim(
            "ours: the ledger knows of all three, however they were put",
            ", ".join(str(ledger[way]) for way in WAYS),
            all(ledger[way] == 3 for way in WAYS),
        ),
        Claim(
            "ours: every interval holds in all but beta of the runs",
            f"{own['runs that hold']} of {runs}",
            consistent(runs - own["runs that hold"], runs),
        ),
    ]
    used = ", ".join(
        f"{name} {version or 'not installed'}{' (measured earlier)' if name in result['earlier'] else ''}"
        for name, version in result["versions"].items()
    )
    rival = peers["Guess-and-Check"]
    remarks = [
        f"Guess-and-Check, at a tau of {TAU} that must be fixed in advance, answers "
        f"{rival['answers']:.0f} of {result['k']} questions and then ends; ours answers all, within "
        f"intervals that widen with every surprise, up to {own['half-width']:.3f}. ease.ml/ci needs no "
        "guess: it tells one bit an answer. Private means are off by their noise, and neither package turns "
        "a loss of privacy into an interval for the population; parts of OpenDP's epsilon are added up here.",
        "diffprivlib's accountant is a Python object: whatever copies it copies the budget. OpenDP's refuses "
        "to be copied, so nothing is lost and nothing can be shared. Budgets of Guess-and-Check and "
        "ThresholdoutAUC's setting are those of our implementations, objects as theirs are; ease.ml/ci keeps "
        "no count, the number of steps is typed in.",
    ]
    settings = (
        f"Guesses come from {3 * N:,} rows; private means share an epsilon of {EPSILON:g}; versions: {used}. "
        "Times are ratios within one process, ours with a ledger that is written to disk for each answer."
    )
    return Shown(sentence, settings, (answers, shared), claims, remarks)


def _number(value: float | None, otherwise: str = "") -> str:
    return otherwise if value is None else f"{value:.3f}"


def draw(result: dict[str, Any], figure: Any) -> None:
    """Draw what each peer reports of the last vote, with the half-width that it states."""
    axis = figure.subplots()
    found = {name: each for name, each in result["peers"].items() if each and each["last"] is not None}
    for number, (name, each) in enumerate(found.items()):
        error = each["half-width"]
        colour = {"plain holdout": NAIVE, "sklearn_ada, checks": SEARCHING}.get(name, "tab:gray")
        arms = None if error is None else [error]
        axis.errorbar([number], [each["last"]], yerr=arms, fmt="o", capsize=4, color=colour)
    axis.axhline(0.5, color="black", linestyle="--", linewidth=1, label="truth")
    axis.legend(frameon=False)
    axis.set_xticks(range(len(found)), list(found), rotation=15, ha="right")
    axis.set_ylabel("accuracy of the last vote")
