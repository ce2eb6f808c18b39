"""Feedback laws on a local clock, and how one fades into the next.

A law is U = c(s) - K(s) x, s the time since it was switched to: it follows its own reference (xb, ub) with its own gains,
c = ub + K xb. Between samples it is a quintic spline (four continuous derivatives), after its end it stays as it is there. Where
x holds the velocities of prescribed coordinates and U their next places, such a law chooses their acceleration; a mixture
of laws chooses the mixture of accelerations, so no velocity can jump however laws are switched.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import make_interp_spline

from bunraku.arrays import Array
from bunraku.errors import BadInput


def smooth_step(z: ArrayLike) -> tuple[Array, Array, Array]:
    """S(z) = z^4 (35 - 84 z + 70 z^2 - 20 z^3), 0 before z = 0 and 1 after z = 1, with S' and S''; three derivatives continuous."""
    inside = np.clip(np.asarray(z, dtype=np.float64), 0.0, 1.0)
    rest = inside * (1.0 - inside)
    value: Array = inside**4 * (35.0 - 84.0 * inside + 70.0 * inside**2 - 20.0 * inside**3)
    return value, 140.0 * rest**3, 420.0 * rest**2 * (1.0 - 2.0 * inside)


@dataclass(frozen=True)
class LawValues:
    """c (N, m), K (N, m, n) of a law at N times, or their derivatives."""

    c: Array
    K: Array

    def __call__(self, x: Array) -> Array:
        """C - K x for the states ``x`` (N, n): inputs (N, m)."""
        result: Array = self.c - (self.K @ x[:, :, None])[:, :, 0]
        return result


class Law:
    """A law from samples every ``dt`` [s]: reference ``x`` (N + 1, n), inputs ``u`` (N, m), gains ``K`` (N, m, n).

    The step after the last sample is at rest: it holds ``x[N]`` with the inputs ``rest_u`` (m,) and the gains ``rest_K`` (m, n) for
    ever. ``settle`` [s] is how long the rest is sampled, so that the spline has come to rest too.
    """

    def __init__(
        self,
        dt: float,
        x: ArrayLike,
        u: ArrayLike,
        K: ArrayLike,
        *,
        rest_x: ArrayLike,
        rest_u: ArrayLike,
        rest_K: ArrayLike,
        settle: float = 0.4,
    ) -> None:
        x, u, K = (np.asarray(part, dtype=np.float64) for part in (x, u, K))
        if x.ndim != 2 or u.ndim != 2 or len(x) != len(u) + 1 or K.shape != (len(u), u.shape[1], x.shape[1]):
            raise BadInput(f"a law of x {x.shape}, u {u.shape}, K {K.shape}; (N + 1, n), (N, m), (N, m, n) are needed")
        extra = max(int(np.ceil(settle / dt)), 12)
        c = u + (K @ x[:-1, :, None])[:, :, 0]
        still = np.asarray(rest_u) + np.asarray(rest_K) @ np.asarray(rest_x)
        rows = np.concatenate([c[:, None, :], np.swapaxes(K, 1, 2)], axis=1)
        last = np.concatenate([still[None, :], np.asarray(rest_K).T])
        rows = np.concatenate([rows, np.tile(last, (extra, 1, 1))])
        if not np.isfinite(rows).all():
            raise BadInput("a law holds numbers that are not finite")
        times = dt * np.arange(len(rows))
        self.end = float(times[-1])
        self.duration = dt * len(u)
        flat = make_interp_spline(times, rows.reshape(len(rows), -1), k=5)
        self._splines = [flat, flat.derivative(1), flat.derivative(2)]
        self._shape = rows.shape[1:]

    def __call__(self, s: ArrayLike, derivative: int = 0) -> LawValues:
        """C and K at the local times ``s`` (N,) [s], or their first or second derivative; times outside are held at the ends."""
        s = np.asarray(s, dtype=np.float64)
        values = self._splines[derivative](np.clip(s, 0.0, self.end)).reshape(len(s), *self._shape)
        if derivative:
            values[(s < 0.0) | (s > self.end)] = 0.0
        return LawValues(values[:, 0], np.ascontiguousarray(np.swapaxes(values[:, 1:], 1, 2)))
