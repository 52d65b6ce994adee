"""The experiment of "The reusable holdout" (Dwork et al., Science 2015), and a certified run of it.

n = d = 10,000: training, holdout and fresh records of d normal features and a label of +-1. "Signal": the
first 20 features are moved by ``6/sqrt(n)`` in the label's direction. The analyst takes the correlation ``c
= X'y/n`` of every feature with the label on both samples, keeps the features where both exceed
``1/sqrt(n)`` in the same direction, ranks them by ``|c_train|``, and lets the first k vote: ``sign(sum_j
sign(c_j) x_j)``. Thresholdout answers about correlations, and about the accuracy in the end, with T = .04
and **Gaussian** noise of .01, without a budget.

The certified run asks a `Holdout` the same: the mean of ``x_j y``, clipped to [-4, 4], its guess the
training correlation, all features one round; then the accuracies of the classifiers of all k one round,
with guess .5; then the exact value of the best of these as the answers have it (of equals the largest),
which is kept.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.validity.figures.results import Claim, Shown, Table
from benchmarks.validity.simulated import SimulatedHoldout
from sklearn_ada import Guess, Metric, NoiseSettings
from sklearn_ada.planning.display import NAIVE, SEARCHING

TITLE = "The reusable holdout (Dwork et al., Science 2015)"
SEED = 2015
N = D = 10_000
KS = (10, 20, 50, 100, 200, 300, 400, 500)
SIGNAL, THRESHOLD, NOISE = 20, 0.04, 0.01
RANGE = 4.0
PUBLISHED = {  # of an independent run, 40 repetitions: training, reported, fresh
    "no signal": {
        "standard": {100: (0.590, 0.560, 0.499), 200: (0.610, 0.585, 0.500), 500: (0.634, 0.631, 0.499)},
        "Thresholdout": {100: (0.611, 0.509, 0.501), 200: (0.643, 0.510, 0.500), 500: (0.695, 0.512, 0.501)},
    },
    "signal": {
        "standard": {
            10: (0.585, 0.574, 0.576),
            20: (0.606, 0.605, 0.604),
            100: (0.620, 0.596, 0.547),
            500: (0.651, 0.647, 0.523),
        },
        "Thresholdout": {
            10: (0.585, 0.585, 0.576),
            20: (0.606, 0.606, 0.602),
            100: (0.637, 0.557, 0.547),
            500: (0.708, 0.538, 0.521),
        },
    },
}
METHODS = ("standard", "Thresholdout", "certified")

Sample = tuple[NDArray[np.float32], NDArray[np.float32]]


def draw_sample(rng: np.random.Generator, X: NDArray[np.float32], *, signal: bool) -> Sample:
    """Return n records, written into an array of shape (d, n): the values of a feature are neighbours."""
    y = rng.choice(np.array([-1.0, 1.0], dtype=np.float32), N)
    rng.standard_normal(out=X, dtype=np.float32)
    if signal:
        X[:SIGNAL] += 6.0 / math.sqrt(N) * y
    return X.T, y


def correlations(sample: Sample) -> NDArray[np.float64]:
    """Return the mean of ``x_j y`` for every feature."""
    X, y = sample
    return (X.T @ y / N).astype(np.float64)


def chosen(trained: NDArray[np.float64], held: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the features that exceed ``1/sqrt(n)`` on both samples, the largest in training first."""
    least = 1.0 / math.sqrt(N)
    kept = np.flatnonzero((np.abs(trained) > least) & (np.abs(held) > least) & (trained * held > 0.0))
    return kept[np.argsort(-np.abs(trained[kept]))]


def votes(X: NDArray[np.float32], features: NDArray[np.intp], signs: NDArray[np.float64]) -> NDArray[Any]:
    """Return the sums ``sum_j sign(c_j) x_j`` over the first k features, for every k of `KS`."""
    total, sums = np.zeros(len(X), dtype=np.float64), []
    done = 0
    for k in KS:
        more = features[done:k]
        total = total + X[:, more] @ signs[more]
        done = k
        sums.append(total)
    return np.array(sums)


