"""Kinematics of a character on the ground along many configurations: centre of mass, contact points, rolling directions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array
from bunraku.mechanics.centroidal import kinematics_kernels as kernels
from bunraku.mechanics.centroidal.model import CentroidalModel
from bunraku.motion import HeightField


@dataclass(frozen=True)
class Kinematics:
    """Along n configurations: ``com`` (n, 3), ``contact`` (n, n_e, 3) the lowest points, ``rolling`` (n, n_e, 3) their directions.

    ``spin`` (n, n_e): the carrying body's spin about each axle against the frame of rolling direction and axle [rad]. ``arrays``:
    all that the kernel wrote, for other kernels (`working_arrays`).
    """

    com: Array
    contact: Array
    rolling: Array
    spin: Array
    arrays: tuple[Array, ...]


def working_arrays(model: CentroidalModel, samples: int) -> tuple[Array, ...]:
    """Arrays for the kernel `move`, one entry a sample: R, P, A, x, Jx, d, e, t, m, n, sigma, C, Je, Jt, Js, Jn."""
    n, n_e, chain, points = len(model.tree[0]), model.n_tips, model.tips[6].shape[1], len(model.points[0])
    poses = ((n, 3, 3), (n, 3), (n, 3), (3,), (3, model.nq), (points, 3))
    tips = ((n_e, 3), (n_e, 3), (n_e, 3), (n_e, 3), (n_e,), (n_e, 3))
    jacobians = ((n_e, 3, chain), (n_e, 3, chain), (n_e, chain), (n_e, 3, chain))
    return tuple(np.zeros((samples, *shape)) for shape in (*poses, *tips, *jacobians))


def ground_arrays(terrain: HeightField | None) -> tuple[Array, Array]:
    """Origin with spacing (3,), and heights: none on flat ground."""
    if terrain is None:
        return np.zeros(3), np.zeros((0, 0))
    return np.array([*terrain.origin, terrain.spacing]), np.ascontiguousarray(terrain.heights)


def kinematics(model: CentroidalModel, q: Array, terrain: HeightField | None = None, *, jacobians: bool = False) -> Kinematics:
    """Kinematics along the configurations ``q`` (n, nq); with ``jacobians`` those among the arrays are filled too."""
    K = working_arrays(model, len(q))
    ground = ground_arrays(terrain)
    for i, one in enumerate(np.ascontiguousarray(q, dtype=np.float64)):
        kernels.move(model.tree, model.nodes, model.points, model.tips, ground, one, jacobians, *(part[i] for part in K))
    return Kinematics(K[3], K[6], K[7], K[10], K)


def contact_points(model: CentroidalModel, q: Array, terrain: HeightField | None = None) -> Array:
    """Contact points (n_e, 3) [m] of the end effectors at one configuration."""
    return kinematics(model, q[None], terrain).contact[0]


def center_of_mass(model: CentroidalModel, q: Array) -> Array:
    """Centre of mass (3,) [m] at one configuration."""
    return kinematics(model, q[None]).com[0]
