"""Where the bodies of a character stand, at zero or at home, and how high it stands: on wheels and feet, else on a shape."""

from __future__ import annotations

import numpy as np

from bunraku.arrays import Array
from bunraku.building.components.placing import of_pose
from bunraku.character import WORLD, Character, Joint, Shape
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


_FINE = 9
_NEAR = 1e-6


def lowest(character: Character) -> float | None:
    """The height [m] of the lowest point at home of its end effectors, else of its feet, else of its shapes; None without any."""
    if character.end_effectors:
        return float(lowest_points(character).min())
    frames = home_frames(character)
    if character.feet:
        return min(
            float((frames[foot.body][1] + frames[foot.body][0] @ np.array(point))[2])
            for foot in character.feet
            for point in foot.points
        )
    heights = []
    for body in character.bodies:
        R, p = frames[body.name]
        for shape in body.shapes:
            if shape.kind != "mesh":
                turn, middle = of_pose(shape.pose)
                heights.append(float((p + R @ middle)[2]) - _drop(shape, (R @ turn)[2]))
    return min(heights, default=None)


def stands(character: Character) -> bool:
    """Whether the base is free and its lowest point is on the ground, within a micrometre."""
    height = lowest(character) if _base(character) else None
    return height is not None and abs(height) < _NEAR


def standing_like(changed: Character, before: Character) -> Character:
    """``changed`` raised or lowered at home until it stands on z = 0, if ``before`` did or had nothing to stand on; no other moves.

    What hangs on strings or is fixed to the world stays where it is.
    """
    base = _base(changed)
    had_none = not before.end_effectors and not before.feet
    if base is None or changed.strings or before.strings or not (stands(before) or (had_none and changed.end_effectors)):
        return changed
    height = lowest(changed)
    if height is None or abs(height) < 10.0**-_FINE:
        return changed
    raised = round(changed.home.get(base, 0.0) - height, _FINE) + 0.0
    return changed.changed(home=changed.home | {base: raised})


def _base(character: Character) -> str | None:
    """The coordinate that raises a free base."""
    return next((f"{joint.name}.tz" for joint in character.joints if joint.kind == "free" and joint.parent == WORLD), None)


def _drop(shape: Shape, down: np.ndarray) -> float:
    """How far a shape reaches below its middle, ``down`` (3,) being the world's vertical in its axes."""
    a = np.abs(down)
    match shape.kind:
        case "box":
            return float(a @ np.array(shape.size))
        case "sphere":
            return shape.size[0]
        case "ellipsoid":
            return float(np.linalg.norm(a * np.array(shape.size)))
        case "capsule":
            return float(shape.size[0] + shape.size[1] * a[2])
        case _:
            return float(shape.size[0] * np.hypot(a[0], a[1]) + shape.size[1] * a[2])
