"""What a servo must be sent to give a planned torque where the plan is kept: the command that replaces the plain angle.

With the law of `servos.gains` and e = c - q, a servo whose derivative acts on the error gives the torque tau along q when

    kp e + kv de/dt = tau,

a low-pass of tau / kp with the time kv / kp: e goes on steadily where the torque jumps. It is solved exactly for a torque that goes
straight from sample to sample, and starts in balance, e = tau / kp. A servo whose derivative acts on its own speed is sent
e = (tau + kv v) / kp. A wheel is sent v + tau / kv. Commands are brought into the motor's range, and are then the nearest to that,
in the sense of least squares, that keep range and speed.
"""

from __future__ import annotations

import numpy as np

from bunraku.arrays import Array
from bunraku.mechanics.servos.gains import ServoGains
from bunraku.motion import MotionLimits
from bunraku.optimization.chain.chain import solve_chain


def servo_commands(gains: ServoGains, angle: Array, speed: Array, torque: Array, rate: float, limits: MotionLimits) -> Array:
    """Commands (n, k) at ``rate`` [Hz] for angles, speeds and torques (n, k) of the plan.

    Servos whose gains nobody states are sent plain angles, and wheels plain speeds. ``limits``: of the same k motors; those that
    depend on another coordinate are taken where the plan has it. Commands keep the limits also where the plan does not.
    """
    out = np.where(gains.wheel, speed, angle)
    turned = gains.stated & ~gains.wheel
    if turned.any():
        lower, upper = (bound[:, turned] for bound in limits.bounds(angle))
        asked = angle[:, turned] + command_offsets(gains, speed, torque, rate)[:, turned]
        solved = solve_chain(
            np.clip(asked, lower, upper),
            start=None,
            lower=lower,
            upper=upper,
            step=limits.velocity[turned] / rate,
            difference_weight=0.0,
        )
        out[:, turned] = np.where(solved.feasible, solved.values, angle[:, turned])
    rolling = gains.stated & gains.wheel
    most = limits.velocity[rolling]
    out[:, rolling] = np.clip(speed[:, rolling] + torque[:, rolling] / gains.damping[rolling], -most, most)
    return np.asarray(out)


def command_offsets(gains: ServoGains, speed: Array, torque: Array, rate: float) -> Array:
    """How far (n, k) commands without limits are from the angles: e of the module's law; zero for wheels."""
    kp, kv = np.where(gains.wheel, 1.0, gains.stiffness), gains.damping
    settled, lag = torque / kp, kv / kp
    keep = np.exp(-1.0 / np.maximum(lag * rate, 1e-3))
    behind = rate * lag * np.diff(settled, axis=0)
    out = settled.copy()
    for i in range(1, len(out)):
        out[i] = settled[i] - behind[i - 1] + keep * (out[i - 1] - settled[i - 1] + behind[i - 1])
    out = np.where(gains.on_error, out, (torque + kv * speed) / kp)
    return np.asarray(np.where(gains.wheel, 0.0, out))
