"""The midpoint variational integrator: structure-preserving steps with exact first and second derivatives.

With q = (q1 + q2)/2, v = (q2 - q1)/dt, the discrete Lagrangian dt L(q, v), forces dt F(q, v, u1) and constraints h, a step from
(q1, p1) solves

    p1 + (dt/2 L_q - L_v + dt F)_d - (Dh(q1)' lam)_d = 0,    h(q2) = 0,    p2 = (dt/2 L_q + L_v)_d

for the dynamic part d of q2 and the multipliers lam (impulses: force x dt); the kinematic part of q2 is the input k2. Second order,
momentum preserving, energy bounded, constraints met to the tolerance at every step without any stabilization.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.mechanics.dynamics.initial import check_independent
from bunraku.mechanics.dynamics.system import System
from bunraku.mechanics.integrators import step_kernels as kernels
from bunraku.mechanics.integrators import trajectory_kernels as trajectories
from bunraku.mechanics.integrators.results import State, Step, StepDerivatives, StepTensor, Trajectory, TrajectoryDerivatives
from bunraku.mechanics.integrators.work_kernels import Newton
from bunraku.optimization.solution import Status

STATUS = {
    kernels.CONVERGED: Status.CONVERGED,
    kernels.TOO_MANY: Status.MAX_ITERATIONS,
    kernels.SINGULAR_MATRIX: Status.STALLED,
    kernels.NOT_FINITE: Status.STALLED,
}


@dataclass(frozen=True)
class VariationalIntegrator:
    """Steps of ``dt`` [s]; a step has converged when momentum balance and constraints are within ``tolerance``.

    A balance within 1e-13 of the momenta themselves is rounding and counts as met.
    """

    system: System
    dt: float
    tolerance: float = 1e-10
    max_iterations: int = 20

    def __post_init__(self) -> None:
        if not (np.isfinite(self.dt) and self.dt > 0.0):
            raise BadInput(f"the step dt is {self.dt}; it must be a positive number of seconds")
        if not self.tolerance > 0.0 or self.max_iterations < 1:
            raise BadInput("the tolerance must be positive and max_iterations at least 1")

    @property
    def newton(self) -> Newton:
        """How its steps are solved, as the kernels take it."""
        return Newton(float(self.dt), float(self.tolerance), int(self.max_iterations))

    def initial(self, q0: ArrayLike, q_prev: ArrayLike | None = None, *, v0: ArrayLike | None = None) -> State:
        """The state at ``q0`` (nq,): arriving from ``q_prev`` one step earlier, or with velocity ``v0`` (nq,), or at rest.

        Raises BadInput when constraints at q0 depend on each other.
        """
        system = self.system
        q = system.vector("q0", q0, system.nq)
        check_independent(system, q)
        if q_prev is not None:
            return State(q, self.momentum(q_prev, q))
        v = system.vector("v0", np.zeros(system.nq) if v0 is None else v0, system.nq)
        return State(q, system.lagrangian_derivatives(q, v).v[system.dynamic])

    def momentum(self, q1: ArrayLike, q2: ArrayLike) -> Array:
        """The momenta p2 (nd,) with which a step from q1 (nq,) arrives at q2 (nq,)."""
        system = self.system
        start, end = system.vector("q1", q1, system.nq), system.vector("q2", q2, system.nq)
        p2: Array = kernels.momentum(system.model, start, end, self.dt)
        return p2

    def step(
        self, q1: ArrayLike, p1: ArrayLike, u1: ArrayLike = (), k2: ArrayLike = (), *, guess: tuple[Array, Array] | None = None
    ) -> Step:
        """One step from q1 (nq,), p1 (nd,) with inputs u1 (nu,) to the kinematic configuration k2 (nk,).

        ``guess``: (q2 (nq,), lam (nc,)) to start Newton from; without it Newton starts at q1. Look at ``status`` of the result.
        """
        system = self.system
        q1, p1 = _shaped("q1", q1, system.nq), _shaped("p1", p1, system.nd)
        u1, k2 = _shaped("u1", u1, system.nu), _shaped("k2", k2, system.nk)
        if guess is None:
            q2, lam = q1.copy(), np.zeros(system.nc)
        else:
            q2, lam = system.vector("guess q2", guess[0], system.nq).copy(), system.vector("guess lam", guess[1], system.nc).copy()
        q2[system.kinematic] = k2
        p2 = np.empty(system.nd)
        used, code = kernels.single_step(system.model, q1, p1, u1, self.newton, q2, lam, p2)
        if code == kernels.NOT_FINITE:
            for name, given in (("q1", q1), ("p1", p1), ("u1", u1), ("k2", k2)):
                system.vector(name, given, len(given))
        return Step(q2, p2, lam, used, STATUS[code], q1, p1, u1)

    def first(self, step: Step) -> StepDerivatives:
        """Exact first derivatives of a converged step."""
        system, factors = self.system, kernels.make_factors(self.system.model, self.system.nu)
        if not kernels.first(system.model, step.q1, step.u1, step.q2, step.lam, self.dt, factors):
            raise BadInput(_SINGULAR)
        return StepDerivatives(step, factors, (system.nq, system.nd, system.nu, system.nk))

    def contracted(self, step: Step | StepDerivatives, zq: ArrayLike, zp: ArrayLike, zlam: ArrayLike | None = None) -> Array:
        """Second derivatives of zq.q2_d + zp.p2 (+ zlam.lam) over w = (q1, p1, u1, k2): a symmetric matrix (nw, nw).

        Give the result of :meth:`first` rather than the step to save computing it again.
        """
        system = self.system
        d = self.first(step) if isinstance(step, Step) else step
        zq, zp = system.vector("zq", zq, system.nd), system.vector("zp", zp, system.nd)
        zl = np.zeros(system.nc) if zlam is None else system.vector("zlam", zlam, system.nc)
        s, f = d.step, d.factors
        out = np.empty((f.Y.shape[1], f.Y.shape[1]))
        kernels.second(system.model, s.q1, s.u1, s.q2, s.lam, self.dt, f, zq, zp, zl, out)
        return out

    def second(self, step: Step | StepDerivatives) -> StepTensor:
        """All second derivatives of a converged step as one tensor (about 50 contractions for the marionette)."""
        system = self.system
        d = self.first(step) if isinstance(step, Step) else step
        nd, every = system.nd, np.eye(2 * system.nd + system.nc)
        full = np.array([self.contracted(d, z[:nd], z[nd : 2 * nd], z[2 * nd :]) for z in every])
        return StepTensor(full[:nd], full[nd : 2 * nd], full[2 * nd :])

    def rollout(
        self,
        q0: ArrayLike,
        p0: ArrayLike,
        u: ArrayLike,
        k2: ArrayLike,
        *,
        reference: ArrayLike | None = None,
        gain: ArrayLike | None = None,
    ) -> Trajectory:
        """N steps from (q0, p0) under inputs u (N, nu) and k2 (N, nk), the guess extrapolated from step to step.

        With ``gain`` (N, nu + nk, nq + nd) and ``reference`` (N or N + 1, nq + nd): the inputs used are (u, k2)_k - gain_k (x_k -
        reference_k), x = (q, p). A step that fails ends the run: ``steps`` says how many were good, and rows beyond them are NaN.
        """
        system = self.system
        q0, p0 = system.vector("q0", q0, system.nq), system.vector("p0", p0, system.nd)
        u, k2 = np.asarray(u, dtype=np.float64), np.asarray(k2, dtype=np.float64)
        N = max(len(u), len(k2))
        u, k2 = _table("u", u, N, system.nu), _table("k2", k2, N, system.nk)
        nx, K, ref = system.nq + system.nd, np.zeros((0, 0, 0)), np.zeros((0, 0))
        if gain is not None:
            K, ref = _writable(np.asarray(gain, dtype=np.float64)), _writable(np.asarray(reference, dtype=np.float64))
            if K.shape != (N, system.nu + system.nk, nx) or ref.ndim != 2 or len(ref) < N or ref.shape[1] != nx:
                raise BadInput(f"gain must be ({N}, {system.nu + system.nk}, {nx}) and reference ({N}, {nx})")
        Q, P, L, U, K2, count, done, code = trajectories.rollout(system.model, q0, p0, u, k2, ref, K, self.newton)
        if done < N:
            for table, kept in ((Q, done + 1), (P, done + 1), (L, done)):
                table[kept:] = np.nan
        return Trajectory(Q, P, L, U, K2, count, int(done), STATUS[code], self.dt)

    def linearize(self, trajectory: Trajectory) -> TrajectoryDerivatives:
        """A_k (N, nx, nx), B_k (N, nx, nU) and the multipliers' derivatives along a trajectory, x = (q, p), U = (u, k2)."""
        self._whole(trajectory)
        A, B, C, good = trajectories.linearize(self.system.model, trajectory.q, trajectory.u, trajectory.lam, self.dt)
        if not good:
            raise BadInput(_SINGULAR)
        return TrajectoryDerivatives(A, B, C)

    def contract(self, trajectory: Trajectory, zq: ArrayLike, zp: ArrayLike, zlam: ArrayLike | None = None) -> Array:
        """Contracted second derivatives (N, nw, nw) of all steps: costates zq, zp (N, nd) of the state after each, zlam (N, nc)."""
        self._whole(trajectory)
        system, N = self.system, len(trajectory.u)
        zq, zp = (
            _table("zq", np.asarray(zq, dtype=np.float64), N, system.nd),
            _table("zp", np.asarray(zp, dtype=np.float64), N, system.nd),
        )
        zl = np.zeros((N, system.nc)) if zlam is None else _table("zlam", np.asarray(zlam, dtype=np.float64), N, system.nc)
        out, good = trajectories.contract(system.model, trajectory.q, trajectory.u, trajectory.lam, zq, zp, zl, self.dt)
        if not good:
            raise BadInput(_SINGULAR)
        return out

    def _whole(self, trajectory: Trajectory) -> None:
        if not trajectory.status.good:
            raise BadInput(f"the trajectory failed after {trajectory.steps} steps; derivatives need one that went through")


_SINGULAR = "the equations of a step are singular there: constraints depend on each other, or a coordinate moves no mass"


def _table(what: str, values: Array, rows: int, columns: int) -> Array:
    if columns == 0:
        return np.zeros((rows, 0))
    if values.shape != (rows, columns):
        raise BadInput(f"{what} has shape {values.shape}; it must be ({rows}, {columns})")
    if not np.isfinite(values).all():
        raise BadInput(f"{what} holds numbers that are not finite")
    return _writable(values)


def _writable(values: Array) -> Array:
    """The numbers in a contiguous array that may be written: kernels are compiled once more for arrays that may not."""
    return np.require(values, np.float64, ["C", "W"])


def _shaped(what: str, values: ArrayLike, size: int) -> Array:
    """Numbers of shape (size,); whether they are finite the step itself finds out."""
    result = np.ascontiguousarray(values, dtype=np.float64)
    if result.shape != (size,):
        raise BadInput(f"{what} has shape {result.shape}; it must be ({size},)")
    return result