def accuracies(sample: Sample, features: NDArray[np.intp], signs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the accuracy of the classifier of every k."""
    return np.mean((votes(sample[0], features, signs) > 0.0) == (sample[1] > 0.0), axis=1)


def published_run(
    samples: tuple[Sample, Sample, Sample], rng: np.random.Generator
) -> tuple[dict[str, list[list[float]]], int]:
    """Return training, reported and fresh accuracies by both published methods, and the hits."""
    train, held, _ = samples
    c_train, c_held = correlations(train), correlations(held)
    found, hits = {}, 0
    for method in ("standard", "Thresholdout"):
        told = c_held
        if method == "Thresholdout":
            hit = np.abs(c_train - c_held) > THRESHOLD + rng.normal(0.0, NOISE, D)
            told = np.where(hit, c_held + rng.normal(0.0, NOISE, D), c_train)
            hits += int(hit.sum())
        features, signs = chosen(c_train, told), np.sign(c_train)
        trained, reported, real = (accuracies(sample, features, signs) for sample in samples)
        if method == "Thresholdout":
            hit = np.abs(trained - reported) > THRESHOLD + rng.normal(0.0, NOISE, len(KS))
            reported = np.where(hit, reported + rng.normal(0.0, NOISE, len(KS)), trained)
            hits += int(hit.sum())
        found[method] = [trained.tolist(), reported.tolist(), real.tolist()]
    return found, hits


class Column:
    """A model that says what feature j is."""

    def __init__(self, feature: int) -> None:
        self.feature = feature

    def predict(self, X: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the feature."""
        return X[:, self.feature]


class Vote:
    """A classifier: the sign of a sum of signed features."""

    def __init__(self, features: NDArray[np.intp], signs: NDArray[np.float64]) -> None:
        self.features, self.signs = features, signs

    def predict(self, X: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the sign of the sum."""
        return np.where(X[:, self.features] @ self.signs > 0.0, 1.0, -1.0).astype(np.float32)


def product(y: NDArray[np.float32], outputs: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the score of a feature on every record, of which the mean is the correlation."""
    return np.asarray(y, dtype=np.float64) * outputs


CORRELATION = Metric(product, kind="mean", range=(-RANGE, RANGE))


def certified_run(samples: tuple[Sample, Sample, Sample], seed: int) -> dict[str, Any]:
    """Ask a `Holdout` about all correlations and all classifiers; return what it says."""
    train, held, fresh = samples
    holdout = SimulatedHoldout(*held, seed=seed, expected_questions=D + len(KS))
    c_train = correlations(train)
    known = [Guess(float(c), float(N), 1.0) for c in c_train]
    told = holdout.check_many([Column(j) for j in range(D)], scoring=CORRELATION, guesses=known)
    features, signs = chosen(c_train, np.array([answer.value for answer in told])), np.sign(c_train)
    models = [Vote(features[:k], signs[features[:k]]) for k in KS]
    final = holdout.check_many(models, scoring="accuracy", guesses=[Guess(0.5, float(N))] * len(KS))
    best = max(range(len(KS)), key=lambda number: (final[number].value, number))
    kept = holdout.certify(models[best], scoring="accuracy", guess=Guess(final[best].value, float(N)))
    real = accuracies(fresh, features, signs)
    inside = [
        answer.interval[0] <= rate <= answer.interval[1]
        for answer, rate in zip([*final, kept], [*real, real[best]], strict=True)
    ]
    return {
        "training": accuracies(train, features, signs).tolist(),
        "reported": [answer.value for answer in final],
        "fresh": real.tolist(),
        "kept": {
            "k": KS[best],
            "value": kept.value,
            "interval": list(kept.interval),
            "fresh": float(real[best]),
        },
        "intervals": [list(answer.interval) for answer in final],
        "fresh_inside": int(sum(inside)),
        "nats": holdout.report().nats,
        "surprises": sum(answer.verdict == "differs" for answer in told),
        "half_width_of_a_correlation": float(np.median([answer.half_width for answer in told])),
    }


def priced_noise(samples: tuple[Sample, Sample, Sample], seed: int) -> dict[str, Any]:
    """Return hits, nats and the last interval of the published noisy setting, put to a `Holdout`."""
    train, held, _ = samples
    holdout = SimulatedHoldout(*held, seed=seed, expected_questions=D + 1)
    noise = NoiseSettings("gaussian", NOISE, threshold=THRESHOLD)
    c_train = correlations(train)
    told = [
        holdout.check(
            Column(j), scoring=CORRELATION, guess=Guess(float(c_train[j]), float(N), 1.0), settings=noise
        )
        for j in range(D)
    ]
    features, signs = chosen(c_train, np.array([answer.value for answer in told])), np.sign(c_train)
    nats = holdout.report().nats
    last = holdout.check(
        Vote(features[:500], signs[features[:500]]), scoring="accuracy", guess=Guess(0.5, float(N))
    )
    hits = sum(answer.verdict == "differs" for answer in told)
    return {"hits": hits, "nats": nats, "interval": list(last.interval), "half_width": last.half_width}


def priced_exactly(samples: tuple[Sample, Sample, Sample], seed: int) -> dict[str, Any]:
    """Return nats and the last interval when every correlation is told exactly."""
    train, held, _ = samples
    holdout = SimulatedHoldout(*held, seed=seed)
    c_train = correlations(train)
    values = [
        holdout.certify(Column(j), scoring=CORRELATION, guess=Guess(float(c_train[j]), float(N), 1.0)).value
        for j in range(D)
    ]
    nats = holdout.report().nats
    features, signs = chosen(c_train, np.array(values)), np.sign(c_train)
    last = holdout.certify(
        Vote(features[:500], signs[features[:500]]), scoring="accuracy", guess=Guess(0.5, float(N))
    )
    return {"nats": nats, "value": last.value, "interval": list(last.interval)}


def transcript_counting(hits: int, questions: int) -> float:
    """Return the half-width from counting transcripts: which questions were hits, and their values to 1/n.

    A Hoeffding bound over ``C(k, hits) n^hits`` transcripts at 95 %; what it would be without the noise, of
    which nothing was counted.
    """
    ln_choose = math.lgamma(questions + 1) - math.lgamma(hits + 1) - math.lgamma(questions - hits + 1)
    return math.sqrt((math.log(2.0 / 0.05) + ln_choose + hits * math.log(1.0 / NOISE)) / (2.0 * N))


def run(full: bool) -> dict[str, Any]:
    """Return the mean accuracies of all panels and, of some repetitions, the certified runs."""
    repetitions, certified = (20, 3) if full else (2, 1)
    buffers = [np.empty((D, N), dtype=np.float32) for _ in range(3)]
    panels: dict[str, Any] = {}
    prices: dict[str, Any] = {}
    for signal in (False, True):
        name = "signal" if signal else "no signal"
        runs, all_hits, ours = [], [], []
        for repetition in range(repetitions):
            rng = np.random.Generator(np.random.SFC64([SEED, repetition, int(signal)]))
            train, held, fresh = (draw_sample(rng, buffer, signal=signal) for buffer in buffers)
            found, hits = published_run((train, held, fresh), rng)
            runs.append(found)
            all_hits.append(hits)
            if repetition < certified:
                ours.append(certified_run((train, held, fresh), SEED + repetition))
            if repetition == 0 and not signal:
                prices["noise"] = priced_noise((train, held, fresh), SEED)
                if full:
                    prices["exact"] = priced_exactly((train, held, fresh), SEED)
        panel: dict[str, Any] = {"hits": float(np.mean(all_hits)), "certified_runs": ours}
        for method in ("standard", "Thresholdout"):
            means = np.mean([each[method] for each in runs], axis=0)
            spread = np.std([each[method] for each in runs], axis=0)
            panel[method] = {
                "training": means[0],
                "reported": means[1],
                "fresh": means[2],
                "spread": spread[1],
            }
        panel["certified"] = {
            key: np.mean([each[key] for each in ours], axis=0) for key in ("training", "reported", "fresh")
        }
        panel["certified"]["low"] = np.mean([np.array(each["intervals"])[:, 0] for each in ours], axis=0)
        panel["certified"]["high"] = np.mean([np.array(each["intervals"])[:, 1] for each in ours], axis=0)
        panels[name] = panel
    prices["transcripts"] = transcript_counting(round(panels["no signal"]["hits"]), D + len(KS))
    return {
        "repetitions": repetitions,
        "certified": certified,
        "k": list(KS),
        "panels": panels,
        "prices": prices,
    }


def _at(panel: dict[str, Any], method: str, what: str, k: int) -> float:
    return float(panel[method][what][KS.index(k)])


def shown(result: dict[str, Any]) -> Shown:
    """Return what the page says."""
    panels, prices = result["panels"], result["prices"]
    none, signal = panels["no signal"], panels["signal"]
    last = none["certified"]
    kept = none["certified_runs"][0]["kept"]
    sentence = (
        "With nothing to be found, the standard holdout reports an accuracy of "
        f"{_at(none, 'standard', 'reported', 500):.3f} at k = 500 where fresh data say "
        f"{_at(none, 'standard', 'fresh', 500):.3f}; the certified run reports {kept['value']:.3f} with the "
        f"interval [{kept['interval'][0]:.3f}, {kept['interval'][1]:.3f}], after {D:,} checks of "
        "correlations, for the classifier that it keeps. The picture has its wider intervals while searching."
    )
    rows = []
    for name, panel in panels.items():
        for method in METHODS:
            for k in (10, 20, 100, 200, 500):
                published = PUBLISHED[name].get(method, {}).get(k)
                rows.append(
                    [
                        name,
                        method,
                        str(k),
                        *(f"{_at(panel, method, what, k):.3f}" for what in ("training", "reported", "fresh")),
                        "" if published is None else f"{published[1]:.3f}",
                        ""
                        if method != "certified"
                        else f"[{_at(panel, method, 'low', k):.3f}, {_at(panel, method, 'high', k):.3f}]",
                    ]
                )
    table = Table(
        "Accuracy of the vote of k features: in training, as reported, and on fresh records",
        ("panel", "method", "k", "training", "reported", "fresh", "in the literature", "interval"),
        rows,
    )
    noise = prices["noise"]
    price_rows = [
        [
            "checks in one round, and one exact answer",
            f"{np.mean([e['surprises'] for e in none['certified_runs']]):.1f}",
            f"{np.mean([e['nats'] for e in none['certified_runs']]):.2f}",
            f"{(last['high'][-1] - last['low'][-1]) / 2.0:.3f}",
        ],
        [
            "the noisy setting of the literature",
            str(noise["hits"]),
            f"{noise['nats']:,.0f}",
            f"{noise['half_width']:.3f}",
        ],
    ]
    if "exact" in prices:
        exact = prices["exact"]
        low, high = exact["interval"]
        price_rows.append([f"{D:,} exact answers", "", f"{exact['nats']:,.0f}", f"{(high - low) / 2.0:.3f}"])
    price = Table(
        "What each way of asking about all features costs, and the half-width of the next answer about an "
        "accuracy",
        ("way of asking", "surprises or hits", "nats", "half-width"),
        price_rows,
    )
    reported, fresh = _at(none, "standard", "reported", 500), _at(none, "standard", "fresh", 500)
    thresholdout, peak = _at(none, "Thresholdout", "reported", 500), _at(signal, "standard", "fresh", 20)
    best = int(np.argmax(signal["standard"]["fresh"]))
    inside = sum(each["fresh_inside"] for panel in panels.values() for each in panel["certified_runs"])
    asked = (len(KS) + 1) * sum(len(panel["certified_runs"]) for panel in panels.values())
    claims = [
        Claim(
            "standard holdout, no signal, k = 500: reported .631 +- .01",
            f"{reported:.3f}",
            abs(reported - 0.631) <= 0.01,
        ),
        Claim("its fresh accuracy: .500 +- .01", f"{fresh:.3f}", abs(fresh - 0.5) <= 0.01),
        Claim("Thresholdout, no signal, k = 500: at most .52", f"{thresholdout:.3f}", thresholdout <= 0.52),
        Claim(
            "with signal, the best fresh accuracy: .604 +- .01 at k = 20",
            f"{peak:.3f} at k = {KS[best]}",
            abs(peak - 0.604) <= 0.01 and KS[best] == 20,
        ),
        Claim(
            "certified intervals that hold the fresh accuracy: all", f"{inside} of {asked}", inside == asked
        ),
    ]
    remarks = [
        f"No theorem certifies the setting of the literature: a run of it has {none['hits']:.0f} hits in "
        f"{D + len(KS):,} answers on average, and its budget is unlimited. Counting the transcripts of its "
        f"hits gives a half-width of {prices['transcripts']:.2f}. Put to a holdout of this package it costs "
        f"{noise['nats']:,.0f} nats, and the next accuracy is known to within {noise['half_width']:.2f} "
        "only.",
        "The certified run is no better at finding features: its checks agree with the training "
        "correlations, as Thresholdout's mostly do. What it adds is an interval that holds.",
    ]
    settings = (
        f"n = d = {N:,}; means of {result['repetitions']} repetitions, certified runs of "
        f"{result['certified']} of them. Published: an independent re-run of 40 repetitions."
    )
    return Shown(sentence, settings, (table, _of_kept(panels), price), claims, remarks)


def _of_kept(panels: dict[str, Any]) -> Table:
    rows = [
        [
            name,
            str(kept["k"]),
            f"{kept['value']:.3f}",
            f"[{kept['interval'][0]:.3f}, {kept['interval'][1]:.3f}]",
            f"{kept['fresh']:.3f}",
        ]
        for name, panel in panels.items()
        for kept in (each["kept"] for each in panel["certified_runs"])
    ]
    header = ("panel", "k kept", "exact value on the holdout", "interval", "fresh")
    return Table("The classifier that each certified run keeps: one exact answer at its end", header, rows)


COLOURS = dict(zip(METHODS, (NAIVE, "tab:gray", SEARCHING), strict=True))


def draw(result: dict[str, Any], figure: Any) -> None:
    """Draw accuracies over k: three methods, without and with signal."""
    axes = figure.subplots(2, 3, sharex=True, sharey=True)
    figure.set_size_inches(9.0, 5.6)
    for row, (name, panel) in zip(axes, result["panels"].items(), strict=True):
        for axis, method in zip(row, METHODS, strict=True):
            axis.plot(result["k"], panel[method]["training"], ":", color="gray", label="in training")
            axis.plot(
                result["k"], panel[method]["reported"], color=COLOURS[method], label=f"reported: {method}"
            )
            axis.plot(result["k"], panel[method]["fresh"], "k--", label="on fresh records: the truth")
            if method == "certified":
                axis.fill_between(
                    result["k"],
                    panel[method]["low"],
                    panel[method]["high"],
                    color=SEARCHING,
                    alpha=0.25,
                    linewidth=0,
                    label="interval",
                )
            axis.set_title(f"{method}, {name}")
            axis.axhline(0.5, color="0.7", linewidth=0.5)
        row[0].set_ylabel("accuracy")
    shown = {line.get_label(): line for axis in axes[0] for line in axis.get_legend_handles_labels()[0]}
    figure.legend(handles=list(shown.values()), loc="outside lower center", ncols=3)
    for axis in axes[1]:
        axis.set_xlabel("features that vote")
