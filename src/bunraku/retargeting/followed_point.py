"""A point of a character that joint curves move: where it is, and how it moves with every coordinate.

The point is x = sum_k w_k (p_k + R_k c_k) over the nodes k of the tree, weights summing to one: a frame has all the weight at one
node, the centre of mass has the masses of the bodies for weights. With W_i and M_i the sums of w_k and w_k x_k over the nodes that
joint i carries, and f_i = 1 where it carries the foot that stands (else 0), the point moves with a joint by

    hinge   Q a_i x (M_i - f_i x - (W_i - f_i) p_i)        slide   Q a_i (W_i - f_i)

A character on feet whose base no curve moves stands on its first foot, as it is drawn: the foot keeps its home pose, so that the
world is turned by Q = R_F(home) R_F(q)^T. Closed chains are not followed: a point beyond joints that a loop moves is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.character import WORLD, Character, free_base
from bunraku.errors import BadInput
from bunraku.mechanics.systems.strings import with_carriages
from bunraku.mechanics.tree import Tree, compile_tree
from bunraku.retargeting.targets import branch

COM = "com"
_NEXT, _LAST = [1, 2, 0], [2, 0, 1]
_MOST_KEPT = 4
_KEPT: list[tuple[Character, Tree]] = []


@dataclass(frozen=True, eq=False)
class FollowedPoint:
    """A point of ``tree``: ``weights`` (n,) and ``locals`` (n, 3) [m] at its nodes; ``carries`` (n, n): whether node i carries k.

    ``foot``: the node that stands (-1: none), at ``foot_turn`` (3, 3) and ``foot_place`` (3,) [m]. ``moving``: the coordinates that
    move the point, names in the order of the tree, drivers in place of followers.
    """

    name: str
    tree: Tree
    weights: Array
    locals: Array
    carries: Array
    foot: int
    foot_turn: Array
    foot_place: Array
    moving: tuple[str, ...]

    def places(self, q: Array) -> Array:
        """Where the point is (m, 3) [m] at configurations ``q`` (m, nq)."""
        R, p = self.tree.poses(q)
        used = np.flatnonzero(self.weights)
        spots = p[:, used] + np.einsum("mkij,kj->mki", R[:, used], self.locals[used])
        x = np.einsum("k,mki->mi", self.weights[used], spots)
        if self.foot < 0:
            return np.asarray(x)
        away = np.einsum("mji,mj->mi", R[:, self.foot], x - p[:, self.foot])
        return np.asarray(self.foot_place + away @ self.foot_turn.T)

    def lever(self, coordinates: Sequence[int]) -> Lever:
        """What it takes to see how the point moves with some coordinates of the tree, and with those that follow them."""
        tree = self.tree
        rows = [(i, k, 1.0) for k, c in enumerate(coordinates) for i in np.flatnonzero(tree.coordinate == c)]
        for driver, follower, ratio, _ in tree.couplings:
            if driver in coordinates:
                rows += [(i, list(coordinates).index(driver), ratio) for i in np.flatnonzero(tree.coordinate == follower)]
        nodes = np.array([row[0] for row in rows], dtype=np.int64)
        used = np.flatnonzero(self.weights)
        gather = np.zeros((len(coordinates), len(rows)))
        for j, (_, k, gain) in enumerate(rows):
            gather[k, j] = gain
        carried = self.carries[np.ix_(nodes, used)] * self.weights[used]
        stands = np.zeros(len(nodes)) if self.foot < 0 else self.carries[nodes, self.foot]
        return Lever(nodes, used, gather, carried, carried.sum(axis=1) - stands, stands, tree.kind[nodes] == 1)

    def linearized(self, q: Array, lever: Lever) -> tuple[Array, Array]:
        """Where the point is (3,) [m] at ``q`` (nq,), followers following, and its Jacobian (3, k) over the lever's coordinates."""
        at = self.tree.configuration(q)
        used, nodes = lever.used, lever.nodes
        spots = at.position[used] + (at.rotation[used] @ self.locals[used][:, :, None])[:, :, 0]
        x = self.weights[used] @ spots
        axis, share = at.world_axis[nodes], lever.share[:, None]
        arm = lever.carried @ spots - lever.stands[:, None] * x - share * at.position[nodes]
        turned = axis[:, _NEXT] * arm[:, _LAST] - axis[:, _LAST] * arm[:, _NEXT]
        J = (lever.gather @ np.where(lever.hinge[:, None], turned, share * axis)).T
        if self.foot < 0:
            return x, J
        Q = self.foot_turn @ at.rotation[self.foot].T
        return self.foot_place + Q @ (x - at.position[self.foot]), Q @ J


@dataclass(frozen=True, eq=False)
class Lever:
    """Arrays for `FollowedPoint.linearized`: joints' ``nodes``, nodes ``used`` by the point, columns to ``gather``, W - f, f."""

    nodes: NDArray[np.int64]
    used: NDArray[np.int64]
    gather: Array
    carried: Array
    share: Array
    stands: Array
    hinge: NDArray[np.bool_]


