"""The design of any character, also one read from URDF: offsets of its joints, places and radii of its wheels and feet.

``joint NAME x`` is the place of a hinge in its parent, ``tip NAME x`` that of an end effector (for a wheel that spins, of its
axle), ``tip NAME radius`` its size. Masses stay as they are; home moves up or down so that the tips stand on the ground.
"""

from __future__ import annotations

import numpy as np

from bunraku.building.character_geometry import lowest_points
from bunraku.building.design import Design, Parameter
from bunraku.building.mirror import Mirror, mirror_map
from bunraku.character import WORLD, Character, EndEffector, Joint, Pose, Shape
from bunraku.errors import BadInput

_LETTERS = "xyz"
_RADII = (0.6, 1.6)


def character_design(character: Character, *, reach: float = 0.5, symmetric: bool | None = None) -> Design:
    """A design of every joint offset and tip of a character.

    Offsets may change by ``reach`` times the largest offset of their joint, at least 2 cm. ``symmetric``: what mirrors each other
    changes together, and the parameter is named after the first of both (left in most robots); None: where the character is.
    """
    mirror = _mirror(character, symmetric)
    axles = {tip.body: tip for tip in character.end_effectors if tip.spins}
    parameters: list[Parameter] = []
    for joint in character.joints:
        if joint.kind == "free" or joint.parent == WORLD:
            continue
        label = f"tip {axles[joint.child].name}" if joint.child in axles else f"joint {joint.name}"
        parameters += _places(label, joint.pose.position, reach, *_role(joint.name, character, mirror))
    for tip in character.end_effectors:
        twin = tip.name if mirror is None else mirror.end_effectors[tip.name]
        if not tip.spins:
            parameters += _places(
                f"tip {tip.name}", tip.center, reach, _first(tip.name, twin, character), twin == tip.name and mirror is not None
            )
        if _first(tip.name, twin, character):
            parameters.append(Parameter(f"tip {tip.name} radius", tip.radius, _RADII[0] * tip.radius, _RADII[1] * tip.radius))
    names = tuple(parameter.name for parameter in parameters)
    return Design(
        character.name, tuple(parameters), lambda p: _changed(character, mirror, dict(zip(names, p.tolist(), strict=True)))
    )


def _mirror(character: Character, symmetric: bool | None) -> Mirror | None:
    if symmetric is False:
        return None
    try:
        return mirror_map(character)
    except BadInput:
        if symmetric:
            raise
        return None


def _role(joint: str, character: Character, mirror: Mirror | None) -> tuple[bool, bool]:
    """Whether a joint leads (it is the first of its pair), and whether it stands in the middle plane."""
    if mirror is None:
        return True, False
    other = mirror.joints[joint]
    names = [one.name for one in character.joints]
    return names.index(joint) <= names.index(other), other == joint


def _first(name: str, twin: str, character: Character) -> bool:
    names = [tip.name for tip in character.end_effectors]
    return names.index(name) <= names.index(twin)


def _places(label: str, place: tuple[float, float, float], reach: float, leads: bool, middle: bool) -> list[Parameter]:
    if not leads:
        return []
    most = max(0.02, reach * max(abs(part) for part in place))
    letters = "xz" if middle else _LETTERS
    return [
        Parameter(
            f"{label} {letter}",
            place[_LETTERS.index(letter)],
            place[_LETTERS.index(letter)] - most,
            place[_LETTERS.index(letter)] + most,
        )
        for letter in letters
    ]


def _changed(character: Character, mirror: Mirror | None, values: dict[str, float]) -> Character:
    tip_of = {tip.body: tip for tip in character.end_effectors if tip.spins}
    joints = []
    for joint in character.joints:
        twin = joint.name if mirror is None else mirror.joints[joint.name]
        tip = tip_of.get(joint.child)
        if tip is not None:
            other = tip.name if mirror is None else mirror.end_effectors[tip.name]
            place = _moved(joint.pose.position, f"tip {tip.name}", f"tip {other}", values)
            radius = _radius(tip, mirror, values)
            joint = joint.changed(damping=joint.damping * (radius / tip.radius) ** 2)
        else:
            place = _moved(joint.pose.position, f"joint {joint.name}", f"joint {twin}", values)
        joints.append(
            joint if place == joint.pose.position else joint.changed(pose=Pose(position=place, quaternion=joint.pose.quaternion))
        )
    tips = []
    for tip in character.end_effectors:
        other = tip.name if mirror is None else mirror.end_effectors[tip.name]
        center = tip.center if tip.spins else _moved(tip.center, f"tip {tip.name}", f"tip {other}", values)
        tips.append(tip.changed(center=center, radius=_radius(tip, mirror, values)))
    bodies = tuple(body.changed(shapes=_shapes(body.name, body.shapes, character, tips)) for body in character.bodies)
    return _standing(character.changed(joints=tuple(joints), end_effectors=tuple(tips), bodies=bodies), character)


def _moved(old: tuple[float, float, float], name: str, twin: str, values: dict[str, float]) -> tuple[float, float, float]:
    """The new place of what is called ``name``: its own parameters, or those of its twin with y negated (mirrored frames)."""
    found = [values.get(f"{name} {letter}") for letter in _LETTERS]
    if found[0] is None and f"{twin} x" in values:
        found = [values.get(f"{twin} {letter}") for letter in _LETTERS]
        found[1] = None if found[1] is None else -found[1]
    x, y, z = (before if value is None else value for before, value in zip(old, found, strict=True))
    return (x, y, z)


def _radius(tip: EndEffector, mirror: Mirror | None, values: dict[str, float]) -> float:
    own = values.get(f"tip {tip.name} radius")
    if own is None and mirror is not None:
        own = values.get(f"tip {mirror.end_effectors[tip.name]} radius")
    return tip.radius if own is None else own


def _shapes(body: str, shapes: tuple[Shape, ...], character: Character, tips: list[EndEffector]) -> tuple[Shape, ...]:
    """Shapes of wheels and feet follow their tips: those at a tip's old centre with its old radius."""
    made = list(shapes)
    for old, new in zip(character.end_effectors, tips, strict=True):
        if old.body != body or old == new:
            continue
        for index, shape in enumerate(made):
            if shape.kind in ("sphere", "cylinder", "capsule") and np.allclose(shape.pose.position, old.center, atol=1e-9):
                size = (shape.size[0] * new.radius / old.radius, *shape.size[1:])
                made[index] = shape.changed(size=size, pose=shape.pose.changed(position=new.center))
    return tuple(made)


def _standing(changed: Character, before: Character) -> Character:
    """Home raised by as much as the mean of the tips' lowest points has sunk."""
    base: Joint | None = next((joint for joint in changed.joints if joint.kind == "free" and joint.parent == WORLD), None)
    if base is None or not changed.end_effectors:
        return changed
    sunk = float(np.mean(lowest_points(before)) - np.mean(lowest_points(changed)))
    name = f"{base.name}.tz"
    return changed.changed(home=changed.home | {name: changed.home.get(name, 0.0) + sunk})
