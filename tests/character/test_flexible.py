"""Flexible parts in a character: what fits, what does not, and where a file is wrong."""

from __future__ import annotations

import pytest

from bunraku.character import Body, Character, ElasticMaterial, FlexiblePart, Joint, Motor, PartInterface, PartShape, Pose
from bunraku.errors import BadInput
from bunraku.formats.character_yaml import read_character_yaml, write_character_yaml

PLA = ElasticMaterial(name="pla", young=3.5e9, poisson=0.35, density=1240.0)
ROD = PartShape(kind="rod", length=0.3, diameter=0.004)


def part(**more) -> FlexiblePart:
    return FlexiblePart(**({"name": "rod", "material": "pla", "shape": ROD, "base": "hub", "children": ({"body": "tip"},)} | more))


def character(flexible: FlexiblePart | None = None, tip: str = "fixed", **more) -> Character:
    parts = {
        "name": "c",
        "bodies": tuple(Body(name=name, mass=1.0) for name in ("hub", "tip", "hand")),
        "joints": (
            Joint(name="shoulder", kind="hinge", parent="world", child="hub"),
            Joint(name="rod", kind=tip, parent="hub", child="tip", pose=Pose(position=(0.0, 0.0, 0.3))),
            Joint(name="wrist", kind="hinge", parent="tip", child="hand"),
        ),
        "motors": (Motor(name="shoulder", coordinate="shoulder", torsional_stiffness=120.0, torsional_damping=0.3, delay=0.01),),
        "materials": (PLA,),
        "flexibles": (flexible or part(),),
    }
    return Character(**(parts | more))


def test_a_character_with_parts_is_written_and_read_back() -> None:
    described = character(part(pose=Pose(position=(0.0, 0.1, 0.0)), modes=3))
    text = write_character_yaml(described)
    assert "torsional_stiffness_n_m_per_rad: 120" in text
    assert "young_pa: 3500000000" in text.replace("_000", "000").replace("3.5e+9", "3500000000").replace("3.5e+09", "3500000000")
    assert read_character_yaml(text.encode(), file="c.yaml") == described


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: character(part(material="steel")), "'rod' is made of 'steel', which is no material; known: pla"),
        (lambda: character(part(base="foot")), "'rod' stands on 'foot', which is no body"),
        (lambda: character(part(children=({"body": "foot"},))), "'rod' carries 'foot', which is no body"),
        (lambda: character(tip="hinge"), "'rod' carries 'tip', which has a hinge joint; describe it with a fixed joint"),
        (lambda: character(part(children=({"body": "hand"},))), "'rod' carries 'hand', which has a hinge joint"),
        (
            lambda: character(flexibles=(part(), part(name="second"))),
            "'second' and 'rod' both carry 'tip'; close the loop with a fixed joint",
        ),
        (lambda: character(flexibles=(part(), part())), "two flexible parts share the name 'rod'"),
        (lambda: part(children=({"body": "tip"}, {"body": "hand"})), "are on the patch 'end'; each needs its own"),
        (lambda: part(children=({"body": "hub"},)), "fixed to the body 'hub' twice"),
        (lambda: part(children=()), "children"),
        (lambda: PartShape(kind="rod", length=0.3), "a rod lacks diameter; it takes diameter, length"),
        (lambda: PartShape(kind="rod", length=0.3, diameter=0.01, wall=0.001), "a rod has wall, which it does not take"),
        (lambda: PartShape(kind="tube", length=0.3, diameter=0.01, wall=0.006), "the wall of a tube is at least its radius"),
        (lambda: PartShape(kind="box", size=(0.1, 0.0, 0.2)), "the size of a box has 0 m; all three must be positive"),
        (lambda: PartShape(kind="plate", outline=((0, 0), (1, 0)), thickness=0.01), "needs three corners or more"),
        (lambda: PartShape(kind="rod", length=-0.3, diameter=0.01), "length"),
    ],
)
def test_what_does_not_fit_is_named(make, words) -> None:
    with pytest.raises(BadInput) as caught:
        make()
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("poisson: 0.35", "poisson: 0.5", r"materials\[0\].poisson: .*Input should be less than 0.5"),
        ("poisson: 0.35", "poisson: 0.7", r"materials\[0\].poisson: .*Input should be less than 0.5"),
        ("poisson: 0.35", "poisson: -1", r"materials\[0\].poisson: .*Input should be greater than -1"),
        ("density_kg_m3: 1240", "density_kg_m3: 0", r"materials\[0\].density"),
        ("diameter_m: 0.004", "diameter_m: -0.004", r"flexibles\[0\].shape.diameter"),
    ],
)
def test_figures_out_of_range_are_named_with_their_line(old, new, place) -> None:
    text = write_character_yaml(character())
    assert old in text
    line = text[: text.index(old)].count("\n") + 1
    with pytest.raises(BadInput, match=rf"c.yaml, line {line}, {place}"):
        read_character_yaml(text.replace(old, new).encode(), file="c.yaml")


def test_the_fixed_joint_of_a_part_is_kept_and_another_cut() -> None:
    """A strut from the world to the tip would hold the tip as well; it closes a loop, though it is nearer to the world."""
    strut = Joint(name="strut", kind="fixed", parent="world", child="tip", pose=Pose(position=(0.0, 0.0, 0.3)))
    joints = character().joints
    for order in ((strut, *joints), (*joints, strut)):
        found = character(joints=order)
        assert [loop.name for loop in found.loops] == ["strut"]
    with_child = character(flexibles=(), joints=(strut, *joints))
    assert [loop.name for loop in with_child.loops] == ["rod"]


def test_a_part_is_not_carried_by_a_motor_beside_it() -> None:
    motored = Joint(name="lift", kind="slide", parent="world", child="tip")
    with pytest.raises(BadInput, match="joint 'lift' closes a loop, so the coordinate 'lift', which something refers to, is lost"):
        character(joints=(*character().joints, motored), motors=(Motor(name="lift", coordinate="lift"),))


def test_interfaces_have_an_end_by_default() -> None:
    assert PartInterface(body="tip").patch == "end"
