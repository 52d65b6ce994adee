"""The methods of a plan: the half-width of each, for a number of rows and of questions.

A method is one function, which `_method` registers with its description. Its formula lives in
`sklearn_ada.guarantees`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from scipy.special import ndtri
from scipy.stats import poisson

from sklearn_ada._validation import LN_2
from sklearn_ada.guarantees import medians, noise
from sklearn_ada.guarantees.baselines import blum_hardt_2015, rounding_half_width, verdict_half_width
from sklearn_ada.guarantees.cells import (
    PlannedCells,
    PlannedChecks,
    certify_level,
    plan_certifies,
    plan_checks,
)
from sklearn_ada.guarantees.description_length import ln_declared
from sklearn_ada.guarantees.intervals import wilson_deviation
from sklearn_ada.guarantees.mechanisms import thresholdout_direct
from sklearn_ada.guarantees.medians import MEDIAN_DEVIATION
from sklearn_ada.planning.methods import (
    ALL,
    AT_END,
    BEST_SO_FAR,
    FOR_DIFFERENCES,
    FOR_NUMBERS,
    FOR_VERDICTS,
    KEPT,
    ONE,
    QUANTILE_LEVEL,
    VERDICTS,
    WINNERS,
    Assumptions,
    Method,
)

_LEAST_COUNT = 0.5  # standard error of a count around its guess, at least
_BASSILY_BETA = 0.25  # beyond it the theorem has a further condition
_FALSE_HITS = 0.05  # of a right guess, expected in a whole Thresholdout


def methods(given: Assumptions) -> tuple[Method, ...]:
    """Return all methods under these assumptions; for verdicts, those that compare with them."""
    plan = FOR_VERDICTS if given.verdicts else FOR_NUMBERS
    if given.disagreement is not None:
        plan = FOR_DIFFERENCES
    stopping = {None: "", 1: "; the process stops at its first pass"}.get(
        given.passes, f"; the process stops after {given.passes} passes"
    )
    by_metric = given.typical is not None
    return tuple(
        replace(
            each,
            given=given,
            note=each.note + (stopping if each.certifies == VERDICTS else ""),
            unit=str(given.scoring) if by_metric else each.unit,
        )
        for each in _METHODS
        if each.planned_for >= plan and each.of_any_metric >= by_metric
    )


_METHODS: list[Method] = []
_Law = Callable[[Assumptions, int, int], float]


def _method(
    name: str,
    note: str,
    certifies: str = ALL,
    *,
    adaptive: bool = True,
    planned_for: int = FOR_NUMBERS,
    of_any_metric: bool = False,
) -> Callable[[_Law], _Law]:
    """Register the half-width of a method for means, or for any metric."""

    def register(law: _Law) -> _Law:
        method = Method(name, law, certifies, note, adaptive=adaptive, planned_for=planned_for)
        _METHODS.append(replace(method, of_any_metric=of_any_metric))
        return law

    return register


@_method(
    "one use", "a plain holdout: right for one question, whatever was asked elsewhere", ONE,
    adaptive=False, planned_for=FOR_DIFFERENCES, of_any_metric=True,
)  # fmt: skip
def _one_use(given: Assumptions, n: int, k: int) -> float:
    return given.half_width(n, given.ln_beta)


@_method(
    "fixed in advance", "a plain holdout and a union bound: the limit for adaptive questions",
    adaptive=False, planned_for=FOR_DIFFERENCES, of_any_metric=True,
)  # fmt: skip
def _fixed_in_advance(given: Assumptions, n: int, k: int) -> float:
    return given.half_width(n, given.ln_beta - math.log(k))


@_method(
    "declared models", "Holdout.declare: fixed in advance, beside adaptive questions about other models",
    adaptive=False, planned_for=FOR_VERDICTS, of_any_metric=True,
)  # fmt: skip
def _declared_models(given: Assumptions, n: int, k: int) -> float:
    return given.half_width(n, ln_declared(given.ln_beta, k))


@_method("sample splitting", "fresh rows for each question", planned_for=FOR_DIFFERENCES, of_any_metric=True)
def _sample_splitting(given: Assumptions, n: int, k: int) -> float:
    return _fixed_in_advance(given, n // k, k) if k <= n else math.inf


@_method("rounding", "answers rounded to equal cells, without a guess", planned_for=FOR_VERDICTS)
def _rounding(given: Assumptions, n: int, k: int) -> float:
    return rounding_half_width(n, k, given.ln_beta, expected_value=given.expected_value)


@_method("verdicts", "one bit for each question, no number", VERDICTS, planned_for=FOR_DIFFERENCES)
def _verdicts(given: Assumptions, n: int, k: int) -> float:
    return verdict_half_width(
        n, k, given.ln_beta,
        expected_value=given.expected_value, passes=given.passes, disagreement=given.disagreement,
    )  # fmt: skip


@_method("Ladder", "says nothing of questions that do not improve", BEST_SO_FAR, planned_for=FOR_VERDICTS)
def _ladder(given: Assumptions, n: int, k: int) -> float:
    return blum_hardt_2015(n, k, given.ln_beta, expected_value=given.expected_value).half_width


def _checks(given: Assumptions, n: int, k: int) -> PlannedChecks:
    deviation = wilson_deviation(given.value, given.guess_rows or n)
    error, rate = given.guess_error(n), given.surprise_rate
    return plan_checks(k, error, deviation, n, given.ln_beta, surprise_rate=rate)


@_method(
    "coded checks",
    "expected if guesses hold as assumed; each surprise widens, and every interval stays valid",
    planned_for=FOR_VERDICTS,
)  # fmt: skip
def _coded_checks(given: Assumptions, n: int, k: int) -> float:
    checks = _checks(given, n, k)
    return checks.check(lambda ln_delta: given.half_width(n, ln_delta, checks.half_cell))


@_method("certify after checks", "one model certified after the coded checks", KEPT, planned_for=FOR_VERDICTS)
def _certify_after_checks(given: Assumptions, n: int, k: int) -> float:
    return _checks(given, n, k).certify(lambda ln_delta: given.tilted_half_width(n, ln_delta))


@_method(
    "certify each", "exact values, such as the winner of every search",
    planned_for=FOR_VERDICTS, of_any_metric=True,
)  # fmt: skip
def _certify_each(given: Assumptions, n: int, k: int) -> float:
    if given.typical is None:
        return given.tilted_half_width(n, plan_certifies(k, n * given.guess_error(n), given.ln_beta))
    ln_delta, rows = certify_level(k, given.ln_beta), (n, given.guess_rows or n)
    return given.tilted_half_width(n, ln_delta - given.typical.exact_nats(*rows, ln_delta, answers=k - 1))


def _cells(given: Assumptions, n: int, k: int, certified: Callable[..., float]) -> float:
    """Return what searches in a row certify, each about its winner, whose value is sealed."""
    plan, typical = PlannedCells(k, given.ln_beta, given.surprise_rate, given.shares), given.typical

    def half_width(ln_delta: float, cells: float) -> float:
        if cells == 0.0:
            return given.tilted_half_width(n, ln_delta)
        if typical is not None:
            return typical.announced(n, given.guess_rows or n, ln_delta, searches=k)
        return given.half_width(n, ln_delta, cells * max(given.guess_error(n), _LEAST_COUNT / n))

    return certified(plan, half_width)


@_method(
    "cells, while searching",
    "answers='coarse', said of each winner at once; expected if guesses hold as assumed", WINNERS,
    of_any_metric=True,
)  # fmt: skip
def _cells_while_searching(given: Assumptions, n: int, k: int) -> float:
    return _cells(given, n, k, PlannedCells.coarse)


@_method(
    "cells, published", "answers='coarse', the exact value of one model in the end", KEPT, of_any_metric=True
)
def _cells_published(given: Assumptions, n: int, k: int) -> float:
    return _cells(given, n, k, PlannedCells.published)


@_method(
    "cells, unsealed", "answers='coarse', the exact values of all winners once the holdout is closed", AT_END,
    of_any_metric=True,
)  # fmt: skip
def _cells_unsealed(given: Assumptions, n: int, k: int) -> float:
    return _cells(given, n, k, PlannedCells.unsealed)


@_method("Gaussian noise, direct", "transfer theorem of sklearn_ada.guarantees.transfer")
def _gaussian_direct(given: Assumptions, n: int, k: int) -> float:
    return noise.gaussian_direct(n, k, given.ln_beta).half_width


@_method("Gaussian noise, Jung", "Jung et al. 2020 with the exact privacy curve")
def _gaussian_jung(given: Assumptions, n: int, k: int) -> float:
    return noise.gaussian_jung(n, k, given.ln_beta).half_width


@_method("Gaussian noise, Rogers", "mutual information, Rogers et al. 2020, corrected")
def _gaussian_rogers(given: Assumptions, n: int, k: int) -> float:
    return noise.gaussian_rogers(n, k, given.ln_beta).half_width


@_method(
    "Gaussian noise, Bassily", "Bassily et al. 2016 with the exact privacy curve; confidence of 0.75 or more"
)
def _gaussian_bassily(given: Assumptions, n: int, k: int) -> float:
    return noise.gaussian_bassily(n, k, given.ln_beta).half_width if given.beta <= _BASSILY_BETA else math.inf


@_method("Laplace noise, Bassily", "Bassily et al. 2016, lecture 19; confidence of 0.75 or more")
def _laplace_bassily(given: Assumptions, n: int, k: int) -> float:
    return noise.laplace_bassily(n, k, given.beta).half_width if given.beta <= _BASSILY_BETA else math.inf


@_method("Thresholdout", "Laplace noise and a budget of hits, direct transfer; confidence of 0.5 or more")
def _thresholdout(given: Assumptions, n: int, k: int) -> float:
    if given.ln_beta > -LN_2:
        return math.inf
    threshold = -given.guess_error(n) * float(ndtri(0.5 * _FALSE_HITS / k))
    hits = max(int(poisson.ppf(0.95, _FALSE_HITS + k * given.surprise_rate)), 1)
    return thresholdout_direct(n, k, hits, given.ln_beta, threshold=threshold).half_width


def _median(name: str, note: str, *, exact: bool = False) -> Callable[[_Law], _Law]:
    """Register a method that certifies a median.

    The decorated function returns the level of the quantiles at which its interval ends, for numbers of
    subsamples and of questions. With ``exact``, an even number of subsamples is made odd by leaving one out,
    as the lower median of an even number has fewer values below it than above.
    """

    def register(quantile_level: _Law) -> _Law:
        def half_width(given: Assumptions, n: int, k: int) -> float:
            m = n // given.subsample_size
            return 0.5 - quantile_level(given, m - 1 + m % 2 if exact else m, k) if m else 0.5

        _METHODS.append(Method(name, half_width, ALL, note, QUANTILE_LEVEL))
        return quantile_level

    return register


@_median(
    "median, guessed",
    "exact median of an odd number of subsamples, coded around a guess; expected if guesses hold", exact=True,
)  # fmt: skip
def _guessed(given: Assumptions, m: int, k: int) -> float:
    of_guess = given.guess_rows and max(given.guess_rows // given.subsample_size, 1)
    error = MEDIAN_DEVIATION * math.sqrt(1.0 / m + 1.0 / (of_guess or m))
    checks = plan_checks(k, error, MEDIAN_DEVIATION, m, given.ln_beta, surprise_rate=given.surprise_rate)
    return checks.check(lambda ln_delta: medians.quantile_interval(m, 0.0, ln_delta)[0])


@_median(
    "median, uniform code",
    "exact median of an odd number of subsamples on a grid, without a guess", exact=True,
)  # fmt: skip
def _uniform_code(given: Assumptions, m: int, k: int) -> float:
    return medians.uniform_code_level(m, k, given.grid_size, given.ln_beta)


@_median("median, direct", "exponential mechanism, direct transfer")
def _direct(given: Assumptions, m: int, k: int) -> float:
    return medians.stable_median_level(m, k, given.grid_size, given.ln_beta, transfer="direct").level


@_median("median, Jung", "exponential mechanism, Jung et al. 2020")
def _jung(given: Assumptions, m: int, k: int) -> float:
    return medians.stable_median_level(m, k, given.grid_size, given.ln_beta, transfer="jung").level


@_median("median, Feldman-Steinke", "Theorem 4.3 of 2017: the level 1/4 or nothing; confidence above 0.5")
def _feldman_steinke(given: Assumptions, m: int, k: int) -> float:
    if given.beta >= 0.5:
        return 0.0
    enough = medians.feldman_steinke_2017_theorem_4_3(k, given.grid_size, given.beta, failure="beta")
    return 0.25 if m >= enough else 0.0
