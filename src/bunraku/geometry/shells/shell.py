"""From a closed triangle surface to a one-layer shell of quadratic tetrahedra with folding regions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array, Indices
from bunraku.errors import BadInput
from bunraku.geometry.shells.fold_region import FoldRegion
from bunraku.geometry.shells.offset import inner_surface, limb_radii
from bunraku.geometry.shells.outer import blended_thickness, folded_surface
from bunraku.geometry.shells.prisms import better_diagonals, first_diagonals, prism_cells
from bunraku.geometry.shells.quality import ShellQuality, check_closed, crossing_faces, dihedral_angles
from bunraku.geometry.shells.remeshing import Size
from bunraku.geometry.shells.repair import repair_layer
from bunraku.geometry.shells.sole import SoleShell
from bunraku.geometry.shells.thickness import thicken, thickness_ratios
from bunraku.geometry.surfaces.topology import genus
from bunraku.geometry.tet_mesh import TetMesh, cell_volumes, quadratic

Field = Callable[[Array], Array] | float
SLENDER = 0.84
"""Longest edge asked for, in thicknesses, times the tangent of the least dihedral angle: longer ones make flat cells."""
ROOM = 0.6
"""Thickest skin as a part of the radius of the largest ball inside the limb."""


@dataclass(frozen=True)
class Shell:
    """A one-layer skin. ``mesh``: quadratic cells, straight edges. ``outer``, ``inner`` (V, 3) [m]: corners of the two surfaces.

    ``faces`` (F, 3) seen from outside, common to both. Corner node v of the outer surface is node v of the mesh, that of the inner
    surface node V + v. ``region`` (V,) is the number of the folding region whose ring a vertex
    belongs to, or -1. ``thickness`` (V,) [m] is the nominal one; ``asked`` (V,) is more where limbs are too narrow for it. Cells
    3 f, 3 f + 1, 3 f + 2 lie under face f. ``rings[r]`` (k, n) holds the vertices of region r, ``soles[i]`` those of a flat sole:
    rim, ring at half the radius, centre.
    """

    mesh: TetMesh
    outer: Array
    inner: Array
    faces: Indices
    region: Indices
    thickness: Array
    asked: Array
    rings: tuple[Indices, ...]
    soles: tuple[Indices, ...] = ()


def make_shell(
    vertices: ArrayLike,
    faces: ArrayLike,
    folds: Sequence[FoldRegion],
    size: Field,
    thickness: Field,
    *,
    soles: Sequence[SoleShell] = (),
    blend: float = 0.012,
    least_angle: float = np.radians(8.0),
    least_thickness: float = 0.85,
) -> Shell:
    """The skin of a closed surface, ``vertices`` (n, 3) [m], ``faces`` (m, 3) seen from outside, with folding regions and soles.

    ``size`` and ``thickness`` map points (k, 3) to edge lengths and thicknesses (k,) [m], or are numbers. The thickness goes over
    to a region's wall within ``blend`` [m] of its rings. Edges are never asked to be longer than 0.84 / tan(least_angle)
    thicknesses, 6 at 8 deg. Refused, with the place, when a dihedral angle is below ``least_angle`` [rad] or the thickness below
    ``least_thickness`` of nominal after repair.
    """
    X, F = _surface(vertices, faces)
    edge, thick, slender = _field(size, "size"), _field(thickness, "thickness"), SLENDER / np.tan(least_angle)
    surface = folded_surface(X, F, folds, soles, edge, lambda points: slender * thick(points))
    outer, tri = surface.vertices, surface.faces
    region, firm = np.full(len(outer), -1, dtype=np.int64), np.zeros(len(outer), dtype=bool)
    for r, numbers in enumerate(surface.folds):
        region[numbers] = r
    for numbers in (*surface.folds, *surface.soles, *surface.sole_sides):
        firm[numbers] = True
    walls = [(outer[n].reshape(-1, 3), fold.wall) for n, fold in zip(surface.folds, folds, strict=True)]
    asked = blended_thickness(outer, thick, walls, blend)
    asked = np.where(region >= 0, np.array([wall for _, wall in walls] + [0.0])[region], asked)
    t = np.where(firm, asked, np.minimum(asked, ROOM * limb_radii(outer, tri)))
    inner = inner_surface(outer, tri, t, np.where(firm, 1e-4, 0.02))
    forward = first_diagonals(tri)
    for _ in range(5):
        inner, thin = thicken(outer, inner, tri, t, min(1.0, least_thickness + 0.05))
        forward = better_diagonals(np.vstack([outer, inner]), tri, forward, 1.3 * least_angle)
        cells = prism_cells(tri, len(outer), forward)
        outer, inner, bad = repair_layer(outer, inner, tri, cells, t, firm, surface.onto, least_angle)
        if not thin and not bad:
            break
    mesh = quadratic(TetMesh(np.vstack([outer, inner]), cells))
    shell = Shell(mesh, outer, inner, tri, region, t, asked, surface.folds, surface.soles)
    _check(shell, genus(F), least_angle, least_thickness)
    return shell


def shell_quality(shell: Shell) -> ShellQuality:
    """The figures of a shell, measured on its corners."""
    angles = dihedral_angles(shell.mesh.nodes[shell.mesh.cells[:, :4]])
    both = np.vstack([shell.outer, shell.inner])
    pairs = crossing_faces(both, np.vstack([shell.faces, shell.faces + len(shell.outer)]))
    return ShellQuality(
        least_angle=float(angles.min()),
        greatest_angle=float(angles.max()),
        thinnest=float(thickness_ratios(shell.outer, shell.inner, shell.faces, shell.thickness)[0].min()),
        least_volume=float(cell_volumes(shell.mesh).min()),
        genus=genus(shell.faces),
        crossings=len(pairs),
        thinned=int((shell.thickness < shell.asked - 1e-12).sum()),
    )


def _surface(vertices: ArrayLike, faces: ArrayLike) -> tuple[Array, Indices]:
    X, F = np.array(vertices, dtype=np.float64), np.array(faces, dtype=np.int64)
    if X.ndim != 2 or X.shape[1:] != (3,) or F.ndim != 2 or F.shape[1:] != (3,) or not len(F):
        raise BadInput(f"the surface has vertices {X.shape} and faces {F.shape}; (n, 3) and (m, 3) are needed")
    if not np.isfinite(X).all() or F.min() < 0 or F.max() >= len(X):
        raise BadInput("the surface has vertices that are not finite, or faces that name vertices it does not have; repair it")
    check_closed(F, "the surface")
    T = X[F]
    if np.einsum("ij,ij->i", T[:, 0], np.cross(T[:, 1], T[:, 2])).sum() <= 0.0:
        raise BadInput("the surface is inside out: its volume is negative; reverse its faces")
    return X, F


def _field(value: Field, what: str) -> Size:
    def field(points: Array) -> Array:
        lengths = np.broadcast_to(np.asarray(value(points) if callable(value) else value, dtype=np.float64), (len(points),))
        if not (np.isfinite(lengths).all() and (lengths > 0.0).all()):
            raise BadInput(f"the {what} field gives {lengths.min()} m; positive lengths are needed everywhere")
        return np.asarray(lengths)

    return field


def _check(shell: Shell, handles: int, least_angle: float, least_thickness: float) -> None:
    check_closed(shell.faces, "the skin")
    if genus(shell.faces) != handles:
        raise BadInput(f"the skin has genus {genus(shell.faces)}, the surface {handles}; use a finer size")
    X = shell.mesh.nodes[shell.mesh.cells[:, :4]]
    angles = dihedral_angles(X).min(axis=1)
    volumes = cell_volumes(shell.mesh)
    worst = int(np.argmin(np.where(volumes > 0.0, angles, -1.0)))
    if volumes[worst] <= 0.0 or angles[worst] < least_angle:
        raise BadInput(
            f"a cell has a dihedral angle of {np.degrees(angles[worst]) * np.sign(volumes[worst]):.1f} deg, at least "
            f"{np.degrees(least_angle):.1f} is needed; use shorter edges or more points a ring there",
            place=_where(shell, X[worst].mean(axis=0)),
        )
    ratios, places = thickness_ratios(shell.outer, shell.inner, shell.faces, shell.thickness)
    if ratios.min() < least_thickness:
        raise BadInput(
            f"the skin is {100 * ratios.min():.0f} % of its nominal thickness, at least {100 * least_thickness:.0f} % is needed; "
            "use shorter edges there",
            place=_where(shell, places.reshape(-1, 3)[int(np.argmin(ratios))]),
        )
    both = np.vstack([shell.outer, shell.inner])
    pairs = crossing_faces(both, np.vstack([shell.faces, shell.faces + len(shell.outer)]))
    if len(pairs):
        face = pairs[0, 0] % len(shell.faces)
        raise BadInput(
            "the skin crosses itself; use a thinner skin or shorter edges there",
            place=_where(shell, shell.outer[shell.faces[face, 0]]),
        )


def _where(shell: Shell, point: Array) -> str:
    near = int(np.argmin(np.linalg.norm(shell.outer - point, axis=1)))
    ring = f" in fold {shell.region[near]}" if shell.region[near] >= 0 else ""
    return f"near ({', '.join(f'{x:.3f}' for x in point)}) m{ring}"
