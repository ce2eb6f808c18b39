"""A choreography: motion primitives one after the other, when each begins, and what the score asks for at which time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from math import isfinite

from bunraku.errors import BadInput
from bunraku.motion.curves import JointCurves


@dataclass(frozen=True)
class Primitive:
    """A short motion with a name: joint ``curves`` from its own start, and the time ``stroke`` [s] of its most telling pose.

    ``built_in``: whether it is one of the library's, known everywhere by its name.
    """

    name: str
    curves: JointCurves
    stroke: float | None = None
    built_in: bool = False

    def __post_init__(self) -> None:
        if not self.name:
            raise BadInput("a primitive has no name; give it one")
        if self.curves.duration <= 0.0:
            raise BadInput(f"the primitive {self.name!r} lasts no time; it needs at least two samples")
        if self.stroke is not None and not 0.0 <= self.stroke <= self.curves.duration:
            raise BadInput(f"the stroke of {self.name!r} is at {self.stroke} s; it lasts from 0 to {self.curves.duration:g} s")


@dataclass(frozen=True)
class Mode:
    """A primitive in a show: from ``start`` [s] on it is followed, until the next mode begins."""

    primitive: str
    start: float


@dataclass(frozen=True)
class Accent:
    """What the score asks: at ``time`` [s] of the show the pose that ``primitive`` has at its own time ``moment`` [s].

    ``moment`` None: the primitive's stroke. ``width`` [s] is the standard deviation of the window around ``time`` in which the
    distance counts, ``weight`` how much. ``coordinates``: which of the primitive's coordinates; all if empty.
    """

    time: float
    primitive: str
    moment: float | None = None
    width: float = 0.15
    weight: float = 1.0
    coordinates: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "coordinates", tuple(self.coordinates))
        numbers = (self.time, self.width, self.weight, 0.0 if self.moment is None else self.moment)
        if not all(isfinite(number) for number in numbers):
            raise BadInput(f"the accent of {self.primitive!r} holds {self}; its numbers must be finite")
        if self.width <= 0.0 or self.weight < 0.0:
            raise BadInput(f"the accent of {self.primitive!r} has width {self.width} s and weight {self.weight}; both are positive")


@dataclass(frozen=True)
class Choreography:
    """The modes of a show of ``duration`` [s] in their order, the primitives they follow, and the score's accents.

    The first mode begins at 0; starts rise; accents lie inside the show and inside their primitives.
    """

    duration: float
    primitives: tuple[Primitive, ...]
    modes: tuple[Mode, ...]
    accents: tuple[Accent, ...] = ()

    def __post_init__(self) -> None:
        for field in ("primitives", "modes", "accents"):
            object.__setattr__(self, field, tuple(getattr(self, field)))
        if not (isfinite(self.duration) and 0.0 < self.duration <= 1e5):
            raise BadInput(f"a show of {self.duration} s cannot be made; give a duration between 0 and 100000 s")
        names = [primitive.name for primitive in self.primitives]
        if len(set(names)) < len(names):
            raise BadInput(f"two primitives are called {next(n for n in names if names.count(n) > 1)!r}; rename one")
        if not self.modes:
            raise BadInput("the choreography has no mode; list at least one primitive with its start")
        for mode in self.modes:
            self.primitive(mode.primitive)
            if not isfinite(mode.start):
                raise BadInput(f"{mode.primitive!r} starts at {mode.start}; a finite time is needed")
        if self.modes[0].start != 0.0:
            raise BadInput(f"the first mode starts at {self.modes[0].start:g} s; the show begins with it at 0")
        for a, b in pairwise(self.modes):
            if not b.start > a.start:
                raise BadInput(
                    f"{b.primitive!r} starts at {b.start:g} s, not after {a.primitive!r} at {a.start:g} s; starts must rise"
                )
        if self.modes[-1].start >= self.duration:
            last = self.modes[-1]
            raise BadInput(f"{last.primitive!r} starts at {last.start:g} s, outside the show of {self.duration:g} s")
        for accent in self.accents:
            self._check(accent)

    def _check(self, accent: Accent) -> None:
        primitive = self.primitive(accent.primitive)
        if not 0.0 <= accent.time <= self.duration:
            raise BadInput(f"the accent of {accent.primitive!r} at {accent.time:g} s lies outside the show of {self.duration:g} s")
        if not 0.0 <= self.moment(accent) <= primitive.curves.duration:
            raise BadInput(
                f"the accent asks for {accent.primitive!r} at its own {self.moment(accent):g} s; "
                f"it lasts from 0 to {primitive.curves.duration:g} s"
            )
        for name in accent.coordinates:
            if name not in primitive.curves.names:
                raise BadInput(
                    f"the accent of {accent.primitive!r} names {name!r}, which it does not move; "
                    f"it moves {', '.join(primitive.curves.names[:24])}"
                )

    def primitive(self, name: str) -> Primitive:
        """The primitive of that name."""
        for primitive in self.primitives:
            if primitive.name == name:
                return primitive
        known = ", ".join(primitive.name for primitive in self.primitives) or "none"
        raise BadInput(f"there is no primitive {name!r}; known: {known}")

    def moment(self, accent: Accent) -> float:
        """When, on the primitive's own clock [s], the pose is that an accent asks for."""
        if accent.moment is not None:
            return accent.moment
        stroke = self.primitive(accent.primitive).stroke
        if stroke is None:
            raise BadInput(f"the accent of {accent.primitive!r} gives no moment and the primitive no stroke; give one of them")
        return stroke

    @property
    def switching_times(self) -> tuple[float, ...]:
        """When the second, third, ... mode begins [s]."""
        return tuple(mode.start for mode in self.modes[1:])

    @property
    def equal_times(self) -> tuple[float, ...]:
        """The switching times that give every mode the same share of the show [s]."""
        return tuple(self.duration * i / len(self.modes) for i in range(1, len(self.modes)))

    def switched_at(self, times: tuple[float, ...]) -> Choreography:
        """The same choreography with other switching times [s]."""
        if len(times) != len(self.modes) - 1:
            raise BadInput(f"{len(times)} switching times for {len(self.modes)} modes; one fewer than modes is needed")
        starts = (0.0, *(float(time) for time in times))
        return replace(self, modes=tuple(replace(mode, start=start) for mode, start in zip(self.modes, starts, strict=True)))
