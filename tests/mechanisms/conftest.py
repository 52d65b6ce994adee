import numpy as np
import pytest
from scipy import stats


@pytest.fixture(scope="session")
def false_alarm():
    """How often a correct sampler may fail its test."""
    return 1e-6


@pytest.fixture(scope="session")
def chi_square():
    """The p-value of observed counts under a law; cells that are too rare for the test are merged."""

    def p_value(counts, law):
        counts, law = np.asarray(counts, dtype=float), np.asarray(law, dtype=float)
        assert law.sum() == pytest.approx(1.0)
        expected = law * counts.sum()
        common = expected >= 10
        if not common.all():
            counts = np.append(counts[common], counts[~common].sum())
            expected = np.append(expected[common], expected[~common].sum())
        if expected[-1] < 1e-6:
            assert counts[-1] == 0
            counts, expected = counts[:-1], expected[:-1]
        return stats.chisquare(counts, expected * counts.sum() / expected.sum()).pvalue

    return p_value
