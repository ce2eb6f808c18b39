"""How a skin is to be made, as a recipe that can be edited, kept and undone."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bunraku.building.creatures.mechanism import TEMPLATES, template
from bunraku.errors import BadInput

Box = tuple[tuple[float, float, float], tuple[float, float, float]]


def _choice(default: Any, meaning: str, unit: str = "", low: float | None = None, high: float | None = None) -> Any:
    metadata = {"meaning": meaning, "unit": unit, "low": low, "high": high}
    if callable(default):
        return field(default_factory=default, metadata=metadata)
    return field(default=default, metadata=metadata)


@dataclass(frozen=True)
class SkinRecipe:
    """What a user chooses about a skin; every field says its meaning, unit and bounds in its metadata."""

    template: str = _choice("monster", "which mechanism goes inside")
    name: str = _choice("creature", "what it is called")
    thickness: float = _choice(0.004, "of the skin", "m", 0.001, 0.02)
    glue: int = _choice(160, "how many nodes of the skin are glued to the mechanism", "", 40, 1000)
    mass: float = _choice(0.0, "of the whole; 0: what it comes to with a small battery", "kg", 0.0, 100.0)
    teeth: int = _choice(1, "grooves of a fold; 0: smooth", "", 0, 4)
    folds: Mapping[str, bool] = _choice(dict, "whether the skin folds about a joint of the template, where other than it says")
    places: Mapping[str, float] = _choice(dict, "where along the leg a fold is: 0 at the torso, 1 at the foot")
    bonds: Mapping[str, float] = _choice(dict, "how much glue a body gets, over its share by area")
    soft: tuple[Box, ...] = _choice((), "boxes (lower and upper corner) in which the skin is soft and not glued", "m")

    def __post_init__(self) -> None:
        chosen = template(self.template)
        for one in dataclasses.fields(self):
            value, low, high = getattr(self, one.name), one.metadata["low"], one.metadata["high"]
            if low is not None and not low <= value <= high:
                raise BadInput(
                    f"the {one.name} of a skin is {value}; it goes from {low:g} to {high:g} {one.metadata['unit']}".rstrip()
                )
        joints = [joint.name for joint in chosen.joints]
        for what, given in (("folds", self.folds), ("places", self.places)):
            unknown = [name for name in given if name not in joints]
            if unknown:
                raise BadInput(f"the {what} of a skin name {unknown[0]!r}; the template {self.template!r} has {', '.join(joints)}")
        for what, numbers, high in (("places", self.places, 1.0), ("bonds", self.bonds, 20.0)):
            wrong = [name for name, value in numbers.items() if not 0.0 <= value <= high]
            if wrong:
                raise BadInput(f"the {what} of a skin have {numbers[wrong[0]]} at {wrong[0]!r}; they go from 0 to {high:g}")

    def changed(self, **fields: Any) -> SkinRecipe:
        """The same recipe with some choices replaced."""
        return dataclasses.replace(self, **fields)

    @property
    def joints(self) -> dict[str, bool]:
        """The joints of a leg from the hip down, and whether the skin folds about each."""
        return {joint.name: self.folds.get(joint.name, joint.fold) for joint in TEMPLATES[self.template].joints}

    def to_json(self) -> dict[str, Any]:
        """The recipe as plain data."""
        values = {one.name: getattr(self, one.name) for one in dataclasses.fields(self)}
        plain = {name: dict(value) if isinstance(value, Mapping) else value for name, value in values.items()}
        return plain | {"soft": [[list(corner) for corner in box] for box in self.soft]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> SkinRecipe:
        """The recipe of plain data; BadInput for what it does not know or take. What is left out is at its default."""
        known = {one.name: one for one in dataclasses.fields(cls)}
        values: dict[str, Any] = {}
        for name, value in data.items():
            if name not in known:
                raise BadInput(f"a skin has no {name!r}; it has {', '.join(known)}")
            try:
                values[name] = _READ[name](value)
            except (TypeError, ValueError, AttributeError) as error:
                raise BadInput(f"the {name} of a skin cannot be {str(value)[:60]!r}: {known[name].metadata['meaning']}") from error
        return cls(**values)


def _number(value: Any) -> float:
    if isinstance(value, (bool, str)) or not np.isfinite(value):
        raise TypeError("no number")
    return float(value)


def _count(value: Any) -> int:
    if _number(value) != int(value):
        raise ValueError("no whole number")
    return int(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("no text")
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError("neither true nor false")
    return value


def _box(value: Any) -> Box:
    (a, b, c), (x, y, z) = value
    return (_number(a), _number(b), _number(c)), (_number(x), _number(y), _number(z))


_READ: dict[str, Any] = {
    "template": _text,
    "name": _text,
    "thickness": _number,
    "glue": _count,
    "mass": _number,
    "teeth": _count,
    "folds": lambda value: {_text(name): _flag(part) for name, part in value.items()},
    "places": lambda value: {_text(name): _number(part) for name, part in value.items()},
    "bonds": lambda value: {_text(name): _number(part) for name, part in value.items()},
    "soft": lambda value: tuple(_box(box) for box in value),
}
