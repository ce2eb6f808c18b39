"""Distances of segments against a fine search, and where they are known."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.building.assemble import segment_distance


def test_against_a_search() -> None:
    rng = np.random.default_rng(1)
    share = np.linspace(0.0, 1.0, 401)[:, None]
    for _ in range(20):
        a, b, c, d = rng.normal(size=(4, 3))
        one, two = a + share * (b - a), c + share * (d - c)
        searched = np.sqrt(((one[:, None] - two[None]) ** 2).sum(-1)).min()
        found = segment_distance(a, b, c, d)
        assert found <= searched + 1e-12
        assert found == pytest.approx(searched, abs=0.01)


def test_crossing_parallel_and_end_to_end() -> None:
    x, y, z = np.eye(3)
    assert segment_distance(-x, x, z - y, z + y) == pytest.approx(1.0)
    assert segment_distance(-x, x, y - x, y + x) == pytest.approx(1.0)
    assert segment_distance(x, 2 * x, 4 * x, 5 * x) == pytest.approx(2.0)
    assert segment_distance(-x, x, -y, y) == pytest.approx(0.0)
    assert segment_distance(x, x, y, y) == pytest.approx(np.sqrt(2.0))
