"""What a character is made of, to be fabricated: the components of a robot, perhaps moved, or a skin with its mechanism."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bunraku.building.assemble import assemble
from bunraku.building.robot import Limb, Robot, Tip
from bunraku.building.robots.builtin import ROBOTS, built_in_robot
from bunraku.character import Character
from bunraku.errors import BadInput
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


_SAME = 1e-6


def robot_as(character: Character, robot: Robot) -> Robot:
    """``robot`` with the joints of ``character`` (places, rest angles) and its wheels and feet (places, axes, radii).

    Raises BadInput when that does not make the character: other joints, or a left side that is not the mirror image of the right.
    """
    assembled = assemble(robot)
    if [joint.name for joint in assembled.joints] != [joint.name for joint in character.joints]:
        raise BadInput(f"its joints are not those of the components of {robot.name!r}; take the built-in {robot.name!r} as it is")
    edited = robot.changed([_limb(limb, character) for limb in robot.limbs])
    again = assemble(edited)
    for joint, other in zip(character.joints, again.joints, strict=True):
        off = float(np.abs(np.array(joint.pose.position) - np.array(other.pose.position)).max())
        turned = float(np.abs(np.array(joint.axis) - np.array(other.axis)).max()) if joint.kind == "hinge" else 0.0
        if off > _SAME or turned > _SAME:
            raise BadInput(
                f"joint {joint.name!r} is {1e3 * off:.2f} mm or {turned:.3f} rad from where components can put it; left and right "
                "must be mirror images, and the axes of servos as built"
            )
    return edited


def _limb(limb: Limb, character: Character) -> Limb:
    name = f"L{limb.name}" if limb.mirror else limb.name
    joints = {joint.name: joint for joint in character.joints}
    stages = []
    for stage in limb.stages:
        joint = joints[f"{name}.{stage.name}"]
        stages.append(replace(stage, offset=joint.pose.position, rest=float(character.home.get(joint.name, 0.0))))
    return replace(limb, stages=tuple(stages), tips=tuple(_tip(tip, f"{name}{tip.name}", character) for tip in limb.tips))


def _tip(tip: Tip, name: str, character: Character) -> Tip:
    effector = next((end for end in character.end_effectors if end.name == name), None)
    if effector is None:
        raise BadInput(f"no end effector {name!r}; take the built-in {character.name!r} as it is")
    axle = next((joint for joint in character.joints if joint.child == effector.body and effector.spins), None)
    place = effector.center if axle is None else axle.pose.position
    return replace(tip, offset=place, axis=effector.axis, radius=effector.radius)
