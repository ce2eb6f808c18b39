"""A flexible part of a character as an elastic solid with its interfaces, in the part's own frame.

Ready shapes are meshed here, fine enough for bending: slender rods of 0.875 diameters a layer (frequencies within 0.2 %), at least
8 layers a part.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from bunraku.character import Character, ElasticMaterial, FlexiblePart, PartShape
from bunraku.errors import BadInput
from bunraku.geometry.meshing.outline import Circle
from bunraku.geometry.meshing.shapes import box, plate, rod, tube
from bunraku.geometry.tet_mesh import TetMesh
from bunraku.mechanics.cache import content_key
from bunraku.mechanics.elastic.interface import Interface, make_interface
from bunraku.mechanics.elastic.known_meshes import KNOWN_MESHES
from bunraku.mechanics.elastic.material import Material
from bunraku.mechanics.elastic.solid import ElasticSolid

THIN = 0.15
"""A strip thinner than this part of its width has one cell a section, warped as x y: at most 8 % too stiff in twist; a square would
be 16 %. Thicker boxes have 2 x 2 cells: at most 5 %."""


@dataclass(frozen=True, eq=False)
class PartSolid:
    """The solid of a part, the interface it stands on and those that carry its children, in order."""

    part: FlexiblePart
    solid: ElasticSolid
    base: Interface
    children: tuple[Interface, ...]


def part_solid(
    character: Character, part: FlexiblePart, *, meshes: Mapping[str, TetMesh] | None = None, coarser: float = 1.0
) -> PartSolid:
    """The solid of a part of a character.

    ``meshes``: the mesh of each part whose shape is a file, by the part's name; those read with the character are known without.
    ``coarser``: how many times larger than usual the cells along the part may be.
    """
    material = next(material for material in character.materials if material.name == part.material)
    own = part.shape.kind != "mesh"
    mesh = part_mesh(part.shape, coarser=coarser) if own else (meshes or {}).get(part.name) or KNOWN_MESHES.find(part.shape.digest)
    if mesh is None:
        raise BadInput(
            f"the mesh {part.shape.file!r} of the flexible part {part.name!r} was not read; read the character from its file"
        )
    for patch in (part.base_patch, *(child.patch for child in part.children)):
        if patch not in mesh.patches:
            known = ", ".join(sorted(mesh.patches))
            raise BadInput(f"the flexible part {part.name!r} has no patch {patch!r}; its surface has {known}")
    solid = ElasticSolid(mesh, material_of(material))
    return PartSolid(
        part, solid, make_interface(mesh, part.base_patch), tuple(make_interface(mesh, child.patch) for child in part.children)
    )


def part_solids(character: Character, *, meshes: Mapping[str, TetMesh] | None = None) -> dict[str, PartSolid]:
    """The solid of every flexible part by its name; parts alike share one."""
    solids: dict[str, PartSolid] = {}
    known: dict[str, PartSolid] = {}
    for part in character.flexibles:
        like = content_key(part.shape, part.material, part.base_patch, [child.patch for child in part.children])
        if part.shape.kind != "mesh" and like in known:
            solids[part.name] = replace(known[like], part=part)
        else:
            solids[part.name] = known[like] = part_solid(character, part, meshes=meshes)
    return solids


def material_of(material: ElasticMaterial) -> Material:
    """The material as elasticity takes it."""
    return Material(
        young=material.young,
        poisson=material.poisson,
        density=material.density,
        model=material.model,
        strain_damping=material.strain_damping,
    )


def part_mesh(shape: PartShape, *, coarser: float = 1.0) -> TetMesh:
    """The mesh of a ready shape, of curved quadratic tetrahedra."""
    match shape.kind:
        case "rod":
            length, diameter = _length(shape.length), _length(shape.diameter)
            return rod(length, diameter, layers=_layers(length, shape.cell or 0.875 * diameter * coarser))
        case "tube":
            length, diameter = _length(shape.length), _length(shape.diameter)
            return tube(length, diameter, _length(shape.wall), layers=_layers(length, shape.cell or diameter * coarser))
        case "box":
            size = np.array(shape.size)
            cell = shape.cell or max(1.75 * coarser * float(np.sort(size)[1]), float(size.max()) / 100.0)
            least = 1 if float(size[:2].min()) < THIN * float(size[:2].max()) else 2
            counts = [max(least, ceil(float(side) / cell)) for side in size[:2]]
            return box((float(size[0]), float(size[1]), float(size[2])), (counts[0], counts[1], _layers(float(size[2]), cell)))
        case "plate":
            corners = np.array(shape.outline)
            thickness = _length(shape.thickness)
            cell = shape.cell or max(1.5 * coarser * thickness, float(np.ptp(corners, axis=0).max()) / 60.0)
            holes = {hole.name: Circle(hole.center, hole.radius) for hole in shape.holes}
            return plate([tuple(corner) for corner in shape.outline], thickness, size=cell, holes=holes)
        case _:
            raise BadInput(f"a part of kind {shape.kind!r} has a mesh of its own; read {shape.file!r}")


def _layers(length: float, cell: float) -> int:
    return max(8, ceil(length / cell - 1e-9))


def _length(value: float | None) -> float:
    if value is None:
        raise BadInput("a shape lacks one of its lengths")
    return value
