"""Servos of a character that goes over the ground: gains, torque-speed line, and the commands they are sent.

A joint's servo gives kp (c - q) - kv v; told c = q* + (kv / kp) v* + tau* / kp it gives the planned torque tau* where the plan
(q*, v*) is kept: the feed-forward goes through the position command and needs no torque mode. A wheel's servo gives
kw (c - v) with c = v* + tau* / kw. Commands are sent at a rate, rounded to the servo's resolution, and the servo goes straight from
one to the next (profile mode). The torque is cut to the motor's line.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.character import Character
from bunraku.verification.ground_plan import GroundPlan
from bunraku.verification.servo import ServoBank

__all__ = ["DAMPING", "STIFFNESS", "WHEEL_GAIN", "GroundServos", "commands", "ground_servos", "utilisation"]

Array = NDArray[np.float64]

STIFFNESS, DAMPING = 20.0, 0.3
"""Gains kp [N·m/rad] and kv [N·m·s/rad] of the usual servo; at another stiffness kv is DAMPING sqrt(kp / STIFFNESS)."""

WHEEL_GAIN = 0.1
"""Gain kw [N·m·s/rad] of a wheel's velocity servo at the usual stiffness; at another it grows in proportion."""


@dataclass(frozen=True)
class GroundServos:
    """The k motors as arrays (k,): ``wheel`` told a speed, others an angle; gains; the line of ``bank``."""

    bank: ServoBank
    wheel: NDArray[np.bool_]
    stiffness: Array
    damping: Array

    @property
    def back_emf(self) -> Array:
        """Loss of torque with speed (k,) [N·m·s/rad], stall torque over no-load speed; 0 without a stated line."""
        return np.where(np.isfinite(self.bank.stall), np.minimum(self.bank.stall, 1e9) / self.bank.no_load_speed, 0.0)


def ground_servos(character: Character, stiffness: float, *, own_gains: bool = False) -> GroundServos:
    """The servos of a character, all with the stiffness kp [N·m/rad] and the damping that goes with it.

    With ``own_gains`` each has the stiffness its motor states, times kp / STIFFNESS, and the damping that goes with that: what
    the motor states or else DAMPING kp / STIFFNESS at its own stiffness kp, times sqrt(kp / STIFFNESS).
    """
    axle = {joint.child: joint.name for joint in character.joints}
    wheels = {axle[tip.body] for tip in character.end_effectors if tip.kind == "active"}
    wheel = np.array([motor.coordinate in wheels for motor in character.motors], dtype=bool)
    k = len(wheel)
    damping = np.where(wheel, WHEEL_GAIN * stiffness / STIFFNESS, DAMPING * np.sqrt(stiffness / STIFFNESS))
    bank = ServoBank.of(character, np.zeros(k))
    if own_gains:
        share = stiffness / STIFFNESS
        usual = np.where(bank.damping > 0.0, bank.damping, DAMPING * bank.stiffness / STIFFNESS)
        return GroundServos(
            bank, wheel, np.where(wheel, 0.0, share * bank.stiffness), np.where(wheel, damping, np.sqrt(share) * usual)
        )
    return GroundServos(bank, wheel, np.where(wheel, 0.0, stiffness), damping)


def commands(plan: GroundPlan, servos: GroundServos, rate: float, times: Array, *, feedforward: bool = True) -> Array:
    """What the servos aim at (m, k) at ``times`` (m,) [s]: angles, for wheels speeds, sent at ``rate`` [Hz].

    Time counts from when the command of the motor with the least delay takes effect; the others lag by what theirs is longer.
    Without ``feedforward`` neither torque nor rate of the plan is added to the angle, nor the torque to a wheel's speed.
    """
    aim = np.where(servos.wheel, plan.speed, plan.angle)
    if feedforward:
        gain = np.where(servos.wheel, servos.damping, servos.stiffness)
        aim = aim + np.where(servos.wheel, 0.0, servos.damping / gain) * plan.speed + plan.torque / gain
    sent = np.arange(int(np.ceil(plan.duration * rate)) + 2) / rate
    late = servos.bank.delay - servos.bank.delay.min(initial=np.inf)
    out = np.empty((len(times), len(servos.wheel)))
    for j in range(len(servos.wheel)):
        told, step = np.interp(sent, plan.times, aim[:, j]), servos.bank.resolution[j]
        if step > 0.0 and not servos.wheel[j]:
            told = np.round(told / step) * step
        out[:, j] = np.interp(times - late[j], sent, told)
    return out


def utilisation(servos: GroundServos, torque: Array, speed: Array) -> Array:
    """Share (..., k) of the motor's line in use: (|tau| + (tau_0 / v_0) max(0, sign(tau) v)) / tau_0; 1 on the line.

    tau_0 the stall torque (times its fraction), v_0 the no-load speed; a motor that brakes has all of tau_0. 0 without a line.
    """
    driving = np.maximum(0.0, np.sign(torque) * speed)
    return np.asarray((np.abs(torque) + servos.back_emf * driving) / servos.bank.stall)
