"""The built-in robots with legs and wheels, by name; all but the walker after those of Geilinger et al. 2018.

Their dimensions are ours, masses come from the components. A leg is described on the left; the hind ones face backwards.
"""

from __future__ import annotations

from collections.abc import Callable
from math import cos, radians, sin

from bunraku.building.robot import CarriedPayload, Chassis, Color, Direction, Limb, Robot, Stage, Tip
from bunraku.building.tips import THIN_PLA
from bunraku.character.description import Vector3
from bunraku.errors import BadInput

FAST = "Dynamixel XM430-W210 at 14.8 V"
STEER = "Dynamixel XL430-W250"
_DRIVE = "Dynamixel AX-12W"
_LINK = 0.09
_GREEN = (0.45, 0.62, 0.33, 1.0)
_FOOT = Tip("rubber ball foot 30 mm", (0.0, 0.0, -_LINK))
_WHEEL = Tip("inline wheel 50 mm", (0.0, 0.0, -0.025))


def _source(name: str) -> str:
    return f"after {name} of Geilinger et al. 2018, Table 1; dimensions ours, masses from the components"


def _chassis(size: Vector3, battery: tuple[str, float], controller: tuple[str, float], color: Color) -> Chassis:
    """A body with a battery and a controller, each at a height [m] over its middle."""
    return Chassis(size, carries=tuple(CarriedPayload(name, (0.0, 0.0, z)) for name, z in (battery, controller)), color=color)


def _pair(leg: Callable[[str, Vector3], Limb], hip: Vector3) -> tuple[Limb, Limb]:
    """Front and hind legs, their hips as far before as behind the middle."""
    return leg("F", hip), leg("H", (-hip[0], hip[1], hip[2]))


def _facing(hip: Vector3) -> tuple[float, Direction]:
    """+1 for a front leg, -1 for a hind one, and the direction towards the middle of the body."""
    return (1.0, "-x") if hip[0] > 0.0 else (-1.0, "+x")


def _swizzle_leg(name: str, hip: Vector3) -> Limb:
    """X, X, Z above a passive wheel: the upper leg leans out, the lower one stands upright."""
    front, behind = _facing(hip)
    stages = (
        Stage("hip", "x", hip, rest=0.6, shift=0.004 * front, case=behind, lean="+z"),
        Stage("knee", "x", (0.0, 0.0, -0.09), rest=-0.6, shift=0.004 * front, case=behind, lean="+z"),
        Stage("ankle", "z", (0.0, 0.0, -0.07), shift=0.008, case="+z", lean=behind, servo=STEER),
    )
    return Limb(name, stages, (_WHEEL,))


def swizzlebot() -> Robot:
    """Four legs X, X, Z on passive wheels: it pushes itself forward by swizzling."""
    color = (0.85, 0.40, 0.20, 1.0)
    chassis = _chassis((0.215, 0.13, 0.05), ("battery 3S 2200 mAh", -0.008), ("controller", 0.015), color)
    return Robot("swizzlebot", chassis, _pair(_swizzle_leg, (0.11, 0.05, 0.0)), source=_source("Swizzlebot"))


def brainbot() -> Robot:
    """Two front legs X, X, Z and one hind leg Y, Y, Z on three passive wheels."""
    color = (0.78, 0.45, 0.62, 1.0)
    chassis = _chassis((0.165, 0.145, 0.06), ("battery 3S 2200 mAh", -0.012), ("controller", 0.018), color)
    hind = (
        Stage("hip", "y", (-0.10, 0.0, 0.0), rest=0.6, shift=0.020, case="-y", lean="+x"),
        Stage("knee", "y", (0.0, 0.0, -0.09), rest=-0.6, shift=0.020, case="-y", lean="+z"),
        Stage("ankle", "z", (0.0, 0.0, -0.07), shift=0.008, case="+z", lean="+x", servo=STEER),
    )
    legs = (_swizzle_leg("F", (0.08, 0.06, 0.0)), Limb("H", hind, (_WHEEL,), mirror=False))
    return Robot("brainbot", chassis, legs, source=_source("Brainbot"))


