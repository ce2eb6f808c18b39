"""When to switch between feedback laws: cost, gradient and Hessian by the switching times, along the closed loop.

The time t_k = k dt is regular. Law i begins at tau_i (tau_0 = 0) with its local clock s = t - tau_i, and takes over from law i - 1
within the fade b. With S_i = S((t_k - tau_i)/b) (:func:`~bunraku.performers.choreography.laws.smooth_step`; S_0 = 1, S_{r+1} = 0),

    U_k(x, tau) = sum_i (S_i - S_{i+1}) L_i(x, t_k - tau_i),   x_{k+1} = f(x_k, U_k(x_k, tau)),   J = sum_k l_k(x_k, U_k) + m(x_N).

U is smooth in tau, so J is. With Y_k = dx_k/dtau, V_k = (Y_k, dU_k/dtau), the costate chi_N = m_x, pull_k = l_u + f_u^T chi_{k+1},
chi_k = l_x + f_x^T chi_{k+1} + U_x^T pull_k:

    dJ/dtau   = sum_k l_w V_k + m_x Y_N
    d2J/dtau2 = sum_k V_k^T (l_ww + chi_{k+1}.f_ww) V_k + pull_k.(U_tautau + U_xtau Y_k + (U_xtau Y_k)^T) + Y_N^T m_xx Y_N

The discrete form of eq. 8 and 9 of Murphey and Johnson ("Control aesthetics in software architecture for robotic marionettes"):
as b goes to zero, U_tau becomes the difference of the two laws at the switch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.optimization.control.cost import TrajectoryCost
from bunraku.optimization.control.dynamics import DiscreteDynamics, Rollout
from bunraku.optimization.control.switching import SwitchingDerivatives, SwitchingProblem
from bunraku.performers.choreography.laws import Law, LawValues, smooth_step


def fades(t: Array, times: Array, fade: float) -> tuple[Array, Array, Array]:
    """S_i (r + 2, N) for i = 0 .. r + 1 at the times ``t`` (N,), and dS/dz / b, d2S/dz2 / b^2; rows 0 and r + 1 are 1 and 0."""
    value, slope, bend = smooth_step((t - times[:, None]) / fade)
    ends = np.ones((1, len(t))), np.zeros((1, len(t)))
    none = np.zeros((1, len(t)))
    return (
        np.concatenate([ends[0], value, ends[1]]),
        np.concatenate([none, slope / fade, none]),
        np.concatenate([none, bend / fade**2, none]),
    )


@dataclass(frozen=True)
class _Mixture:
    """U = c - K x at every step and its derivatives by tau: ``first`` r laws, ``second`` of pairs (j, j) and (j, j - 1)."""

    value: LawValues
    first: list[LawValues]
    second: dict[tuple[int, int], LawValues]


class LawSwitching(SwitchingProblem):
    """``laws`` one after the other from ``x0`` (n,) for ``steps`` steps of ``dt``, each fading in within ``fade`` [s].

    ``cost`` is that of the whole trajectory; it knows the time of the show, not of the laws.
    """

    def __init__(
        self,
        dynamics: DiscreteDynamics,
        laws: Sequence[Law],
        cost: TrajectoryCost,
        x0: ArrayLike,
        *,
        dt: float,
        steps: int,
        fade: float,
    ) -> None:
        super().__init__(0.0, dt * steps)
        if len(laws) < 2:
            raise BadInput(f"{len(laws)} laws arrived; switching takes at least two")
        if not 0.0 < fade <= self.end:
            raise BadInput(f"a fade of {fade} s in a show of {self.end:g} s; give a positive one that fits")
        self._dynamics, self._laws, self._cost = dynamics, list(laws), cost
        self._x0 = np.array(x0, dtype=np.float64)
        self._fade = float(fade)
        self._t: Array = dt * np.arange(steps, dtype=np.float64)

    def rollout(self, times: ArrayLike) -> Rollout:
        """The closed loop with the given switching times (r,)."""
        return self._roll(self._mixture(self._times(times), derivatives=False).value)

    def value(self, times: Array) -> float:
        """J; infinity where a step fails."""
        rolled = self.rollout(times)
        J = self._cost.value(rolled.x, rolled.u) if rolled.good else np.inf
        return float(J) if np.isfinite(J) else float("inf")

    def derivatives(self, times: Array) -> SwitchingDerivatives:
        """J, gradient and Hessian by the formulas of the module."""
        tau = self._times(times)
        mixture = self._mixture(tau, derivatives=True)
        rolled = self._roll(mixture.value)
        if not rolled.good:
            raise BadInput(f"the puppet cannot follow switching times {tau.tolist()}: step {rolled.failed_at} fails")
        x, u = rolled.x, rolled.u
        r, n, N = len(tau), x.shape[1], len(u)
        A, B = self._dynamics.linearize(x, u)
        U_x = -mixture.value.K
        U_tau = np.stack([part(x[:-1]) for part in mixture.first], axis=2)
        closed, driven = A + B @ U_x, B @ U_tau
        w, end = self._cost.gradient(x, u)
        Y, chi = np.zeros((N + 1, n, r)), np.empty((N + 1, n))
        chi[N] = end
        for k in range(N):
            Y[k + 1] = closed[k] @ Y[k] + driven[k]
        loaded = w[:, :n] + (w[:, None, n:] @ U_x)[:, 0]
        for k in range(N - 1, -1, -1):
            chi[k] = loaded[k] + chi[k + 1] @ closed[k]
        pull = w[:, n:] + (chi[1:, None, :] @ B)[:, 0]
        V = np.concatenate([Y[:-1], U_x @ Y[:-1] + U_tau], axis=1)
        gradient = np.einsum("ki,kij->j", w, V) + end @ Y[N]
        H, last = self._cost.hessian(x, u, exact=True)
        H += self._dynamics.curvature(x, u, np.ascontiguousarray(chi[1:]))
        hessian = np.einsum("kij,kil->jl", V, H @ V) + Y[N].T @ last @ Y[N]
        for j, part in enumerate(mixture.first):
            mixed = -np.einsum("km,kmn,knl->l", pull, part.K, Y[:-1])
            hessian[j] += mixed
            hessian[:, j] += mixed
        for (i, j), part in mixture.second.items():
            bend = float(np.vdot(pull, part(x[:-1])))
            hessian[i, j] += bend
            if i != j:
                hessian[j, i] += bend
        arrivals = np.minimum(np.searchsorted(self._t, tau), N)
        return SwitchingDerivatives(self._cost.value(x, u), gradient, 0.5 * (hessian + hessian.T), x[arrivals])

    def _times(self, times: ArrayLike) -> Array:
        tau = self.check(times)
        if len(tau) != len(self._laws) - 1:
            raise BadInput(f"{len(tau)} switching times for {len(self._laws)} laws; one fewer than laws is needed")
        return tau

    def _roll(self, law: LawValues) -> Rollout:
        x0 = self._x0
        return self._dynamics.rollout(x0, np.tile(x0, (len(law.c) + 1, 1)), law.c - law.K @ x0, law.K)

    def _mixture(self, tau: Array, *, derivatives: bool) -> _Mixture:
        S, dS, ddS = fades(self._t, tau, self._fade)
        weight = S[:-1] - S[1:]
        begins = np.concatenate([[0.0], tau])
        at = [
            [law(self._t - begin, order) for order in range(3 if derivatives else 1)]
            for law, begin in zip(self._laws, begins, strict=True)
        ]
        value = _sum([(weight[i], parts[0]) for i, parts in enumerate(at)])
        first, second = [], {}
        for j in range(1, len(at) if derivatives else 1):
            now, before = at[j], at[j - 1]
            first.append(_sum([(-dS[j], now[0]), (dS[j], before[0]), (-weight[j], now[1])]))
            second[j - 1, j - 1] = _sum([(ddS[j], now[0]), (-ddS[j], before[0]), (2.0 * dS[j], now[1]), (weight[j], now[2])])
            if j > 1:
                second[j - 1, j - 2] = _sum([(-dS[j], before[1])])
        return _Mixture(value, first, second)


def _sum(parts: Sequence[tuple[Array, LawValues]]) -> LawValues:
    """The sum of laws, each times a factor (N,)."""
    c = np.sum([factor[:, None] * law.c for factor, law in parts], axis=0)
    K = np.sum([factor[:, None, None] * law.K for factor, law in parts], axis=0)
    return LawValues(c, K)
