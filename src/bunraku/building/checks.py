"""What cannot be built: masses of zero, wheels in each other's way, limbs that collide, missing limbs."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from bunraku.building.placement import PlacedLimb, home_tips
from bunraku.building.robot import Robot
from bunraku.errors import BadInput

__all__ = ["check_robot"]


def check_robot(robot: Robot, limbs: tuple[PlacedLimb, ...]) -> None:
    """Raise BadInput when a robot cannot be built as described."""
    if min(robot.chassis.size) <= 2.0 * robot.material.wall:
        raise BadInput(
            f"the chassis of {robot.name!r} measures {list(robot.chassis.size)} m: with walls of {robot.material.wall} m nothing is "
            "left; make it larger"
        )
    tips = [(limb.name, tip) for limb in limbs for tip in limb.tips]
    for _, tip in tips:
        if tip.mass <= 0.0 or tip.radius <= 0.0:
            raise BadInput(f"the tip {tip.name!r} has mass {tip.mass:g} kg and radius {tip.radius:g} m; both must be positive")
    centers, _ = home_tips(limbs)
    for (i, (one, first)), (j, (two, second)) in combinations(enumerate(tips), 2):
        apart = float(np.linalg.norm(centers[i] - centers[j]))
        least = first.radius + second.radius
        if apart < least and one != two:
            raise BadInput(
                f"{first.name!r} and {second.name!r} overlap at home: {1e3 * apart:.1f} mm apart, their radii need "
                f"{1e3 * least:.1f} mm; move the limbs apart or take smaller ones"
            )
