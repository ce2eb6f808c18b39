"""How a beam made of tetrahedra differs from the beam: for comparing motions without the error of the mesh.

Tetrahedra are too stiff by an amount that falls with their size, and a curved surface loses some volume. A unit force across and a
unit twist at the far end, answered linearly by the mesh (compliances c), are L^3 / (3 E I) and L / (G J) for the beam.
"""

from __future__ import annotations

import numpy as np

from bunraku.character import ElasticMaterial
from bunraku.mechanics.elastic.grip import Grip
from bunraku.mechanics.elastic.part import PartSolid
from bunraku.verification.flexible.beam_section import BeamRatio, beam_section


def mesh_beam(part: PartSolid, material: ElasticMaterial) -> BeamRatio:
    """How many times stiffer and heavier the part's mesh is than the beam; BadInput if it is none."""
    section, solid, end = beam_section(part.part), part.solid, part.children[0]
    loads = np.zeros((6, solid.size))
    loads[:, end.unknowns] = end.jacobian(np.zeros(solid.size))  # rows: turns about x, y, z, then displacements
    answers = Grip(solid, part.base).factorize(solid.stiffness()).solve(np.ascontiguousarray(loads.T))
    compliance = np.einsum("ij,ji->i", loads, answers)
    x, y, z = section.rigidity(material)
    cube = section.length**3 / 3.0
    return BeamRatio(
        cube / x / float(compliance[4]),
        cube / y / float(compliance[3]),
        section.length / z / float(compliance[2]),
        solid.total_mass / (material.density * section.area * section.length),
    )
