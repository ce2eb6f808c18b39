"""Plans at the motor rate: every sample played, joints by splines, wheels turned, torques of the plan's own inverse dynamics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.mechanics.centroidal.kinematics import kinematics
from bunraku.mechanics.servos.commands import commands_of
from bunraku.mechanics.servos.torques import joint_torques
from bunraku.motion import Channel, JointCurves
from bunraku.performers.locomotion.plan import MotionPlan
from bunraku.performers.locomotion.stance import StanceMotion, moments, splined, stand
from bunraku.performers.locomotion.tipping import Tipping, tipping_as_played
from bunraku.performers.locomotion.track import Track, track_of, track_torques
from bunraku.performers.performer import Uncertified


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

    @property
    def positions(self) -> JointCurves:
        """The planned places of what is sent places."""
        return self.motion.chosen([channel.name for channel in self.channels if channel.kind == "position"])

    def uncertified(self) -> Uncertified:
        """The channels and the motion; nobody wished for curves."""
        return Uncertified(channels=self.channels, wish=None, motion=self.motion, seen=self)


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
    losses = joint_torques(character, motion)
    torque = {name: values + losses[:, motion.names.index(name)] for name, values in torque.items() if name in motion.names}
    nearest = np.clip(np.round(at / track.step).astype(np.int64) + track.margin, 0, len(t) - 1)
    return Played(
        motion,
        tuple(_channels(character, motion, rates, torque)),
        stance.seen.com,
        track.contacts[nearest],
        track.forces[nearest],
        tipping_as_played(stance, 1.0 / rate),
        stance.residual,
    )


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


def _channels(character: Character, motion: JointCurves, rates: dict[str, Array], torque: dict[str, Array]) -> list[Channel]:
    """Joints are sent places, driven wheels speeds, with a feed-forward of the torques they take, which go beside as the proof."""
    kinds, driven = {axis.name: axis.kind for axis in character.axes}, character.driven
    if not driven:
        return []
    speeds = np.gradient(motion.chosen(driven).values, 1.0 / motion.rate, axis=0)
    for name, values in rates.items():
        if name in driven:
            speeds[:, driven.index(name)] = values
    sent = commands_of(character, motion, np.column_stack([torque[name] for name in driven]), speeds)
    channels = []
    for k, name in enumerate(driven):
        turns = kinds[name] == "hinge"
        if name in rates:
            channels.append(Channel(name, "velocity", "rad/s", motion.rate, sent[:, k]))
        else:
            channels.append(Channel(name, "position", "rad" if turns else "m", motion.rate, sent[:, k]))
    for name in driven:
        channels.append(Channel(name, "torque", "N·m" if kinds[name] == "hinge" else "N", motion.rate, torque[name]))
    return channels
