"""Young's modulus, damping and servo delay from a recorded marker: nonlinear least squares that cannot lock onto a wrong cycle.

1. Frequency and decay of the free vibration are measured in the record alone (`vibration`).
2. The model is brought to the same frequency and decay, measured in its own curve in the same way.
3. The delay (or the phase) is taken from a grid, the camera's alignment (`alignment`) eliminated for each.
4. Levenberg-Marquardt on all samples: with steps dt, then with the difference to Richardson's extrapolation (4 x(dt/2) - x(dt))/3
   added and held, until the answer no longer moves. Derivatives are taken at the start and at the first answer, and kept.
5. Intervals from the covariance (`intervals`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.mechanics.identification.alignment import Alignment, find_alignment, view_planes
from bunraku.mechanics.identification.intervals import Estimate, Uncertainty, find_uncertainty
from bunraku.mechanics.identification.model import MarkerModel
from bunraku.mechanics.identification.record import MarkerRecord
from bunraku.mechanics.identification.vibration import DecayingOscillation, find_vibration
from bunraku.optimization.least_squares import LeastSquares
from bunraku.optimization.monitor import SILENT, Event, Monitor
from bunraku.optimization.solution import Status

WIDEST_SCALE = float(np.log(1e3))
UNKNOWN_SIZE = 0.02
"""Amplitude [m] to begin with when the unit of the record is not known."""
ROUNDS, SMALL = 8, 0.03
"""The answer has settled when a round moves no parameter by more than ``SMALL`` of its standard deviation."""


@dataclass(frozen=True, eq=False)
class MaterialFit:
    """The answer: ``young`` [Pa], strain-rate ``damping`` beta [s], servo ``delay`` [s] (None when the command was not known).

    ``frequency`` [Hz] and ``damping_ratio`` are those of the vibration; ``noise`` [m] of one coordinate of the marker;
    ``explained``: the share of the marker's motion, squared, that the model explains. ``predicted`` (M, d) is the model seen in the
    record's axes and units. ``warnings`` say in sentences what the record cannot tell or where the model does not fit.
    """

    young: Estimate
    damping: Estimate
    delay: Estimate | None
    frequency: float
    damping_ratio: Estimate
    noise: float
    explained: float
    predicted: Array
    alignment: Alignment
    uncertainty: Uncertainty
    vibration: DecayingOscillation
    status: Status
    iterations: int
    warnings: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class _Problem:
    """Residuals (M d,) of the record against the model with the best alignment, their projected derivatives, in (p / size).

    ``slopes`` (M, 3, n): derivatives of the model's positions over p, taken once; ``correction`` (M, 3) is added to its positions.
    """

    record: MarkerRecord
    model: MarkerModel
    dt: float
    view: Array
    size: Array
    slopes: Array
    correction: Array | float = 0.0

    def positions(self, y: Array) -> Array:
        return self.model.predict(y * self.size, self.record.times, self.dt) + self.correction

    def align(self, positions: Array) -> Alignment:
        return find_alignment(positions, self.record.points, self.view, free_scale=not self.record.scaled)

    def residual(self, y: Array) -> Array:
        x = self.positions(y)
        if not np.isfinite(x).all():
            return np.full(self.record.points.size, np.nan)
        return np.asarray((self.align(x).apply(x) - self.record.points).ravel())

    def jacobian(self, y: Array) -> Array:
        x = self.positions(y)
        alignment, D = self.align(x), self.slopes
        J = np.column_stack([alignment.turn(D[:, :, i]).ravel() for i in range(D.shape[2])]) * self.size
        T = alignment.tangent(x)
        return np.asarray(J - T @ (T.T @ J))

    def finer(self, y: Array) -> Array:
        """What Richardson's extrapolation adds to the curve of steps dt."""
        p, times = y * self.size, self.record.times
        return np.asarray((self.model.predict(p, times, 0.5 * self.dt) - self.model.predict(p, times, self.dt)) * (4.0 / 3.0))


