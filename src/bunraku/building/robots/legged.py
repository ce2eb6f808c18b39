"""Robots that walk: Creature3 and the four-legged walker."""

from __future__ import annotations

from bunraku.building.robot import CarriedPayload, Chassis, Limb, Robot, Stage, Tip
from bunraku.character.description import Vector3

FAST = "Dynamixel XM430-W210 at 14.8 V"
_LINK = 0.09


def _leg(name: str, hip: Vector3, bend: float) -> Limb:
    """X, Y, Y above a ball foot that stands below the hip; ``bend`` is the angle of the hip, the knee bends twice as far back."""
    front = 1.0 if hip[0] > 0.0 else -1.0
    return Limb(
        name,
        (
            Stage("roll", "x", hip, shift=-0.018 * front, case="-x" if front > 0.0 else "+x", lean="+z", servo=FAST),
            Stage("hip", "y", (0.0, 0.02, 0.0), rest=bend, shift=0.004, case="-y", lean="+z", servo=FAST),
            Stage("knee", "y", (0.0, 0.0, -_LINK), rest=-2.0 * bend, shift=0.004, case="-y", lean="+z", servo=FAST),
        ),
        (Tip("rubber ball foot 30 mm", (0.0, 0.0, -_LINK)),),
    )


def walker() -> Robot:
    """Four legs X, Y, Y of three servos each with ball feet: it crawls and trots."""
    chassis = Chassis(
        (0.165, 0.125, 0.05),
        carries=(CarriedPayload("battery 4S 1800 mAh", (0.0, 0.0, -0.006)), CarriedPayload("controller", (0.0, 0.0, 0.015))),
        color=(0.24, 0.46, 0.70, 1.0),
    )
    legs = (_leg("F", (0.10, 0.06, 0.0), 0.6), _leg("H", (-0.10, 0.06, 0.0), -0.6))
    return Robot("walker", chassis, legs, source="four-legged walker; own design, masses from the components")


def creature3() -> Robot:
    """Three legs X, Y, Y with ball feet and a passive wheel behind the middle of the body, at the height of the feet."""
    chassis = Chassis(
        (0.15, 0.12, 0.05),
        carries=(CarriedPayload("battery 4S 1800 mAh", (0.0, 0.0, -0.006)), CarriedPayload("controller", (0.012, 0.0, 0.015))),
        color=(0.90, 0.68, 0.25, 1.0),
    )
    hind = Limb(
        "H",
        (
            Stage("roll", "x", (-0.10, 0.0, 0.0), shift=0.012, case="+x", lean="+z", servo=FAST),
            Stage("hip", "y", (-0.02, 0.0, 0.0), rest=0.6, shift=0.020, case="-y", lean="+z", servo=FAST),
            Stage("knee", "y", (0.0, 0.0, -_LINK), rest=-1.2, shift=0.020, case="-y", lean="+z", servo=FAST),
        ),
        (Tip("rubber ball foot 30 mm", (0.0, 0.0, -_LINK)),),
        mirror=False,
    )
    foot_level = 2.0 * _LINK * 0.8253356149096783 + 0.015
    wheel = Limb("wheel", (), (Tip("inline wheel 40 mm", (-0.05, 0.0, 0.02 - foot_level)),), mirror=False)
    source = "after Creature3 of Geilinger et al. 2018, Table 1; dimensions ours, masses from the components"
    return Robot("creature3", chassis, (_leg("F", (0.09, 0.08, 0.0), 0.6), hind, wheel), source=source)
