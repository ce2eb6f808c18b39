"""Features of a motion that a designer can hold on to: orientation or place of the body, joint curves, feet, centre of mass."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from bunraku.arrays import Array
from bunraku.design.sensitivity import Sensitivity
from bunraku.errors import BadInput
from bunraku.mechanics.centroidal.kinematics import kinematics
from bunraku.performers.locomotion.plan import sample_at
from bunraku.performers.locomotion.problem import MotionProblem
from bunraku.performers.locomotion.track import Track, track_torques

Feature: TypeAlias = Callable[[MotionProblem, Array], Array]


def _coordinates(problem: MotionProblem, z: Array) -> Array:
    T, nv, _ = problem.shape
    q: Array = np.ascontiguousarray(z[: T * nv].reshape(T, nv)[:, : problem.model.nq])
    return q


def _coordinate_range(first: int, last: int | None) -> Feature:
    return lambda problem, z: _coordinates(problem, z)[:, first:last].ravel()


def _feet(problem: MotionProblem, z: Array) -> Array:
    return kinematics(problem.model, _coordinates(problem, z), problem.terrain).contact.ravel()


def _com(problem: MotionProblem, z: Array) -> Array:
    return kinematics(problem.model, _coordinates(problem, z), problem.terrain).com.ravel()


FEATURES: dict[str, Feature] = {
    "orientation": _coordinate_range(3, 6),
    "position": _coordinate_range(0, 3),
    "joints": _coordinate_range(6, None),
    "feet": _feet,
    "com": _com,
}
"""Features by name: yaw, pitch, roll of the body; its place; joint angles; contact points; centre of mass; at all samples."""


def feature(name: str) -> Feature:
    """The feature of that name, or several joined by "+", one below the other: then metres and radians count alike."""
    parts = tuple(dict.fromkeys(name.split("+")))
    for part in parts:
        if part not in FEATURES:
            raise BadInput(f"there is no feature {part!r} of a motion to keep; choose {', '.join(FEATURES)}, or some joined by +")
    if len(parts) == 1:
        return FEATURES[parts[0]]
    return lambda problem, z: np.concatenate([FEATURES[part](problem, z) for part in parts])


def total_derivative(derivatives: Sensitivity, of: Feature) -> Array:
    """d/dp (., k) of a function of motion and design along the path of optimal motions, by differences along dm/dp."""
    z, J, d = derivatives.variant.motion, derivatives.jacobian, derivatives.step
    columns = [
        (of(plus, z + d * J[:, k]) - of(minus, z - d * J[:, k])) / (2.0 * d)
        for k, (plus, minus) in enumerate(derivatives.neighbours)
    ]
    return np.array(columns).T


def feature_jacobian(derivatives: Sensitivity, name: str) -> Array:
    """dm^f/dp (n_f, k) of a feature."""
    return total_derivative(derivatives, feature(name))


def target_misses(problem: MotionProblem, z: Array) -> Array:
    """How far every target is missed, along the coordinates that count [m]."""
    if not problem.waypoints:
        raise BadInput("the motion has no targets to reach; add some to the clip's gait")
    missed = []
    for waypoint in problem.waypoints:
        q = np.array([sample_at(problem, z, waypoint.sample + k)[: problem.model.nq] for k in (0, 1)])
        seen = kinematics(problem.model, q, problem.terrain)
        place = seen.com if waypoint.what == -1 else q[:, :3] if waypoint.what == -2 else seen.contact[:, waypoint.what]
        at = (1.0 - waypoint.share) * place[0] + waypoint.share * place[1]
        missed += [at[a] - waypoint.place[a] for a in range(3) if waypoint.weight[a] > 0.0]
    return np.array(missed)


def joint_torque(problem: MotionProblem, z: Array) -> float:
    """The mean square [N²·m²] of the joint torques over the inner samples of a motion."""
    T, nv, _ = problem.shape
    track = Track(problem.model, problem.step, z[: T * nv].reshape(T, nv), problem.contacts, margin=0)
    seen = kinematics(problem.model, np.ascontiguousarray(track.q), problem.terrain)
    return float(np.mean(track_torques(track, seen)[:, 6:] ** 2))
