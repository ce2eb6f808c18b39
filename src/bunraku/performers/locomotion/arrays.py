"""What the kernels of a motion problem take, by name; see `mechanics.centroidal.arrays` for the model and the ends."""

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
    WheelLimits,
)
from bunraku.mechanics.centroidal.spots import Spots

Flags = NDArray[np.int64]


class MotionFacts(NamedTuple):
    """Step [s], mass [kg], gravity, least force [N] of a foot that stands; whether torques are limited; what stands where.

    ``contacts`` (T + 2, n_e) of the extended samples, ``heights`` (T, n_e), ``friction`` and ``drag`` (n_e,). ``places`` and
    ``centers`` of masses and end effectors as `move_all` takes them; ``pairs`` (k, 2) of end effectors with the ``least`` (k,)
    distance of each.
    """

    h: float
    mass: float
    gravity: float
    least_force: float
    torque_limits: bool
    contacts: Flags
    heights: Array
    friction: Array
    drag: Array
    places: Array
    centers: Array
    pairs: Flags
    least: Array
    terrain: GroundGrid
    spots: Spots


class Waypoints(NamedTuple):
    """Places wished between samples (k,): ``sample`` and ``share`` of the interval after it; ``what``, ``place``, ``weight``."""

    sample: Flags
    share: Array
    what: Flags
    place: Array
    weight: Array


class MotionArrays(NamedTuple):
    """All of a problem: model, limits, plan, weights, waypoints, ends, scale and kind (1: inequality) of a sample's constraints."""

    model: CentroidalArrays
    limits: JointLimits
    wheels: WheelLimits
    plan: MotionFacts
    weights: Regularizers
    waypoints: Waypoints
    beyond: Neighbours
    ends: EndConstraints
    scale: Array
    inequality: Flags


class MotionWork(NamedTuple):
    """Working arrays: kinematics and unknowns of the extended samples, and what is held of inequalities (T, m): nothing."""

    K: KinematicArrays
    v: Array
    held: Flags
