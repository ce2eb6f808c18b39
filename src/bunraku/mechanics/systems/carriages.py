"""What carriages and winches can do, as arrays, and how far a motion of theirs exceeds it.

A motion is k (N + 1, nk) at a step of dt: the kinematic coordinates in the order of `Character.prescribed`. Velocities are v_j =
(k_{j+1} - k_j)/dt, accelerations (v_j - v_{j-1})/dt with v_{-1} the velocity before the first step.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.errors import BadInput

Indices = NDArray[np.int64]


@dataclass(frozen=True)
class CarriageMotion:
    """What the limits are about, all absolute values.

    Planar ``speed`` and ``acceleration`` (N, carriages), ``winch_speed`` and ``winch_acceleration`` (N, strings) of the lengths,
    and the ``gap`` (N + 1, pairs) between the carriages' centres.
    """

    speed: Array
    acceleration: Array
    winch_speed: Array
    winch_acceleration: Array
    gap: Array


@dataclass(frozen=True)
class CarriageExcess:
    """By how much each limit is exceeded at most, 0 where it is kept: ``range`` and ``separation`` [m], speeds and accelerations.

    ``worst`` names the coordinate or carriage that exceeds most, measured in parts of its limit; empty when all are kept.
    """

    range: float
    speed: float
    acceleration: float
    winch_speed: float
    winch_acceleration: float
    separation: float
    worst: str

    @property
    def kept(self) -> bool:
        """Whether all limits are kept."""
        return not self.worst


@dataclass(frozen=True)
class CarriageLimits:
    """The limits. ``names``, ``lower``, ``upper`` (nk,) of all kinematic coordinates; infinite where none is stated.

    ``speed``, ``acceleration`` (carriages,) of the planar motion; ``winch_speed``, ``winch_acceleration`` (strings,);
    ``pairs`` (P, 2) of carriages and the least ``separation`` (P,) of each, the larger of what the two ask for.
    """

    names: tuple[str, ...]
    carriages: tuple[str, ...]
    strings: tuple[str, ...]
    lower: Array
    upper: Array
    speed: Array
    acceleration: Array
    winch_speed: Array
    winch_acceleration: Array
    pairs: Indices
    separation: Array

    @classmethod
    def of(cls, character: Character) -> CarriageLimits:
        """The limits a character's carriages state."""
        held = {carriage.name: carriage for carriage in character.carriages}
        winches = [held[string.carriage] for string in character.strings]
        ranges = [limits for carriage in held.values() for limits in (carriage.x_range, carriage.y_range)]
        ranges += [winch.winch_range or (0.0, np.inf) for winch in winches]
        pairs = list(combinations(range(len(held)), 2))
        apart = [carriage.separation for carriage in held.values()]
        return cls(
            character.prescribed,
            tuple(held),
            tuple(string.name for string in character.strings),
            np.array([-np.inf if limits is None else limits[0] for limits in ranges]),
            np.array([np.inf if limits is None else limits[1] for limits in ranges]),
            _limits([carriage.velocity for carriage in held.values()]),
            _limits([carriage.acceleration for carriage in held.values()]),
            _limits([winch.winch_velocity for winch in winches]),
            _limits([winch.winch_acceleration for winch in winches]),
            np.array(pairs, dtype=np.int64).reshape(-1, 2),
            np.array([max(apart[i], apart[j]) for i, j in pairs]),
        )

    def motion(self, k: ArrayLike, dt: float, *, before: ArrayLike | None = None) -> CarriageMotion:
        """Speeds, accelerations and gaps of the motion k (N + 1, nk); it starts at the velocity ``before`` (nk,) [m/s] or rest."""
        k = np.asarray(k, dtype=np.float64)
        if k.ndim != 2 or k.shape[1] != len(self.names) or len(k) < 2 or not np.isfinite(k).all():
            raise BadInput(f"the carriages' motion has shape {k.shape}; it must be (steps + 1, {len(self.names)}) finite numbers")
        if not (np.isfinite(dt) and dt > 0.0):
            raise BadInput(f"the step dt is {dt}; it must be a positive number of seconds")
        v = np.diff(k, axis=0) / dt
        first = np.zeros(k.shape[1]) if before is None else np.asarray(before, dtype=np.float64)
        if first.shape != (k.shape[1],) or not np.isfinite(first).all():
            raise BadInput(f"the velocity before has shape {first.shape}; it must be ({k.shape[1]},) finite numbers")
        a = np.diff(np.vstack([first, v]), axis=0) / dt
        count = 2 * len(self.carriages)
        places = k[:, :count].reshape(len(k), -1, 2)
        return CarriageMotion(
            np.linalg.norm(v[:, :count].reshape(len(v), -1, 2), axis=2),
            np.linalg.norm(a[:, :count].reshape(len(a), -1, 2), axis=2),
            np.abs(v[:, count:]),
            np.abs(a[:, count:]),
            np.linalg.norm(places[:, self.pairs[:, 0]] - places[:, self.pairs[:, 1]], axis=2),
        )

    def excess(self, k: ArrayLike, dt: float, *, before: ArrayLike | None = None, tolerance: float = 1e-9) -> CarriageExcess:
        """How far the motion k (N + 1, nk) exceeds the limits; less than ``tolerance`` of a limit counts as kept."""
        motion, k = self.motion(k, dt, before=before), np.asarray(k, dtype=np.float64)
        outside = np.maximum(k - self.upper, self.lower - k).max(axis=0)
        width = np.where(np.isfinite(self.upper - self.lower), np.maximum(self.upper - self.lower, 1e-3), 1.0)
        close = self.separation - motion.gap.min(axis=0)
        beyond = {
            "speed": (motion.speed.max(axis=0) - self.speed, self.speed, self.carriages),
            "acceleration": (motion.acceleration.max(axis=0) - self.acceleration, self.acceleration, self.carriages),
            "winch_speed": (motion.winch_speed.max(axis=0) - self.winch_speed, self.winch_speed, self.strings),
            "winch_acceleration": (
                motion.winch_acceleration.max(axis=0) - self.winch_acceleration,
                self.winch_acceleration,
                self.strings,
            ),
            "range": (outside, width, self.names),
            "separation": (
                close,
                np.maximum(self.separation, 1e-3),
                tuple(f"{self.carriages[i]} and {self.carriages[j]}" for i, j in self.pairs),
            ),
        }
        largest, worst, most = {}, "", tolerance
        for what, (over, limit, names) in beyond.items():
            over = np.where(over > tolerance * np.where(np.isfinite(limit), limit, 1.0), over, 0.0)
            largest[what] = float(np.max(over, initial=0.0))
            share = np.where(over > 0.0, over / limit, 0.0)
            if len(share) and share.max() > most:
                most, worst = float(share.max()), f"{what.replace('_', ' ')} of {names[int(share.argmax())]}"
        return CarriageExcess(worst=worst, **largest)


def _limits(values: list[float | None]) -> Array:
    return np.array([np.inf if value is None else value for value in values])