def _agile(
    name: str, hip: Vector3, links: tuple[float, float], color: Color, source: str, bends: tuple[float, float] = (0.5, -0.9)
) -> Robot:
    """Legs X, Y, Y, Z above driven wheels; ``links`` thigh and shin, ``bends`` of hip and knee of the front legs."""

    def leg(name: str, hip: Vector3) -> Limb:
        front, behind = _facing(hip)
        stages = (
            Stage("roll", "x", hip, shift=-0.018 * front, case=behind, lean="+z"),
            Stage("hip", "y", (0.0, 0.02, 0.0), rest=bends[0] * front, shift=0.004, case="-y", lean="+z"),
            Stage("knee", "y", (0.0, 0.0, -links[0]), rest=bends[1] * front, shift=0.004, case="-y", lean="+z"),
            Stage("ankle", "z", (0.0, 0.0, -links[1]), shift=0.008, case="+z", lean=behind, servo=STEER),
        )
        return Limb(name, stages, (Tip("driven wheel 60 mm", (0.0, 0.0, -0.03)),))

    size = (2.0 * hip[0] - 0.04, 0.13, 0.05)
    chassis = _chassis(size, ("battery 3S 1300 mAh", -0.01), ("small controller", 0.015), color)
    return Robot(name, chassis, _pair(leg, hip), material=THIN_PLA, source=source)


def agilebot() -> Robot:
    """Four legs X, Y, Y, Z on driven wheels: it drives, turns in place, steps aside."""
    return _agile("agilebot", (0.12, 0.07, 0.0), (0.09, 0.07), (0.32, 0.60, 0.42, 1.0), _source("Agilebot"))


def agilebot_tall() -> Robot:
    """Agilebot on longer legs and a shorter wheelbase, its centre of mass so high that it topples when it brakes hard."""
    source = "Agilebot with longer legs; own design"
    return _agile("agilebot-tall", (0.085, 0.07, 0.0), (0.20, 0.19), (0.62, 0.68, 0.30, 1.0), source, (-0.4, 0.9))


def reacher() -> Robot:
    """Agilebot on legs too short for what is asked of it; it is there to grow (Fig. 5)."""
    source = "Agilebot with shorter legs; own design, for the growing robot of Fig. 5"
    return _agile("reacher", (0.12, 0.07, 0.0), (0.06, 0.06), (0.55, 0.42, 0.66, 1.0), source)


def _skating_leg(name: str, hip: Vector3) -> Limb:
    """X, X, X, Z above two wheels in line."""
    front, behind = _facing(hip)
    stages = (
        Stage("hip", "x", hip, rest=0.5, shift=0.004 * front, case=behind, lean="+z"),
        Stage("knee", "x", (0.0, 0.0, -0.10), rest=-0.9, shift=0.004 * front, case=behind, lean="+z"),
        Stage("ankle", "x", (0.0, 0.0, -0.08), rest=0.4, shift=-0.040 * front, case=behind, lean="+z"),
        Stage("steer", "z", (0.0, 0.0, -0.02), shift=0.004, case="+z", lean=behind, servo=STEER),
    )
    return Limb(name, stages, tuple(Tip("inline wheel 36 mm", (x, 0.0, -0.022), name=k) for x, k in ((0.035, "1"), (-0.035, "2"))))


def _skating(name: str, more: tuple[Limb, ...], color: Color) -> Robot:
    chassis = _chassis((0.25, 0.13, 0.05), ("battery 3S 1300 mAh", -0.008), ("small controller", 0.015), color)
    return Robot(name, chassis, (*_pair(_skating_leg, (0.13, 0.05, 0.0)), *more), source=_source(name.capitalize()))


def skatebot() -> Robot:
    """Four legs X, X, X, Z on two wheels each: it strokes like a skater."""
    return _skating("skatebot", (), (0.30, 0.58, 0.66, 1.0))


def dinobot() -> Robot:
    """Skatebot with a neck that turns its head."""
    turn = Stage("turn", "z", (0.13, 0.0, 0.03), reach=1.0, shift=0.0, case="-z", lean="-x", servo=STEER)
    head = {"end_mass": 0.14, "end_size": (0.10, 0.06, 0.04), "end_offset": (0.03, 0.0, 0.055), "end_color": _GREEN}
    return _skating("dinobot", (Limb("neck", (turn,), mirror=False, **head),), _GREEN)  # type: ignore[arg-type]


def _walking_leg(name: str, hip: Vector3) -> Limb:
    """X, Y, Y above a ball foot that stands below the hip: the knee bends twice as far back as the hip."""
    front, behind = _facing(hip)
    stages = (
        Stage("roll", "x", hip, shift=-0.018 * front, case=behind, lean="+z", servo=FAST),
        Stage("hip", "y", (0.0, 0.02, 0.0), rest=0.6 * front, shift=0.004, case="-y", lean="+z", servo=FAST),
        Stage("knee", "y", (0.0, 0.0, -_LINK), rest=-1.2 * front, shift=0.004, case="-y", lean="+z", servo=FAST),
    )
    return Limb(name, stages, (_FOOT,))


