"""Where a flexible segment stands in a tree, and the arrays a list of them compiles to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.mechanics.dynamics.flexible import layout
from bunraku.mechanics.dynamics.flexible.segment import FlexibleSegment
from bunraku.mechanics.dynamics.lagrangian_layout import WORK
from bunraku.mechanics.dynamics.model import Segments
from bunraku.mechanics.dynamics.places import Where, resolve
from bunraku.mechanics.tree import Tree
from bunraku.mechanics.tree.tree_kernels import FIXED


@dataclass(frozen=True, eq=False)
class Flexible:
    """A segment in a tree: its floating frame stands at ``base``, and body ``children[i]`` is fixed to its child interface i.

    The children are bodies with a fixed joint, rigidly connected to the body of ``base``; the segment takes the place of that
    joint. With all modes at zero they stand where the tree puts them. The modal coordinates are called ``name.0``, ``name.1``, ...
    """

    name: str
    segment: FlexibleSegment
    base: Where
    children: tuple[str, ...]

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the modal coordinates."""
        return tuple(f"{self.name}.{a}" for a in range(self.segment.r))


@dataclass(frozen=True, eq=False)
class Stand:
    """A segment resolved in the tree: base node, pose of F in it, child nodes, and its first coordinate."""

    flexible: Flexible
    node: int
    position: Array
    rotation: Array
    children: tuple[int, ...]
    coordinate: int


def insert_modes(tree: Tree, kept: Sequence[int], segments: Sequence[Flexible]) -> list[int | str]:
    """Order of coordinates: tree coordinates (as numbers) with the modes of each segment after the last one before its base."""
    order: list[int | str] = list(kept)
    for flexible in segments:
        node, at = resolve(tree, flexible.base)[0], 0
        while node >= 0:
            if tree.coordinate[node] in kept:
                at = max(at, order.index(int(tree.coordinate[node])) + 1)
            node = int(tree.parent[node])
        for earlier in segments[: segments.index(flexible)]:
            names = earlier.coordinates
            if names and order.index(names[-1]) + 1 > at and order.index(names[0]) <= at:
                at = order.index(names[-1]) + 1
        order[at:at] = flexible.coordinates
    return order


def stands(tree: Tree, segments: Sequence[Flexible], names: Sequence[str]) -> list[Stand]:
    """The segments resolved in the tree; BadInput where one does not fit."""
    places: list[Stand] = []
    taken: set[int] = set()
    for flexible in segments:
        node, position, rotation = resolve(tree, flexible.base)
        segment, what = flexible.segment, f"the flexible segment {flexible.name!r}"
        if len(flexible.children) != len(segment.interfaces):
            raise BadInput(f"{what} names {len(flexible.children)} children for {len(segment.interfaces)} child interfaces")
        children = []
        for child in flexible.children:
            if child not in tree.nodes:
                raise BadInput(f"{what} names the child {child!r}; bodies are {', '.join(sorted(tree.nodes))[:300]}")
            at = tree.nodes[child]
            if tree.kind[at] != FIXED or at in taken or at <= node:
                raise BadInput(f"{what} cannot carry {child!r}: it needs a fixed joint of its own, after the base in the tree")
            taken.add(at)
            children.append(at)
        first = names.index(flexible.coordinates[0]) if segment.r else 0
        places.append(Stand(flexible, node, position, rotation, tuple(children), first))
    return places


def compile_segments(
    parts: Sequence[Stand], bases: Sequence[int], first_slots: Sequence[Sequence[int]], slots: int
) -> tuple[Segments, int]:
    """The arrays of the segments with modes, and the rows a work array needs.

    ``bases``: the slot each stands on, ``first_slots`` the first slot of each of its interfaces, ``slots`` how many there are.
    """
    segment_i: list[list[int]] = []
    interface_i: list[list[int]] = []
    pairs: list[tuple[int, int, int]] = []
    floats: list[Array] = []
    size, row = 0, slots

    def put(*arrays: Array) -> int:
        nonlocal size
        start = size
        for array in arrays:
            floats.append(np.asarray(array, dtype=np.float64).ravel())
            size += floats[-1].size
        return start

    for part, base, firsts in zip(parts, bases, first_slots, strict=True):
        s = part.flexible.segment
        r, k = s.r, s.k
        Q = np.asarray(s.Qp)
        last = [int(np.flatnonzero(line)[-1]) + 1 if np.any(line) else 0 for line in Q]
        used = [i for i, end in enumerate(last) if end > 0]
        line = [0] * layout.SEGMENT_INTS
        line[layout.COUNT], line[layout.COORDINATE_0], line[layout.BASE], line[layout.ROW] = r, part.coordinate, base, row
        line[layout.FIRST_INTERFACE], line[layout.INTERFACES] = len(interface_i), len(s.interfaces)
        line[layout.MASS_F] = put(np.array([s.mass, s.beta]), s.N.T, s.E)
        line[layout.OWN_F] = put(_own_pairs(s))
        line[layout.LINEAR_F], line[layout.QUADRATIC_F] = put(s.L1), put(Q[used])
        line[layout.FIRST_PAIR], line[layout.PAIRS], line[layout.ROWS] = len(pairs), len(used), k
        row += 1 + r
        line[layout.STRAIN] = row * WORK
        row += -(-(k * (r + 2) + r + r * r + 1) // WORK)
        if s.points is not None:
            line[layout.POINTS], line[layout.POINTS_F] = len(s.points.weights), put(*s.points.packed)
        pairs.extend((int(s.pairs[i, 0]), int(s.pairs[i, 1]), last[i]) for i in used)
        for interface, first in zip(s.interfaces, firsts, strict=True):
            modes = np.hstack([interface.C.T, interface.A.reshape(r, 9)])
            interface_i.append([len(segment_i), first, row, put(interface.c0, interface.A0, modes)])
            row += 1 + r
        segment_i.append(line)
    arrays = Segments(
        np.array(segment_i, dtype=np.int64).reshape(-1, layout.SEGMENT_INTS),
        np.array(interface_i, dtype=np.int64).reshape(-1, layout.INTERFACE_INTS),
        np.array(pairs, dtype=np.int64).reshape(-1, 3),
        np.concatenate(floats) if floats else np.zeros(0),
    )
    return arrays, row + 1 if segment_i else slots


def _own_pairs(segment: FlexibleSegment) -> Array:
    """What the pairs of modes take from E (10, r, r): tr E_ab, eps:E_ba (3), and xx, yy, zz, xy, xz, yz of E_ab + its transpose."""
    E = segment.E[1:, 1:]
    swapped = E.transpose(1, 0, 2, 3)
    eps = [
        swapped[..., 1, 2] - swapped[..., 2, 1],
        swapped[..., 2, 0] - swapped[..., 0, 2],
        swapped[..., 0, 1] - swapped[..., 1, 0],
    ]
    square = [E[..., i, i] for i in range(3)] + [E[..., i, j] + E[..., j, i] for i, j in ((0, 1), (0, 2), (1, 2))]
    return np.array([np.trace(E, axis1=2, axis2=3), *eps, *square])
