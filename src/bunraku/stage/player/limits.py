"""What a machine's outputs may be sent: motors, carriages and winches of a character, narrowed by each servo's calibration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.mechanics.systems.carriages import CarriageLimits
from bunraku.motion.limits import MotionLimits

Indices = NDArray[np.int64]

UNSTATED = {"rad": 12.0, "m": 1.0, "rad/s": 120.0}
"""The fastest change a second where a character states none: about that of a fast hobby servo (60 degrees in 0.09 s)."""


@dataclass(frozen=True)
class OutputLimits:
    """Limits of k values, in the units of their channels; all arrays (k,).

    ``lower``, ``upper``; ``velocity`` and ``acceleration`` of the values' change. ``dependents``: (index, index it depends on,
    knots) as of `MotionLimits`. ``planar`` (pairs, 2): the x and y of carriages, whose speed is that of both together. ``apart``
    (pairs, 4) with ``distance`` (pairs,): x, y of one carriage and of another, and the least distance between them [m].
    """

    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array
    dependents: tuple[tuple[int, int, Array], ...]
    planar: Indices
    apart: Indices
    distance: Array

    def excess(self, x: Array) -> Array:
        """How far values x (..., k) are beyond dependent ranges and distances; a lack of distance counts half, at its first."""
        excess = np.zeros(x.shape)
        for index, on, knots in self.dependents:
            low, high = np.interp(x[..., on], knots[:, 0], knots[:, 1]), np.interp(x[..., on], knots[:, 0], knots[:, 2])
            excess[..., index] = np.maximum(excess[..., index], np.maximum(low - x[..., index], x[..., index] - high))
        if len(self.apart):
            a, b, c, d = self.apart.T
            lack = 0.5 * (self.distance - np.hypot(x[..., a] - x[..., c], x[..., b] - x[..., d]))
            np.maximum.at(excess.T, a, lack.T)
        return excess

    def kept(self, x: Array, slack: Array) -> bool:
        """Whether values x (..., k) keep dependent ranges and distances; ``slack`` (k,) is allowed beyond."""
        return bool((self.excess(x) <= slack).all())

    @property
    def tied(self) -> Indices:
        """The indices (n,) of values that a dependent range or a distance ties to another."""
        pairs = [part for index, on, _ in self.dependents for part in (index, on)]
        return np.unique(np.array([*pairs, *self.apart.ravel()], dtype=np.int64))

    @property
    def groups(self) -> list[Indices]:
        """The indices of values tied to each other, directly or by others, and of carriages with both of their values."""
        groups: list[set[int]] = []
        ties = [part[:2] for part in self.dependents] + self.apart.tolist() + self.planar.tolist()
        for tie in map(set, ties):
            touched = [group for group in groups if group & tie]
            groups = [group for group in groups if not group & tie] + [tie.union(*touched)]
        return [np.array(sorted(group), dtype=np.int64) for group in groups]


def common(limits: Sequence[OutputLimits]) -> OutputLimits:
    """What keeps all of several limits of the same outputs; a range may be empty then."""
    first = limits[0]
    dependents: list[tuple[int, int, Array]] = []
    distances: dict[tuple[int, ...], float] = {}
    for one in limits:
        for index, on, knots in one.dependents:
            if not any((index, on) == other[:2] and np.array_equal(knots, other[2]) for other in dependents):
                dependents.append((index, on, knots))
        for pair, least in zip(one.apart.tolist(), one.distance.tolist(), strict=True):
            distances[tuple(pair)] = max(least, distances.get(tuple(pair), 0.0))
    return replace(
        first,
        lower=np.max([one.lower for one in limits], axis=0),
        upper=np.min([one.upper for one in limits], axis=0),
        velocity=np.min([one.velocity for one in limits], axis=0),
        acceleration=np.min([one.acceleration for one in limits], axis=0),
        dependents=tuple(dependents),
        apart=np.array(list(distances), dtype=np.int64).reshape(-1, 4),
        distance=np.array(list(distances.values()), dtype=np.float64),
    )


def limits_of(character: Character, names: tuple[str, ...], units: tuple[str, ...]) -> OutputLimits:
    """The limits of outputs ``names`` with values in ``units``; a name that nothing limits keeps the speed `UNSTATED`."""
    k = len(names)
    lower, upper = np.full(k, -np.inf), np.full(k, np.inf)
    velocity, acceleration = np.array([UNSTATED.get(unit, 1.0) for unit in units]), np.full(k, np.inf)
    motors = MotionLimits.of(character)
    places = tuple(name for j, name in enumerate(names) if name in motors.names and units[j] in ("rad", "m"))
    chosen = motors.chosen(places)
    at = [names.index(name) for name in places]
    for j, i in enumerate(at):
        lower[i], upper[i], acceleration[i] = chosen.lower[j], chosen.upper[j], chosen.acceleration[j]
        velocity[i] = chosen.velocity[j] if np.isfinite(chosen.velocity[j]) else velocity[i]
    for i, name in enumerate(names):
        if units[i] == "rad/s" and name in motors.names:
            j = motors.names.index(name)
            top = motors.velocity[j]
            lower[i], upper[i] = (-top, top) if np.isfinite(top) else (-UNSTATED["rad"], UNSTATED["rad"])
            velocity[i] = motors.acceleration[j] if np.isfinite(motors.acceleration[j]) else velocity[i]
            acceleration[i] = motors.jerk[j]
    dependents = tuple((at[index], at[on], knots) for index, on, knots in chosen.dependents)
    planar, apart, distance = _carriages(character, names, lower, upper, velocity, acceleration)
    return OutputLimits(lower, upper, velocity, acceleration, dependents, planar, apart, distance)


def _carriages(
    character: Character, names: tuple[str, ...], lower: Array, upper: Array, velocity: Array, acceleration: Array
) -> tuple[Indices, Indices, Array]:
    """Enter the limits of carriages and winches; the pairs (x, y), the pairs of carriages and how far they stay apart."""
    held = CarriageLimits.of(character)
    speeds = np.concatenate([np.repeat(held.speed, 2), held.winch_speed])
    pulls = np.concatenate([np.repeat(held.acceleration, 2), held.winch_acceleration])
    for j, name in enumerate(held.names):
        if name not in names:
            continue
        i = names.index(name)
        lower[i], upper[i], acceleration[i] = held.lower[j], held.upper[j], pulls[j]
        velocity[i] = speeds[j] if np.isfinite(speeds[j]) else velocity[i]
    pairs = {c: held.names[2 * c : 2 * c + 2] for c in range(len(held.carriages))}
    place = {c: [names.index(name) for name in pair] for c, pair in pairs.items() if all(name in names for name in pair)}
    near = [
        (a, b, least)
        for (a, b), least in zip(held.pairs.tolist(), held.separation, strict=True)
        if a in place and b in place and least > 0.0
    ]
    return (
        np.array(list(place.values()), dtype=np.int64).reshape(-1, 2),
        np.array([place[a] + place[b] for a, b, _ in near], dtype=np.int64).reshape(-1, 4),
        np.array([least for _, _, least in near], dtype=np.float64),
    )