def walker() -> Robot:
    """Four legs X, Y, Y of three servos each with ball feet: it crawls and trots."""
    color = (0.24, 0.46, 0.70, 1.0)
    chassis = _chassis((0.165, 0.125, 0.05), ("battery 4S 1800 mAh", -0.006), ("controller", 0.015), color)
    source = "four-legged walker; own design, masses from the components"
    return Robot("walker", chassis, _pair(_walking_leg, (0.10, 0.06, 0.0)), source=source)


def creature3() -> Robot:
    """Three legs X, Y, Y with ball feet and a passive wheel behind the middle of the body, at the height of the feet."""
    carries = (CarriedPayload("battery 4S 1800 mAh", (0.0, 0.0, -0.006)), CarriedPayload("controller", (0.012, 0.0, 0.015)))
    chassis = Chassis((0.15, 0.12, 0.05), carries=carries, color=(0.90, 0.68, 0.25, 1.0))
    hind = (
        Stage("roll", "x", (-0.10, 0.0, 0.0), shift=0.012, case="+x", lean="+z", servo=FAST),
        Stage("hip", "y", (-0.02, 0.0, 0.0), rest=0.6, shift=0.020, case="-y", lean="+z", servo=FAST),
        Stage("knee", "y", (0.0, 0.0, -_LINK), rest=-1.2, shift=0.020, case="-y", lean="+z", servo=FAST),
    )
    foot_level = 2.0 * _LINK * 0.8253356149096783 + 0.015
    wheel = Limb("wheel", (), (Tip("inline wheel 40 mm", (-0.05, 0.0, 0.02 - foot_level)),), mirror=False)
    legs = (_walking_leg("F", (0.09, 0.08, 0.0)), Limb("H", hind, (_FOOT,), mirror=False), wheel)
    return Robot("creature3", chassis, legs, source=_source("Creature3"))


def _car(name: str, tilt: float, color: Color) -> Robot:
    """Four driven wheels on one body, the axles of the front ones tilted (section 5)."""
    carries = (
        CarriedPayload("battery 3S 2200 mAh", (0.0, 0.0, 0.0)),
        CarriedPayload("controller", (0.0, 0.0, 0.01)),
        *(CarriedPayload("ballast 50 g", (x, y, -0.01)) for x in (-0.06, 0.0, 0.06) for y in (-0.025, 0.025)),
    )
    axle = (0.0, cos(tilt), -sin(tilt))
    wheels = (
        Limb("F", (), (Tip("driven wheel 60 mm", (0.10, 0.08, -0.02), axis=axle, servo=_DRIVE),)),
        Limb("H", (), (Tip("driven wheel 60 mm", (-0.10, 0.08, -0.02), servo=_DRIVE),)),
    )
    source = "the simple car of Geilinger et al. 2018, section 5; dimensions ours, masses from the components"
    return Robot(name, Chassis((0.20, 0.10, 0.04), carries=carries, color=color), wheels, source=source)


def car() -> Robot:
    """Four parallel driven wheels on one body."""
    return _car("car", 0.0, (0.80, 0.24, 0.24, 1.0))


def tilted_car() -> Robot:
    """The car with the axles of its front wheels tilted by 45 degrees about x: that lifts them by r (1 - cos 45°)."""
    return _car("tilted-car", radians(45.0), (0.80, 0.35, 0.24, 1.0))


ROBOTS: dict[str, Callable[[], Robot]] = {
    "swizzlebot": swizzlebot,
    "creature3": creature3,
    "brainbot": brainbot,
    "agilebot": agilebot,
    "agilebot-tall": agilebot_tall,
    "skatebot": skatebot,
    "dinobot": dinobot,
    "walker": walker,
    "car": car,
    "tilted-car": tilted_car,
    "reacher": reacher,
}
"""What makes each robot."""


def built_in_robot(name: str) -> Robot:
    """The robot of that name, as components; raises BadInput with the known names when there is none."""
    if name not in ROBOTS:
        raise BadInput(f"{name!r} is no built-in robot made of components; there are {', '.join(ROBOTS)}")
    return ROBOTS[name]()
