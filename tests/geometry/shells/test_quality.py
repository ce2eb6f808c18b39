"""Figures of merit against solids whose figures are known."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from bunraku.errors import BadInput
from bunraku.geometry.shells.quality import check_closed, crossing_faces, dihedral_angles
from bunraku.geometry.surfaces.topology import genus

Surface = tuple[NDArray[np.float64], NDArray[np.int64]]
REGULAR = np.array([[1.0, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
FACES = np.array([[0, 1, 2], [0, 3, 1], [1, 3, 2], [0, 2, 3]])


def test_dihedral_angles_of_a_regular_and_a_corner_tetrahedron() -> None:
    corner = np.vstack([np.zeros(3), np.eye(3)])
    found = dihedral_angles(np.stack([REGULAR[[0, 2, 1, 3]], corner]))
    np.testing.assert_allclose(found[0], np.arccos(1 / 3))
    np.testing.assert_allclose(np.sort(found[1]), np.sort([np.pi / 2] * 3 + [np.arccos(1 / np.sqrt(3))] * 3))


def test_genus_of_sphere_and_torus(torus: Surface) -> None:
    assert genus(FACES) == 0
    assert genus(torus[1]) == 1


def test_holes_and_turned_faces_are_refused() -> None:
    check_closed(FACES, "solid")
    with pytest.raises(BadInput, match="solid is not closed: 3 edges"):
        check_closed(FACES[1:], "solid")
    with pytest.raises(BadInput, match="same direction"):
        check_closed(np.vstack([FACES[:3], FACES[3:, ::-1]]), "solid")


def test_crossings_are_found_and_only_those() -> None:
    both = np.vstack([FACES, FACES + 4])
    assert not len(crossing_faces(np.vstack([REGULAR, 0.3 * REGULAR]), both))
    assert not len(crossing_faces(np.vstack([REGULAR, REGULAR + np.array([3.0, 0.0, 0.0])]), both))
    assert len(crossing_faces(np.vstack([REGULAR, REGULAR + np.array([0.8, 0.1, 0.2])]), both))
