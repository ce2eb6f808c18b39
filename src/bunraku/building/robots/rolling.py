"""Robots on wheels at the ends of legs: Swizzlebot on passive, Agilebot on driven ones."""

from __future__ import annotations

from bunraku.building.robot import Carried, Chassis, Limb, Robot, Stage, Tip

__all__ = ["agilebot", "swizzlebot"]


def _swizzle_leg(name: str, hip: tuple[float, float, float]) -> Limb:
    behind = "-x" if hip[0] > 0 else "+x"
    shift = 0.004 if hip[0] > 0 else -0.004
    return Limb(
        name,
        (
            Stage("hip", "x", hip, rest=0.6, shift=shift, case=behind, lean="+z"),
            Stage("knee", "x", (0.0, 0.0, -0.09), rest=-0.6, shift=shift, case=behind, lean="+z"),
            Stage("ankle", "z", (0.0, 0.0, -0.06), shift=0.008, case="+z", lean=behind, servo="Dynamixel XL430-W250"),
        ),
        (Tip("inline wheel 50 mm", (0.0, 0.0, -0.025)),),
    )


def swizzlebot() -> Robot:
    """Four legs X, X, Z on passive wheels: pushes itself forward by swizzling."""
    chassis = Chassis(
        (0.215, 0.13, 0.05),
        carries=(Carried("battery 3S 2200 mAh", (0.0, 0.0, -0.008)), Carried("controller", (0.0, 0.0, 0.015))),
        color=(0.85, 0.40, 0.20, 1.0),
    )
    legs = (_swizzle_leg("F", (0.11, 0.05, 0.0)), _swizzle_leg("H", (-0.11, 0.05, 0.0)))
    return Robot("swizzlebot", chassis, legs, source="after Swizzlebot, Table 1 of the paper; dimensions of our studies")


def _agile_leg(name: str, hip: tuple[float, float, float], thigh: float, shin: float) -> Limb:
    front = 1.0 if hip[0] > 0 else -1.0
    behind = "-x" if front > 0 else "+x"
    return Limb(
        name,
        (
            Stage("roll", "x", hip, shift=-0.018 * front, case=behind, lean="+z"),
            Stage("hip", "y", (0.0, 0.02, 0.0), rest=0.5 * front, shift=0.004, case="-y", lean="+z"),
            Stage("knee", "y", (0.0, 0.0, -thigh), rest=-0.9 * front, shift=0.004, case="-y", lean="+z"),
            Stage("ankle", "z", (0.0, 0.0, -shin), shift=0.008, case="+z", lean=behind, servo="Dynamixel XL430-W250"),
        ),
        (Tip("driven wheel 60 mm", (0.0, 0.0, -0.03)),),
    )


def agilebot() -> Robot:
    """Four legs X, Y, Y, Z on driven wheels: drives, turns in place, steps aside."""
    chassis = Chassis(
        (0.20, 0.13, 0.05),
        carries=(Carried("battery 3S 2200 mAh", (0.0, 0.0, -0.008)), Carried("controller", (0.0, 0.0, 0.015))),
        color=(0.32, 0.60, 0.42, 1.0),
    )
    legs = (_agile_leg("F", (0.12, 0.07, 0.0), 0.09, 0.07), _agile_leg("H", (-0.12, 0.07, 0.0), 0.09, 0.07))
    return Robot("agilebot", chassis, legs, source="after Agilebot, Table 1 of the paper; dimensions of our studies")
