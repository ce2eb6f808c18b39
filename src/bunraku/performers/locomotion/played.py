"""Plans at the motor rate: every sample played, joints by splines, wheels turned, torques of the plan's own inverse dynamics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from bunraku.arrays import Array
from bunraku.character import Character, Joint
from bunraku.mechanics.centroidal.kinematics import kinematics
from bunraku.motion import Channel, JointCurves
from bunraku.performers.locomotion.plan import MotionPlan
from bunraku.performers.locomotion.stance import StanceMotion, moments, splined, stand
from bunraku.performers.locomotion.tipping import Tipping, tipping_as_played
from bunraku.performers.locomotion.track import Track, track_of, track_torques
from bunraku.performers.performer import Uncertified

TURNING = 0.05
"""The speed v_0 [rad/s, m/s] below which a joint's friction is compensated in part only."""


@dataclass(frozen=True)
class Played:
    """The motion of all coordinates of the character, the wheels' among them, the channels of its motors, its tipping.

    ``residual``: what is left of height, slip [m] and excess of speed [rad] from one moment to the next (`StanceMotion`).
    """

    motion: JointCurves
    channels: tuple[Channel, ...]
    com: Array
    touching: NDArray[np.int64]
    forces: Array
    tipping: Tipping
    residual: float

    def uncertified(self, character: Character) -> Uncertified:
        """Sent to the motors as it is; the wish is the motion itself."""
        names = tuple(channel.name for channel in self.channels if channel.kind == "position")
        columns = [character.coordinates.index(name) for name in names]
        wish = JointCurves(names, self.motion.rate, self.motion.values[:, columns])
        return Uncertified(channels=self.channels, wish=wish, motion=self.motion, seen=self)


def play(character: Character, plan: MotionPlan, cycles: int, rate: float) -> Played:
    """Play ``cycles`` of a cycle, or a motion that happens once, at ``rate`` [Hz]."""
    return play_track(character, track_of(plan, cycles), rate)


def play_track(character: Character, track: Track, rate: float) -> Played:
    """Play samples in a row at ``rate`` [Hz]: splines with stance kept, torques of the samples by their inverse dynamics."""
    model, t = track.model, track.times
    seen = kinematics(model, track.q, track.terrain)
    joint_torque = track_torques(track, seen)
    at = moments(track, rate)
    stance = stand(track, at, splined(track, at))
    names, axles = model.names, model.axles
    values, rates = {}, {}
    for c, name in enumerate(names):
        values[name] = stance.q[:, c]
    for j, axle in enumerate(axles):
        if axle:
            values[axle] = _rolled(stance, j, model.tips.radius[j])
            rates[axle] = CubicSpline(at, values[axle])(at, 1)
    motion = JointCurves(character.coordinates, rate, np.column_stack([values[name] for name in character.coordinates]))
    torque = {name: np.interp(at, t[1:-1], joint_torque[:, c]) for c, name in enumerate(names)}
    for j, axle in enumerate(axles):
        if axle:
            torque[axle] = np.interp(at, t, model.tips.radius[j] * np.einsum("na,na->n", track.forces[:, j], seen.rolling[:, j]))
    for joint in character.joints:
        for axis in joint.axes:
            if axis.name in torque:
                torque[axis.name] = torque[axis.name] + _own_torque(joint, values[axis.name], rate)
    nearest = np.clip(np.round(at / track.step).astype(np.int64) + track.margin, 0, len(t) - 1)
    return Played(
        motion,
        tuple(_channels(character, values, rates, torque, rate)),
        stance.seen.com,
        track.contacts[nearest],
        track.forces[nearest],
        tipping_as_played(stance, 1.0 / rate),
        stance.residual,
    )


def _own_torque(joint: Joint, q: Array, rate: float) -> Array:
    """What a joint itself takes (m,) [N·m] along the angles ``q`` (m,): armature, damping, dry friction, which the plan left out.

    d v + f tanh(v / v_0) + I a: friction does not jump where a joint turns back, over `TURNING`.
    """
    v = np.gradient(q, 1.0 / rate)
    return np.asarray(joint.armature * np.gradient(v, 1.0 / rate) + joint.damping * v + joint.friction * np.tanh(v / TURNING))


def _rolled(stance: StanceMotion, j: int, radius: float) -> Array:
    """Angle (m,) [rad] of the axle of end effector ``j``: it rolls where it stands, in the air its speed goes straight to the next.

    From one moment to the next it turns by de . t / r - dsigma: de the step of the contact point, t the rolling direction, dsigma
    the turn of the body that carries it.
    """
    e, t, sigma = stance.seen.contact[:, j], stance.seen.rolling[:, j], stance.seen.spin[:, j]
    T = t[1:] + t[:-1]
    along = np.einsum("ka,ka->k", np.diff(e, axis=0), T) / np.maximum(np.linalg.norm(T, axis=1), 1e-12)
    turn = along / radius - ((np.diff(sigma) + np.pi) % (2.0 * np.pi) - np.pi)
    rolls = np.flatnonzero(stance.on[1:, j] & stance.on[:-1, j])
    if not len(rolls):
        return np.zeros(len(e))
    return np.concatenate([[0.0], np.cumsum(np.interp(np.arange(len(turn)), rolls, turn[rolls]))])


def _channels(
    character: Character, values: dict[str, Array], rates: dict[str, Array], torque: dict[str, Array], rate: float
) -> list[Channel]:
    """Joints are sent places, driven wheels speeds; the torques they take go beside, for the feed-forward."""
    axes = {axis.name: axis for axis in character.axes}
    channels = []
    for motor in character.motors:
        name, turns = motor.coordinate, axes[motor.coordinate].kind == "hinge"
        if name in rates:
            channels.append(Channel(name, "velocity", "rad/s", rate, rates[name]))
        else:
            channels.append(Channel(name, "position", "rad" if turns else "m", rate, values[name]))
    for motor in character.motors:
        unit = "N·m" if axes[motor.coordinate].kind == "hinge" else "N"
        channels.append(Channel(motor.coordinate, "torque", unit, rate, torque[motor.coordinate]))
    return channels