def compiled(character: Character) -> Tree:
    """The tree of a character with its carriages; that of the last few characters is kept."""
    for known, tree in tuple(_KEPT):
        if known is character:
            return tree
    tree = compile_tree(with_carriages(character))
    _KEPT.append((character, tree))
    del _KEPT[:-_MOST_KEPT]
    return tree


def follow_point(character: Character, name: str, names: Sequence[str]) -> FollowedPoint:
    """The frame, end effector or body called ``name``, or the centre of mass ("com"), moved by curves of ``names``."""
    tree = compiled(character)
    n = len(tree.parent)
    carries = np.eye(n)
    for k in range(n - 1, -1, -1):
        if tree.parent[k] >= 0:
            carries[tree.parent[k]] += carries[k]
    weights, spots = _weights(character, tree, name)
    foot = _standing(character, tree, names)
    turn, place = np.eye(3), np.zeros(3)
    if foot >= 0:
        home = tree.configuration(tree.home)
        turn, place = home.rotation[foot], home.position[foot]
    share = carries @ weights
    moves = (share > 0.0) if foot < 0 else (np.abs(share - carries[:, foot]) > 0.0) | ((share > 0.0) & (share < 1.0))
    loose = _loose(character, tree, names)
    movers = {int(tree.coordinate[i]) for i in np.flatnonzero(moves) if tree.coordinate[i] >= 0}
    if movers & loose:
        raise BadInput(
            f"{name!r} hangs on a closed chain of {character.name!r}, which no curve leads; edit the curves of its joints"
        )
    leads = {follower: driver for driver, follower, _, _ in tree.couplings}
    moving = {leads.get(one, one) for one in movers}
    if foot >= 0:
        base = free_base(character)
        moving -= {tree.index(axis.name) for axis in (base.axes if base is not None else ())}
    return FollowedPoint(name, tree, weights, spots, carries, foot, turn, place, tuple(tree.names[i] for i in sorted(moving)))


def point_names(character: Character, names: Sequence[str]) -> tuple[str, ...]:
    """What curves of ``names`` move: frames, end effectors (bodies where there are neither), and the centre of mass.

    The centre of mass is left out where parts that bend or a skin have a share in it.
    """
    marks = [*(frame.name for frame in character.frames), *(tip.name for tip in character.end_effectors)]
    rigid = not character.flexibles and character.skin is None
    names_moved = []
    for name in dict.fromkeys([*(marks or [body.name for body in character.bodies]), *([COM] if rigid else [])]):
        try:
            point = follow_point(character, name, names)
        except BadInput:
            continue
        by = [point.tree.index(one) for one in point.moving if one in names]
        aside = point.tree.home + 0.1 * np.sin(np.arange(point.tree.nq))
        if by and np.abs(point.linearized(aside, point.lever(by))[1]).max() > 1e-6:
            names_moved.append(name)
    return tuple(names_moved)


def _weights(character: Character, tree: Tree, name: str) -> tuple[Array, Array]:
    weights, spots = np.zeros(len(tree.parent)), np.zeros((len(tree.parent), 3))
    tip = next((one for one in character.end_effectors if one.name == name), None)
    if name in tree.frames:
        node, spots[node], _ = tree.frames[name]
    elif tip is not None:
        node = tree.nodes[tip.body]
        spots[node] = tip.center
    elif name in tree.nodes:
        node = tree.nodes[name]
    elif name == COM:
        mass = float(tree.mass.sum())
        if not mass > 0.0:
            raise BadInput(f"{character.name!r} has no mass, so no centre of mass; choose a frame")
        return tree.mass / mass, tree.center_of_mass
    else:
        known = [*tree.frames, *(one.name for one in character.end_effectors), COM, *tree.nodes]
        raise BadInput(f"{character.name!r} has no frame, end effector or body {name!r}; it has {', '.join(known[:16])}")
    weights[node] = 1.0
    return weights, spots


def _standing(character: Character, tree: Tree, names: Sequence[str]) -> int:
    """The node of the foot that stands while curves of ``names`` move; -1: none, or something else moves the base."""
    base = free_base(character)
    if base is None or character.end_effectors or any(axis.name in names for axis in base.axes):
        return -1
    foot = next((foot.body for foot in character.feet if foot.body != WORLD), None)
    return -1 if foot is None else tree.nodes[foot]


def _loose(character: Character, tree: Tree, names: Sequence[str]) -> set[int]:
    """Coordinates that the loops of a character move, because no curve does."""
    coordinates: set[int] = set()
    for loop in character.loops:
        sides = [set(branch(tree, tree.nodes[end])) if end != WORLD else set() for end in (loop.parent, loop.child)]
        coordinates |= {int(tree.coordinate[i]) for i in sides[0] ^ sides[1]}
    return {i for i in coordinates if i >= 0 and tree.names[i] not in names}