def fit_material(
    record: MarkerRecord,
    model: MarkerModel,
    *,
    confidence: float = 0.95,
    max_iterations: int = 12,
    monitor: Monitor = SILENT,
) -> MaterialFit:
    """Fit the model to the record; ``confidence``: probability with which each interval shall hold the true value."""
    if not 0.0 < confidence < 1.0:
        raise BadInput(f"the confidence is {confidence}; a number between 0 and 1 is needed, such as 0.95")
    monitor.report(Event("fit", 0.0, "vibration of the record"))
    seen = find_vibration(record.times, record.points, model.still)
    dt = model.step_for(seen.frequency)
    w = 2.0 * np.pi * seen.frequency
    p = np.array([0.0, max(2.0 * seen.decay / w**2, 1e-3 / w)])
    p = _same_vibration(model, p, seen, seen.amplitude if record.scaled else UNKNOWN_SIZE, dt)
    monitor.report(Event("fit", 0.2, "start"))
    problem, y = _best_start(record, model, p, seen, dt)
    status, iterations = Status.MAX_ITERATIONS, 0
    sure = find_uncertainty(np.zeros((1, 1)), np.zeros((1, len(y))), 0, confidence)
    for round_ in range(ROUNDS):
        solution = LeastSquares(max_iterations=max_iterations, tolerance=0.1 * SMALL / np.sqrt(record.points.size)).solve(
            problem.residual, problem.jacobian, y, lower=_lower(model), upper=_upper(model)
        )
        moved, y = solution.x - y, solution.x
        iterations += solution.iterations
        if round_ == 0:
            problem = replace(problem, slopes=model.differentiate(y * problem.size, record.times, dt))
        r, J = problem.residual(y), problem.jacobian(y)
        count = J.shape[1] + problem.align(problem.positions(y)).parameters
        sure = find_uncertainty(r.reshape(record.points.shape), J, count, confidence)
        monitor.report(Event("fit", 0.3 + 0.7 * (round_ + 1) / ROUNDS, "refining", figures={"noise": sure.noise}))
        if monitor.cancelled:
            status = Status.CANCELLED
            break
        if round_ > 1 and bool((np.abs(moved) <= SMALL * np.sqrt(np.diag(sure.covariance))).all()):
            status = Status.CONVERGED
            break
        correction = problem.finer(y)
        if not np.isfinite(correction).all():
            status = Status.STALLED
            break
        problem = replace(problem, correction=correction)
    return _result(problem, y, sure, seen, status, iterations)


def _lower(model: MarkerModel) -> Array:
    return np.array([-WIDEST_SCALE, 0.0] + [-np.inf] * (len(model.names) - 2))


def _upper(model: MarkerModel) -> Array:
    return np.array([WIDEST_SCALE] + [np.inf] * (len(model.names) - 1))


def _same_vibration(model: MarkerModel, p: Array, seen: DecayingOscillation, amplitude: float, dt: float) -> Array:
    """The ln E and beta at which the model's own vibration has the frequency and the decay of the record's."""
    failures = 0
    for _ in range(12):
        own = model.vibration(p, amplitude, dt)
        if own is None:
            failures += 1
            if failures > 6:
                raise BadInput("the part collapses in simulation whatever its stiffness; check its size, mass and the command")
            p = np.array([p[0] + np.log(4.0), p[1]])
            continue
        change = 2.0 * float(np.log(seen.frequency / own.frequency))
        w = 2.0 * np.pi * seen.frequency
        damping = float(np.clip(p[1] + 2.0 * (seen.decay - own.decay) / w**2, 0.2 * p[1], 5.0 * p[1]))
        p = np.array([np.clip(p[0] + change, -WIDEST_SCALE, WIDEST_SCALE), damping])
        if abs(change) < 1e-3:
            break
    return p


