"""What printed parts are made of, and the masses a robot carries: batteries, controllers."""

from __future__ import annotations

from dataclasses import dataclass

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
