"""Figures computed elsewhere: half-widths, most questions, subsamples, and labels of ease.ml/ci."""

import functools
import math
from unittest import mock

import pytest

from sklearn_ada import plan_holdout
from sklearn_ada.guarantees import expected_half_width, plan_checks, wilson_deviation
from sklearn_ada.planning.laws import methods
from sklearn_ada.planning.methods import Assumptions
from tests.support.rows import reference

WORST = {"expected_value": None, "grid_size": 1000, "subsample_size": 1}
BY_NAME = {method.name: method for method in methods(Assumptions(**WORST))}
COLUMNS = {
    "nonadaptive": "fixed in advance",
    "sample_splitting": "sample splitting",
    "rounding": "rounding",
    "gaussian_jung": "Gaussian noise, Jung",
    "gaussian_rogers": "Gaussian noise, Rogers",
}


@functools.cache
def planned(name, **asked):
    """Return what one method plans; the others, some of which take long to solve, are left out."""

    def alone(given):
        return tuple(method for method in methods(given) if method.name == name)

    with mock.patch("sklearn_ada.planning.plan.methods", alone):
        return plan_holdout(**WORST, **asked)[name]


@pytest.mark.parametrize("row", reference("half_widths"), ids=lambda row: f"{row['n']}-{row['k']}")
def test_half_widths_are_the_reference_numbers(row):
    n, k = int(row["n"]), int(row["k"])
    for column, name in COLUMNS.items():
        width, published = BY_NAME[name].half_width(n, k), float(row[column])
        if column == "rounding" and (k < 10 or (n, k) == (1_000_000, 10)):
            # The reference rounds even one answer, to 399 cells at most.
            assert width <= published * (1 + 5e-5)
        else:
            assert width == pytest.approx(published, rel=1e-4)


@pytest.mark.parametrize(
    ("name", "figures", "slack"),
    [
        ("sample splitting", (28, 219, 1_784), 0.01),  # the figures were searched on a coarse grid
        ("rounding", (34, 350, 3_515), 0.25),  # the figures count transcripts less sharply; never fewer here
        ("Gaussian noise, Jung", (4, 323, 25_216), 0.01),
        ("Gaussian noise, Rogers", (2, 263, 21_184), 0.01),
    ],
)
def test_most_questions_within_a_tenth(name, figures, slack):
    for n, figure in zip((10_000, 100_000, 1_000_000), figures, strict=True):
        k = planned(name, n=n, width=0.1).n_questions
        assert (1 - slack) * figure - 1 <= k <= (1 + slack) * figure + 1


def test_most_questions_by_bassily():
    """The figures, 0, 29 and 2,224, come from other constants: only the order of magnitude compares."""
    none, some, many = (
        planned("Gaussian noise, Bassily", n=n, width=0.1).n_questions for n in (10_000, 100_000, 1_000_000)
    )
    assert none == 0
    assert 1 <= some <= 29
    assert 2_224 / 2 <= many <= 2_224 * 2


@pytest.mark.parametrize(
    ("k", "feldman_steinke", "jung", "uniform"),
    [(10, 100_346, 11_857, 546), (100, 295_646, 42_345, 5_538), (1_000, 1_076_523, 147_717, 55_000)],
)
def test_subsamples_for_k_medians_between_the_quartiles(k, feldman_steinke, jung, uniform):
    def subsamples(name):
        return planned(f"median, {name}", n_questions=k, width=0.25).n

    assert subsamples("Feldman-Steinke") == feldman_steinke
    assert 0.98 * jung <= subsamples("Jung") <= jung
    # The figure is by DKW; the binomial tail needs about 470 instead of 546.
    assert 0.82 * uniform <= subsamples("uniform code") <= 0.88 * uniform
    assert subsamples("direct") < 0.2 * jung


@pytest.mark.parametrize(
    ("width", "fixed", "adaptive"), [(0.1, 404, 1_340), (0.05, 1_615, 5_358), (0.01, 40_355, 133_930)]
)
def test_labels_are_as_many_as_those_of_ease_ml_ci(width, fixed, adaptive):
    """32 steps at reliability .99; its bounds are one-sided, so two-sided ones at .98 are the same."""
    asked = {"n_questions": 32, "width": width, "confidence_level": 0.98, "expected_value": None}
    plan = plan_holdout(**asked, verdicts=True)
    assert plan["fixed in advance"].n == fixed
    assert plan["verdicts"].n == pytest.approx(adaptive, abs=1)


def test_beta_is_that_of_the_confidence_level():
    assert pytest.approx(0.02) == Assumptions(confidence_level=0.98).beta
    assert Assumptions(confidence_level=0.98).ln_beta == pytest.approx(math.log(0.02))


def test_the_prototype_of_checks_and_certify():
    """The half-widths of the design: accuracy .85, guess and holdout of n rows each."""
    for n, k, check in [
        (1_000, 100, 0.103),
        (10_000, 100, 0.0325),
        (10_000, 1_000, 0.0405),
        (100_000, 100, 0.0097),
    ]:
        given = Assumptions()
        checks = plan_checks(
            k, given.guess_error(n), wilson_deviation(0.85, n), n, given.ln_beta, check_share=0.5
        )  # of the prototype
        width = checks.check(
            lambda ln_delta, n=n, reach=checks.half_cell: expected_half_width(n, ln_delta, 0.85, reach=reach)
        )
        assert 0.88 * check <= width <= 1.05 * check
    plan = plan_holdout(n=10_000, n_questions=1_000)
    assert plan["one use"].width == pytest.approx(0.0070, rel=0.01)
    assert plan["fixed in advance"].width == pytest.approx(0.0145, rel=0.01)
    assert plan["certify after checks"].width == pytest.approx(0.0076, rel=0.08)
    assert plan["coded checks"].width * 4 < min(
        plan[name].width for name in ("sample splitting", "rounding", "Gaussian noise, direct")
    )
