"""Torques of a frame: sequential quadratic programming on the torques alone, with the contact solved exactly inside.

At torques tau the contact gives F and, inside the present piece (no patch changing what it does), its derivative S = dF/dtau. With
T = [1; S] the cost along a step p is p.T^T H T p / 2 + (T^T (H z + g)).p, minimised in the torque box, a trust box and the rows.
A step is judged by the true cost, that is with the contact solved at its torques. If it gains less than half of what was predicted,
more are tried: the step that stays in the piece to first order and a tenth of the free one; where the piece offers nothing,
the pieces beyond the limits that the step presses against. The best is taken if it gains, else the trust box shrinks by 4.
Rows that cannot be met in the boxes are overstepped as little as possible, by an exact penalty, and reported.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.mechanics.contact.coulomb import ContactForces, ContactLaw
from bunraku.optimization.solution import Status
from bunraku.performers.skin.frame.pieces import beyond, piece_limits
from bunraku.performers.skin.frame.problem import ROW_TOLERANCE, FrameProblem, FrameStep
from bunraku.performers.skin.frame.small_quadratic import SmallSolution, solve_small

Labels = NDArray[np.int64]

GAIN = 1e-6
"""A predicted gain below this part of the cost's own size ends the search."""

SLOW = 100.0
"""Two steps in a row at the edge of a piece that gain less than this times the least gain end the search too."""

SMALLEST = 1e-4
"""Trust box, in halves of the torque range, at which the search ends."""

MAX_OUTER = 25
MAX_SOLVES = 30
"""Contact solutions after which no further outer step is begun."""

PIECES = 3
"""Pieces beyond the present one that are looked at."""


def step_torques(problem: FrameProblem, tau0: Array | None = None, F0: Array | None = None, *, cold: bool = False) -> FrameStep:
    """The torques of a frame and the ground forces they cause.

    ``tau0`` (na,) and ``F0`` (P, 3) are those of the last frame (none: zero). ``cold`` also searches from zero and keeps the better
    answer, which is done anyway where the rows do not hold. ``status`` CONVERGED: no piece that was looked at promises a gain above
    1e-6 of the cost (without its constant part). Where pieces meet this is a local minimum, not always the least one.
    """
    step = _Search(problem).run(tau0, F0)
    if (tau0 is None and F0 is None) or not (cold or not step.rows_ok):
        return step
    other = _Search(problem).run(None, None)
    better = min(step, other, key=lambda s: (0.0, s.cost) if s.rows_ok else (s.violation, s.cost))
    return replace(better, outer=step.outer + other.outer, contact_solves=step.contact_solves + other.contact_solves)


@dataclass(frozen=True)
class _Point:
    tau: Array
    contact: ContactForces
    cost: float
    violation: float

    @property
    def z(self) -> Array:
        return np.concatenate([self.tau, self.contact.F.reshape(-1)])


@dataclass(frozen=True)
class _Model:
    """In one piece: cost b.p + p.A p / 2 of a step p, rows c + E p <= 0 (of length one), and dF = S p."""

    A: Array
    b: Array
    E: Array
    c: Array
    S: Array
    labels: Labels


@dataclass(frozen=True)
class _Proposal:
    """A step, the gain of merit it predicts, and which rows (m,) and limits of the piece (2 P,) it presses against."""

    step: Array
    gain: float
    rows: NDArray[np.bool_]
    pressed: NDArray[np.bool_]


