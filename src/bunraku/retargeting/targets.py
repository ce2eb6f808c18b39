"""Targets: where frames of a character should be, as arrays for the solver."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.mechanics.tree import Tree
from bunraku.retargeting.inverse_kinematics_kernels import TargetArrays


@dataclass(frozen=True)
class FrameTarget:
    """Where a frame B of the character should be, seen from a frame A: its wished place and turn in A, with weights.

    ``frame`` names a frame or body, ``point`` (3,) [m] a place in it and ``turn`` (3, 3) axes in it: X_B = (turn, point).
    ``base`` names a frame or body further up the same branch (empty: the world), with ``base_turn`` and ``base_point`` in it.
    ``position_weight`` [1/m] and ``rotation_weight`` [1/rad] multiply the errors, so that they are comparable numbers;
    zero leaves that part out.
    """

    frame: str
    position_weight: float = 1.0
    rotation_weight: float = 0.0
    point: ArrayLike = (0.0, 0.0, 0.0)
    turn: ArrayLike | None = None
    base: str = ""
    base_point: ArrayLike = (0.0, 0.0, 0.0)
    base_turn: ArrayLike | None = None
    name: str = ""

    @property
    def title(self) -> str:
        """The name of the target in reports: its own, or its frame's."""
        return self.name or self.frame


@dataclass(frozen=True)
class TargetSet:
    """Targets on one tree, compiled: row k of each of the ``arrays`` is target k."""

    tree: Tree
    targets: tuple[FrameTarget, ...]
    arrays: TargetArrays

    @staticmethod
    def of(tree: Tree, targets: Sequence[FrameTarget]) -> TargetSet:
        """Compile targets; a base that is not further up the branch of its frame is an error."""
        n = len(targets)
        nodes, points, turns = (np.zeros((2, n), dtype=np.int64), np.zeros((2, n, 3)), np.zeros((2, n, 3, 3)))
        for k, target in enumerate(targets):
            node, place, turn = tree.node(target.frame)
            base, base_place, base_turn = (-1, np.zeros(3), np.eye(3)) if not target.base else tree.node(target.base)
            if base >= 0 and base not in branch(tree, node):
                raise BadInput(
                    f"the target {target.title!r} is seen from {target.base!r}, which is not further up its branch; "
                    "take a body between it and the world, or the world itself"
                )
            if not (target.position_weight >= 0.0 and target.rotation_weight >= 0.0):
                raise BadInput(f"the target {target.title!r} has a negative weight; weights start at 0")
            nodes[:, k] = node, base
            points[:, k] = place + turn @ np.asarray(target.point), base_place + base_turn @ np.asarray(target.base_point)
            turns[0, k] = turn if target.turn is None else turn @ np.asarray(target.turn)
            turns[1, k] = base_turn if target.base_turn is None else base_turn @ np.asarray(target.base_turn)
        weights = np.array([[target.position_weight, target.rotation_weight] for target in targets]).reshape(n, 2).T.copy()
        return TargetSet(tree, tuple(targets), TargetArrays(nodes[0], points[0], turns[0], nodes[1], points[1], turns[1], *weights))

    def between(self, k: int) -> tuple[int, ...]:
        """The coordinates that move target k in its base."""
        coordinates = []
        for node in branch(self.tree, int(self.arrays.node[k])):
            if node == self.arrays.base[k]:
                break
            if self.tree.coordinate[node] >= 0:
                coordinates.append(int(self.tree.coordinate[node]))
        return tuple(coordinates)

    def poses(self, q: Array) -> tuple[Array, Array]:
        """Places (m, k, 3) and turns (m, k, 3, 3) of all targets' frames in their bases at configurations ``q`` (m, nq)."""
        R, p = self.tree.poses(np.atleast_2d(q))
        node, point, turn, base, base_point, base_turn, _, _ = self.arrays
        p_B = p[:, node] + np.einsum("mkab,kb->mka", R[:, node], point)
        R_B = R[:, node] @ turn
        world = base < 0
        R_F = np.where(world[None, :, None, None], np.eye(3), R[:, base])
        p_F = np.where(world[None, :, None], 0.0, p[:, base])
        R_A = R_F @ base_turn
        p_A = p_F + np.einsum("mkab,kb->mka", R_F, base_point)
        return np.einsum("mkba,mkb->mka", R_A, p_B - p_A), np.swapaxes(R_A, -1, -2) @ R_B


def branch(tree: Tree, node: int) -> list[int]:
    """The nodes from ``node`` to the root, itself first."""
    nodes = []
    while node >= 0:
        nodes.append(node)
        node = int(tree.parent[node])
    return nodes
