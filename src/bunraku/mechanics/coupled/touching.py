"""What touches inside: the skin itself, and the skin and the skeleton; forces for a frame (the paper's section 4.2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array
from bunraku.geometry.tet_mesh import TetMesh
from bunraku.mechanics.coupled.collisions.bodies import SkeletonCollisions
from bunraku.mechanics.coupled.collisions.penalty import Penalty
from bunraku.mechanics.coupled.collisions.surface import SurfaceCollisions
from bunraku.mechanics.coupled.skinned import SkinnedModel
from bunraku.mechanics.coupled.state import SkinnedState

DYNAMIC = Penalty(stiffness=2e7, onset=4e-4, deepest=1.5e-3)
"""Softer than in quasi-static folds: what touches moves at low speeds."""


@dataclass(frozen=True)
class Touch:
    """Forces on the nodes (n, 3) [N], generalized forces on the skeleton (nq,), and a bound of their stiffness (n, 3, 3) [N/m].

    The bound is the sum of the sizes of all couplings of a node, put on the node itself: a step that counts with it never throws
    apart what touches, whatever the penalty, and needs no other pattern than the skin's.
    """

    force: Array
    skeleton: Array
    stiffness: Array


class SkinCollisions:
    """Self-collision of a skin and its collision with the bodies, by penalty; called with a state it gives the forces.

    ``deepest`` [m] is the deepest touch of the last call, ``touches`` how many there were.
    """

    def __init__(self, model: SkinnedModel, *, penalty: Penalty = DYNAMIC) -> None:
        self.model = model
        self._skin = SurfaceCollisions(TetMesh(model.mesh.nodes, model.mesh.cells), penalty=penalty)
        self._bodies = [body for body in model.character.bodies if body.shapes]
        free = ~np.isin(self._skin.query, model.glue)
        query = self._skin.query[free]
        self._nodes = np.array([model.tree.nodes[body.name] for body in self._bodies], dtype=np.int64)
        self._skeleton = SkeletonCollisions(
            self._bodies, query, 2.0 * self._skin.area[free], model.mesh.nodes, self._poses(model.home), penalty=penalty
        )
        self.touches, self.deepest = 0, 0.0

    def __call__(self, state: SkinnedState) -> Touch:
        """What touches in a state."""
        x = np.ascontiguousarray(state.x)
        pairs = self._skin.find(x)
        force, _ = self._skin.force(x, pairs)
        poses = self._poses(state.q)
        touches = self._skeleton.find(x, poses)
        pushed, _ = self._skeleton.force(touches)
        wrench = self._skeleton.wrenches(touches, poses)
        at = self.model.tree.configuration(state.q)
        generalized = np.zeros(self.model.nq)
        for body, w in zip(self._bodies, wrench, strict=True):
            if np.any(w):
                linear, angular = at.jacobian(body.name)
                generalized += angular.T @ w[:3] + linear.T @ w[3:]
        self.touches = pairs.count
        self.deepest = float(pairs.deepest)
        bound = np.zeros((len(x), 3, 3))
        for rows, _, blocks in (self._skin.stiffness(x, pairs), self._skeleton.stiffness(touches)):
            sign = np.sign(np.trace(blocks, axis1=1, axis2=2))
            np.add.at(bound, rows, sign[:, None, None] * blocks)
        return Touch(force + pushed, generalized, bound)

    def _poses(self, q: Array) -> Array:
        at = self.model.tree.configuration(q)
        X = np.tile(np.eye(4), (len(self._nodes), 1, 1))
        X[:, :3, :3], X[:, :3, 3] = at.rotation[self._nodes], at.position[self._nodes]
        return X
