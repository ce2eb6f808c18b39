"""The built-in robots by name."""

from __future__ import annotations

from collections.abc import Callable

from bunraku.building.robot import Robot
from bunraku.building.robots.cars import car, tilted_car
from bunraku.building.robots.legged import creature3, walker
from bunraku.building.robots.rolling import agilebot, agilebot_tall, brainbot, reacher, swizzlebot
from bunraku.building.robots.skating import dinobot, skatebot
from bunraku.errors import BadInput

ROBOTS: dict[str, Callable[[], Robot]] = {
    "swizzlebot": swizzlebot,
    "creature3": creature3,
    "brainbot": brainbot,
    "agilebot": agilebot,
    "agilebot-tall": agilebot_tall,
    "skatebot": skatebot,
    "dinobot": dinobot,
    "walker": walker,
    "car": car,
    "tilted-car": tilted_car,
    "reacher": reacher,
}
"""What makes each robot."""


def built_in_robot(name: str) -> Robot:
    """The robot of that name, as components; raises BadInput with the known names when there is none."""
    if name not in ROBOTS:
        raise BadInput(f"{name!r} is no built-in robot made of components; there are {', '.join(ROBOTS)}")
    return ROBOTS[name]()
