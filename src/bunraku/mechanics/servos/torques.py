"""Torques that a planned motion takes of its motors: what a joint itself takes, and what a gesture takes that is slow."""

from __future__ import annotations

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.mechanics.measures.statics import static_torques
from bunraku.mechanics.tree import Tree, compile_tree
from bunraku.motion import JointCurves

TURNING = 0.05
"""The speed v_0 [rad/s, m/s] below which a joint's friction is compensated in part only."""


def joint_torques(character: Character, motion: JointCurves, *, armature: bool = True) -> Array:
    """What the joints themselves take (n, nq) along ``motion``: damping, dry friction and, if asked for, armature.

    d v + f tanh(v / v_0) + I a: friction does not jump where a joint turns back, over `TURNING`. A motor that drives a coupled
    follower takes the follower's share as well.
    """
    out = np.zeros(motion.values.shape)
    step = 1.0 / motion.rate
    for joint in character.joints:
        if joint.kind == "free" or not (joint.damping or joint.friction or (armature and joint.armature)):
            continue
        for axis in joint.axes:
            if axis.name in motion.names and len(out) > 1:
                j = motion.names.index(axis.name)
                v = np.gradient(motion.values[:, j], step)
                out[:, j] = joint.damping * v + joint.friction * np.tanh(v / TURNING)
                if armature:
                    out[:, j] += joint.armature * np.gradient(v, step)
    for coupling in character.couplings:
        if coupling.driver in motion.names and coupling.follower in motion.names:
            j, k = motion.names.index(coupling.driver), motion.names.index(coupling.follower)
            out[:, j] += coupling.ratio * out[:, k]
            out[:, k] = 0.0
    return out


def gesture_torques(character: Character, motion: JointCurves, tree: Tree | None = None) -> Array:
    """Torques (n, k) of the motors along a slow ``motion``: they hold every pose against gravity, and overcome the joints' losses.

    Accelerations are left out. A character on its feet shares its weight among all points that stand (`measures.statics`).
    """
    tree = tree or compile_tree(character)
    q = tree.expand(motion.names, motion.values)
    torques = static_torques(character, tree, q) if tree.mass.sum() > 0.0 else np.zeros(q.shape)
    torques = torques + joint_torques(character, JointCurves(tree.names, motion.rate, q), armature=False)
    return np.asarray(torques[:, [tree.index(motor.coordinate) for motor in character.motors]])
