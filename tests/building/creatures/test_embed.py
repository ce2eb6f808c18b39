"""Embedding a template: joints on the curve, soles that stay flat, legs found on a skeleton line."""

from __future__ import annotations

import numpy as np
import pytest
from creature_forms import beetle_form

from bunraku.building.creatures.embed import CreatureSizes, LegCurve, embed
from bunraku.building.creatures.mechanism import LEGS, TEMPLATES, servo_case, template
from bunraku.building.creatures.skeleton import skeleton_character, tube
from bunraku.building.creatures.stance import find_legs
from bunraku.errors import BadInput
from bunraku.mechanics.tree import compile_tree

MEASURES = CreatureSizes(
    0.033, 0.033, (np.array([0.0, 0.0, 0.24]), np.array([0.25, 0.12, 0.09])), ((np.array([0.0, 0.0, 0.24]), np.full(3, 0.05)),)
)


def _bare(points):
    mirror = np.array([1.0, -1.0, 1.0])
    back = np.array([-1.0, 1.0, 1.0])
    curves = (points, points * mirror, points * back, points * mirror * back)
    return [LegCurve(name, curve) for name, curve in zip(LEGS, curves, strict=True)]


@pytest.mark.parametrize(("name", "count"), [("beetle", 12), ("lizard", 17), ("monster", 16)])
def test_templates_put_their_joints_on_the_curve(name, count):
    points = np.array([[0.1, 0.05, 0.25], [0.14, 0.11, 0.2], [0.19, 0.17, 0.15], [0.192, 0.17, 0.0]])
    chosen = TEMPLATES[name]
    mechanism = embed(name, chosen, _bare(points), MEASURES)
    assert len(mechanism.hinges) == count == chosen.hinges
    curve = _bare(points)[0]
    assert mechanism.scale == pytest.approx(curve.length() / chosen.leg_length)
    for plan, hinge in zip(chosen.joints, [h for h in mechanism.hinges if h.name.startswith("LF.")], strict=True):
        assert hinge.place == pytest.approx(curve.at(plan.at))
        assert np.linalg.norm(hinge.axis) == pytest.approx(1.0)
        assert abs(hinge.axis @ hinge.lean) < 1e-12
        axes = servo_case(hinge).axes
        assert axes.T @ axes == pytest.approx(np.eye(3), abs=1e-12)
        assert np.linalg.det(axes) == pytest.approx(1.0)


def test_the_beetles_sole_stays_flat_when_the_ankle_undoes_hip_and_knee():
    """All three turn about y: the foot keeps its height in y, and turns in all by their sum."""
    form = beetle_form()
    character = skeleton_character(embed("beetle", template("beetle"), form.legs, form.measures), total=3.9, skin_mass=2.0)
    tree = compile_tree(character)
    q = tree.home.copy()
    names = list(tree.names)
    for leg in LEGS:
        q[names.index(f"{leg}.hip")], q[names.index(f"{leg}.knee")], q[names.index(f"{leg}.ankle")] = 0.2, 0.3, -0.5
    at, home = tree.configuration(q), tree.configuration(tree.home)
    for leg in LEGS:
        node = tree.nodes[f"{leg}.ankle_link"]
        assert at.rotation[node] == pytest.approx(np.eye(3), abs=1e-12)
        assert at.position[node][1] == pytest.approx(home.position[node][1], abs=1e-12)
        assert np.linalg.norm(at.position[node] - home.position[node]) > 0.01


def test_the_payload_fills_up_to_the_total_and_too_small_a_total_is_refused():
    form = beetle_form()
    mechanism = embed("beetle", template("beetle"), form.legs, form.measures)
    character = skeleton_character(mechanism, total=3.9, skin_mass=2.0)
    assert sum(body.mass for body in character.bodies) == pytest.approx(1.9)
    with pytest.raises(BadInput, match="battery"):
        skeleton_character(mechanism, total=2.5, skin_mass=2.0)


def test_a_tube_has_the_inertia_of_a_thin_ring_about_its_axis():
    solid = tube(1000.0, 1e-5, (0, 0, 0), (0, 0, 0.1), 0.05)
    assert solid.inertia[2, 2] == pytest.approx(solid.mass * 0.05**2, rel=1e-3)
    assert solid.mass == pytest.approx(1000.0 * 2 * np.pi * 0.05 * 1e-5 * 0.1, rel=1e-3)


def test_legs_are_found_on_a_line_as_its_four_lowest_ends():
    trunk = [(0.2, 0, 0.3), (0.0, 0, 0.3), (-0.2, 0, 0.3)]
    feet = [(0.2, 0.1, 0.02), (0.2, -0.1, 0.02), (-0.2, 0.1, 0.02), (-0.2, -0.1, 0.02)]
    nodes = np.array([*trunk, *feet, (0.35, 0, 0.4), (-0.4, 0, 0.25)])
    edges = np.array([(0, 1), (1, 2), (0, 3), (0, 4), (2, 5), (2, 6), (0, 7), (2, 8)])
    legs = find_legs(nodes, edges, ground=0.0)
    assert [leg.name for leg in legs] == list(LEGS)
    assert legs[0].points[0] == pytest.approx(trunk[0])
    assert legs[3].points[-1] == pytest.approx((-0.2, -0.1, 0.0))
    with pytest.raises(BadInput, match="quarter"):
        find_legs(nodes * np.array([0.0, 1.0, 1.0]), edges, ground=0.0)
    with pytest.raises(BadInput, match="ends"):
        find_legs(nodes[:3], edges[:2], ground=0.0)


def test_wrong_legs_are_refused():
    points = np.array([[0.1, 0.05, 0.25], [0.19, 0.17, 0.0]])
    with pytest.raises(BadInput, match="LF, RF, LH, RH"):
        embed("x", template("beetle"), _bare(points)[::-1], MEASURES)
    with pytest.raises(BadInput, match="template"):
        template("spider")
