"""The small parts of the component library: filaments, what a robot carries, and the ends of limbs, wheels and ball feet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bunraku.character import Character
from bunraku.errors import BadInput


@dataclass(frozen=True)
class Filament:
    """A filament: its name, density [kg/m³] and the thickness of a printed wall [m]."""

    name: str
    density: float
    wall: float


PRINTER = (0.22, 0.22, 0.25)
"""Width, depth and height of the largest print of a usual printer [m], wherever no other printer is named."""

PLA = Filament("PLA", 1240.0, 0.003)
"""Polylactide as usually sold; walls of 3 mm."""

THIN_PLA = Filament("PLA, thin walls", 1240.0, 0.002)
"""The same with walls of 2 mm, where weight counts."""


@dataclass(frozen=True)
class Payload:
    """Something carried: a box of ``size`` [m] and ``mass`` [kg]."""

    name: str
    mass: float
    size: tuple[float, float, float]
    source: str


PAYLOADS: dict[str, Payload] = {
    entry.name: entry
    for entry in (
        Payload("battery 3S 1300 mAh", 0.11, (0.072, 0.035, 0.022), "typical of its class"),
        Payload("battery 3S 2200 mAh", 0.18, (0.105, 0.034, 0.024), "typical of its class"),
        Payload("battery 4S 1800 mAh", 0.21, (0.100, 0.034, 0.030), "typical of its class"),
        Payload("controller", 0.06, (0.105, 0.075, 0.016), "a servo controller board of the size of a hand, with cables"),
        Payload("small controller", 0.03, (0.060, 0.040, 0.014), "a servo controller board, with cables"),
        Payload("ballast 50 g", 0.05, (0.030, 0.030, 0.007), "a block of steel"),
    )
}
"""What can be carried, by name."""


def payload(name: str) -> Payload:
    """The payload of that name; raises BadInput naming the library when there is none."""
    if name not in PAYLOADS:
        raise BadInput(f"no payload {name!r} in the component library; it holds {', '.join(PAYLOADS)}")
    return PAYLOADS[name]


@dataclass(frozen=True)
class TipModel:
    """A wheel or ball foot: its kind, radius and width [m], mass [kg], friction on the ground, drag over speed [N·s/m]."""

    name: str
    kind: Literal["passive", "active", "welded", "ball"]
    radius: float
    width: float
    mass: float
    friction: float = 0.8
    rolling_resistance: float = 0.0
    source: str = ""

    def mass_of(self, radius: float) -> float:
        """The mass [kg] of one of another radius: a wheel's grows with its square, a ball's with its cube."""
        return self.mass * (radius / self.radius) ** (3 if self.kind == "ball" else 2)


_DRAG = "0.5 N·s/m: the value of the study this follows; let yours coast to a stop and measure it"
TIPS: dict[str, TipModel] = {
    entry.name: entry
    for entry in (
        TipModel("inline wheel 50 mm", "passive", 0.025, 0.008, 0.008, 0.8, 0.5, _DRAG),
        TipModel("inline wheel 40 mm", "passive", 0.020, 0.008, 0.006, 0.8, 0.5, _DRAG),
        TipModel("inline wheel 36 mm", "passive", 0.018, 0.006, 0.004, 0.8, 0.5, _DRAG),
        TipModel("driven wheel 60 mm", "active", 0.030, 0.012, 0.010, 0.8, 0.0, "rubber tyre on a printed rim"),
        TipModel("driven wheel 60 mm, light", "active", 0.030, 0.010, 0.008, 0.8, 0.0, "rubber ring on a printed rim"),
        TipModel("printed disc 30 mm", "welded", 0.015, 0.008, 0.006, 0.8, 0.0, "printed with the limb"),
        TipModel("rubber ball foot 30 mm", "ball", 0.015, 0.030, 0.008, 0.8, 0.0, "a rubber ball on a screw"),
    )
}


def tip_model(name: str) -> TipModel:
    """The wheel or foot of that name; raises BadInput naming the library when there is none."""
    if name not in TIPS:
        raise BadInput(f"no wheel or foot {name!r} in the component library; it holds {', '.join(TIPS)}")
    return TIPS[name]


def with_rolling_resistance(character: Character, drag: float) -> Character:
    """The character with the drag c [N·s/m] at every passive wheel, and the damping c r² [N·m·s/rad] of its axle with it."""
    spinning = {tip.body: tip for tip in character.end_effectors if tip.kind == "passive"}
    tips = tuple(tip.changed(rolling_resistance=drag) if tip.kind == "passive" else tip for tip in character.end_effectors)
    joints = tuple(
        joint.changed(damping=drag * spinning[joint.child].radius ** 2) if joint.child in spinning else joint
        for joint in character.joints
    )
    return character.changed(end_effectors=tips, joints=joints)
