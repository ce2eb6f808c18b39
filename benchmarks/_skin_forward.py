"""The planned angles given to servos of the whole skinned character: does it do by itself what was planned?

Skeleton and skin move together (`mechanics.coupled`), with another time step and a finer skin than the plan was made with; the
servos are told angles, not torques. What they then need is set against what was planned.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from _skin_refine import refined_skin
from bunraku.character import PATCHES
from bunraku.errors import BadInput
from bunraku.geometry.euler import turn_about
from bunraku.mechanics.coupled.drive import servo_step
from bunraku.mechanics.coupled.frame import CoupledFrames
from bunraku.mechanics.coupled.skinned import SkinnedModel, skinned_model
from bunraku.mechanics.coupled.state import SkinnedState, rest_state
from bunraku.mechanics.elastic.solid import Collapsed
from bunraku.mechanics.tree import compile_tree
from bunraku.motion import Check, Performance
from bunraku.optimization.condensation.condenser import Backend
from bunraku.optimization.linear import NotFactorizable
from bunraku.optimization.monitor import SILENT, Event, Monitor
from bunraku.verification.ground.falls import LOWEST, STEEPEST
from bunraku.verification.servos.bank import ServoBank
from bunraku.verification.skin.distance import DISTANCE_ERROR, Walk, spacing_of, walk_between
from bunraku.verification.skin.plan import model_of

Array: TypeAlias = NDArray[np.float64]
Gains: TypeAlias = tuple[float | Array, float | Array]

STEP = 0.0025
"""Step [s] of the simulation, half that of planned frames."""


TORQUE_RATIO = 0.15
"""The RMS torque is that of the plan within this share."""

_BENT, _SETTLE, _SLOW, _STILL = 30, 60, 0.02, 1e-4


@dataclass(frozen=True)
class ForwardCheck:
    """What the servos made of the planned angles: N steps of ``step`` [s] with a skin of ``nodes``.

    ``q`` (N + 1, nq); ``torque`` (N, na) given and ``planned`` (n, na) [N·m]; ``motors`` their names; ``walk``: how far it went
    beside how far it should; ``tracking`` RMS error of the joints [rad]; ``saturated``: share of motors and steps at a limit;
    ``reason`` why it fell, or nothing; ``complete``: not cancelled; ``seconds`` of CPU a step. Plans count up to where it came.
    """

    step: float
    nodes: int
    motors: tuple[str, ...]
    walk: Walk
    tracking: float
    saturated: float
    reason: str
    complete: bool
    seconds: float
    q: Array = field(repr=False)
    torque: Array = field(repr=False)
    planned: Array = field(repr=False)

    @property
    def ratios(self) -> Array:
        """RMS torque of each motor (na,) over the planned one."""
        return np.asarray(_rms(self.torque) / np.maximum(_rms(self.planned), 1e-12))

    @property
    def ratio(self) -> float:
        """RMS torque of all motors over the planned one."""
        return float(np.linalg.norm(_rms(self.torque)) / max(float(np.linalg.norm(_rms(self.planned))), 1e-12))

    @property
    def figures(self) -> dict[str, float]:
        """Flat figures."""
        return {
            "forward_skin_vertices": float(self.nodes),
            "forward_step_s": self.step,
            "forward_steps": float(len(self.torque)),
            "forward_seconds_a_step": self.seconds,
            "forward_fell": float(self.reason != ""),
            "forward_distance_m": self.walk.distance,
            "forward_distance_error": self.walk.error,
            "forward_torque_ratio": self.ratio,
            "forward_torque_ratio_least": float(self.ratios.min(initial=np.inf)),
            "forward_torque_ratio_most": float(self.ratios.max(initial=0.0)),
            "forward_tracking_rms_rad": self.tracking,
            "forward_saturation_share": self.saturated,
        }

    @property
    def checks(self) -> tuple[Check, ...]:
        """What must hold: it walks, does not fall, and needs the planned torque."""
        worst = self.motors[int(np.argmax(np.abs(np.log(np.maximum(self.ratios, 1e-12)))))]
        note = f"{self.nodes} nodes, steps of {1e3 * self.step:g} ms"
        return (
            Check("forward check completed", float(self.complete), threshold=1.0, at_least=True, note=self.reason),
            Check("fell under servos", float(self.reason != ""), threshold=0.0, note=self.reason or "it did not"),
            Check("distance error under servos", self.walk.error, self.walk.unit, DISTANCE_ERROR, note=note),
            Check("rms torque against the plan", abs(self.ratio - 1.0), "of the plan", TORQUE_RATIO, note=f"farthest: {worst}"),
            Check("joint rms under servos", self.tracking, "rad"),
        )


def forward_check(
    performance: Performance,
    gains: Gains | None = None,
    step: float = STEP,
    refine: int = 1,
    *,
    feedforward: bool = True,
    backend: Backend = "auto",
    monitor: Monitor = SILENT,
) -> ForwardCheck:
    """Play the position channels of a skinned character's performance on its servos, with the skin refined ``refine`` times.

    ``gains`` (kp [N·m/rad], kd [N·m·s/rad]) of all servos or (na,) of each; None: those the motors state. A servo gives
    kp (c - q) - kd v and is told c = q* + (kd / kp) v*, q* the planned angle; with ``feedforward`` also tau* / kp, each planned
    torque held until the next. It starts from rest, where the told pose of the first sample settles.
    """
    if not 0.0 < step <= 0.05 or not 0 <= refine <= 3:
        raise BadInput(f"a step of {step} s and {refine} refinements cannot be simulated; give up to 0.05 s and 0 to 3")
    model = model_of(performance.character)
    mesh = model.mesh
    for _ in range(refine):
        mesh = refined_skin(mesh)
    if refine:
        model = skinned_model(performance.character, mesh)
    return _Forward(performance, model, gains, step, feedforward, backend).run(monitor)


class _Forward:
    """One simulation."""

    def __init__(
        self,
        performance: Performance,
        model: SkinnedModel,
        gains: Gains | None,
        step: float,
        feedforward: bool,
        backend: Backend,
    ) -> None:
        self.performance, self.model, self.step, self.backend = performance, model, step, backend
        character, motion = performance.character, performance.motion
        self.bank = ServoBank.of(character)
        self.gains = _gains(self.bank) if gains is None else gains
        self.mu = np.repeat([tip.friction for tip in character.end_effectors], PATCHES)
        self.wished = np.column_stack([motion.column(name) for name in model.tree.names])
        self.rate, driven = motion.rate, character.driven
        angles = np.column_stack([motion.column(name) for name in driven])
        self.planned = _values(performance, "torque")
        n = len(self.wished)
        self.times = np.arange(int(np.floor((n - 1) / self.rate / step + 1e-9)) + 1) * step
        at = np.arange(n) / self.rate
        told = np.column_stack([np.interp(self.times, at, curve) for curve in angles.T])
        rates = np.vstack([np.zeros(len(driven)), np.diff(told, axis=0) / step])
        kp, kd = self.gains
        self.told = told + (kd / kp) * rates
        if feedforward:
            held = np.minimum((np.maximum(self.times - step, 0.0) * self.rate + 1e-9).astype(np.int64), n - 1)
            self.told += self.planned[held] / kp

    def run(self, monitor: Monitor) -> ForwardCheck:
        """Settle, then step to the end or the fall."""
        model = self.model
        state, F = self._settled(monitor)
        frames = CoupledFrames(model, self.step, backend=self.backend)
        q, torques, saturated, reason, clock = [state.q], list[Array](), 0, "", time.thread_time()
        steps = len(self.told) - 1
        for k in range(steps):
            try:
                state, tau, F, at_limit = self._step(frames, state, self.told[k + 1], F)
            except (Collapsed, NotFactorizable) as error:
                reason = f"the skin collapsed at {k * self.step:.3f} s: {error}"
                break
            q.append(state.q)
            torques.append(tau)
            saturated += at_limit
            reason = self._fall(state, k + 1)
            monitor.report(Event("forward", (k + 1) / steps, reason))
            if reason or monitor.cancelled:
                break
        seconds = (time.thread_time() - clock) / max(len(torques), 1)
        done, planned = np.array(q), self._planned_q()[: len(q)]
        off = (done - planned)[:, model.driven]
        given = np.array(torques).reshape(-1, len(model.driven))
        return ForwardCheck(
            self.step, model.solid.nodes, self.bank.names, walk_of(self.performance, done[:, :2], self.times[len(q) - 1]),
            float(np.sqrt(np.mean(off**2))), saturated / max(given.size, 1), reason, len(torques) == steps or reason != "",
            seconds, done, given, self._planned_torque(len(torques)),
        )  # fmt: skip

    def _settled(self, monitor: Monitor) -> tuple[SkinnedState, Array]:
        """At rest in the first pose, found with long steps: until no rate is above a ten-thousandth of a radian a second.

        The servos are told to go there from home little by little: a step all the way would turn the skin inside out.
        """
        slow = CoupledFrames(self.model, _SLOW, backend=self.backend)
        state, F = rest_state(self.model), np.zeros((self.model.n_patches, 3))
        home = self.model.home[self.model.driven]
        for k in range(_BENT + _SETTLE):
            told = home + min(1.0, (k + 1) / _BENT) * (self.told[0] - home)
            state, _, F, _ = self._step(slow, state, told, F)
            monitor.report(Event("settle", (k + 1) / (_BENT + _SETTLE)))
            if (k >= _BENT and np.abs(state.v).max() < _STILL) or monitor.cancelled:
                break
        return SkinnedState(state.q, np.zeros_like(state.v), state.x, np.zeros_like(state.w)), F

    def _step(self, frames: CoupledFrames, state: SkinnedState, told: Array, F: Array) -> tuple[SkinnedState, Array, Array, int]:
        frame = frames.linearize(state)
        limits = self.bank.torque_range(state.v[self.model.driven])
        made = servo_step(frame, self.model.driven, told, state.q, self.gains, limits, frames.h, self.mu, F)
        return frames.advance(state, frame, made.tau, made.F.ravel()), made.tau, made.F, made.saturated

    def _planned_q(self) -> Array:
        at = np.arange(len(self.wished)) / self.rate
        return np.column_stack([np.interp(self.times, at, curve) for curve in self.wished.T])

    def _planned_torque(self, steps: int) -> Array:
        """The planned torques (m, na) of the time that was simulated."""
        return self.planned[: max(1, round(steps * self.step * self.rate))]

    def _fall(self, state: SkinnedState, k: int) -> str:
        """Why it counts as fallen after k steps, or nothing: as in `ground.falls`, the base in place of the centre of mass."""
        planned = np.array([np.interp(self.times[k], np.arange(len(self.wished)) / self.rate, c) for c in self.wished[:, :6].T])
        up, wanted = _up(state.q[4:6]), _up(planned[4:6])
        lean = float(np.arccos(np.clip(up @ wanted, -1.0, 1.0)))
        if not np.isfinite(state.q).all() or lean > STEEPEST:
            return f"the base leans {np.degrees(lean):.0f} degrees from the plan at {self.times[k]:.2f} s"
        if state.q[2] < LOWEST * planned[2]:
            return f"the base sank to {state.q[2]:.3f} m at {self.times[k]:.2f} s"
        return ""


def _up(turns: Array) -> Array:
    """The third row of R_y(a) R_x(b), a and b ``turns`` (2,): where the world's up is in the base, whatever its heading."""
    return np.asarray((turn_about("y", turns[:1]) @ turn_about("x", turns[1:]))[0, 2])


