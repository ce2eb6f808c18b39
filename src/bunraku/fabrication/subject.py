"""What a character is made of, to be fabricated: the components of a robot, or a skin with its mechanism."""

from __future__ import annotations

from bunraku.building.robot import Robot
from bunraku.building.robots.builtin import ROBOTS, built_in_robot
from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.fabrication.edited import robot_as
from bunraku.formats.places import located
from bunraku.formats.registry import read_character


def subject_of(source: str | Character) -> Robot | Character:
    """A skinned character, or the robot of a name, of a character made of one's components, or of the file of such."""
    if isinstance(source, str) and source in ROBOTS:
        return built_in_robot(source)
    file = source if isinstance(source, str) else None
    who = read_character(source) if isinstance(source, str) else source
    if who.skin is not None:
        return who
    if who.name not in ROBOTS:
        raise BadInput(
            f"{who.name!r} is not made of components, so nobody knows its motors' screws; accepted are {', '.join(ROBOTS)}, a "
            "character file of one of them with joints and wheels moved, or a skinned character",
            file=file,
        )
    with located(file):
        return robot_as(who, built_in_robot(who.name))
