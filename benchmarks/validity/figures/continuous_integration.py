"""Labels that a test set needs for continuous integration (ease.ml/ci; Renggli et al., MLSys 2019).

32 models are tested one after the other, each within eps at a reliability of .99. "None": all are fixed in
advance, a union bound over 32. "Full": each may depend on the verdicts before it, a union bound over
``2^32`` transcripts. Their table is Hoeffding's; two models are compared by two estimates within eps/2
each.

What counts beside it: exact binomial tails; transcripts that can happen (a process that stops after r
passes has ``sum_(i < r) C(t - 1, i)`` of them before test t, which makes ``C(32, 1) + ... + C(32, r)``
questions in all); and, for two models, the difference of their
scores on each record, which is 0 wherever both say the same. Where they disagree on a share d of the
records, its variance is at most d, and Bennett's inequality needs ``ln(1/delta) / (d h(eps/d))`` labels,
``h(u) = (1 + u) ln(1 + u) - u``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import bdtr, bdtrc

from benchmarks.validity.figures.results import Claim, Shown, Table
from sklearn_ada import plan_holdout
from sklearn_ada.planning.display import SEARCHING

TITLE = "Labels for continuous integration (ease.ml/ci)"
SEED = 0  # nothing is drawn
STEPS, DELTA, DISAGREEMENT, ACCURACY = 32, 0.01, 0.1, 0.9
EPS = (0.1, 0.05, 0.01)
PASSES = {"full": None, "stops after 1 pass": 1, "stops after 3 passes": 3}
PUBLISHED = {
    "one model": {0.1: (404, 1340), 0.05: (1615, 5358), 0.01: (40_355, 133_930)},
    "two models": {0.1: (1753, 5496), 0.05: (7012, 21_984)},
}


def ln_questions(passes: int | None) -> float:
    """Return the logarithm of the number of questions that can come up in 32 tests.

    Fully adaptive that is ``2^32`` in their count; a process that stops at the r-th pass has had fewer than r
    before each of its tests.
    """
    if passes is None:
        return STEPS * math.log(2.0)
    return math.log(sum(math.comb(STEPS, i) for i in range(1, passes + 1)))


def hoeffding(eps: float, ln_delta: float) -> int:
    """Return the labels for one model by Hoeffding's inequality."""
    return math.ceil(-ln_delta / (2.0 * eps**2))


def two_by_hoeffding(eps: float, ln_delta: float) -> int:
    """Return the labels for two models, each within eps/2 at half of delta."""
    return hoeffding(eps / 2.0, ln_delta - math.log(2.0))


def bennett(eps: float, ln_delta: float, disagreement: float) -> int:
    """Return the labels for a difference of two models that disagree on at most this share of the records."""
    u = eps / disagreement
    return math.ceil(-ln_delta / (disagreement * ((1.0 + u) * math.log1p(u) - u)))


def exact_binomial(eps: float, ln_delta: float, accuracy: float) -> int:
    """Return the least n from which the binomial tail beyond eps is at most delta, on the worse side."""

    def enough(n: int) -> bool:
        above = (
            bdtrc(math.ceil(n * (accuracy + eps) - 1e-9) - 1, n, accuracy) if accuracy + eps < 1.0 else 0.0
        )
        below = bdtr(math.floor(n * (accuracy - eps) + 1e-9), n, accuracy)
        return max(above, below) <= math.exp(ln_delta)

    low, high = 1, hoeffding(eps, ln_delta)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    while not all(enough(n) for n in range(high, high + math.ceil(2.0 / eps))):  # tails go in steps
        high += 1
    return high


def run(full: bool) -> dict[str, Any]:
    """Return labels needed by every method."""
    levels = {
        "none": math.log(DELTA / STEPS),
        **{name: math.log(DELTA) - ln_questions(passes) for name, passes in PASSES.items()},
    }
    rows: dict[str, Any] = {}
    for name, ln_delta in levels.items():
        rows[name] = {
            "Hoeffding": [hoeffding(eps, ln_delta) for eps in EPS],
            "exact, accuracy .5": [exact_binomial(eps, ln_delta, 0.5) for eps in EPS],
            "exact, accuracy .9": [exact_binomial(eps, ln_delta, ACCURACY) for eps in EPS],
            "two models, Hoeffding": [two_by_hoeffding(eps, ln_delta) for eps in EPS],
            "two models, disagreement .1": [bennett(eps, ln_delta, DISAGREEMENT) for eps in EPS],
        }
    return {"eps": list(EPS), "steps": STEPS, "delta": DELTA, "labels": rows, "planned": planned()}


