"""Mass and frames of a reduced part against the finite elements it was made from."""

from __future__ import annotations

import numpy as np

from bunraku.geometry.rotations import exponential
from bunraku.mechanics.dynamics.poses import find_jacobian, find_pose


def bent(short_rod, rng, size=0.02):
    """Modal coordinates of a tip load that bends the rod, with a little of everything else."""
    u = np.zeros(short_rod.reduction.segment.r)
    u[: short_rod.reduction.primary] = size * rng.normal(size=short_rod.reduction.primary) * np.array([1.0, 1.0, 0.1, 0.1, 0.02])
    u[short_rod.reduction.primary :] = 1e-7 * rng.normal(size=len(u) - short_rod.reduction.primary)
    return u


def test_kinetic_energy_is_that_of_the_moving_mesh(short_rod, two_bodies) -> None:
    """A segment on a turning and sliding base: T = 1/2 x' M x over nodal velocities, to rounding."""
    rng = np.random.default_rng(1)
    turn = exponential([0.3, -0.5, 0.9])
    shapes = short_rod.reduction.shapes
    system = two_bodies(short_rod.reduction.segment, 0.14, turn, motors=True, tip=(0.0, 0.0))
    q, v = np.zeros(system.nq), rng.normal(size=system.nq)
    modes = [system.index(f"rod.{a}") for a in range(len(shapes))]
    q[modes], q[system.index("turn")], q[system.index("slide")] = bent(short_rod, rng), 0.7, 0.1
    linear, angular = find_jacobian(system, q, "cart")
    R = find_pose(system, q, "cart")[0] @ turn
    points = short_rod.solid.mesh.nodes + (q[modes] @ shapes).reshape(-1, 3)
    w, c = angular @ v, linear @ v
    velocity = c + np.cross(w, points @ R.T) + (v[modes] @ shapes).reshape(-1, 3) @ R.T
    expected = 0.5 * velocity.ravel() @ (short_rod.solid.mass @ velocity.ravel())
    np.testing.assert_allclose(system.energies(q, v)[0], expected, rtol=1e-12)


def test_child_frame_is_the_polar_frame_of_the_interface(short_rod, two_bodies) -> None:
    """Pose of the tip body in the tree against singular vectors of the finite element patch."""
    rng = np.random.default_rng(2)
    system = two_bodies(short_rod.reduction.segment, 0.14)
    frame = find_pose(system, system.home, "cart")[1]
    for _ in range(5):
        u = bent(short_rod, rng)
        field = u @ short_rod.reduction.shapes
        R, p = find_pose(system, u, "tip")
        np.testing.assert_allclose(p - frame, short_rod.end.position(field), atol=1e-13)
        U, _, Vt = np.linalg.svd(short_rod.end.stretch(field))
        polar = U @ np.diag([1.0, 1.0, np.linalg.det(U @ Vt)]) @ Vt
        np.testing.assert_allclose(R, polar, atol=1e-12)
        assert np.linalg.norm(R - np.eye(3)) > 0.01
