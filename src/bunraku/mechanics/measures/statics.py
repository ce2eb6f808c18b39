"""Static holding torques: what the motors must give to hold a pose against gravity, at rest.

tau = dV/dq - sum_p f_p dz_p/dq with V the potential energy of gravity and f_p the vertical forces of the ground on the foot
points that stand; of a character without feet on the centres of its wheels and tips. A floating base on many points does not
determine these forces: the ones of least sum of squares that balance weight and moments are taken (no shear), so torques of legs
are one possible share; those of arms and head are exact. Accelerations do not enter: dynamics are another matter.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bunraku.character import Character, free_base
from bunraku.mechanics.measures import balance_kernels as kernels
from bunraku.mechanics.measures.balance import STANDING_REACH, foot_points
from bunraku.mechanics.tree import Tree

GRAVITY = 9.81
"""Acceleration of gravity [m/s^2], along -z."""


def static_torques(character: Character, tree: Tree, q: NDArray[np.float64]) -> NDArray[np.float64]:
    """Efforts (m, nq) [N·m or N] that hold the configurations ``q`` (m, nq); a motor that drives a coupled follower adds its share.

    For a floating base on its feet the efforts of the base's own coordinates vanish: the ground carries it.
    """
    q = np.ascontiguousarray(np.atleast_2d(q), dtype=np.float64)
    nodes, points = foot_points(character, tree)
    if not len(nodes):
        nodes = np.array([tree.nodes[tip.body] for tip in character.end_effectors], dtype=np.int64)
        points = np.array([tip.center for tip in character.end_effectors], dtype=np.float64).reshape(-1, 3)
    if free_base(character) is None:
        nodes, points = nodes[:0], points[:0]
    out = np.empty(q.shape)
    kernels.static_torques(tree.arrays, tree.mass, tree.center_of_mass, q, GRAVITY, nodes, points, STANDING_REACH, out)
    for driver, follower, ratio, _ in tree.couplings:
        out[:, driver] += ratio * out[:, follower]
        out[:, follower] = 0.0
    return out
