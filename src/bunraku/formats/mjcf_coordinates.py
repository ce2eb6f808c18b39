"""Bunraku's coordinates as MuJoCo's ``qpos``, and back.

MuJoCo's ``qpos`` of a free base is a position and a quaternion, of a ball joint a quaternion; every other joint is one number,
as here. Joints are matched by name; one without a name is called ``joint_N``, N its index in the model, as by the MJCF reader.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Character, Joint
from bunraku.formats.poses import of_pose
from bunraku.geometry.euler import euler_curve, euler_matrix
from bunraku.geometry.poses import compose, inverse
from bunraku.geometry.rotations import matrix_of_quaternion, quaternion_of_matrix

_FREE, _BALL = 0, 1


def coordinates_to_qpos(character: Character, model: Any, q: Array) -> Array:
    """MuJoCo's ``qpos`` (m, model.nq) of configurations ``q`` (m, character's coordinates).

    Joints that the model has and the character has not keep their ``qpos0``.
    """
    rows = np.atleast_2d(np.asarray(q, dtype=float))
    out = np.tile(np.array(model.qpos0, dtype=float), (len(rows), 1))
    singles, turning = _matched(character, model)
    for column, address in singles:
        out[:, address] = rows[:, column]
    for joint, first, address in turning:
        R = euler_matrix(rows[:, first : first + 3], joint.sequence)
        if joint.kind == "free":
            R, out[:, address - 3 : address] = compose(of_pose(joint.pose), (R, rows[:, first - 3 : first]))
        out[:, address : address + 4] = quaternion_of_matrix(R)
    return out


def qpos_to_coordinates(character: Character, model: Any, qpos: Array) -> Array:
    """Configurations (m, character's coordinates) of MuJoCo's ``qpos`` (m, model.nq): the inverse of `coordinates_to_qpos`.

    Angles of a free base or ball are continuous over the rows, also through the singularity of their sequence, and nearest to
    home in the first; coordinates the model lacks stay at home.
    """
    rows = np.atleast_2d(np.asarray(qpos, dtype=float))
    out = np.tile(np.array([character.home.get(name, 0.0) for name in character.coordinates]), (len(rows), 1))
    singles, turning = _matched(character, model)
    for column, address in singles:
        out[:, column] = rows[:, address]
    for joint, first, address in turning:
        start = out[0, first : first + 3].copy()
        R = matrix_of_quaternion(rows[:, address : address + 4])
        if joint.kind == "free":
            R, out[:, first - 3 : first] = compose(inverse(of_pose(joint.pose)), (R, rows[:, address - 3 : address]))
        out[:, first : first + 3] = euler_curve(R, joint.sequence, start)[0]
    return out


def _matched(character: Character, model: Any) -> tuple[list[tuple[int, int]], list[tuple[Joint, int, int]]]:
    """What both have: (column, address in qpos) of single numbers; of a free base or ball the joint and where its turn begins."""
    column = {name: i for i, name in enumerate(character.coordinates)}
    joints = {joint.name: joint for joint in character.joints}
    singles, turning = [], []
    for i in range(int(model.njnt)):
        name, kind, address = model.joint(i).name or f"joint_{i}", int(model.jnt_type[i]), int(model.jnt_qposadr[i])
        if kind not in (_FREE, _BALL):
            singles += [(column[name], address)] if name in column else []
        elif name in joints and joints[name].kind == ("free" if kind == _FREE else "ball"):
            turning.append((joints[name], column[joints[name].axes[-3].name], address + (3 if kind == _FREE else 0)))
    return singles, turning
