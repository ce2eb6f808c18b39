"""Robots through files: end effectors in YAML and in overlays."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.building.assemble import assemble
from bunraku.building.robots.builtin import ROBOTS, built_in_robot
from bunraku.formats.character_yaml import read_character_yaml, write_character_yaml
from bunraku.formats.overlay import apply_overlay


@pytest.mark.parametrize("name", ROBOTS)
def test_a_robot_survives_its_file(name: str) -> None:
    character = assemble(built_in_robot(name))
    assert read_character_yaml(write_character_yaml(character).encode(), file="f") == character


def test_an_overlay_adds_and_replaces_end_effectors() -> None:
    overlay = b"""bunraku: overlay/1
end_effectors:
- {name: LF, kind: ball, body: LF.knee_link, center_mm: [0, 0, -95], radius_mm: 10}
- {name: chin, kind: ball, body: body, center_mm: [120, 0, 0], radius_mm: 20, friction: 0.3}
"""
    character = apply_overlay(assemble(built_in_robot("walker")), overlay, file="o")
    tips = {tip.name: tip for tip in character.end_effectors}
    assert list(tips) == ["LF", "RF", "LH", "RH", "chin"]
    np.testing.assert_allclose(tips["LF"].center, [0.0, 0.0, -0.095])
    assert (tips["LF"].radius, tips["chin"].friction) == (0.010, 0.3)
