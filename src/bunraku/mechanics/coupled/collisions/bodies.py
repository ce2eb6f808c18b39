"""Collisions of a skin's nodes with the shapes of the bodies: forces on the nodes, the opposite wrenches on the bodies.

A node of area A at x with signed distance g to a shape (and outward normal n = dg/dx) carries the energy A e(g) of
:mod:`..penalty`; the force on the node is A p(g) n, that on the body the opposite, at the same point.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array, Indices
from bunraku.character.body import Body, Shape
from bunraku.errors import BadInput
from bunraku.geometry.rotations import matrix_of_quaternion
from bunraku.mechanics.coupled.collisions import bodies_kernels as kernels
from bunraku.mechanics.coupled.collisions.penalty import Penalty

KINDS = {"box": kernels.BOX, "sphere": kernels.SPHERE, "capsule": kernels.CAPSULE, "cylinder": kernels.CYLINDER}


@dataclass(frozen=True)
class Touches:
    """Nodes (k,) that touch bodies (k,): ``normal`` (k, 3) out of the body, ``gap``, ``area``, ``onset`` (k,), ``point`` (k, 3)."""

    node: Indices
    body: Indices
    normal: Array
    gap: Array
    area: Array
    onset: Array
    point: Array

    @property
    def count(self) -> int:
        """How many."""
        return len(self.gap)


class SkeletonCollisions:
    """Nodes ``query`` (m,) of a skin with areas (m,) [m^2] against the boxes, spheres, capsules and cylinders of ``bodies``.

    ``rest`` (n, 3) and ``poses`` (b, 4, 4), X_WB of the bodies there, say what is near at rest: a node nearer to a shape than the
    onset has an onset of four fifths of that distance for it, and never collides with a shape it lies in at rest (counted in
    ``left_out``), nor with bodies that ``apart`` (m, b) is True for (those it is glued to). Shapes of other kinds and those that do
    not collide are left out; ``shapes`` counts the rest.
    """

    def __init__(
        self,
        bodies: Sequence[Body],
        query: ArrayLike,
        area: ArrayLike,
        rest: ArrayLike,
        poses: ArrayLike,
        *,
        penalty: Penalty | None = None,
    ) -> None:
        self.penalty = penalty or Penalty()
        self.query = np.ascontiguousarray(query, dtype=np.int64)
        self.area = np.asarray(area, dtype=np.float64)
        self.size, self.bodies = len(np.asarray(rest)), len(bodies)
        if self.query.ndim != 1 or self.area.shape != self.query.shape:
            raise BadInput(f"nodes of shape {self.query.shape} with areas of shape {self.area.shape}; one area a node is needed")
        listed = [(b, s) for b, body in enumerate(bodies) for s in body.shapes if s.kind in KINDS and s.collides]
        self.shapes = len(listed)
        self._body = np.array([b for b, _ in listed], dtype=np.int64)
        self._kind = np.array([KINDS[s.kind] for _, s in listed], dtype=np.int64)
        self._size = np.array([[*s.size, 0.0, 0.0][:3] for _, s in listed]).reshape(-1, 3)
        self._ball = np.array([_radius(s) for _, s in listed])
        self._pose = np.array([_matrix(s) for _, s in listed]).reshape(-1, 4, 4)
        self._allowed = np.ones((len(self.query), self.shapes), dtype=np.bool_)
        self._onset = np.full(self._allowed.shape, self.penalty.onset)
        q, s, gap, _ = self._pairs(rest, poses, np.inf)
        self._onset[q, s] = np.maximum(0.8 * gap, 1e-9)
        self._allowed[q[gap <= 0.0], s[gap <= 0.0]] = False
        self.left_out = int((gap <= 0.0).sum())

    def find(self, x: ArrayLike, poses: ArrayLike) -> Touches:
        """What touches at node positions x (n, 3) [m] and poses X_WB (b, 4, 4) of the bodies."""
        q, s, gap, normal = self._pairs(x, poses, self.penalty.deepest)
        node = self.query[q]
        point = np.asarray(x, dtype=np.float64).reshape(-1, 3)[node]
        return Touches(node, self._body[s], normal, gap, self.area[q], self._onset[q, s], point)

    def force(self, touches: Touches) -> tuple[Array, float]:
        """Forces (n, 3) [N] on the nodes, and the energy [J]."""
        f = np.zeros((self.size, 3))
        np.add.at(f, touches.node, self._push(touches))
        return f, float(touches.area @ self.penalty.energy(touches.gap, touches.onset))

    def wrenches(self, touches: Touches, poses: ArrayLike) -> Array:
        """Moment [N·m] about the body's origin, then force [N], on each body (b, 6), world axes."""
        push = -self._push(touches)
        arm = touches.point - np.asarray(poses, dtype=np.float64)[touches.body, :3, 3]
        total = np.zeros((self.bodies, 6))
        np.add.at(total, touches.body, np.hstack([np.cross(arm, push), push]))
        return total

    def stiffness(self, touches: Touches) -> tuple[Indices, Indices, Array]:
        """Blocks (k, 3, 3) [N/m] at nodes (rows, the same as columns): minus the derivative of the force on a node by its place.

        The turning of the normal is left out (so it is never negative), and so is the motion of the bodies.
        """
        c = touches.area * self.penalty.slope(touches.gap, touches.onset)
        return touches.node, touches.node, c[:, None, None] * touches.normal[:, :, None] * touches.normal[:, None, :]

    def _push(self, touches: Touches) -> Array:
        size = touches.area * self.penalty.pressure(touches.gap, touches.onset)
        return np.asarray(size[:, None] * touches.normal)

    def _pairs(self, x: ArrayLike, poses: ArrayLike, deepest: float) -> tuple[Indices, Indices, Array, Array]:
        at = np.require(np.asarray(x, dtype=np.float64).reshape(-1, 3), requirements=["C", "W"])
        X_WB = np.asarray(poses, dtype=np.float64)
        if len(at) != self.size or X_WB.shape != (self.bodies, 4, 4):
            raise BadInput(
                f"positions {at.shape} and poses {X_WB.shape} arrived; ({self.size}, 3) and ({self.bodies}, 4, 4) are needed"
            )
        X_WS = np.ascontiguousarray((X_WB[self._body] @ self._pose)[:, :3])
        shapes = kernels.PlacedShapes(self._kind, self._size, self._ball, X_WS)
        room = max(256, len(self.query))
        while True:
            node, shape = np.zeros(room, dtype=np.int64), np.zeros(room, dtype=np.int64)
            pairs = kernels.NearPairs(node, shape, np.zeros(room), np.zeros((room, 3)))
            count = int(kernels.near_pairs(at, self.query, shapes, self._onset, deepest, self._allowed, pairs))
            if count <= room:
                return node[:count], shape[:count], pairs.gap[:count], pairs.normal[:count]
            room = count


def _matrix(shape: Shape) -> Array:
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = matrix_of_quaternion(shape.pose.quaternion), shape.pose.position
    return X


def _radius(shape: Shape) -> float:
    """Radius of a ball about the shape's origin that holds it."""
    s = shape.size
    if shape.kind == "box":
        return float(np.linalg.norm(s))
    if shape.kind == "capsule":
        return s[0] + s[1]
    return float(np.hypot(s[0], s[1])) if shape.kind == "cylinder" else s[0]
