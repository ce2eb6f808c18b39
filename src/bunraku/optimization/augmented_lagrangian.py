"""Augmented Lagrangian by residual shifts: least squares under equations and inequalities, samples of a motion as unknowns.

Minimise an objective f(z) subject to r(z) = 0 and g(z) <= 0. With a weight w, row scales c and one shift s per row,

    E(z; w, s) = f(z) + w sum (c (r + s))^2 + w sum max(0, c (g + s))^2

is minimised by damped Gauss-Newton steps; then s <- s + r for equations and s <- max(0, s + g) for inequalities, and w grows. The
multipliers of the rows are 2 w c^2 s, so s is divided by what w is multiplied with. The largest change of a shift, |r| for an
equation and |max(g, -s)| for an inequality, is zero exactly when the rows hold and the complementarity s g = 0 does too: it is the
residual that is driven to zero. At the end of each round the gradient of E is that of the Lagrangian at the new multipliers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.optimization.blocks.descent import BlockEnergy, Descent
from bunraku.optimization.monitor import SILENT, Event, Monitor
from bunraku.optimization.solution import Status

AT_ITS_LEAST = 1e-3
"""An energy of which a Gauss-Newton step promises to take less than this share counts as minimised when infeasibility is judged."""


INFEASIBLE_ABOVE = 100.0
"""Rows that are left by more than this many tolerances may be impossible; below, they are only slow."""


class AugmentedProblem(BlockEnergy, Protocol):
    """What a problem must offer: E, its Gauss-Newton blocks (see :class:`BlockEnergy`) and the change of shifts.

    ``energy(z, 0.0, shifts)`` is the objective alone. The driver never looks into ``shifts``: any float64 array will do.
    """

    def zero_shifts(self) -> Array:
        """Shifts to begin with: zeros, one per row."""

    def update(self, z: Array, shifts: Array) -> tuple[Array, float]:
        """New shifts (a new array) s + r or max(0, s + g), unscaled, and the largest change of a shift: the residual."""


@dataclass(frozen=True)
class Warm:
    """What to resume with: shifts, weight and damping of an earlier solution."""

    shifts: Array
    weight: float
    damping: float


@dataclass(frozen=True)
class Round:
    """One minimisation and change of shifts: weight, accepted steps, factorizations, energy, residual, promise of the last step."""

    weight: float
    iterations: int
    factorizations: int
    energy: float
    residual: float
    promise: float


@dataclass(frozen=True)
class AugmentedSolution:
    """The end of a solve.

    ``z`` packed (T nv + nd,); ``shifts``, ``weight`` and ``damping`` to resume with; ``iterations`` accepted steps and
    ``factorizations`` in all; ``energy`` E of the last round; ``objective`` f(z); ``residual`` the largest change of a shift, hence
    at least max |r| and max(0, g), unscaled; ``stationarity`` what a Gauss-Newton step without damping promised to take off the
    energy, as a share of it, before the last step (infinite when it was never near enough to ask); ``history`` one entry per round.
    """

    z: Array
    shifts: Array
    weight: float
    damping: float
    status: Status
    iterations: int
    factorizations: int
    energy: float
    objective: float
    residual: float
    stationarity: float
    history: tuple[Round, ...]

    @property
    def warm(self) -> Warm:
        """What a later solve of a similar problem can resume with."""
        return Warm(self.shifts, self.weight, self.damping)


@dataclass(frozen=True, kw_only=True)
class AugmentedLagrangian:
    """The solver: options and one verb.

    ``tolerance``: largest unscaled residual at the end. ``stationarity``: largest share of the energy that an undamped Gauss-Newton
    step may still promise at the end. ``first_weight``, ``growth``, ``last_weight``: w grows by ``growth`` after each round, unless
    the residual fell to the share ``enough`` in it (the smaller w, the smoother E) and never in the first ``steady`` rounds: at a
    saddle, as standing still often is, the shifts alone must grow until it is left, and that is best done where E is smooth. A
    round that does not settle within ``inner_iterations`` steps shows a curved valley: w then falls by ``retreat``, shifts grow
    by it, at most ``retreats`` times (the multipliers stay, so nothing is lost). ``loose``: promise at which the first round ends,
    a third of it for the next, and so on. ``max_iterations``: most steps in all. ``damping``: the first. ``patience``:
    rounds at the last weight within which the residual must fall by a tenth.
    """

    tolerance: float = 1e-6
    stationarity: float = 1e-6
    first_weight: float = 10.0
    growth: float = 3.0
    last_weight: float = 1e4
    inner_iterations: int = 40
    loose: float = 1e-2
    max_iterations: int = 1000
    damping: float = 1e-3
    enough: float = 0.25
    patience: int = 6
    steady: int = 6
    retreat: float = 9.0
    retreats: int = 4

    def __post_init__(self) -> None:
        positive = (self.tolerance, self.stationarity, self.first_weight, self.damping, self.loose, self.inner_iterations)
        factors = self.growth > 1.0 and self.retreat >= 1.0 and self.last_weight >= self.first_weight
        if not (min(positive) > 0.0 and factors and self.patience >= 1):
            raise BadInput(f"{self}: tolerances, weights, damping and limits must be positive, growth > 1, last weight >= first")

    def solve(
        self, problem: AugmentedProblem, z0: ArrayLike, *, warm: Warm | None = None, monitor: Monitor = SILENT
    ) -> AugmentedSolution:
        """Solve from ``z0``, packed (T nv + nd,), resuming with ``warm`` when given.

        Ends with CONVERGED; INFEASIBLE when at the last weight the energy is at its least but the shifts run away by the same
        amount each round; STALLED when the residual does not fall for another reason; MAX_ITERATIONS; or CANCELLED. Unless
        converged, the point with the least residual met at the end of a round is returned.
        """
        run = _Run(self, problem, z0, warm)
        status: Status | None = None
        while status is None:
            status = run.round(monitor)
        return run.solution(status)

    def resolve(
        self,
        problem: AugmentedProblem,
        z0: ArrayLike,
        warm: Warm,
        *,
        max_steps: int = 3,
        rounds: int = 3,
        tolerance: float = 1e-4,
        max_factorizations: int = 12,
    ) -> AugmentedSolution:
        """A quick answer after a small edit: shifts, weight and damping are kept, and at most ``rounds`` rounds of ``max_steps``.

        Ends CONVERGED when the residual is at most ``tolerance``, else MAX_ITERATIONS; ``max_factorizations`` bounds the time.
        """
        run = _Run(self, problem, z0, warm)
        for _ in range(max(rounds, 1)):
            run.begin()
            for _ in range(max_steps):
                left = max_factorizations - run.descent.factorizations
                if left < 1 or not run.descent.step(max_factorizations=left) or run.descent.promise <= self.stationarity:
                    break
            if run.change_shifts() <= tolerance:
                return run.solution(Status.CONVERGED)
        return run.solution(Status.MAX_ITERATIONS)


class _Run:
    """The moving state of one solve."""

    def __init__(self, options: AugmentedLagrangian, problem: AugmentedProblem, z0: ArrayLike, warm: Warm | None) -> None:
        self.options, self.problem = options, problem
        z = np.array(z0, dtype=np.float64)
        T, nv, nd = problem.shape
        if z.shape != (T * nv + nd,) or not np.isfinite(z).all():
            raise BadInput(f"a start of shape {z.shape}; {T} samples of {nv} and {nd} more need {T * nv + nd} finite numbers")
        warm = warm or Warm(problem.zero_shifts(), options.first_weight, options.damping)
        self.descent = Descent(problem, z, warm.weight, warm.shifts, warm.damping)
        if not np.isfinite(problem.energy(z, warm.weight, warm.shifts)):
            raise BadInput("the energy is not finite at the starting point; start elsewhere")
        self.history: list[Round] = []
        self.best = (np.inf, z, warm.shifts, warm.weight)
        self.stationarity = np.inf
        self.change = np.zeros(0)  # the last change of shifts
        self.retreats = 0
        self.aligned = False  # whether the last two changes had one direction
        self.begin()

    def begin(self) -> None:
        """Begin a round: note the counters."""
        self.begun = self.descent.iterations, self.descent.factorizations

    def round(self, monitor: Monitor) -> Status | None:
        """Minimise, change the shifts, raise the weight; the status when that was the last round."""
        options, descent = self.options, self.descent
        self.begin()
        near = bool(self.history) and self.history[-1].residual <= options.tolerance
        doubtful = self._far() and self._falls_by(2) > 0.9  # perhaps infeasible: then be sure that the energy is at its least
        allowed = options.stationarity if near else max(options.stationarity, options.loose / 3.0 ** len(self.history))
        allowed = max(allowed, AT_ITS_LEAST) if doubtful else allowed
        settled = cancelled = stuck = False
        most = min(self.begun[0] + options.inner_iterations, options.max_iterations)
        while not (settled or cancelled or stuck) and descent.iterations < most:
            stuck = not descent.step()
            settled = self._settled(allowed, near or doubtful or stuck)
            cancelled = monitor.cancelled
        residual = self.change_shifts()
        figures = {"weight": descent.weight, "energy": descent.energy, "residual": residual}
        monitor.report(Event("augmented Lagrangian", descent.iterations / max(options.max_iterations, 1), figures=figures))
        if residual <= options.tolerance and settled and near:
            return Status.CONVERGED
        if cancelled or monitor.cancelled:
            return Status.CANCELLED
        if descent.iterations >= options.max_iterations:
            return Status.MAX_ITERATIONS
        if stuck:
            descent.damping = options.damping
            if near and not settled:
                return Status.STALLED
        if not settled and not stuck and descent.weight > options.first_weight and self.retreats < options.retreats:
            self.retreats += 1
            self._weigh(max(descent.weight / options.retreat, options.first_weight))
            return None
        if descent.weight >= options.last_weight:
            return self._judge(settled)
        if len(self.history) < options.steady and descent.weight <= options.first_weight:
            return None
        before = self.history[-2].residual if len(self.history) > 1 else 0.0
        if residual > max(options.tolerance, options.enough * before):
            self._weigh(min(descent.weight * options.growth, options.last_weight))
        return None

    def _settled(self, allowed: float, strict: bool) -> bool:
        """Whether the last step promised no more than ``allowed``; strictly: whether it would not have without damping either."""
        if self.descent.promise > allowed:
            return False
        if strict and self.descent.promise > 0.0:
            self.stationarity = self.descent.undamped_promise()
            return self.stationarity <= allowed
        return True

    def change_shifts(self) -> float:
        """End a round: shifts change, the residual is noted, the best point kept."""
        descent = self.descent
        shifts, residual = self.problem.update(descent.z, descent.shifts)
        change = np.asarray(shifts - descent.shifts).ravel()
        if self.change.size:
            self.aligned = bool(change @ self.change > 0.9 * np.linalg.norm(change) * np.linalg.norm(self.change))
        self.change = change
        descent.shifts = shifts
        spent = descent.iterations - self.begun[0], descent.factorizations - self.begun[1]
        self.history.append(Round(descent.weight, *spent, descent.energy, residual, descent.promise))
        if residual <= self.best[0]:
            self.best = (residual, descent.z, shifts, descent.weight)
        return residual

    def _weigh(self, weight: float) -> None:
        """Another weight; the multipliers 2 w c^2 s stay what they are."""
        descent = self.descent
        descent.shifts = descent.shifts * (descent.weight / weight)
        descent.weight = weight

    def _falls_by(self, rounds: int) -> float:
        """The residual over that of some rounds ago, both at the last weight; 0 when there were not so many."""
        last = [one.residual for one in self.history if one.weight >= self.options.last_weight]
        return last[-1] / max(last[-1 - rounds], 1e-300) if len(last) > rounds else 0.0

    def _far(self) -> bool:
        """Whether the residual is so large that the rows may not be possible at all."""
        return bool(self.history) and self.history[-1].residual > INFEASIBLE_ABOVE * self.options.tolerance

    def _judge(self, settled: bool) -> Status | None:
        """At the last weight: None while the residual falls, else why it does not; near the tolerance it gets more time."""
        residual, tolerance = self.history[-1].residual, self.options.tolerance
        if self._falls_by(self.options.patience * (1 if residual > 10.0 * tolerance else 4)) <= 0.9:
            return None
        self.stationarity = self.descent.undamped_promise()
        least = settled and self.aligned and self.stationarity <= AT_ITS_LEAST
        return Status.INFEASIBLE if least and self._far() else Status.STALLED

    def solution(self, status: Status) -> AugmentedSolution:
        """The result: the last point when converged, else the best."""
        descent = self.descent
        residual, z, shifts, weight = self.best
        if status is Status.CONVERGED:
            residual, z, shifts, weight = self.history[-1].residual, descent.z, descent.shifts, descent.weight
        objective = float(self.problem.energy(z, 0.0, shifts))
        return AugmentedSolution(
            z=z,
            shifts=shifts,
            weight=weight,
            damping=descent.damping,
            status=status,
            iterations=descent.iterations,
            factorizations=descent.factorizations,
            energy=self.history[-1].energy,
            objective=objective,
            residual=residual,
            stationarity=self.stationarity,
            history=tuple(self.history),
        )
