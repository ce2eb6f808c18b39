"""The skin refined once: the same body, glue and soles carried over, never stiffer."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.character import PATCHES, SkinMesh
from bunraku.geometry.meshing.shapes import box
from bunraku.mechanics.coupled.known_skins import skin_of
from bunraku.mechanics.coupled.skinned import skinned_model


@pytest.fixture(scope="module")
def refined_skin(benchmark_part):
    return benchmark_part("_skin_refine").refined_skin


@pytest.fixture(scope="module")
def pad() -> SkinMesh:
    """A block of 6 x 6 x 2 cm: its upper side glued to one of two bodies on either half, its underside a sole of five patches."""
    mesh = box((0.06, 0.06, 0.02), (4, 4, 1))
    top, bottom = np.unique(mesh.faces("end")), np.unique(mesh.faces("start"))
    owner = (mesh.nodes[top][:, 0] > 1e-9).astype(int)
    x, y = mesh.nodes[bottom][:, 0], mesh.nodes[bottom][:, 1]
    ring = 1 + (np.degrees(np.arctan2(y, x)) % 360.0 // 90.0).astype(int)
    patch = np.where(np.maximum(np.abs(x), np.abs(y)) < 0.01, 0, ring)
    region = (mesh.nodes[mesh.cells[:, :4]].mean(axis=1)[:, 1] > 0.0).astype(int)
    return SkinMesh(mesh.nodes, mesh.cells, region, ("left", "right"), top, owner, bottom, patch)


def test_glue_and_soles_cover_the_same_sides(refined_skin, pad) -> None:
    """A side of n x n quadratic squares has (2 n + 1)^2 nodes: 81 before, 17^2 after; no new node is glued between two bodies."""
    fine = refined_skin(pad)
    n = len(pad.nodes)
    np.testing.assert_array_equal(fine.nodes[:n], pad.nodes)
    np.testing.assert_array_equal(fine.glue_node[: len(pad.glue_node)], pad.glue_node)
    top = np.flatnonzero(np.abs(fine.nodes[:, 2] - pad.nodes[:, 2].max()) < 1e-12)
    bottom = np.flatnonzero(np.abs(fine.nodes[:, 2] - pad.nodes[:, 2].min()) < 1e-12)
    assert (len(pad.sole_node), len(bottom)) == (81, 17**2)
    np.testing.assert_array_equal(np.sort(fine.sole_node), bottom)
    between = np.flatnonzero((fine.nodes[:, 0] > 1e-9) & (fine.nodes[:, 0] < 0.0075 - 1e-9) & (np.arange(len(fine.nodes)) >= n))
    free = np.setdiff1d(top, fine.glue_node)
    assert len(free) > 0
    assert np.isin(free, between).all()
    right = fine.nodes[fine.glue_node][:, 0] > 1e-9
    np.testing.assert_array_equal(fine.glue_body, right.astype(int))
    regions = (fine.nodes[fine.cells[:, :4]].mean(axis=1)[:, 1] > 0.0).astype(int)
    np.testing.assert_array_equal(fine.region, regions)


def test_patches_stay_in_place(refined_skin, pad) -> None:
    """New nodes of a patch lie between its old ones: the middles of the patches move by less than a fine cell."""
    fine = refined_skin(pad)
    for k in range(PATCHES):
        before = pad.nodes[pad.sole_node[pad.sole_patch == k]].mean(axis=0)
        after = fine.nodes[fine.sole_node[fine.sole_patch == k]].mean(axis=0)
        assert np.linalg.norm(after - before) < 0.0075


def test_a_finer_skin_weighs_the_same_and_holds_no_more_energy(refined_skin, beetle) -> None:
    """Displacements of the coarse mesh are displacements of the fine one: same mass, same energy of the same field."""
    mesh = skin_of(beetle)
    coarse, fine = skinned_model(beetle), skinned_model(beetle, refined_skin(mesh))
    assert fine.total_mass == pytest.approx(coarse.total_mass, rel=1e-12)
    assert len(fine.mesh.cells) == 8 * len(mesh.cells)
    assert fine.n_patches == coarse.n_patches

    def field(X):
        return np.column_stack([0.02 * X[:, 0] * X[:, 2], -0.03 * X[:, 1] ** 2, 0.01 * X[:, 0] + 0.02 * X[:, 2] ** 2])

    u, v = field(coarse.mesh.nodes), field(fine.mesh.nodes)
    energy = coarse.solid.energy(u.ravel())
    assert fine.solid.energy(v.ravel()) == pytest.approx(energy, rel=1e-3)
    down = np.tile([0.0, 0.0, 1.0], len(fine.mesh.nodes))
    np.testing.assert_allclose((fine.patches @ down).reshape(-1, 3), np.tile([0.0, 0.0, 1.0], (fine.n_patches, 1)), atol=1e-12)
