"""Automatic design: dimensions that make the motion better, by steps within a trust region and the bounds of what can be built.

Each step minimises a model g.d + d.B d / 2 of the objective O(m(p), p) over changes d of the parameters, |d_k| at most the radius
and p + d within the bounds; the motion is found anew, and the radius follows the share of the promise that was kept. The models:

    energy E      g = dL/dp (envelope theorem), B = L_pp + L_pm dm/dp + r_p . dlambda/dp      (Newton)
    misses y      O = |y|^2 / 2, g = Y^T y, B = Y^T Y, Y = dy/dp along the optimal motions     (Gauss-Newton)
    any O(m, p)   g by the adjoint, B by the BFGS formula from the gradients met
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from bunraku.arrays import Array
from bunraku.design.features import target_misses, total_derivative
from bunraku.design.manual import follow
from bunraku.design.sensitivity import Sensitivity, sensitivity
from bunraku.design.study import Study, Variant
from bunraku.errors import BadInput
from bunraku.optimization.monitor import SILENT, Event, Monitor
from bunraku.optimization.quadratic import QuadraticProgram, solve_quadratic
from bunraku.optimization.solution import Status
from bunraku.optimization.threads import one_thread
from bunraku.performers.locomotion.problem import MotionProblem


class Objective(Protocol):
    """What a design should make small: its value at a variant, and a quadratic model (g, B) in the parameters."""

    def value(self, variant: Variant) -> float:
        """O at a variant and its motion."""

    def model(self, derivatives: Sensitivity) -> tuple[Array, Array | None]:
        """Gradient dO/dp (k,) and curvature (k, k), None where it must be learnt from gradients."""


@dataclass(frozen=True)
class Energy:
    """The energy of the motion itself. Its exact curvature takes k² / 2 characters; above ``most`` parameters it is learnt."""

    most: int = 12

    def value(self, variant: Variant) -> float:
        """E."""
        return variant.energy

    def model(self, derivatives: Sensitivity) -> tuple[Array, Array | None]:
        """dE/dp and d²E/dp²."""
        few = len(derivatives.neighbours) <= self.most
        return derivatives.energy_gradient, derivatives.energy_curvature if few else None


@dataclass(frozen=True)
class Misses:
    """|y|²/2 of what a motion misses: by default its targets. ``caution``: weight of |d|² that keeps the change of design small."""

    misses: Callable[[MotionProblem, Array], Array] = target_misses
    caution: float = 1e-4

    def value(self, variant: Variant) -> float:
        """|y|²/2."""
        return 0.5 * float(np.sum(self.misses(variant.problem, variant.motion) ** 2))

    def model(self, derivatives: Sensitivity) -> tuple[Array, Array | None]:
        """Y^T y and Y^T Y + caution."""
        variant = derivatives.variant
        y = self.misses(variant.problem, variant.motion)
        Y = total_derivative(derivatives, self.misses)
        B = Y.T @ Y
        return Y.T @ y, B + self.caution * max(float(np.trace(B)), 1e-12) * np.eye(len(B))


@dataclass(frozen=True)
class MotionFunction:
    """Any smooth function O(problem, m). Its derivative in m by differences, in p by the adjoint."""

    function: Callable[[MotionProblem, Array], float]

    def value(self, variant: Variant) -> float:
        """O."""
        return float(self.function(variant.problem, variant.motion))

    def model(self, derivatives: Sensitivity) -> tuple[Array, Array | None]:
        """dO/dp; the curvature is learnt."""
        variant, d = derivatives.variant, derivatives.step
        problem, z = variant.problem, variant.motion
        slope = np.empty(len(z))
        for i in range(len(z)):
            e = np.zeros(len(z))
            e[i] = d
            slope[i] = (self.function(problem, z + e) - self.function(problem, z - e)) / (2.0 * d)
        direct = [(self.function(plus, z) - self.function(minus, z)) / (2.0 * d) for plus, minus in derivatives.neighbours]
        return derivatives.gradient(slope, np.array(direct)), None


@dataclass(frozen=True)
class DesignStep:
    """One design step: parameters (k,), objective and energy after it."""

    parameters: Array
    value: float
    energy: float


@dataclass(frozen=True)
class Improvement:
    """The end of an automatic design: the best ``variant``, its ``steps`` (the start first), why it ended.

    ``notes``: what stood in the way, bounds that were reached, parts that would have overlapped.
    """

    variant: Variant
    steps: tuple[DesignStep, ...]
    status: Status
    notes: tuple[str, ...] = field(default=())


@one_thread
def improve(
    study: Study,
    objective: Objective,
    variant: Variant,
    *,
    steps: int = 10,
    radius: float = 0.02,
    tolerance: float = 1e-6,
    enough: float = 0.0,
    monitor: Monitor = SILENT,
) -> Improvement:
    """Change all parameters of the study's design until ``objective`` falls no further.

    ``radius``: largest first change of a parameter [m]. Ends when the model promises less than ``tolerance`` of the value, or the
    value is at most ``enough``; after ``steps`` steps; or when even the smallest change does no good (STALLED).
    """
    run = _Run(study, objective, variant, radius)
    status = Status.MAX_ITERATIONS
    for k in range(steps):
        monitor.report(Event("design", k / steps, f"objective {run.value:.4g}", {"objective": run.value}))
        if monitor.cancelled:
            status = Status.CANCELLED
            break
        ended = run.step(tolerance, enough, monitor)
        if ended is not None:
            status = ended
            break
    else:
        status = Status.CONVERGED if run.value <= enough else status
    at = [name for name, p, low, high in run.limits() if p <= low or p >= high]
    notes = run.notes + ([f"at the bound of what can be built: {', '.join(at)}"] if at else [])
    return Improvement(run.variant, tuple(run.steps), status, tuple(dict.fromkeys(notes)))


class _Run:
    """The moving state of an automatic design."""

    def __init__(self, study: Study, objective: Objective, variant: Variant, radius: float) -> None:
        self.study, self.objective, self.variant, self.radius = study, objective, variant, radius
        self.value = objective.value(variant)
        self.steps = [DesignStep(variant.parameters, self.value, variant.energy)]
        self.notes: list[str] = []
        self.B: Array | None = None
        self.last: tuple[Array, Array] | None = None

    def limits(self) -> list[tuple[str, float, float, float]]:
        design = self.study.design
        return list(zip(design.names, self.variant.parameters, design.lower, design.upper, strict=True))

    def step(self, tolerance: float, enough: float, monitor: Monitor) -> Status | None:
        """One accepted change, or the status when there is none."""
        if self.value <= enough:
            return Status.CONVERGED
        derivatives = sensitivity(self.study, self.variant)
        g, B = self.objective.model(derivatives)
        B = self._learnt(g) if B is None else B
        for _ in range(12):
            d, promise = self._proposal(g, B)
            if promise <= tolerance * abs(self.value):
                return Status.CONVERGED
            variant = self._try(d, derivatives, monitor)
            value = np.inf if variant is None else self.objective.value(variant)
            share = (self.value - value) / promise
            if variant is not None and share > 0.05:
                if share > 0.7:
                    self.radius *= 2.0
                self.variant, self.value = variant, value
                self.steps.append(DesignStep(variant.parameters, value, variant.energy))
                return None
            self.radius = 0.3 * float(np.abs(d).max())
            if self.radius < 1e-7:
                break
        return Status.STALLED

    def _try(self, d: Array, derivatives: Sensitivity, monitor: Monitor) -> Variant | None:
        """The variant after a change; None where it cannot be built or cannot move."""
        try:
            p = self.variant.parameters + d
            variant = follow(self.study, self.variant, p, derivatives=derivatives, monitor=monitor).variant
        except BadInput as refused:
            self.notes.append(f"a change that cannot be built was passed over: {refused}")
            return None
        return variant if self.study.soft or variant.solution.residual <= 1e-4 else None

    def _proposal(self, g: Array, B: Array) -> tuple[Array, float]:
        """The change that the model likes best within radius and bounds, and what it promises."""
        design, p = self.study.design, self.variant.parameters
        values, V = np.linalg.eigh(0.5 * (B + B.T))
        size = np.maximum(np.abs(values), 1e-4 * np.abs(values).max(initial=1e-12))
        P = (V * size) @ V.T
        low, high = np.maximum(design.lower - p, -self.radius), np.minimum(design.upper - p, self.radius)
        d = solve_quadratic(QuadraticProgram(0.5 * (P + P.T), g, x_lower=np.minimum(low, 0.0), x_upper=np.maximum(high, 0.0))).x
        return d, -float(g @ d + 0.5 * d @ P @ d)

    def _learnt(self, g: Array) -> Array:
        """Curvature by the BFGS formula; at first such that a step has the length of the radius."""
        p = self.variant.parameters
        if self.B is None:
            self.B = np.eye(len(p)) * max(float(np.abs(g).max()), 1e-12) / self.radius
        elif self.last is not None:
            s, y = p - self.last[0], g - self.last[1]
            Bs = self.B @ s
            if s @ y > 1e-3 * (s @ Bs):
                self.B = self.B - np.outer(Bs, Bs) / (s @ Bs) + np.outer(y, y) / (s @ y)
        self.last = (p, g)
        return self.B
