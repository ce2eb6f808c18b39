"""The simple car: four driven wheels on one body; and the one whose front wheels someone has tilted (section 5)."""

from __future__ import annotations

from math import cos, radians, sin

from bunraku.building.robot import CarriedPayload, Chassis, Limb, Robot, Tip

_DRIVE = "Dynamixel AX-12W"
_SOURCE = "the simple car of Geilinger et al. 2018, section 5; dimensions ours, masses from the components"


def _car(name: str, tilt: float, color: tuple[float, float, float, float]) -> Robot:
    chassis = Chassis(
        (0.20, 0.10, 0.04),
        carries=(
            CarriedPayload("battery 3S 2200 mAh", (0.0, 0.0, 0.0)),
            CarriedPayload("controller", (0.0, 0.0, 0.01)),
            *(CarriedPayload("ballast 50 g", (x, y, -0.01)) for x in (-0.06, 0.0, 0.06) for y in (-0.025, 0.025)),
        ),
        color=color,
    )
    axle = (0.0, cos(tilt), -sin(tilt))
    wheels = (
        Limb("F", (), (Tip("driven wheel 60 mm", (0.10, 0.08, -0.02), axis=axle, servo=_DRIVE),)),
        Limb("H", (), (Tip("driven wheel 60 mm", (-0.10, 0.08, -0.02), servo=_DRIVE),)),
    )
    return Robot(name, chassis, wheels, source=_SOURCE)


def car() -> Robot:
    """Four parallel driven wheels on one body."""
    return _car("car", 0.0, (0.80, 0.24, 0.24, 1.0))


def tilted_car() -> Robot:
    """The car with the axles of its front wheels tilted by 45 degrees about x: that lifts them by r (1 - cos 45°)."""
    return _car("tilted-car", radians(45.0), (0.80, 0.35, 0.24, 1.0))
