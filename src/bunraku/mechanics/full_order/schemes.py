"""Time schemes: how the velocities and accelerations at the end of a step follow from its positions.

h the step, D = y - y_n the motion of a point in it (for a body's turn: see below), all constraints at the level of positions:

    BDF2                v = (3 D - D_n) / (2 h),  a = (3 v - 4 v_n + v_(n-1)) / (2 h)
    generalized alpha   D = h v_n + h^2 ((1/2 - beta) A_n + beta A),  v = v_n + h ((1 - gamma) A_n + gamma A),
    where               (1 - am) A + am A_n = (1 - af) a + af a_n          (Arnold and Bruels; am, af, gamma, beta from rho)
    Newmark             the same with am = af = 0, gamma = 1/2, beta = 1/4 (average acceleration, no damping)
    backward Euler      v = D / h,  a = (v - v_n) / h

Turns: generalized alpha takes D as the rotation vector from q_n to q, in world axes. BDF2 takes the same difference of the unit
quaternions as of any other number, q' = (3 q - 4 q_n + q_(n-1)) / (2 h), and w = 2 vec(q' q^*): the paper's quaternions, whose
length is one here because only turns are unknowns.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.geometry.rotations import conjugate, cross_matrix, left_jacobian, multiply_quaternions
from bunraku.mechanics.full_order.assembly import Rates, TrialState


@dataclass(frozen=True)
class SchemeState:
    """All that a scheme remembers of a node of time: positions and rates, and for generalized alpha its own accelerations A.

    ``own`` holds (bodies A (B, 3), turns A (B, 3), A of each piece).
    """

    trial: TrialState
    rates: Rates
    own: tuple[Array, Array, tuple[Array, ...]] | None = None


class Scheme(ABC):
    """One formula of time integration: :meth:`rates` at a trial, :meth:`closed` to remember it."""

    @abstractmethod
    def rates(self, trial: TrialState, now: SchemeState, before: SchemeState | None, h: float) -> Rates:
        """Velocities and accelerations of ``trial`` at the end of a step from ``now``."""

    def closed(self, trial: TrialState, now: SchemeState, before: SchemeState | None, h: float) -> SchemeState:
        """The end of the step, once it has been solved."""
        return SchemeState(trial, self.rates(trial, now, before, h))


@dataclass(frozen=True)
class TwoStep(Scheme):
    """BDF2; needs two moments."""

    def rates(self, trial: TrialState, now: SchemeState, before: SchemeState | None, h: float) -> Rates:
        """As the formula says."""
        if before is None:
            raise BadInput("BDF2 needs two moments; start it with another scheme")

        def linear(y: Array, y1: Array, y0: Array, v1: Array, v0: Array) -> tuple[Array, Array]:
            v = (1.5 * y - 2.0 * y1 + 0.5 * y0) / h
            return v, (1.5 * v - 2.0 * v1 + 0.5 * v0) / h

        t1, t0, r1, r0 = now.trial, before.trial, now.rates, before.rates
        v, a = linear(trial.c, t1.c, t0.c, r1.v, r0.v)
        z = multiply_quaternions((-2.0 * t1.q + 0.5 * t0.q) / h, conjugate(trial.q)) if len(trial.q) else np.zeros((0, 4))
        w = 2.0 * z[:, 1:]
        alpha = (1.5 * w - 2.0 * r1.w + 0.5 * r0.w) / h
        w_by = -(z[:, :1, None] * np.eye(3) + cross_matrix(z[:, 1:]))
        xv, xa = _each(linear, trial.x, t1.x, t0.x, r1.xv, r0.xv)
        return Rates(v, a, w, alpha, w_by, 1.5 / h * w_by, xv, xa, 1.5 / h, 2.25 / h**2)


@dataclass(frozen=True)
class BackwardEuler(Scheme):
    """The first-order formula; strongly damped."""

    def rates(self, trial: TrialState, now: SchemeState, before: SchemeState | None, h: float) -> Rates:
        """As the formula says."""

        def linear(y: Array, y1: Array, v1: Array) -> tuple[Array, Array]:
            v = (y - y1) / h
            return v, (v - v1) / h

        v, a = linear(trial.c, now.trial.c, now.rates.v)
        theta, by = _turn(trial.q, now.trial.q)
        w = theta / h
        xv, xa = _each(linear, trial.x, now.trial.x, now.rates.xv)
        return Rates(v, a, w, (w - now.rates.w) / h, by / h, by / h**2, xv, xa, 1.0 / h, 1.0 / h**2)


@dataclass(frozen=True)
class GeneralizedAlpha(Scheme):
    """Generalized alpha with spectral radius ``rho`` at high frequency; None: Newmark's average acceleration."""

    rho: float | None = 0.9

    @property
    def numbers(self) -> tuple[float, float, float, float]:
        """am, af, gamma, beta."""
        if self.rho is None:
            return 0.0, 0.0, 0.5, 0.25
        am, af = (2.0 * self.rho - 1.0) / (self.rho + 1.0), self.rho / (self.rho + 1.0)
        gamma = 0.5 + af - am
        return am, af, gamma, 0.25 * (gamma + 0.5) ** 2

    def _linear(self, D: Array, v1: Array, a1: Array, A1: Array, h: float) -> tuple[Array, Array, Array]:
        am, af, gamma, beta = self.numbers
        A = (D - h * v1) / (beta * h * h) - (0.5 - beta) / beta * A1
        v = v1 + h * ((1.0 - gamma) * A1 + gamma * A)
        return v, ((1.0 - am) * A + am * A1 - af * a1) / (1.0 - af), A

    def _all(self, trial: TrialState, now: SchemeState, h: float) -> tuple[Rates, tuple[Array, Array, tuple[Array, ...]]]:
        am, af, gamma, beta = self.numbers
        r = now.rates
        own = now.own if now.own is not None else (r.a, r.alpha, r.xa or ())
        v, a, A = self._linear(trial.c - now.trial.c, r.v, r.a, own[0], h)
        theta, by = _turn(trial.q, now.trial.q)
        w, alpha, turning = self._linear(theta, r.w, r.alpha, own[1], h)
        speed, inertia = gamma / (beta * h), (1.0 - am) / (beta * h * h * (1.0 - af))
        ends = [
            self._linear(x - x1, v1, a1, A1, h)
            for x, x1, v1, a1, A1 in zip(trial.x, now.trial.x, r.xv or (), r.xa or (), own[2], strict=True)
        ]
        xv, xa, xA = (tuple(f[k] for f in ends) for k in range(3))
        return Rates(v, a, w, alpha, speed * by, inertia * by, xv, xa, speed, inertia), (A, turning, xA)

    def rates(self, trial: TrialState, now: SchemeState, before: SchemeState | None, h: float) -> Rates:
        """As the formula says."""
        return self._all(trial, now, h)[0]

    def closed(self, trial: TrialState, now: SchemeState, before: SchemeState | None, h: float) -> SchemeState:
        """The end of the step with the scheme's own accelerations."""
        rates, own = self._all(trial, now, h)
        return SchemeState(trial, rates, own)


