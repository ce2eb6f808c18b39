"""Cubature of a soft Neo-Hookean beam: chosen cells against all of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import eigh

from bunraku.errors import BadInput
from bunraku.geometry.meshing.shapes import box
from bunraku.mechanics.elastic.interface import make_interface
from bunraku.mechanics.elastic.material import Material
from bunraku.mechanics.elastic.reduction.basis import Workbench, make_basis
from bunraku.mechanics.elastic.reduction.choice import peak_strain
from bunraku.mechanics.elastic.reduction.cubature import cell_forces, make_cubature
from bunraku.mechanics.elastic.reduction.loaded import elastic_terms, load_reduced
from bunraku.mechanics.elastic.reduction.reduce import reduce_to
from bunraku.mechanics.elastic.solid import ElasticSolid


@pytest.fixture(scope="module")
def soft():
    """A rubber strip of 10 x 2 x 1.5 cm, its reduction, and modal states at rest under tip loads: 24 to train, 6 to test."""
    mesh = box((0.02, 0.015, 0.1), (2, 2, 10))
    solid = ElasticSolid(mesh, Material(young=1e6, poisson=0.4, density=1100.0))
    base, end = make_interface(mesh, "start"), make_interface(mesh, "end")
    bench = Workbench(solid, base, [end])
    reduction = reduce_to(bench, make_basis(bench, bending=2, release=0.02))
    rng = np.random.default_rng(0)
    states = []
    for _ in range(30):
        load = end.load(np.zeros(solid.size), force=rng.normal(size=3) * np.array([0.25, 0.25, 1.0]))
        states.append(load_reduced(solid, reduction.segment, reduction.shapes, load, ()).u)
    return solid, reduction, np.array(states)


def test_cell_forces_add_up(soft) -> None:
    solid, reduction, states = soft
    forces = cell_forces(solid, reduction.shapes, states[:2]).sum(axis=2)
    for u, force in zip(states[:2], forces, strict=True):
        whole = reduction.shapes @ solid.force(u @ reduction.shapes)
        np.testing.assert_allclose(force, whole, atol=1e-9 * np.abs(whole).max())


def test_few_cells_give_the_force_of_all(soft) -> None:
    """Forces of states that were not trained on, in the norm of the compliance."""
    solid, reduction, states = soft
    assert max(peak_strain(solid, u @ reduction.shapes) for u in states) > 0.04
    cubature = make_cubature(solid, reduction.shapes, states[:24], tolerance=5e-4)
    assert cubature.residual <= 5e-4
    assert len(cubature.chosen) < 0.5 * len(solid.mesh.cells)
    assert cubature.weights.min() > 0.0
    K0 = reduction.shapes @ (solid.stiffness() @ reduction.shapes.T)
    root = np.linalg.cholesky(K0)
    segment = replace(reduction.segment, points=cubature.points)
    for u in states[24:]:
        force, _ = elastic_terms(segment, u)
        wanted = np.linalg.solve(root, reduction.shapes @ solid.force(u @ reduction.shapes))
        assert np.linalg.norm(np.linalg.solve(root, force) - wanted) < 0.01 * np.linalg.norm(wanted)
        of_cells = cell_forces(solid, reduction.shapes, u[None])[0, :, cubature.chosen].T @ cubature.weights
        np.testing.assert_allclose(force, of_cells, rtol=1e-11, atol=1e-13)


def test_rest_and_frequencies_are_those_of_all_cells(soft) -> None:
    """Newton to rest under a load that was not trained on, with the chosen cells and with all: tip, and frequencies about it."""
    solid, reduction, states = soft
    shapes = reduction.shapes
    end = make_interface(solid.mesh, "end")
    p = shapes @ end.load(np.zeros(solid.size), force=[0.3, -0.2, -0.5])

    def everything(u):
        f, K = solid.force_and_stiffness(u @ shapes)
        return shapes @ f, shapes @ (K @ shapes.T)

    found = []
    few = replace(reduction.segment, points=make_cubature(solid, shapes, states[:24]).points)
    for terms in (everything, lambda u: elastic_terms(few, u)):
        u = states[24] * 0.0
        for share in (0.25, 0.5, 0.75, *([1.0] * 12)):
            f, K = terms(u)
            u = u + np.linalg.solve(K, share * p - f)
        assert np.abs(terms(u)[0] - p).max() < 1e-8 * np.abs(p).max()
        squares = eigh(terms(u)[1], shapes @ (solid.mass @ shapes.T), eigvals_only=True)[:3]
        found.append((end.position(u @ shapes) - end.centroid, np.sqrt(squares)))
    assert np.linalg.norm(found[0][0]) > 0.01
    assert np.linalg.norm(found[1][0] - found[0][0]) < 0.01 * np.linalg.norm(found[0][0])
    np.testing.assert_allclose(found[1][1], found[0][1], rtol=0.02)


def test_more_cells_are_more_exact(soft) -> None:
    solid, reduction, states = soft
    loose, tight = (make_cubature(solid, reduction.shapes, states[:24], tolerance=t) for t in (0.05, 2e-3))
    assert len(loose.chosen) < len(tight.chosen)
    assert tight.residual < loose.residual


def test_bad_input(soft) -> None:
    solid, reduction, states = soft
    with pytest.raises(BadInput, match="at rest"):
        make_cubature(solid, reduction.shapes, 0.0 * states[:3])
    with pytest.raises(BadInput, match="do not fit"):
        make_cubature(solid, reduction.shapes, states[:, :2])
    linear = ElasticSolid(solid.mesh, replace(solid.material, model="st-venant-kirchhoff"))
    with pytest.raises(BadInput, match="exact without them"):
        make_cubature(linear, reduction.shapes, states[:4])
