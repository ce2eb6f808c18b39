"""Frame by frame: the torques within limits that follow a plan best, with the whole skin and exact contact in every frame."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.character import PATCHES
from bunraku.mechanics.contact.check import ContactCheck
from bunraku.mechanics.coupled.frame import CoupledFrame, CoupledFrames
from bunraku.mechanics.coupled.skinned import SkinnedModel
from bunraku.mechanics.coupled.state import SkinnedState
from bunraku.mechanics.coupled.touching import Touch
from bunraku.mechanics.elastic.solid import Collapsed
from bunraku.mechanics.measures.statics import GRAVITY
from bunraku.optimization.linear import NotFactorizable
from bunraku.optimization.monitor import SILENT, Event, Monitor
from bunraku.performers.skin.frame.problem import FrameProblem, FrameStep
from bunraku.performers.skin.frame.torque_step import step_torques
from bunraku.performers.skin.wishes import FrameWeights, frame_cost, sole_motion, sole_paths, speed_rows, standing_rows, wished_step

FASTEST = 0.3
"""The fastest return to a plan, in units of 1 / h: at 1 a critically damped one would overshoot within a frame."""


@dataclass(frozen=True)
class FrameRecord:
    """One accepted frame: its torques and forces, the independent check of its contact, and what it took."""

    tau: Array
    F: Array
    check: ContactCheck
    rows_ok: bool
    cost: float
    costs: tuple[float, ...]
    shift: float
    shortened: float
    seconds: float
    contact_seconds: float


@dataclass(frozen=True)
class TrackedFrames:
    """The frames of a pass: ``q`` (N + 1, nq), ``com`` (N + 1, 3), places of the ``patches`` (N + 1, P, 3), ``stands`` (N, s).

    ``records`` (N) of the frames; ``state`` the last; ``cancelled`` if it was stopped before its end, ``failed`` why no frame
    followed the last one, empty if all did.
    """

    q: Array
    com: Array
    patches: Array
    stands: NDArray[np.bool_]
    records: tuple[FrameRecord, ...]
    state: SkinnedState
    cancelled: bool = False
    failed: str = ""

    @property
    def torques(self) -> Array:
        """Torques (N, na) [N·m]."""
        return np.array([record.tau for record in self.records])

    @property
    def forces(self) -> Array:
        """Forces of the ground on the patches (N, P, 3) [N]."""
        return np.array([record.F for record in self.records])


def motor_limits(model: SkinnedModel, v: Array) -> tuple[Array, Array]:
    """Least and largest torque (na,) of the motors at joint speeds ``v`` (nq,): the torque-speed line, never reversed."""
    low, high = [], []
    for motor, c in zip(model.character.motors, model.driven, strict=True):
        stall = (motor.stall_torque or 1e3) * motor.torque_fraction
        slope = 0.0 if motor.no_load_speed is None else stall / motor.no_load_speed
        high.append(min(stall, max(0.0, stall - slope * v[c])))
        low.append(max(-stall, min(0.0, -stall - slope * v[c])))
    return np.array(low), np.array(high)


def track(
    frames: CoupledFrames,
    state: SkinnedState,
    wished: Array,
    stands: NDArray[np.bool_],
    *,
    plan_start: Array | None = None,
    torques: Array | None = None,
    forces: Array | None = None,
    weights: FrameWeights | None = None,
    friction: Array | None = None,
    start: FrameRecord | None = None,
    collisions: Callable[[SkinnedState], Touch] | None = None,
    look: Callable[[SkinnedState], None] | None = None,
    solve: Callable[..., FrameStep] = step_torques,
    monitor: Monitor = SILENT,
) -> TrackedFrames:
    """Follow poses ``wished`` (N, nq) of the next N frames from ``state``; ``stands`` (N, s) says which soles should.

    ``plan_start`` (2, nq) are the plan's poses one frame before ``state`` and at it (none: at rest at the first wished pose);
    ``torques`` (N, na) and ``forces`` (N, s, 3) on soles those the plan foresaw (none: no torque, an even load).

    ``friction`` (P,) of the patches; ``collisions`` gives forces on nodes and skeleton; ``look`` is shown every state.
    """
    model, weights = frames.model, weights or FrameWeights()
    weights = replace(weights, rate=min(weights.rate, FASTEST / frames.h))
    P, na = model.n_patches, len(model.driven)
    mu = np.repeat([tip.friction for tip in model.character.end_effectors], PATCHES) if friction is None else friction
    tau = np.zeros(na) if start is None else start.tau
    F = np.zeros((P, 3)) if start is None else start.F
    path = np.vstack([wished[:1], wished[:1], wished]) if plan_start is None else np.vstack([plan_start, wished])
    q, com, records = [state.q], [model.center_of_mass(state.q, state.x)], list[FrameRecord]()
    patches = [np.asarray(model.patches @ state.x.ravel()).reshape(-1, 3)]
    cancelled, failed = False, ""
    came_down, stood = np.zeros((stands.shape[1], 2)), np.zeros(stands.shape[1], dtype=bool)
    foreseen = np.zeros((len(wished), na)) if torques is None else torques
    soles = sole_paths(model, path)
    carried = _even(model, stands) if forces is None else forces
    for i in range(len(wished)):
        clock = time.thread_time()
        touch = None if collisions is None else collisions(state)
        extra = () if touch is None else (touch.force, touch.skeleton, touch.stiffness)
        try:
            frame = frames.linearize(state, *extra)
        except NotFactorizable as error:
            failed = f"at {i * frames.h:.2f} s: {error}"
            break
        here = sole_motion(model, state.q).center[:, :2]
        came_down = np.where((stands[i] & stood)[:, None], came_down, here)
        stood = stands[i]
        places = soles[i : i + 3].copy()
        places[:, stood, :2] = came_down[stood]
        step = wished_step(state.q, state.v, path[i : i + 3], frames.h, weights.rate)
        cost = frame_cost(
            model, frame, state.q, state.v, step, (tau, foreseen[i]), carried[i], stands[i], places, frames.h, weights
        )
        rows = standing_rows(model, stands[i], patches[-1][:, :2]), speed_rows(model, frame, state.v, frames.h, step)
        problem = _stated(frame, cost, rows, motor_limits(model, state.v), mu)
        inside = time.thread_time()
        solved = solve(problem, np.clip(tau, problem.lo, problem.hi), F)
        inside = time.thread_time() - inside
        tau, F = solved.tau, solved.F
        try:
            state = frames.advance(state, frame, tau, F.ravel())
        except Collapsed as error:
            failed = f"at {i * frames.h:.2f} s: {error}"
            break
        seconds = time.thread_time() - clock
        check, facts = problem.check(tau, F), (solved.rows_ok, solved.cost, solved.costs)
        records.append(FrameRecord(tau, F, check, *facts, frame.shift, frames.shortened, seconds, inside))
        q.append(state.q)
        com.append(model.center_of_mass(state.q, state.x))
        patches.append(np.asarray(model.patches @ state.x.ravel()).reshape(-1, 3))
        if look is not None:
            look(state)
        monitor.report(Event("skin", (i + 1) / len(wished), f"frame {i + 1} of {len(wished)}"))
        if monitor.cancelled:
            cancelled = i + 1 < len(wished)
            break
    done = stands[: len(records)]
    return TrackedFrames(np.array(q), np.array(com), np.array(patches), done, tuple(records), state, cancelled, failed)


def _stated(
    frame: CoupledFrame,
    cost: tuple[Array, Array, float],
    rows: tuple[tuple[Array, Array], ...],
    limits: tuple[Array, Array],
    mu: Array,
) -> FrameProblem:
    """The problem of a frame with all ``rows`` (C, d) that there are."""
    (H, g, const), (lo, hi) = cost, limits
    C, d = np.vstack([C for C, _ in rows]), np.concatenate([d for _, d in rows])
    kept = {"C": C, "d": d} if len(C) else {}
    return FrameProblem(H, g, frame.R, frame.W, frame.u0, frame.heights, mu, lo, hi, const=const, **kept)


def _even(model: SkinnedModel, stands: NDArray[np.bool_]) -> Array:
    """The weight shared evenly by the soles that stand, (N, s, 3) [N]."""
    forces = np.zeros((*stands.shape, 3))
    forces[:, :, 2] = stands * model.total_mass * GRAVITY / np.maximum(stands.sum(axis=1), 1)[:, None]
    return forces
