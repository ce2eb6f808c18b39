"""Moving surfaces validate themselves."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.motion import SurfaceMotion

FACES = np.array([[0, 1, 2]], dtype=np.int32)
POINTS = np.zeros((4, 3, 3), dtype=np.float32)


def test_a_surface_holds_its_own_arrays() -> None:
    points = POINTS.copy()
    surface = SurfaceMotion(FACES, 20.0, points)
    points[0, 0, 0] = 5.0
    assert surface.points[0, 0, 0] == 0.0
    assert surface.duration == pytest.approx(0.15)
    with pytest.raises(ValueError, match="read-only"):
        surface.points[0, 0, 0] = 1.0


@pytest.mark.parametrize(
    ("faces", "rate", "points", "said"),
    [
        (FACES + 1, 20.0, POINTS, "it has 0 to 2"),
        (FACES - 1, 20.0, POINTS, "it has 0 to 2"),
        (FACES.astype(np.float64), 20.0, POINTS, "whole numbers"),
        (FACES[0], 20.0, POINTS, "whole numbers"),
        (FACES, 0.0, POINTS, "between 0 and 100000"),
        (FACES, np.nan, POINTS, "between 0 and 100000"),
        (FACES, 20.0, POINTS[:0], "at least one frame"),
        (FACES, 20.0, POINTS[0], "is needed"),
        (FACES, 20.0, POINTS + np.nan, "finite"),
        (FACES, 20.0, POINTS + 2000.0, "within 1000 m"),
    ],
)
def test_what_is_no_surface_is_refused(faces, rate, points, said) -> None:
    with pytest.raises(BadInput, match=said):
        SurfaceMotion(faces, rate, points)
