"""Taking parts away: a body with everything beyond it, a string, a wheel from its motor; and another servo in place of one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bunraku.building.character_geometry import standing_like
from bunraku.building.components.making import bare_horn
from bunraku.building.components.naming import BODY_FIELDS, COORDINATE_FIELDS, mirrored_name, renamed_all
from bunraku.building.components.piece import body_of
from bunraku.building.components.placing import of_pose
from bunraku.building.mirror import twin_bodies
from bunraku.building.servos import SERVOS, Servo, off_wheel, servo
from bunraku.building.shapes import box_shape
from bunraku.building.solids import Solid, box, joined, solid_of
from bunraku.character import Body, Character, EndEffector, Joint, Motor, Shape
from bunraku.errors import BadInput

_REACH = 1.5707963267948966


def removed(character: Character, part: str, *, mirror: bool = False) -> Character:
    """The character without a part: a body, or what is named like a string, joint, motor, end effector or flexible part.

    Everything beyond it goes too, and all that refers to it. A motor that was attached goes with its case; a driven wheel comes off
    its motor, which turns again by 90 degrees to both sides. ``mirror``: also what mirrors it, where there is something. Raises
    BadInput when nothing would be left.
    """
    parts = [part]
    if mirror:
        twin = _twin(character, part)
        parts += [twin] if twin not in ("", part) else []
    left = character
    for one in parts:
        left = _without(left, one)
    return standing_like(left, character)


def _twin(character: Character, part: str) -> str:
    strings = {string.name for string in character.strings}
    if part in strings:
        other = mirrored_name(part)
        return other if other in strings else ""
    twin = twin_bodies(character).get(_body(character, part), "")
    if part in {joint.name for joint in character.joints} - {body.name for body in character.bodies}:
        return next((joint.name for joint in character.joints if joint.child == twin), "")
    return twin


def _without(character: Character, part: str) -> Character:
    if any(string.name == part for string in character.strings):
        return _without_strings(character, {part})
    body = _body(character, part)
    wheel = next((tip for tip in character.end_effectors if tip.body == body and tip.kind == "active"), None)
    if wheel is not None and part in (wheel.name, wheel.body):
        bare = _without_wheel(character, wheel)
        if bare is not None:
            return bare
    above = {joint.child: joint for joint in character.joints}
    if above[body].name in character.driven and above[body].parent == f"{above[body].name} case":
        body = above[body].parent  # a motor that was attached comes off as a whole
    return without(character, _beyond(character, body))


def _body(character: Character, part: str) -> str:
    """The body that a part is, or is named by."""
    if any(body.name == part for body in character.bodies):
        return part
    named = {joint.name: joint.child for joint in character.joints}
    named |= {tip.name: tip.body for tip in character.end_effectors}
    named |= {flexible.name: flexible.children[0].body for flexible in character.flexibles}
    named |= {motor.name: named.get(motor.coordinate, "") for motor in character.motors}
    if not named.get(part):
        known = ", ".join(body.name for body in character.bodies[:8])
        raise BadInput(f"{character.name!r} has no part {part!r} to take away; bodies: {known}")
    return named[part]


def _beyond(character: Character, body: str) -> set[str]:
    """A body and all that hangs on it in the tree of joints."""
    gone = {body}
    while True:
        more = {joint.child for joint in character.joints if joint.parent in gone} - gone
        if not more:
            return gone
        gone |= more


def without(character: Character, gone: set[str]) -> Character:
    """The character without some bodies, which nothing that stays hangs on."""
    c = character
    if c.skin is not None:
        raise BadInput(f"{c.name!r} wears a skin that is glued to its bodies; make the skin anew for another skeleton")
    if len(gone) >= len(c.bodies):
        raise BadInput(f"{sorted(gone)[0]!r} is all there is of {c.name!r}; a character has at least one body")
    lost = {axis.name for joint in c.joints if joint.child in gone for axis in joint.axes}
    frames = {frame.name for frame in c.frames if frame.body in gone}
    c = _without_strings(c, {string.name for string in c.strings if string.hook in gone | frames})
    flexibles = []
    for part in c.flexibles:
        children = tuple(child for child in part.children if child.body not in gone)
        if part.base not in gone and children:
            flexibles.append(part if children == part.children else part.changed(children=children))
    tendons = []
    for tendon in c.tendons:
        arms = {name: arm for name, arm in tendon.moment_arms.items() if name not in lost}
        if arms:
            tendons.append(tendon if arms == tendon.moment_arms else tendon.changed(moment_arms=arms))
    freed = {part.material for part in c.flexibles} - {part.material for part in flexibles}
    groups = {group: tuple(name for name in names if name not in lost) for group, names in c.groups.items()}
    return c.changed(
        **_kept(c, BODY_FIELDS | {"bodies": ("name",)}, gone),
        **_kept(c, COORDINATE_FIELDS, lost),
        tendons=tuple(tendons),
        materials=tuple(material for material in c.materials if material.name not in freed),
        flexibles=tuple(flexibles),
        groups={group: names for group, names in groups.items() if names or not c.groups[group]},
        home={name: value for name, value in c.home.items() if name not in lost},
        may_touch=tuple(pair for pair in c.may_touch if not gone & set(pair)),
    )


def _kept(character: Character, fields: Mapping[str, tuple[str, ...]], gone: set[str]) -> dict[str, tuple[Any, ...]]:
    """The sections of a character without what names something that is gone."""
    return {
        kind: tuple(part for part in getattr(character, kind) if not gone & {getattr(part, name) for name in names})
        for kind, names in fields.items()
    }


def _without_strings(character: Character, gone: set[str]) -> Character:
    """Without some strings, their carriages, and the hooks that were made for them."""
    if not gone:
        return character
    strings = tuple(string for string in character.strings if string.name not in gone)
    used = {string.carriage for string in strings}
    hooks = {string.hook for string in character.strings if string.name in gone and string.hook == f"{string.name} hook"}
    return character.changed(
        strings=strings,
        carriages=tuple(carriage for carriage in character.carriages if carriage.name in used),
        frames=tuple(frame for frame in character.frames if frame.name not in hooks),
    )


def _without_wheel(character: Character, wheel: EndEffector) -> Character | None:
    """The plate of the horn again in place of a driven wheel, where it was attached to a motor of the library; else None."""
    axle = next(joint for joint in character.joints if joint.child == wheel.body)
    motor = next(motor for motor in character.motors if motor.coordinate == axle.name)
    if axle.parent != f"{axle.name} case" or motor.model not in SERVOS:
        return None
    output = f"{axle.name} output"
    away = _beyond(character, wheel.body) - {wheel.body}
    bare = without(character, away) if away else character
    limits = (-_REACH, _REACH)
    bare = bare.changed(
        end_effectors=tuple(tip for tip in bare.end_effectors if tip.body != wheel.body),
        joints=tuple(joint.changed(range=limits) if joint.name == axle.name else joint for joint in bare.joints),
        motors=tuple(off_wheel(one, limits) if one.name == motor.name else one for one in bare.motors),
    )
    bare = renamed_all(bare, lambda name: output if name == wheel.body else name)
    plate = bare_horn(SERVOS[motor.model], output)
    return bare.changed(bodies=tuple(plate if body.name == output else body for body in bare.bodies))


def replaced_servo(character: Character, motor: str, servo_name: str, *, mirror: bool = False) -> Character:
    """The character with another servo of the library as that motor; its range stays.

    The box of the old servo that is nearest to the joint becomes the new one's: its front where the old one's was, its mass in
    place of the old one's. Where the old servo is not of the library, or no box is of its size, only the figures change.
    ``mirror``: the motor that mirrors it too, where there is one.
    """
    new = servo(servo_name)
    old = next((one for one in character.motors if one.name == motor), None)
    if old is None:
        raise BadInput(f"{character.name!r} has no motor {motor!r}; it has {', '.join(one.name for one in character.motors[:12])}")
    twin = _twin_motor(character, old) if mirror else None
    changed = _replaced(character, old, new)
    return changed if twin is None else _replaced(changed, twin, new)


def _twin_motor(character: Character, motor: Motor) -> Motor | None:
    """The motor that drives the mirror image of what a motor drives, along the same of its axes; None in the middle plane."""
    joint = _driven(character, motor)
    other = twin_bodies(character).get(joint.child, joint.child)
    twin = next((one for one in character.joints if one.child == other and other != joint.child), None)
    if twin is None or len(twin.axes) != len(joint.axes):
        return None
    axis = next(axis for axis, own in zip(twin.axes, joint.axes, strict=True) if own.name == motor.coordinate)
    return next((one for one in character.motors if one.coordinate == axis.name), None)


def _driven(character: Character, motor: Motor) -> Joint:
    return next(one for one in character.joints if any(axis.name == motor.coordinate for axis in one.axes))


def _replaced(character: Character, old: Motor, new: Servo) -> Character:
    wheel = old.coordinate in character.wheel_axles
    fresh = new.wheel_motor(old.name, old.coordinate) if wheel else new.motor(old.name, old.coordinate, old.range)
    swapped: Character = character.changed(motors=tuple(fresh if one.name == old.name else one for one in character.motors))
    joint = _driven(character, old)
    if old.model not in SERVOS or old.model == new.name:
        return swapped
    bodies = tuple(_changed(body, joint, SERVOS[old.model], new) if body.name == joint.parent else body for body in swapped.bodies)
    return swapped.changed(bodies=bodies)


def _changed(body: Body, joint: Joint, old: Servo, new: Servo) -> Body:
    half = np.array(old.size) / 2.0
    cases = [k for k, shape in enumerate(body.shapes) if shape.kind == "box" and np.allclose(shape.size, half, atol=1e-9)]
    if not cases or body.mass < old.mass - 1e-9:
        return body
    hinge = np.array(joint.pose.position)
    chosen = min(cases, key=lambda k: float(np.linalg.norm(np.array(body.shapes[k].pose.position) - hinge)))
    R, p = of_pose(body.shapes[chosen].pose)
    place = p + R[:, 2] * (old.size[2] - new.size[2]) / 2.0
    shape: Shape = box_shape(place, new.size, body.shapes[chosen].color, axes=R, collides=body.shapes[chosen].collides)
    shapes = [shape if k == chosen else one for k, one in enumerate(body.shapes)]
    case = box(new.mass, place, new.size, R)
    if body.mass - old.mass < 1e-9:
        return body_of(body.name, [case], shapes)
    gone = box(old.mass, p, old.size, R)
    rest = joined([solid_of(body), Solid(-gone.mass, gone.center, -gone.inertia)])
    return body_of(body.name, [rest, case], shapes)
