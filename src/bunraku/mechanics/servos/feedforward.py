"""What a servo must be sent to give a planned torque where the plan is kept: the command that replaces the plain angle.

With the law of `servos.gains` and e = c - q, a servo whose derivative acts on the error gives the torque tau along q when

    kp e + kv de/dt = tau,

a low-pass of tau / kp with the time kv / kp, so that e goes on steadily where the torque jumps; solved exactly for a torque that is
held over a sample. One whose derivative acts on its own speed is sent e = (tau + kv v) / kp. A wheel is sent v + tau / kv.
Commands are then the nearest to these (in the sense of least squares, exactly) that keep the range and the speed of the motor.
"""

from __future__ import annotations

import numpy as np

from bunraku.arrays import Array
from bunraku.mechanics.servos.gains import ServoGains
from bunraku.motion import MotionLimits
from bunraku.optimization.chain.chain import solve_chain


def servo_commands(gains: ServoGains, angle: Array, speed: Array, torque: Array, rate: float, limits: MotionLimits) -> Array:
    """Commands (n, k) at ``rate`` [Hz] for angles, speeds and torques (n, k) of the plan.

    Servos whose gains nobody states are sent plain angles, and wheels plain speeds. ``limits``: of the same k motors.
    """
    out = np.where(gains.wheel, speed, angle)
    chosen = gains.stated & ~gains.wheel
    raw = angle.copy()
    for j in np.flatnonzero(chosen).tolist():
        raw[:, j] += _offset(gains, j, speed[:, j], torque[:, j], rate)
    if chosen.any():
        lower, upper = limits.bounds(angle)
        solved = solve_chain(
            np.clip(raw, lower, upper)[:, chosen],
            start=None,
            lower=lower[:, chosen],
            upper=upper[:, chosen],
            step=limits.velocity[chosen] / rate,
            difference_weight=0.0,
        )
        out[:, chosen] = np.where(solved.feasible, solved.values, angle[:, chosen])
    rolling = gains.stated & gains.wheel
    out[:, rolling] += torque[:, rolling] / gains.damping[rolling]
    return np.asarray(np.where(gains.wheel, np.clip(out, -limits.velocity, limits.velocity), out))


def _offset(gains: ServoGains, j: int, speed: Array, torque: Array, rate: float) -> Array:
    """How far (n,) the command of motor ``j`` is from the angle."""
    kp, kv = float(gains.stiffness[j]), float(gains.damping[j])
    if not gains.on_error[j]:
        return np.asarray((torque + kv * speed) / kp)
    keep = float(np.exp(-kp / (kv * rate))) if kv > 0.0 else 0.0
    out = np.empty(len(torque))
    e = torque[0] / kp
    for i, tau in enumerate(torque):
        e = keep * e + (1.0 - keep) * tau / kp
        out[i] = e
    return out
