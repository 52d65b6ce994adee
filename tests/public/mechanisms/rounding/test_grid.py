import math

import numpy as np
import pytest

from sklearn_ada.mechanisms import ExplicitGrid, LogGrid, UniformGrid

GRIDS = [
    UniformGrid(-1.0, 2.0, 31),
    UniformGrid(0.0, 1.0, 2),
    LogGrid(1e-3, 10.0, 41),
    ExplicitGrid((-2.0, -1.5, 0.0, 0.1, 7.0)),
    ExplicitGrid((3.0,)),
]


@pytest.mark.parametrize("grid", GRIDS)
def test_values_increase_index_inverts_value_truncates_what_is_outside_and_refuses_nan(grid):
    values = np.array([grid.value(i) for i in range(grid.size)])
    assert (np.diff(values) > 0).all()
    assert grid.index(values).tolist() == list(range(grid.size))
    assert grid.index(values).dtype == np.int64
    assert grid.index([-math.inf, -1e300, 1e300, math.inf]).tolist() == [0, 0, grid.size - 1, grid.size - 1]
    with pytest.raises(ValueError, match="must be free of NaN"):
        grid.index([0.5, math.nan])


@pytest.mark.parametrize("grid", GRIDS)
def test_index_is_the_nearest_point(grid):
    values = np.array([grid.value(i) for i in range(grid.size)])
    asked = np.random.default_rng(0).uniform(-3.0, 12.0, size=2000)
    scale = (lambda x: np.log(np.maximum(x, 1e-3))) if isinstance(grid, LogGrid) else (lambda x: x)
    distance = np.abs(scale(asked)[:, None] - scale(values))
    chosen = distance[np.arange(asked.size), grid.index(asked)]
    assert chosen == pytest.approx(distance.min(axis=1), abs=1e-12)


@pytest.mark.parametrize("grid", GRIDS)
def test_a_border_parts_the_values_of_two_neighbours(grid):
    for index in range(grid.size - 1)[:20]:
        border, step = grid.border(index), grid.value(index + 1) - grid.value(index)
        below, above = grid.index([border - 1e-6 * step, border + 1e-6 * step])
        assert (below, above) == (index, index + 1)


@pytest.mark.parametrize("grid", [UniformGrid(0.0, 1.0, 10**12), LogGrid(1e-6, 1.0, 10**12)])
def test_a_huge_grid_is_exact(grid):
    indices = np.random.default_rng(0).integers(grid.size, size=1000)
    assert grid.index([grid.value(int(i)) for i in indices]).tolist() == indices.tolist()
    assert grid.value(grid.size - 1) == grid.high


@pytest.mark.parametrize("index", [-1, 31, 1.0, True, math.nan])
def test_value_refuses_what_is_no_index(index):
    with pytest.raises(ValueError, match="'index' parameter of UniformGrid"):
        GRIDS[0].value(index)
