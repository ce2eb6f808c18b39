"""Locomotion as it is wished: how far and how much turned in which time, which feet leave the ground when, where to pass."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

from bunraku.errors import BadInput
from bunraku.motion.terrain import HeightField


@dataclass(frozen=True)
class Swing:
    """One flight of a foot: from ``start`` to ``end``, shares of the duration; a cycle's swing may run past 1."""

    effector: str
    start: float
    end: float

    def __post_init__(self) -> None:
        if not (0.0 <= self.start < 1.0 and self.start < self.end <= self.start + 1.0):
            raise BadInput(
                f"the swing of {self.effector!r} goes from {self.start:g} to {self.end:g}; it starts in [0, 1) and ends later, "
                "at most one cycle"
            )


@dataclass(frozen=True)
class Target:
    """Where something should be at a time [s]: the centre of mass ("com"), an end effector or the base body ("base").

    ``place`` (x, y, z) [m] in the world, where the motion starts with its base above the origin, heading along x; None: that
    coordinate is free. ``weight`` [1/m²] against the other terms.
    """

    time: float
    what: str
    place: tuple[float | None, float | None, float | None]
    weight: float = 50.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "place", tuple(self.place))
        numbers = [self.time, self.weight, *(part for part in self.place if part is not None)]
        if len(self.place) != 3 or not all(math.isfinite(number) for number in numbers) or self.weight < 0.0 or self.time < 0.0:
            raise BadInput(f"the target of {self.what!r} holds {self}; it takes a time, three places (or none each) and a weight")


@dataclass(frozen=True)
class Gait:
    """Where to go, and how. A ``periodic`` one is a cycle of ``duration`` [s], played ``cycles`` times; otherwise it happens once.

    A motion that happens once goes through a named footfall pattern ``cycles`` times within its duration.
    ``pattern``: "roll" (everything stays on the ground), a footfall pattern known by name ("crawl", "trot", "pace", "bound"),
    "best" (the best of these), or "custom" with ``swings``. ``distance`` (x, y) [m] and ``turn`` [rad] are per cycle, or from start
    to end; None leaves them free. ``air``: the share of a cycle for which a foot is in the air in a named pattern, None: the
    pattern's own. ``start`` and ``end`` of one that happens once: "rest" (the home pose, at rest) or "free".
    ``symmetric``: the second half of a cycle mirrors the first. ``samples`` of the plan, 0: chosen. ``friction`` the plan counts on
    (None: the end effectors' own). ``locked``: joints or groups that stay at home. ``terrain``: the ground, flat if None; for
    motions that happen once.
    """

    duration: float
    pattern: str = "roll"
    periodic: bool = True
    cycles: int = 3
    distance: tuple[float | None, float | None] | None = None
    turn: float | None = None
    swings: tuple[Swing, ...] = ()
    swing_height: float = 0.02
    air: float | None = None
    start: Literal["rest", "free"] = "rest"
    end: Literal["rest", "free"] = "rest"
    symmetric: bool = False
    samples: int = 0
    friction: float | None = None
    locked: tuple[str, ...] = ()
    targets: tuple[Target, ...] = ()
    terrain: HeightField | None = None

    def __post_init__(self) -> None:
        for name in ("swings", "locked", "targets"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if not (math.isfinite(self.duration) and 0.0 < self.duration <= 3600.0):
            raise BadInput(f"a gait of {self.duration} s cannot be made; give a duration between 0 and 3600 s")
        numbers = [*(self.distance or ()), self.turn, self.friction]
        if any(part is not None and not math.isfinite(part) for part in numbers) or (
            self.friction is not None and self.friction <= 0
        ):
            raise BadInput(
                f"a gait of distance {self.distance}, turn {self.turn} and friction {self.friction} arrived; give finite numbers "
                "(None leaves a distance or turn free), a positive friction"
            )
        if not 1 <= self.cycles <= 10_000:
            raise BadInput(f"{self.cycles} cycles arrived; give 1 to 10000")
        if (self.pattern == "custom") != bool(self.swings):
            raise BadInput("swings go with the pattern 'custom', and it needs some; a named pattern brings its own")
        if not 0.0 < self.swing_height <= 1.0:
            raise BadInput(f"a swing of {self.swing_height} m arrived; give a height between 0 and 1 m")
        if self.air is not None and not 0.0 < self.air < 1.0:
            raise BadInput(f"feet in the air for {self.air} of a cycle arrived; give a share between 0 and 1")
        if self.air is not None and self.pattern in ("roll", "custom"):
            raise BadInput(f"the pattern {self.pattern!r} does not take a share of the cycle in the air; it is for named footfalls")
        if self.samples and not 6 <= self.samples <= 20_000:
            raise BadInput(f"{self.samples} samples arrived; give 6 to 20000, or 0 to let the performer choose")
        if self.symmetric and (self.turn or not self.periodic):
            raise BadInput("half-cycle symmetry is for periodic motions that go straight on; drop the turn or the symmetry")
        if self.terrain is not None and self.periodic:
            raise BadInput("a cycle repeats on flat ground; on terrain give a motion that happens once (periodic: false)")
        for target in self.targets:
            if target.time > self.duration + 1e-9:
                raise BadInput(f"the target of {target.what!r} at {target.time:g} s lies outside the gait of {self.duration:g} s")

    def changed(self, **fields: Any) -> Gait:
        """The same gait with some fields replaced."""
        return replace(self, **fields)
