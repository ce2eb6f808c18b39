"""Rest and vibrations of clamped solids against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from clamped_solid import find_modes, find_rest

from bunraku.errors import BadInput
from bunraku.geometry.meshing.shapes import box, rod
from bunraku.mechanics.elastic.interface import make_interface
from bunraku.mechanics.elastic.material import Material
from bunraku.mechanics.elastic.modes import CarriedBody
from bunraku.mechanics.elastic.solid import ElasticSolid

RUBBER = Material(young=1e6, poisson=0.3, density=1000.0)


def test_a_pulled_bar_without_lateral_hold_follows_the_material_s_own_curve() -> None:
    mesh = box((0.01, 0.01, 0.05), (1, 1, 3))
    solid = ElasticSolid(mesh, Material(young=1e6, poisson=0.0, density=1000.0))
    end = make_interface(mesh, "end")
    stretch = 1.3
    stress = RUBBER.young / 2 * (stretch - 1 / stretch)  # nu = 0: mu = E / 2, lam = 0, no contraction
    load = np.zeros((solid.nodes, 3))
    load[end.nodes, 2] = stress * end.area * end.weights
    u = find_rest(solid, load.ravel(), np.unique(mesh.faces("start")))
    assert end.position(u)[2] == pytest.approx(stretch * 0.05, rel=1e-8)


def test_a_soft_rod_bends_far_and_the_balance_of_forces_holds() -> None:
    mesh = rod(0.1, 0.01, layers=10)
    solid = ElasticSolid(mesh, RUBBER)
    load = solid.weight([4 * 9.81, 0.0, 0.0])
    u = find_rest(solid, load, np.unique(mesh.faces("start")))
    assert u.reshape(-1, 3)[:, 0].max() > 0.03
    reaction = (solid.force(u) - load).reshape(-1, 3)
    np.testing.assert_allclose(reaction.sum(axis=0), [-4 * 9.81 * solid.total_mass, 0, 0], atol=1e-9)
    x = mesh.nodes + u.reshape(-1, 3)
    np.testing.assert_allclose(np.cross(x, reaction + load.reshape(-1, 3)).sum(axis=0), 0.0, atol=1e-10)


def test_a_body_without_weight_is_refused() -> None:
    with pytest.raises(BadInput, match="must not be negative"):
        CarriedBody(make_interface(box((1, 1, 1), (1, 1, 1), order=1), "end"), -1.0)


def test_a_bar_vibrates_lengthwise_at_its_closed_form() -> None:
    mesh = box((0.02, 0.02, 0.2), (1, 1, 8))
    material = Material(young=1e6, poisson=0.0, density=1000.0)
    solid, end = ElasticSolid(mesh, material), make_interface(mesh, "end")
    frequencies, shapes = find_modes(solid, 12, np.unique(mesh.faces("start")))
    c = np.sqrt(material.young / material.density)
    assert np.abs(frequencies / (c / (4 * 0.2)) - 1).min() < 1e-4
    np.testing.assert_allclose(shapes @ (solid.mass @ shapes.T), np.eye(12), atol=1e-8)
    own = solid.total_mass
    tipped, _ = find_modes(solid, 12, np.unique(mesh.faces("start")), [CarriedBody(end, own)])
    # x tan x = (mass of the bar) / (mass at its tip) = 1
    assert np.abs(tipped / (0.8603335890 * c / (2 * np.pi * 0.2)) - 1).min() < 1e-4
