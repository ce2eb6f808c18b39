"""Stepping a full-order model through time, and what is kept of it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

import numpy as np

from bunraku.arrays import Array
from bunraku.geometry.rotations import multiply_quaternions, quaternion_of_vector
from bunraku.mechanics.full_order.assembly import Assembly, Rates, TrialState
from bunraku.mechanics.full_order.links import LinkRows
from bunraku.mechanics.full_order.motion import FullState
from bunraku.mechanics.full_order.newton import Factors, Solved, solve
from bunraku.mechanics.full_order.schemes import GeneralizedAlpha, Scheme, SchemeState, TwoStep
from bunraku.mechanics.full_order.start import initial_rates, motor_start
from bunraku.optimization.monitor import Event, Monitor
from bunraku.optimization.solution import Status


@dataclass
class Record:
    """What is kept at every ``every``-th node: see FullMotion."""

    every: int = 1
    pieces: frozenset[str] = frozenset()
    times: list[float] = field(default_factory=list)
    positions: list[Array] = field(default_factory=list)
    quaternions: list[Array] = field(default_factory=list)
    drift: list[float] = field(default_factory=list)
    energies: list[tuple[float, float, float]] = field(default_factory=list)
    torques: list[Array] = field(default_factory=list)
    snapshots: dict[str, list[Array]] = field(default_factory=dict)

    def keep(self, A: Assembly, t: float, moment: SchemeState, motors: Array) -> None:
        """Keep a moment."""
        trial = moment.trial
        rows = A.rows(motors)
        links, held = A.gaps(trial, rows)
        c, R = A.placed(trial.c, trial.q)
        self.times.append(t)
        self.positions.append(trial.c - np.einsum("bij,bj->bi", R[:-1], A.centers[:-1]))
        self.quaternions.append(trial.q)
        self.drift.append(float(max(np.abs(links).max(initial=0.0), np.abs(held).max(initial=0.0))))
        self.energies.append(energy(A, moment))
        self.torques.append(motor_torques(A, trial, R, motors))
        for p, part in enumerate(A.pieces):
            if part.name in self.pieces:
                base, turn = int(part.bodies[0]), A.frame(p, R)
                origin = c[base] + R[base] @ (part.piece.held[0].pose[1] - A.centers[base])
                self.snapshots.setdefault(part.name, []).append((trial.x[p] - origin) @ turn - part.X)


def energy(A: Assembly, moment: SchemeState) -> tuple[float, float, float]:
    """Kinetic, elastic and gravitational energy [J]."""
    trial, rates = moment.trial, moment.rates
    _, R = A.placed(trial.c, trial.q)
    local = np.einsum("bji,bj->bi", R[:-1], rates.w)
    kinetic = 0.5 * float(np.sum(A.mass[:, None] * rates.v**2) + np.einsum("bi,bij,bj->", local, A.inertia, local))
    elastic, weight = 0.0, -float(np.sum(A.mass * (trial.c @ A.gravity)))
    for p, part in enumerate(A.pieces):
        xv = rates.xv[p] if rates.xv is not None else np.zeros_like(trial.x[p])
        kinetic += 0.5 * float(np.sum(xv * (part.mass @ xv)))
        elastic += part.solid.energy(trial.x[p] - part.X)
        weight -= float(np.sum(part.weight * trial.x[p]))
    return kinetic, elastic, weight


def motor_torques(A: Assembly, trial: TrialState, R: Array, motors: Array) -> Array:
    """What each motor has to give (motors,): minus the work of the constraints' forces for a small change of its value."""
    out = np.zeros(A.motors)
    lam, e = trial.lam[: len(A.kept)], 1e-6
    c = np.vstack([trial.c, np.zeros(3)])
    known = A.turned(motors)
    for k in range(A.motors):
        up, down = (
            LinkRows(A.turned_by(k, motors + sign * e * np.eye(A.motors)[k], known), A.count).values(c, R) for sign in (1.0, -1.0)
        )
        out[k] = lam @ (up - down)[A.kept] / (2.0 * e)
    return out


def begin(A: Assembly, trial: TrialState, state: FullState, curve: Array, h: float) -> SchemeState:
    """The first moment, with accelerations that fit it."""
    at_rest = not (np.any(state.v) or np.any(state.w) or any(np.any(v) for v in state.xv))
    rate, second = motor_start(curve, h, at_rest)
    rates, lam = initial_rates(A, trial, state.v, state.w, state.xv, (curve[0], rate, second))
    return SchemeState(replace(trial, lam=lam), rates)