METHODS = {
    "bdf2": TwoStep(),
    "generalized-alpha": GeneralizedAlpha(),
    "newmark": GeneralizedAlpha(rho=None),
    "backward-euler": BackwardEuler(),
}


def scheme_of(method: str) -> Scheme:
    """The scheme of a name."""
    if method not in METHODS:
        raise BadInput(f"the method is {method!r}; there are {', '.join(METHODS)}")
    return METHODS[method]


def _turn(q: Array, q1: Array) -> tuple[Array, Array]:
    """The rotation vectors (B, 3) from q1 to q and their derivative by a small turn of q."""
    if not len(q):
        return np.zeros((0, 3)), np.zeros((0, 3, 3))
    d = multiply_quaternions(q, conjugate(q1))
    d = d * np.where(d[:, :1] < 0.0, -1.0, 1.0)
    s = np.linalg.norm(d[:, 1:], axis=1, keepdims=True)
    safe = np.where(s > 1e-30, s, 1.0)
    theta = d[:, 1:] * np.where(s > 1e-30, 2.0 * np.arctan2(s, d[:, :1]) / safe, 2.0)
    return theta, np.asarray(np.linalg.inv(left_jacobian(theta)))


def _each(
    linear: Callable[..., tuple[Array, Array]], *parts: tuple[Array, ...] | None
) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
    ends = [linear(*arrays) for arrays in zip(*(part or () for part in parts), strict=True)]
    return tuple(f[0] for f in ends), tuple(f[1] for f in ends)
