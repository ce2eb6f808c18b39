"""Repair: cells spoilt by moved vertices become sound again, fixed vertices stay."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bunraku.geometry.shells.closest import ClosestPoints
from bunraku.geometry.shells.offset import inner_surface
from bunraku.geometry.shells.prisms import first_diagonals, prism_cells
from bunraku.geometry.shells.quality import dihedral_angles
from bunraku.geometry.shells.remeshing import remesh
from bunraku.geometry.shells.repair import repair_layer

Surface = tuple[NDArray[np.float64], NDArray[np.int64]]


def test_inverted_cells_are_mended(torus: Surface) -> None:
    onto = ClosestPoints(*torus)
    X, F, _ = remesh(*torus, np.empty(0, dtype=np.int64), lambda P: np.full(len(P), 0.025), onto)
    t = np.full(len(X), 0.005)
    inner = inner_surface(X, F, t, np.full(len(X), 0.02))
    cells = prism_cells(F, len(X), first_diagonals(F))

    def least(outer: NDArray[np.float64], inside: NDArray[np.float64]) -> tuple[float, float]:
        C = np.vstack([outer, inside])[cells]
        return float(dihedral_angles(C).min()), float(np.linalg.det(C[:, 1:] - C[:, :1]).min())

    spoilt = inner.copy()
    for place in ([0.14, 0.0, 0.0], [-0.1, 0.0, 0.04]):  # not by number: the mesh differs from processor to processor
        v = int(np.argmin(np.linalg.norm(X - place, axis=1)))
        spoilt[v] = X[v] + 0.3 * (X[v] - inner[v])
    assert least(X, spoilt)[1] < 0.0
    firm = np.zeros(len(X), dtype=bool)
    firm[::2] = True
    outer, mended, worked = repair_layer(X, spoilt, F, cells, t, firm, onto, np.radians(8.0))
    angle, volume = least(outer, mended)
    assert worked
    assert volume > 0.0
    assert np.degrees(angle) > 8.0
    np.testing.assert_array_equal(outer[firm], X[firm])
    np.testing.assert_allclose(onto.query(outer)[0], 0.0, atol=1e-12)
    assert not repair_layer(outer, mended, F, cells, t, firm, onto, np.radians(4.0))[2]
