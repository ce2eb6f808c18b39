"""The design of a robot made of components: offsets of its joints, places and radii of its wheels and feet.

``F.knee z`` is the z offset of the knee of the limbs ``LF`` and ``RF`` from the joint before (on the left; the right mirrors it),
``F.tip x`` the place of their wheel or foot, ``F.tip radius`` its size. A link is never shorter than what is screwed into it: the
part of the next servo's case that lies along it, the horn it starts from, and a printed wall between.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bunraku.building.assemble import assemble
from bunraku.building.design import Design, Parameter
from bunraku.building.robot import Limb, Robot, Stage, Tip
from bunraku.building.robots.builtin import built_in_robot
from bunraku.building.servos import servo
from bunraku.building.tips import tip_model
from bunraku.character import Character

_LETTERS = "xyz"
_LONG = 0.04
_SMALL = 0.02
_GROWTH = 2.5
_RADII = (0.6, 1.25)


def built_in_design(name: str) -> Design:
    """The design of a built-in robot."""
    return design_of(built_in_robot(name))


def design_of(robot: Robot) -> Design:
    """Every offset and radius of a robot as a parameter; offsets across the middle plane only where a limb is mirrored."""
    parameters: list[Parameter] = []
    for limb in robot.limbs:
        letters = "xyz" if limb.mirror else "xz"
        for index, stage in enumerate(limb.stages):
            before = limb.stages[index - 1] if index else None
            parameters += [_offset(robot, limb, stage, before, letter) for letter in letters]
        for tip in limb.tips:
            parameters += _tip_parameters(limb, tip, letters)
    names = tuple(parameter.name for parameter in parameters)
    return Design(robot.name, tuple(parameters), lambda p: _made(robot, dict(zip(names, p.tolist(), strict=True))))


def shortest_link(robot: Robot, before: Stage, stage: Stage) -> float:
    """The least length [m] of the printed link from one servo's horn to the case of the next.

    The next case reaches from its shaft towards the link's start by s + l/2 (shaft offset s, long side l) if it lies along the
    link, by its depth and horn if it is driven from below, else by half its width; then come the horn's radius and a wall.
    """
    one, two = servo(before.servo), servo(stage.servo)
    along = int(np.argmax(np.abs(stage.offset)))
    back = "-" if stage.offset[along] > 0.0 else "+"
    if stage.lean == f"{back}{_LETTERS[along]}":
        reach = two.shaft_offset + two.size[1] / 2.0
    elif stage.case == f"{back}{_LETTERS[along]}":
        reach = two.horn_height + two.size[2] + abs(stage.shift)
    else:
        reach = two.size[0] / 2.0
    return reach + one.horn_radius + robot.material.wall


def _offset(robot: Robot, limb: Limb, stage: Stage, before: Stage | None, letter: str) -> Parameter:
    axis = _LETTERS.index(letter)
    value = stage.offset[axis]
    name = f"{limb.name}.{stage.name} {letter}"
    main = axis == int(np.argmax(np.abs(stage.offset)))
    if before is None or not main or abs(value) < _LONG:
        return Parameter(name, value, value - _SMALL, value + _SMALL)
    least = min(shortest_link(robot, before, stage), abs(value))
    low, high = least, _GROWTH * abs(value)
    return Parameter(name, value, low, high) if value > 0.0 else Parameter(name, value, -high, -low)


def _tip_parameters(limb: Limb, tip: Tip, letters: str) -> list[Parameter]:
    name = f"{limb.name}.tip{tip.name}"
    radius = tip_model(tip.model).radius if tip.radius is None else tip.radius
    parameters = []
    for letter in letters:
        value = tip.offset[_LETTERS.index(letter)]
        low, high = value - _SMALL, value + _SMALL
        if letter == "z" and limb.stages:
            low, high = min(low, _GROWTH * value if abs(value) >= _LONG else low), value + 0.005
        parameters.append(Parameter(f"{name} {letter}", value, low, high))
    return [*parameters, Parameter(f"{name} radius", radius, _RADII[0] * radius, _RADII[1] * radius)]


def _made(robot: Robot, values: dict[str, float]) -> Character:
    limbs = []
    for limb in robot.limbs:
        stages = tuple(replace(stage, offset=_moved(stage.offset, f"{limb.name}.{stage.name}", values)) for stage in limb.stages)
        tips = []
        for tip in limb.tips:
            name = f"{limb.name}.tip{tip.name}"
            tips.append(replace(tip, offset=_moved(tip.offset, name, values), radius=values[f"{name} radius"]))
        limbs.append(replace(limb, stages=stages, tips=tuple(tips)))
    return assemble(robot.changed(limbs))


def _moved(offset: tuple[float, float, float], name: str, values: dict[str, float]) -> tuple[float, float, float]:
    x, y, z = (values.get(f"{name} {letter}", old) for letter, old in zip(_LETTERS, offset, strict=True))
    return (x, y, z)
