"""Trajectory optimization under inequalities g <= 0 by a primal-dual interior point method.

With slacks s > 0 and multipliers z > 0 of the rows, g + s = 0, the barrier problem of weight mu is

    minimise  J - mu sum log s   subject to  g(x_k, u_k) + s = 0,   x_{k+1} = f(x_k, u_k).

Slacks and multipliers are eliminated row by row: with S = z / s the direction (y, v) solves the linear-quadratic problem of
stage matrices l_ww + G^T S G and gradients l_w + G^T (mu / s + S (g + s)), G = dg/dw, and then

    ds = -(g + s) - G (y, v),    dz = mu / s - z - S ds.

One Riccati sweep per iteration, whatever the number of rows. The trajectory is projected, so the dynamics hold at every
iteration; the rows need not: a start may violate them. Steps keep s and z positive (fraction to the boundary) and decrease the
merit function J - mu sum log s + nu sum |g + s|. After a step the slack of a satisfied row is -g itself, so that only rows which
are violated, or about to be, count as unmet.

To first order every feedback K projects alike, but not beyond: the gains of the barrier problem are stiff and may make a long
roll-out diverge. Where one cannot be followed milder gains, of the cost without rows, and then none are tried before the step is
halved. A run that ends outside the rows without having settled goes on to the nearest trajectory within them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.optimization.control import riccati_kernels as kernels
from bunraku.optimization.control.constraints import TrajectoryConstraint
from bunraku.optimization.control.cost import Nearness, TrajectoryCost, regular
from bunraku.optimization.control.dynamics import DiscreteDynamics
from bunraku.optimization.control.lqr import LqStep, linear_quadratic_step
from bunraku.optimization.control.trajectory import checked_curve
from bunraku.optimization.monitor import SILENT, Event, Monitor
from bunraku.optimization.solution import Status

KAPPA = 10
"""Multipliers stay within this factor of mu / s."""

WILD = 10.0
"""No step goes where a row is violated by more than this, unless one was before. Rows are scaled: 1 is large, or a newton."""

RESTORING = 30
"""Iterations to come back within the rows once those of the optimization are used up."""

DIVERGED = 1e12
"""Multipliers beyond this, while a row is violated, say that no motion meets all rows at once."""


@dataclass(frozen=True)
class InteriorStep:
    """One iteration: cost J and largest ``violation`` max(0, g) before it, ``barrier`` mu, step ``length``."""

    cost: float
    violation: float
    barrier: float
    length: float
    slope: float


@dataclass(frozen=True)
class InteriorSolution:
    """The last trajectory that was accepted; if it violates a row, the best of those that do not, if there is one.

    ``x`` (N + 1, nx), ``u`` (N, nu); ``K`` (N, nu, nx) feedback of the last direction problem; ``cost`` J; ``violation``
    max(0, largest g) recomputed on it; ``multipliers`` z (N, rows) of the stages and (last,) of the end; ``barrier`` the final mu.
    """

    x: Array
    u: Array
    K: Array
    cost: float
    violation: float
    multipliers: tuple[Array, Array]
    barrier: float
    status: Status
    steps: tuple[InteriorStep, ...]

    @property
    def iterations(self) -> int:
        """How many steps were accepted."""
        return len(self.steps)


@dataclass
class _Point:
    """A trajectory with slacks: values and what the merit function is made of."""

    x: Array
    u: Array
    J: float
    g: Array
    last: Array
    s: Array
    t: Array

    def merit(self, mu: float, nu: float) -> float:
        """J - mu sum log s + nu sum |g + s|."""
        logs = float(np.log(self.s).sum() + np.log(self.t).sum())
        return self.J - mu * logs + nu * self.residual

    @property
    def residual(self) -> float:
        """Sum of |g + s| over all rows."""
        return float(np.abs(self.g + self.s).sum() + np.abs(self.last + self.t).sum())

    @property
    def violation(self) -> float:
        """max(0, largest g)."""
        return max(0.0, float(self.g.max(initial=0.0)), float(self.last.max(initial=0.0)))


@dataclass(frozen=True, kw_only=True)
class InteriorTrajectory:
    """The solver: options and one verb.

    ``barrier``: mu at the start and the least one; ``fall``: its factor after a step of at least ``long``, and the inverse one
    after a step shorter than ``short``, which says that slacks have run ahead to the boundary (each time less far up, lest it
    cycle). ``tolerance`` [cost]: converged when every row holds, mu is at its least and abs(D merit) <= tolerance +
    ``relative_tolerance`` abs(J). ``slack``: least slack a row starts with. ``curvature``: share of the second derivatives of
    dynamics and rows, 0 for Gauss-Newton; where they have no minimum they are left out. ``dampings``: how many Levenberg terms are
    tried when no step along the direction is accepted, each a hundred times the last.
    """

    max_iterations: int = 100
    tolerance: float = 1e-6
    relative_tolerance: float = 0.0
    barrier: tuple[float, float] = (3e-3, 1e-4)
    fall: float = 0.5
    long: float = 0.5
    short: float = 0.15
    slack: float = 0.1
    curvature: float = 0.0
    alpha: float = 1e-4
    beta: float = 0.5
    max_backtracks: int = 8
    dampings: int = 3

    def __post_init__(self) -> None:
        if not (self.barrier[0] >= self.barrier[1] > 0.0 and 0.0 < self.fall < 1.0 and self.slack > 0.0):
            raise BadInput(f"{self}: barrier must fall to a positive number, fall be inside (0, 1), slack positive")
        if self.max_iterations < 0 or self.tolerance < 0.0 or self.relative_tolerance < 0.0:
            raise BadInput(f"{self}: iterations and tolerances must not be negative")

    def solve(
        self,
        dynamics: DiscreteDynamics,
        cost: TrajectoryCost,
        constraints: Sequence[TrajectoryConstraint],
        x_guess: ArrayLike,
        u_guess: ArrayLike,
        *,
        gains: Array | None = None,
        mild: TrajectoryCost | None = None,
        keep: Callable[[Array, Array, float], None] | None = None,
        monitor: Monitor = SILENT,
    ) -> InteriorSolution:
        """Minimise the cost under all ``constraints`` from a guess, which may violate them; x_0 stays.

        ``gains`` (N, nu, nx) project the guess; without them it is followed open loop. ``mild``: the cost whose regulator gives the
        milder gains of refused roll-outs, the cost itself if not given. ``keep`` is called with x, u and the barrier
        after every tenth step, so that a long run can be taken up again. Ends with CONVERGED, STALLED,
        MAX_ITERATIONS, CANCELLED, or INFEASIBLE when rows are violated where no further step was found.
        """
        run = _Run(self, dynamics, cost, tuple(constraints), mild or cost, keep, monitor)
        return run.solve(*checked_curve(dynamics, x_guess, u_guess), gains)


@dataclass
class _Run:
    """One call of solve. ``calm``: the milder gains, and where they were made."""

    options: InteriorTrajectory
    dynamics: DiscreteDynamics
    cost: TrajectoryCost
    constraints: tuple[TrajectoryConstraint, ...]
    mild: TrajectoryCost
    keep: Callable[[Array, Array, float], None] | None
    monitor: Monitor
    calm: tuple[_Point, Array] | None = None

    def rows(self, x: Array, u: Array) -> tuple[Array, Array]:
        """All values g (N, rows) and g_N (last,)."""
        both = [constraint.values(x, u) for constraint in self.constraints]
        return np.hstack([pair[0] for pair in both]), np.concatenate([pair[1] for pair in both])

    def jacobians(self, x: Array, u: Array) -> tuple[list[Array], Array]:
        """Derivatives of each constraint, (N, rows, nw) or (1, rows, nw) when constant, and all terminal ones (last, nx)."""
        both = [constraint.jacobians(x, u) for constraint in self.constraints]
        blocks = [np.require(G[:1] if len(G) > 1 and G.strides[0] == 0 else G, requirements=("C", "W")) for G, _ in both]
        return blocks, np.vstack([last for _, last in both])

    def bend(self, x: Array, u: Array, z: Array, zf: Array) -> tuple[Array, Array]:
        """Curvature of the rows under their multipliers."""
        n, nw, at, ended = x.shape[1], x.shape[1] + u.shape[1], 0, 0
        stage, end = np.zeros((len(u), nw, nw)), np.zeros((n, n))
        for constraint in self.constraints:
            g, last = constraint.values(x, u)
            H, P = constraint.curvature(x, u, z[:, at : at + g.shape[1]], zf[ended : ended + len(last)])
            stage, end, at, ended = stage + H, end + P, at + g.shape[1], ended + len(last)
        return stage, end

    def point(self, x: Array, u: Array) -> _Point:
        """A trajectory with slacks to begin with."""
        g, last = self.rows(x, u)
        least = self.options.slack
        return _Point(x, u, float(self.cost.value(x, u)), g, last, np.maximum(-g, least), np.maximum(-last, least))

    def solve(self, x: Array, u: Array, gains: Array | None) -> InteriorSolution:
        options = self.options
        K = np.zeros((len(u), self.dynamics.nu, self.dynamics.nx)) if gains is None else gains
        rolled = self.dynamics.project(x, u, K)
        if not rolled.good:
            raise BadInput(f"the guess cannot be followed: step {rolled.failed_at} fails; give a guess nearer to a motion")
        at = self.point(rolled.x, rolled.u)
        mu = ceiling = options.barrier[0]
        z, zf = mu / at.s, mu / at.t
        steps: list[InteriorStep] = []
        status = Status.MAX_ITERATIONS
        inside: tuple[_Point, Array, tuple[Array, Array]] | None = None
        while True:
            if self.monitor.cancelled:
                status = Status.CANCELLED
                break
            lost = at.violation > 0.0 and max(float(z.max(initial=0.0)), float(zf.max(initial=0.0))) > DIVERGED
            advanced = None if lost else self.advance(at, z, zf, mu)
            if advanced is None:
                status = Status.STALLED
                break
            new, z, zf, K, length, slope = advanced
            if length == 0.0:
                status = Status.CONVERGED
                break
            steps.append(InteriorStep(at.J, at.violation, mu, length, slope))
            at = new
            if at.violation <= 0.0 and (inside is None or at.J < inside[0].J):
                inside = at, K, (z, zf)
            figures = {"cost": at.J, "violation": at.violation, "barrier": mu, "length": length}
            self.monitor.report(Event("trajectory", len(steps) / max(options.max_iterations, 1), figures=figures))
            if self.keep is not None and len(steps) % 10 == 0:
                self.keep(at.x, at.u, mu)
            if len(steps) >= options.max_iterations:
                break
            if length >= options.long:
                mu = max(options.barrier[1], options.fall * mu)
            elif length < options.short:
                ceiling = max(0.9 * ceiling, options.barrier[1])
                mu = max(mu, min(ceiling, mu / options.fall))
        if at.violation > 0.0 and status in (Status.MAX_ITERATIONS, Status.STALLED):
            restored = self.restored(at)
            if restored.violation <= 0.0 and (inside is None or restored.J < inside[0].J):
                inside = restored, K, (z, zf)
        if at.violation > 0.0 and inside is not None:
            at, K, (z, zf) = inside
            if status is Status.STALLED:  # that was elsewhere: from here there may be a way on
                status = Status.MAX_ITERATIONS
        if status is Status.STALLED and at.violation > 0.0:
            status = Status.INFEASIBLE
        return InteriorSolution(at.x, at.u, K, at.J, at.violation, (z, zf), mu, status, tuple(steps))

    def restored(self, at: _Point) -> _Point:
        """The first trajectory within all rows on the way from ``at`` to the nearest one, or the last if none comes within.

        Near is what changes J little: the distance is measured by its Gauss-Newton matrices at ``at``.
        """
        near = Nearness(self.cost, at.x, at.u)
        run = replace(self, cost=near, keep=None)
        mu = self.options.barrier[0]
        new = run.point(at.x, at.u)
        z, zf = mu / new.s, mu / new.t
        for _ in range(RESTORING):
            advanced = None if new.violation <= 0.0 or self.monitor.cancelled else run.advance(new, z, zf, mu)
            if advanced is None:
                break
            new, z, zf, *_ = advanced
        new.J = float(self.cost.value(new.x, new.u))
        return new

    def advance(self, at: _Point, z: Array, zf: Array, mu: float) -> tuple[_Point, Array, Array, Array, float, float] | None:
        """One step from ``at``: the new point, multipliers, gains, step length (0: converged), slope; None when none is found."""
        A, B = self.dynamics.linearize(at.x, at.u)
        blocks, Gf = self.jacobians(at.x, at.u)
        w, bf = self.cost.gradient(at.x, at.u)
        S, Sf = z / at.s, zf / at.t
        push, end = mu / at.s + S * (at.g + at.s), bf + (mu / at.t + Sf * (at.last + at.t)) @ Gf
        for H, P in self.matrices(at, A, B, w, bf, blocks, Gf, z, zf):
            full, first = np.array(w, order="C"), 0
            for G in blocks:
                rows = slice(first, first + G.shape[1])
                kernels.add_rows(H, full, G, np.ascontiguousarray(S[:, rows]), np.ascontiguousarray(push[:, rows]))
                first = rows.stop
            P = np.ascontiguousarray(P + Gf.T @ (Sf[:, None] * Gf))
            for step in self.directions(A, B, H, full, P, end):
                y = np.hstack([step.z[:-1], step.v])
                move = np.hstack([y @ G[0].T if len(G) == 1 else (G @ y[:, :, None])[:, :, 0] for G in blocks])
                ds, dt = -(at.g + at.s) - move, -(at.last + at.t) - Gf @ step.z[-1]
                dz, dzf = mu / at.s - z - S * ds, mu / at.t - zf - Sf * dt
                slope = float(np.vdot(w, y) + bf @ step.z[-1])
                largest = max(float((z + dz).max(initial=0.0)), float((zf + dzf).max(initial=0.0)))
                taken = self.search(at, step, (A, B), ds, dt, slope, mu, largest)
                if taken is not None:
                    new, length, drop = taken
                    z, zf = _duals(z, dz, mu, new.s), _duals(zf, dzf, mu, new.t)
                    return new, z, zf, step.K, length, drop
        return None

    def directions(self, A: Array, B: Array, H: Array, w: Array, P: Array, end: Array) -> Iterator[LqStep]:
        """The minimiser of the direction problem, then damped ones: mu D is added to H in place, D its own diagonal."""
        for damping in [0.0] + [1e-3 * 100.0**j for j in range(self.options.dampings)]:
            if damping > 0.0:
                diagonal = np.einsum("kii->ki", H)
                diagonal += damping * np.maximum(np.abs(diagonal), 1e-3 * np.abs(diagonal).mean())
            step = linear_quadratic_step(A, B, H, w, P, end)
            if step is not None:
                yield step
            elif damping == 0.0 and self.options.curvature > 0.0:
                return

    def matrices(
        self, at: _Point, A: Array, B: Array, w: Array, bf: Array, blocks: list[Array], Gf: Array, z: Array, zf: Array
    ) -> Iterator[tuple[Array, Array]]:
        """Stage and terminal matrices of J: with second derivatives when asked for, then those of Gauss-Newton."""
        share = self.options.curvature
        if share > 0.0:
            first, pull = 0, np.array(w, order="C")
            for G in blocks:
                weights = z[:, first : first + G.shape[1]]
                pull += weights @ G[0] if len(G) == 1 else (weights[:, None, :] @ G)[:, 0]
                first += G.shape[1]
            chi = kernels.costates(A, B, np.zeros((len(A), B.shape[2], A.shape[1])), pull, bf + zf @ Gf)
            Hq, Pq = self.cost.hessian(at.x, at.u, exact=False)
            H, P = self.cost.hessian(at.x, at.u, exact=True)
            bend, end = self.bend(at.x, at.u, z, zf)
            H += self.dynamics.curvature(at.x, at.u, np.ascontiguousarray(chi[1:])) + bend
            yield Hq + share * (H - Hq), Pq + share * (P + end - Pq)
        yield self.cost.hessian(at.x, at.u, exact=False)

    def feedbacks(self, at: _Point, K: Array, A: Array, B: Array) -> Iterator[Array]:
        """The gains to project with, each asked for when the last was refused: ``K``, milder ones, none.

        Milder are those of the regulator of the cost ``mild`` alone, whatever the rows; they are kept from iteration to iteration,
        for any gains will do, and made anew from the linearization ``A``, ``B`` at ``at`` once they fail.
        """
        yield K
        if self.calm is not None:
            yield self.calm[1]
        if self.calm is None or self.calm[0] is not at:
            H, P = regular(self.mild, at.x, at.u)
            step = linear_quadratic_step(A, B, H, np.zeros(H.shape[:2]), P, np.zeros(len(P)))
            if step is not None:
                self.calm = at, step.K
                yield step.K
        yield np.zeros_like(K)

    def search(
        self, at: _Point, step: LqStep, linear: tuple[Array, Array], ds: Array, dt: Array, slope: float, mu: float, largest: float
    ) -> tuple[_Point, float, float] | None:
        """Backtrack along the direction until the merit function falls enough."""
        options = self.options
        nu = 1.1 * largest + 1e-6
        drop = slope - mu * float((ds / at.s).sum() + (dt / at.t).sum()) - nu * at.residual
        inside = at.violation <= 0.0 and mu <= options.barrier[1]
        if inside and abs(drop) <= options.tolerance + options.relative_tolerance * abs(at.J):
            return at, 0.0, drop
        before = at.merit(mu, nu)
        length = min(_room(at.s, ds), _room(at.t, dt))
        for _ in range(options.max_backtracks + 1):
            x, u = at.x + length * step.z, at.u + length * step.v
            for K in self.feedbacks(at, step.K, *linear):
                rolled = self.dynamics.project(x, u, K)
                if not rolled.good:
                    continue
                J = float(self.cost.value(rolled.x, rolled.u))
                g, last = self.rows(rolled.x, rolled.u)
                if np.isfinite(J) and np.isfinite(g).all() and np.isfinite(last).all():
                    s, t = _slacks(at.s, ds, g, length), _slacks(at.t, dt, last, length)
                    new = _Point(rolled.x, rolled.u, J, g, last, s, t)
                    wild = new.violation > max(at.violation, WILD)
                    if not wild and new.merit(mu, nu) <= before + options.alpha * length * drop + 1e-12 * abs(before):
                        return new, length, drop
            length *= options.beta
        return None


def _slacks(s: Array, ds: Array, g: Array, length: float) -> Array:
    """Slacks after a step: -g where the row is satisfied with some room, else what the direction says."""
    linear = s + length * ds
    kept: Array = np.where(-g >= np.minimum(0.1 * s, linear), -g, linear)
    return kept


def _duals(z: Array, dz: Array, mu: float, s: Array) -> Array:
    """Multipliers after a step, each by itself: z + dz, at least a tenth of z, and within the factor KAPPA of mu / s."""
    moved: Array = np.clip(np.maximum(z + dz, 0.1 * z), mu / (KAPPA * s), KAPPA * mu / s)
    return moved


def _room(values: Array, change: Array) -> float:
    """The largest step <= 1 that leaves at least half a percent of every value."""
    falling = change < 0.0
    return min(1.0, float((-0.995 * values[falling] / change[falling]).min(initial=1.0 / 0.995)))