def _values(performance: Performance, kind: str) -> Array:
    """The channels (n, na) of one kind in the order of the motors."""
    found = {channel.name: channel.values for channel in performance.channels if channel.kind == kind}
    missing = next((name for name in performance.character.driven if name not in found), None)
    if missing is not None:
        raise BadInput(f"the motor of {missing!r} has no {kind} channel; the forward check needs angle and torque of every motor")
    return np.column_stack([found[name] for name in performance.character.driven])


def _gains(bank: ServoBank) -> Gains:
    """What the motors state, or gains of a scale with the robot."""
    return bank.gains.stiffness, bank.gains.damping


def _rms(values: Array) -> Array:
    """Root mean square (na,) over time."""
    return np.asarray(np.sqrt(np.mean(values**2, axis=0)))


def walk_of(performance: Performance, places: Array, time: float) -> Walk:
    """How far the base went through ``places`` (m, 2) [m] beside the motion of the performance until ``time`` [s]."""
    motion, character = performance.motion, performance.character
    tree = compile_tree(character)
    q = np.array([motion.column(name)[0] for name in tree.names])
    rotation, position = tree.poses(q[None])
    nodes = [tree.nodes[tip.body] for tip in character.end_effectors]
    local = np.array([tip.center for tip in character.end_effectors])
    centers = position[0, nodes] + np.einsum("ejk,ek->ej", rotation[0, nodes], local)
    base = np.column_stack([motion.column(name) for name in tree.names[:2]])
    at = np.arange(len(base)) / motion.rate
    planned = np.array([np.interp(time, at, column) - column[0] for column in base.T])
    return walk_between(places[-1] - places[0], planned, spacing_of(centers))
