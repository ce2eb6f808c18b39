"""When to switch: cost, gradient and Hessian with respect to the switching times of a continuous system.

Between the times tau_1 <= ... <= tau_r the state follows dx/dt = f_i(t, x), the cost is J = sum of the integrals of l_i(t, x) plus
m(x(end)). With A_i = df_i/dx, the costate and the second-order costate run backward (eq. 8 and 9 of Murphey and Johnson,
"Control aesthetics in software architecture for robotic marionettes", with the ends they leave open),

    -drho/dt = A^T rho + l_x,                         rho(end) = m_x,
    -dP/dt   = A^T P + P A + l_xx + rho.f_xx,         P(end)   = m_xx.

Let 1 be the mode before tau_i, 2 the one after, X_i = f_1 - f_2, Y_j(t) = Phi(t, tau_j) X_j the derivative of x(t) by tau_j. Then

    dJ/dtau_i        = l_1 - l_2 + rho.X_i
    d2J/dtau_i^2     = X.P X + rho.(A_1 f_1 + A_2 f_2 - 2 A_2 f_1) + (l_1 - l_2)_x.f_1 - l_2x.X + (l_1 - l_2)_t + rho.(f_1 - f_2)_t
    d2J/dtau_i dtau_j = (P X_i + (A_1 - A_2)^T rho + (l_1 - l_2)_x).Y_j(tau_i),     j < i.

With V the cost to go, V_x = rho, V_xx = P and V_t = -l_2 - rho.f_2, they are the total derivatives of l_1 + V_x.f_1 + V_t.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import solve_ivp

from bunraku.arrays import Array
from bunraku.errors import BadInput


@dataclass(frozen=True)
class SwitchingDerivatives:
    """J at some switching times: ``cost``, ``gradient`` (r,), ``hessian`` (r, r), ``states`` (r, n) at the switches."""

    cost: float
    gradient: Array
    hessian: Array
    states: Array


class SwitchingProblem(ABC):
    """A cost as a function of ordered switching times in [``start``, ``end``]; two methods to write."""

    def __init__(self, start: float, end: float) -> None:
        if not (np.isfinite(start) and np.isfinite(end) and start < end):
            raise BadInput(f"a time span from {start} to {end} arrived; the end must come after the start")
        self.start = float(start)
        self.end = float(end)

    @abstractmethod
    def value(self, times: Array) -> float:
        """J; infinity where the system cannot be simulated."""

    @abstractmethod
    def derivatives(self, times: Array) -> SwitchingDerivatives:
        """J, gradient and Hessian."""

    def check(self, times: ArrayLike) -> Array:
        """The times as an array, refused unless they are ordered and inside the span."""
        tau = np.atleast_1d(np.array(times, dtype=np.float64))
        if tau.ndim != 1 or not np.isfinite(tau).all():
            raise BadInput(f"switching times of shape {tau.shape} arrived; a finite vector is needed")
        if (np.diff(np.concatenate([[self.start], tau, [self.end]])) < 0.0).any():
            raise BadInput(f"switching times {tau.tolist()} are not ordered inside [{self.start}, {self.end}]; sort and clip them")
        return tau


@dataclass(frozen=True)
class SwitchedDynamics:
    """dx/dt = f(t, x): ``f`` (n,), ``f_x`` (n, n), ``f_xx(t, x, rho)`` = sum rho_i d2f_i/dx2 (n, n), ``f_t`` (n,).

    ``f_t`` is None when f does not depend on t.
    """

    f: Callable[[float, Array], Array]
    f_x: Callable[[float, Array], Array]
    f_xx: Callable[[float, Array, Array], Array]
    f_t: Callable[[float, Array], Array] | None = None


@dataclass(frozen=True)
class RunningCost:
    """The rate of cost l(t, x) of a mode and its derivatives ``l_x`` (n,), ``l_xx`` (n, n), ``l_t``; None if l has no t."""

    value: Callable[[float, Array], float]
    l_x: Callable[[float, Array], Array]
    l_xx: Callable[[float, Array], Array]
    l_t: Callable[[float, Array], float] | None = None


@dataclass(frozen=True)
class TerminalCost:
    """The cost m(x) of where it ends, with ``m_x`` (n,) and ``m_xx`` (n, n)."""

    value: Callable[[Array], float]
    m_x: Callable[[Array], Array]
    m_xx: Callable[[Array], Array]


def no_running_cost(n: int) -> RunningCost:
    """The running cost that is zero, for states of ``n`` numbers."""
    return RunningCost(lambda t, x: 0.0, lambda t, x: np.zeros(n), lambda t, x: np.zeros((n, n)))


class ContinuousSwitching(SwitchingProblem):
    """Modes one after the other from ``x0`` (n,), ``costs`` one per mode or one for all, integrated by DOP853.

    ``tolerance``: relative and absolute error of a step of the integrator. r + 1 modes have r switching times.
    """

    def __init__(
        self,
        modes: Sequence[SwitchedDynamics],
        costs: Sequence[RunningCost] | RunningCost,
        terminal: TerminalCost,
        x0: ArrayLike,
        *,
        start: float = 0.0,
        end: float,
        tolerance: float = 1e-11,
    ) -> None:
        super().__init__(start, end)
        self._modes = list(modes)
        self._costs = [costs] * len(self._modes) if isinstance(costs, RunningCost) else list(costs)
        self._terminal = terminal
        self._x0 = np.array(x0, dtype=np.float64)
        self._tolerance = tolerance
        if len(self._modes) < 2 or len(self._costs) != len(self._modes):
            raise BadInput(
                f"{len(self._modes)} modes and {len(self._costs)} costs arrived; at least two modes, one cost each or one for all"
            )

    def value(self, times: Array) -> float:
        """J; infinity where the integration fails."""
        states, J, _ = self._forward(self._edges(times), sensitivities=False)
        return J + self._terminal.value(states[-1]) if states else float("inf")

    def derivatives(self, times: Array) -> SwitchingDerivatives:
        """J, gradient and Hessian by the formulas of the module."""
        edges = self._edges(times)
        r, n = len(edges) - 2, len(self._x0)
        states, J, arcs = self._forward(edges, sensitivities=True)
        if not states:
            raise BadInput(
                f"the modes cannot be integrated at switching times {edges[1:-1].tolist()}; they may run away in finite time"
            )
        x = states[-1]
        rho, P = np.array(self._terminal.m_x(x), dtype=np.float64), np.array(self._terminal.m_xx(x), dtype=np.float64)
        J += self._terminal.value(x)
        gradient, hessian = np.zeros(r), np.zeros((r, r))
        for i in range(r, 0, -1):
            rho, P = self._backward(i, edges[i], edges[i + 1], arcs[i], rho, P)
            t, x, Y = float(edges[i]), states[i - 1], arcs[i - 1][1]
            one, two, l1, l2 = self._modes[i - 1], self._modes[i], self._costs[i - 1], self._costs[i]
            f1, f2, A1, A2 = one.f(t, x), two.f(t, x), one.f_x(t, x), two.f_x(t, x)
            X, slope = f1 - f2, l1.l_x(t, x) - l2.l_x(t, x)
            gradient[i - 1] = l1.value(t, x) - l2.value(t, x) + rho @ X
            late = sum(sign * (0.0 if c.l_t is None else c.l_t(t, x)) for sign, c in ((1, l1), (-1, l2)))
            late += sum(sign * (0.0 if m.f_t is None else float(rho @ m.f_t(t, x))) for sign, m in ((1, one), (-1, two)))
            hessian[i - 1, i - 1] = X @ P @ X + rho @ (A1 @ f1 + A2 @ f2 - 2.0 * A2 @ f1) + slope @ f1 - l2.l_x(t, x) @ X + late
            row = P @ X + (A1 - A2).T @ rho + slope
            hessian[i - 1, : i - 1] = row @ Y[:, : i - 1]
            hessian[: i - 1, i - 1] = hessian[i - 1, : i - 1]
        return SwitchingDerivatives(float(J), gradient, hessian, np.array(states[:-1]).reshape(r, n))

    def _edges(self, times: ArrayLike) -> Array:
        tau = self.check(times)
        if len(tau) != len(self._modes) - 1:
            raise BadInput(f"{len(tau)} switching times for {len(self._modes)} modes; one fewer than modes is needed")
        return np.concatenate([[self.start], tau, [self.end]])

    def _forward(
        self, edges: Array, *, sensitivities: bool
    ) -> tuple[list[Array], float, list[tuple[Callable[[float], Array], Array]]]:
        """States at the ends of all arcs, the integral of l, and for each arc x(t) and Y at its end; no states when it fails."""
        n, r = len(self._x0), len(edges) - 2
        columns = r if sensitivities else 0
        y = np.concatenate([self._x0, [0.0], np.zeros(n * columns)])
        states, arcs = [], []
        for i, (mode, cost) in enumerate(zip(self._modes, self._costs, strict=True)):
            t0, t1 = float(edges[i]), float(edges[i + 1])
            if i > 0 and sensitivities:
                Y = y[n + 1 :].reshape(n, columns)
                Y[:, i - 1] = self._modes[i - 1].f(t0, y[:n]) - mode.f(t0, y[:n])

            def rate(t: float, y: Array, mode: SwitchedDynamics = mode, cost: RunningCost = cost) -> Array:
                x = y[:n]
                parts = [mode.f(t, x), np.array([cost.value(t, x)])]
                if columns:
                    parts.append((mode.f_x(t, x) @ y[n + 1 :].reshape(n, columns)).ravel())
                return np.concatenate(parts)

            curve: Callable[[float], Array] = _Constant(y[:n].copy())
            if t1 > t0:
                with np.errstate(all="ignore"):
                    solved = solve_ivp(
                        rate, (t0, t1), y, method="DOP853", rtol=self._tolerance, atol=self._tolerance, dense_output=sensitivities
                    )
                if not solved.success or not np.isfinite(solved.y[:, -1]).all():
                    return [], np.inf, []
                y = solved.y[:, -1].copy()
                if solved.sol is not None:
                    curve = solved.sol
            states.append(y[:n].copy())
            arcs.append((curve, y[n + 1 :].reshape(n, columns).copy()))
        return states, float(y[n]), arcs

    def _backward(
        self, i: int, t0: float, t1: float, arc: tuple[Callable[[float], Array], Array], rho: Array, P: Array
    ) -> tuple[Array, Array]:
        """Costates from the end of arc ``i`` to its beginning."""
        if not t1 > t0:
            return rho, P
        n, mode, cost = len(rho), self._modes[i], self._costs[i]

        def rate(t: float, y: Array) -> Array:
            x, rho, P = arc[0](t)[:n], y[:n], y[n:].reshape(n, n)
            A = mode.f_x(t, x)
            AP = A.T @ P
            return -np.concatenate([A.T @ rho + cost.l_x(t, x), (AP + AP.T + cost.l_xx(t, x) + mode.f_xx(t, x, rho)).ravel()])

        y = np.concatenate([rho, P.ravel()])
        solved = solve_ivp(rate, (t1, t0), y, method="DOP853", rtol=self._tolerance, atol=self._tolerance)
        back = solved.y[n:, -1].reshape(n, n)
        return solved.y[:n, -1].copy(), 0.5 * (back + back.T)


class _Constant:
    """The curve of an arc that lasts no time."""

    def __init__(self, value: Array) -> None:
        self._value = value

    def __call__(self, t: float) -> Array:
        return self._value
