"""Ready meshes: rods, tubes, boxes and plates with holes, standing on z = 0 and growing along z."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bunraku.errors import BadInput
from bunraku.geometry.meshing.extrude import extrude
from bunraku.geometry.meshing.outline import Outline, fill
from bunraku.geometry.meshing.section import disk, rectangle, ring
from bunraku.geometry.tet_mesh import TetMesh


def rod(length: float, diameter: float, *, layers: int, rings: int = 1, sectors: int = 7, order: int = 2) -> TetMesh:
    """A round rod [m] from z = 0 to ``length``, patches ``start``, ``end`` and ``side``.

    The default section (seven curved triangles) gives bending frequencies of slender rods within 0.2 %; layers of 0.875 diameters
    are short enough for that (docs, theory of elasticity).
    """
    return extrude(disk(0.5 * diameter, rings=rings, sectors=sectors), _heights(length, layers), order=order)


def tube(length: float, diameter: float, wall: float, *, layers: int, rings: int = 1, sectors: int = 12, order: int = 2) -> TetMesh:
    """A round tube [m] with outer ``diameter`` and a wall of thickness ``wall``; patches ``start``, ``end``, ``side``, ``hole``."""
    section = ring(0.5 * diameter - wall, 0.5 * diameter, rings=rings, sectors=sectors)
    return extrude(section, _heights(length, layers), order=order)


def box(size: tuple[float, float, float], cells: tuple[int, int, int], *, order: int = 2) -> TetMesh:
    """A box [m] centred on the z axis; ``cells`` bricks along x, y, z of six tetrahedra each.

    Patches ``start``, ``end`` (z) and ``-x``, ``+x``, ``-y``, ``+y``.
    """
    section = rectangle(size[0], size[1], columns=cells[0], rows=cells[1])
    return extrude(section, _heights(size[2], cells[2]), order=order)


def plate(
    outer: Outline, thickness: float, *, size: float, layers: int = 1, holes: Mapping[str, Outline] | None = None, order: int = 2
) -> TetMesh:
    """A flat printed part [m]: the inside of ``outer`` without its named ``holes``, triangles of about ``size``, extruded.

    Patches ``start``, ``end``, ``side`` and one for the wall of every hole.
    """
    taken = {"start", "end", "side"} & set(holes or {})
    if taken:
        raise BadInput(f"a hole is named {sorted(taken)[0]!r}, which is the name of a face of every plate; choose another name")
    return extrude(fill(outer, size, holes=holes), _heights(thickness, layers), order=order)


def _heights(length: float, layers: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    if not np.isfinite(length) or length <= 0.0:
        raise BadInput(f"the length along z is {length:g} m; a positive one is needed")
    if layers < 1:
        raise BadInput(f"{layers} layers were asked for; at least 1 is needed")
    return np.linspace(0.0, length, layers + 1)
