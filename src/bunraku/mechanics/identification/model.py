"""What a marker should do: models of a part on a motor, as functions of the numbers that are to be found.

A model is a family of curves x(t; p). Its parameters p are the logarithm of Young's modulus over the assumed one, the strain-rate
damping beta [s], and one or two more that say how the motion began: the servo delay [s] for a part moved by a known command, or
size and speed of the first mode at the first sample for one that was found vibrating.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from math import ceil

import numpy as np
from scipy.interpolate import CubicSpline

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.mechanics.identification.vibration import DecayingOscillation, Window, find_vibration

STEPS_A_CYCLE = 100
LONGEST_STEP = 4e-3
SCALE_STEP, DAMPING_STEP = 1e-5, 1e-4
"""Steps of the forward differences: of ln E, and of beta over its own size. A vibration of 10 cycles turns its phase by 30 of these
steps, which leaves an error of 2e-4 of the derivative; the simulation's own, 1e-10 m, is as small."""


class MarkerModel(ABC):
    """A family of curves. To add one: name its parameters, predict, say how they start, and which of them is a delay.

    ``young`` [Pa]: Young's modulus at parameter 0. ``still``: stretches of time [s] in which nothing drives the vibration.
    """

    young: float
    still: tuple[Window, ...]
    names: tuple[str, ...]

    @abstractmethod
    def predict(self, p: Array, times: Array, dt: float) -> Array:
        """Positions (M, 3) [m] at ``times`` (M,) [s], simulated with steps of ``dt`` [s]; NaN where the simulation fails."""

    @abstractmethod
    def differences(self, p: Array) -> Array:
        """Steps (n,), positive, of forward differences over the parameters p."""

    @abstractmethod
    def starts(self, p: Array, vibration: DecayingOscillation, amplitude: float) -> list[Array]:
        """Where the fit may start: ``p`` (2,) = (ln E / young, beta) from the record, with candidates for the other parameters.

        ``amplitude`` [m] is that of the vibration where it is first seen.
        """

    @abstractmethod
    def vibration(self, p: Array, amplitude: float, dt: float) -> DecayingOscillation | None:
        """The free vibration of the model itself at p (2,), measured like that of the record; None when the simulation fails.

        ``amplitude`` [m] is that of the record, for models that can choose theirs.
        """

    def step_for(self, frequency: float) -> float:
        """A step [s] that resolves a vibration of ``frequency`` [Hz]."""
        return min(LONGEST_STEP, 1.0 / (STEPS_A_CYCLE * frequency))

    def differentiate(self, p: Array, times: Array, dt: float) -> Array:
        """Derivatives (M, 3, n) of :meth:`predict` over p, by forward differences."""
        at, columns = self.predict(p, times, dt), []
        for i, h in enumerate(self.differences(p)):
            moved = p.copy()
            moved[i] += h
            columns.append((self.predict(moved, times, dt) - at) / (moved[i] - p[i]))
        return np.stack(columns, axis=2)


