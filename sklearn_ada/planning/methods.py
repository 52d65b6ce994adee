"""The methods that a plan compares, each a half-width that depends on records and questions."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from scipy.special import ndtri
from scipy.stats import poisson

from sklearn_ada._constants import LN_2
from sklearn_ada.guarantees.baselines import (
    nonadaptive_half_width,
    rounding_half_width,
    sample_splitting_half_width,
    verdict_half_width,
)
from sklearn_ada.guarantees.description_length.declared_models import ln_declared
from sklearn_ada.guarantees.description_length.planned_cells import PlannedCells
from sklearn_ada.guarantees.description_length.planned_checks import (
    PlannedChecks,
    plan_certifies,
    plan_checks,
    wilson_deviation,
)
from sklearn_ada.guarantees.intervals.expected_width import expected_half_width
from sklearn_ada.guarantees.intervals.expected_width_of_difference import difference_half_width
from sklearn_ada.guarantees.ladder import blum_hardt_2015
from sklearn_ada.guarantees.medians.exact_median import (
    MEDIAN_DEVIATION,
    quantile_interval,
    uniform_code_level,
)
from sklearn_ada.guarantees.medians.feldman_steinke import feldman_steinke_2017_theorem_4_3
from sklearn_ada.guarantees.medians.stable_median_plan import stable_median_level
from sklearn_ada.guarantees.transfer.gaussian_noise import gaussian_bassily, gaussian_direct, gaussian_jung
from sklearn_ada.guarantees.transfer.laplace_noise import laplace_bassily
from sklearn_ada.guarantees.transfer.mutual_information import gaussian_rogers
from sklearn_ada.guarantees.transfer.thresholdout import thresholdout_direct
from sklearn_ada.planning.assumptions import Assumptions

__all__ = [
    "ALL", "AT_END", "BEST_SO_FAR", "KEPT", "LEVEL", "MEAN", "ONE", "VERDICTS", "WINNERS",
    "Method", "methods",
]  # fmt: skip

MEAN, LEVEL = "mean", "quantile level"
ALL, KEPT, ONE = "every answer", "the model kept", "one answer"
BEST_SO_FAR, VERDICTS = "the best so far", "pass or fail"
WINNERS, AT_END = "every winner", "every winner, in the end"

_BASSILY_BETA = 0.25  # beyond it the theorem has a further condition
_LEAST_COUNT = 0.5  # standard error of a count around its guess, at least
_FALSE_HITS = 0.05  # of a right guess, expected in a whole Thresholdout


@dataclass(frozen=True)
class Method:
    """One way to answer, and how close it gets.

    Parameters
    ----------
    name : str
    half_width : callable
        Takes the numbers of records and of questions; falls in the first, rises in the second. From 1/2 on
        it is vacuous; infinite where the method can do nothing.
    certifies : str
        What the half-width is about.
    note : str
        What to know before choosing it.
    unit : {"mean", "quantile level"}
    adaptive : bool, default=True
        Whether questions may depend on earlier answers.
    block : int, default=1
        Records that are used together: only whole blocks of them count.
    """

    name: str
    half_width: Callable[[int, int], float]
    certifies: str
    note: str
    unit: str = MEAN
    adaptive: bool = True
    block: int = 1


def methods(given: Assumptions) -> tuple[Method, ...]:
    """Return all methods under these assumptions; for verdicts, those that compare with them."""
    if given.disagreement is not None:
        return _differences(given.ln_beta, given.disagreement, given.passes)
    if given.verdicts:
        return (*_plain(given), *_coded(given))
    return (*_plain(given), *_coded(given), *_cells(given), *_noisy(given), *_medians(given))


def _plain(given: Assumptions) -> tuple[Method, ...]:
    ln_beta, p = given.ln_beta, given.expected_value
    return (
        Method(
            "one use", lambda n, k: expected_half_width(n, ln_beta, p), ONE,
            "a plain holdout: right for one question, whatever was asked elsewhere", adaptive=False,
        ),
        Method(
            "fixed in advance", lambda n, k: nonadaptive_half_width(n, k, ln_beta, expected_value=p), ALL,
            "a plain holdout and a union bound: the limit for adaptive questions", adaptive=False,
        ),
        Method(
            "declared models", lambda n, k: expected_half_width(n, ln_declared(ln_beta, k), p), ALL,
            "Holdout.declare: fixed in advance, beside adaptive questions about other models", adaptive=False,
        ),
        Method(
            "sample splitting", lambda n, k: sample_splitting_half_width(n, k, ln_beta, expected_value=p),
            ALL, "fresh records for each question",
        ),
        Method(
            "rounding", lambda n, k: rounding_half_width(n, k, ln_beta, expected_value=p), ALL,
            "answers rounded to equal cells, without a guess",
        ),
        Method(
            "verdicts",
            lambda n, k: verdict_half_width(n, k, ln_beta, expected_value=p, passes=given.passes),
            VERDICTS, f"one bit for each question, no number{_stopping(given.passes)}",
        ),
        Method(
            "Ladder", lambda n, k: blum_hardt_2015(n, k, ln_beta, expected_value=p).half_width, BEST_SO_FAR,
            "says nothing of questions that do not improve",
        ),
    )  # fmt: skip


def _differences(ln_beta: float, disagreement: float, passes: int | None) -> tuple[Method, ...]:
    """Return what is planned for differences of two models that disagree on at most this share."""

    def of(n: int, ln_questions: float) -> float:
        return difference_half_width(n, ln_beta - ln_questions, disagreement)

    return (
        Method(
            "one use", lambda n, k: of(n, 0.0), ONE,
            "a plain holdout: right for one question, whatever was asked elsewhere", adaptive=False,
        ),
        Method(
            "fixed in advance", lambda n, k: of(n, math.log(k)), ALL,
            "a plain holdout and a union bound: the limit for adaptive questions", adaptive=False,
        ),
        Method(
            "sample splitting", lambda n, k: of(n // k, math.log(k)) if k <= n else math.inf, ALL,
            "fresh records for each question",
        ),
        Method(
            "verdicts",
            lambda n, k: verdict_half_width(n, k, ln_beta, passes=passes, disagreement=disagreement),
            VERDICTS, f"one bit for each question, no number{_stopping(passes)}",
        ),
    )  # fmt: skip


def _stopping(passes: int | None) -> str:
    if passes is None:
        return ""
    return (
        "; the process stops at its first pass"
        if passes == 1
        else f"; the process stops after {passes} passes"
    )


def _coded(given: Assumptions) -> tuple[Method, ...]:
    p = given.expected_value

    def plan(n: int, k: int) -> PlannedChecks:
        return plan_checks(
            k, given.guess_error(n), wilson_deviation(given.value, given.guess_rows or n), n, given.ln_beta,
            surprise_rate=given.surprise_rate,
        )  # fmt: skip

    def check(n: int, k: int) -> float:
        checks = plan(n, k)
        return checks.check(lambda ln_delta: expected_half_width(n, ln_delta, p, reach=checks.half_cell))

    def certify(n: int, k: int) -> float:
        return plan(n, k).certify(lambda ln_delta: expected_half_width(n, ln_delta, p))

    def certify_each(n: int, k: int) -> float:
        ln_delta = plan_certifies(k, n * given.guess_error(n), given.ln_beta)
        return expected_half_width(n, ln_delta, p)

    return (
        Method(
            "coded checks", check, ALL,
            "expected if guesses hold as assumed; each surprise widens, and every interval stays valid",
        ),
        Method("certify after checks", certify, KEPT, "one model certified after the coded checks"),
        Method("certify each", certify_each, ALL, "exact values, such as the winner of every search"),
    )  # fmt: skip


def _cells(given: Assumptions) -> tuple[Method, ...]:
    """Return what searches in a row certify, each about its winner, whose count is sealed."""
    p = given.expected_value

    def planned(kind: str) -> Callable[[int, int], float]:
        def half_width(n: int, k: int) -> float:
            error = max(given.guess_error(n), _LEAST_COUNT / n)
            plan = PlannedCells(k, given.ln_beta, given.surprise_rate)
            of: Callable[[Callable[[float, float], float]], float] = getattr(plan, kind)
            return of(lambda ln_delta, cells: expected_half_width(n, ln_delta, p, reach=cells * error))

        return half_width

    return (
        Method(
            "cells, while searching", planned("told"), WINNERS,
            "answers='cells', said of each winner at once; expected if guesses hold as assumed",
        ),
        Method(
            "cells, published", planned("published"), KEPT,
            "answers='cells', the exact value of one model in the end",
        ),
        Method(
            "cells, unsealed", planned("unsealed"), AT_END,
            "answers='cells', the exact values of all winners once the holdout is closed",
        ),
    )  # fmt: skip


def _noisy(given: Assumptions) -> tuple[Method, ...]:
    ln_beta, beta = given.ln_beta, given.beta

    def bassily(bound: Callable[[int, int], float]) -> Callable[[int, int], float]:
        return lambda n, k: bound(n, k) if beta <= _BASSILY_BETA else math.inf

    def thresholdout(n: int, k: int) -> float:
        if ln_beta > -LN_2:
            return math.inf
        threshold = -given.guess_error(n) * float(ndtri(0.5 * _FALSE_HITS / k))
        hits = max(int(poisson.ppf(0.95, _FALSE_HITS + k * given.surprise_rate)), 1)
        return thresholdout_direct(n, k, hits, ln_beta, threshold=threshold).half_width

    return (
        Method(
            "Gaussian noise, direct", lambda n, k: gaussian_direct(n, k, ln_beta).half_width, ALL,
            "transfer theorem of sklearn_ada.guarantees.transfer.direct",
        ),
        Method(
            "Gaussian noise, Jung", lambda n, k: gaussian_jung(n, k, ln_beta).half_width, ALL,
            "Jung et al. 2020 with the exact privacy curve",
        ),
        Method(
            "Gaussian noise, Rogers", lambda n, k: gaussian_rogers(n, k, ln_beta).half_width, ALL,
            "mutual information, Rogers et al. 2020, corrected",
        ),
        Method(
            "Gaussian noise, Bassily", bassily(lambda n, k: gaussian_bassily(n, k, ln_beta).half_width), ALL,
            "Bassily et al. 2016 with the exact privacy curve; confidence of 0.75 or more",
        ),
        Method(
            "Laplace noise, Bassily", bassily(lambda n, k: laplace_bassily(n, k, beta).half_width), ALL,
            "Bassily et al. 2016, lecture 19; confidence of 0.75 or more",
        ),
        Method(
            "Thresholdout", thresholdout, ALL,
            "Laplace noise and a budget of hits, direct transfer; confidence of 0.5 or more",
        ),
    )  # fmt: skip


def _medians(given: Assumptions) -> tuple[Method, ...]:
    ln_beta, grid_size = given.ln_beta, given.grid_size
    guess_subsamples = given.guess_rows and max(given.guess_rows // given.subsample_size, 1)

    def median(name: str, level: Callable[[int, int], float], note: str) -> Method:
        """Return the method of a median whose level depends on the subsamples and the questions."""

        def half_width(n: int, k: int) -> float:
            m = n // given.subsample_size
            return 0.5 - level(m, k) if m else 0.5

        return Method(name, half_width, ALL, note, LEVEL, block=given.subsample_size)

    def exact(level: Callable[[int, int], float]) -> Callable[[int, int], float]:
        """Leave one of an even number of subsamples out: their lower median has fewer on one of its sides."""
        return lambda m, k: level(m - 1 + m % 2, k)

    def guessed(m: int, k: int) -> float:
        error = MEDIAN_DEVIATION * math.sqrt(1.0 / m + 1.0 / (guess_subsamples or m))
        checks = plan_checks(
            k, error, MEDIAN_DEVIATION, m, ln_beta,
            surprise_rate=given.surprise_rate,
        )  # fmt: skip
        return checks.check(lambda ln_delta: quantile_interval(m, 0.0, ln_delta)[0])

    def feldman_steinke(m: int, k: int) -> float:
        if given.beta >= 0.5:
            return 0.0
        enough = feldman_steinke_2017_theorem_4_3(k, grid_size, given.beta, failure="beta")
        return 0.25 if m >= enough else 0.0

    def private(transfer: str) -> Callable[[int, int], float]:
        return lambda m, k: stable_median_level(m, k, grid_size, ln_beta, transfer=transfer).level

    return (
        median(
            "median, guessed", exact(guessed),
            "exact median of an odd number of subsamples, coded around a guess; expected if guesses hold",
        ),
        median(
            "median, uniform code", exact(lambda m, k: uniform_code_level(m, k, grid_size, ln_beta)),
            "exact median of an odd number of subsamples on a grid, without a guess",
        ),
        median("median, direct", private("direct"), "exponential mechanism, direct transfer"),
        median("median, Jung", private("jung"), "exponential mechanism, Jung et al. 2020"),
        median(
            "median, Feldman-Steinke", feldman_steinke,
            "Theorem 4.3 of 2017: the level 1/4 or nothing; confidence above 0.5",
        ),
    )  # fmt: skip
