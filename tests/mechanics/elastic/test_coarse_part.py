"""Slender parts of few long cells: they bend, twist, weigh and vibrate as the fine mesh does."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh

from bunraku.formats.registry import read_character
from bunraku.mechanics.elastic.coarse_part import coarse_part, end_compliances
from bunraku.mechanics.elastic.grip import Grip
from bunraku.mechanics.elastic.part import PartSolid, part_solid


@pytest.fixture(scope="module")
def forearm() -> tuple[PartSolid, PartSolid]:
    """A rod of 25 diameters, fine and of as few cells as there may be."""
    character = read_character("drummer")
    part = next(part for part in character.flexibles if part.name == "left_forearm")
    return part_solid(character, part), coarse_part(character, part, 6.0)


def frequencies(made: PartSolid) -> np.ndarray:
    """The lowest of the part held at its base [Hz], from the flexibility of a Krylov space: ample for bending and twist."""
    solid = made.solid
    factor, end = Grip(solid, made.base).factorize(solid.stiffness()), made.children[0]
    loads = np.zeros((6, solid.size))
    loads[:, end.unknowns] = end.jacobian(np.zeros(solid.size))
    columns = [factor.solve(np.ascontiguousarray(loads.T))]
    for _ in range(4):
        columns.append(factor.solve(np.ascontiguousarray(solid.mass @ (columns[-1] / np.linalg.norm(columns[-1], axis=0)))))
    basis = np.linalg.qr(np.hstack([column / np.linalg.norm(column, axis=0) for column in columns]))[0]
    K, M = (basis.T @ (matrix @ basis) for matrix in (solid.stiffness(), solid.mass))
    return np.sqrt(eigh(K, M, eigvals_only=True)) / (2.0 * np.pi)


def test_it_bends_twists_and_weighs_as_the_fine_one(forearm: tuple[PartSolid, PartSolid]) -> None:
    fine, coarse = forearm
    assert coarse.solid.size < 0.3 * fine.solid.size
    np.testing.assert_allclose(end_compliances(coarse), end_compliances(fine), rtol=1e-5)
    assert coarse.solid.total_mass == pytest.approx(fine.solid.total_mass, rel=1e-12)


def test_it_vibrates_as_the_fine_one(forearm: tuple[PartSolid, PartSolid]) -> None:
    """First bending (283 Hz) within 0.2 %, second (1.8 kHz) within 2 %: eight layers; as steel it would be 7 % off."""
    fine, coarse = (frequencies(made)[:4] for made in forearm)
    np.testing.assert_allclose(coarse[:2], fine[:2], rtol=2e-3)
    np.testing.assert_allclose(coarse, fine, rtol=2e-2)


def test_what_is_not_slender_keeps_its_mesh() -> None:
    character = read_character("rapper")
    part = character.flexibles[0]
    np.testing.assert_array_equal(coarse_part(character, part, 6.0).solid.mesh.nodes, part_solid(character, part).solid.mesh.nodes)
    drummer = read_character("drummer")
    rod = drummer.flexibles[-1]
    assert coarse_part(drummer, rod, 1.0).solid.material == part_solid(drummer, rod).solid.material
