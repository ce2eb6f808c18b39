"""Skin against bodies: distances to primitives, action and reaction, work, what is left alone at rest."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.character.body import Body, Pose, Shape
from bunraku.errors import BadInput
from bunraku.geometry.rotations import matrix_of_quaternion
from bunraku.mechanics.coupled.collisions import bodies_kernels as kernels
from bunraku.mechanics.coupled.collisions.bodies import KINDS, SkeletonCollisions
from bunraku.mechanics.coupled.collisions.penalty import Penalty

TURNED = Pose(position=(0.01, -0.02, 0.005), quaternion=(0.8, 0.3, -0.4, 0.2))
SHAPES = (
    Shape(kind="box", size=(0.02, 0.03, 0.01), pose=TURNED),
    Shape(kind="sphere", size=(0.02,), pose=TURNED),
    Shape(kind="capsule", size=(0.015, 0.02), pose=TURNED),
    Shape(kind="cylinder", size=(0.015, 0.02), pose=TURNED),
)
PENALTY = Penalty(stiffness=1e8, onset=4e-4, deepest=2e-3)


def shape_distance(shape, points):
    """Signed distances (m,) [m] of points (m, 3) in the body's frame to a shape, negative inside, and their gradients (m, 3)."""
    R, p = matrix_of_quaternion(shape.pose.quaternion), np.array(shape.pose.position)
    local = np.ascontiguousarray((points - p) @ R)
    gap, normal = np.zeros(len(local)), np.zeros((len(local), 3))
    kernels.distances(KINDS[shape.kind], np.array([*shape.size, 0.0, 0.0][:3]), local, gap, normal)
    return gap, normal @ R.T


def surface_points(shape, rng, count=20000):
    """Points on a shape's surface in its own frame (by pushing random ones along rays): for distances by exhaustion."""
    d = rng.normal(size=(count, 3))
    d /= np.linalg.norm(d, axis=1)[:, None]
    if shape.kind == "box":
        return d * (np.array(shape.size) / np.maximum(np.abs(d), 1e-12)).min(axis=1)[:, None]
    r = shape.size[0]
    if shape.kind == "sphere":
        return r * d
    half = shape.size[1]
    if shape.kind == "cylinder":
        across = np.hypot(d[:, 0], d[:, 1])
        return d * np.minimum(r / np.maximum(across, 1e-12), half / np.maximum(np.abs(d[:, 2]), 1e-12))[:, None]
    z = rng.uniform(-half, half, count)
    side = d * np.array([1.0, 1.0, 0.0])
    side = r * side / np.linalg.norm(side, axis=1)[:, None] + z[:, None] * [0, 0, 1]
    caps = r * d + np.sign(d[:, 2:]) * half * [0, 0, 1]
    return np.vstack([side, caps])


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: s.kind)
def test_distances_are_those_to_the_surface_and_their_gradients(shape):
    rng = np.random.default_rng(0)
    p = np.array(TURNED.position) + rng.uniform(-0.05, 0.05, (200, 3))
    gap, normal = shape_distance(shape, p)
    on = surface_points(shape, rng) @ matrix_of_quaternion(TURNED.quaternion).T + np.array(TURNED.position)
    nearest = np.sqrt(((p[:, None] - on[None]) ** 2).sum(axis=2)).min(axis=1)
    np.testing.assert_allclose(np.abs(gap), nearest, atol=1.5e-3)
    assert (np.abs(gap) <= nearest + 1e-12).all()
    assert (gap < 0).any()
    assert (gap > 0).any()
    e = 1e-7
    slope = np.column_stack(
        [(shape_distance(shape, p + e * a)[0] - shape_distance(shape, p - e * a)[0]) / (2 * e) for a in np.eye(3)]
    )
    smooth = np.abs(np.linalg.norm(slope, axis=1) - 1.0) < 1e-5  # not across an edge of the field
    assert smooth.mean() > 0.95
    np.testing.assert_allclose(slope[smooth], normal[smooth], atol=1e-5)


