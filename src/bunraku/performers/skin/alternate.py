"""The alternating algorithm: plan the skeleton over all time, follow it frame by frame with the whole skin, learn, plan again.

It ends when the two agree: the joints of the frames are within a degree (RMS) of those of the plan they followed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Character, Motor
from bunraku.errors import BadInput
from bunraku.mechanics.coupled.frame import CoupledFrames
from bunraku.mechanics.coupled.share import SkinShare, skin_share, with_skin_mass
from bunraku.mechanics.coupled.skinned import SkinnedModel
from bunraku.mechanics.coupled.state import SkinnedState, rest_state
from bunraku.mechanics.coupled.stiffness import joint_stiffness
from bunraku.mechanics.coupled.touching import SkinCollisions
from bunraku.motion import Gait, SurfaceMotion
from bunraku.optimization.monitor import SILENT, Event, Monitor
from bunraku.performers.skin.effect import Seen, effect_of, seen
from bunraku.performers.skin.spacetime.effect import SkinEffect
from bunraku.performers.skin.spacetime.plan import SpacetimePlan
from bunraku.performers.skin.spacetime.solve import plan_spacetime, replan
from bunraku.performers.skin.spacetime.tracks import Tracks
from bunraku.performers.skin.spacetime.weights import SpacetimeWeights
from bunraku.performers.skin.tracking import FrameRecord, TrackedFrames, track
from bunraku.performers.skin.wishes import FrameWeights

AGREEMENT = np.radians(1.0)
"""RMS of joint angles between plan and frames at which the two agree."""

ROOM = np.radians(2.0)
"""How far inside the range of each motor plans stay, for frames to err."""

SLOW = 0.02
"""Step [s] in which a character settles."""

TOUCHED = 40
"""Frames in which a skin that lies on its skeleton comes to rest before a motion."""

POSED = 18
"""Steps in which the legs are bent to a stance, the last third of them for the skin to come to rest."""


@dataclass(frozen=True)
class SkinnedPuppet:
    """A skinned character ready to be planned with: what depends on it alone.

    ``collisions``: whether its skin may touch itself and the bodies; ``speed``: the share of the motors' speeds plans count on.
    """

    model: SkinnedModel
    h: float = 0.005
    collisions: bool = False
    speed: float = 1.0

    @cached_property
    def frames(self) -> CoupledFrames:
        """Its frames of ``h`` [s]."""
        return CoupledFrames(self.model, self.h)

    @cached_property
    def share(self) -> SkinShare:
        """Which body carries which part of the skin."""
        return skin_share(self.model)

    @cached_property
    def laden(self) -> Character:
        """The character whose bodies carry their skin as if rigid, its motors ``speed`` as fast and with less range."""
        laden = with_skin_mass(self.model, self.share)
        spared: Character = laden.changed(motors=tuple(_spared(motor, self.speed) for motor in laden.motors))
        return spared

    @cached_property
    def touching(self) -> SkinCollisions | None:
        """The collisions of its skin, if they count."""
        return SkinCollisions(self.model) if self.collisions else None

    @cached_property
    def stiffness(self) -> Array:
        """How the skin resists the joints (nq, nq) [N·m/rad]."""
        return joint_stiffness(self.model)


@dataclass(frozen=True)
class Pass:
    """One alternation: the plan, the frames that followed it, how far apart they are [rad], CPU seconds of the plan."""

    plan: SpacetimePlan
    tracked: TrackedFrames
    looks: tuple[Seen, ...]
    gap: float
    plan_seconds: float


@dataclass(frozen=True)
class Alternated:
    """The passes up to the best of those ``tried``, the first before the skin was known; ``settled`` is where they start.

    ``cancelled`` if the last one was; ``notes`` what should be said of the wish they began with; ``surface`` the outer surface of
    the skin in the best of them, to be shown.
    """

    puppet: SkinnedPuppet
    passes: tuple[Pass, ...]
    settled: SkinnedState
    tried: int = 1
    cancelled: bool = False
    notes: tuple[str, ...] = ()
    surface: SurfaceMotion | None = None

    @property
    def agreed(self) -> bool:
        """Whether plan and frames agree in the last pass."""
        return self.passes[-1].gap <= AGREEMENT


def settle(
    puppet: SkinnedPuppet, *, frames: int = 40, stance: Array | None = None, weights: FrameWeights | None = None
) -> tuple[SkinnedState, FrameRecord]:
    """The character standing at home, or in a ``stance`` (nq,), skin and soles at rest; found with long damped steps.

    It is held in the air while its legs bend to the stance, and then put down.
    """
    model = puppet.model
    stands = np.ones((frames, len(model.character.end_effectors)), dtype=bool)
    slow = CoupledFrames(model, SLOW)
    state, pose = rest_state(model), model.home if stance is None else stance
    if stance is not None:
        for k in range(1, POSED + 1):
            slow.linearize(state)
            state = slow.carry(state, (stance - model.home) * (min(1.0, 1.5 * k / POSED) - min(1.0, 1.5 * (k - 1) / POSED)))
        state = SkinnedState(state.q, np.zeros_like(state.v), state.x, np.zeros_like(state.w))
    tracked = track(slow, state, np.tile(pose, (frames, 1)), stands, weights=weights)
    if puppet.touching is not None and not tracked.failed:  # what touches inside comes to rest too
        state, last = tracked.state, tracked.records[-1]
        stands = np.ones((TOUCHED, stands.shape[1]), dtype=bool)
        tracked = track(
            puppet.frames, state, np.tile(state.q, (TOUCHED, 1)), stands, weights=weights, start=last, collisions=puppet.touching
        )
    if tracked.failed:
        raise BadInput(f"{model.character.name!r} cannot stand, {tracked.failed}; crouch less, or look at its skin and weight")
    state = tracked.state
    return SkinnedState(state.q, np.zeros_like(state.v), state.x, np.zeros_like(state.w)), tracked.records[-1]


def _spared(motor: Motor, share: float) -> Motor:
    """A motor of which a plan counts on a share of the speed and not on the ends of its range; frames and certificate do."""
    fields: dict[str, object] = {
        name: share * value for name in ("velocity", "no_load_speed") if (value := getattr(motor, name)) is not None
    }
    if motor.range is not None and motor.range[1] - motor.range[0] > 4.0 * ROOM:
        fields["range"] = (motor.range[0] + ROOM, motor.range[1] - ROOM)
    spared: Motor = motor.changed(**fields)
    return spared


def joint_gap(plan: Array, frames: Array) -> float:
    """RMS difference [rad] of the joints, base left out; (N, nq) each."""
    return float(np.sqrt(np.mean((plan[:, 6:] - frames[:, 6:]) ** 2)))


def alternate(
    puppet: SkinnedPuppet,
    gait: Gait,
    tracks: Tracks | None = None,
    *,
    weights: SpacetimeWeights | None = None,
    frame_weights: FrameWeights | None = None,
    margin: float = 0.0,
    most: int = 3,
    stance: Array | None = None,
    show: Callable[[int, SkinnedState], None] | None = None,
    monitor: Monitor = SILENT,
) -> Alternated:
    """Plan and follow until the two agree, ``most`` passes at the most; ``show`` is shown number and state of every frame.

    ``stance`` (nq,): the pose to stand, begin and end in (`spacetime.stance.crouched`), home if None.
    """
    model, h = puppet.model, puppet.h
    state, record = settle(puppet, stance=stance, weights=frame_weights)
    rest = seen(model, puppet.share, state)
    passes: list[Pass] = []
    clock = time.thread_time()
    plan = plan_spacetime(
        puppet.laden, gait, tracks, SkinEffect(stiffness=puppet.stiffness),
        weights=weights, margin=margin, stance=stance, monitor=monitor,
    )  # fmt: skip
    for k in range(most):
        planned = time.thread_time() - clock
        clock = time.thread_time()
        wished = plan.frames(h)
        looks: list[Seen] = []

        def look(now: SkinnedState, looks: list[Seen] = looks) -> None:
            looks.append(seen(model, puppet.share, now))
            if show is not None:
                show(len(looks), now)

        monitor.report(Event("skin", 0.0, f"pass {k + 1}: {len(wished.q) - 1} frames"))
        tracked = track(
            puppet.frames, state, _offset(wished.q[1:], state, model.home if stance is None else stance),
            wished.touching[1:].astype(bool), torques=wished.torque[1:, model.driven], forces=wished.force[1:],
            weights=frame_weights, start=record, look=look, collisions=puppet.touching, monitor=monitor,
        )  # fmt: skip
        if not tracked.records:
            raise BadInput(f"{model.character.name!r} cannot begin this motion, {tracked.failed}")
        gap = joint_gap(wished.q[: len(tracked.q)], tracked.q)
        passes.append(Pass(plan, tracked, tuple(looks), gap, planned))
        if gap <= AGREEMENT or k == most - 1 or tracked.cancelled or tracked.failed:
            break
        clock = time.thread_time()
        effect = effect_of(model, puppet.share, plan, puppet.stiffness, rest, looks, tracked.torques, h)
        plan = replan(plan, effect, monitor=monitor)
    best = min(range(len(passes)), key=lambda i: (bool(passes[i].tracked.failed) or passes[i].tracked.cancelled, passes[i].gap))
    return Alternated(puppet, tuple(passes[: best + 1]), state, len(passes), passes[-1].tracked.cancelled)


def _offset(wished: Array, state: SkinnedState, stance: Array) -> Array:
    """The plan's poses with the base where it really starts: soles have given way under the weight."""
    moved = wished.copy()
    moved[:, 2] += state.q[2] - stance[2]
    return moved
