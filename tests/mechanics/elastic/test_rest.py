from __future__ import annotations

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.geometry.meshing.shapes import box, rod
from bunraku.mechanics.elastic.interface import make_interface
from bunraku.mechanics.elastic.material import Material
from bunraku.mechanics.elastic.modes import CarriedBody, find_modes
from bunraku.mechanics.elastic.rest import find_rest
from bunraku.mechanics.elastic.solid import ElasticSolid
from bunraku.optimization.solution import Status

RUBBER = Material(young=1e6, poisson=0.3, density=1000.0)


def test_a_pulled_bar_without_lateral_hold_follows_the_material_s_own_curve() -> None:
    mesh = box((0.01, 0.01, 0.05), (1, 1, 3))
    solid = ElasticSolid(mesh, Material(young=1e6, poisson=0.0, density=1000.0))
    end = make_interface(mesh, "end")
    stretch = 1.3
    stress = RUBBER.young / 2 * (stretch - 1 / stretch)  # nu = 0: mu = E / 2, lam = 0, no contraction
    load = np.zeros((solid.nodes, 3))
    load[end.nodes, 2] = stress * end.area * end.weights
    found = find_rest(solid, load.ravel(), held=mesh.nodes_of("start"), load_steps=2)
    assert found.status is Status.CONVERGED
    assert end.position(found.u)[2] == pytest.approx(stretch * 0.05, rel=1e-8)


def test_a_soft_rod_bends_far_and_the_balance_of_forces_holds() -> None:
    mesh = rod(0.1, 0.01, layers=10)
    solid = ElasticSolid(mesh, RUBBER)
    load = solid.weight([4 * 9.81, 0.0, 0.0])
    found = find_rest(solid, load, held=mesh.nodes_of("start"))
    assert found.status.good
    assert found.u.reshape(-1, 3)[:, 0].max() > 0.03
    reaction = (solid.force(found.u) - load).reshape(-1, 3)
    np.testing.assert_allclose(reaction.sum(axis=0), [-4 * 9.81 * solid.total_mass, 0, 0], atol=1e-9)
    x = mesh.nodes + found.u.reshape(-1, 3)
    np.testing.assert_allclose(np.cross(x, reaction + load.reshape(-1, 3)).sum(axis=0), 0.0, atol=1e-10)


def test_a_search_that_does_not_converge_returns_a_status() -> None:
    mesh = box((0.01, 0.01, 0.02), (1, 1, 1), order=1)
    solid = ElasticSolid(mesh, Material(young=1e6, poisson=0.3, density=1000.0, model="st-venant-kirchhoff"))
    load = np.zeros((solid.nodes, 3))
    load[mesh.nodes_of("end"), 2] = -1e3
    found = find_rest(solid, load.ravel(), held=mesh.nodes_of("start"), max_iterations=1)
    assert found.status is Status.STALLED
    assert found.share == 0.0
    assert not found.u.any()


def test_wrong_arguments_are_named() -> None:
    solid = ElasticSolid(box((1, 1, 1), (1, 1, 1), order=1), RUBBER)
    with pytest.raises(BadInput, match="the load has shape"):
        find_rest(solid, np.zeros(3), held=[0])
    with pytest.raises(BadInput, match="node 99 is held"):
        find_rest(solid, np.zeros(24), held=[99])
    with pytest.raises(BadInput, match="too few nodes are held"):
        find_modes(solid, 3, held=[])
    with pytest.raises(BadInput, match="too few nodes are held"):
        find_rest(solid, np.ones(24), held=[0, 1])
    with pytest.raises(BadInput, match="0 modes"):
        find_modes(solid, 0, held=solid.mesh.nodes_of("start"))
    with pytest.raises(BadInput, match="must not be negative"):
        CarriedBody(make_interface(solid.mesh, "end"), -1.0)


def test_a_bar_vibrates_lengthwise_at_its_closed_form() -> None:
    mesh = box((0.02, 0.02, 0.2), (1, 1, 8))
    material = Material(young=1e6, poisson=0.0, density=1000.0)
    solid, end = ElasticSolid(mesh, material), make_interface(mesh, "end")
    free = find_modes(solid, 12, held=mesh.nodes_of("start"))
    c = np.sqrt(material.young / material.density)
    assert np.abs(free.frequencies / (c / (4 * 0.2)) - 1).min() < 1e-4
    np.testing.assert_allclose(free.shapes @ (solid.mass @ free.shapes.T), np.eye(12), atol=1e-8)
    own = solid.total_mass
    tipped = find_modes(solid, 12, held=mesh.nodes_of("start"), carried=[CarriedBody(end, own)])
    # x tan x = (mass of the bar) / (mass at its tip) = 1
    assert np.abs(tipped.frequencies / (0.8603335890 * c / (2 * np.pi * 0.2)) - 1).min() < 1e-4
