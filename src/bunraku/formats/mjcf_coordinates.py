"""Bunraku's coordinates as MuJoCo's ``qpos``, and back.

MuJoCo's ``qpos`` of a free base is a position and a quaternion, of a ball joint a quaternion; every other joint is one number,
as here. Joints are matched by name; one without a name is called ``joint_N``, N its index in the model, as by the MJCF reader.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.formats.poses import of_pose
from bunraku.geometry.euler import euler_curve, euler_matrix
from bunraku.geometry.poses import Rigid, compose, inverse
from bunraku.geometry.rotations import matrix_of_quaternion, quaternion_of_matrix

_FREE, _BALL = 0, 1


def coordinates_to_qpos(character: Character, model: Any, q: Array) -> Array:
    """MuJoCo's ``qpos`` (m, model.nq) of configurations ``q`` (m, character's coordinates).

    Joints that the model has and the character has not keep their ``qpos0``.
    """
    rows = np.atleast_2d(np.asarray(q, dtype=float))
    out = np.tile(np.array(model.qpos0, dtype=float), (len(rows), 1))
    column = {name: i for i, name in enumerate(character.coordinates)}
    joints = {joint.name: joint for joint in character.joints}
    for name, kind, address in _joints(model):
        if kind not in (_FREE, _BALL):
            if name in column:
                out[:, address] = rows[:, column[name]]
            continue
        joint = joints.get(name)
        if joint is None or joint.kind != ("free" if kind == _FREE else "ball"):
            continue
        first = column[joint.axes[-3].name]
        R = euler_matrix(rows[:, first : first + 3], joint.sequence)
        if kind == _BALL:
            out[:, address : address + 4] = quaternion_of_matrix(R)
            continue
        R, out[:, address : address + 3] = compose(of_pose(joint.pose), (R, rows[:, first - 3 : first]))
        out[:, address + 3 : address + 7] = quaternion_of_matrix(R)
    return out


def qpos_to_coordinates(character: Character, model: Any, qpos: Array) -> Array:
    """Configurations (m, character's coordinates) of MuJoCo's ``qpos`` (m, model.nq): the inverse of `coordinates_to_qpos`.

    Angles of a free base or ball are continuous over the rows, also through the singularity of their sequence, and nearest to
    home in the first; coordinates the model lacks stay at home.
    """
    rows = np.atleast_2d(np.asarray(qpos, dtype=float))
    column = {name: i for i, name in enumerate(character.coordinates)}
    out = np.tile(np.array([character.home.get(name, 0.0) for name in column]), (len(rows), 1))
    joints = {joint.name: joint for joint in character.joints}
    for name, kind, address in _joints(model):
        if kind not in (_FREE, _BALL):
            if name in column:
                out[:, column[name]] = rows[:, address]
            continue
        joint = joints.get(name)
        if joint is None or joint.kind != ("free" if kind == _FREE else "ball"):
            continue
        first = column[joint.axes[-3].name]
        start = out[0, first : first + 3].copy()
        if kind == _BALL:
            R = matrix_of_quaternion(rows[:, address : address + 4])
        else:
            X_WB: Rigid = (matrix_of_quaternion(rows[:, address + 3 : address + 7]), rows[:, address : address + 3])
            R, out[:, first - 3 : first] = compose(inverse(of_pose(joint.pose)), X_WB)
        out[:, first : first + 3] = euler_curve(R, joint.sequence, start)[0]
    return out


def _joints(model: Any) -> list[tuple[str, int, int]]:
    """Name, type (0 free, 1 ball, 2 slide, 3 hinge) and address in qpos of every joint of the model."""
    return [
        (model.joint(i).name or f"joint_{i}", int(model.jnt_type[i]), int(model.jnt_qposadr[i])) for i in range(int(model.njnt))
    ]
