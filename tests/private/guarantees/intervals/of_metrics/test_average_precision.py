"""Average precision: the integral against its sum, ties, bands against a scan, and bad parameters."""

import numpy as np
import pytest
from scipy.integrate import quad
from sklearn.metrics import average_precision_score

from sklearn_ada.guarantees import average_precision_interval
from sklearn_ada.guarantees import scores as average_precision


def sample(seed, n=1000, share=0.2, step=None):
    rng = np.random.default_rng(seed)
    positive = np.arange(n) < share * n
    scores = rng.standard_normal(n) + 2.0 * positive
    return (scores if step is None else np.round(scores / step)), positive


def interval(seen, foreseen, ln_delta=-3.0, seed=0):
    return average_precision_interval(
        *seen, ln_delta, expected_scores=foreseen[0], expected_positive=foreseen[1], seed=seed
    )


@pytest.mark.parametrize("step", [None, 0.5, 100.0])
@pytest.mark.parametrize("share", [0.05, 0.5])
def test_the_interval_is_around_the_value_with_ties_broken_at_random(share, step):
    seen, foreseen = sample(0, share=share, step=step), sample(1, share=share, step=step)
    broken = seen[0] + 1e-6 * np.random.default_rng(2).random(1000)
    low, high = interval(seen, foreseen)
    assert low < average_precision_score(seen[1], broken) < high
    if step == 100.0:  # all scores are the same
        assert low < share < high


def test_the_area_is_the_integral():
    recalls, false = np.array([0.0, 0.2, 0.2, 0.7, 1.0]), np.array([0.0, 0.5, 0.3, 2.0])

    def integrand(u):
        return u / (u + false[np.searchsorted(recalls, u, side="left") - 1])

    expected = quad(integrand, 0.0, 1.0, points=recalls[1:-1], limit=200)[0]
    assert average_precision._area(recalls, false) == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_bands_that_are_points_enclose_the_value_of_the_sample(seed, monkeypatch):
    """With the shares of the rows as their own bounds only the steps between thresholds are left."""
    monkeypatch.setattr(average_precision, "_band", lambda counts, size, _: (counts / size, counts / size))
    seen, widths = sample(seed, n=5000), []
    positives, negatives = np.sort(seen[0][seen[1]])[::-1], seen[0][~seen[1]]
    for count in (20, 200):
        at = positives[np.linspace(1, len(positives) - 1, count).astype(int)]
        found, false = (np.array([(scores >= t).sum() for t in at]) for scores in (positives, negatives))
        low, high = average_precision._ends(found, false, (len(positives), len(negatives)), -3.0)
        assert low - 2e-3 < average_precision_score(seen[1], seen[0]) < high + 2e-3
        widths.append(high - low)
    assert widths[1] < widths[0] / 5 < 0.05


def test_ties_are_broken_by_numbers_and_not_by_the_order_of_rows():
    scores, positive = sample(0, step=1.0)
    order = np.random.default_rng(0).permutation(1000)
    foreseen = sample(1, step=1.0)
    assert interval((scores, positive), foreseen) == interval((scores[order], positive[order]), foreseen)
    assert len({interval((scores, positive), foreseen, seed=seed) for seed in range(5)}) > 1


def test_few_rows_give_an_interval_of_average_precision():
    for scores, positive in (([1.0, 0.0], [1, 0]), ([0.0, 1.0], [1, 0]), ([0.0, 0.0, 0.0], [1, 0, 1])):
        low, high = interval((scores, positive), (scores, positive))
        assert 0.0 <= low <= high <= 1.0
