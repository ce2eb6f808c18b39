"""Newton's method on trajectories: minimise J(P(xi)) over curves xi, P the projection operator.

At a trajectory xi = (x, u) with linearization A, B and gains K the costate is

    chi_N = m_x,   chi_k = l_x - K^T l_u + (A - B K)^T chi_{k+1},

and the direction zeta = (z, v) minimises DJ.zeta + 1/2 D2J.(zeta, zeta) along z_{k+1} = A z + B v, z_0 = 0: the
linear-quadratic problem of :mod:`bunraku.optimization.control.lqr` with stage matrices l_ww + chi_{k+1}.f_ww. (The paper's
direction problems lack the factor 1/2, without which Newton takes half steps.) A step xi <- P(xi + s zeta) is taken with the
first s = 1, beta, beta^2, ... that satisfies Armijo's rule J(P(xi + s zeta)) < J + alpha s DJ.zeta. Without chi.f_ww it is the
quasi-Newton (Gauss-Newton) direction, with unit matrices steepest descent.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.optimization.control import riccati_kernels as kernels
from bunraku.optimization.control.cost import TrajectoryCost
from bunraku.optimization.control.dynamics import DiscreteDynamics, Rollout
from bunraku.optimization.control.lqr import LqStep, linear_quadratic_step, stage_weights
from bunraku.optimization.monitor import SILENT, Event, Monitor
from bunraku.optimization.solution import Status

ROUNDING = 1e-13
"""Costs that differ by less than this part of themselves are not told apart."""

METHODS = ("newton", "quasi", "steepest")


@dataclass(frozen=True)
class FeedbackWeights:
    """Weights of the linear-quadratic problem behind the projection's gains: ``Q`` (nx, nx), ``R`` (nu, nu), ``terminal`` Qf.

    Constant or one per step. They shape the way to the optimum and the feedback returned, not the optimum.
    """

    Q: ArrayLike
    R: ArrayLike
    terminal: ArrayLike | None = None


@dataclass(frozen=True)
class NewtonStep:
    """One iteration: ``cost`` and ``slope`` DJ.zeta before it, ``method``, ``backtracks`` m of s = beta^m, ``share`` of f_ww."""

    cost: float
    slope: float
    method: str
    backtracks: int
    share: float


@dataclass(frozen=True)
class TrajectorySolution:
    """The best trajectory found.

    ``x`` (N + 1, nx), ``u`` (N, nu); ``K`` (N, nu, nx) the feedback u_k - K_k (x - x_k) that stabilises it; ``A`` (N, nx, nx),
    ``B`` (N, nx, nu) its linearization; ``cost`` J; ``slope`` DJ.zeta at the end; ``steps`` the accepted iterations.
    """

    x: Array
    u: Array
    K: Array
    A: Array
    B: Array
    cost: float
    slope: float
    status: Status
    steps: tuple[NewtonStep, ...]

    @property
    def iterations(self) -> int:
        """How many steps were accepted."""
        return len(self.steps)

    @property
    def costs(self) -> Array:
        """J before each step and at the end."""
        return np.array([step.cost for step in self.steps] + [self.cost])

    @property
    def slopes(self) -> Array:
        """DJ.zeta before each step and at the end."""
        return np.array([step.slope for step in self.steps] + [self.slope])

    @property
    def exponent(self) -> float:
        """Order p of the last full Newton steps; NaN when there are fewer than two of them in a row.

        From e_{k+1} = c e_k^p, three successive errors give p = log(e_2 / e_1) / log(e_1 / e_0); the slope is a squared
        error, which leaves p alone. The larger of the last two triples counts, because rounding, which sooner or later stops the
        fall, only lowers p; triples that do not fall a hundredfold to begin with are not read.
        """
        slopes = np.abs(self.slopes)
        full = [step.method == "newton" and step.backtracks == 0 and step.share == 1.0 for step in self.steps]
        orders: list[float] = []
        for last in range(len(self.steps), 1, -1):
            e0, e1, e2 = slopes[last - 2 : last + 1]
            if full[last - 1] and full[last - 2] and 0.01 * e0 > e1 > e2 > 0.0 and len(orders) < 2:
                orders.append(float(np.log(e2 / e1) / np.log(e1 / e0)))
        return max(orders, default=float("nan"))


class _Local(NamedTuple):
    """What is known at a trajectory x, u: linearization A, B, gains K, gradients w, bf, and Gauss-Newton matrices Hq, Pq."""

    x: Array
    u: Array
    A: Array
    B: Array
    K: Array
    w: Array
    bf: Array
    Hq: Array
    Pq: Array


@dataclass(frozen=True, kw_only=True)
class TrajectoryNewton:
    """The solver: options and one verb.

    ``tolerance`` [cost]: converged when abs(DJ.zeta) is at most tolerance + ``relative_tolerance`` abs(J). ``method``: "newton"
    falls back to "quasi" and that to "steepest" when the direction problem has no minimum or no step along it is accepted.
    ``quasi_iterations``: the first iterations are quasi-Newton whatever the method. ``alpha``, ``beta``: Armijo's rule.
    ``max_backtracks``: the shortest step tried is beta^max_backtracks. ``shares``: where the Newton matrix H is indefinite, the
    mixtures H_q + share (H - H_q) with the Gauss-Newton matrix H_q that are tried before H_q itself; on a marionette with cheap
    inputs they reach in 23 iterations what falling back at once does not reach in 60. ``dampings``: how many Levenberg
    terms mu D, D the diagonal of H_q, are added to H_q when it has no minimum either or leads nowhere, each a hundred times the
    last. ``feedback_diagonal``: see :meth:`solve`.
    """

    max_iterations: int = 100
    tolerance: float = 1e-6
    relative_tolerance: float = 0.0
    method: str = "newton"
    quasi_iterations: int = 0
    alpha: float = 1e-5
    beta: float = 0.7
    max_backtracks: int = 30
    shares: tuple[float, ...] = (0.8, 0.6, 0.4, 0.2)
    dampings: int = 3
    feedback_diagonal: float = 1e-4

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise BadInput(f"the method {self.method!r} is not known; choose from {', '.join(METHODS)}")
        if self.max_iterations < 0 or self.tolerance < 0.0 or self.relative_tolerance < 0.0:
            raise BadInput(f"{self}: iterations and tolerances must not be negative")
        if not (0.0 < self.alpha < 0.5 and 0.0 < self.beta < 1.0 and self.max_backtracks >= 0):
            raise BadInput(f"{self}: 0 < alpha < 1/2, 0 < beta < 1 and max_backtracks >= 0 are needed")

    def solve(
        self,
        dynamics: DiscreteDynamics,
        cost: TrajectoryCost,
        x_guess: ArrayLike,
        u_guess: ArrayLike,
        *,
        feedback: FeedbackWeights | None = None,
        monitor: Monitor = SILENT,
    ) -> TrajectorySolution:
        """Minimise from the curve ``x_guess`` (N + 1, nx), ``u_guess`` (N, nu), which is projected first; x_0 stays.

        The gains K of the projection come from ``feedback``, or, when that is left out, from the cost's own Gauss-Newton matrix
        plus ``feedback_diagonal`` times the mean of its diagonal, states and inputs apart. A roll-out that fails counts as a step
        refused. Raises BadInput when not even the guess can be rolled out; otherwise ends with CONVERGED, STALLED, MAX_ITERATIONS
        or CANCELLED and the best trajectory.
        """
        x, u = checked_curve(dynamics, x_guess, u_guess)
        x, u, J = self._start(dynamics, cost, x, u, feedback)
        steps: list[NewtonStep] = []
        status, slope = Status.MAX_ITERATIONS, float("nan")
        while True:
            A, B = _linearize(dynamics, x, u)
            w, bf = cost.gradient(x, u)
            Hq, Pq = cost.hessian(x, u, exact=False)
            K = self._gains(A, B, Hq, Pq, feedback)
            here = _Local(x, u, A, B, K, np.ascontiguousarray(w), np.ascontiguousarray(bf), Hq, Pq)
            taken: tuple[Rollout, float, NewtonStep] | None = None
            seen = False
            for method, share, step in self._directions(dynamics, cost, here, len(steps)):
                if not seen:
                    seen, slope = True, step.slope
                    figures = {"cost": J, "slope": slope}
                    monitor.report(Event("trajectory", len(steps) / max(self.max_iterations, 1), figures=figures))
                    if -slope <= self.tolerance + self.relative_tolerance * abs(J):
                        status = Status.CONVERGED
                        break
                    if len(steps) >= self.max_iterations:
                        break
                    if monitor.cancelled:
                        status = Status.CANCELLED
                        break
                taken = self._search(dynamics, cost, here, NewtonStep(J, step.slope, method, 0, share), step)
                if taken is not None:
                    break
            if taken is None:
                if status is Status.MAX_ITERATIONS and len(steps) < self.max_iterations:
                    status = Status.STALLED
                return TrajectorySolution(x, u, K, A, B, J, slope, status, tuple(steps))
            (x, u, _), J, newton = taken
            steps.append(newton)

    def _start(
        self, dynamics: DiscreteDynamics, cost: TrajectoryCost, x: Array, u: Array, feedback: FeedbackWeights | None
    ) -> tuple[Array, Array, float]:
        """Project the guess with gains from its own linearization; without feedback when that fails."""
        A, B = dynamics.linearize(x, u)
        for K in (self._gains(A, B, *cost.hessian(x, u, exact=False), feedback), np.zeros((len(u), dynamics.nu, dynamics.nx))):
            if not np.isfinite(K).all():
                continue
            rolled = dynamics.project(x, u, K)
            J = cost.value(rolled.x, rolled.u) if rolled.good else np.inf
            if np.isfinite(J):
                return rolled.x, rolled.u, float(J)
        where = f"fails at step {rolled.failed_at}" if not rolled.good else "has no finite cost"
        raise BadInput(f"the guess cannot be followed: its roll-out {where}; give a guess nearer to a motion of the system")

    def _gains(self, A: Array, B: Array, Hq: Array, Pq: Array, feedback: FeedbackWeights | None) -> Array:
        """Gains of the projection (N, nu, nx); NaN when the linearization is not finite."""
        n = A.shape[1]
        if not (np.isfinite(A).all() and np.isfinite(B).all()):
            return np.full((len(A), B.shape[2], n), np.nan)
        if feedback is not None:
            H = stage_weights(feedback.Q, feedback.R, steps=len(A))
            Pf = np.ascontiguousarray(H[-1, :n, :n] if feedback.terminal is None else feedback.terminal, dtype=np.float64)
        else:
            H, Pf = Hq.copy(), Pq.copy()
            diagonal = np.einsum("kii->ki", H)
            extra = self.feedback_diagonal
            diagonal[:, :n] += extra * max(float(diagonal[:, :n].mean()), 1e-12)
            diagonal[:, n:] += extra * max(float(diagonal[:, n:].mean()), 1e-12)
            Pf[np.diag_indices(n)] += extra * max(float(np.trace(Pf)) / n, 1e-12)
        K, _, _, _, failed = kernels.lq_backward(A, B, H, np.zeros(H.shape[:2]), Pf, np.zeros(n))
        if failed >= 0 and feedback is not None:
            raise BadInput(
                f"feedback weights give no minimum at step {failed}; Q must be positive semidefinite, R positive definite"
            )
        gains: Array = K
        return gains

    def _directions(
        self, dynamics: DiscreteDynamics, cost: TrajectoryCost, here: _Local, iteration: int
    ) -> Iterator[tuple[str, float, LqStep]]:
        """Descent directions, best first: name, share of the exact curvature, step."""
        x, u, A, B, K, w, bf, Hq, Pq = here
        first = METHODS.index(self.method)
        if self.method == "newton" and iteration < self.quasi_iterations:
            first = 1
        if first == 0:
            chi = kernels.costates(A, B, K, w, bf)
            H, Pf = cost.hessian(x, u, exact=True)
            H = H + dynamics.curvature(x, u, np.ascontiguousarray(chi[1:]))
            for share in (1.0, *self.shares):
                mixed = (H, Pf) if share == 1.0 else (Hq + share * (H - Hq), Pq + share * (Pf - Pq))
                step = linear_quadratic_step(A, B, mixed[0], w, np.ascontiguousarray(mixed[1]), bf)
                if step is not None:
                    yield "newton", share, step
                    break
        if first <= 1:
            D, Df = _scales(Hq, Pq)
            for mu in [0.0] + [1e-3 * 100.0**j for j in range(self.dampings)]:
                step = _damped(A, B, Hq, w, Pq, bf, mu, D, Df)
                if step is not None:
                    yield "quasi", 0.0, step
        unit = np.zeros_like(Hq)
        np.einsum("kii->ki", unit)[:] = 1.0
        step = linear_quadratic_step(A, B, unit, w, np.eye(A.shape[1]), bf)
        if step is not None:
            yield "steepest", 0.0, step

    def _search(
        self, dynamics: DiscreteDynamics, cost: TrajectoryCost, here: _Local, newton: NewtonStep, step: LqStep
    ) -> tuple[Rollout, float, NewtonStep] | None:
        """Armijo's rule along one direction; None when no step is accepted."""
        s, J = 1.0, newton.cost
        for m in range(self.max_backtracks + 1):
            rolled = dynamics.project(here.x + s * step.z, here.u + s * step.v, here.K)
            if rolled.good:
                trial = float(cost.value(rolled.x, rolled.u))
                alike = m == 0 and -step.slope <= ROUNDING * abs(J) and trial <= J + ROUNDING * abs(J)
                if trial < J + self.alpha * s * step.slope or alike:
                    return rolled, trial, replace(newton, backtracks=m)
            s *= self.beta
        return None


