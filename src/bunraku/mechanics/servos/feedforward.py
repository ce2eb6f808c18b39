"""What a servo must be sent to give a planned torque where the plan is kept: the command that replaces the plain angle.

With the law of `servos.gains` and e = c - q, a servo whose derivative acts on the error gives the torque tau along q when

    kp e + kv de/dt = tau,

a low-pass of tau / kp with the time kv / kp: e goes on steadily where the torque jumps. It is solved exactly for a torque that goes
straight from sample to sample, and starts in balance, e = tau / kp. A servo whose derivative acts on its own speed is sent
e = (tau + kv v) / kp. A wheel is sent v + tau / kv. Commands are brought into the motor's range, and are then the nearest to that,
in the sense of least squares, that keep range, speed, acceleration and jerk, as a player asks for.
"""

from __future__ import annotations

import numpy as np

from bunraku.arrays import Array
from bunraku.mechanics.servos.gains import ServoGains
from bunraku.motion import MotionLimits
from bunraku.optimization.chain.chain import solve_chain
from bunraku.optimization.smooth_chain.smooth_chain import solve_smooth_chain
from bunraku.optimization.solution import Status


def servo_commands(gains: ServoGains, angle: Array, speed: Array, torque: Array, rate: float, limits: MotionLimits) -> Array:
    """Commands (n, k) at ``rate`` [Hz] for angles, speeds and torques (n, k) of the plan.

    Servos whose gains nobody states are sent plain angles, and wheels plain speeds. ``limits``: of the same k motors. Commands keep
    the limits also where the plan does not; where no commands can, they are the plan.
    """
    out = np.where(gains.wheel, speed, angle)
    turned = gains.stated & ~gains.wheel
    asked = angle + command_offsets(gains, speed, torque, rate) if turned.any() else angle
    for j in _in_order(limits):
        if turned[j]:
            lower, upper = (bound[:, j] for bound in limits.bounds(np.where(gains.wheel, angle, out)))
            legal = _legal(asked[:, j], lower, upper, rate, (limits.velocity[j], limits.acceleration[j], limits.jerk[j]))
            out[:, j] = angle[:, j] if legal is None else legal
    rolling = gains.stated & gains.wheel
    most = limits.velocity[rolling]
    out[:, rolling] = np.clip(speed[:, rolling] + torque[:, rolling] / gains.damping[rolling], -most, most)
    return np.asarray(out)


def _legal(asked: Array, lower: Array, upper: Array, rate: float, most: tuple[float, float, float]) -> Array | None:
    """The curve (n,) nearest to ``asked`` brought into range that keeps range, speed, acceleration and jerk; None if none does."""
    velocity, acceleration, jerk = most
    nearest = np.clip(asked, lower, upper)
    if np.isfinite(acceleration) or np.isfinite(jerk):
        smooth = solve_smooth_chain(
            nearest[:, None], rate=rate, start=nearest[:1], lower=lower[:, None], upper=upper[:, None],
            velocity=velocity, acceleration=acceleration, jerk=jerk, velocity_weight=0.0,
        )  # fmt: skip
        return None if smooth.status is Status.INFEASIBLE else smooth.values[:, 0]
    solved = solve_chain(
        nearest[:, None],
        start=None,
        lower=lower[:, None],
        upper=upper[:, None],
        step=np.array([velocity / rate]),
        difference_weight=0.0,
    )
    return solved.values[:, 0] if solved.feasible[0] else None


def _in_order(limits: MotionLimits) -> list[int]:
    """All motors, those first on which the range of others depends; of a ring the first as listed."""
    left, order = list(range(len(limits.names))), []
    needs = {j: {on for index, on, _ in limits.dependents if index == j} for j in left}
    while left:
        free = [j for j in left if not needs[j] & set(left) - {j}] or left[:1]
        order += free
        left = [j for j in left if j not in free]
    return order


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
