"""From a surface to a creature: one made whole, and surfaces that are refused by name."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("igl")

from _surfaces import RoundLimb, limb_surface, sphere
from bunraku.building.creatures.pipeline import design_creature
from bunraku.building.creatures.recipe import SkinRecipe
from bunraku.building.creatures.skins import MATERIALS, skin_mass
from bunraku.building.creatures.stance import find_legs
from bunraku.errors import BadInput
from bunraku.geometry.shells.quality import dihedral_angles
from bunraku.geometry.surfaces.checks import check_surface
from bunraku.geometry.surfaces.distance import closest_points
from bunraku.geometry.surfaces.repair import repaired
from bunraku.geometry.surfaces.surface import Surface
from bunraku.mechanics.tree import compile_tree

FEET = {"LF": (0.26, 0.13), "RF": (0.26, -0.13), "LH": (-0.26, 0.13), "RH": (-0.26, -0.13)}
THICKNESS, TOTAL = 0.009, 18.0


def _limbs(feet):
    trunk = RoundLimb(np.array([[-0.26, 0.0, 0.5], [0.26, 0.0, 0.5], [0.5, 0.0, 0.55]]), np.array([0.11, 0.11, 0.06]))
    tail = RoundLimb(np.array([[-0.26, 0.0, 0.5], [-0.62, 0.05, 0.42]]), np.array([0.06, 0.045]))
    legs = [RoundLimb(np.array([[x, 0.7 * y, 0.46], [x, y, 0.02]]), np.array([0.055, 0.05])) for x, y in feet]
    return [trunk, tail, *legs]


def _surface(feet, spacing=0.018):
    return limb_surface(_limbs(feet), spacing=spacing, blend=0.05, ground=True)


@pytest.fixture(scope="module")
def made():
    return design_creature(_surface(FEET.values()), SkinRecipe("monster", "stool", THICKNESS, 150, TOTAL))


def test_the_skin_is_two_nested_closed_surfaces_of_genus_zero(made):
    sides = [Surface(points, made.shell.faces) for points in (made.shell.outer, made.shell.inner)]
    for side in sides:
        report = check_surface(side)
        assert report.sound
        assert report.genus == (0,)
    gap = closest_points(sides[0], made.shell.inner)[0]
    assert gap.min() >= 0.85 * THICKNESS
    cells = made.mesh.nodes[made.mesh.cells[:, :4]]
    assert dihedral_angles(cells).min() >= np.radians(8.0)
    volume = np.abs(np.linalg.det(cells[:, 1:] - cells[:, :1])).sum() / 6.0
    assert volume == pytest.approx(sides[0].volume() - sides[1].volume(), rel=1e-9)


def test_it_weighs_what_was_asked_and_stands_on_the_feet_of_the_surface(made):
    bodies = sum(body.mass for body in made.character.bodies)
    assert bodies + skin_mass(made.mesh, dict(enumerate(MATERIALS))) == pytest.approx(TOTAL, rel=1e-9)
    assert len(made.mesh.glue_node) == 150
    assert made.mesh.nodes[:, 2].min() == pytest.approx(0.0, abs=1e-9)
    tree = compile_tree(made.character)
    at = tree.configuration(tree.home)
    for tip, (x, y) in zip(made.character.end_effectors, FEET.values(), strict=True):
        center = at.position[tree.nodes[tip.body]] + np.array(tip.center)
        assert center == pytest.approx((x, y, 0.0), abs=0.01)


def test_every_joint_of_a_leg_is_inside_it_and_they_follow_each_other_down(made):
    for name, (x, y) in FEET.items():
        hinges = [hinge for hinge in made.mechanism.hinges if hinge.name.startswith(f"{name}.")]
        places = np.array([hinge.place for hinge in hinges])
        assert len(places) == 4
        assert (np.diff(places[:, 2]) < 0.0).all()
        # The axis of the leg, from (x, 0.7 y) at 0.46 m to (x, y) at 0.02 m before it was cut at its soles.
        axis = np.column_stack([np.full(3, x), y * (1.0 - 0.3 * (places[1:, 2] - 0.02) / 0.44)])
        assert np.linalg.norm(places[1:, :2] - axis, axis=1).max() < 0.02


def test_a_surface_with_three_legs_is_refused_by_name():
    with pytest.raises(BadInput, match=r"3 legs that reach the ground, the next limb ends 0\.\d+ m above"):
        design_creature(_surface(list(FEET.values())[1:], 0.025), SkinRecipe("monster"))


def test_a_ball_has_no_legs():
    with pytest.raises(BadInput, match="ends; a creature with four legs"):
        design_creature(sphere(0.3, 10), SkinRecipe("monster"))


def test_a_tail_in_the_air_is_no_leg():
    nodes = np.array([(0.2, 0, 0.3), (-0.2, 0, 0.3), (0.2, 0.1, 0.02), (0.2, -0.1, 0.02), (-0.2, 0.1, 0.02), (-0.4, -0.1, 0.2)])
    edges = np.array([(0, 1), (0, 2), (0, 3), (1, 4), (1, 5)])
    with pytest.raises(BadInput, match=r"3 legs .* ends 0\.200 m above it at \(-0\.40, -0\.10\)"):
        find_legs(nodes, edges, ground=0.0)
    nodes[5] = (-0.2, -0.1, 0.02)
    assert len(find_legs(nodes, edges, ground=0.0)) == 4


def test_a_hole_is_refused_when_it_is_large_and_closed_when_it_is_small():
    whole = _surface(FEET.values(), 0.025)
    away = np.linalg.norm(whole.corners.mean(axis=1) - np.array([0.0, 0.0, 0.61]), axis=1)
    small = whole.part(np.arange(len(away)) != np.argmin(away))
    with pytest.raises(BadInput, match=r"not closed: 3 edges"):
        design_creature(small, SkinRecipe("monster"))
    with pytest.raises(BadInput, match=r"1 hole, the largest .* close larger ones by hand"):
        repaired(whole.part(away > 0.15))
    mended = repaired(small)
    assert any("filled 1 hole" in note for note in mended.notes)
    assert mended.surface.volume() == pytest.approx(whole.volume(), rel=2e-3)
