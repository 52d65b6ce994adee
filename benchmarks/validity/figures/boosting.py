"""The boosting attack on a leaderboard (Blum, Hardt, ICML 2015).

n = 4,000 labels that are fair coins. The analyst submits k vectors of random labels and lets those vote
that scored above chance; the true loss of the vote is one half. What a leaderboard reports of the vote
shows how much it gave away.

Guesses are of three kinds: *honest* ones are the accuracy on 4,000 validation rows; *one half* knows the
truth; *hostile* ones put an edge of a cell at chance, so that every answer tells on which side of it the
holdout is.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.validity.coverage import consistent
from benchmarks.validity.figures.results import Claim, Shown, Table
from benchmarks.validity.simulated import SimulatedHoldout
from sklearn_ada import Guess, MedianSettings
from sklearn_ada.holdout.holdout import session_of
from sklearn_ada.mechanisms import Ladder, ParameterFreeLadder
from sklearn_ada.planning.display import NAIVE, SEARCHING

TITLE = "The boosting attack (Blum, Hardt, ICML 2015)"
SEED = 400
N, K = 4000, 400
SWEEP = (50, 100, 200, 400, 1000, 2000, 4000)
THRESHOLD, NOISE = 0.04, 0.01
KINDS = ("honest", "one half", "hostile")
PUBLISHED = {"plain": 0.4275, "parameter-free Ladder": 0.484}

Bits = NDArray[np.int8]


class Submissions:
    """Random label vectors, given by the rows on which they are right (+1) or wrong (-1)."""

    def __init__(self, rng: np.random.Generator, k: int) -> None:
        self.held: Bits = rng.integers(0, 2, (k, N), dtype=np.int8) * np.int8(2) - np.int8(1)
        self.validation: Bits = rng.integers(0, 2, (k, N), dtype=np.int8) * np.int8(2) - np.int8(1)
        self.ties = rng.uniform(-0.5, 0.5, (2, N))

    def losses(self, k: int) -> NDArray[np.float64]:
        """Return the loss of the first k on the holdout."""
        return np.mean(self.held[:k] < 0, axis=1)

    def guesses(self, k: int) -> NDArray[np.float64]:
        """Return the loss of the first k on the validation rows."""
        return np.mean(self.validation[:k] < 0, axis=1)

    def vote(self, kept: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], float]:
        """Return where the vote is wrong on the holdout, and its loss on the validation rows."""
        sums = [
            np.add.reduce(rows[: len(kept)][kept], axis=0, dtype=np.int64)
            for rows in (self.held, self.validation)
        ]
        held, validation = (total + tie < 0.0 for total, tie in zip(sums, self.ties, strict=True))
        return held, float(validation.mean())


def plain(sub: Submissions, k: int, rng: np.random.Generator) -> float:
    """Return the loss of the vote as a leaderboard of exact losses reports it."""
    return float(sub.vote(sub.losses(k) < 0.5)[0].mean())


def ladder(step: float) -> Callable[[Submissions, int, np.random.Generator], float]:
    """Return the attack on a Ladder with this step."""

    def attack(sub: Submissions, k: int, rng: np.random.Generator) -> float:
        board = Ladder(step)
        told = np.array([board.ask(float(loss)).answer for loss in sub.losses(k)])
        return board.ask(float(sub.vote(told < 0.5)[0].mean())).answer

    return attack


def parameter_free(sub: Submissions, k: int, rng: np.random.Generator) -> float:
    """Return what the parameter-free Ladder reports of the vote."""
    board = ParameterFreeLadder()
    told = np.array([board.ask((rows < 0).astype(float)).answer for rows in sub.held[:k]])
    return board.ask(sub.vote(told < 0.5)[0].astype(float)).answer


def noisy_thresholdout(sub: Submissions, k: int, rng: np.random.Generator) -> float:
    """Return what Thresholdout reports with the noise of the published figure, without a budget."""

    def told(guess: NDArray[np.float64], loss: NDArray[np.float64]) -> NDArray[np.float64]:
        hit = np.abs(guess - loss) > THRESHOLD + rng.normal(0.0, NOISE, guess.shape)
        return np.where(hit, loss + rng.normal(0.0, NOISE, guess.shape), guess)

    wrong, guess = sub.vote(told(sub.guesses(k), sub.losses(k)) < 0.5)
    return float(told(np.array([guess]), np.array([wrong.mean()]))[0])


BOARDS = {
    "plain": plain,
    "Ladder, step 1/sqrt(n)": ladder(1.0 / math.sqrt(N)),
    "parameter-free Ladder": parameter_free,
    "Thresholdout, noise of the literature": noisy_thresholdout,
}


class Says:
    """A classifier that is right on given rows; the labels are all 0."""

    def __init__(self, wrong: NDArray[np.bool_]) -> None:
        self.wrong = wrong

    def predict(self, X: NDArray[Any]) -> NDArray[np.int8]:
        """Return 1 on the rows on which it is wrong."""
        return self.wrong[X[:, 0]].astype(np.int8)

    def __deepcopy__(self, memo: object) -> Says:
        return copy.copy(self)


def by_median(sub: Submissions, k: int, seed: int) -> tuple[float, tuple[float, float]]:
    """Return what the stable median reports of the vote, and its interval."""
    holdout = SimulatedHoldout.of_counts(N, seed=seed, expected_questions=k + 1)
    settings = MedianSettings()
    size = settings.subsample_size(session_of(holdout).data)

    def ask(wrong: NDArray[np.bool_], loss: float) -> Any:
        known = Guess(1.0 - loss, N / size, math.sqrt(0.25 / size))
        return holdout.put_new(holdout.plan(Says(wrong), "check", known, settings), Says(wrong))

    told = np.array(
        [ask(rows < 0, guess).value for rows, guess in zip(sub.held, sub.guesses(k), strict=False)]
    )
    answer = ask(*sub.vote(told > 0.5))
    low, high = answer.interval
    return 1.0 - answer.value, (1.0 - high, 1.0 - low)


def certified(sub: Submissions, k: int, kind: str, seed: int) -> dict[str, Any]:
    """Attack a `Holdout`, by checks and a certify of the vote; return what came of it."""
    holdout = SimulatedHoldout.of_counts(N, seed=seed, expected_questions=k + 1)
    edge = 0.5 + holdout.half_cell(0.5, float(N))

    def guess(loss: float) -> Guess:
        return Guess({"honest": 1.0 - loss, "one half": 0.5, "hostile": edge}[kind], float(N))

    held, guesses = sub.losses(k), sub.guesses(k)
    answers = [
        holdout.ask_count(round((1.0 - loss) * N), "check", guess(known))
        for loss, known in zip(held, guesses, strict=True)
    ]
    told = np.array([1.0 - answer.value for answer in answers])
    wrong, known = sub.vote(told < 0.5 if kind != "one half" else told <= 0.5)
    right = N - int(np.count_nonzero(wrong))
    checked = holdout.ask_count(right, "check", guess(known))
    exact = holdout.ask_count(right, "certify", Guess(min(max(checked.value, 0.0), 1.0), float(N)))
    answers += [checked, exact]
    return {
        "checked": 1.0 - checked.value,
        "exact": 1.0 - exact.value,
        "low": 1.0 - exact.interval[1],
        "high": 1.0 - exact.interval[0],
        "holds": all(answer.interval[0] <= 0.5 <= answer.interval[1] for answer in answers),
        "surprises": sum(answer.verdict == "differs" for answer in answers),
        "nats": holdout.nats,
    }


def _mean(runs: list[dict[str, Any]]) -> dict[str, float]:
    return {key: float(np.mean([each[key] for each in runs])) for key in runs[0]}


def run(full: bool) -> dict[str, Any]:
    """Return reported losses at 400 queries and over the sweep, and how often all intervals held."""
    repetitions, conversations, medians = (100, 200, 3) if full else (20, 20, 1)
    boards: dict[str, list[float]] = {name: [] for name in BOARDS}
    for seed in range(repetitions):
        rng = np.random.default_rng([SEED, seed])
        sub = Submissions(rng, K)
        for name, board in BOARDS.items():
            boards[name].append(board(sub, K, rng))
    ours: dict[str, Any] = {}
    for kind in KINDS:
        runs = [
            certified(Submissions(np.random.default_rng([SEED, seed]), K), K, kind, seed)
            for seed in range(conversations)
        ]
        ours[kind] = {**_mean(runs), "held": sum(each["holds"] for each in runs)}
    by_medians = [by_median(Submissions(np.random.default_rng([SEED, s]), K), K, s) for s in range(medians)]
    median = {
        "reported": float(np.mean([value for value, _ in by_medians])),
        "held": sum(low <= 0.5 <= high for _, (low, high) in by_medians),
        "vacuous": sum(high - low >= 1.0 for _, (low, high) in by_medians),
    }
    sweep: dict[str, list[float]] = {name: [] for name in (*BOARDS, *KINDS)}
    intervals: dict[str, list[list[float]]] = {kind: [] for kind in KINDS}
    times = 2 if full else 1
    subs = [Submissions(np.random.default_rng([SEED, 1000 + seed]), max(SWEEP)) for seed in range(times)]
    for k in SWEEP:
        for name, board in BOARDS.items():
            losses = [board(sub, k, np.random.default_rng([SEED, 2000 + i])) for i, sub in enumerate(subs)]
            sweep[name].append(float(np.mean(losses)))
        for kind in KINDS:
            attacked = _mean([certified(sub, k, kind, i) for i, sub in enumerate(subs)])
            sweep[kind].append(attacked["exact"])
            intervals[kind].append([attacked["low"], attacked["high"]])
    return {
        "n": N,
        "k": K,
        "repetitions": repetitions,
        "conversations": conversations,
        "medians": medians,
        "boards": {name: {"mean": np.mean(v), "sd": np.std(v)} for name, v in boards.items()},
        "ours": ours,
        "median": median,
        "sweep_repetitions": times,
        "sweep": {"k": list(SWEEP), "reported": sweep, "intervals": intervals},
    }


def shown(result: dict[str, Any]) -> Shown:
    """Return what the page says."""
    boards, ours, runs = result["boards"], result["ours"], result["conversations"]
    hostile, honest = ours["hostile"], ours["honest"]
    sentence = (
        f"After {result['k']} queries a plain leaderboard reports a loss of {boards['plain']['mean']:.3f} "
        f"for labels that are coins, the Ladder {boards['Ladder, step 1/sqrt(n)']['mean']:.3f}, our holdout "
        f"{honest['exact']:.3f} with honest guesses; guesses at cell edges bring it down to "
        f"{hostile['exact']:.3f} too, and only the interval, [{hostile['low']:.2f}, {hostile['high']:.2f}], "
        "still holds."
    )
    rows = [
        [
            name,
            f"{each['mean']:.4f}",
            f"{each['sd']:.4f}",
            f"{PUBLISHED[name]:.4f}" if name in PUBLISHED else "",
            "none",
            "",
        ]
        for name, each in boards.items()
    ]
    median = result["median"]
    rows.append(
        [
            "stable median, honest guesses",
            f"{median['reported']:.4f}",
            "",
            "",
            f"{median['vacuous']} of {result['medians']} vacuous",
            f"{median['held']} of {result['medians']}",
        ]
    )
    for kind, each in ours.items():
        rows.append([f"checks, {kind} guesses", f"{each['checked']:.4f}", "", "", "", ""])
        rows.append(
            [
                "the same, vote certified exactly",
                f"{each['exact']:.4f}",
                "",
                "",
                f"[{each['low']:.3f}, {each['high']:.3f}]",
                f"{each['held']} of {runs}",
            ]
        )
    table = Table(
        f"Reported loss of the vote after {result['k']} queries, n = {result['n']:,}; its true loss is .5",
        (
            "leaderboard",
            "reported",
            "SD",
            "in the literature",
            "mean interval",
            "runs in which every interval held",
        ),
        rows,
    )
    spent = Table(
        "What the conversations cost",
        ("guesses", "surprises", "nats"),
        [[kind, f"{each['surprises']:.1f}", f"{each['nats']:.1f}"] for kind, each in ours.items()],
    )
    sweep = result["sweep"]
    over = Table(
        f"Reported loss by number of queries, mean of {result['sweep_repetitions']}; ours exact, with the "
        "mean interval",
        ("queries", *BOARDS, *(f"ours, {kind}" for kind in KINDS)),
        [
            [
                f"{k:,}",
                *(f"{sweep['reported'][name][i]:.3f}" for name in BOARDS),
                *(
                    f"{sweep['reported'][kind][i]:.3f} [{sweep['intervals'][kind][i][0]:.2f}, "
                    f"{sweep['intervals'][kind][i][1]:.2f}]"
                    for kind in KINDS
                ),
            ]
            for i, k in enumerate(sweep["k"])
        ],
    )
    plain_loss, step = boards["plain"]["mean"], boards["Ladder, step 1/sqrt(n)"]["mean"]
    claims = [
        Claim("plain leaderboard: at most .43", f"{plain_loss:.4f}", plain_loss <= 0.43),
        Claim("Ladder: at least .48", f"{step:.4f}", step >= 0.48),
        Claim(
            "ours, honest guesses, as checked: at least .48",
            f"{honest['checked']:.4f}",
            honest["checked"] >= 0.48,
        ),
        Claim("ours, honest guesses, exact: at least .48", f"{honest['exact']:.4f}", honest["exact"] >= 0.48),
    ]
    for kind, each in ours.items():
        met = each["held"] >= 0.95 * runs and consistent(runs - each["held"], runs)
        claims.append(
            Claim(
                f"{kind} guesses: every interval holds .5 in 95 % of the runs",
                f"{each['held']} of {runs}",
                met,
            )
        )
    remarks = [
        "A hostile guess makes every answer a surprise or not with equal chance, so the answers tell as "
        "much as a plain leaderboard does, and the value reported in the end is as wrong. The certificate "
        "knows, because it counts: the intervals widen with every surprise. Against hostile askers it is "
        "the interval that protects, not the value.",
        "The Ladder and Thresholdout with noise report good values, and certify nothing here: the Ladder "
        "has a bound of its own for the best so far (documented with the mechanism), that noise "
        "has none.",
    ]
    settings = (
        f"Leaderboards: means of {result['repetitions']} repetitions; ours: {runs} conversations of each "
        f"kind of guess, {result['k']} checks, a check and an exact answer about the vote, at 95 %."
    )
    return Shown(sentence, settings, (table, spent, over), claims, remarks)


def draw(result: dict[str, Any], figure: Any) -> None:
    """Draw reported losses over the number of queries."""
    left, right = figure.subplots(1, 2, sharey=True)
    sweep = result["sweep"]
    for name, style in zip(BOARDS, ("-", "--", "-.", ":"), strict=True):
        colour = NAIVE if name == "plain" else "tab:gray"
        left.plot(sweep["k"], sweep["reported"][name], style, color=colour, label=name)
    for kind, style in zip(KINDS, ("-", ":", "--"), strict=True):
        low, high = np.transpose(sweep["intervals"][kind])
        right.plot(sweep["k"], sweep["reported"][kind], style, color="black", label=f"{kind} guesses")
        right.fill_between(sweep["k"], low, high, alpha=0.2, color=SEARCHING, linewidth=0)
    for axis, title in ((left, "leaderboards"), (right, "ours: exact value and interval")):
        axis.set_xscale("log")
        axis.axhline(0.5, color="0.7", linewidth=0.5)
        axis.set_xlabel("queries")
        axis.set_title(title)
        axis.legend(frameon=False, fontsize="small", loc="lower left")
    left.set_ylabel("reported loss")
    left.set_ylim(0.0, 1.0)