@pytest.fixture
def scene():
    rng = np.random.default_rng(5)
    bodies = [Body(name=f"b{i}", shapes=(shape,)) for i, shape in enumerate(SHAPES)]
    bodies.append(Body(name="egg", shapes=(Shape(kind="ellipsoid", size=(0.01, 0.02, 0.03)),)))
    poses = np.tile(np.eye(4), (5, 1, 1))
    poses[:, :3, 3] = [[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1], [0.2, 0, 0]]
    poses[1, :3, :3] = matrix_of_quaternion((0.5, 0.5, 0.5, 0.5))
    rest = rng.uniform(-0.05, 0.15, (16000, 3))
    area = rng.uniform(0.5e-5, 1e-5, len(rest))
    made = SkeletonCollisions(bodies, np.arange(len(rest)), area, rest, poses, penalty=PENALTY)
    moved = rest + 8e-4 * rng.normal(size=rest.shape)
    return made, rest, moved, poses


def test_at_rest_nothing_pushes_and_what_lies_inside_is_left_out(scene):
    made, rest, _, poses = scene
    assert made.shapes == 4
    assert made.find(rest, poses).count == 0
    assert made.left_out > 20


def test_bodies_feel_the_opposite_of_what_the_skin_feels(scene):
    made, _, x, poses = scene
    touches = made.find(x, poses)
    assert touches.count > 15
    f, _ = made.force(touches)
    wrench = made.wrenches(touches, poses)
    np.testing.assert_allclose(f.sum(axis=0) + wrench[:, 3:].sum(axis=0), 0.0, atol=1e-9)
    about_origin = wrench[:, :3] + np.cross(poses[:, :3, 3], wrench[:, 3:])
    np.testing.assert_allclose(np.cross(x, f).sum(axis=0) + about_origin.sum(axis=0), 0.0, atol=1e-9)
    assert not wrench[4].any()


def test_forces_are_the_slope_of_the_energy_by_nodes_and_by_poses(scene):
    made, _, x, poses = scene
    touches = made.find(x, poses)
    f, _ = made.force(touches)
    rng = np.random.default_rng(6)
    e, d = 1e-9, rng.normal(size=x.shape)
    values = [made.force(made.find(x + s * e * d, poses))[1] for s in (1, -1)]
    assert (values[0] - values[1]) / (2 * e) == pytest.approx(-(f * d).sum(), rel=1e-3)
    wrench = made.wrenches(touches, poses)
    for b in range(4):
        turn, shift = rng.normal(size=3), 0.05 * rng.normal(size=3)
        values = []
        for s in (1, -1):
            moved, K = poses.copy(), s * e * np.cross(np.eye(3), turn)
            moved[b, :3, :3] = (np.eye(3) + K) @ poses[b, :3, :3]
            moved[b, :3, 3] += s * e * shift
            values.append(made.force(made.find(x, moved))[1])
        work = wrench[b, :3] @ turn + wrench[b, 3:] @ shift
        assert (values[0] - values[1]) / (2 * e) == pytest.approx(-work, rel=2e-3, abs=1e-5)


def test_stiffness_is_the_slope_of_the_force_along_the_normal(scene):
    made, _, x, poses = scene
    touches = made.find(x, poses)
    rows, columns, blocks = made.stiffness(touches)
    np.testing.assert_array_equal(rows, columns)
    k, e = int(np.argmax(np.trace(blocks, axis1=1, axis2=2))), 1e-9
    n, node = touches.normal[k], touches.node[k]
    along = [made.force(made.find(x + s * e * n * (np.arange(len(x)) == node)[:, None], poses))[0][node] @ n for s in (1, -1)]
    total = sum(n @ blocks[i] @ n for i in np.flatnonzero(rows == node))
    assert -(along[0] - along[1]) / (2 * e) == pytest.approx(total, rel=1e-3)


def test_what_does_not_fit_is_refused(scene):
    made, rest, _, poses = scene
    with pytest.raises(BadInput, match="poses"):
        made.find(rest, poses[:2])
    with pytest.raises(BadInput, match="one area"):
        SkeletonCollisions([], np.arange(3), np.ones(2), rest, poses[:0])
