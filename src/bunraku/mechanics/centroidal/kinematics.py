"""Kinematics of a character on the ground along many configurations: centre of mass, contact points, rolling directions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array
from bunraku.mechanics.centroidal import kinematics_kernels as kernels
from bunraku.mechanics.centroidal.arrays import GroundGrid, KinematicArrays
from bunraku.mechanics.centroidal.model import CentroidalModel
from bunraku.motion import HeightField


@dataclass(frozen=True)
class Kinematics:
    """Along n configurations: ``com`` (n, 3), ``contact`` (n, n_e, 3) the lowest points, ``rolling`` (n, n_e, 3) their directions.

    ``spin`` (n, n_e): the carrying body's spin about each axle against the frame of rolling direction and axle [rad]. ``arrays``:
    all that the kernel wrote, for other kernels.
    """

    com: Array
    contact: Array
    rolling: Array
    spin: Array
    arrays: KinematicArrays


def working_arrays(model: CentroidalModel, samples: int) -> KinematicArrays:
    """Arrays for the kernel `move_all`, one entry a sample."""
    n, n_e, chain, points = len(model.tree.parent), model.n_tips, model.tips.chain.shape[1], len(model.points.node)
    poses = ((n, 3, 3), (n, 3), (n, 3), (3,), (3, model.nq), (points, 3))
    tips = ((n_e, 3), (n_e, 3), (n_e, 3), (n_e, 3), (n_e,), (n_e, 3))
    jacobians = ((n_e, 3, chain), (n_e, 3, chain), (n_e, chain), (n_e, 3, chain))
    return KinematicArrays(*(np.zeros((samples, *shape)) for shape in (*poses, *tips, *jacobians)))


def ground_grid(terrain: HeightField | None) -> GroundGrid:
    """The ground as the kernels take it."""
    if terrain is None:
        return GroundGrid(np.zeros(3), np.zeros((0, 0)))
    return GroundGrid(np.array([*terrain.origin, terrain.spacing]), np.ascontiguousarray(terrain.heights))


def kinematics(model: CentroidalModel, q: Array, terrain: HeightField | None = None, *, jacobians: bool = False) -> Kinematics:
    """Kinematics along the configurations ``q`` (n, nq); with ``jacobians`` those among the arrays are filled too."""
    q, K = np.ascontiguousarray(q, dtype=np.float64), working_arrays(model, len(q))
    every = np.ones(len(q), dtype=np.int64)
    kernels.move_all(q, every, model.arrays, model.points.place[None], model.tips.center[None], ground_grid(terrain), jacobians, K)
    return Kinematics(K.x, K.e, K.t, K.sigma, K)


def contact_points(model: CentroidalModel, q: Array, terrain: HeightField | None = None) -> Array:
    """Contact points (n_e, 3) [m] of the end effectors at one configuration."""
    return kinematics(model, q[None], terrain).contact[0]


def center_of_mass(model: CentroidalModel, q: Array) -> Array:
    """Centre of mass (3,) [m] at one configuration."""
    return kinematics(model, q[None]).com[0]
