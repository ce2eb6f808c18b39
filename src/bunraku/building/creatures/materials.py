"""What skins are made of, and what they weigh."""

from __future__ import annotations

from collections.abc import Mapping

from bunraku.character import ElasticMaterial, SkinMesh
from bunraku.geometry.tet_mesh import TetMesh, cell_volumes

RUBBER = ElasticMaterial(
    name="rubber",
    young=1.32e6,
    poisson=0.46,
    density=1100.0,
    strain_damping=0.005,
    source="such that a smooth tube of 4 mm stalls a motor of 1.96 N·m at 20 degrees; Poisson's ratio of the study of printed "
    "creatures; damping ours",
)
"""The skin."""

SOFT = RUBBER.changed(name="soft rubber", young=0.15 * RUBBER.young, source="85 % softer than the rubber")
"""What shall swing."""

FOLD = RUBBER.changed(
    name="fold rubber",
    young=0.06 * RUBBER.young,
    source="79 kPa, as the softest silicones for casting have it (Shore 00-30): so soft a fold can be as thick as the skin",
)
"""Folds at the joints."""

MATERIALS = (RUBBER, SOFT, FOLD)
"""The material of each region of a skin."""


def skin_mass(mesh: SkinMesh, materials: Mapping[int, ElasticMaterial]) -> float:
    """The mass [kg] of a skin whose region r is of ``materials[r]``."""
    volumes = cell_volumes(TetMesh(mesh.nodes, mesh.cells))
    return float(sum(volumes[mesh.region == r].sum() * material.density for r, material in materials.items()))
