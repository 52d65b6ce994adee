"""Plans of pass or fail: stop rules, two models, and which method is named."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom

from sklearn_ada import plan_holdout
from sklearn_ada.guarantees import difference_half_width, hoeffding_half_width, verdict_half_width

LN_BETA = math.log(0.05)
ASKED = {"n_questions": 32, "width": 0.1, "confidence_level": 0.98, "verdicts": True}


def questions_of(k, passes):
    """Return how many questions can be asked, by following every transcript of a process that stops."""
    ends = {(0, 0): 1}  # tests so far and passes so far: how many transcripts lead there
    asked = 0
    for step in range(k):
        living = [(at, count) for at, count in ends.items() if at[0] == step and at[1] < passes]
        asked += sum(count for _, count in living)
        for (_, had), count in living:
            for verdict in (0, 1):
                where = step + 1, had + verdict
                ends[where] = ends.get(where, 0) + count
    return asked


@pytest.mark.parametrize(("k", "passes"), [*itertools.product((1, 2, 7, 12), (1, 2, 3, 6, 12, 40)), (200, 4)])
def test_transcripts_of_a_process_that_stops_are_those_that_can_happen(k, passes):
    exact = hoeffding_half_width(1_000, LN_BETA - math.log(questions_of(k, passes)))
    planned = verdict_half_width(1_000, k, LN_BETA, passes=passes)
    everything = verdict_half_width(1_000, k, LN_BETA)
    assert exact * (1 - 1e-9) <= planned <= everything
    if 2 * passes <= k or passes >= k:
        assert planned == pytest.approx(exact, rel=1e-9)


def test_a_rule_that_stops_later_never_needs_less_and_one_that_never_stops_most():
    widths = [verdict_half_width(10**4, 10**6, LN_BETA, passes=passes) for passes in (1, 2, 10, 10**5, 10**6)]
    assert widths == sorted(widths)
    assert widths[0] == pytest.approx(hoeffding_half_width(10**4, LN_BETA - math.log(10**6)))


@pytest.mark.parametrize(("n", "d"), [(40, 0.1), (40, 1.0), (300, 0.05), (300, 0.5), (2_000, 0.01)])
@pytest.mark.parametrize("delta", [0.3, 0.05, 1e-4])
def test_differences_of_two_models_are_within_the_half_width(n, d, delta):
    """The worst there is: all disagreement in favour of one model, or balanced; exact tails of both."""
    half_width = difference_half_width(n, math.log(delta), d)
    one_sided = binom(n, d)  # wins only; the mean difference is d
    assert one_sided.sf(n * (d + half_width) - 1e-9) <= delta / 2
    assert one_sided.cdf(n * (d - half_width) + 1e-9) <= delta / 2
    m = np.arange(n + 1)  # how many rows differ; then come wins minus losses
    wins = binom.sf(np.ceil((n * half_width + m) / 2 - 1e-9) - 1, m, 0.5)
    assert one_sided.pmf(m) @ wins <= delta / 2


def test_the_half_width_solves_bennetts_equation_and_not_a_tenth_less():
    for n, d, delta in itertools.product((3, 100, 10**6, 10**12), (1e-3, 0.1, 1.0), (0.5, 1e-6, 1e-300)):
        half_width = difference_half_width(n, math.log(delta), d)
        if half_width == 2.0:
            continue

        def exponent(t, n=n, d=d):
            u = t / d
            return n * d * ((1 + u) * math.log1p(u) - u)

        assert exponent(half_width) == pytest.approx(math.log(2 / delta), rel=1e-6)
        assert exponent(0.9 * half_width) < 0.9 * math.log(2 / delta)


@pytest.mark.parametrize(
    ("rule", "n"),
    [
        ({"expected_value": None}, 1_340),
        ({"expected_value": None, "passes": 1}, 404),
        ({"disagreement": 0.1}, 694),
        ({"disagreement": 0.1, "passes": 1}, 209),
    ],
)
def test_labels_are_as_many_as_those_of_continuous_integration(rule, n):
    """32 steps at .99, one-sided: ease.ml/ci's count, stop rules, and two models that differ on a tenth."""
    plan = plan_holdout(**ASKED, **rule)
    assert plan.best.n == n
    assert f"Hold out {n:,} rows and tell pass or fail only" in plan.recommendation


def test_verdicts_are_the_best_where_nothing_else_is_wanted():
    plan = plan_holdout(n=10_000, n_questions=1_000, verdicts=True)
    numbers = plan_holdout(n=10_000, n_questions=1_000)
    assert plan.best == plan["verdicts"]
    assert numbers.best == numbers["coded checks"] == plan["coded checks"]
    assert f"within ±{plan.best.width:.2g}" in plan.recommendation
    assert f"coded checks tell numbers within ±{numbers.best.width:.2g}" in plan.recommendation
    assert plan_holdout(n=1_000, n_questions=1, verdicts=True).best.method == "one use"


PLANS = [
    {"n": 10_000, "n_questions": 32, "passes": 3}, {"n": 10_000, "width": 0.02}, {"n": 100, "width": 0.02},
    {"n": 20, "n_questions": 10**6}, {"n_questions": 1, "width": 0.1, "disagreement": 0.05},
    {"n_questions": 10**9, "width": 1e-6},
    {"n": 10_000, "n_questions": 32, "disagreement": 0.1, "passes": 1},
]  # fmt: skip


@pytest.mark.parametrize("asked", PLANS)
def test_every_plan_of_verdicts_can_be_read(asked):
    plan = plan_holdout(**asked, verdicts=True)
    text = plan.to_text(all_methods=True)
    assert "verdict" in plan.recommendation
    assert "nan" not in text.lower()
    assert " ".join(plan.recommendation.split()) in " ".join(text.split())
    assert f"<p><b>{plan.recommendation[:20]}" in plan._repr_html_()
    assert "median" not in plan.recommendation
