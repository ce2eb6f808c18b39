"""Slender parts of few long cells whose numbers are set so that they bend, twist and weigh as the fine mesh does.

Cells that are longer than wide lose accuracy where they are curved: the isoparametric map spoils the quadratics that bending and
twisting of a slender part consist of. With straight sides those quadratics are exact whatever the length, but the section is a
polygon: too thin. Both ends are answered for with three numbers. With the compliances of the part, held at its base and loaded at
its end, across (b, mean of both directions) and in twist (t), and its mass m, of the fine mesh and of the coarse one,

    E_c = E b_coarse / b_fine,    rho_c = rho m_fine / m_coarse,    1 + nu_c = (1 + nu) (b_coarse / b_fine) (t_fine / t_coarse)

since b goes with 1 / E and t with 1 / G = 2 (1 + nu) / E; repeated until both agree, as nu acts a little on bending too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Character, FlexiblePart
from bunraku.geometry.tet_mesh import TetMesh, straightened
from bunraku.mechanics.elastic.grip import Grip
from bunraku.mechanics.elastic.interface import make_interface
from bunraku.mechanics.elastic.part import PartSolid, part_solid
from bunraku.mechanics.elastic.solid import ElasticSolid

SLENDER = 10.0
"""Parts at least this many times as long as thick are taken coarsely; others keep their mesh."""

_ROUNDS, _POISSON = 4, (-0.9, 0.49)


def coarse_part(
    character: Character, part: FlexiblePart, coarser: float, *, meshes: Mapping[str, TetMesh] | None = None
) -> PartSolid:
    """The part with cells ``coarser`` times longer, equal to the fine one in bending, twist and mass; the fine one if not slender.

    Slender are rods and tubes of :data:`SLENDER` diameters or more that carry one body at the far end.
    """
    fine = part_solid(character, part, meshes=meshes)
    shape = part.shape
    patches = [part.base_patch, *(child.patch for child in part.children)]
    round_ = shape.kind in ("rod", "tube") and sorted(patches) == ["end", "start"]
    if coarser <= 1.0 or not round_ or (shape.length or 0.0) < SLENDER * (shape.diameter or 0.0):
        return fine
    rough = part_solid(character, part, meshes=meshes, coarser=coarser)
    mesh = straightened(rough.solid.mesh)
    if len(mesh.cells) >= len(fine.solid.mesh.cells):
        return fine
    compliances, weight, material = end_compliances(fine), fine.solid.total_mass, fine.solid.material
    base, children = make_interface(mesh, patches[0]), (make_interface(mesh, patches[1]),)
    coarse = PartSolid(part, ElasticSolid(mesh, material), base, children)
    material = replace(material, density=material.density * weight / coarse.solid.total_mass)
    for _ in range(_ROUNDS):
        bending, twist = end_compliances(coarse) / compliances
        poisson = float(np.clip((1.0 + material.poisson) * bending / twist - 1.0, *_POISSON))
        material = replace(material, young=material.young * float(bending), poisson=poisson)
        coarse = PartSolid(part, ElasticSolid(mesh, material), base, children)
    return coarse


def end_compliances(part: PartSolid) -> Array:
    """(bending [m/N], mean of both directions across; twist [rad/(N m)]): linear answers of the end to a unit load there."""
    solid, end = part.solid, part.children[0]
    loads = np.zeros((6, solid.size))
    loads[:, end.unknowns] = end.jacobian(np.zeros(solid.size))  # rows: turns about x, y, z, then displacements
    answers = Grip(solid, part.base).factorize(solid.stiffness()).solve(np.ascontiguousarray(loads.T))
    compliance = np.einsum("ij,ji->i", loads, answers)
    return np.array([0.5 * (compliance[3] + compliance[4]), compliance[2]])