def _damped(A: Array, B: Array, H: Array, w: Array, Pf: Array, bf: Array, mu: float, D: Array, Df: Array) -> LqStep | None:
    """The step with mu D added to the diagonals; None when there is no minimum."""
    if mu > 0.0:
        H, Pf = H.copy(), Pf.copy()
        np.einsum("kii->ki", H)[:] += mu * D
        np.einsum("ii->i", Pf)[:] += mu * Df
    return linear_quadratic_step(A, B, H, w, np.ascontiguousarray(Pf), bf)


def _scales(Hq: Array, Pq: Array) -> tuple[Array, Array]:
    """Positive diagonals for the Levenberg term: those of the Gauss-Newton matrix, at least a thousandth of their mean."""
    D, Df = np.abs(np.einsum("kii->ki", Hq)), np.abs(np.diagonal(Pq))
    level = max(float(D.mean()), 1e-12)
    return np.maximum(D, 1e-3 * level), np.maximum(Df, 1e-3 * level)


def checked_curve(dynamics: DiscreteDynamics, x_guess: ArrayLike, u_guess: ArrayLike) -> tuple[Array, Array]:
    """A guess (x, u) as fresh arrays of the right shape and finite, or BadInput."""
    x, u = np.array(x_guess, dtype=np.float64), np.array(u_guess, dtype=np.float64)
    if u.ndim != 2 or len(u) < 1 or u.shape[1] != dynamics.nu or x.shape != (len(u) + 1, dynamics.nx):
        raise BadInput(f"a guess x {x.shape}, u {u.shape} arrived; (N + 1, {dynamics.nx}) and (N, {dynamics.nu}) are needed")
    if not (np.isfinite(x).all() and np.isfinite(u).all()):
        raise BadInput("the guess holds numbers that are not finite")
    return x, u


def _linearize(dynamics: DiscreteDynamics, x: Array, u: Array) -> tuple[Array, Array]:
    A, B = dynamics.linearize(x, u)
    N, n, m = len(u), dynamics.nx, dynamics.nu
    if A.shape != (N, n, n) or B.shape != (N, n, m):
        raise BadInput(f"linearize gave A {A.shape}, B {B.shape}; ({N}, {n}, {n}) and ({N}, {n}, {m}) are needed")
    return np.ascontiguousarray(A), np.ascontiguousarray(B)
