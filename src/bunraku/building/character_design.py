"""The design of any character, also one read from URDF: offsets of its joints, places and radii of its wheels and feet.

``joint NAME x`` is the place of a hinge in its parent, ``tip NAME x`` that of an end effector (for a wheel that spins, of its
axle), ``tip NAME radius`` its size. Masses stay as they are; home moves up or down so that the tips stand on the ground.
"""

from __future__ import annotations

import numpy as np

from bunraku.building.character_geometry import lowest_points
from bunraku.building.design import Design, Parameter
from bunraku.building.mirror import mirror_map
from bunraku.character import WORLD, Character, EndEffector, Joint, Pose, Shape
from bunraku.errors import BadInput

_LETTERS = "xyz"
_RADII = (0.6, 1.6)


def character_design(character: Character, *, reach: float = 0.5, symmetric: bool | None = None) -> Design:
    """A design of every joint offset and tip of a character.

    Offsets may change by ``reach`` times the largest offset of their joint, at least 2 cm. ``symmetric``: what mirrors each other
    changes together, and the parameter is named after the first of both (left in most robots); None: where the character is.
    """
    joint_twin, tip_twin = _twins(character, symmetric)
    order = [joint.name for joint in character.joints], [tip.name for tip in character.end_effectors]
    axles = {tip.body: tip for tip in character.end_effectors if tip.spins}
    parameters: list[Parameter] = []
    for joint in character.joints:
        if joint.kind == "free" or joint.parent == WORLD:
            continue
        label = f"tip {axles[joint.child].name}" if joint.child in axles else f"joint {joint.name}"
        if _leads(joint.name, joint_twin, order[0]):
            parameters += _places(label, joint.pose.position, reach, middle=joint_twin.get(joint.name) == joint.name)
    for tip in character.end_effectors:
        if not _leads(tip.name, tip_twin, order[1]):
            continue
        if not tip.spins:
            parameters += _places(f"tip {tip.name}", tip.center, reach, middle=tip_twin.get(tip.name) == tip.name)
        parameters.append(Parameter(f"tip {tip.name} radius", tip.radius, _RADII[0] * tip.radius, _RADII[1] * tip.radius))
    names = tuple(parameter.name for parameter in parameters)
    return Design(
        character.name,
        tuple(parameters),
        lambda p: _changed(character, joint_twin, tip_twin, dict(zip(names, p.tolist(), strict=True))),
    )


def _twins(character: Character, symmetric: bool | None) -> tuple[dict[str, str], dict[str, str]]:
    """The mirror of each joint and of each end effector; none where the character is, or shall be, without symmetry."""
    if symmetric is False:
        return {}, {}
    try:
        mirror = mirror_map(character)
    except BadInput:
        if symmetric:
            raise
        return {}, {}
    return mirror.joints, mirror.end_effectors


def _leads(name: str, twins: dict[str, str], order: list[str]) -> bool:
    """Whether it is the first of its pair, or alone."""
    return order.index(name) <= order.index(twins.get(name, name))


def _places(label: str, place: tuple[float, float, float], reach: float, *, middle: bool) -> list[Parameter]:
    """The parameters of a place; across the middle plane nothing moves that stands in it."""
    most = max(0.02, reach * max(abs(part) for part in place))
    values = [(letter, place[_LETTERS.index(letter)]) for letter in ("xz" if middle else _LETTERS)]
    return [Parameter(f"{label} {letter}", value, value - most, value + most) for letter, value in values]


def _changed(character: Character, joint_twin: dict[str, str], tip_twin: dict[str, str], values: dict[str, float]) -> Character:
    tip_of = {tip.body: tip for tip in character.end_effectors if tip.spins}
    other = {tip.name: tip_twin.get(tip.name, tip.name) for tip in character.end_effectors}
    joints = []
    for joint in character.joints:
        tip = tip_of.get(joint.child)
        if tip is not None:
            place = _moved(joint.pose.position, f"tip {tip.name}", f"tip {other[tip.name]}", values)
            radius = _radius(tip, other[tip.name], values)
            joint = joint.changed(damping=joint.damping * (radius / tip.radius) ** 2)
        else:
            twin = joint_twin.get(joint.name, joint.name)
            place = _moved(joint.pose.position, f"joint {joint.name}", f"joint {twin}", values)
        joints.append(
            joint if place == joint.pose.position else joint.changed(pose=Pose(position=place, quaternion=joint.pose.quaternion))
        )
    tips = []
    for tip in character.end_effectors:
        twin = other[tip.name]
        center = tip.center if tip.spins else _moved(tip.center, f"tip {tip.name}", f"tip {twin}", values)
        tips.append(tip.changed(center=center, radius=_radius(tip, twin, values)))
    bodies = tuple(body.changed(shapes=_shapes(body.name, body.shapes, character, tips)) for body in character.bodies)
    return _standing(character.changed(joints=tuple(joints), end_effectors=tuple(tips), bodies=bodies), character)


def _moved(old: tuple[float, float, float], name: str, twin: str, values: dict[str, float]) -> tuple[float, float, float]:
    """The new place of what is called ``name``: its own parameters, or those of its twin with y negated (mirrored frames)."""
    new = [values.get(f"{name} {letter}") for letter in _LETTERS]
    if new[0] is None and f"{twin} x" in values:
        new = [values.get(f"{twin} {letter}") for letter in _LETTERS]
        new[1] = None if new[1] is None else -new[1]
    x, y, z = (before if value is None else value for before, value in zip(old, new, strict=True))
    return (x, y, z)


def _radius(tip: EndEffector, twin: str, values: dict[str, float]) -> float:
    return values.get(f"tip {tip.name} radius", values.get(f"tip {twin} radius", tip.radius))


def _shapes(body: str, shapes: tuple[Shape, ...], character: Character, tips: list[EndEffector]) -> tuple[Shape, ...]:
    """Shapes of wheels and feet follow their tips: those at a tip's old centre with its old radius."""
    changed = list(shapes)
    for old, new in zip(character.end_effectors, tips, strict=True):
        if old.body != body or old == new:
            continue
        for index, shape in enumerate(changed):
            if shape.kind in ("sphere", "cylinder", "capsule") and np.allclose(shape.pose.position, old.center, atol=1e-9):
                size = (shape.size[0] * new.radius / old.radius, *shape.size[1:])
                changed[index] = shape.changed(size=size, pose=shape.pose.changed(position=new.center))
    return tuple(changed)


def _standing(changed: Character, before: Character) -> Character:
    """Home raised by as much as the mean of the tips' lowest points has sunk."""
    base: Joint | None = next((joint for joint in changed.joints if joint.kind == "free" and joint.parent == WORLD), None)
    if base is None or not changed.end_effectors:
        return changed
    sunk = float(np.mean(lowest_points(before)) - np.mean(lowest_points(changed)))
    name = f"{base.name}.tz"
    return changed.changed(home=changed.home | {name: changed.home.get(name, 0.0) + sunk})
