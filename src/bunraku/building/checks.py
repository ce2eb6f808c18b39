"""What cannot be built: masses of zero, wheels in each other's way, limbs that collide."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations

import numpy as np

from bunraku.arrays import Array
from bunraku.building.placement import PlacedLimb, connectors, home_frames, home_tips
from bunraku.building.robot import Robot
from bunraku.errors import BadInput


def check_robot(robot: Robot, limbs: tuple[PlacedLimb, ...]) -> None:
    """Raise BadInput when a robot cannot be built as described: what is wrong, where, and what to change."""
    names = [limb.name for limb in limbs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise BadInput(f"two limbs of {robot.name!r} are called {twice!r}; names must differ")
    wall = robot.material.wall
    if min(robot.chassis.size) <= 2.0 * wall:
        raise BadInput(
            f"the chassis of {robot.name!r} measures {list(robot.chassis.size)} m: with walls of {wall} m nothing is left; make it "
            "larger"
        )
    _check_masses(robot, limbs)
    _check_tips(limbs)
    _check_links(robot, limbs)


def _check_masses(robot: Robot, limbs: tuple[PlacedLimb, ...]) -> None:
    if robot.material.density <= 0.0 or robot.material.wall <= 0.0:
        raise BadInput(
            f"printed parts of {robot.name!r} weigh nothing: density and wall of {robot.material.name!r} must be positive"
        )
    for limb in limbs:
        for tip in limb.tips:
            if tip.mass <= 0.0 or tip.radius <= 0.0:
                raise BadInput(f"the tip {tip.name!r} has mass {tip.mass:g} kg and radius {tip.radius:g} m; both must be positive")
        for stage in limb.stages:
            if stage.case.servo.mass <= 0.0:
                raise BadInput(f"the servo of {stage.joint!r}, {stage.case.servo.name!r}, has no mass; state it in kg")


def _check_tips(limbs: tuple[PlacedLimb, ...]) -> None:
    centers, _ = home_tips(limbs)
    tips = [(limb.name, tip) for limb in limbs for tip in limb.tips]
    for (i, (one, first)), (j, (two, second)) in combinations(enumerate(tips), 2):
        apart = float(np.linalg.norm(centers[i] - centers[j]))
        least = first.radius + second.radius
        if apart < least:
            which = "the limbs" if one != two else "them"
            raise BadInput(
                f"{first.name!r} and {second.name!r} overlap at home: {1e3 * apart:.1f} mm apart, their radii need "
                f"{1e3 * least:.1f} mm; move {which} apart or take smaller ones"
            )


def _check_links(robot: Robot, limbs: tuple[PlacedLimb, ...]) -> None:
    """Printed links of different limbs must not meet at home."""
    frames = home_frames(limbs)
    limb_of = {stage.body: limb.name for limb in limbs for stage in limb.stages}
    rods: dict[str, list[tuple[Array, Array, float, str]]] = defaultdict(list)
    for link in connectors(robot, limbs):
        if link.body not in limb_of:
            continue
        R, p = frames[link.body]
        for start, end in zip(link.corners, link.corners[1:], strict=False):
            rods[limb_of[link.body]].append((p + R @ start, p + R @ end, link.radius, link.body))
    for one, two in combinations(rods, 2):
        for a, b, r, first in rods[one]:
            for c, d, s, second in rods[two]:
                if float(np.linalg.norm(a + b - c - d) - np.linalg.norm(a - b) - np.linalg.norm(c - d)) > 2.0 * (r + s):
                    continue  # their middles are too far apart
                apart = segment_distance(a, b, c, d)
                if apart < r + s:
                    raise BadInput(
                        f"the limbs {one!r} and {two!r} collide at home: {first!r} and {second!r} come within {1e3 * apart:.1f} "
                        f"mm, they are {1e3 * (r + s):.1f} mm thick together; move the limbs apart or bend them otherwise"
                    )


def segment_distance(a: Array, b: Array, c: Array, d: Array) -> float:
    """The least distance [m] between the segments a-b and c-d (3,) each.

    With u = b - a, v = d - c, w = a - c: |w + s u - t v|² is least inside where its derivatives in s and t vanish; else on the
    border, where one of the four ends is nearest to the other segment.
    """
    found = [_to_segment(a, c, d), _to_segment(b, c, d), _to_segment(c, a, b), _to_segment(d, a, b)]
    u, v, w = b - a, d - c, a - c
    uu, uv, vv = float(u @ u), float(u @ v), float(v @ v)
    determinant = uu * vv - uv * uv
    if determinant > 1e-12 * max(uu * vv, 1e-30):
        s = (uv * (v @ w) - vv * (u @ w)) / determinant
        t = (uu * (v @ w) - uv * (u @ w)) / determinant
        if 0.0 <= s <= 1.0 and 0.0 <= t <= 1.0:
            found.append(float(np.linalg.norm(w + s * u - t * v)))
    return min(found)


def _to_segment(point: Array, start: Array, end: Array) -> float:
    along = end - start
    square = float(along @ along)
    share = 0.0 if square == 0.0 else float(np.clip((point - start) @ along / square, 0.0, 1.0))
    return float(np.linalg.norm(start + share * along - point))
