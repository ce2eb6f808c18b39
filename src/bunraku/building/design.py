"""Designs: which numbers of a robot may change, within which bounds, and the character that a choice of them makes.

Whatever offers these is a design: ``names``, ``initial`` (n,), ``lower`` (n,), ``upper`` (n,) and ``character(p)``, pure and
smooth in p. Mirrored limbs share their numbers, so every choice is symmetric. Lengths [m].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.errors import BadInput


@dataclass(frozen=True)
class Parameter:
    """One number of a design [m], with its bounds."""

    name: str
    value: float
    low: float
    high: float

    def __post_init__(self) -> None:
        if not self.low <= self.value <= self.high:
            raise BadInput(f"the parameter {self.name!r} is {self.value:g}, outside its bounds {self.low:g} to {self.high:g}")


@dataclass(frozen=True)
class Design:
    """The numbers of a robot that may change, and ``make``, which turns a choice of them (n,) into a character."""

    name: str
    parameters: tuple[Parameter, ...]
    make: Callable[[Array], Character]

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters' names."""
        return tuple(parameter.name for parameter in self.parameters)

    @property
    def initial(self) -> Array:
        """The design as it is, (n,)."""
        return np.array([parameter.value for parameter in self.parameters])

    @property
    def lower(self) -> Array:
        """The least values that can be built, (n,)."""
        return np.array([parameter.low for parameter in self.parameters])

    @property
    def upper(self) -> Array:
        """The largest values that can be built, (n,)."""
        return np.array([parameter.high for parameter in self.parameters])

    def character(self, p: ArrayLike) -> Character:
        """The character of the parameters ``p`` (n,); bounds are not asked here, so that derivatives can be taken at them."""
        values = np.asarray(p, dtype=np.float64)
        if values.shape != (len(self.parameters),) or not np.isfinite(values).all():
            raise BadInput(f"the design {self.name!r} takes {len(self.parameters)} finite numbers, got {values.shape}")
        return self.make(values)

    def index(self, name: str) -> int:
        """The place of a parameter; raises BadInput with the known names when there is none of that name."""
        if name not in self.names:
            raise BadInput(f"the design {self.name!r} has no parameter {name!r}; it has {', '.join(self.names)}")
        return self.names.index(name)

    def edited(self, p: ArrayLike | None = None, /, **changes: float) -> Array:
        """A copy of ``p`` (or of the initial design) with some parameters set; underscores in names stand for spaces too."""
        values = self.initial if p is None else np.array(p, dtype=np.float64)
        for name, value in changes.items():
            values[self.index(name if name in self.names else name.replace("_", " "))] = value
        return values

    def only(self, *names: str) -> Design:
        """The same design with only these parameters left to change, the others fixed as they are."""
        chosen = np.array([self.index(name) for name in names], dtype=np.int64)
        whole, make = self.initial, self.make

        def make_some(p: Array) -> Character:
            values = whole.copy()
            values[chosen] = p
            return make(values)

        return Design(self.name, tuple(self.parameters[index] for index in chosen), make_some)

    def within(self, p: ArrayLike) -> Array:
        """The nearest parameters (n,) inside the bounds."""
        return np.clip(np.asarray(p, dtype=np.float64), self.lower, self.upper)
