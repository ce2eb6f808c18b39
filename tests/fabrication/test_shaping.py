"""Solids against closed forms, and the word about the missing package."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from bunraku.errors import MissingExtra
from bunraku.fabrication.mesh import TriangleMesh
from bunraku.fabrication.shaping import SEGMENTS, bore, box, cylinder, difference, hull, moved, overlap, rod_frame, triangles, union
from bunraku.geometry.rotations import exponential


def test_volumes() -> None:
    n = SEGMENTS
    area = n / 2.0 * np.sin(2.0 * np.pi / n) * 5.0**2
    rod = cylinder((1.0, 2.0, 3.0), (1.0, 2.0, 13.0), 5.0)
    assert rod.volume() == pytest.approx(10.0 * area, rel=1e-6)
    R = exponential(np.array([0.4, 0.2, -0.9]))
    assert box((1.0, 0.0, 0.0), (2.0, 3.0, 4.0), R).volume() == pytest.approx(24.0, rel=1e-6)
    plate = difference(box((1, 2, 8), (20, 20, 4)), [rod])
    assert plate.volume() == pytest.approx(1600.0 - 4.0 * area, rel=1e-6)


def test_a_rod_goes_through_its_bore() -> None:
    hole = difference(box((0, 0, 0), (20, 20, 4)), [bore((0, 0, -5), (0, 0, 5), 3.0)])
    assert overlap(hole, cylinder((0, 0, -9), (0, 0, 9), 3.0)) == 0.0
    assert overlap(hole, cylinder((0, 0, -9), (0, 0, 9), 3.1)) > 0.5


def test_overlap_of_shifted_boxes() -> None:
    one, other = box((0, 0, 0), (2, 2, 2)), box((1.5, 0.5, 0.25), (2, 2, 2))
    assert overlap(one, other) == pytest.approx(0.5 * 1.5 * 1.75, rel=1e-6)
    assert overlap(one, box((2.5, 0, 0), (2, 2, 2))) == 0.0
    assert union([one, other]).volume() == pytest.approx(16.0 - 0.5 * 1.5 * 1.75, rel=1e-6)


def test_hull_of_two_boxes_is_the_slab_between() -> None:
    assert hull([box((0, 0, 0), (1, 1, 1)), box((9, 0, 0), (1, 1, 1))]).volume() == pytest.approx(10.0, rel=1e-6)


@pytest.mark.parametrize("direction", [(0, 0, 1), (0, -1, 0), (1, 2, -3)])
def test_rods_stand_along_their_direction(direction: tuple[float, float, float]) -> None:
    R = rod_frame(direction)
    np.testing.assert_allclose(R.T @ R, np.eye(3), atol=1e-12)
    assert np.linalg.det(R) == pytest.approx(1.0)
    np.testing.assert_allclose(R[:, 2], np.array(direction) / np.linalg.norm(direction), atol=1e-12)


def test_mirrored_solids_still_face_outwards() -> None:
    solid = difference(box((0, 0, 0), (6, 4, 2)), [cylinder((1, 1, -5), (1, 1, 5), 0.5)])
    vertices, numbers = triangles(moved(solid, np.diag([1.0, -1.0, 1.0]), np.zeros(3)))
    mesh = TriangleMesh(vertices[numbers])
    assert mesh.open_edges() == 0
    assert mesh.volume() == pytest.approx(solid.volume(), rel=1e-6)


def test_without_the_package_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "manifold3d", None)
    with pytest.raises(MissingExtra, match=r"manifold3d.*bunraku\[fabrication\]"):
        box((0, 0, 0), (1, 1, 1))
