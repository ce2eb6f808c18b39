"""How near to the ground a plan brings what must not touch it: every colliding shape that is no end effector's."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from bunraku.arrays import Array
from bunraku.character import EndEffector, Shape
from bunraku.formats.contact_shapes import split_shapes
from bunraku.formats.poses import of_pose
from bunraku.verification.ground.heights import ground_height, ground_normal
from bunraku.verification.ground.plan import GroundPlan


def least_clearance(plan: GroundPlan) -> tuple[float, str]:
    """The least distance [m] between the ground and a part that must not touch it, and the body and time; infinite without such.

    The ground is taken as its tangent plane under the middle of the shape: exact on floors and slopes.
    """
    rotation, position = plan.tree.poses(plan.q)
    tips: dict[str, list[EndEffector]] = defaultdict(list)
    for tip in plan.character.end_effectors:
        tips[tip.body].append(tip)
    least, where = float("inf"), ""
    for body in plan.character.bodies:
        node = plan.tree.nodes[body.name]
        for shape, touches in split_shapes(body, tips[body.name]):
            if not touches or shape.kind == "mesh":
                continue
            R, p = of_pose(shape.pose)
            middle = position[:, node] + rotation[:, node] @ p
            n = ground_normal(plan.terrain, middle[:, 0], middle[:, 1])
            above = (middle[:, 2] - ground_height(plan.terrain, middle[:, 0], middle[:, 1])) * n[:, 2]
            distance = above - _reach(shape, np.einsum("nji,nj->ni", rotation[:, node] @ R, n))
            k = int(np.argmin(distance))
            if distance[k] < least:
                least, where = float(distance[k]), f"{body.name} at {k / plan.rate:.2f} s"
    return least, where


def _reach(shape: Shape, n: Array) -> Array:
    """How far a shape reaches from its middle along directions ``n`` (m, 3) in its own frame, either way."""
    size = shape.size
    match shape.kind:
        case "sphere":
            return np.full(len(n), size[0])
        case "capsule":
            return size[0] + size[1] * np.abs(n[:, 2])
        case "cylinder":
            return size[0] * np.hypot(n[:, 0], n[:, 1]) + size[1] * np.abs(n[:, 2])
        case "ellipsoid":
            return np.asarray(np.linalg.norm(n * np.array(size), axis=1))
        case _:
            return np.asarray(np.abs(n) @ np.array(size))
