"""What there is to see of a skin that is worn, and of a surface that stands."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from bunraku.building.creatures.skin_views import lowered, worn_skin
from bunraku.formats.registry import read_character
from bunraku.geometry.surfaces.surface import Surface
from bunraku.mechanics.coupled.known_skins import skin_of


@pytest.fixture(scope="module")
def mesh():
    return skin_of(read_character("beetle-quick"))


def test_the_outside_of_a_worn_skin_is_closed_and_faces_outwards(mesh):
    worn = worn_skin(mesh)
    edges = np.sort(worn.faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    assert (np.unique(edges, axis=0, return_counts=True)[1] == 2).all()
    a, b, c = (worn.outer[worn.faces[:, k]] for k in range(3))
    volume = np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0
    box = np.prod(np.ptp(worn.outer, axis=0))
    assert 0.05 * box < volume < box


def test_thickness_and_glue_are_those_of_the_mesh(mesh):
    worn = worn_skin(mesh)
    V = len(worn.outer)
    corners = np.sort(mesh.cells[:, :4], axis=1)
    across = {(a, b) for one in corners.tolist() for a in one for b in one if b == a + V}
    assert len(across) == V  # every corner outside is joined to its partner inside
    assert 0.002 < worn.thickness.least < 0.0045
    assert worn.thickness.most > 0.0075  # the soles
    assert worn.thickness.colors.shape == worn.outer.shape
    assert worn.thickness.colors[np.argmax(worn.thickness.values), 0] == worn.thickness.colors[:, 0].max()
    assert sum(len(places) for places in worn.glue.values()) == len(mesh.glue_node)
    assert "body" in worn.glue


def test_a_mesh_of_no_layer_has_no_thickness(mesh):
    assert worn_skin(replace(mesh, cells=mesh.cells[:-1], region=mesh.region[:-1])) is None


def test_a_surface_to_draw_stands_on_the_ground():
    box = Surface(
        np.array([[0.0, 0.0, 0.1], [1.0, 0.0, 0.1], [0.0, 1.0, 0.1], [0.0, 0.0, 0.5]]),
        np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]),
    )
    stands = lowered(box, SimpleNamespace(drop=0.12))
    np.testing.assert_allclose(stands.vertices[:, 2], [0.0, 0.0, 0.0, 0.38])
    np.testing.assert_allclose(stands.vertices[:, :2], box.vertices[:, :2])
