"""Effective sizes: the variance of a mean over classes."""

import pytest

from sklearn_ada.guarantees import class_mean_size


def test_class_mean_size_is_the_variance_bound():
    counts = (10, 40, 50)
    mean_variance = sum(1 / (4 * c) for c in counts) / 9
    assert class_mean_size(counts) == pytest.approx(1 / (4 * mean_variance))
