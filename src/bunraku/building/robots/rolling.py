"""Robots on wheels at the ends of legs: Swizzlebot and Brainbot on passive ones, Agilebot and its relatives on driven ones."""

from __future__ import annotations

from bunraku.building.printing import THIN_PLA
from bunraku.building.robot import CarriedPayload, Chassis, Color, Direction, Limb, Robot, Stage, Tip
from bunraku.character.description import Vector3

_SOURCE = "after {} of Geilinger et al. 2018, Table 1; dimensions ours, masses from the components"
STEER = "Dynamixel XL430-W250"


def _swizzle_leg(name: str, hip: Vector3) -> Limb:
    """X, X, Z above a passive wheel: the upper leg leans out, the lower one stands upright."""
    front = 1.0 if hip[0] > 0.0 else -1.0
    behind: Direction = "-x" if front > 0.0 else "+x"
    return Limb(
        name,
        (
            Stage("hip", "x", hip, rest=0.6, shift=0.004 * front, case=behind, lean="+z"),
            Stage("knee", "x", (0.0, 0.0, -0.09), rest=-0.6, shift=0.004 * front, case=behind, lean="+z"),
            Stage("ankle", "z", (0.0, 0.0, -0.07), shift=0.008, case="+z", lean=behind, servo=STEER),
        ),
        (Tip("inline wheel 50 mm", (0.0, 0.0, -0.025)),),
    )


def swizzlebot() -> Robot:
    """Four legs X, X, Z on passive wheels: it pushes itself forward by swizzling."""
    chassis = Chassis(
        (0.215, 0.13, 0.05),
        carries=(CarriedPayload("battery 3S 2200 mAh", (0.0, 0.0, -0.008)), CarriedPayload("controller", (0.0, 0.0, 0.015))),
        color=(0.85, 0.40, 0.20, 1.0),
    )
    legs = (_swizzle_leg("F", (0.11, 0.05, 0.0)), _swizzle_leg("H", (-0.11, 0.05, 0.0)))
    return Robot("swizzlebot", chassis, legs, source=_SOURCE.format("Swizzlebot"))


def brainbot() -> Robot:
    """Two front legs X, X, Z and one hind leg Y, Y, Z on three passive wheels."""
    chassis = Chassis(
        (0.165, 0.145, 0.06),
        carries=(CarriedPayload("battery 3S 2200 mAh", (0.0, 0.0, -0.012)), CarriedPayload("controller", (0.0, 0.0, 0.018))),
        color=(0.78, 0.45, 0.62, 1.0),
    )
    hind = Limb(
        "H",
        (
            Stage("hip", "y", (-0.10, 0.0, 0.0), rest=0.6, shift=0.020, case="-y", lean="+x"),
            Stage("knee", "y", (0.0, 0.0, -0.09), rest=-0.6, shift=0.020, case="-y", lean="+z"),
            Stage("ankle", "z", (0.0, 0.0, -0.07), shift=0.008, case="+z", lean="+x", servo=STEER),
        ),
        (Tip("inline wheel 50 mm", (0.0, 0.0, -0.025)),),
        mirror=False,
    )
    return Robot("brainbot", chassis, (_swizzle_leg("F", (0.08, 0.06, 0.0)), hind), source=_SOURCE.format("Brainbot"))


def _agile_leg(name: str, hip: Vector3, links: tuple[float, float], bends: tuple[float, float]) -> Limb:
    """X, Y, Y, Z above a driven wheel; ``links`` thigh and shin, ``bends`` of hip and knee of the front legs."""
    front = 1.0 if hip[0] > 0.0 else -1.0
    behind: Direction = "-x" if front > 0.0 else "+x"
    return Limb(
        name,
        (
            Stage("roll", "x", hip, shift=-0.018 * front, case=behind, lean="+z"),
            Stage("hip", "y", (0.0, 0.02, 0.0), rest=bends[0] * front, shift=0.004, case="-y", lean="+z"),
            Stage("knee", "y", (0.0, 0.0, -links[0]), rest=bends[1] * front, shift=0.004, case="-y", lean="+z"),
            Stage("ankle", "z", (0.0, 0.0, -links[1]), shift=0.008, case="+z", lean=behind, servo=STEER),
        ),
        (Tip("driven wheel 60 mm", (0.0, 0.0, -0.03)),),
    )


def _agile(
    name: str, hip: Vector3, links: tuple[float, float], color: Color, source: str, bends: tuple[float, float] = (0.5, -0.9)
) -> Robot:
    chassis = Chassis(
        (2.0 * hip[0] - 0.04, 0.13, 0.05),
        carries=(CarriedPayload("battery 3S 1300 mAh", (0.0, 0.0, -0.01)), CarriedPayload("small controller", (0.0, 0.0, 0.015))),
        color=color,
    )
    legs = (_agile_leg("F", hip, links, bends), _agile_leg("H", (-hip[0], hip[1], hip[2]), links, bends))
    return Robot(name, chassis, legs, material=THIN_PLA, source=source)


def agilebot() -> Robot:
    """Four legs X, Y, Y, Z on driven wheels: it drives, turns in place, steps aside."""
    return _agile("agilebot", (0.12, 0.07, 0.0), (0.09, 0.07), (0.32, 0.60, 0.42, 1.0), _SOURCE.format("Agilebot"))


def agilebot_tall() -> Robot:
    """Agilebot on longer legs and a shorter wheelbase, its centre of mass so high that it topples when it brakes hard."""
    source = "Agilebot with longer legs; own design"
    return _agile("agilebot-tall", (0.085, 0.07, 0.0), (0.20, 0.19), (0.62, 0.68, 0.30, 1.0), source, (-0.4, 0.9))


def reacher() -> Robot:
    """Agilebot on legs too short for what is asked of it; it is there to grow (Fig. 5)."""
    source = "Agilebot with shorter legs; own design, for the growing robot of Fig. 5"
    return _agile("reacher", (0.12, 0.07, 0.0), (0.06, 0.06), (0.55, 0.42, 0.66, 1.0), source)
