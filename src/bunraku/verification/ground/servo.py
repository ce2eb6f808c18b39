"""Servos of a character that goes over the ground: gains, torque-speed line, and the commands they are sent.

A joint's servo gives kp (c - q) - kv v; sent c = q* + (kv / kp) v* + tau* / kp it gives the planned torque tau* where the plan
(q*, v*) is kept: the feed-forward goes through the position command and needs no torque mode. A wheel's servo gives
kw (c - v) with c = v* + tau* / kw. Commands are sent at a rate, rounded to the servo's resolution, and the servo goes straight from
one to the next (profile mode). The torque is cut to the motor's line.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.mechanics.measures.statics import GRAVITY
from bunraku.mechanics.tree import compile_tree
from bunraku.verification.ground.plan import GroundPlan
from bunraku.verification.servo import ServoBank

FULL_TORQUE = 0.185
"""A servo whose gains nobody states gives all of its stall torque when it is this far [rad] from where it should be.

Legs give way more than puppets: replays of characters on a fixed base count on 0.05 rad (`servo.stiffness_of`).
"""

UPRIGHT = 9.0
"""And one whose stall torque nobody states either has a stiffness of this many M g h, what makes the character topple."""

DAMPED = 0.4
"""Unstated damping over critical damping of the character's M h² / 4 on one servo: kv = 2 DAMPED sqrt(kp M h² / 4)."""

WHEEL_GAIN = 0.1
"""Gain kw [N·m·s/rad] of a wheel's velocity servo: the gains that motors state are those of position servos."""


@dataclass(frozen=True)
class GroundServos:
    """The k motors as arrays (k,): ``wheel`` sent a speed, others an angle; gains; the line of ``bank``."""

    bank: ServoBank
    wheel: NDArray[np.bool_]
    stiffness: Array
    damping: Array

    @property
    def back_emf(self) -> Array:
        """Loss of torque with speed (k,) [N·m·s/rad], stall torque over no-load speed; 0 without a stated line."""
        return np.where(np.isfinite(self.bank.stall), np.minimum(self.bank.stall, 1e9) / self.bank.no_load_speed, 0.0)


def ground_servos(character: Character, gain: float = 1.0) -> GroundServos:
    """The servos of a character as its motors state them, ``gain`` times as stiff, and damped in proportion to the root of that.

    Unstated gains scale with the robot, M its mass and h the height of its centre of mass at home: kp = stall torque /
    `FULL_TORQUE` (`UPRIGHT` M g h without one), kv = 0.8 sqrt(kp M h² / 4). A wheel's servo has ``gain`` times `WHEEL_GAIN`.
    """
    axle = {joint.child: joint.name for joint in character.joints}
    wheels = {axle[tip.body] for tip in character.end_effectors if tip.kind == "active"}
    wheel = np.array([motor.coordinate in wheels for motor in character.motors], dtype=bool)
    mass, height = _mass_and_height(character)
    bank = ServoBank.of(character, np.full(len(wheel), np.nan))
    unstated = np.where(np.isfinite(bank.stall), bank.stall / FULL_TORQUE, UPRIGHT * mass * GRAVITY * height)
    stiffness = gain * np.where([motor.stiffness is None for motor in character.motors], unstated, bank.stiffness)
    stated = ~np.isnan(bank.damping)
    kv = np.where(stated, np.sqrt(gain) * bank.damping, 2.0 * DAMPED * np.sqrt(stiffness * mass * height**2 / 4.0))
    return GroundServos(bank, wheel, np.where(wheel, 0.0, stiffness), np.where(wheel, gain * WHEEL_GAIN, kv))


def _mass_and_height(character: Character) -> tuple[float, float]:
    """Mass [kg] and height [m] of the centre of mass above the lowest end effector, at home."""
    tree = compile_tree(character)
    rotation, position = tree.poses(tree.home[None])
    places = position[0] + np.einsum("ijk,ik->ij", rotation[0], tree.center_of_mass)
    mass = float(tree.mass.sum())
    low = min(
        float(position[0, node, 2] + rotation[0, node, 2] @ np.array(tip.center)) - tip.radius
        for tip in character.end_effectors
        for node in (tree.nodes[tip.body],)
    )
    return mass, max(float(tree.mass @ places[:, 2]) / max(mass, 1e-9) - low, 1e-3)


def commands(plan: GroundPlan, servos: GroundServos, rate: float, times: Array, *, feedforward: bool = True) -> Array:
    """What the servos aim at (m, k) at ``times`` (m,) [s]: angles, for wheels speeds, sent at ``rate`` [Hz].

    Time counts from when the command of the motor with the least delay takes effect; the others lag by what theirs is longer.
    Without ``feedforward`` neither torque nor rate of the plan is added to the angle, nor the torque to a wheel's speed.
    """
    targets = np.where(servos.wheel, plan.speed, plan.angle)
    if feedforward:
        gain = np.where(servos.wheel, servos.damping, servos.stiffness)
        targets = targets + np.where(servos.wheel, 0.0, servos.damping / gain) * plan.speed + plan.torque / gain
    sent = np.arange(int(np.ceil(plan.duration * rate)) + 2) / rate
    late = servos.bank.delay - servos.bank.delay.min(initial=np.inf)
    out = np.empty((len(times), len(servos.wheel)))
    for j in range(len(servos.wheel)):
        target, step = np.interp(sent, plan.times, targets[:, j]), servos.bank.resolution[j]
        if step > 0.0 and not servos.wheel[j]:
            target = np.round(target / step) * step
        out[:, j] = np.interp(times - late[j], sent, target)
    return out


def utilisation(servos: GroundServos, torque: Array, speed: Array) -> Array:
    """Share (..., k) of the motor's line in use: (|tau| + (tau_0 / v_0) max(0, sign(tau) v)) / tau_0; 1 on the line.

    tau_0 the stall torque (times its fraction), v_0 the no-load speed; a motor that brakes has all of tau_0. 0 without a line.
    """
    driving = np.maximum(0.0, np.sign(torque) * speed)
    return np.asarray((np.abs(torque) + servos.back_emf * driving) / servos.bank.stall)
