"""Verbs that take longer: the timing of a show, parts for the printer, a creature from a surface."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.building.creatures.skin_views import worn_skin
from bunraku.formats.registry import read_character, read_clip, read_performance
from bunraku.mechanics.coupled.known_skins import skin_of
from bunraku.studio.jobs.exchange import read_arrays, read_curves

pytestmark = pytest.mark.exhaustive


def run(jobs, verb, **arguments):
    """The result of a job that is done."""
    jobs.start(verb, arguments)
    state = jobs.wait(600.0)
    assert state.status == "done", state.error
    return state.result


def test_the_timing_of_a_show_is_cheaper_than_equal_spacing(solver):
    facts = run(solver, "timing", character=read_character("marionette"), clip=read_clip("marionette-show"), iterations=2)
    assert facts["after"]["cost"] < facts["before"]["cost"]
    assert facts["saving"] == pytest.approx(1.0 - facts["after"]["cost"] / facts["before"]["cost"])
    clip = read_clip(facts["path"])
    assert [mode.start for mode in clip.modes.modes][1:] == pytest.approx(facts["after"]["times"])
    assert clip.joints is not None


def test_parts_for_the_printer(solver, tmp_path):
    facts = run(solver, "fabricate", character="tilted-car", folder=str(tmp_path / "parts"))
    assert facts["holds"]
    assert facts["faults"] == []
    for part in facts["facts"]["parts"]:
        assert (tmp_path / "parts" / part["file"]).is_file()


def test_a_creature_from_a_surface(solver, tmp_path):
    pytest.importorskip("igl")
    from _surfaces import RoundLimb, limb_surface
    from bunraku.formats.surface_file import write_surface

    trunk = RoundLimb(np.array([[-0.26, 0.0, 0.5], [0.26, 0.0, 0.5], [0.5, 0.0, 0.55]]), np.array([0.11, 0.11, 0.06]))
    legs = [
        RoundLimb(np.array([[x, 0.7 * y, 0.46], [x, y, 0.02]]), np.array([0.055, 0.05]))
        for x in (0.26, -0.26)
        for y in (0.13, -0.13)
    ]
    write_surface(tmp_path / "stool.obj", limb_surface([trunk, *legs], spacing=0.018, blend=0.05, ground=True))
    recipe = {"template": "monster", "thickness": 0.009, "mass": 18.0, "name": "../stool"}
    facts = run(solver, "surface", file=str(tmp_path / "stool.obj"), recipe=recipe, folder=str(tmp_path))
    made = read_character(facts["path"])
    assert made.name == "stool"
    assert len(skin_of(made).nodes) == facts["figures"]["nodes"]
    assert facts["figures"]["least_thickness"] > 0.0
    shell = read_arrays(facts["arrays"])
    apart = np.linalg.norm(shell["outer"] - shell["inner"], axis=1)
    assert apart.min() == pytest.approx(facts["figures"]["least_thickness"] * 0.009, rel=0.5)
    assert shell["line"].shape[1] == 3
    np.testing.assert_allclose(shell["thickness"], apart)
    assert shell["colors"].shape == shell["outer"].shape
    assert len(shell["glue"]) == facts["figures"]["glue"]
    worn = worn_skin(skin_of(made))
    np.testing.assert_array_equal(worn.outer, shell["outer"])
    assert {frozenset(face) for face in worn.faces.tolist()} == {frozenset(face) for face in shell["faces"].tolist()}


def test_a_puppet_is_replayed_beside_its_plan(solver):
    made = run(solver, "perform", character="marionette", clip="puppet-wave")
    facts = run(solver, "verify", performance=made["path"])
    plan, replay = read_performance(made["path"]).motion, read_curves(facts["replay"])
    assert facts["holds"]
    assert set(replay.names) == set(plan.names)
    assert len(replay.values) == len(plan.values)
    for name in plan.names:
        assert np.abs(replay.column(name) - plan.column(name)).max() < 0.05