@dataclass
class DrivenMarker(MarkerModel):
    """A part at rest, then moved by a command; the motor follows the command after a constant delay.

    ``simulate(young_scale, beta, dt)`` returns positions (N + 1, 3) [m] every dt [s] from rest at t = 0 without delay. The system
    does not depend on time, so a delay only shifts the curve, and its derivative is minus the velocity: exact, and free.
    ``period`` [s] is that of the command's samples, on which steps are laid. ``latest`` [s]: delays are looked for up to this.
    """

    simulate: Callable[[float, float, float], Array]
    young: float
    still: tuple[Window, ...]
    period: float = 0.01
    latest: float = 0.3
    names: tuple[str, ...] = ("young", "damping", "delay")
    _kept: dict[tuple[float, float, float], CubicSpline | None] = field(default_factory=dict, repr=False)

    def step_for(self, frequency: float) -> float:
        """A step that resolves the vibration and divides the command's period."""
        return self.period / ceil(self.period / super().step_for(frequency) - 1e-9)

    def predict(self, p: Array, times: Array, dt: float) -> Array:
        """Positions (M, 3) [m]."""
        curve = self._curve(p, dt)
        if curve is None:
            return np.full((len(times), 3), np.nan)
        return np.asarray(curve(np.clip(times - p[2], 0.0, curve.x[-1])))

    def differences(self, p: Array) -> Array:
        """Steps of ln E and beta; the delay has none."""
        return np.array([SCALE_STEP, DAMPING_STEP * max(abs(p[1]), 1e-6)])

    def differentiate(self, p: Array, times: Array, dt: float) -> Array:
        """Derivatives (M, 3, 3), exact over the delay."""
        curve = self._curve(p, dt)
        if curve is None:
            return np.full((len(times), 3, 3), np.nan)
        at = times - p[2]
        velocity = np.where(((at >= 0.0) & (at <= curve.x[-1]))[:, None], curve(np.clip(at, 0.0, curve.x[-1]), 1), 0.0)
        return np.concatenate([super().differentiate(p, times, dt), -velocity[:, :, None]], axis=2)

    def starts(self, p: Array, vibration: DecayingOscillation, amplitude: float) -> list[Array]:
        """Delays a quarter of a hundredth of a second apart, on both sides of none."""
        return [np.array([p[0], p[1], delay]) for delay in np.arange(-0.1, self.latest + 1e-9, 2.5e-3)]

    def vibration(self, p: Array, amplitude: float, dt: float) -> DecayingOscillation | None:
        """The vibration while the motor stands still."""
        curve = self._curve(p, dt)
        if curve is None:
            return None
        times = np.arange(0.0, float(curve.x[-1]), 2.0 * dt)
        return find_vibration(times, np.asarray(curve(times)), self.still)

    def _curve(self, p: Array, dt: float) -> CubicSpline | None:
        key = (float(p[0]), float(p[1]), dt)
        if key not in self._kept:
            points = np.asarray(self.simulate(float(np.exp(p[0])), float(p[1]), dt), dtype=np.float64)
            if points.ndim != 2 or points.shape[1] != 3:
                raise BadInput(f"the simulated marker has shape {points.shape}; (steps + 1, 3) is needed")
            good = bool(np.isfinite(points).all())
            if len(self._kept) >= 12:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = CubicSpline(dt * np.arange(len(points)), points) if good else None
        return self._kept[key]


@dataclass
class ReleasedMarker(MarkerModel):
    """A part found vibrating in its first mode, the motor at rest, no command known.

    ``simulate(young_scale, beta, size, speed, dt)`` returns positions (N + 1, 3) [m] every dt [s] from ``size`` [m] and ``speed``
    [m/s] of the marker's displacement in the first mode about rest. ``begin`` [s]: time of the first sample.
    """

    simulate: Callable[[float, float, float, float, float], Array]
    young: float
    begin: float
    end: float
    names: tuple[str, ...] = ("young", "damping", "size", "speed")

    @property
    def still(self) -> tuple[Window, ...]:  # type: ignore[override]
        """All of the record."""
        return ((self.begin, self.end),)

    def predict(self, p: Array, times: Array, dt: float) -> Array:
        """Positions (M, 3) [m]."""
        points = np.asarray(self.simulate(float(np.exp(p[0])), float(p[1]), float(p[2]), float(p[3]), dt), dtype=np.float64)
        if not np.isfinite(points).all():
            return np.full((len(times), 3), np.nan)
        return np.asarray(CubicSpline(dt * np.arange(len(points)), points)(times - self.begin))

    def differences(self, p: Array) -> Array:
        """Steps of ln E, beta, size and speed."""
        size = 1e-5 * max(float(np.hypot(p[2], 0.1 * p[3])), 1e-3)
        return np.array([SCALE_STEP, DAMPING_STEP * max(abs(p[1]), 1e-6), size, 10.0 * size])

    def starts(self, p: Array, vibration: DecayingOscillation, amplitude: float) -> list[Array]:
        """Sixteen phases of the oscillation at the first sample."""
        w = 2.0 * np.pi * vibration.frequency
        return [
            np.array([p[0], p[1], amplitude * np.cos(angle), -w * amplitude * np.sin(angle)])
            for angle in np.arange(16) * np.pi / 8.0
        ]

    def vibration(self, p: Array, amplitude: float, dt: float) -> DecayingOscillation | None:
        """The vibration of the record's amplitude."""
        times = np.arange(self.begin, self.end, 2.0 * dt)
        points = self.predict(np.array([p[0], p[1], amplitude, 0.0]), times, dt)
        return find_vibration(times, points, self.still) if np.isfinite(points).all() else None
