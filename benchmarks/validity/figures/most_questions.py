"""How many adaptive questions each static method answers within .1, and where one overtakes another."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.validity.figures.results import Claim, Shown, Table
from benchmarks.validity.most_questions import FIGURES, METHODS, SIZES, TAU, most
from sklearn_ada import plan_holdout
from sklearn_ada.planning.display import SEARCHING

TITLE = "Most questions within .1"
SEED = 0  # nothing is drawn
OURS = {
    "certify each": ("certify each", 0.0),
    "coded checks, every guess is a surprise": ("coded checks", 1.0),
    "coded checks, one guess in ten is a surprise": ("coded checks", 0.1),
    "coded checks, one guess in a hundred": ("coded checks", 0.01),
    "coded checks, off by sampling only": ("coded checks", 0.0),
}
OWN_BOUND = "Gaussian, direct"
PAIRS = (
    ("rounding", "Gaussian, Jung et al., exact curve"),
    ("rounding", OWN_BOUND),
    ("splitting", OWN_BOUND),
)
MANY = 10**9


def overtakes(first: str, second: str) -> int | None:
    """Return about the least n, up to 10^6, from which the second method answers more."""
    sizes = np.unique(np.round(np.geomspace(1e3, 1e6, 73)).astype(int))
    ahead = [most(partial(METHODS[second], int(n))) > most(partial(METHODS[first], int(n))) for n in sizes]
    if not ahead[-1]:
        return None
    return int(sizes[max((i + 1 for i, each in enumerate(ahead) if not each), default=0)])


def run(full: bool) -> dict[str, Any]:
    """Return the largest numbers of questions, and crossovers where the form is full."""
    static = {name: [most(partial(fits, n)) for n in SIZES] for name, fits in METHODS.items()}
    ours: dict[str, Any] = {}
    for name, (row, rate) in OURS.items():
        plans = [plan_holdout(n=n, width=TAU, expected_value=None, surprise_rate=rate)[row] for n in SIZES]
        ours[name] = [plan.n_questions for plan in plans]
    crossovers = (
        {f"{second} over {first}": overtakes(first, second) for first, second in PAIRS} if full else {}
    )
    return {"tau": TAU, "n": list(SIZES), "static": static, "ours": ours, "crossovers": crossovers}


def _count(k: int) -> str:
    return "10^9 or more" if k >= MANY else f"{k:,}"


def shown(result: dict[str, Any]) -> Shown:
    """Return what the page says."""
    static, ours, sizes = result["static"], result["ours"], result["n"]
    published = [name for name in static if FIGURES[name][0] is not None]
    best = max(published, key=lambda name: static[name][0])
    sentence = (
        f"At n = {sizes[0]:,} no method of the literature without guesses answers more than "
        f"{static[best][0]} "
        f"adaptive questions within {result['tau']} ({best}); coded checks answer "
        f"{_count(ours['coded checks, one guess in ten is a surprise'][0])} even if one guess in ten is a "
        f"surprise, and {_count(ours['coded checks, off by sampling only'][0])} if guesses are off by "
        "sampling only, beyond the picture. Noise by the package's own theorem is 'Gaussian, direct'. "
        "All are numbers of `plan_holdout`; nobody has asked so many."
    )
    rows = []
    for name, values in static.items():
        figures = FIGURES[name]
        rows.append(
            [
                name,
                *(
                    f"{k:,}" + ("" if f is None else f" ({f:,})")
                    for k, f in zip(values, figures, strict=True)
                ),
            ]
        )
    rows += [[name, *map(_count, values)] for name, values in ours.items()]
    table = Table(
        f"Most adaptive questions within {result['tau']} at 95 %; in brackets figures computed elsewhere",
        ("method", *(f"n = {n:,}" for n in sizes)),
        rows,
    )
    crossings = [
        [pair, "not up to 10^6" if n is None else f"about {n:,}"] for pair, n in result["crossovers"].items()
    ]
    tables = [table]
    if crossings:
        tables.append(Table("From which n on the first answers more questions", ("methods", "n"), crossings))
    claims = []
    for name in ("splitting", "Gaussian, Jung et al., exact curve", "Gaussian, Rogers et al., corrected"):
        ratios = [k / f for k, f in zip(static[name], FIGURES[name], strict=True) if f]
        claims.append(
            Claim(
                f"{name}: within 2 % of the figure, or one question",
                ", ".join(f"{r:.3f}" for r in ratios),
                all(
                    abs(k - f) <= max(1.0, 0.02 * f) for k, f in zip(static[name], FIGURES[name], strict=True)
                ),
            )
        )
    remarks = [
        "Rows of this package are plans: what is expected if guesses hold as assumed, while certificates "
        "are computed from what was said. On a million records, noise by the package's own theorem answers "
        "more than exact answers do; where most guesses hold, coded checks answer more than either."
    ]
    return Shown(sentence, "Nothing is drawn: all of it is computed from bounds.", tables, claims, remarks)


def draw(result: dict[str, Any], figure: Any) -> None:
    """Draw numbers of questions over n, of two methods without guesses and of three with them."""
    axis = figure.subplots()
    lines = {
        BEST: (result["static"][BEST], "tab:gray", "-"),
        f"ours: {OWN_BOUND}": (result["static"][OWN_BOUND], "tab:cyan", "-"),
        **{f"ours: {name}": (result["ours"][name], SEARCHING, style) for name, style in GUESSES.items()},
    }
    for name, (values, colour, style) in lines.items():
        axis.plot(result["n"], values, style, color=colour, marker="o", markersize=3, label=name)
    axis.set(xscale="log", yscale="log", xlabel="records", ylabel=f"questions within {result['tau']}")
    axis.legend(frameon=False)


BEST = "rounding"  # of the literature
GUESSES = {
    "coded checks, every guess is a surprise": "--",
    "coded checks, one guess in ten is a surprise": "-.",
    "coded checks, one guess in a hundred": "-",
}
