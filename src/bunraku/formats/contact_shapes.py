"""What of a character touches the ground where an end effector is: a thin disc or a ball, in place of what is drawn there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Body, EndEffector, Shape
from bunraku.formats.poses import as_pose, of_pose
from bunraku.geometry.rotations import least_turn

HALF_DISC = 0.0005
"""Half the width [m] of the disc that stands for a wheel: a tilted wheel touches within this of the circle it is planned with."""


def contact_shape(tip: EndEffector) -> Shape:
    """The solid that touches the ground: a ball of the radius, or a disc of the radius about the axis.

    A sole is a disc whose underside is at the centre, facing against the axis.

    Plans roll a wheel on the circle of its radius in its middle plane. A cylinder as wide as the wheel would stand on its edge when
    the wheel tilts, higher by half the width times the sine of the tilt and beside the circle by half the width; so the disc is
    thin.
    """
    if tip.kind == "ball":
        return Shape(kind="sphere", size=(tip.radius,), pose=as_pose((np.eye(3), np.array(tip.center))))
    axis, half = np.array(tip.axis, dtype=np.float64), min(0.5 * tip.width, HALF_DISC)
    raised = half * axis / np.linalg.norm(axis) if tip.kind == "sole" else np.zeros(3)
    pose = as_pose((least_turn((0.0, 0.0, 1.0), axis), np.array(tip.center) + raised))
    return Shape(kind="cylinder", size=(tip.radius, half), pose=pose)


def split_shapes(body: Body, tips: Sequence[EndEffector]) -> list[tuple[Shape, bool]]:
    """The shapes of a body, each with whether it may touch: not what draws one of its end effectors ``tips`` or covers its middle.

    All of a spinning wheel's body is wheel; of other bodies those shapes whose surface comes within the effector's radius.
    """
    pairs = []
    for shape in body.shapes:
        covers = any(tip.spins or _distance(shape, np.array(tip.center)) < tip.radius for tip in tips)
        pairs.append((shape, shape.collides and not covers))
    return pairs


def _distance(shape: Shape, point: Array) -> float:
    """Distance [m] from a point of the body to a shape, 0 inside it; of an ellipsoid that to its box; infinite for a mesh."""
    R, p = of_pose(shape.pose)
    local = np.abs(R.T @ (point - p))
    size = shape.size
    match shape.kind:
        case "sphere":
            return max(0.0, float(np.linalg.norm(local)) - size[0])
        case "capsule":
            return max(0.0, float(np.hypot(np.hypot(local[0], local[1]), max(0.0, local[2] - size[1]))) - size[0])
        case "cylinder":
            beside, above = max(0.0, float(np.hypot(local[0], local[1])) - size[0]), max(0.0, float(local[2]) - size[1])
            return float(np.hypot(beside, above))
        case "box" | "ellipsoid":
            return float(np.linalg.norm(np.maximum(0.0, local - np.array(size))))
        case _:
            return float("inf")
