"""A plan at the rate of the motors: smooth in the joints, consistent with its contacts, over all its cycles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import CubicSpline

from bunraku.errors import BadInput
from bunraku.gait.screw import BASE, Columns, rotated_forces, screw_velocity, shifted

__all__ = ["PlanCurves", "Sampled", "cycle_curves", "once_curves"]

Array = NDArray[np.float64]
Flags = NDArray[np.int64]


@dataclass(frozen=True)
class Sampled:
    """A plan at a uniform ``rate`` [Hz]: coordinates ``q`` (m, nq) with their derivatives, ``forces`` (m, n_e, 3) [N], ``contact``.

    ``contact`` (m, n_e): 1 where an end effector is on the ground, which it is between two samples of the plan if it is at both.
    """

    rate: float
    q: Array
    velocity: Array
    acceleration: Array
    forces: Array
    contact: Flags

    @property
    def times(self) -> Array:
        """Times [s]."""
        return np.arange(len(self.q)) / self.rate


@dataclass(frozen=True)
class PlanCurves:
    """A plan as curves of time. ``spline`` of the coordinates over one cycle, seen from the frame that the shift's screw carries.

    ``step`` [s] between the ``samples`` of the plan; ``forces`` (T, n_e, 3) and ``contact`` (T, n_e) at them. Open plans have no
    ``shift``: their spline is that of the coordinates themselves.
    """

    spline: CubicSpline
    step: float
    samples: int
    forces: Array
    contact: Flags
    shift: Array | None
    base: Columns = BASE

    @property
    def period(self) -> float:
        """Duration [s] of a cycle, or of the motion that happens once."""
        return self.step * (self.samples if self.shift is not None else self.samples - 1)

    def coordinates(self, times: ArrayLike) -> Array:
        """Coordinates (m, nq) at times (m,) [s]; a cycle goes on for ever, x, y and yaw with it."""
        t = np.asarray(times, dtype=np.float64)
        if self.shift is None:
            return np.asarray(self.spline(t), dtype=np.float64)
        return shifted(self.spline(t % self.period), self.shift, t / self.period, self.base)

    def derivatives(self, times: ArrayLike) -> tuple[Array, Array]:
        """Velocities and accelerations (m, nq each) at times (m,) [s].

        With p the base's place seen from the screw's frame, which turns at w and moves with velocity u in itself:
        v = R (p' + w z x p + u), a = R (p'' + 2 w z x p' + w z x (w z x p + u)).
        """
        t = np.asarray(times, dtype=np.float64)
        if self.shift is None:
            return np.asarray(self.spline(t, 1), dtype=np.float64), np.asarray(self.spline(t, 2), dtype=np.float64)
        phase = t % self.period
        p, v, a = (np.array(self.spline(phase, k), dtype=np.float64) for k in range(3))
        x, y, yaw = self.base
        w = self.shift[2] / self.period
        P, V, A = (one[:, [x, y]] for one in (p, v, a))
        carried = w * _across(P) + screw_velocity(self.shift) / self.period
        c, s = np.cos(w * t), np.sin(w * t)
        for out, value in ((v, V + carried), (a, A + 2.0 * w * _across(V) + w * _across(carried))):
            out[:, x], out[:, y] = c * value[:, 0] - s * value[:, 1], s * value[:, 0] + c * value[:, 1]
        v[:, yaw] += w
        return v, a

    def sampled(self, rate: float, cycles: int = 1) -> Sampled:
        """The plan at a uniform rate [Hz], gone through ``cycles`` times, both ends included as far as the rate meets them."""
        if not 0.0 < rate <= 100_000.0:
            raise BadInput(f"a rate of {rate} Hz cannot be used; give one between 0 and 100000")
        if cycles != 1 and self.shift is None:
            raise BadInput(f"{cycles} times were asked of a motion that happens once; only cycles repeat")
        whole = cycles * self.period
        t = np.minimum(np.arange(int(np.floor(whole * rate + 1e-6)) + 1) / rate, whole)
        velocity, acceleration = self.derivatives(t)
        forces, contact = self._ground(t)
        return Sampled(rate, self.coordinates(t), velocity, acceleration, forces, contact)

    def _ground(self, t: Array) -> tuple[Array, Flags]:
        """Forces by straight lines between the samples, and contact flags."""
        T = self.samples
        closed = self.shift is not None
        at = np.floor(t / self.step + 1e-9).astype(np.int64)
        if not closed:
            at = np.clip(at, 0, T - 2)
        share = np.clip(t / self.step - at, 0.0, 1.0)[:, None, None]
        first, second = self.forces[at % T], self.forces[(at + 1) % T]
        on_first, on_second = self.contact[at % T], self.contact[(at + 1) % T]
        if self.shift is not None:
            first = rotated_forces(first, at // T * self.shift[2])
            second = rotated_forces(second, (at + 1) // T * self.shift[2])
        flags = np.where(share[:, :, 0] < 1e-6, on_first, np.where(share[:, :, 0] > 1.0 - 1e-6, on_second, on_first * on_second))
        return (1.0 - share) * first + share * second, flags.astype(np.int64)


def cycle_curves(
    q: ArrayLike, period: float, shift: ArrayLike, forces: ArrayLike, contact: ArrayLike, *, base: Columns = BASE
) -> PlanCurves:
    """The curves of a cycle sampled at i period / T: coordinates ``q`` (T, nq), the cycle's ``shift`` (x, y, yaw).

    Seen from a frame that goes along the shift's screw, the motion repeats itself; the C2 periodic cubic spline through its samples
    there, seen from the world again, is a motion that the shift maps to its own continuation. Forces are linear between samples
    and zero from the first sample in the air to the last one; in the interval in which a foot lifts or lands its force falls or
    rises to meet the sum that the plan's balance needs.
    """
    Q, f, c = _checked(q, forces, contact, period)
    D = np.array(shift, dtype=np.float64)
    T = len(Q)
    seen = shifted(Q, D, -np.arange(T) / T, base)
    times = period * np.arange(T + 1) / T
    spline = CubicSpline(times, np.vstack([seen, seen[:1]]), bc_type="periodic")
    return PlanCurves(spline, period / T, T, f, c, D, base)


def once_curves(
    q: ArrayLike,
    duration: float,
    forces: ArrayLike,
    contact: ArrayLike,
    *,
    start_velocity: ArrayLike | None = None,
    end_velocity: ArrayLike | None = None,
) -> PlanCurves:
    """The curves of a motion that happens once, sampled at i duration / (T - 1): C2 cubic splines of ``q`` (T, nq).

    ``start_velocity`` and ``end_velocity`` (nq,), or 0 for rest, are kept exactly; None leaves that end free (not-a-knot).
    """
    Q, f, c = _checked(q, forces, contact, duration)
    ends = (_end(start_velocity, Q.shape[1]), _end(end_velocity, Q.shape[1]))
    spline = CubicSpline(np.linspace(0.0, duration, len(Q)), Q, bc_type=ends)
    return PlanCurves(spline, duration / (len(Q) - 1), len(Q), f, c, None)


def _checked(q: ArrayLike, forces: ArrayLike, contact: ArrayLike, duration: float) -> tuple[Array, Array, Flags]:
    Q, f, c = np.asarray(q, dtype=np.float64), np.array(forces, dtype=np.float64), np.array(contact, dtype=np.int64)
    if Q.ndim != 2 or len(Q) < 4 or c.ndim != 2 or len(c) != len(Q) or f.shape != (*c.shape, 3):
        raise BadInput(f"a plan of coordinates {Q.shape}, forces {f.shape} and contacts {c.shape} does not fit together")
    if not (np.isfinite(Q).all() and np.isfinite(f).all() and duration > 0.0):
        raise BadInput(f"a plan of {duration} s with numbers that are not finite cannot be sampled")
    return Q, f * c[:, :, None], c


def _end(velocity: ArrayLike | None, n: int) -> Literal["not-a-knot"] | tuple[Literal[1], Array]:
    """The condition of a spline at an end with a velocity or without."""
    return "not-a-knot" if velocity is None else (1, np.broadcast_to(np.asarray(velocity, dtype=np.float64), (n,)))


def _across(p: Array) -> Array:
    """The vectors (m, 2) turned left by a right angle: z x p."""
    return np.stack([-p[:, 1], p[:, 0]], axis=1)
