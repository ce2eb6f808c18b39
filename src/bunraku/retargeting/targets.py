"""Targets: where frames of a character should be, as arrays for the solver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
    """Targets on one tree, compiled: row k of each array is target k; see `inverse_kinematics_kernels.py` for their meaning."""

    tree: Tree
    targets: tuple[FrameTarget, ...]
    node: NDArray[np.int64]
    point: Array
    turn: Array
    base: NDArray[np.int64]
    base_point: Array
    base_turn: Array
    position_weight: Array
    rotation_weight: Array

    @staticmethod
    def of(tree: Tree, targets: tuple[FrameTarget, ...] | list[FrameTarget]) -> TargetSet:
        """Compile targets; a base that is not further up the branch of its frame is an error."""
        rows: list[tuple[Any, ...]] = []
        for target in targets:
            node, place, turn = tree.node(target.frame)
            base, base_place, base_turn = (-1, np.zeros(3), np.eye(3)) if not target.base else tree.node(target.base)
            if base >= 0 and base not in branch(tree, node):
                raise BadInput(
                    f"the target {target.title!r} is seen from {target.base!r}, which is not further up its branch; "
                    "take a body between it and the world, or the world itself"
                )
            if not (target.position_weight >= 0.0 and target.rotation_weight >= 0.0):
                raise BadInput(f"the target {target.title!r} has a negative weight; weights start at 0")
            rows.append(
                (
                    node,
                    place + turn @ np.asarray(target.point, dtype=np.float64),
                    turn if target.turn is None else turn @ np.asarray(target.turn, dtype=np.float64),
                    base,
                    base_place + base_turn @ np.asarray(target.base_point, dtype=np.float64),
                    base_turn if target.base_turn is None else base_turn @ np.asarray(target.base_turn, dtype=np.float64),
                    target.position_weight,
                    target.rotation_weight,
                )
            )
        n = len(rows)

        def column(at: int, shape: tuple[int, ...], kind: Any = np.float64) -> Any:
            return np.array([row[at] for row in rows], dtype=kind).reshape((n, *shape))

        return TargetSet(
            tree,
            tuple(targets),
            column(0, (), np.int64),
            column(1, (3,)),
            column(2, (3, 3)),
            column(3, (), np.int64),
            column(4, (3,)),
            column(5, (3, 3)),
            column(6, ()),
            column(7, ()),
        )

    @property
    def arrays(self) -> TargetArrays:
        """What the kernels take."""
        turns = (self.node, self.point, self.turn, self.base, self.base_point, self.base_turn)
        return TargetArrays(*turns, self.position_weight, self.rotation_weight)

    def between(self, k: int) -> tuple[int, ...]:
        """The coordinates that move target k in its base."""
        found = []
        for node in branch(self.tree, int(self.node[k])):
            if node == self.base[k]:
                break
            if self.tree.coordinate[node] >= 0:
                found.append(int(self.tree.coordinate[node]))
        return tuple(found)

    def poses(self, q: Array) -> tuple[Array, Array]:
        """Places (m, k, 3) and turns (m, k, 3, 3) of all targets' frames in their bases at configurations ``q`` (m, nq)."""
        R, p = self.tree.poses(np.atleast_2d(q))
        p_B = p[:, self.node] + np.einsum("mkab,kb->mka", R[:, self.node], self.point)
        R_B = R[:, self.node] @ self.turn
        world = self.base < 0
        R_F = np.where(world[None, :, None, None], np.eye(3), R[:, self.base])
        p_F = np.where(world[None, :, None], 0.0, p[:, self.base])
        R_A = R_F @ self.base_turn
        p_A = p_F + np.einsum("mkab,kb->mka", R_F, self.base_point)
        return np.einsum("mkba,mkb->mka", R_A, p_B - p_A), np.swapaxes(R_A, -1, -2) @ R_B


def branch(tree: Tree, node: int) -> list[int]:
    """The nodes from ``node`` to the root, itself first."""
    found = []
    while node >= 0:
        found.append(node)
        node = int(tree.parent[node])
    return found
