"""Motors that give way: finite torsional stiffness in series with their commands.

A soft motor's coordinate is its command theta (kinematic) and, behind it, about the same axis, a deflection delta (dynamic) on a
spring k and a damper c: what it moves turns by theta + delta, and the torque it feels is tau = -k delta - c delta'.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bunraku.character import Body, Character, Joint, Pose
from bunraku.errors import BadInput


@dataclass(frozen=True)
class SoftMotor:
    """A motor's ``coordinate``, its ``stiffness`` [N·m/rad or N/m] and ``damping`` [N·m·s/rad or N·s/m]."""

    motor: str
    coordinate: str
    stiffness: float
    damping: float

    @property
    def deflection(self) -> str:
        """The name of the dynamic coordinate behind the command."""
        return f"{self.coordinate}.deflection"


def soft_motors(character: Character, stiffness: bool | float | Mapping[str, float] | None) -> tuple[SoftMotor, ...]:
    """The motors that give way: those that state a stiffness (None, True), all with one number, or those named with theirs.

    No motor for False; True is an error when none states one.
    """
    if stiffness is False:
        return ()
    if isinstance(stiffness, Mapping):
        known = {motor.name for motor in character.motors}
        unknown = [name for name in stiffness if name not in known]
        if unknown:
            raise BadInput(f"{unknown[0]!r} is no motor of {character.name!r}; known: {', '.join(sorted(known)[:12])}")
        values = dict(stiffness)
    elif stiffness is True or stiffness is None:
        values = {m.name: m.torsional_stiffness for m in character.motors if m.torsional_stiffness is not None}
        if not values and stiffness:
            raise BadInput(f"no motor of {character.name!r} states a torsional_stiffness; state it, or give a number [N·m/rad]")
    else:
        values = {motor.name: float(stiffness) for motor in character.motors}
    for name, value in values.items():
        if not (np.isfinite(value) and value > 0.0):
            raise BadInput(f"the stiffness of motor {name!r} is {value}; it must be a positive number [N·m/rad]")
    return tuple(
        SoftMotor(motor.name, motor.coordinate, float(values[motor.name]), motor.torsional_damping)
        for motor in character.motors
        if motor.name in values
    )


def with_deflections(character: Character, soft: Sequence[SoftMotor]) -> Character:
    """The character with a second, equal axis ``coordinate.deflection`` behind each soft motor's, on massless bodies between."""
    if not soft:
        return character
    deflections = {motor.coordinate: motor.deflection for motor in soft}
    bodies, joints = list(character.bodies), list[Joint]()
    for joint in character.joints:
        if not any(axis.name in deflections for axis in joint.axes):
            joints.append(joint)
            continue
        chain = [(axis.name, axis) for axis in joint.axes]
        chain = [
            link
            for name, axis in chain
            for link in ([(name, axis), (deflections[name], axis)] if name in deflections else [(name, axis)])
        ]
        at, pose = joint.parent, joint.pose
        for place, (name, axis) in enumerate(chain):
            last = place == len(chain) - 1
            child = joint.child if last else f"{joint.child}@{name}"
            if not last:
                bodies.append(Body(name=child))
            own = name == axis.name
            joints.append(
                Joint(
                    name=name,
                    kind=axis.kind,
                    parent=at,
                    child=child,
                    pose=pose,
                    axis=axis.direction,
                    range=axis.range if own else None,
                    damping=joint.damping if own else 0.0,
                    stiffness=joint.stiffness if own else 0.0,
                    armature=joint.armature if own else 0.0,
                )
            )
            at, pose = child, Pose()
    softened: Character = character.changed(bodies=tuple(bodies), joints=tuple(joints))
    return softened
