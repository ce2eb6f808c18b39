"""Robots with legs and wheels, drawn from the component library. No question of its own."""

from __future__ import annotations

import numpy as np

from bunraku.building.assemble import assemble
from bunraku.building.robot import CarriedPayload, Chassis, Limb, Robot, Stage, Tip
from bunraku.character import Character
from bunraku.errors import BadInput

SERVOS = ("Dynamixel XM430-W210", "Dynamixel XM430-W210 at 14.8 V", "Dynamixel XH430-W350")
STEER = "Dynamixel XL430-W250"
BATTERIES = ("battery 3S 1300 mAh", "battery 3S 2200 mAh", "battery 4S 1800 mAh")


def drawn_robot(rng: np.random.Generator) -> tuple[Character, str]:
    """A robot that can be assembled, and in words what it stands on: two or three pairs of legs on balls or on driven wheels."""
    while True:
        try:
            return _drawn(rng)
        except BadInput:  # parts overlap: nobody could build it
            continue


def _drawn(rng: np.random.Generator) -> tuple[Character, str]:
    pairs, wheels = int(rng.integers(2, 4)), bool(rng.random() < 0.3)
    reach, aside = float(rng.uniform(0.08, 0.13)) * (pairs - 1.0), float(rng.uniform(0.055, 0.08))
    links = float(rng.uniform(0.065, 0.11)), float(rng.uniform(0.065, 0.11))
    bend, servo = float(rng.uniform(0.35, 0.75)), str(rng.choice(SERVOS))
    payloads = (CarriedPayload(str(rng.choice(BATTERIES)), (0.0, 0.0, -0.006)), CarriedPayload("controller", (0.0, 0.0, 0.015)))
    chassis = Chassis((2.0 * reach - 0.035, 2.0 * aside + 0.005, 0.05), carries=payloads)
    places = np.linspace(reach, -reach, pairs)
    limbs = tuple(
        _leg(f"{'FMH'[k] if pairs == 3 else 'FH'[k]}", float(x), aside, links, bend, servo, wheels) for k, x in enumerate(places)
    )
    name = f"{'roller' if wheels else 'walker'}{2 * pairs}"
    return assemble(Robot(name, chassis, limbs)), "driven wheels" if wheels else f"{2 * pairs} feet"


def _leg(name: str, x: float, aside: float, links: tuple[float, float], bend: float, servo: str, wheels: bool) -> Limb:
    """A leg at ``x`` [m] whose foot or wheel stands near below the hip; those in front bend forwards, the others backwards."""
    front = 1.0 if x >= 0.0 else -1.0
    behind = "-x" if front > 0.0 else "+x"
    knee = -bend - float(np.arcsin(np.clip(np.sin(bend) * links[0] / links[1], -0.9, 0.9)))
    stages = [
        Stage("roll", "x", (x, aside, 0.0), shift=-0.018 * front, case=behind, lean="+z", servo=servo),  # type: ignore[arg-type]
        Stage("hip", "y", (0.0, 0.02, 0.0), rest=bend * front, shift=0.004, case="-y", lean="+z", servo=servo),
        Stage("knee", "y", (0.0, 0.0, -links[0]), rest=knee * front, shift=0.004, case="-y", lean="+z", servo=servo),
    ]
    if not wheels:
        return Limb(name, tuple(stages), (Tip("rubber ball foot 30 mm", (0.0, 0.0, -links[1])),))
    stages.append(Stage("ankle", "z", (0.0, 0.0, -links[1]), shift=0.008, case="+z", lean=behind, servo=STEER))  # type: ignore[arg-type]
    return Limb(name, tuple(stages), (Tip("driven wheel 60 mm", (0.0, 0.0, -0.03)),))
