"""Motor limits as arrays, and the one measure of their violation, used by performers and verifiers alike.

With h = 1 / rate and x_k the samples: velocity (x_k - x_{k-1}) / h, acceleration (x_{k+1} - 2 x_k + x_{k-1}) / h^2,
jerk the third difference / h^3. Limits are checked at the rate the motors are driven.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.motion.dependent_ranges import settled_dependents


@dataclass(frozen=True)
class Excess:
    """By how much a motion exceeds its limits, in units of the quantity, zero where it does not; shapes (n, k)."""

    range: Array
    velocity: Array
    acceleration: Array
    jerk: Array
    relative: float

    def count(self, kind: str, tolerance: float = 1e-9) -> int:
        """How many samples exceed the limit of that kind by more than ``tolerance``."""
        return int(np.count_nonzero(getattr(self, kind) > tolerance))


@dataclass(frozen=True)
class MotionLimits:
    """Limits of the motor-driven coordinates ``names``; infinite where none is stated. All arrays have shape (k,).

    Joint range and motor range are intersected, followers of a coupling pass theirs on to the driver. ``dependents`` lists
    (index, index it depends on, knots) of ranges that depend on another coordinate, all in terms of driven coordinates.
    ``home`` is where a coordinate stays that is not moved; None when there is no character to say so.
    """

    names: tuple[str, ...]
    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array
    jerk: Array
    dependents: tuple[tuple[int, int, Array], ...] = ()
    home: Array | None = None

    @staticmethod
    def of(character: Character) -> MotionLimits:
        """The limits of all motors of a character, in the order of ``character.driven``.

        Dependent ranges of followers, or on them, are passed on to their drivers; see `motion.dependent_ranges`.
        """
        names = character.driven
        k = len(names)
        lower, upper = np.full(k, -np.inf), np.full(k, np.inf)
        ranges = {axis.name: axis.range for axis in character.axes}
        for j, motor in enumerate(character.motors):
            for limit in (ranges[motor.coordinate], motor.range):
                if limit is not None:
                    lower[j], upper[j] = max(lower[j], limit[0]), min(upper[j], limit[1])
        for coupling in character.couplings:
            limit = ranges[coupling.follower]
            if limit is not None and coupling.driver in names:
                j = names.index(coupling.driver)
                ends = sorted((end - coupling.offset) / coupling.ratio for end in limit)
                lower[j], upper[j] = max(lower[j], ends[0]), min(upper[j], ends[1])
        _not_empty(names, lower, upper)
        dependents = settled_dependents(character, lower, upper)
        _not_empty(names, lower, upper)

        def of_motors(field: str) -> Array:
            values = [getattr(motor, field) for motor in character.motors]
            return np.array([np.inf if value is None else value for value in values], dtype=np.float64)

        rates = of_motors("velocity"), of_motors("acceleration"), of_motors("jerk")
        home = np.array([character.home.get(name, 0.0) for name in names], dtype=np.float64)
        return MotionLimits(names, lower, upper, *rates, dependents, home)

    def bounds(self, values: Array) -> tuple[Array, Array]:
        """Lower and upper bounds per sample, shape of ``values`` (n, k), dependent ranges taken at ``values``."""
        lower = np.broadcast_to(self.lower, values.shape).copy()
        upper = np.broadcast_to(self.upper, values.shape).copy()
        for index, on, knots in self.dependents:
            np.maximum(lower[:, index], np.interp(values[:, on], knots[:, 0], knots[:, 1]), out=lower[:, index])
            np.minimum(upper[:, index], np.interp(values[:, on], knots[:, 0], knots[:, 2]), out=upper[:, index])
        return lower, upper

    def completed(self, names: tuple[str, ...], values: Array) -> Array:
        """The values (n, k) of all coordinates from those (n, len(names)) of some; the others stand at home."""
        out = np.zeros((len(values), len(self.names))) if self.home is None else np.tile(self.home, (len(values), 1))
        out[:, [self.names.index(name) for name in names]] = values
        return out

    def excess(self, values: Array, rate: float) -> Excess:
        """By how much ``values`` (n, k) at ``rate`` [Hz] exceed these limits; ``relative`` is the largest relative excess.

        Relative means over the limit itself for velocity and its derivatives, over the range's width for the range.
        """
        values = np.asarray(values, dtype=np.float64)
        lower, upper = self.bounds(values)
        over = np.maximum(np.maximum(lower - values, values - upper), 0.0)
        width = np.maximum(np.where(np.isfinite(self.upper - self.lower), self.upper - self.lower, 1.0), 1e-9)
        worst = float((over / width).max(initial=0.0))
        rates = []
        for order, limit in ((1, self.velocity), (2, self.acceleration), (3, self.jerk)):
            beyond = np.maximum(np.abs(differences(values, rate, order)) - limit, 0.0)
            worst = max(worst, float((beyond / limit).max(initial=0.0)))
            rates.append(beyond)
        return Excess(over, rates[0], rates[1], rates[2], worst)

    def chosen(self, names: tuple[str, ...]) -> MotionLimits:
        """The limits of some of the coordinates, in the order given; those left out stay at home.

        A range that depends on a coordinate left out is the one it has at home.
        """
        at = [self.names.index(name) for name in names]
        pick = np.array(at, dtype=int)
        lower, upper = self.lower[pick], self.upper[pick]
        dependents = []
        for index, on, knots in self.dependents:
            if index in at and on in at:
                dependents.append((at.index(index), at.index(on), knots))
            elif index in at:
                if self.home is None:
                    raise BadInput(f"the range of {self.names[index]!r} depends on {self.names[on]!r}; choose both or neither")
                j, value = at.index(index), self.home[on]
                lower[j] = max(lower[j], np.interp(value, knots[:, 0], knots[:, 1]))
                upper[j] = min(upper[j], np.interp(value, knots[:, 0], knots[:, 2]))
        _not_empty(tuple(names), lower, upper)
        return MotionLimits(
            tuple(names),
            lower,
            upper,
            self.velocity[pick],
            self.acceleration[pick],
            self.jerk[pick],
            tuple(dependents),
            None if self.home is None else self.home[pick],
        )


def differences(values: Array, rate: float, order: int) -> Array:
    """Velocity (order 1), acceleration (2) or jerk (3) of samples (n, ...) at ``rate`` [Hz]: (n - order, ...), or (0, ...)."""
    return np.diff(values, n=order, axis=0) * rate**order if len(values) > order else np.zeros((0, *values.shape[1:]))


def _not_empty(names: tuple[str, ...], lower: Array, upper: Array) -> None:
    if (lower > upper).any():
        j = int(np.argmax(lower > upper))
        raise BadInput(f"joint, motor, coupled and dependent ranges of {names[j]!r} do not overlap; widen one of them")
