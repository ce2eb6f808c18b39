"""What a puppet's trajectory costs: distance to wished coordinates, acceleration of the carriages, strings near going slack.

With the state x = (q, p, v_k), the input U = k2 of :class:`~bunraku.mechanics.integrators.discrete_dynamics.VariationalDynamics`
and dt the step,

    J = dt sum_k [ 1/2 e_k.W_k e_k + w_a/2 |a_k|^2 + w_T sum_strings max(0, 1 - T_k/T_0)^4 ] + 1/2 e_N.W_N e_N,    e = x - wish,

W_k diagonal, a = (U - k)/dt^2 - v_k/dt the carriages' acceleration, T = 2 d lam/dt the tension, d the length of the string at the
start of the step, T_0 the tension below which a string counts as nearly slack. The hinge has three continuous derivatives.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array
from bunraku.mechanics.integrators.discrete_dynamics import VariationalDynamics
from bunraku.optimization.control.cost import TrajectoryCost


@dataclass(frozen=True, kw_only=True)
class PuppetWeights:
    """Weights of the effort and of the strings.

    ``acceleration`` [cost s^3/m^2] of every carriage and winch, ``slack`` [cost/s] of a string that carries nothing,
    ``slack_below`` T_0 [N].
    """

    acceleration: float = 1e-3
    slack: float = 1.0
    slack_below: float = 0.5


class PuppetCost(TrajectoryCost):
    """The cost of the module: ``wish`` (N + 1, nx) with the diagonal weights ``weight`` (N + 1, nx) [cost / (s unit^2)].

    ``dynamics`` carries the velocities of the carriages (``kinematic_velocity``).
    """

    def __init__(self, dynamics: VariationalDynamics, wish: Array, weight: Array, weights: PuppetWeights) -> None:
        system, self._dt = dynamics.system, dynamics.integrator.dt
        self._dynamics, self._wish, self._weights = dynamics, wish, weights
        self._weight = weight * self._dt
        self._weight[-1] /= self._dt
        names = [name for name in system.constraint_names if f"{name}.length" in system.names]
        self._rows = np.array([system.constraint_names.index(name) for name in names], dtype=np.int64)
        self._lengths = np.array([system.index(f"{name}.length") for name in names], dtype=np.int64)
        nk, nx = system.nk, dynamics.nx
        M = np.zeros((nk, nx + dynamics.nu))
        rows = np.arange(nk)
        M[rows, system.kinematic] = -1.0 / self._dt**2
        M[rows, nx - nk + rows] = -1.0 / self._dt
        M[rows, nx + system.nu + rows] = 1.0 / self._dt**2
        self._M = M
        self._bend = self._dt * weights.acceleration * M.T @ M

    def accelerations(self, x: Array, u: Array) -> Array:
        """Of every carriage coordinate and winch, (N, nk) [m/s^2]."""
        result: Array = np.hstack([x[:-1], u]) @ self._M.T
        return result

    def tensions(self, x: Array, u: Array) -> Array:
        """Of every string over every step, (N, strings) [N]."""
        result: Array = 2.0 / self._dt * x[:-1, self._lengths] * self._dynamics.multipliers(x, u)[:, self._rows]
        return result

    def parts(self, x: Array, u: Array) -> tuple[float, float, float]:
        """The cost of the wish, of the accelerations and of the strings."""
        e, a = x - self._wish, self.accelerations(x, u)
        z = np.maximum(0.0, 1.0 - self.tensions(x, u) / self._weights.slack_below)
        slack = self._dt * self._weights.slack * float((z**4).sum())
        return 0.5 * float(np.vdot(e, self._weight * e)), 0.5 * self._dt * self._weights.acceleration * float(np.vdot(a, a)), slack

    def value(self, x: Array, u: Array) -> float:
        """J of the whole trajectory."""
        return float(sum(self.parts(x, u)))

    def gradient(self, x: Array, u: Array) -> tuple[Array, Array]:
        """Stage gradients (N, nx + nu) and the terminal one (nx,)."""
        n, e = x.shape[1], x - self._wish
        w = self._dt * self._weights.acceleration * self.accelerations(x, u) @ self._M
        w[:, :n] += self._weight[:-1] * e[:-1]
        slope, _, T_w, _ = self._slack(x, u)
        if slope.any():
            w += (slope[:, None, :] @ T_w)[:, 0]
        return w, self._weight[-1] * e[-1]

    def add_hessian(self, H: Array, P: Array, x: Array, u: Array, *, exact: bool) -> None:
        """Add the stage Hessians to ``H`` (N, nx + nu, nx + nu) and the terminal one to ``P`` (nx, nx), in place."""
        n, N = x.shape[1], len(u)
        H += self._bend
        P += np.diag(self._weight[-1])
        np.einsum("kii->ki", H)[:, :n] += self._weight[:-1]
        slope, bend, T_w, lam_w = self._slack(x, u)
        if bend.any():
            H += np.swapaxes(T_w, 1, 2) @ (bend[:, :, None] * T_w)
        if exact and slope.any():
            force = np.zeros((N, lam_w.shape[1]))
            scaled = 2.0 / self._dt * slope
            force[:, self._rows] = scaled * x[:-1, self._lengths]
            H += self._dynamics.multiplier_curvature(x, u, force)
            for column, (row, length) in enumerate(zip(self._rows, self._lengths, strict=True)):
                cross = scaled[:, column, None] * lam_w[:, row]
                H[:, length] += cross
                H[:, :, length] += cross

    def _slack(self, x: Array, u: Array) -> tuple[Array, Array, Array, Array]:
        """First and second derivative of the hinge by T (N, strings), dT/dw (N, strings, nw) and dlam/dw (N, nc, nw)."""
        T0, scale = self._weights.slack_below, self._dt * self._weights.slack
        lam = self._dynamics.multipliers(x, u)[:, self._rows]
        d = x[:-1, self._lengths]
        z = np.maximum(0.0, 1.0 - 2.0 / self._dt * d * lam / T0)
        slope, bend = -4.0 * scale / T0 * z**3, 12.0 * scale / T0**2 * z**2
        if not z.any():
            nothing = np.zeros((len(u), len(self._rows), 0))
            return slope, bend, nothing, nothing
        lam_w = self._dynamics.multiplier_jacobian(x, u)
        T_w = 2.0 / self._dt * d[:, :, None] * lam_w[:, self._rows]
        T_w[:, np.arange(len(self._rows)), self._lengths] += 2.0 / self._dt * lam
        return slope, bend, T_w, lam_w
