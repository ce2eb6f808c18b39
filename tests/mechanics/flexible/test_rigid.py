"""Flexible parts taken as rigid: same mass, same motion as the flexible system that is not allowed to bend; and its exports."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.formats.mjcf_write import export_mjcf
from bunraku.formats.registry import write_character
from bunraku.formats.urdf_write import write_urdf
from bunraku.mechanics.flexible.rigid import rigid_note, with_rigid_parts
from bunraku.mechanics.flexible.system import flexible_system
from bunraku.mechanics.systems.character_system import character_system


def test_an_unbent_part_has_the_mass_of_the_part(one_rod) -> None:
    """Kinetic and potential energy of the motor's motion are those of the flexible system with its modes held."""
    character = one_rod(cell=0.01)
    model, rigid = flexible_system(character), character_system(with_rigid_parts(character))
    for angle, speed in ((0.0, 1.0), (0.7, -2.0)):
        q, v = model.home.copy(), np.zeros(model.system.nq)
        q[model.motors], v[model.motors] = angle, speed
        np.testing.assert_allclose(rigid.energies([angle], [speed]), model.system.energies(q, v), rtol=1e-12)


def test_a_loop_of_rigid_parts_is_left_out(legs) -> None:
    whole = with_rigid_parts(legs())
    assert whole.flexibles == ()
    assert whole.loops == ()
    assert whole.coordinates == ("waist",)


def test_exports_are_unbent_and_say_so(legs, tmp_path) -> None:
    mujoco = pytest.importorskip("mujoco")
    character = legs()
    text, notes = export_mjcf(character, floor=False)
    assert rigid_note(character) in notes
    assert "left-leg, right-leg" in rigid_note(character)
    model = mujoco.MjModel.from_xml_string(text)
    assert (model.nq, model.neq) == (1, 0)
    steel = 2 * 7850 * np.pi * 0.003**2 * 0.25
    assert model.body_mass.sum() == pytest.approx(2.3 + steel, rel=3e-3)
    assert rigid_note(character) in write_urdf(character)[1]
    assert rigid_note(character) in write_character(tmp_path / "legs.xml", character)
    assert write_character(tmp_path / "legs.character.yaml", character) == ()


def test_a_four_bar_keeps_its_loop_when_rigid(four_bar) -> None:
    rigid = with_rigid_parts(four_bar())
    assert [loop.name for loop in rigid.loops] == ["elbow"]
    assert {body.name for body in rigid.bodies} > {"coupler_part", "rocker_part"}
    assert character_system(rigid, kinematic=["crank"]).nc == 3