def planned() -> dict[str, dict[str, list[int]]]:
    """Return what `plan_holdout` says of the same, whose intervals have two sides."""

    def labels(eps: float, passes: int | None, **given: Any) -> int:
        level = 1.0 - 2.0 * DELTA
        plan = plan_holdout(
            n_questions=STEPS, width=eps, confidence_level=level, verdicts=True, passes=passes, **given
        )
        return int(plan["verdicts"].n)

    return {
        name: {
            "Hoeffding": [labels(eps, passes, expected_value=None) for eps in EPS],
            "two models, disagreement .1": [labels(eps, passes, disagreement=DISAGREEMENT) for eps in EPS],
        }
        for name, passes in PASSES.items()
    }


def shown(result: dict[str, Any]) -> Shown:
    """Return what the page says."""
    labels, eps = result["labels"], result["eps"]
    full, none = labels["full"], labels["none"]
    sentence = (
        f"For {result['steps']} models tested adaptively within {eps[0]}, two at a time, the known "
        f"count needs {full['two models, Hoeffding'][0]:,} labels; models that disagree on a tenth of the "
        f"records need {full['two models, disagreement .1'][0]:,}, and "
        f"{labels['stops after 1 pass']['two models, disagreement .1'][0]:,} where the process stops at the "
        "first pass."
    )
    table = Table(
        f"Labels needed for {result['steps']} tests at a reliability of {1 - result['delta']}",
        ("adaptivity", "method", *(f"eps = {e}" for e in eps)),
        [
            [name, method, *(f"{n:,}" for n in values)]
            for name, methods in labels.items()
            for method, values in methods.items()
        ],
    )
    claims = []
    for kind, method in (("one model", "Hoeffding"), ("two models", "two models, Hoeffding")):
        published = PUBLISHED[kind]
        found = {e: (none[method][eps.index(e)], full[method][eps.index(e)]) for e in published}
        claims.append(
            Claim(
                f"{kind}: the table of the literature, none / full",
                "; ".join(f"{a:,} / {b:,}" for a, b in found.values()),
                all(abs(found[e][i] - published[e][i]) <= 2 for e in published for i in (0, 1)),
            )
        )
    fewer = full["two models, disagreement .1"][0]
    claims.append(
        Claim("two models that disagree on a tenth, eps .1: 694 labels", f"{fewer:,}", fewer == 694)
    )
    same = [
        (labels[name][method][i], value)
        for name, methods in result["planned"].items()
        for method, values in methods.items()
        for i, value in enumerate(values)
    ]
    claims.append(
        Claim(
            "`plan_holdout` says the same of stop rules and of two models, to one label",
            f"{sum(abs(a - b) <= 1 for a, b in same)} of {len(same)}",
            all(abs(a - b) <= 1 for a, b in same),
        )
    )
    remarks = [
        "Exact tails count for little at an accuracy of one half and for much at .9, where the variance is "
        "small. Which of the two models' disagreement to assume can be seen on rows without labels. Every "
        "count is a plan at a given accuracy or disagreement; `Holdout` certifies what is found instead.",
        "`plan_holdout(verdicts=True)` plans all of it but two models by two estimates: `passes` is the stop "
        "rule, `disagreement` that of two models.",
    ]
    return Shown(sentence, "Nothing is drawn: all of it is computed from bounds.", (table,), claims, remarks)


def draw(result: dict[str, Any], figure: Any) -> None:
    """Draw labels by method and adaptivity at the largest eps; the table has one method more."""
    axis = figure.subplots()
    names = list(result["labels"])
    methods = {
        "Hoeffding": "tab:gray",
        "exact, accuracy .9": SEARCHING,
        "two models, Hoeffding": "lightgray",
        "two models, disagreement .1": "lightsteelblue",
    }
    for number, (method, colour) in enumerate(methods.items()):
        values = [result["labels"][name][method][0] for name in names]
        axis.bar(np.arange(len(names)) + 0.2 * number, values, 0.19, color=colour, label=method)
    axis.set_xticks(np.arange(len(names)) + 0.3, names)
    axis.set(ylabel=f"labels needed, eps = {result['eps'][0]}", ylim=(0, None))
    axis.legend(frameon=False)
