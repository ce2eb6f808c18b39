"""A plan at the motor rate: every cycle played, joints by splines, wheels turned, torques of the plan's own inverse dynamics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from bunraku.character import Character
from bunraku.mechanics.centroidal.kinematics import Kinematics, kinematics
from bunraku.motion import Channel, JointCurves
from bunraku.performers.locomotion.plan import Plan, plan_torques

__all__ = ["Played", "play"]

Array = NDArray[np.float64]
MARGIN = 4
"""Samples of the endless motion taken beyond each end of what is played, so that splines do not see an end."""


@dataclass(frozen=True)
class Played:
    """The motion of all coordinates of the character, the wheels' among them, and the channels of its motors."""

    motion: JointCurves
    channels: tuple[Channel, ...]
    com: Array
    touching: NDArray[np.int64]
    forces: Array


def play(character: Character, plan: Plan, cycles: int, rate: float) -> Played:
    """Play ``cycles`` of a cycle, or a motion that happens once, at ``rate`` [Hz]."""
    problem, model = plan.problem, plan.problem.model
    if problem.periodic:
        halves = 2 if problem.ends.mirror is not None else 1
        count = cycles * halves * problem.samples
        first, last = -MARGIN, count + MARGIN
    else:
        count = problem.samples - 1
        first, last = -1, count + 1
    v = plan.samples(first, last)
    t = problem.step * np.arange(first, last + 1, dtype=np.float64)
    seen = kinematics(model, v[:, : model.nq], problem.terrain)
    joint_torque = plan_torques(problem, v, seen)
    at = np.arange(int(np.floor(problem.step * count * rate + 1e-9)) + 1) / rate
    q = _splined(plan, t, v[:, : model.nq], at)
    spins = _spins(plan, t, v, seen)
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
    forces = v[:, model.nq :].reshape(len(v), -1, 3)
    for j, axle in enumerate(axles):
        if axle:
            torque[axle] = np.interp(at, t, model.tips[4][j] * np.einsum("na,na->n", forces[:, j], seen.rolling[:, j]))
    nearest = np.clip(np.round(at / problem.step).astype(np.int64) - first, 0, len(v) - 1)
    touching = np.array([[int(np.abs(forces[k, j]).sum() > 1e-6) for j in range(model.n_tips)] for k in range(len(v))])
    return Played(
        motion,
        tuple(_channels(character, values, rates, torque, rate)),
        np.column_stack([np.interp(at, t, seen.com[:, a]) for a in range(3)]),
        touching[nearest],
        forces[nearest],
    )


def _splined(plan: Plan, t: Array, q: Array, at: Array) -> Array:
    """Cubic splines of the coordinates; a motion that starts or ends at rest does so with speed zero."""
    ends = plan.problem.ends
    if plan.problem.periodic:
        found: Array = CubicSpline(t, q)(at)
        return found
    still = np.zeros(q.shape[1])
    bc: list[Any] = []
    for ghost, pose in ((ends.before, q[1]), (ends.after, q[-2])):
        resting = ghost is not None and np.abs(_cut(ghost, pose) - pose).max() < 1e-9
        bc.append((1, still) if resting else "not-a-knot")
    if bc[0] == "not-a-knot" and ends.before is not None:
        bc[0] = (1, (q[2] - q[0]) / (2.0 * plan.problem.step))
    if bc[1] == "not-a-knot" and ends.after is not None:
        bc[1] = (1, (q[-1] - q[-3]) / (2.0 * plan.problem.step))
    inside: Array = CubicSpline(t[1:-1], q[1:-1], bc_type=(bc[0], bc[1]))(np.clip(at, t[1], t[-2]))
    return inside


def _cut(ghost: Array, pose: Array) -> Array:
    """The pose of a ghost sample, with the place and heading of another: rest is rest wherever it stands."""
    found = np.array(ghost[: len(pose)])
    found[[0, 1, 3]] = pose[[0, 1, 3]]
    return found


def _spins(plan: Plan, t: Array, v: Array, seen: Kinematics) -> list[tuple[Array, Array]]:
    """Per end effector the middles [s] of its intervals on the ground and the wheel's speed about its axle there [rad/s]."""
    problem, model = plan.problem, plan.problem.model
    force = np.abs(v[:, model.nq :].reshape(len(v), -1, 3)).sum(axis=2)
    found = []
    for j in range(model.n_tips):
        times, speeds = [], []
        for i in range(len(v) - 1):
            if force[i, j] < 1e-6 or force[i + 1, j] < 1e-6:
                continue
            T = seen.rolling[i, j] + seen.rolling[i + 1, j]
            along = float((seen.contact[i + 1, j] - seen.contact[i, j]) @ T / max(np.linalg.norm(T), 1e-12))
            turned = float((seen.spin[i + 1, j] - seen.spin[i, j] + np.pi) % (2.0 * np.pi) - np.pi)
            times.append(t[i] + 0.5 * problem.step)
            speeds.append((along / model.tips[4][j] - turned) / problem.step)
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