class _Search:
    """One search: the problem, the weight of overstepped rows, and counts."""

    def __init__(self, problem: FrameProblem) -> None:
        self.problem = problem
        self.law = ContactLaw(problem.W, problem.gap, problem.mu)
        self.solves = 0
        self.weight = 0.0
        self.holding: _Point | None = None
        length = np.linalg.norm(problem.C, axis=1)
        scale = 1.0 / np.where(length > 0.0, length, 1.0)
        self.C, self.d = problem.C * scale[:, None], problem.d * scale
        self.half = np.maximum(0.5 * (problem.hi - problem.lo), 1e-12)

    def run(self, tau0: Array | None, F0: Array | None) -> FrameStep:
        p = self.problem
        now = self.point(np.zeros(p.torques) if tau0 is None else np.asarray(tau0, dtype=np.float64), F0)
        costs, trust, edge, slow, outer, status = [now.cost], 1.0, 0, 0, 0, Status.MAX_ITERATIONS
        while outer < MAX_OUTER and self.solves < MAX_SOLVES:
            outer += 1
            model = self.model(now, now.contact.labels)
            free = None if model is None else self.propose(now, model, trust, limits=False)
            if model is None or free is None:
                status = Status.STALLED
                break
            if free.gain <= self.least(now):
                status = Status.CONVERGED
                break
            if not 0 < edge < 3:
                trial = self.tried(now, free)
                if self.merit(now) - self.merit(trial) >= 0.5 * free.gain:
                    now, trust, edge = trial, min(1.0, 2.0 * trust), 0
                    costs.append(now.cost)
                    continue
            best, trust = self.careful(now, model, free, trust)
            if trust < SMALLEST:
                status = Status.STALLED if trust > 0.0 else Status.CONVERGED
                break
            if best is not None:
                slow = slow + 1 if self.merit(now) - self.merit(best) < SLOW * self.least(now) else 0
            now, edge = (now, 0) if best is None else (best, edge + 1)
            costs.append(now.cost)
            if slow == 2:
                status = Status.STALLED
                break
        return self.result(now, status, outer, costs)

    def careful(self, now: _Point, model: _Model, free: _Proposal, trust: float) -> tuple[_Point | None, float]:
        """The first step inside a piece that gains enough, or else a tenth of the free one if it gains; and the next trust box.

        Pieces: the present one, then those beyond the limits pressed. A trust box of zero says that no piece promised a gain.
        """
        least, longest = self.least(now), 0.0
        seen: set[bytes] = set()
        for _ in range(PIECES):
            seen.add(model.labels.tobytes())
            kept = self.propose(now, model, trust, limits=True)
            if kept.gain > least:
                trial, length = self.tried(now, kept), self.length(kept.step)
                ratio = (self.merit(now) - self.merit(trial)) / kept.gain
                if ratio > 0.1:
                    return trial, min(1.0, 2.0 * trust) if ratio > 0.5 else max(0.5 * length, SMALLEST)
                longest = max(longest, length)
            labels = beyond(model.labels, now.contact.u, kept.pressed)
            other = None if labels.tobytes() in seen else self.model(now, labels)
            if other is None:
                break
            model = other
        if longest == 0.0:
            return None, 0.0
        trial = self.point(now.tau + 0.1 * free.step, now.contact.F)
        if self.merit(now) - self.merit(trial) > least:
            return trial, max(0.2 * self.length(free.step), SMALLEST)
        return None, 0.25 * min(trust, longest)

    def result(self, now: _Point, status: Status, outer: int, costs: list[float]) -> FrameStep:
        """What is handed back: the last point, put back onto the rows, or the best one seen that meets them if this fails."""
        back = self.restored(now)
        if back.violation > ROW_TOLERANCE and self.holding is not None:
            back = self.holding
        now = back
        c = now.contact
        status = status if c.status.good else Status.STALLED
        return FrameStep(now.tau, c.F, c.labels, now.cost, now.violation, status, outer, self.solves, tuple(costs))

    def restored(self, now: _Point) -> _Point:
        """The point after at most five shortest steps onto the rows, each taken if it lessens the violation."""
        for _ in range(5):
            model = self.model(now, now.contact.labels) if now.violation > ROW_TOLERANCE else None
            if model is None:
                break
            low, high = np.minimum(self.problem.lo - now.tau, 0.0), np.maximum(self.problem.hi - now.tau, 0.0)
            rows = model.c + 0.1 * ROW_TOLERANCE
            shortest = solve_small(np.diag(self.half**-2), np.zeros(len(low)), model.E, rows, low, high)
            trials = [self.point(now.tau + part * shortest.x, now.contact.F) for part in (1.0, 0.25)] if shortest.solved else []
            best = min(trials, key=lambda point: point.violation, default=now)
            if not best.violation < now.violation:
                break
            now = best
        return now

    def tried(self, now: _Point, proposal: _Proposal) -> _Point:
        """The point after a step; if it gains too little, put back onto the rows and limits that the step presses against.

        Those are curved where patches slide. The correction is the shortest step that meets them to first order at the new point.
        """
        trial = self.point(now.tau + proposal.step, now.contact.F)
        if self.merit(now) - self.merit(trial) >= 0.5 * proposal.gain or not (proposal.rows.any() or proposal.pressed.any()):
            return trial
        model = self.model(trial, trial.contact.labels)
        if model is None:
            return trial
        E, c = model.E[proposal.rows], model.c[proposal.rows]
        if proposal.pressed.any():
            limits, start = piece_limits(self.problem, trial.contact.F, trial.contact.u, model.labels, model.S)
            E, c = np.vstack([E, limits[proposal.pressed]]), np.concatenate([c, start[proposal.pressed]])
        back = -self.half * np.linalg.lstsq(E * self.half, c, rcond=1e-8)[0]
        if self.length(back) > self.length(proposal.step):
            return trial
        corrected = self.point(trial.tau + back, trial.contact.F)
        return corrected if self.merit(corrected) < self.merit(trial) else trial

    def point(self, tau: Array, F: Array | None) -> _Point:
        p = self.problem
        self.solves += 1
        tau = np.clip(tau, p.lo, p.hi)
        contact = self.law.solve(p.free(tau), F)
        point = _Point(tau, contact, p.cost(tau, contact.F), p.row_violation(tau, contact.F))
        if contact.status.good and point.violation <= ROW_TOLERANCE and (self.holding is None or point.cost < self.holding.cost):
            self.holding = point
        return point

    def merit(self, point: _Point) -> float:
        return point.cost + self.weight * point.violation if point.contact.status.good else np.inf

    def length(self, step: Array) -> float:
        """The largest torque of a step, in halves of the torque range."""
        return float(np.max(np.abs(step) / self.half))

    def least(self, point: _Point) -> float:
        """The gain that is too small to go on for."""
        p, z = self.problem, point.z
        return GAIN * (0.5 * float(z @ (p.H @ z)) + abs(float(p.g @ z)) + self.weight * point.violation + 1e-12)

    def model(self, now: _Point, labels: Labels) -> _Model | None:
        p = self.problem
        S = self.law.slope(p.free(now.tau), now.contact.F, p.R, labels)
        if S is None:
            return None
        T = np.vstack([np.eye(p.torques), S])
        A = T.T @ p.H @ T
        A = 0.5 * (A + A.T) + 1e-10 * max(float(np.trace(A)) / len(A), 1e-300) * np.eye(len(A))
        return _Model(A, T.T @ (p.H @ now.z + p.g), self.C @ T, self.C @ now.z - self.d, S, labels)

    def propose(self, now: _Point, model: _Model, trust: float, *, limits: bool) -> _Proposal:
        """The step of the quadratic program and the gain of merit it predicts."""
        p, E, c, m = self.problem, model.E, model.c, len(model.c)
        low = np.minimum(np.maximum(p.lo - now.tau, -trust * self.half), 0.0)
        high = np.maximum(np.minimum(p.hi - now.tau, trust * self.half), 0.0)
        if limits:
            more, start = piece_limits(p, now.contact.F, now.contact.u, model.labels, model.S)
            E, c = np.vstack([E, more]), np.concatenate([c, start])
        program = solve_small(model.A, model.b, E, c, low, high)
        if program.solved:
            self.weight = max(self.weight, 2.0 * float(program.multipliers[:m].sum()))
        elif m:
            program = self._overstepping(now, model, E, c, low, high)
        if not program.solved:
            return _Proposal(np.zeros(len(low)), 0.0, np.zeros(m, bool), np.zeros(len(c) - m, bool))
        step = program.x[: len(low)]
        after = float(np.max(model.c + model.E @ step, initial=0.0))
        gain = -(model.b @ step + 0.5 * step @ (model.A @ step)) + self.weight * (now.violation - after)
        return _Proposal(step, float(gain), program.multipliers[:m] > 0.0, program.multipliers[m:] > 0.0)

    def _overstepping(self, now: _Point, model: _Model, E: Array, c: Array, low: Array, high: Array) -> SmallSolution:
        """The program with one more unknown s >= 0 by which rows may be overstepped, at a weight above all the cost can gain."""
        n, m = len(low), len(model.c)
        most = float(np.abs(model.b) @ self.half + 0.5 * self.half @ np.abs(model.A) @ self.half)
        reach = float(np.max(np.abs(model.E) @ self.half))
        self.weight = max(self.weight, 100.0 * most / max(reach, 1e-3 * now.violation, 1e-9))
        P = np.zeros((n + 1, n + 1))
        P[:n, :n], P[n, n] = model.A, 1e-6 * self.weight
        column = np.zeros((len(c), 1))
        column[:m] = -1.0
        ceiling = float(np.max(c[:m], initial=0.0)) + 1.0
        return solve_small(
            P, np.append(model.b, self.weight), np.hstack([E, column]), c, np.append(low, 0.0), np.append(high, ceiling)
        )
