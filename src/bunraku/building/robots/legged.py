"""Robots that walk: the four-legged walker."""

from __future__ import annotations

from bunraku.building.robot import Carried, Chassis, Limb, Robot, Stage, Tip

__all__ = ["walker"]

FAST = "Dynamixel XM430-W210 at 14.8 V"


def _leg(name: str, hip: tuple[float, float, float], bend: float) -> Limb:
    front = 1.0 if hip[0] > 0 else -1.0
    return Limb(
        name,
        (
            Stage("roll", "x", hip, shift=-0.018 * front, case="-x" if front > 0 else "+x", lean="+z", servo=FAST),
            Stage("hip", "y", (0.0, 0.02, 0.0), rest=bend, shift=0.004, case="-y", lean="+z", servo=FAST),
            Stage("knee", "y", (0.0, 0.0, -0.09), rest=-2.0 * bend, shift=0.004, case="-y", lean="+z", servo=FAST),
        ),
        (Tip("rubber ball foot 30 mm", (0.0, 0.0, -0.09)),),
    )


def walker() -> Robot:
    """Four legs of three servos with ball feet: crawls, trots."""
    chassis = Chassis(
        (0.165, 0.125, 0.05),
        carries=(Carried("battery 4S 1800 mAh", (0.0, 0.0, -0.008)), Carried("controller", (0.0, 0.0, 0.015))),
        color=(0.24, 0.46, 0.70, 1.0),
    )
    legs = (_leg("F", (0.10, 0.06, 0.0), 0.6), _leg("H", (-0.10, 0.06, 0.0), -0.6))
    return Robot("walker", chassis, legs, source="four-legged walker: own design")
