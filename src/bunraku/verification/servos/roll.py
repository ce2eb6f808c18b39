"""Steps of a simulation with servos, by MuJoCo's rollouts: many at once, or few where an encoder must be heard in between.

The encoder of a servo is on its output (as the potentiometers and magnetic encoders of hobby and bus servos are), so gear play lies
between the motor and what is measured. An actuator of MuJoCo only knows the joint that it turns, that of the motor; so every `LOOP`
the drive is corrected by -kp s, s how far the link is ahead of the motor within the play.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bunraku.arrays import Array
from bunraku.verification.servos.actuators import Actuators
from bunraku.verification.servos.bank import ServoBank

LOOP = 0.002
"""How often [s] a servo with gear play reads its encoder; at 1 and at 5 ms gaits are the same."""

# (model, data, state, controls): states after steps, sensors before them; see `rollout_steps`
Steps = Callable[[Any, Any, Array, Array], tuple[Array, Array]]


def rollout_steps(model: Any, data: Any, state: Array, control: Array) -> tuple[Array, Array]:
    """States (m, n) after steps of the controls (m, nu) from ``state`` on, and sensors (m, s) before each."""
    from mujoco import rollout

    warm = np.array(data.qacc_warmstart)[None]
    states, sensed = rollout.rollout(model, data, state[None], control[None], initial_warmstart=warm)
    return states[0], sensed[0]


def roll(
    model: Any, data: Any, at: Actuators, bank: ServoBank, state: Array, control: Array, steps: Steps = rollout_steps
) -> tuple[Array, Array, Array]:
    """States (m, n) and sensors (m, s) at m steps of the controls (m, nu), from ``state`` on, and the state after them."""
    m = len(control)
    playing = np.flatnonzero(at.play_position >= 0)
    every = max(1, round(LOOP / model.opt.timestep)) if playing.size else m
    states, sensed = np.empty((m, len(state))), np.empty((m, model.nsensordata))
    places, back = 1 + at.play_position[playing], (at.driven * bank.gains.stiffness)[:, playing].T
    for start in range(0, m, every):
        sent = control[start : start + every]
        if playing.size:
            sent = sent - state[places] @ back
        end = start + len(sent)
        out, sensed[start:end] = steps(model, data, state, sent)
        states[start], states[start + 1 : end], state = state, out[:-1], out[-1]  # sensors belong to the state before the step
    return states, sensed, state
