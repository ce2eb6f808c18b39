"""The component library: motors, printed connectors, rigid links, wheels, feet, flexible rods, strings, what is carried.

Every component says which dimensions it takes, with meaning, unit, bounds and default; widgets are made from that. Lengths [m],
angles [rad], masses [kg]. What bars and rods are made of stands here too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from math import pi, radians
from typing import Any, Literal

from bunraku.building.servos import SERVOS
from bunraku.building.tips import PAYLOADS, TIPS
from bunraku.character import ElasticMaterial
from bunraku.errors import BadInput

BRASS_DENSITY = 8500.0
"""Of the balls at the ends of rods [kg/m³]."""


@dataclass(frozen=True)
class Bar:
    """A round bar that does not bend: density [kg/m³] and usual thickness [m]."""

    name: str
    density: float
    thickness: float
    color: tuple[float, float, float, float]
    source: str


BARS: dict[str, Bar] = {
    rod.name: rod
    for rod in (
        Bar("aluminium bar", 2700.0, 0.008, (0.66, 0.68, 0.71, 1.0), "aluminium, 2700 kg/m³"),
        Bar("beech bar", 700.0, 0.012, (0.72, 0.50, 0.30, 1.0), "solid beech, 700 kg/m³"),
    )
}

RODS: dict[str, ElasticMaterial] = {
    material.name: material
    for material in (
        ElasticMaterial(
            name="spring-steel",
            young=200e9,
            poisson=0.3,
            density=7850.0,
            strain_damping=7.4e-4,
            source="spring steel; the damping of a 0.7 m rod with 0.1 kg at its tip is 0.5 % of critical",
        ),
        ElasticMaterial(
            name="PLA",
            young=3.5e9,
            poisson=0.36,
            density=1240.0,
            strain_damping=7.4e-4,
            source="polylactide as printed, solid; its damping is that of the spring steel: measure yours (bunraku fit)",
        ),
    )
}


ComponentKind = Literal["motor", "connector", "link", "wheel", "foot", "rod", "string", "payload"]
KINDS: tuple[ComponentKind, ...] = ("motor", "connector", "link", "wheel", "foot", "rod", "string", "payload")
"""The kinds of components in the order of the library."""
Value = float | str
_SLACK = 1e-6


@dataclass(frozen=True)
class Dimension:
    """A number that a component takes, or one of its ``choices``. ``unit``: m, rad, kg or none."""

    name: str
    default: Value
    meaning: str
    unit: str = "m"
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()

    @property
    def metadata(self) -> dict[str, Any]:
        """Meaning, unit and bounds as the options of performers have them."""
        return {"meaning": self.meaning, "unit": self.unit, "low": self.low, "high": self.high}


@dataclass(frozen=True)
class Component:
    """A component: its kind, what it weighs with default dimensions [kg], its figures in a line, what can be chosen."""

    name: str
    kind: ComponentKind
    mass: float
    figures: str
    dimensions: tuple[Dimension, ...]
    source: str = ""

    @property
    def defaults(self) -> dict[str, Value]:
        """Its dimensions as they are when nothing is said."""
        return {dimension.name: dimension.default for dimension in self.dimensions}

    def checked(self, given: Mapping[str, Value]) -> dict[str, Value]:
        """All dimensions, the ``given`` ones in place of defaults; BadInput for unknown ones and those out of bounds."""
        known = {dimension.name: dimension for dimension in self.dimensions}
        for name, value in given.items():
            if name not in known:
                raise BadInput(f"the component {self.name!r} takes no {name!r}; it takes {', '.join(known)}")
            _check(self.name, known[name], value)
        numbers = {name: value if known[name].choices else float(value) for name, value in given.items()}
        return self.defaults | numbers


def _check(component: str, dimension: Dimension, value: Value) -> None:
    where = f"{dimension.name} of {component!r}"
    if dimension.choices:
        if value not in dimension.choices:
            raise BadInput(f"the {where} is {value!r}; choose one of {', '.join(dimension.choices)}")
        return
    if isinstance(value, (str, bool)) or not isinstance(value, (int, float)) or value != value:
        raise BadInput(f"the {where} is {value!r}; give a number in {dimension.unit or 'no unit'}")
    low, high = dimension.low, dimension.high
    if (low is not None and value < low - _SLACK) or (high is not None and value > high + _SLACK):
        raise BadInput(f"the {where} is {value:g} {dimension.unit}; it goes from {low:g} to {high:g} {dimension.unit}")


_SHIFT = (
    Dimension("x", 0.0, "moved along the socket's x axis, forward where it can be", low=-0.3, high=0.3),
    Dimension("y", 0.0, "moved along the socket's y axis", low=-0.3, high=0.3),
)
_TURN = Dimension("turn", 0.0, "turned about the socket's outward normal", "rad", -pi, pi)
_TILT = Dimension("tilt", 0.0, "leaning from the normal towards the socket's x axis", "rad", -radians(80.0), radians(80.0))


def library() -> dict[str, Component]:
    """All components by name, in the order of `KINDS`."""
    return dict(_library())


def component(name: str) -> Component:
    """The component of that name; raises BadInput with some names when there is none."""
    known = _library()
    if name not in known:
        raise BadInput(f"no component {name!r} in the library; it holds {', '.join(list(known)[:6])} and {len(known) - 6} more")
    return known[name]


@cache
def _library() -> dict[str, Component]:
    from bunraku.building.components.making import weight_of

    entries = (*_motors(), *_links(), *_tips(), *_rods(), *_strings(), *_payloads())
    return {entry.name: replace(entry, mass=weight_of(entry, entry.defaults)) for entry in entries}


def _motors() -> Iterator[Component]:
    for entry in SERVOS.values():
        figures = (
            f"stall {entry.stall_torque:g} N·m, {entry.no_load_speed:.1f} rad/s, {1e3 * entry.mass:.0f} g, "
            f"{' x '.join(f'{1e3 * side:.0f}' for side in entry.size)} mm"
        )
        sizes = (
            *_SHIFT,
            _TURN,
            Dimension(
                "shaft", "outward", "its shaft points along the normal, or lies across it", "", choices=("outward", "across")
            ),
            Dimension("sink", 0.0, "how deep its case is let in", low=0.0, high=max(entry.size)),
            Dimension("reach", pi / 2.0, "how far it turns to both sides", "rad", 0.05, pi),
        )
        yield Component(entry.name, "motor", 0.0, figures, sizes, entry.source)


def _links() -> Iterator[Component]:
    length = Dimension("length", 0.08, "from the socket to its far end", low=0.02, high=0.5)
    radius = Dimension("radius", 0.010, "of the printed tube, walls of 3 mm", low=0.005, high=0.04)
    sizes = (*_SHIFT, length, radius, _TURN, _TILT)
    yield Component("printed link", "connector", 0.0, "a tube with round ends, PLA, walls of 3 mm", sizes)
    for rod in BARS.values():
        thick = Dimension("thickness", rod.thickness, "of the bar", low=0.003, high=0.05)
        figures = f"a round bar, {rod.density:g} kg/m³"
        yield Component(rod.name, "link", 0.0, figures, (*_SHIFT, length, thick, _TURN, _TILT), rod.source)


def _tips() -> Iterator[Component]:
    for tip in TIPS.values():
        radius = Dimension("radius", tip.radius, "of the wheel or foot", low=0.5 * tip.radius, high=2.5 * tip.radius)
        stem = Dimension(
            "stem", 0.012, "free length between socket and rim, where it stands on a stem or fork", low=0.004, high=0.3
        )
        what = {
            "passive": "turns freely",
            "active": "driven: goes on the horn of a motor",
            "welded": "does not turn",
            "ball": "a ball",
        }
        figures = f"{what[tip.kind]}, {1e3 * tip.mass:.0f} g, friction {tip.friction:g}"
        if tip.rolling_resistance:
            figures += f", drag {tip.rolling_resistance:g} N·s/m"
        sizes = (radius,) if tip.kind == "active" else (*_SHIFT, _TURN, radius, stem)
        yield Component(tip.name, "foot" if tip.kind in ("ball", "welded") else "wheel", 0.0, figures, sizes, tip.source)


def _rods() -> Iterator[Component]:
    for material in RODS.values():
        sizes = (
            *_SHIFT,
            Dimension("length", 0.3, "of the rod", low=0.05, high=1.5),
            Dimension("diameter", 0.004, "of the rod", low=0.001, high=0.015),
            Dimension("weight", 0.05, "of the brass ball at its end", "kg", 0.005, 1.0),
            _TURN,
            _TILT,
        )
        figures = f"bends: {material.young / 1e9:g} GPa, {material.density:g} kg/m³; a brass ball at its end"
        yield Component(f"{material.name} rod", "rod", 0.0, figures, sizes, material.source)


def _strings() -> Iterator[Component]:
    sizes = (*_SHIFT, Dimension("length", 1.0, "from the hook straight up to its carriage", low=0.2, high=3.0))
    yield Component("string", "string", 0.0, "with a hook, a carriage on a plane and a winch", sizes)


def _payloads() -> Iterator[Component]:
    for entry in PAYLOADS.values():
        figures = f"{1e3 * entry.mass:.0f} g, {' x '.join(f'{1e3 * side:.0f}' for side in entry.size)} mm"
        yield Component(entry.name, "payload", 0.0, figures, (*_SHIFT, _TURN), entry.source)
