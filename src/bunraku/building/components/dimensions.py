"""Which numbers of a character can be dragged: those of its components of a built-in robot, else its joints and tips, and rods.

``rod NAME length`` and ``rod NAME diameter`` change a flexible rod or tube with all that it carries.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from bunraku.arrays import Array
from bunraku.building.assemble import assemble
from bunraku.building.character_design import character_design
from bunraku.building.components.placing import numbers, of_pose
from bunraku.building.design import Design, Parameter
from bunraku.building.mirror import mirror_map, twin_bodies
from bunraku.building.robot_design import built_in_design
from bunraku.building.robots.builtin import ROBOTS, built_in_robot
from bunraku.character import Character, FlexiblePart, Joint, Pose
from bunraku.errors import BadInput

_LENGTH = (0.4, 2.0)
_DIAMETER = (0.5, 2.0)


def dimensions(character: Character) -> Design:
    """The design of a character: that of its components while it is a built-in robot as it came, else `character_design` and rods.

    Parameters of rods come first; two that mirror each other have the same. Lengths [m].
    """
    if character.name in ROBOTS and _built_in(character.name) == character:
        return built_in_design(character.name)
    rest = character_design(character)
    rods = [part for part in character.flexibles if part.shape.kind in ("rod", "tube")]
    if not rods:
        return rest
    bent = {child.body for part in character.flexibles for child in part.children}
    fixed = {f"joint {joint.name}" for joint in character.joints if joint.child in bent}
    leads = _leads(character, rods)
    parameters = [parameter for part in rods if leads[part.name] == part.name for parameter in _rod_parameters(part)]
    kept = [parameter for parameter in rest.parameters if parameter.name.rpartition(" ")[0] not in fixed]
    names = [parameter.name for parameter in (*parameters, *kept)]

    def make(p: Array) -> Character:
        values = dict(zip(names, p.tolist(), strict=True))
        whole = np.array([values.get(parameter.name, parameter.value) for parameter in rest.parameters])
        return _with_rods(rest.character(whole) if kept else character, rods, leads, values)

    return Design(character.name, (*parameters, *kept), make)


@lru_cache(maxsize=32)
def _built_in(name: str) -> Character:
    return assemble(built_in_robot(name))


def _rod_parameters(part: FlexiblePart) -> list[Parameter]:
    parameters = []
    for what, (low, high) in (("length", _LENGTH), ("diameter", _DIAMETER)):
        value = float(getattr(part.shape, what))
        least = max(low * value, 2.0 * (part.shape.wall or 0.0) * 1.05) if what == "diameter" else low * value
        parameters.append(Parameter(f"rod {part.name} {what}", value, least, high * value))
    return parameters


def _leads(character: Character, rods: list[FlexiblePart]) -> dict[str, str]:
    """Of each rod the one whose numbers it has: the first of two that mirror each other in a symmetric character, else itself."""
    try:
        mirror_map(character)
    except BadInput:
        return {part.name: part.name for part in rods}
    twins = twin_bodies(character)
    first: dict[str, str] = {}
    for part in rods:
        body = part.children[0].body
        first.setdefault(body, part.name)
        first.setdefault(twins.get(body, body), first[body])
    return {part.name: first[part.children[0].body] for part in rods}


def _with_rods(character: Character, rods: list[FlexiblePart], leads: dict[str, str], values: dict[str, float]) -> Character:
    """Rods of other sizes: what is fixed to their ends goes along by as much as they have grown."""
    changed, grown = {}, {}
    for part in rods:
        length, diameter = (values[f"rod {leads[part.name]} {what}"] for what in ("length", "diameter"))
        changed[part.name] = part.changed(shape=part.shape.changed(length=length, diameter=diameter))
        for child in part.children:
            if child.patch == "end":
                grown[child.body] = of_pose(part.pose)[0][:, 2] * (length - float(part.shape.length or 0.0))
    joints = tuple(_moved(joint, grown[joint.child]) if joint.child in grown else joint for joint in character.joints)
    return character.changed(flexibles=tuple(changed.get(part.name, part) for part in character.flexibles), joints=joints)


def _moved(joint: Joint, by: Array) -> Joint:
    if not by.any():
        return joint
    place = Pose(position=numbers(np.array(joint.pose.position) + by), quaternion=joint.pose.quaternion)
    return joint.changed(pose=place)
