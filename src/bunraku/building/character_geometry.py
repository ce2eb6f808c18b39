"""Where the bodies of a character stand, at zero or at home, and how high its end effectors are."""

from __future__ import annotations

import numpy as np

from bunraku.arrays import Array
from bunraku.character import WORLD, Character, Joint
from bunraku.geometry.rotations import axis_angle, matrix_of_quaternion

Frames = dict[str, tuple[Array, Array]]


def zero_frames(character: Character) -> Frames:
    """Rotation (3, 3) and position (3,) [m] of every body when all coordinates are zero, in the world."""
    return _frames(character, {})


def home_frames(character: Character) -> Frames:
    """The same at home."""
    return _frames(character, character.home)


def lowest_points(character: Character) -> Array:
    """How high [m] the lowest point of each end effector is at home, (n_e,): c_z - r for balls, c_z - r sqrt(1 - a_z²) for wheels.

    c is the centre, a the unit axis and r the radius; of a wheel the rim in its middle plane counts.
    """
    frames = home_frames(character)
    heights = []
    for tip in character.end_effectors:
        R, p = frames[tip.body]
        axis = R @ (np.array(tip.axis) / np.linalg.norm(tip.axis))
        drop = tip.radius if tip.kind == "ball" else tip.radius * float(np.hypot(axis[0], axis[1]))
        heights.append(float((p + R @ np.array(tip.center))[2]) - drop)
    return np.array(heights)


def _frames(character: Character, values: dict[str, float]) -> Frames:
    frames: Frames = {WORLD: (np.eye(3), np.zeros(3))}
    for joint in _ordered(character):
        R, p = frames[joint.parent]
        p = p + R @ np.array(joint.pose.position)
        R = R @ matrix_of_quaternion(joint.pose.quaternion)
        for axis in joint.axes:
            value, direction = values.get(axis.name, 0.0), np.array(axis.direction)
            if axis.kind == "slide":
                p = p + R @ direction * value
            elif value != 0.0:
                R = R @ axis_angle(direction, value)
        frames[joint.child] = (R, p)
    return frames


def _ordered(character: Character) -> list[Joint]:
    """Joints, parents first."""
    known, waiting, ordered = {WORLD}, list(character.joints), list[Joint]()
    while waiting:
        ready = [joint for joint in waiting if joint.parent in known]
        ordered += ready
        known |= {joint.child for joint in ready}
        waiting = [joint for joint in waiting if joint.child not in known]
    return ordered
