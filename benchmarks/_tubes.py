"""Tubes that only benchmarks and tests bend: folds of a cosine, linear cells in layers; and how much of a stiffness is the mesh."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array
from bunraku.geometry.tet_mesh import TetMesh, quadratic
from bunraku.geometry.tet_refine import refined
from bunraku.geometry.tetrahedra import EDGES
from bunraku.mechanics.coupled.tubes.bending import Clamps, bend_tube, clamps
from bunraku.mechanics.coupled.tubes.mesh import Tube, mitres, swept_wall, tube_profile
from bunraku.mechanics.elastic.material import Material
from bunraku.mechanics.elastic.solid import ElasticSolid


def linear_tube(tube: Tube, layers: int = 1) -> TetMesh:
    """A tube of linear cells, in several ``layers`` through the wall."""
    middle = tube_profile(tube)
    return swept_wall(middle, tube.wall * mitres(middle), tube.around, layers=layers)


def cosine_tube(tube: Tube) -> TetMesh:
    """The quadratic mesh of a tube whose folds are a cosine instead of teeth; ``rows`` need be no multiple of four."""
    middle, outwards = cosine_profile(tube.radius - 0.5 * tube.wall, tube.length, tube.folds, tube.depth, tube.end, tube.rows)
    return quadratic(swept_wall(middle, tube.wall * outwards, tube.around))


def cosine_profile(middle: float, length: float, folds: int, depth: float, end: float, rows: int) -> tuple[Array, Array]:
    """The middle of the wall (k, 2), and directions (k, 2): its normals, so that the wall has its thickness at all rows."""
    t, height = np.arange(rows * folds + 1) / (rows * folds), length - 2.0 * end
    inwards = 0.5 * (1.0 - np.cos(2.0 * np.pi * folds * t))
    z = np.concatenate([[0.0, 0.5 * end], end + height * t, length - np.array([0.5 * end, 0.0])])
    slope = np.zeros(len(z))  # dr/dz of the cosine itself, not of the polygon
    slope[2:-2] = -np.pi * folds * depth / height * np.sin(2.0 * np.pi * folds * t)
    normal = np.column_stack([np.ones(len(z)), -slope])
    profile = np.column_stack([middle - depth * np.concatenate([[0.0, 0.0], inwards, [0.0, 0.0]]), z])
    return profile, normal / np.linalg.norm(normal, axis=1)[:, None]


@dataclass(frozen=True)
class MeshError:
    """Stiffness [N·m/rad] (torque over angle) on a mesh and on the same refined once, at each of ``angle`` (k,) [rad]."""

    angle: Array
    coarse: Array
    fine: Array

    @property
    def relative(self) -> Array:
        """How much too stiff the coarse mesh is (k,), as a share of the fine one's stiffness."""
        return np.asarray(self.coarse / self.fine - 1.0)


def joint_stiffness(
    mesh: TetMesh,
    material: Material,
    angles: tuple[float, ...] = (0.01, np.radians(20.0)),
    *,
    held: Clamps | None = None,
) -> Array:
    """Secant stiffness (k,) [N·m/rad]: torque over angle at each of ``angles`` [rad]; NaN from the first not reached on."""
    bend = bend_tube(ElasticSolid(mesh, material), angles, held=held)
    stiffness = np.full(len(angles), np.nan)
    stiffness[: len(bend.angle)] = bend.torque / bend.angle
    return stiffness


def mesh_error(mesh: TetMesh, material: Material, angles: tuple[float, ...] = (0.01, np.radians(20.0))) -> MeshError:
    """The stiffness of a mesh beside that of the mesh refined once, the same nodes (and those between them) being clamped."""
    grip = clamps(mesh)
    finer = refined(mesh)
    corners = finer.mesh.cells
    grips = []
    for nodes in (grip.low, grip.high):
        inside = np.zeros(len(finer.mesh.nodes), dtype=bool)
        inside[finer.node[nodes]] = True
        if finer.mesh.order == 2:
            for e, (a, b) in enumerate(EDGES):
                both = inside[corners[:, a]] & inside[corners[:, b]]
                inside[corners[both, 4 + e]] = True
        grips.append(np.flatnonzero(inside))
    fine = Clamps(grips[0], grips[1], grip.pivot)
    values = (joint_stiffness(one, material, angles, held=hold) for one, hold in ((mesh, grip), (finer.mesh, fine)))
    return MeshError(np.asarray(angles), *values)
