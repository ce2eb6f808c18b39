"""The steel rod of the study: 0.7 m, 4 mm, 0.1 kg at its tip. Euler-Bernoulli with tip mass and rotary inertia is the reference."""

from __future__ import annotations

import numpy as np
import pytest
from clamped_solid import find_modes, find_rest
from scipy.optimize import brentq
from tet_meshes import linear

from bunraku.geometry.meshing.shapes import rod
from bunraku.geometry.tet_mesh import TetMesh, straightened
from bunraku.mechanics.elastic.interface import make_interface
from bunraku.mechanics.elastic.material import Material
from bunraku.mechanics.elastic.modes import CarriedBody
from bunraku.mechanics.elastic.solid import ElasticSolid

LENGTH, DIAMETER, TIP, INERTIA = 0.7, 0.004, 0.1, 7.84e-6
STEEL = Material(young=200e9, poisson=0.3, density=7850.0)


def beam_frequencies() -> list[float]:
    """Roots of the frequency equation of a clamped Euler-Bernoulli beam with a rigid body at its tip [Hz]."""
    area, second = np.pi * DIAMETER**2 / 4, np.pi * DIAMETER**4 / 64
    EI, line = STEEL.young * second, STEEL.density * area

    def determinant(k: float) -> float:
        w2 = EI * k**4 / line
        s, c, sh, ch = np.sin(k * LENGTH), np.cos(k * LENGTH), np.sinh(k * LENGTH), np.cosh(k * LENGTH)
        rows = []
        for y, y1, y2, y3 in ((ch - c, sh + s, ch + c, sh - s), (sh - s, ch - c, sh + s, ch + c)):
            rows.append((EI * k**3 * y3 + TIP * w2 * y, EI * k**2 * y2 - INERTIA * w2 * k * y1))
        return float(rows[0][0] * rows[1][1] - rows[0][1] * rows[1][0]) / ch**2

    grid = np.linspace(0.5, 14.0, 400)
    values = [determinant(k) for k in grid]
    roots = [brentq(determinant, a, b) for a, b, p, q in zip(grid, grid[1:], values, values[1:], strict=False) if p * q < 0]
    return [float(np.sqrt(EI / line) * k**2 / (2 * np.pi)) for k in roots[:3]]


def frequencies(solid: ElasticSolid, count: int, u: np.ndarray | None = None) -> np.ndarray:
    body = CarriedBody(make_interface(solid.mesh, "end"), TIP, INERTIA)
    return find_modes(solid, count, np.unique(solid.mesh.faces("start")), [body], u)[0]


def first(mesh: TetMesh) -> float:
    return float(frequencies(ElasticSolid(mesh, STEEL), 1)[0])


@pytest.fixture(scope="module")
def fine() -> ElasticSolid:
    return ElasticSolid(rod(LENGTH, DIAMETER, layers=200), STEEL)


def rest(solid: ElasticSolid, gravity: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Displacements and tip displacement under the rod's and the body's weight."""
    end = make_interface(solid.mesh, "end")
    load = solid.weight(gravity) + end.load(np.zeros(solid.size), force=TIP * gravity)
    u = find_rest(solid, load, np.unique(solid.mesh.faces("start")), steps=2)
    return u, end.position(u) - end.centroid


def test_the_reference_is_the_one_of_the_notes() -> None:
    assert beam_frequencies() == pytest.approx([2.187, 26.14, 81.92], rel=2e-4)


def test_curved_quadratic_cells_give_the_beam_s_frequencies(fine: ElasticSolid) -> None:
    found = frequencies(fine, 6)
    assert fine.size == 26466
    for number, expected in enumerate(beam_frequencies()):
        assert found[2 * number] == pytest.approx(expected, rel=5e-3)
        assert found[2 * number + 1] == pytest.approx(found[2 * number], rel=5e-4)


def test_straight_and_linear_cells_do_not() -> None:
    mesh, f1 = rod(LENGTH, DIAMETER, layers=200), beam_frequencies()[0]
    assert first(straightened(mesh)) / f1 == pytest.approx(0.88, abs=0.01)
    assert first(linear(mesh)) / f1 == pytest.approx(1.46, abs=0.02)  # 1.58 with one diagonal in all layers


def test_gravity_softens_the_upright_and_stiffens_the_hanging_rod(fine: ElasticSolid) -> None:
    for direction, expected in ((-1.0, 2.0834), (1.0, 2.2864)):
        u, _ = rest(fine, np.array([0.0, 0.0, 9.81 * direction]))
        assert frequencies(fine, 1, u)[0] == pytest.approx(expected, rel=5e-3)


def test_the_horizontal_rod_sags_as_the_full_order_study_says(fine: ElasticSolid) -> None:
    _, tip = rest(fine, np.array([-9.81, 0.0, 0.0]))
    assert -tip[0] == pytest.approx(0.05564, rel=2e-3)
    assert -tip[2] == pytest.approx(0.00263, rel=5e-3)
    assert abs(tip[1]) < 2e-5
