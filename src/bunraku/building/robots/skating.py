"""Robots that skate: feet of two passive wheels in line."""

from __future__ import annotations

from bunraku.building.robot import CarriedPayload, Chassis, Direction, Limb, Robot, Stage, Tip
from bunraku.character.description import Vector3

_SOURCE = "after {} of Geilinger et al. 2018, Table 1; dimensions ours, masses from the components"
_GREEN = (0.45, 0.62, 0.33, 1.0)


def _skating_leg(name: str, hip: Vector3) -> Limb:
    """X, X, X, Z above two wheels in line."""
    front = 1.0 if hip[0] > 0.0 else -1.0
    behind: Direction = "-x" if front > 0.0 else "+x"
    return Limb(
        name,
        (
            Stage("hip", "x", hip, rest=0.5, shift=0.004 * front, case=behind, lean="+z"),
            Stage("knee", "x", (0.0, 0.0, -0.10), rest=-0.9, shift=0.004 * front, case=behind, lean="+z"),
            Stage("ankle", "x", (0.0, 0.0, -0.08), rest=0.4, shift=-0.040 * front, case=behind, lean="+z"),
            Stage("steer", "z", (0.0, 0.0, -0.02), shift=0.004, case="+z", lean=behind, servo="Dynamixel XL430-W250"),
        ),
        (
            Tip("inline wheel 36 mm", (0.035, 0.0, -0.022), name="1"),
            Tip("inline wheel 36 mm", (-0.035, 0.0, -0.022), name="2"),
        ),
    )


def _skating(name: str, more: tuple[Limb, ...], color: tuple[float, float, float, float]) -> Robot:
    chassis = Chassis(
        (0.25, 0.13, 0.05),
        carries=(CarriedPayload("battery 3S 1300 mAh", (0.0, 0.0, -0.008)), CarriedPayload("small controller", (0.0, 0.0, 0.015))),
        color=color,
    )
    legs = (_skating_leg("F", (0.13, 0.05, 0.0)), _skating_leg("H", (-0.13, 0.05, 0.0)))
    return Robot(name, chassis, (*legs, *more), source=_SOURCE.format(name.capitalize()))


def skatebot() -> Robot:
    """Four legs X, X, X, Z on two wheels each: it strokes like a skater."""
    return _skating("skatebot", (), (0.30, 0.58, 0.66, 1.0))


def dinobot() -> Robot:
    """Skatebot with a neck that turns its head."""
    neck = Limb(
        "neck",
        (Stage("turn", "z", (0.13, 0.0, 0.03), reach=1.0, shift=0.0, case="-z", lean="-x", servo="Dynamixel XL430-W250"),),
        mirror=False,
        end_mass=0.14,
        end_size=(0.10, 0.06, 0.04),
        end_offset=(0.03, 0.0, 0.055),
        end_color=_GREEN,
    )
    return _skating("dinobot", (neck,), _GREEN)