def march(
    A: Assembly, first: SchemeState, curve: Array, h: float, scheme: Scheme, record: Record, monitor: Monitor, tolerance: float
) -> tuple[SchemeState, Status, str, int, Factors]:
    """Step along a curve (N + 1, motors) of nodes h apart: last moment, status, note, steps made, factors with their counts."""
    factors, now, before = Factors(), first, None
    record.keep(A, 0.0, now, curve[0])
    steps, said = len(curve) - 1, time.monotonic()
    for n in range(1, steps + 1):
        if monitor.cancelled:
            return now, Status.CANCELLED, f"cancelled at {(n - 1) * h:.4f} s", n - 1, factors
        if time.monotonic() - said > 0.5:
            said = time.monotonic()
            monitor.report(Event("full-order model", (n - 1) / steps, f"{(n - 1) * h:.3f} s of {steps * h:.3f} s"))
        used = GeneralizedAlpha(rho=0.5) if isinstance(scheme, TwoStep) and before is None else scheme
        solved = _step(A, now, before, curve[n], h, used, factors, tolerance)
        if solved.trial is not None:
            following: SchemeState | None = used.closed(solved.trial, now, before, h)
        else:
            following = _divided(A, now, (curve[max(n - 2, 0)], curve[n - 1], curve[n]), h, tolerance, monitor)
        if following is None:
            return now, Status.STALLED, f"at {n * h:.4f} s {solved.cause}", n - 1, factors
        now, before = following, now
        if n % record.every == 0 or n == steps:
            record.keep(A, n * h, now, curve[n])
    return now, Status.CONVERGED, "", steps, factors


def _step(
    A: Assembly,
    now: SchemeState,
    before: SchemeState | None,
    motors: Array,
    h: float,
    scheme: Scheme,
    factors: Factors,
    tolerance: float,
) -> Solved:
    """One step: from the extrapolated state, then from the last one, with the factors at hand; then from the last with new ones."""
    rows = A.rows(motors)

    def rates(trial: TrialState) -> Rates:
        return scheme.rates(trial, now, before, h)

    threshold = tolerance * A.reach
    solved = solve(A, _extrapolated(now, h), rates, rows, factors, tolerance=threshold, safe=now.trial, hasty=True)
    for fresh in (False, True):
        if solved.trial is not None:
            break
        if fresh:
            factors.key = (-1.0, -1.0)
        again = solve(A, now.trial, rates, rows, factors, tolerance=threshold, safe=now.trial)
        solved = Solved(again.trial, solved.iterations + again.iterations, again.cause or solved.cause)
    return solved


def _divided(
    A: Assembly, now: SchemeState, motors: tuple[Array, Array, Array], h: float, tolerance: float, monitor: Monitor
) -> SchemeState | None:
    """A step that failed, in 4 or 16 parts of generalized alpha; the motors on the parabola through the last nodes."""
    past, here, there = motors
    for parts in (4, 16):
        moment, factors, scheme = SchemeState(now.trial, now.rates), Factors(), GeneralizedAlpha(rho=0.5)
        for k in range(1, parts + 1):
            s = k / parts
            values = here + s * 0.5 * (there - past) + s * s * 0.5 * (there - 2.0 * here + past)
            solved = _step(A, moment, None, values, h / parts, scheme, factors, tolerance)
            if solved.trial is None or monitor.cancelled:
                break
            moment = scheme.closed(solved.trial, moment, None, h / parts)
        else:
            return SchemeState(moment.trial, moment.rates)
    return None


def _extrapolated(now: SchemeState, h: float) -> TrialState:
    """Y + h v + h^2 a / 2: only a first guess; the factors are never made there."""
    trial, r = now.trial, now.rates
    q = multiply_quaternions(quaternion_of_vector(h * r.w + 0.5 * h * h * r.alpha), trial.q) if len(trial.q) else trial.q
    x = tuple(x + h * v + 0.5 * h * h * a for x, v, a in zip(trial.x, r.xv or (), r.xa or (), strict=True))
    return TrialState(trial.c + h * r.v + 0.5 * h * h * r.a, q, x, trial.lam)