def _best_start(record: MarkerRecord, model: MarkerModel, p: Array, seen: DecayingOscillation, dt: float) -> tuple[_Problem, Array]:
    """The candidate and the side of the camera with the least residual."""
    candidates = model.starts(p, seen, seen.amplitude if record.scaled else UNKNOWN_SIZE)
    positions = [model.predict(candidate, record.times, dt) for candidate in candidates]
    usable = [i for i, x in enumerate(positions) if np.isfinite(x).all()]
    if not usable:
        raise BadInput("the simulation fails at the stiffness the record's frequency asks for; check size and mass of the part")
    size = np.array([1.0, max(p[1], 1e-6)] + [1.0] * (len(model.names) - 2))
    best, side, start = np.inf, np.eye(3), candidates[usable[0]]
    for view in view_planes(positions[usable[0]], record.dimensions):
        for i in usable:
            alignment = find_alignment(positions[i], record.points, view, free_scale=not record.scaled)
            cost = float(((alignment.apply(positions[i]) - record.points) ** 2).sum())
            if cost < best:
                best, side, start = cost, view, candidates[i]
    return _Problem(record, model, dt, side, size, model.differentiate(start, record.times, dt)), start / size


def _result(
    problem: _Problem, y: Array, sure: Uncertainty, seen: DecayingOscillation, status: Status, iterations: int
) -> MaterialFit:
    record, model = problem.record, problem.model
    p, x = y * problem.size, problem.positions(y)
    alignment = problem.align(x)
    predicted = alignment.apply(x)
    half = [sure.half_width(i) * problem.size[i] for i in range(len(p))]
    E = model.young * np.exp([p[0], p[0] - half[0], p[0] + half[0]])
    young = Estimate(float(E[0]), float(E[1]), float(E[2]))
    damping = Estimate(float(p[1]), max(float(p[1] - half[1]), 0.0), float(p[1] + half[1]))
    delay = Estimate(float(p[2]), float(p[2] - half[2]), float(p[2] + half[2])) if "delay" in model.names else None
    f = seen.frequency
    ratio = Estimate(*(float(np.pi * f * b) for b in (damping.value, damping.low, damping.high)))
    spread = float(((record.points - record.points.mean(axis=0)) ** 2).sum())
    explained = 1.0 - float(((predicted - record.points) ** 2).sum()) / spread
    return MaterialFit(
        young=young,
        damping=damping,
        delay=delay,
        frequency=f,
        damping_ratio=ratio,
        noise=sure.noise / alignment.scale,
        explained=explained,
        predicted=predicted,
        alignment=alignment,
        uncertainty=sure,
        vibration=seen,
        status=status,
        iterations=iterations,
        warnings=_remarks(record, seen, young, damping, delay, sure, explained, status),
    )


def _remarks(
    record: MarkerRecord,
    seen: DecayingOscillation,
    young: Estimate,
    damping: Estimate,
    delay: Estimate | None,
    sure: Uncertainty,
    explained: float,
    status: Status,
) -> tuple[str, ...]:
    """What the record cannot tell, and where the model does not fit it, in sentences."""
    said = []
    if not status.good:
        said.append(f"the fit did not end well: {status.sentence}")
    if explained < 0.95:
        share = f"{100 * max(explained, 0.0):.0f} %"
        said.append(f"the model explains only {share} of the marker's motion; check the command, the part and the marker's place")
    if not young.half_width <= 0.05 * young.value:
        said.append("Young's modulus is not identifiable from this record (interval above 5 %); record more cycles after the stop")
    if not damping.half_width <= 0.5 * damping.value:
        said.append("damping is not identifiable from this record (interval above 50 %); record for longer after the motor stops")
    if delay is not None and not delay.half_width <= 1.0 / record.rate:
        said.append("the delay is not identifiable from this record (interval above one sample); record the motor's motion too")
    if delay is not None and delay.high < 0.0:
        said.append(f"the marker moves {-1e3 * delay.value:.1f} ms before its command; the clocks of record and command differ")
    if seen.cycles < 3.0:
        said.append(f"only {seen.cycles:.1f} cycles of free vibration were seen; a dozen or more are better")
    if seen.frequency > 0.35 * record.rate:
        said.append(f"{seen.frequency:.3g} Hz is near half the record's rate: it may be the mirror of a faster one; record faster")
    if sure.correlation > 3.0 / np.sqrt(record.points.size):
        rho = f"{sure.correlation:.2f}"
        said.append(f"neighbouring residuals are correlated ({rho}): the model misses something; intervals were widened for it")
    return tuple(said)
