"""How stiff a skin makes a joint, and how much of that is the mesh: torque over angle, on the mesh and on the mesh refined once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array
from bunraku.geometry.tet_mesh import TetMesh
from bunraku.geometry.tet_refine import refined
from bunraku.geometry.tetrahedra import EDGES
from bunraku.mechanics.elastic.material import Material
from bunraku.mechanics.elastic.solid import ElasticSolid
from bunraku.mechanics.elastic.tubes.bending import Clamps, bend_tube, clamps


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
    found = np.full(len(angles), np.nan)
    found[: len(bend.angle)] = bend.torque / bend.angle
    return found


def mesh_error(
    mesh: TetMesh,
    material: Material,
    angles: tuple[float, ...] = (0.01, np.radians(20.0)),
    *,
    held: Clamps | None = None,
) -> MeshError:
    """The stiffness of a mesh beside that of the mesh refined once, the same nodes (and those between them) being clamped."""
    grip = clamps(mesh) if held is None else held
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
    fine = Clamps(grips[0], grips[1], grip.pivot, grip.axis)
    values = (joint_stiffness(one, material, angles, held=hold) for one, hold in ((mesh, grip), (finer.mesh, fine)))
    return MeshError(np.asarray(angles), *values)
