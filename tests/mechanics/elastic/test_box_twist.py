"""Boxes twist as Saint-Venant says: the sections of their meshes are fine enough to warp."""

from __future__ import annotations

import pytest

from bunraku.character import Body, Character, ElasticMaterial, FlexiblePart, Joint, PartInterface, PartShape, Pose
from bunraku.mechanics.elastic.part import part_solid
from bunraku.verification.flexible.mesh_beam import mesh_beam

PLA = ElasticMaterial(name="pla", young=3.3e9, poisson=0.35, density=1240.0)


def _ratios(sides):
    """How many times stiffer the mesh of a box of these sides is than the beam: two bendings, twist; and its mass."""
    part = FlexiblePart(
        name="neck",
        material="pla",
        shape=PartShape(kind="box", size=(*sides, 0.3)),
        base="hub",
        children=(PartInterface(body="head"),),
    )
    character = Character(
        name="lamp",
        bodies=(Body(name="hub"), Body(name="head", mass=0.15)),
        joints=(
            Joint(name="hub", kind="fixed", parent="world", child="hub"),
            Joint(name="neck", kind="fixed", parent="hub", child="head", pose=Pose(position=(0.0, 0.0, 0.3))),
        ),
        materials=(PLA,),
        flexibles=(part,),
    )
    return mesh_beam(part_solid(character, part), PLA)


@pytest.mark.parametrize("sides", [(0.006, 0.02), (0.01, 0.01), (0.02, 0.006), (0.002, 0.02)])
def test_a_box_is_a_beam_within_6_percent(sides) -> None:
    """One cell a section, which warps as x y at most, makes a square 16 % and a 3 to 10 box 12 % too stiff in twist."""
    assert list(_ratios(sides)) == pytest.approx([1.0] * 4, abs=0.06)


@pytest.mark.parametrize("sides", [(0.0028, 0.02), (0.02, 0.0028)])
def test_a_strip_of_one_cell_is_a_beam_within_8_percent(sides) -> None:
    """The thickest strips that have one cell a section: here 7.3 % too stiff in twist."""
    ratios = _ratios(sides)
    assert list(ratios) == pytest.approx([1.0] * 4, abs=0.08)
    assert ratios[2] > 1.06
