"""The variational integrator seen by trajectory optimization: x_{k+1} = f(x_k, U_k), with exact derivatives.

State x = (q, p): all coordinates, momenta of the dynamic ones; input U = (u, k2): force inputs, and the kinematic (prescribed)
coordinates at the end of the step. The velocities of the kinematic coordinates are eliminated: 22 dynamic and 18 kinematic
coordinates make 62 states, not 80. A cost or limit on the acceleration of a carriage needs them back: ``kinematic_velocity``
appends v_k = (k2 - k1)/dt, and the acceleration at the coming step, (k2 - q_k)/dt^2 - v_k/dt, is linear in (x, U).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.mechanics.integrators import discrete_dynamics_kernels as kernels
from bunraku.mechanics.integrators.results import Trajectory
from bunraku.mechanics.integrators.variational import VariationalIntegrator
from bunraku.optimization.control.dynamics import DiscreteDynamics, Rollout
from bunraku.optimization.solution import Status


class VariationalDynamics(DiscreteDynamics):
    """The steps of an ``integrator``, with its step length, tolerance and iteration limit.

    A step that does not converge ends a roll-out. The last trajectory and its linearization are remembered: who asks again for the
    multipliers or derivatives of the same states and inputs pays for a comparison. On any other curve the steps are solved again,
    from the states at hand as a guess.
    """

    def __init__(self, integrator: VariationalIntegrator, *, kinematic_velocity: bool = False) -> None:
        system = integrator.system
        self._core = system.nq + system.nd
        super().__init__(self._core + (system.nk if kinematic_velocity else 0), system.nu + system.nk)
        self.integrator, self.system, self.kinematic_velocity = integrator, system, kinematic_velocity
        self._columns = np.concatenate([np.arange(self._core), self.nx + np.arange(self.nu)])
        self._walked: tuple[Array, Array, Array] | None = None
        self._known: tuple[Array, Array, tuple[Array, Array, Array]] | None = None

    def state(self, q: ArrayLike, p: ArrayLike, kinematic_velocity: ArrayLike | None = None) -> Array:
        """The states (..., nx) of configurations ``q`` (..., nq) and momenta ``p`` (..., nd), carriages at rest unless told."""
        parts = [np.asarray(q, dtype=np.float64), np.asarray(p, dtype=np.float64)]
        if self.kinematic_velocity:
            rest = np.zeros((*parts[0].shape[:-1], self.system.nk))
            parts.append(rest if kinematic_velocity is None else rest + np.asarray(kinematic_velocity, dtype=np.float64))
        return np.concatenate(parts, axis=-1)

    def rollout(self, x0: Array, xb: Array, ub: Array, K: Array) -> Rollout:
        """Simulate in closed loop; see the base class."""
        x0, xb, ub, K = (np.ascontiguousarray(part, dtype=np.float64) for part in (x0, xb, ub, K))
        x, u, lam, failed = kernels.rollout(self.system.model, self.integrator.newton, self.kinematic_velocity, x0, xb, ub, K)
        if failed < 0:
            self._walked = (x.copy(), u.copy(), lam)
        return Rollout(x, u, int(failed))

    def linearize(self, x: Array, u: Array) -> tuple[Array, Array]:
        """A_k (N, nx, nx) and B_k (N, nx, nu); NaN when a step of a curve that is no trajectory cannot be solved."""
        A, B, _ = self._linear(x, u)
        return A, B

    def curvature(self, x: Array, u: Array, costates: Array) -> Array:
        """Contracted second derivatives (N, nx + nu, nx + nu)."""
        dynamic, nq = self.system.dynamic, self.system.nq
        return self._curved(x, u, costates[:, dynamic], costates[:, nq : self._core], np.zeros((len(u), self.system.nc)))

    def multipliers(self, x: Array, u: Array) -> Array:
        """The constraint impulses l_k (N, nc) of each step: force times dt, in the integrator's sign."""
        return self._steps(x, u)[1]

    def multiplier_jacobian(self, x: Array, u: Array) -> Array:
        """Their derivatives with respect to (x_k, U_k), shape (N, nc, nx + nu)."""
        return self._linear(x, u)[2]

    def multiplier_curvature(self, x: Array, u: Array, weights: Array) -> Array:
        """Second derivatives of weights_k.l_k, shape (N, nx + nu, nx + nu); ``weights`` (N, nc)."""
        nothing = np.zeros((len(u), self.system.nd))
        return self._curved(x, u, nothing, nothing, weights)

    def _steps(self, x: Array, u: Array) -> tuple[Array, Array]:
        """Where each step arrives, q2 (N, nq), and its multipliers; NaN from a step that cannot be solved on."""
        if self._walked is not None and np.array_equal(x, self._walked[0]) and np.array_equal(u, self._walked[1]):
            return x[1:, : self.system.nq], self._walked[2].copy()
        x, u = np.ascontiguousarray(x, dtype=np.float64), np.ascontiguousarray(u, dtype=np.float64)
        q2, lam, failed = kernels.solve_steps(self.system.model, self.integrator.newton, x, u)
        if failed >= 0:
            q2[failed:], lam[failed:] = np.nan, np.nan
        return q2, lam

    def _trajectory(self, x: Array, u: Array) -> tuple[Trajectory, int] | None:
        """The steps as a trajectory, and how many of its steps one of ours takes: 2 on a curve that jumps between steps."""
        q2, lam = self._steps(x, u)
        if not np.isfinite(q2).all():
            return None
        nq, nu, N = self.system.nq, self.system.nu, len(u)
        q, p = x[:, :nq], x[:, nq : self._core]
        stride = 1 if np.abs(q2 - q[1:]).max() <= 1e-9 * (1.0 + np.abs(q).max()) else 2
        if stride == 2:
            q = np.stack([q[:-1], q2], axis=1).reshape(2 * N, nq)
            p, lam, u = (np.repeat(part, 2, axis=0)[: 2 * N - last] for part, last in ((p[:-1], 0), (lam, 1), (u, 1)))
        steps = len(u)
        q, p, lam, force, k2 = (np.ascontiguousarray(part, dtype=np.float64) for part in (q, p, lam, u[:, :nu], u[:, nu:]))
        counts = np.zeros(steps, dtype=np.int64)
        return Trajectory(q, p, lam, force, k2, counts, steps, Status.CONVERGED, self.integrator.dt), stride

    def _linear(self, x: Array, u: Array) -> tuple[Array, Array, Array]:
        """A, B and the multipliers' derivatives: of the curve asked for last, or new ones. Callers must not change them."""
        if self._known is None or not (np.array_equal(x, self._known[0]) and np.array_equal(u, self._known[1])):
            self._known = (np.array(x), np.array(u), self._linearized(x, u))
        return self._known[2]

    def _linearized(self, x: Array, u: Array) -> tuple[Array, Array, Array]:
        N, nx, core, nk = len(u), self.nx, self._core, self.system.nk
        A, B = np.full((N, nx, nx), np.nan), np.full((N, nx, self.nu), np.nan)
        L = np.full((N, self.system.nc, nx + self.nu), np.nan)
        solved = self._trajectory(x, u)
        if solved is None:
            return A, B, L
        trajectory, stride = solved
        lines = self.integrator.linearize(trajectory)
        A[:], B[:], L[:] = 0.0, 0.0, 0.0
        A[:, :core, :core], B[:, :core] = lines.A[::stride], lines.B[::stride]
        L[:, :, self._columns] = lines.lam[::stride]
        if self.kinematic_velocity:
            rows, dt = np.arange(core, core + nk), self.integrator.dt
            A[:, rows, self.system.kinematic] = -1.0 / dt
            B[:, rows, self.system.nu + np.arange(nk)] = 1.0 / dt
        return A, B, L

    def _curved(self, x: Array, u: Array, zq: Array, zp: Array, zl: Array) -> Array:
        solved = self._trajectory(x, u)
        H = np.full((len(u), self.nx + self.nu, self.nx + self.nu), np.nan)
        if solved is None:
            return H
        trajectory, stride = solved
        weights = (np.repeat(z, stride, axis=0)[: trajectory.steps] for z in (zq, zp, zl))
        curved = self.integrator.contract(trajectory, *weights)[::stride]
        if not self.kinematic_velocity:
            return curved
        H[:] = 0.0
        H[:, self._columns[:, None], self._columns] = curved
        return H
