"""Grip, modes, modal derivatives, attachment shapes."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.geometry.meshing.outline import Circle
from bunraku.geometry.meshing.shapes import plate
from bunraku.mechanics.elastic.grip import rigid_motions
from bunraku.mechanics.elastic.interface import make_interface
from bunraku.mechanics.elastic.material import Material
from bunraku.mechanics.elastic.modes import CarriedBody
from bunraku.mechanics.elastic.reduction.basis import Workbench, make_basis, second_forces
from bunraku.mechanics.elastic.reduction.kinds import kinds_of
from bunraku.mechanics.elastic.reduction.reduce import reduce_to
from bunraku.mechanics.elastic.solid import ElasticSolid


@pytest.fixture(scope="module")
def tee():
    """A printed T with a body on each arm, off its interface; coarse."""
    outline = [(-0.02, 0), (0.02, 0), (0.02, 0.08), (0.08, 0.08), (0.08, 0.12), (-0.08, 0.12), (-0.08, 0.08), (-0.02, 0.08)]
    holes = {"foot": Circle((0, 0.015), 0.006), "left": Circle((-0.06, 0.1), 0.006), "right": Circle((0.06, 0.1), 0.006)}
    mesh = plate(outline, 0.004, size=0.016, holes=holes)
    solid = ElasticSolid(mesh, Material(young=3.5e9, poisson=0.35, density=1240.0))
    base, left, right = (make_interface(mesh, name) for name in holes)
    bodies = [CarriedBody(left, 0.15, np.diag([1e-3, 1e-4, 1e-3]), (-0.02, -0.05, 0.0)), CarriedBody(right, 0.1, 1e-4)]
    return Workbench(solid, base, [left, right], bodies)


def test_the_grip_carries_any_load_with_six_forces(tee) -> None:
    """K u - b is a combination of the six conditions, which hold; balanced loads need none of it."""
    rng = np.random.default_rng(0)
    K, C = tee.solid.stiffness(), tee.grip.conditions
    load = rng.normal(size=(tee.solid.size, 2))
    motions = rigid_motions(tee.solid.mesh.nodes, tee.base.centroid)
    load[:, 1] -= motions @ np.linalg.solve(motions.T @ motions, motions.T @ load[:, 1])
    u = tee.factor.solve(load)
    assert np.abs(C @ u).max() < 1e-12 * np.abs(u).max()
    left = load - K @ u
    reaction, *_ = np.linalg.lstsq(C.T, left, rcond=None)
    assert np.abs(left - C.T @ reaction).max() < 1e-7 * np.abs(load).max()
    assert np.abs(reaction[:, 1]).max() < 1e-7 * np.abs(reaction[:, 0]).max()
    assert np.abs(reaction[:, 0]).max() > 1e-2


def test_shapes_are_orthonormal_and_held(tee) -> None:
    """Unit mass with the carried bodies, orthogonal, and the base interface still."""
    basis = make_basis(tee)
    M = basis.shapes @ (tee.inertia @ np.ascontiguousarray(basis.shapes.T))
    np.testing.assert_allclose(M, np.eye(len(M)), atol=1e-10)
    assert max(tee.grip.violation(shape) / np.abs(shape).max() for shape in basis.shapes) < 1e-9


def test_carried_inertia_off_the_interface(tee) -> None:
    """A rigid turn of the whole part about a point: the body's energy is that of its mass at its own place."""
    about, w = np.array([0.03, -0.02, 0.05]), np.array([0.4, -1.1, 0.7])
    u = np.cross(w, tee.solid.mesh.nodes - about).ravel()
    for body in tee.carried:
        x = u[body.interface.unknowns]
        speed = np.cross(w, body.interface.centroid + np.asarray(body.center_of_mass) - about)
        expected = body.mass * speed @ speed + w @ body.inertia_matrix @ w
        assert x @ body.matrix(np.zeros(tee.solid.size)) @ x == pytest.approx(expected, rel=1e-9)


def test_modal_derivatives_follow_the_stiffness(short_rod) -> None:
    """g_ab is the derivative of K along phi_b, times phi_a (central differences are exact: K is quadratic)."""
    shapes = short_rod.basis.shapes[:5]
    pairs = np.array([(0, 0), (0, 3), (1, 4)])
    forces = second_forces(short_rod.solid, shapes, pairs)
    for (a, b), force in zip(pairs, forces, strict=True):
        h = 1e-4
        ahead, behind = (short_rod.solid.stiffness(sign * h * shapes[b]) @ shapes[a] for sign in (1.0, -1.0))
        np.testing.assert_allclose(force, (ahead - behind) / (2.0 * h), atol=1e-6 * np.abs(force).max())


def test_kinds_of_known_fields(short_rod) -> None:
    """A bend, a twist and a stretch by formula."""
    x, y, z = short_rod.solid.mesh.nodes.T
    bend = np.stack([z**2, 0 * z, -2 * x * z], axis=1)
    twist = np.stack([-y * z, x * z, 0 * z], axis=1)
    stretch = np.stack([-0.3 * x, -0.3 * y, z], axis=1)
    fields = np.array([field.ravel() for field in (bend, twist, stretch)])
    assert kinds_of(short_rod.solid, fields, np.array([0.0, 0.0, 1.0])) == ["bending", "torsion", "axial"]


def test_attachment_shapes_carry_the_children(tee) -> None:
    """The compliance of the children, scaled by the carried inertia: what is missed without them is found with them."""
    loads = np.zeros((12, tee.solid.size))
    for i, body in enumerate(tee.carried):
        root = np.linalg.cholesky(body.spatial(np.eye(3))).T
        loads[6 * i : 6 * i + 6, body.interface.unknowns] = root @ body.interface.jacobian(np.zeros(tee.solid.size))
    whole = loads @ tee.factor.solve(np.ascontiguousarray(loads.T))
    missed = []
    for share in (np.inf, 1e-3):
        shapes = make_basis(tee, bending=2, attach=share, release=np.inf).shapes
        K = shapes @ (tee.solid.stiffness() @ shapes.T)
        seen = loads @ shapes.T
        missed.append(np.linalg.eigvalsh(whole - seen @ np.linalg.solve(K, seen.T))[-1] / np.linalg.eigvalsh(whole)[-1])
    assert missed[0] > 0.02
    assert missed[1] < 1.2e-3


def test_a_segment_with_two_children(tee) -> None:
    """Interfaces of the segment are those of the solid; the material's damping is its own."""
    reduction = reduce_to(tee, make_basis(tee, bending=2))
    segment = reduction.segment
    assert segment.beta == tee.solid.material.strain_damping
    u = 1e-3 * np.random.default_rng(0).normal(size=segment.r)
    for face, child in zip(segment.interfaces, tee.children, strict=True):
        np.testing.assert_allclose(face.c0 + face.C @ u, child.position(u @ reduction.shapes), atol=1e-14)
        np.testing.assert_allclose(face.A0 + np.tensordot(u, face.A, 1), child.stretch(u @ reduction.shapes), atol=1e-10)


def test_bad_input(tee) -> None:
    with pytest.raises(BadInput, match="no child interface"):
        Workbench(tee.solid, tee.base, [])
    with pytest.raises(BadInput, match="not among the child"):
        Workbench(tee.solid, tee.base, tee.children[:1], tee.carried)
    with pytest.raises(BadInput, match="0 bending modes"):
        make_basis(tee, bending=0)
    with pytest.raises(BadInput, match="centre of mass"):
        CarriedBody(tee.children[0], 1.0, 0.0, (0.0, np.nan, 0.0))
