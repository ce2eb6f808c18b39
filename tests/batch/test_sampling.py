"""Grids hold every combination with exact ends; Latin hypercubes one point in every stratum; seeds decide everything."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.batch.sampling import VariedInput, grid, hypercube_points, random_points, sampled


def test_a_grid_holds_every_combination_once_and_the_ends_exactly() -> None:
    axes = [VariedInput("a", ("x", "y")), VariedInput("b", (), 0.1, 0.7, 3), VariedInput("c", (), 1.0, 100.0, 3, "log")]
    found = grid(axes)
    assert len(found) == len(set(found)) == 18
    assert {one[0] for one in found} == {"x", "y"}
    assert [one[1] for one in found[:9:3]] == [0.1, pytest.approx(0.4), 0.7]
    assert [one[2] for one in found[:3]] == [1.0, pytest.approx(10.0), 100.0]


def test_whole_numbers_stay_whole() -> None:
    assert VariedInput("n", (), 1, 4, 7, whole=True).steps() == (1, 2, 3, 4)
    assert all(isinstance(VariedInput("n", (), 1, 4, whole=True).at(u), int) for u in (0.0, 0.3, 0.99))


@pytest.mark.parametrize("runs", [1, 7, 64])
def test_every_stratum_of_a_latin_hypercube_holds_one_point(runs: int) -> None:
    points = hypercube_points(runs, 3, seed=5)
    for column in points.T:
        assert sorted(np.floor(column * runs).astype(int)) == list(range(runs))


def test_random_points_are_uniform_where_hypercubes_are_even() -> None:
    """The mean of a hypercube's coordinates is far nearer to 1/2 than that of independent points: O(n^-3/2) against O(n^-1/2)."""
    errors = {
        make.__name__: np.mean([abs(make(100, 2, seed).mean(axis=0) - 0.5).mean() for seed in range(50)])
        for make in (random_points, hypercube_points)
    }
    assert 0.015 < errors["random_points"] < 0.035
    assert errors["hypercube_points"] < 0.1 * errors["random_points"]


def test_seeds_decide() -> None:
    for make in (random_points, hypercube_points):
        assert np.array_equal(make(20, 3, 1), make(20, 3, 1))
        assert not np.array_equal(make(20, 3, 1), make(20, 3, 2))


def test_lists_are_drawn_in_equal_shares_and_fixed_axes_take_no_number() -> None:
    axes = [VariedInput("fixed", ("only",)), VariedInput("list", ("a", "b", "c", "d")), VariedInput("range", (), 2.0, 4.0)]
    found = sampled(axes, hypercube_points(40, 2, seed=3))
    assert {one[0] for one in found} == {"only"}
    assert [sum(one[1] == name for one in found) for name in "abcd"] == [10, 10, 10, 10]
    assert all(2.0 <= one[2] < 4.0 for one in found)
