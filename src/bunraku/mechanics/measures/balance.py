"""Static balance: whether the centre of mass stands over the feet, and how far it is from tipping.

The feet are planted: a character whose base floats stands on its first foot, whose pose in the world stays that of home,
and the base follows. A foot point carries the character when it is within ``STANDING_REACH`` of the lowest one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.character import WORLD, Character, free_base
from bunraku.errors import BadInput
from bunraku.geometry.euler import euler_curve
from bunraku.mechanics.measures import balance_kernels as kernels
from bunraku.mechanics.tree import Tree, rotation_of

STANDING_REACH = 0.01
"""A foot point stands when it is less than this [m] above the lowest foot point."""


def foot_points(character: Character, tree: Tree) -> tuple[NDArray[np.int64], Array]:
    """Node (k,) and local position (k, 3) [m] of every point of every foot; node -1 is the world."""
    nodes = [tree.nodes.get(foot.body, -1) for foot in character.feet for _ in foot.points]
    points = [point for foot in character.feet for point in foot.points]
    return np.array(nodes, dtype=np.int64), np.array(points, dtype=np.float64).reshape(-1, 3)


def planted(character: Character, tree: Tree, q: Array) -> Array:
    """Configurations ``q`` (m, nq) with the base moved so that the first foot keeps its home pose in the world.

    With F the foot, B the base and J the frame of the free joint: X_JB = X_JW X_WF(home) X_FB(q). The joint's slides are the
    position of X_JB, its turns the angles a, b, c of R_JB = R_i(a) R_j(b) R_k(c) by its sequence i, j, k, continuous in time (also
    through the singularity cos b = 0) and nearest to home in the first row.
    A character without feet or without a free base comes back unchanged.
    """
    q = np.array(q, dtype=np.float64)
    base = free_base(character)
    foot = next((foot.body for foot in character.feet if foot.body != WORLD), None)
    if base is None or foot is None:
        return q
    b, f = tree.nodes[base.child], tree.nodes[foot]
    at_home = tree.configuration(tree.home)
    R_WF, p_WF = at_home.rotation[f], at_home.position[f]
    rotation, position = tree.poses(q)
    R_FB = np.einsum("mji,mjk->mik", rotation[:, f], rotation[:, b])
    p_FB = np.einsum("mji,mj->mi", rotation[:, f], position[:, b] - position[:, f])
    R_JW = rotation_of(base.pose).T
    R_JB = np.einsum("ij,jk,mkl->mil", R_JW, R_WF, R_FB)
    p_JB = (p_WF + p_FB @ R_WF.T - np.array(base.pose.position)) @ R_JW.T
    start = tree.index(base.axes[0].name)
    q[:, start : start + 3] = p_JB
    q[:, start + 3 : start + 6] = euler_curve(R_JB, base.sequence, tree.home[start + 3 : start + 6])[0]
    return q


def balance_margins(character: Character, tree: Tree, q: Array) -> Array:
    """Signed distance (m,) [m] of the centre of mass, seen from above, to the boundary of the support polygon at ``q`` (m, nq).

    Positive inside. Static and rigid: neither accelerations nor the give of servos enter, so a small margin is no proof of
    standing (the built-in NAO, replayed at rest, needs between 2 and 3 cm of it). ``q`` is taken as it is; see :func:`planted`
    for where the base stands.
    """
    nodes, points = foot_points(character, tree)
    if not len(nodes):
        raise BadInput(f"the character {character.name!r} has no feet; describe them under feet to ask for its balance")
    if not tree.mass.sum() > 0.0:
        raise BadInput(f"the character {character.name!r} has no mass; give its bodies masses to ask for its balance")
    rotation, position = tree.poses(np.atleast_2d(q))
    out = np.empty(len(rotation))
    kernels.margins(rotation, position, tree.mass, tree.center_of_mass, nodes, points, STANDING_REACH, out)
    return out
