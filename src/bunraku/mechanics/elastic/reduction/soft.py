"""Which parts are so soft that their material shows: above 2 % strain a Neo-Hookean part gets cubature, others keep their strains.

The strain is that of the reduced part at rest under the reference loads of :mod:`choice`, which bend it by up to a fifth of its
length.
"""

from __future__ import annotations

from dataclasses import replace

from bunraku.mechanics.elastic.reduction.basis import Workbench
from bunraku.mechanics.elastic.reduction.choice import peak_strain, reference_loads
from bunraku.mechanics.elastic.reduction.loaded import load_reduced
from bunraku.mechanics.elastic.reduction.points import SOFT, with_cubature
from bunraku.mechanics.elastic.reduction.reduce import Reduction


def soften(bench: Workbench, reduction: Reduction) -> Reduction:
    """The reduction with cubature where its material asks for it, and else as it is; the note says so."""
    solid = bench.solid
    if solid.material.model != "neo-hookean" or reduction.segment.points is not None:
        return reduction
    loads = reference_loads(bench)
    states = [load_reduced(solid, reduction.segment, reduction.shapes, load, (), count=1).u for load in loads]
    strain = max(peak_strain(solid, u @ reduction.shapes) for u in states)
    if strain <= SOFT:
        return reduction
    return with_cubature(bench, replace(reduction, note=f"{reduction.note}; strain up to {strain:.1%}"), loads)
