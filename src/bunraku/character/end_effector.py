"""End effectors: what rolls or stands on the ground. Wheels that turn freely, are driven or are part of their body; feet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field, model_validator

from bunraku.character.description import Description, Misfit, Name, Vector3, quantity, some
from bunraku.character.joint import Joint
from bunraku.character.motor import Motor


class EndEffector(Description):
    """A wheel or a foot. ``center`` and the ``axis`` of a wheel or sole are in the frame of ``body``.

    ``kind``: "passive", a wheel that turns freely; "active", one that a motor drives; "welded", a disc that is part of its body and
    rolls with it; "ball", a sphere that is part of its body; "sole", a flat disc of ``radius`` about ``center``, of upward normal
    ``axis``. The body of a passive or active wheel is the wheel itself, the child of a hinge about its axle; the motor of an active
    one drives that hinge. ``friction`` is Coulomb's coefficient on the ground, ``rolling_resistance`` c is the measured drag of a
    wheel over its speed [N·s/m], found by letting it coast; a passive wheel's axle has the damping c r².
    """

    name: Name
    kind: Literal["passive", "active", "welded", "ball", "sole"]
    body: Name
    center: Vector3 = quantity("length", (0.0, 0.0, 0.0))
    axis: Vector3 = (0.0, 1.0, 0.0)
    radius: float = quantity("length", gt=0.0)
    width: float = quantity("length", 0.01, gt=0.0)
    friction: float = Field(0.8, gt=0.0)
    rolling_resistance: float = quantity("drag", 0.0, ge=0.0)

    @model_validator(mode="after")
    def _check(self) -> EndEffector:
        if sum(part * part for part in self.axis) < 1e-12:
            raise ValueError(f"end effector {self.name}: an axis of length zero has no direction")
        if self.rolling_resistance and self.kind in ("ball", "sole", "welded"):
            raise ValueError(f"end effector {self.name}: a {self.kind} does not spin; rolling resistance is for wheels that do")
        return self

    @property
    def spins(self) -> bool:
        """Whether it turns about an axle of its own."""
        return self.kind in ("passive", "active")


def check_end_effectors(
    effectors: Sequence[EndEffector], joints: Sequence[Joint], motors: Sequence[Motor], bodies: Sequence[str]
) -> None:
    """Refuse end effectors on bodies that are not there, wheels without an axle, and axles driven or free against their kind."""
    above = {joint.child: joint for joint in joints}
    driven = {motor.coordinate for motor in motors}
    for k, tip in enumerate(effectors):
        if tip.body not in bodies:
            known = some(sorted(bodies))
            message = f"end effector {tip.name!r} is fixed to {tip.body!r}, which is no body; known: {known}"
            raise Misfit(message, "end_effectors", k, "body")
        if not tip.spins:
            continue
        axle = above.get(tip.body)
        if axle is None or axle.kind != "hinge":
            raise ValueError(f"the {tip.kind} wheel {tip.name!r} needs a hinge of its own; {tip.body!r} does not turn on one")
        torque = tip.rolling_resistance * tip.radius**2
        if tip.kind == "passive" and abs(axle.damping - torque) > 1e-3 * torque:
            raise ValueError(
                f"the wheel {tip.name!r} has a rolling resistance of {tip.rolling_resistance:g} N·s/m, its axle {axle.name!r} a "
                f"damping of {axle.damping:g} N·m·s/rad; they are the same thing: give the axle c r² = {torque:.6g}"
            )
        if axle.name in driven and tip.kind == "passive":
            raise ValueError(f"the wheel {tip.name!r} is passive, yet a motor drives {axle.name!r}; make it active")
        if axle.name not in driven and tip.kind == "active":
            raise ValueError(f"the wheel {tip.name!r} is active, yet no motor drives {axle.name!r}; give it one")
        along = sum(a * b for a, b in zip(_unit(axle.axis), _unit(tip.axis), strict=True))
        if abs(abs(along) - 1.0) > 1e-6 or any(abs(part) > 1e-9 for part in axle.child_pose.position):
            raise ValueError(f"the wheel {tip.name!r} does not turn about its own axis; the hinge {axle.name!r} must")
        off = tuple(
            c - along * sum(x * y for x, y in zip(tip.center, _unit(tip.axis), strict=True)) * a
            for c, a in zip(tip.center, _unit(axle.axis), strict=True)
        )
        if sum(part * part for part in off) > 1e-12:
            raise ValueError(f"the centre of the wheel {tip.name!r} lies beside its axle {axle.name!r}")


def _unit(vector: Vector3) -> Vector3:
    norm = sum(part * part for part in vector) ** 0.5
    return (vector[0] / norm, vector[1] / norm, vector[2] / norm)
