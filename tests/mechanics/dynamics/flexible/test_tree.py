"""Flexible segments in a tree: the Lagrangian, features and forces beyond them, rest, and the limit of a rigid part."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.mechanics.dynamics.constraints import Distance, PointOnPlane, PointToPoint, SquareDirections
from bunraku.mechanics.dynamics.equilibrium import find_equilibrium
from bunraku.mechanics.dynamics.flexible.attach import Flexible
from bunraku.mechanics.dynamics.flexible.segment import FlexibleSegment, segment_from_points
from bunraku.mechanics.dynamics.forces import PointDamper, Wrench
from bunraku.mechanics.dynamics.places import Place
from bunraku.mechanics.dynamics.poses import find_jacobian, find_pose
from bunraku.mechanics.dynamics.potentials import PointSpring
from bunraku.mechanics.dynamics.system import build_system
from bunraku.optimization.derivative_check import check_gradient, check_jacobian


@pytest.mark.parametrize(("faces", "seed"), [(1, 0), (2, 1)])
def test_gradient_and_hessian_are_derivatives(two_rods, state, faces, seed) -> None:
    """Two rods in series, in random frames, under gravity: energies, gradient and Hessian; to 1e-12 in test_exact."""
    system = two_rods(seed, faces=faces)
    n = system.nq
    assert n == 33 + faces
    q, v = state(system, seed)
    d = system.lagrangian_derivatives(q, v)

    def lagrangian(x):
        kinetic, potential = system.energies(x[:n], x[n:])
        return kinetic - potential

    def gradient(x):
        there = system.lagrangian_derivatives(x[:n], x[n:])
        return np.concatenate([there.q, there.v])

    x = np.concatenate([q, v])
    assert check_gradient(lagrangian, gradient, x).holds
    assert check_jacobian(gradient, lambda _: np.block([[d.qq, d.vq.T], [d.vq, d.vv]]), x).holds
    np.testing.assert_allclose(d.vv @ v, d.v, rtol=0, atol=1e-12 * np.abs(d.v).max())
    for block in (d.vv, d.qq):
        np.testing.assert_allclose(block, block.T, rtol=0, atol=1e-13 * np.abs(block).max())


def test_energy_is_that_of_points_and_bodies(point_segment) -> None:
    """A rod clamped to the world with a body at its tip: everything from the positions of its points, by differences of none."""
    rng = np.random.default_rng(5)
    segment, X, m, phi, weights = point_segment(rng, r=5)
    from bunraku.mechanics.tree import Tree

    J = np.diag([0.02, 0.03, 0.04])
    tree = Tree(
        (), {"tip": 0}, np.array([-1]), np.array([0]), np.array([-1]), np.eye(3)[None], np.array([[0.0, 0.0, 0.5]]),
        np.array([[0.0, 0.0, 1.0]]), np.array([0.7]), np.array([[0.1, 0.0, 0.05]]), J[None], {}, np.zeros(0), (),
    )  # fmt: skip
    system = build_system(tree, segments=[Flexible("rod", segment, "world", ("tip",))])
    u, v = 0.1 * rng.normal(size=5), rng.normal(size=5)
    p, speed = X + phi @ u, phi @ v
    kinetic, potential = 0.5 * np.sum(m[:, None] * speed**2), 9.81 * m @ p[:, 2]

    def frame(at):  # polar frame of the face
        w = weights[0] / weights[0].sum()
        y = X + phi @ at
        c, d = w @ y, X - w @ X
        A = np.einsum("n,ni,nj->ij", w, y, d) @ np.linalg.pinv(np.einsum("n,ni,nj->ij", w, d, d), rcond=1e-9)
        U, _, Vt = np.linalg.svd(A)
        return U @ np.diag([1.0, 1.0, np.linalg.det(U @ Vt)]) @ Vt, c

    e = 1e-5
    (R0, c0), (R1, c1), (R, c) = frame(u - e * v), frame(u + e * v), frame(u)
    spin = (R1 - R0) / (2 * e) @ R.T
    w = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
    arm = R @ (np.array([0.1, 0.0, 0.05]) + np.array([0.0, 0.0, 0.5]) - segment.interfaces[0].c0)
    fast = (c1 - c0) / (2 * e) + np.cross(w, arm)
    kinetic += 0.35 * fast @ fast + 0.5 * w @ (R @ J @ R.T) @ w
    potential += 0.7 * 9.81 * (c + arm)[2] + 0.5 * np.sum(segment.strain(u) ** 2)
    assert system.energies(u, v) == pytest.approx((kinetic, potential), rel=1e-8)


def test_a_part_that_cannot_bend_is_rigid(two_rods, state, point_segment) -> None:
    """No modes, and three modes with shapes that are zero: the same Lagrangian."""
    rng = np.random.default_rng(8)
    made = [point_segment(rng, r=3, k=0) for _ in range(2)]
    still = [segment_from_points(X, m, 0.0 * phi, list(w)) for _, X, m, phi, w in made]
    none = [segment_from_points(X, m, phi[:, :, :0], list(w)) for _, X, m, phi, w in made]
    rigid, zero = two_rods(6, segments=none), None
    assert rigid.names == ("q0", "q1", "q2", "q3")
    q, v = state(rigid, 2)
    zero = two_rods(6, segments=still, kinematic=[f"{part}.{a}" for part in ("rod", "arm") for a in range(3)])
    modal = np.array(["." in name for name in zero.names])
    x, y = np.zeros(10), np.zeros(10)
    x[~modal], y[~modal] = q, v
    x[modal], y[modal] = rng.normal(size=6), rng.normal(size=6)
    mine, theirs = zero.lagrangian_derivatives(x, y), rigid.lagrangian_derivatives(q, v)
    assert zero.energies(x, y) == pytest.approx(rigid.energies(q, v), rel=1e-13)
    for name in ("v", "q"):
        np.testing.assert_allclose(getattr(mine, name)[~modal], getattr(theirs, name), atol=1e-13)
    for name in ("vv", "vq", "qq"):
        np.testing.assert_allclose(getattr(mine, name)[np.ix_(~modal, ~modal)], getattr(theirs, name), atol=1e-12)


def test_features_stand_where_the_tree_puts_them_at_rest(two_rods, state) -> None:
    """Modes at zero: distances between bodies on both sides of the segments are those of the rigid tree."""
    rows = (Distance("b0", "b5", 0.0), PointToPoint(Place("b5", (0.1, 0.2, 0.3)), "world", "xyz"))
    flexible, rigid = two_rods(3, constraints=rows), two_rods(3, constraints=rows, rigid=True)
    q, _ = state(rigid, 0)
    x = np.zeros(34)
    x[[flexible.index(name) for name in rigid.names]] = q
    np.testing.assert_allclose(flexible.constraint_values(x), rigid.constraint_values(q), rtol=1e-12)


def test_poses_and_jacobians_of_places(two_rods, state) -> None:
    """Rigid: those of the tree. Flexible: the Jacobians are derivatives of the pose."""
    rigid, system = two_rods(3, faces=2, rigid=True), two_rods(3, faces=2)
    q, _ = state(rigid, 0)
    at = rigid.tree.configuration(q)
    for mine, theirs in zip(find_pose(rigid, q, "b7"), at.pose("b7"), strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-13)
    for mine, theirs in zip(find_jacobian(rigid, q, "b7"), at.jacobian("b7"), strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-13)
    q, _ = state(system, 1)
    place = Place("b7", (0.1, 0.2, -0.1))
    assert check_jacobian(lambda x: find_pose(system, x, place)[1], lambda x: find_jacobian(system, x, place)[0], q).holds

    def axes(x):
        return find_pose(system, x, place)[0].ravel()

    def turning(x):
        R, w = find_pose(system, x, place)[0], find_jacobian(system, x, place)[1]
        return np.array([np.cross(w[:, c], R, axisb=0, axisc=0).ravel() for c in range(system.nq)]).T

    assert check_jacobian(axes, turning, q).holds


LOOP = (
    Distance("b5", Place("b7", (0.1, 0.0, 0.2)), 0.3, "rod"),
    PointToPoint("b4", Place("world", (0.4, 0.1, 0.2)), "xz", "pin"),
    PointOnPlane(Place("b1", (0.1, 0.0, 0.2)), (0.3, -0.5, 0.8), Place("b5", (0.0, 0.1, 0.0)), "plane"),
    SquareDirections("b6", (1.0, 0.2, 0.0), "b5", (0.0, 0.3, 1.0), 0.1, "square"),
)


SPRINGS = (PointSpring("b5", "b7", 20.0, 0.2),)
FORCES = (
    PointDamper("b5", "b7", 0.6),
    Wrench("b5", (0.3, "a", 0.1), (0.4, 0.2, "a"), "body"),
    Wrench(Place("b4", (0.1, 0.0, 0.3)), (0.2, 0.4, 0.0), (0.1, 0.3, -0.2), "hybrid"),
    Wrench("b7", (0.2, 0.1, 0.5), (0.3, 0.0, 0.3), "world"),
)


def test_constraints_across_segments(two_rods, state) -> None:
    """A loop over both faces of one segment and through the other: Dh by differences; exactly in test_exact."""
    system = two_rods(2, faces=2, constraints=LOOP)
    q, _ = state(system, 1)
    assert check_jacobian(system.constraint_values, system.constraint_jacobian, q).holds


def test_forces_beyond_segments(two_rods, state) -> None:
    """Springs, dampers, wrenches of all kinds and the damping of the material: derivatives by differences."""
    system = two_rods(4, faces=2, beta=0.02, inputs=("a",), potentials=SPRINGS, forces=FORCES)
    n = system.nq
    q, v = state(system, 3)
    x, u = np.concatenate([q, v]), np.array([0.8])

    def slopes(x):
        _, Fq, Fv, _ = system.force_derivatives(x[:n], x[n:], u)
        return np.hstack([Fq, Fv])

    assert check_jacobian(lambda x: system.force(x[:n], x[n:], u), slopes, x).holds
    Fu = system.force_derivatives(q, v, u)[3]
    np.testing.assert_allclose(Fu[:, 0], system.force(q, v, u + 0.5) - system.force(q, v, u - 0.5), atol=1e-12)


def test_material_damping_takes_energy(two_rods, state) -> None:
    """F = -beta J'J v: on the modes alone, against their motion."""
    system = two_rods(0, beta=0.05)
    q, v = state(system, 4)
    F = system.force(q, v)
    parts = [slice(system.index(f"{name}.0"), system.index(f"{name}.0") + 15) for name in ("rod", "arm")]
    assert all(F[part] @ v[part] < 0.0 for part in parts)
    assert np.abs(np.delete(F, np.r_[parts[0], parts[1]])).max() == 0.0


