"""Planning without dynamics, and what servos make of it: the baseline of the paper's Fig. 12.

Kinematic planning (Megaro and colleagues, 2015) keeps feet on their curves and the centre of mass over the soles that stand, and
knows neither accelerations nor friction, torques or skin. Its joint angles are then held as the paper holds them, by the torques
that inverse dynamics asks for as far as the motors have them: stiff servos, sent the angle of every frame. The ground is as it is.
Nobody corrects the body.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array
from bunraku.character import PATCHES
from bunraku.mechanics.coupled.drive import servo_step
from bunraku.mechanics.coupled.state import SkinnedState
from bunraku.mechanics.elastic.solid import Collapsed
from bunraku.motion import Gait
from bunraku.performers.skin.alternate import Alternated, SkinnedPuppet
from bunraku.performers.skin.spacetime.plan import SpacetimePlan
from bunraku.performers.skin.spacetime.solve import plan_spacetime
from bunraku.performers.skin.spacetime.tracks import Tracks
from bunraku.performers.skin.spacetime.weights import SpacetimeWeights
from bunraku.performers.skin.tracking import motor_limits

GAINS = (200.0, 1.0)
"""Stiffness [N·m/rad] and damping [N·m·s/rad] of the servos: a small motor gives all its torque at half a degree."""

ROLL = 5
"""The base's coordinate of roll: it turns about x last (order zyx)."""


@dataclass(frozen=True)
class Driven:
    """Frames under servos: ``q`` (N + 1, nq), ``com`` (N + 1, 3), ``torque`` (N, na); ``reason`` why they ended early, or none."""

    q: Array
    com: Array
    torque: Array
    reason: str = ""


def kinematic_plan(
    puppet: SkinnedPuppet,
    gait: Gait,
    tracks: Tracks | None = None,
    *,
    weights: SpacetimeWeights | None = None,
    margin: float = 0.0,
    stance: Array | None = None,
) -> SpacetimePlan:
    """The plan of a gait that knows no dynamics and no skin but its mass."""
    bare = gait.changed(targets=())
    return plan_spacetime(puppet.laden, bare, tracks, weights=weights, margin=margin, kinematic_only=True, stance=stance)


def drive(
    puppet: SkinnedPuppet,
    state: SkinnedState,
    angles: Array,
) -> Driven:
    """What the skinned character does from ``state`` when its motors are sent ``angles`` (N, nq) of the next N frames."""
    model, frames, h = puppet.model, puppet.frames, puppet.h
    mu = np.repeat([tip.friction for tip in model.character.end_effectors], PATCHES)
    q, com, torque = [state.q], [model.center_of_mass(state.q, state.x)], []
    F, reason = None, ""
    for i, pose in enumerate(angles):
        frame = frames.linearize(state)
        step = servo_step(frame, model.driven, pose[model.driven], state.q, GAINS, motor_limits(model, state.v), h, mu, F)
        try:
            state = frames.advance(state, frame, step.tau, step.F.ravel())
        except Collapsed as error:
            reason = f"the skin collapsed at {i * h:.3f} s: {error}"
            break
        F = step.F
        q.append(state.q)
        com.append(model.center_of_mass(state.q, state.x))
        torque.append(step.tau)
    return Driven(np.array(q), np.array(com), np.array(torque).reshape(-1, len(model.driven)), reason)


def largest_roll(q: Array) -> float:
    """The largest roll [rad] of the base, against the first frame, in a motion (N, nq)."""
    return float(np.abs(q[:, ROLL] - q[0, ROLL]).max())


def roll_ratio(alternated: Alternated, kinematic: Driven) -> float:
    """How many times more the body rolls after the kinematic plan than after ours."""
    return largest_roll(kinematic.q) / max(largest_roll(alternated.passes[-1].tracked.q), 1e-9)
