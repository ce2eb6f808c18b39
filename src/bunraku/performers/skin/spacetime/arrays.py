"""What the kernels of a space-time problem take, by name; see `mechanics.centroidal.arrays` for the model and the ends."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.mechanics.centroidal.arrays import (
    CentroidalArrays,
    EndConstraints,
    GroundGrid,
    JointLimits,
    KinematicArrays,
    Neighbours,
    Regularizers,
)

Flags = NDArray[np.int64]


class SolePlan(NamedTuple):
    """Step [s], mass [kg], gravity, least force [N] of a sole that stands; ``dynamic``: with accelerations, friction and torques.

    ``contacts`` (T + 2, n_e) of the extended samples, ``heights`` (T, n_e), ``friction`` and ``radius`` (n_e,); ``places`` and
    ``centers`` of masses and soles as `move_all` takes them.
    """

    h: float
    mass: float
    gravity: float
    least_force: float
    dynamic: bool
    contacts: Flags
    heights: Array
    friction: Array
    radius: Array
    places: Array
    centers: Array
    terrain: GroundGrid


class SkinTorques(NamedTuple):
    """Torques that the skin takes: ``stiffness`` (nq, nq) from ``home`` (nq,), ``torque`` (T, nq); ``weight`` of all torques."""

    stiffness: Array
    home: Array
    torque: Array
    weight: float


class TrackArrays(NamedTuple):
    """Wishes with their weights: centre of mass (T, 3) along its ``heading`` (T, 2), soles (T, n_e, 3), their ``level``, joints."""

    com: Array
    com_weight: Array
    heading: Array
    feet: Array
    feet_weight: Array
    level: Array
    joints: Array
    joints_weight: Array


class SpacetimeArrays(NamedTuple):
    """All of a problem: model, limits, plan, skin, weights, tracks, ends, scale and kind (1: inequality) of the constraints."""

    model: CentroidalArrays
    limits: JointLimits
    plan: SolePlan
    skin: SkinTorques
    weights: Regularizers
    tracks: TrackArrays
    beyond: Neighbours
    ends: EndConstraints
    scale: Array
    inequality: Flags


class SpacetimeWork(NamedTuple):
    """Working arrays: kinematics and unknowns of the extended samples, torques (T, nq) of the joints."""

    K: KinematicArrays
    v: Array
    tau: Array