def test_rest_is_the_least_potential(two_rods) -> None:
    """Gravity on stiff segments: at the equilibrium no random push lowers the energy, and the forces balance."""
    system = two_rods(7, r=4, k=30, stiffness=6.0, size=0.1)
    rest = find_equilibrium(system, system.home)
    assert rest.status.good
    assert rest.stable
    assert rest.force_residual < 1e-9
    zero = np.zeros(system.nq)
    modal = np.array(["." in name for name in system.names])
    assert np.abs(rest.q[modal]).max() > 1e-3
    least = system.energies(rest.q, zero)[1]
    rng = np.random.default_rng(0)
    for size in (1e-3, 1e-2, 5e-2):
        for _ in range(20):
            push = size * rng.normal(size=system.nq)
            assert system.energies(rest.q + push, zero)[1] > least
    K = -system.lagrangian_derivatives(rest.q, zero).qq
    push = 1e-4 * rng.normal(size=system.nq)
    assert system.energies(rest.q + push, zero)[1] - least == pytest.approx(0.5 * push @ K @ push, rel=1e-2)


def test_segments_that_do_not_fit_are_refused(two_rods, point_segment) -> None:
    rng = np.random.default_rng(0)
    tree = two_rods(0, rigid=True).tree
    segment = point_segment(rng, r=2, k=3)[0]
    assert isinstance(segment, FlexibleSegment)
    for base, children, words in (
        ("b0", ("b1", "b4"), "2 children for 1 child interfaces"),
        ("b0", ("nose",), "names the child 'nose'"),
        ("b0", ("b2",), "needs a fixed joint"),
        ("b2", ("b4",), "stands on another moving part"),
    ):
        with pytest.raises(BadInput, match=words):
            build_system(tree, segments=[Flexible("rod", segment, base, children)])
