"""Neo-Hookean points in the tree: a rubber strip on a motor against its cells, its derivatives, and the full-order model."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.geometry.meshing.shapes import box
from bunraku.geometry.tet_mesh import TetMesh
from bunraku.mechanics.dynamics import equation_kernels as kernels
from bunraku.mechanics.dynamics.flexible.attach import Flexible
from bunraku.mechanics.dynamics.flexible.segment import NeoHookeanPoints
from bunraku.mechanics.dynamics.poses import find_pose
from bunraku.mechanics.dynamics.system import build_system
from bunraku.mechanics.elastic.interface import make_interface
from bunraku.mechanics.elastic.material import Material
from bunraku.mechanics.elastic.modes import CarriedBody
from bunraku.mechanics.elastic.reduction.basis import Workbench, make_basis
from bunraku.mechanics.elastic.reduction.choice import peak_strain, reference_loads
from bunraku.mechanics.elastic.reduction.cubature import make_cubature, training_states, with_cubature
from bunraku.mechanics.elastic.reduction.reduce import reduce_to
from bunraku.mechanics.elastic.reduction.strain import displacement_gradients
from bunraku.mechanics.elastic.solid import ElasticSolid
from bunraku.mechanics.full_order.description import GROUND, ElasticPiece, Freedom, Held, Link, RigidBody
from bunraku.mechanics.full_order.model import FullOrderModel
from bunraku.mechanics.integrators.driven.simulate import simulate
from bunraku.mechanics.tree import Tree

TINY = 1e-40
LENGTH, MASS, INERTIA = 0.1, 0.05, 5e-6


def smooth(t, end):
    s = np.clip(t / end, 0.0, 1.0)
    return 10 * s**3 - 15 * s**4 + 6 * s**5


@pytest.fixture(scope="module")
def strip():
    """A rubber strip of 10 x 2 x 1.5 cm that carries 50 g: solid, reduction with strains, with few cells, with all cells."""
    mesh = box((0.02, 0.015, LENGTH), (2, 1, 8))
    solid = ElasticSolid(mesh, Material(young=1e6, poisson=0.4, density=1100.0, strain_damping=2e-3))
    base, end = make_interface(mesh, "start"), make_interface(mesh, "end")
    bench = Workbench(solid, base, [end], [CarriedBody(end, MASS, INERTIA)])
    reduction = reduce_to(bench, make_basis(bench, bending=4, release=1e-3))
    loads = reference_loads(bench)
    states = training_states(bench, reduction, loads)
    G = displacement_gradients(solid, reduction.shapes)
    r, m, q = G.shape[:3]
    lame = np.column_stack([np.repeat(part, q) for part in solid.lame])
    every = NeoHookeanPoints(solid.weights.ravel(), lame, np.moveaxis(G.reshape(r, m * q, 3, 3), 0, 1).copy())
    few = with_cubature(bench, reduction, loads)
    return SimpleNamespace(solid=solid, base=base, end=end, bench=bench, reduction=reduction, states=states, every=every, few=few)


def system_of(segment, *, motor=True, gravity=(0.0, 0.0, 0.0)):
    """The strip upright on a hub that turns about y, or on the ground; its tip carries the body."""
    still = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    tree = Tree(
        ("motor",), {"hub": 0, "tip": 1}, np.array([-1, 0]), np.array([1, 0]), np.array([0, -1]), np.tile(np.eye(3), (2, 1, 1)),
        np.array([[0.0, 0.0, 0.0], [0.0, 0.0, LENGTH]]), still, np.array([0.05, MASS]), np.zeros((2, 3)),
        np.tile(INERTIA * np.eye(3), (2, 1, 1)), {}, np.zeros(1), (),
    )  # fmt: skip
    return build_system(
        tree, kinematic=["motor"] if motor else (), segments=[Flexible("strip", segment, "hub", ("tip",))], gravity=gravity
    )


def modal(system, u):
    """A configuration with the motor at zero."""
    return np.concatenate([[0.0], u])


def test_the_tree_sums_what_the_cubature_sums(strip) -> None:
    """Energy, force and stiffness of the chosen cells, by the kernels of the solid and by those of the tree."""
    cubature = make_cubature(strip.solid, strip.reduction.shapes, strip.states, tolerance=1e-2)
    assert len(cubature.chosen) < 0.5 * len(strip.solid.mesh.cells)
    cells = strip.solid.mesh.cells[cubature.chosen]
    nodes, place = np.unique(cells, return_inverse=True)
    few = ElasticSolid(TetMesh(strip.solid.mesh.nodes[nodes], place.reshape(cells.shape)), strip.solid.material, one_piece=False)
    few.weights *= cubature.weights[:, None]
    shapes = strip.reduction.shapes.reshape(len(strip.reduction.shapes), -1, 3)[:, nodes].reshape(len(strip.reduction.shapes), -1)
    system = system_of(replace(strip.reduction.segment, points=cubature.points))
    for u in strip.states[:3]:
        q = modal(system, u)
        zero = np.zeros(system.nq)
        d = system.lagrangian_derivatives(q, zero)
        force, K = few.force_and_stiffness(u @ shapes)
        force, stiffness = shapes @ force, shapes @ (K @ shapes.T)
        assert system.energies(q, zero)[1] == pytest.approx(few.energy(u @ shapes), rel=1e-12)
        np.testing.assert_allclose(-d.q[1:], force, rtol=0, atol=1e-12 * np.abs(stiffness @ u).max())
        np.testing.assert_allclose(-d.qq[1:, 1:], stiffness, rtol=0, atol=1e-12 * np.abs(stiffness).max())


@pytest.mark.exhaustive  # the kernels compiled for complex numbers: minutes
def test_gradient_and_hessian_are_exact(strip) -> None:
    """By complex steps: the gradient from the energy, the Hessian from the gradient, while the motor turns."""
    system = system_of(strip.few.segment, motor=False, gravity=(1.0, -2.0, -9.0))
    n, rng = system.nq, np.random.default_rng(0)
    q, v = modal(system, strip.states[0]), 0.3 * rng.normal(size=n)
    q[0] = 0.4
    d = system.lagrangian_derivatives(q, v)
    slope = np.empty(n)
    for j in range(n):
        x = q.astype(complex)
        x[j] += TINY * 1j
        Lv, Lq, *_ = kernels.lagrangian(system.model, x, v.astype(complex))
        np.testing.assert_allclose(d.qq[:, j], Lq.imag / TINY, rtol=0, atol=1e-12 * np.abs(d.qq).max())
        np.testing.assert_allclose(d.vq[:, j], Lv.imag / TINY, rtol=0, atol=1e-12 * np.abs(d.vq).max())
        kinetic, potential = kernels.energies(system.model, x, v.astype(complex))
        slope[j] = (kinetic - potential).imag / TINY
    np.testing.assert_allclose(d.q, slope, rtol=0, atol=1e-12 * np.abs(d.qq @ q).max())


def test_with_all_cells_it_is_the_solid_on_its_shapes(strip) -> None:
    """Energy, force, stiffness and the damping by the strain rate of the whole solid, restricted to the shapes."""
    solid, shapes = strip.solid, strip.reduction.shapes
    system = system_of(replace(strip.reduction.segment, points=strip.every))
    rng = np.random.default_rng(1)
    for u in strip.states[3:5]:
        v = rng.normal(size=len(u)) * np.abs(u).max()
        q, zero = modal(system, u), np.zeros(system.nq)
        force, stiffness = solid.force_and_stiffness(u @ shapes)
        d, K = system.lagrangian_derivatives(q, zero), shapes @ (stiffness @ shapes.T)
        assert system.energies(q, zero)[1] == pytest.approx(solid.energy(u @ shapes), rel=1e-11)
        np.testing.assert_allclose(-d.q[1:], shapes @ force, rtol=0, atol=1e-11 * np.abs(K @ u).max())
        np.testing.assert_allclose(-d.qq[1:, 1:], K, rtol=0, atol=1e-11 * np.abs(K).max())
        drag = shapes @ solid.damping_force(u @ shapes, v @ shapes)
        np.testing.assert_allclose(-system.force(q, modal(system, v))[1:], drag, rtol=0, atol=1e-11 * np.abs(drag).max())


def test_small_strains_are_those_of_the_polynomial(strip) -> None:
    """Both have one stiffness at rest; the forces part in proportion to the square of the displacement."""
    points, strains = (system_of(replace(strip.reduction.segment, points=p)) for p in (strip.every, None))
    K = strip.reduction.segment.L1 @ strip.reduction.segment.L1.T
    root = np.linalg.cholesky(K)
    zero = np.zeros(points.nq)
    np.testing.assert_allclose(-points.lagrangian_derivatives(zero, zero).qq[1:, 1:], K, rtol=0, atol=1e-11 * np.abs(K).max())
    apart = []
    for scale in (1e-2, 1e-3, 1e-4):
        q = modal(points, scale * strip.states[0])
        gap = points.lagrangian_derivatives(q, zero).q - strains.lagrangian_derivatives(q, zero).q
        apart.append(np.linalg.norm(np.linalg.solve(root, gap[1:])) / np.linalg.norm(root.T @ q[1:]))
    assert apart[0] < 0.02
    assert apart[0] / apart[1] == pytest.approx(10.0, rel=0.2)
    assert apart[1] / apart[2] == pytest.approx(10.0, rel=0.2)


def test_a_motion_is_that_of_the_full_order_model(strip) -> None:
    """The motor turns by 0.25 rad in 0.15 s: the tip within 2 % of its largest deflection, at strains above 2 %.

    (Nearer than with the polynomial strain.)
    """
    solid = strip.solid
    hub, tip = RigidBody("hub", 0.05, INERTIA), RigidBody("tip", MASS, INERTIA, pose=(np.eye(3), np.array([0.0, 0.0, LENGTH])))
    back = (np.eye(3), np.array([0.0, 0.0, -LENGTH]))
    piece = ElasticPiece("strip", solid, (Held(strip.base, "hub"), Held(strip.end, "tip", back)))
    link = Link("motor", GROUND, "hub", (Freedom("hinge", (0.0, 1.0, 0.0), motor=0),))
    full = FullOrderModel([hub, tip], [link], [piece], motors=["motor"])
    dt, t = 2.5e-3, 2.5e-3 * np.arange(81)
    K = 0.25 * smooth(t, 0.15)[:, None]
    judge = full.simulate(K, dt, method="generalized-alpha")
    assert judge.status.good
    x = judge.tracked(["tip"])[:, 0]
    errors = []
    for segment in (strip.reduction.segment, strip.few.segment):
        system = system_of(segment, gravity=(0.0, 0.0, -9.81))
        motion = simulate(system, K, dt)
        assert motion.status.good
        mine = np.array([find_pose(system, q, "tip")[1] for q in motion.q])
        errors.append(np.linalg.norm(mine - x, axis=1).max())
    stiff = LENGTH * np.column_stack([np.sin(K[:, 0]), np.zeros(len(K)), np.cos(K[:, 0])])
    bent = np.linalg.norm(x - stiff, axis=1).max()
    strain = max(peak_strain(solid, q[1:] @ strip.reduction.shapes) for q in motion.q[::5])
    assert bent > 0.1 * LENGTH
    assert strain > 0.02
    assert errors[1] < 0.02 * bent
    assert errors[1] < 0.3 * errors[0]


def test_damping_takes_energy(strip) -> None:
    """Let go from a bend, the strip loses energy in every step, and without damping keeps it."""
    kept = {}
    for beta in (0.0, 0.01):
        system = system_of(replace(strip.few.segment, beta=beta))
        dt = 5e-4
        motion = simulate(system, np.zeros((201, 1)), dt, start=modal(system, strip.states[0]))
        assert motion.status.good
        middle, speed = 0.5 * (motion.q[1:] + motion.q[:-1]), np.diff(motion.q, axis=0) / dt
        kept[beta] = np.array([sum(system.energies(q, v)) for q, v in zip(middle, speed, strict=True)])
    assert np.ptp(kept[0.0]) < 0.02 * kept[0.0][0]
    smoothed = np.convolve(kept[0.01], np.full(5, 0.2), "valid")
    assert np.all(np.diff(smoothed) < 1e-6 * kept[0.01][0])
    assert kept[0.01][-1] < 0.9 * kept[0.01][0]


def test_a_collapsed_part_ends_the_simulation_by_name(strip) -> None:
    system = system_of(strip.few.segment)
    G = strip.few.segment.points.gradients
    u = strip.states[0]
    far = next(s for s in np.geomspace(1.0, 1e3, 60) if np.linalg.det(np.eye(3) + np.einsum("a,paij->pij", s * u, G)).min() < 0.0)
    assert not np.isfinite(system.energies(modal(system, far * u), np.zeros(system.nq))[1])
    motion = simulate(system, np.zeros((5, 1)), 1e-3, start=modal(system, far * u))
    assert not motion.status.good
    assert "'strip'" in motion.message
    assert "t = 0.0000 s" in motion.message


def test_bad_points_are_refused(strip) -> None:
    points = strip.few.segment.points
    with pytest.raises(BadInput, match="positive"):
        NeoHookeanPoints(-points.weights, points.lame, points.gradients)
    with pytest.raises(BadInput, match="gradients of the points"):
        replace(strip.few.segment, points=NeoHookeanPoints(points.weights, points.lame, points.gradients[:, :2]))
    with pytest.raises(BadInput, match="lame"):
        NeoHookeanPoints(points.weights, points.lame[:1], points.gradients)
