"""Another servo in place of one: its figures, and the mass of its case where the case can be found."""

from __future__ import annotations

import numpy as np

from bunraku.building.components.piece import body_of
from bunraku.building.components.placing import of_pose
from bunraku.building.mirror import twin_bodies
from bunraku.building.servos import SERVOS, Servo, servo
from bunraku.building.shapes import box_shape
from bunraku.building.solids import Solid, box, joined, solid_of
from bunraku.character import Body, Character, Joint, Motor, Shape
from bunraku.errors import BadInput


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
    twin = _twin(character, old) if mirror else None
    made = _replaced(character, old, new)
    return made if twin is None else _replaced(made, twin, new)


def _twin(character: Character, motor: Motor) -> Motor | None:
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
    fresh = new.motor(old.name, old.coordinate, old.range)
    made: Character = character.changed(motors=tuple(fresh if one.name == old.name else one for one in character.motors))
    joint = _driven(character, old)
    if old.model not in SERVOS or old.model == new.name:
        return made
    bodies = tuple(_changed(body, joint, SERVOS[old.model], new) if body.name == joint.parent else body for body in made.bodies)
    return made.changed(bodies=bodies)


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
