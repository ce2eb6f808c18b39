"""Dimensions: of a built-in robot those of its components, else of joints, tips and rods; both sides together."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.building.components.attach import attached
from bunraku.building.components.dimensions import dimensions
from bunraku.building.components.piece import blank_character
from bunraku.building.mirror import mirror_map
from bunraku.building.robot_design import built_in_design
from bunraku.formats.registry import read_character
from bunraku.mechanics.tree import compile_tree


def test_a_built_in_robot_has_the_design_of_its_components_until_it_is_changed() -> None:
    car = read_character("car")
    assert dimensions(car).names == built_in_design("car").names
    other = attached(car, "body top", "controller")
    assert dimensions(other).names != built_in_design("car").names
    assert dimensions(other).character(dimensions(other).initial) == other


@pytest.mark.parametrize("name", ["walker", "one-rod", "dancer", "humanoid", "marionette"])
def test_the_initial_numbers_make_the_character_itself(name: str) -> None:
    character = read_character(name)
    design = dimensions(character)
    assert design.character(design.initial) == character


def test_a_longer_rod_carries_its_end_farther_and_both_arms_grow_together() -> None:
    rod = read_character("one-rod")
    longer = dimensions(rod).character(dimensions(rod).edited(**{"rod rod length": 0.9, "rod rod diameter": 0.005}))
    assert longer.flexibles[0].shape.length == 0.9
    assert longer.flexibles[0].shape.diameter == 0.005
    tree = compile_tree(longer)
    tip, hub = (tree.configuration(tree.home).pose(body)[1] for body in ("tip", "hub"))
    np.testing.assert_allclose(tip - hub, (0.0, 0.0, 0.9), atol=1e-12)
    dancer = read_character("dancer")
    design = dimensions(dancer)
    assert "rod right_arm length" not in design.names
    grown = design.character(design.edited(**{"rod left_arm length": 0.33}))
    assert [part.shape.length for part in grown.flexibles] == [0.25, 0.33, 0.33]
    mirror_map(grown)


def test_parts_attached_on_both_sides_move_together() -> None:
    made = attached(blank_character(), "body left front", "MG995R", mirror=True, name="left arm")
    design = dimensions(made)
    assert not any("right" in name for name in design.names)
    moved = design.character(design.edited(**{"joint left arm case x": 0.05}))
    mirror_map(moved)
    place = {joint.name: joint.pose.position for joint in moved.joints}
    assert place["left arm case"][0] == place["right arm case"][0] == 0.05
