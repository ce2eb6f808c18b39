"""Boxes bend and twist as Euler and Saint-Venant say: the sections of their meshes are fine enough to warp.

The closed forms, for a unit load at the end: L^3 / (3 E I) across, L / (G J) in twist, with
J = a b^3 (1/3 - 0.21 b/a (1 - b^4 / (12 a^4))) for sides a >= b, within 0.5 % of Saint-Venant's series (Roark).
"""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.character import Body, Character, ElasticMaterial, FlexiblePart, Joint, PartInterface, PartShape, Pose
from bunraku.mechanics.elastic.grip import Grip
from bunraku.mechanics.elastic.part import part_solid

PLA = ElasticMaterial(name="pla", young=3.3e9, poisson=0.35, density=1240.0)
LENGTH = 0.3


def _ratios(sides):
    """How many times stiffer the mesh of a box of these sides is than the beam: two bendings, twist; and its mass."""
    part = FlexiblePart(
        name="neck",
        material="pla",
        shape=PartShape(kind="box", size=(*sides, LENGTH)),
        base="hub",
        children=(PartInterface(body="head"),),
    )
    character = Character(
        name="lamp",
        bodies=(Body(name="hub"), Body(name="head", mass=0.15)),
        joints=(
            Joint(name="hub", kind="fixed", parent="world", child="hub"),
            Joint(name="neck", kind="fixed", parent="hub", child="head", pose=Pose(position=(0.0, 0.0, LENGTH))),
        ),
        materials=(PLA,),
        flexibles=(part,),
    )
    made = part_solid(character, part)
    solid, end, (x, y) = made.solid, made.children[0], sides
    loads = np.zeros((6, solid.size))
    loads[:, end.unknowns] = end.jacobian(np.zeros(solid.size))  # rows: turns about x, y, z, then displacements
    answers = Grip(solid, made.base).factorize(solid.stiffness()).solve(np.ascontiguousarray(loads.T))
    _, _, about_z, along_x, along_y, _ = np.einsum("ij,ji->i", loads, answers)
    a, b = max(sides), min(sides)
    torsion = a * b**3 * (1.0 / 3.0 - 0.21 * b / a * (1.0 - b**4 / (12.0 * a**4)))
    shear = PLA.young / (2.0 * (1.0 + PLA.poisson))
    return [
        LENGTH**3 / 3.0 / (PLA.young * x * y**3 / 12.0) / along_y,
        LENGTH**3 / 3.0 / (PLA.young * y * x**3 / 12.0) / along_x,
        LENGTH / (shear * torsion) / about_z,
        solid.total_mass / (PLA.density * x * y * LENGTH),
    ]


@pytest.mark.parametrize("sides", [(0.006, 0.02), (0.01, 0.01), (0.02, 0.006), (0.002, 0.02)])
def test_a_box_is_a_beam_within_6_percent(sides) -> None:
    """One cell a section, which warps as x y at most, makes a square 16 % and a 3 to 10 box 12 % too stiff in twist."""
    assert _ratios(sides) == pytest.approx([1.0] * 4, abs=0.06)


@pytest.mark.parametrize("sides", [(0.0028, 0.02), (0.02, 0.0028)])
def test_a_strip_of_one_cell_is_a_beam_within_8_percent(sides) -> None:
    """The thickest strips that have one cell a section: here 7.3 % too stiff in twist."""
    ratios = _ratios(sides)
    assert ratios == pytest.approx([1.0] * 4, abs=0.08)
    assert ratios[2] > 1.06
