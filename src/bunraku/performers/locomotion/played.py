"""Plans at the motor rate: every sample played, joints by splines, wheels turned, torques of the plan's own inverse dynamics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from bunraku.character import Character, Joint
from bunraku.mechanics.centroidal.kinematics import Kinematics, kinematics
from bunraku.motion import Channel, JointCurves
from bunraku.performers.locomotion.plan import Plan
from bunraku.performers.locomotion.stance import stand, standing
from bunraku.performers.locomotion.tipping import Tipping, tipping
from bunraku.performers.locomotion.track import Track, track_of, track_torques

__all__ = ["Played", "play", "play_track"]

Array = NDArray[np.float64]

TURNING = 0.05
"""The speed v_0 [rad/s, m/s] below which a joint's friction is told in part only."""


@dataclass(frozen=True)
class Played:
    """The motion of all coordinates of the character, the wheels' among them, the channels of its motors, its tipping."""

    motion: JointCurves
    channels: tuple[Channel, ...]
    com: Array
    touching: NDArray[np.int64]
    forces: Array
    tipping: Tipping


def play(character: Character, plan: Plan, cycles: int, rate: float) -> Played:
    """Play ``cycles`` of a cycle, or a motion that happens once, at ``rate`` [Hz]."""
    return play_track(character, track_of(plan, cycles), rate)


def play_track(character: Character, track: Track, rate: float) -> Played:
    """Play samples in a row at ``rate`` [Hz]: splines with stance kept, torques of the samples by their inverse dynamics."""
    model, t = track.model, track.times
    seen = kinematics(model, track.q, track.terrain)
    joint_torque = track_torques(track, seen)
    at = np.arange(int(np.floor(track.duration * rate + 1e-9)) + 1) / rate
    q, moved = stand(track, at, _splined(track, at))
    spins = _spins(track, seen)
    names, axles = model.names, model.axles
    values, rates = {}, {}
    for c, name in enumerate(names):
        values[name] = q[:, c]
    for j, axle in enumerate(axles):
        if axle:
            curve = CubicSpline(*spins[j]) if len(spins[j][0]) > 3 else None
            rates[axle] = curve(at) if curve is not None else np.full(len(at), spins[j][1][0] if len(spins[j][1]) else 0.0)
            values[axle] = (curve.antiderivative()(at) - curve.antiderivative()(0.0)) if curve is not None else rates[axle] * at
    motion = JointCurves(character.coordinates, rate, np.column_stack([values[name] for name in character.coordinates]))
    torque = {name: np.interp(at, t[1:-1], joint_torque[:, c]) for c, name in enumerate(names)}
    for j, axle in enumerate(axles):
        if axle:
            torque[axle] = np.interp(at, t, model.tips[4][j] * np.einsum("na,na->n", track.forces[:, j], seen.rolling[:, j]))
    for joint in character.joints:
        for axis in joint.axes:
            if axis.name in torque:
                torque[axis.name] = torque[axis.name] + _own_torque(joint, values[axis.name], rate)
    nearest = np.clip(np.round(at / track.step).astype(np.int64) + track.margin, 0, len(t) - 1)
    return Played(
        motion,
        tuple(_channels(character, values, rates, torque, rate)),
        moved.com,
        track.contacts[nearest],
        track.forces[nearest],
        tipping(moved.com, moved.contact, standing(track, at), 1.0 / rate),
    )


def _own_torque(joint: Joint, q: Array, rate: float) -> Array:
    """What a joint itself takes (m,) [N·m] along the angles ``q`` (m,): armature, damping, dry friction, which the plan left out.

    d v + f tanh(v / v_0) + I a: friction does not jump where a joint turns back, over `TURNING`.
    """
    v = np.gradient(q, 1.0 / rate)
    return np.asarray(joint.armature * np.gradient(v, 1.0 / rate) + joint.damping * v + joint.friction * np.tanh(v / TURNING))


def _splined(track: Track, at: Array) -> Array:
    """Cubic splines of the coordinates at times ``at`` (m,) [s]; a motion that starts or ends at rest does so with speed zero."""
    t, q, m = track.times, track.q, track.margin
    first, last = 0 if track.ends[0] == "through" else m, len(t) if track.ends[1] == "through" else len(t) - m
    bc: list[Any] = []
    for end, i in zip(track.ends, (m, len(t) - 1 - m), strict=True):
        if end == "rest":
            bc.append((1, np.zeros(q.shape[1])))
        else:
            bc.append((1, (q[i + 1] - q[i - 1]) / (2.0 * track.step)) if end == "speed" else "not-a-knot")
    found: Array = CubicSpline(t[first:last], q[first:last], bc_type=(bc[0], bc[1]))(np.clip(at, t[m], t[-1 - m]))
    return found


def _spins(track: Track, seen: Kinematics) -> list[tuple[Array, Array]]:
    """Per end effector the middles [s] of its intervals on the ground and the wheel's speed about its axle there [rad/s]."""
    model, t = track.model, track.times
    found = []
    for j in range(model.n_tips):
        times, speeds = [], []
        for i in range(len(t) - 1):
            if not (track.contacts[i, j] and track.contacts[i + 1, j]):
                continue
            T = seen.rolling[i, j] + seen.rolling[i + 1, j]
            along = float((seen.contact[i + 1, j] - seen.contact[i, j]) @ T / max(np.linalg.norm(T), 1e-12))
            turned = float((seen.spin[i + 1, j] - seen.spin[i, j] + np.pi) % (2.0 * np.pi) - np.pi)
            times.append(t[i] + 0.5 * track.step)
            speeds.append((along / model.tips[4][j] - turned) / track.step)
        found.append((np.array(times), np.array(speeds)))
    return found


def _channels(
    character: Character, values: dict[str, Array], rates: dict[str, Array], torque: dict[str, Array], rate: float
) -> list[Channel]:
    """Joints are told places, driven wheels speeds; the torques they take go beside, for the feed-forward."""
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
