"""Elbows and knees: in which plane they bend, and to which side.

Shoulder, elbow and hand tell how an upper arm is turned about itself only while the elbow is bent. With d_1, d_2 the directions
of upper and lower part and g = d_1 x d_2, |g| the sine of the bend, the plane's normal n minimises over the whole motion

    int |g|^4 |n - g / |g||^2 + c |n'|^2 + e |n - n_home|^2 dt

so it follows g where the limb is bent (to 11 ms at 0.3 rad, 0.1 s at 0.1 rad) and passes smoothly, without delay, through times
in which it is straight; a limb that never bends is turned as at home. The character's upper part is wished turned so that its own
plane, told at home, has that normal: a straight arm that bends again in another plane does not end up bent backwards.

Hinges without a range may also not bend backwards by more than 0.3 rad. With phi the angle, about the hinge, from the upper to the
lower part at home, the limb is straight at q_home - phi; from there the hinge may fold fully to the side of phi.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg import solveh_banded

from bunraku.arrays import Array
from bunraku.mechanics.tree import Tree
from bunraku.motion import MotionLimits
from bunraku.retargeting.rig_map import LimbMap, RigMap
from bunraku.retargeting.targets import branch

LEAST_BEND = 0.1
BEYOND_STRAIGHT = 0.3
SMOOTHNESS = 1e-6  # c [s^2]
TO_HOME = 1e-9  # e


def bend_normals(d1: Array, d2: Array, rate: float, home: Array) -> Array:
    """Unit normals n (m, 3) of the planes in which a limb with directions ``d1``, ``d2`` (m, 3) at ``rate`` [Hz] bends."""
    g = np.cross(d1, d2)
    weight = np.sum(g**2, axis=1) ** 2
    right = np.sum(g**2, axis=1, keepdims=True) ** 1.5 * g + TO_HOME * home
    c = SMOOTHNESS * rate**2
    bands = np.zeros((2, len(g)))
    bands[0, 1:] = -c
    bands[1] = weight + TO_HOME
    bands[1, 1:] += c
    bands[1, :-1] += c
    n = np.asarray(solveh_banded(bands, right))
    return n / np.maximum(np.linalg.norm(n, axis=1, keepdims=True), 1e-12)


def bend_axes(d1: Array, n: Array) -> Array:
    """Axes (..., 3, 3) of a limb's upper part: along it, the bend's normal made square to it, and their cross product."""
    y = n - np.sum(n * d1, axis=-1, keepdims=True) * d1
    y = y / np.maximum(np.linalg.norm(y, axis=-1, keepdims=True), 1e-12)
    return np.stack([d1, y, np.cross(d1, y)], axis=-1)


def upper_part(limb: LimbMap, tree: Tree) -> tuple[str, Array] | None:
    """The body before the hinge in the limb's middle, and its axes at home (`bend_axes`) in the world; None if unclear."""
    hinge = _middle_hinge(limb, tree)
    if hinge is None:
        return None
    names = {node: name for name, node in tree.nodes.items()}
    body = names.get(int(tree.parent[hinge[0]]))
    if body is None:
        return None
    at = tree.configuration(tree.home)
    a, b, c = (at.pose(frame)[1] for frame in limb.frames)
    d1, d2 = (b - a) / np.linalg.norm(b - a), (c - b) / np.linalg.norm(c - b)
    return body, bend_axes(d1, np.cross(d1, d2))


def with_natural_bends(limits: MotionLimits, rig: RigMap, tree: Tree) -> MotionLimits:
    """The same limits, with ranges for unlimited hinges in the middle of limbs that are bent by 0.1 rad or more at home."""
    lower, upper = limits.lower.copy(), limits.upper.copy()
    for limb in rig.limbs:
        hinge = _middle_hinge(limb, tree)
        if hinge is None:
            continue
        at, bend = int(tree.coordinate[hinge[0]]), hinge[1]
        if tree.names[at] not in limits.names:
            continue
        j = limits.names.index(tree.names[at])
        if np.isfinite([lower[j], upper[j]]).any():
            continue
        straight, side = float(tree.home[at]) - bend, np.sign(bend)
        lower[j], upper[j] = sorted((straight + side * np.pi, straight - side * BEYOND_STRAIGHT))
    return replace(limits, lower=lower, upper=upper)


def _middle_hinge(limb: LimbMap, tree: Tree) -> tuple[int, float] | None:
    """The node of the only joint at the limb's middle point, and the angle [rad] it is bent by at home; None if unclear."""
    at = tree.configuration(tree.home)
    a, b, c = (at.pose(frame)[1] for frame in limb.frames)
    upper, lower = b - a, c - b
    here = [
        node
        for node in branch(tree, tree.node(limb.frames[2])[0])
        if tree.coordinate[node] >= 0 and np.linalg.norm(at.position[node] - b) < 1e-6 * np.linalg.norm(upper)
    ]
    if len(here) != 1:
        return None
    axis = at.rotation[here[0]] @ tree.axis[here[0]]
    bend = np.arctan2(axis @ np.cross(upper, lower), upper @ lower - (axis @ upper) * (axis @ lower))
    return None if abs(bend) < LEAST_BEND else (here[0], float(bend))
