"""A flat sole: a disc with a sharp rim, seen from below."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from bunraku.errors import BadInput
from bunraku.geometry.shells.sole import SoleShell, disc_faces, disc_points, sole_rings

Surface = tuple[NDArray[np.float64], NDArray[np.int64]]


def test_the_disc_fills_the_rim_and_looks_down(quadruped: Surface) -> None:
    rings = sole_rings(*quadruped, SoleShell((0.13, 0.08, 0.0), (0.0, 0.0, 2.0), 0.016, 12, rows=2), "foot")
    assert rings.points.shape == (3, 12, 3)
    np.testing.assert_allclose(rings.points[:, :, 2], np.outer([0.0, 0.008, 0.016], np.ones(12)), atol=1e-12)
    X = np.vstack([rings.points[0], disc_points(rings)])
    F = disc_faces(np.arange(12), 12 + np.arange(7))
    normal = 0.5 * np.cross(X[F[:, 1]] - X[F[:, 0]], X[F[:, 2]] - X[F[:, 0]])
    assert len(F) == 24
    assert (normal[:, 2] < 0.0).all()
    x, y = rings.points[0, :, 0], rings.points[0, :, 1]
    area = 0.5 * (x * np.roll(y, -1) - np.roll(x, -1) * y).sum()
    np.testing.assert_allclose(-normal[:, 2].sum(), area, rtol=1e-12)


@pytest.mark.parametrize(("around", "rows"), [(7, 1), (4, 1), (8, 0)])
def test_odd_or_too_few_points_are_refused(around: int, rows: int) -> None:
    with pytest.raises(BadInput, match="a sole has"):
        SoleShell((0, 0, 0), (0, 0, 1), 0.02, around, rows)


def test_a_sole_off_the_foot_is_refused(quadruped: Surface) -> None:
    with pytest.raises(BadInput, match="foot: the plane"):
        sole_rings(*quadruped, SoleShell((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), 0.016, 12), "foot")
