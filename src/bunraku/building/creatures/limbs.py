"""The legs of a surface nobody described: four branches of its skeleton line that end lowest."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from bunraku.arrays import Array, Indices
from bunraku.building.creatures.embed import LegCurve
from bunraku.building.creatures.templates import LEGS
from bunraku.errors import BadInput

FOOT = 0.35
"""A foot is lower than this part of the height at which its leg leaves the trunk."""


def find_legs(nodes: Array, edges: Indices, *, ground: float, resample: int = 24) -> tuple[LegCurve, ...]:
    """The legs LF, RF, LH, RH of a skeleton line: ``nodes`` (k, 3) [m] joined by ``edges`` (e, 2), z up.

    The four lowest ends are feet; refused when one hangs in the air, as a tail does. A leg's curve is the way from its foot to the
    next branching point, smoothed, from the trunk downward, and goes straight down from its end to the ``ground`` [m]. Fore and
    hind are told by the long horizontal direction of the feet, which must be nearer to x than to y.
    """
    paths = leg_paths(nodes, edges)
    ends = np.array([nodes[path[0]] for path in paths])
    hips = np.array([nodes[path[-1]] for path in paths])
    standing = ends[:, 2] - ground < FOOT * (hips[:, 2] - ground)
    if not standing.all():
        x, y, z = ends[int(np.argmin(standing))] - np.array([0.0, 0.0, ground])
        raise BadInput(
            f"the surface has {int(standing.sum())} legs that reach the ground, the next limb ends {z:.3f} m above it at "
            f"({x:.2f}, {y:.2f}) m; a creature stands on four, z up"
        )
    middle = ends[:, :2].mean(axis=0)
    fore, left = ends[:, 0] >= middle[0], ends[:, 1] >= middle[1]
    names = [f"{'L' if is_left else 'R'}{'F' if is_fore else 'H'}" for is_fore, is_left in zip(fore, left, strict=True)]
    if set(names) != set(LEGS):
        where = ", ".join(f"({x:.2f}, {y:.2f})" for x, y in ends[:, :2])
        raise BadInput(f"the feet at {where} m are not one in each quarter about their middle; turn the surface so that it faces x")
    curves = {}
    for name, path in zip(names, paths, strict=True):
        line = _smoothed(nodes[path[::-1]], resample)
        foot = line[-1] * np.array([1.0, 1.0, 0.0]) + np.array([0.0, 0.0, ground])
        curves[name] = LegCurve(name, np.vstack([line, foot]) if line[-1, 2] - ground > 1e-6 else line)
    return tuple(curves[name] for name in LEGS)


def leg_paths(nodes: Array, edges: Indices) -> list[list[int]]:
    """The node numbers from each of the four lowest ends of a line up to its next branching point."""
    near: list[list[int]] = [[] for _ in range(len(nodes))]
    for a, b in np.asarray(edges).tolist():
        near[a].append(b)
        near[b].append(a)
    leaves = [k for k, others in enumerate(near) if len(others) == 1]
    if len(leaves) < 4:
        raise BadInput(
            f"the skeleton line has {len(leaves)} ends; a creature with four legs has at least 4: use a surface with four feet"
        )
    feet = sorted(leaves, key=lambda k: float(nodes[k, 2]))[:4]
    return [_to_branch(near, foot) for foot in feet]


def _to_branch(near: Sequence[Sequence[int]], foot: int) -> list[int]:
    path, before, here = [foot], -1, foot
    while len(near[here]) <= 2:
        onward = [k for k in near[here] if k != before]
        if not onward:
            break
        before, here = here, onward[0]
        path.append(here)
    return path


def _smoothed(line: Array, count: int) -> Array:
    """A line resampled at equal steps, and smoothed three times by halves with its ends kept."""
    arc = np.concatenate([[0.0], np.cumsum([float(np.linalg.norm(q - p)) for p, q in pairwise(line)])])
    if arc[-1] <= 0.0:
        raise BadInput("a leg of the skeleton line has no length; contract the surface less")
    s = np.linspace(0.0, arc[-1], count)
    x = np.column_stack([np.interp(s, arc, line[:, k]) for k in range(3)])
    for _ in range(3):
        x[1:-1] = 0.5 * x[1:-1] + 0.25 * (x[:-2] + x[2:])
    return x
