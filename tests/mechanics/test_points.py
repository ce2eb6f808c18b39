"""Points along a motion: against forward kinematics, and their derivatives by slope tests."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.character import Body, Character, Coupling, Joint, Pose
from bunraku.errors import BadInput
from bunraku.formats.registry import read_character
from bunraku.mechanics.dynamics.places import Place
from bunraku.mechanics.dynamics.points import Points
from bunraku.mechanics.dynamics.system import build_system
from bunraku.mechanics.systems.character_system import character_home
from bunraku.mechanics.systems.marionette import marionette_system
from bunraku.mechanics.tree import compile_tree

FRAMES = ("l_hand", "r_foot", "head", "l_hand_carriage")


@pytest.fixture(scope="module")
def puppet():
    character = read_character("marionette")
    system = marionette_system(character)
    rng = np.random.default_rng(5)
    q = character_home(character, system) + 0.3 * rng.standard_normal((3, system.nq))
    return system, Points(system, FRAMES), q


def test_positions_are_those_of_forward_kinematics(puppet):
    system, points, q = puppet
    for k, place in enumerate(points.positions(q)):
        configuration = system.tree.configuration(system.tree_configuration(q[k]))
        for name, position in zip(FRAMES, place, strict=True):
            assert position == pytest.approx(configuration.pose(name)[1], abs=1e-14)


def test_first_and_second_derivatives(puppet):
    """Central differences in a random direction; string lengths move nothing."""
    system, points, q = puppet
    rng = np.random.default_rng(6)
    d, f, h = rng.standard_normal(system.nq), rng.standard_normal((3, len(FRAMES), 3)), 1e-5
    ahead, behind = points.positions(q + h * d), points.positions(q - h * d)
    J = points.jacobians(q)
    assert J @ d == pytest.approx((ahead - behind) / (2 * h), abs=1e-8)
    assert np.abs(J[..., -6:]).max() == 0.0
    slope = (points.jacobians(q + h * d) - points.jacobians(q - h * d)) / (2 * h)
    wanted = np.einsum("kpa,kpai->ki", f, slope)
    H = points.curvature(q, f)
    assert np.abs(H - H.transpose(0, 2, 1)).max() < 1e-14
    assert H @ d == pytest.approx(wanted, abs=1e-8)


def test_a_wrong_shape_is_refused(puppet):
    with pytest.raises(BadInput, match=r"\(m, 40\)"):
        puppet[1].positions(np.zeros((2, 22)))


def test_a_place_on_a_frame_is_carried_along(puppet):
    system, _, q = puppet
    there = (0.1, -0.2, 0.3)
    placed = Points(system, (Place("l_hand", there), "l_hand"))
    assert placed.names == ("l_hand", "l_hand")
    for row, found in zip(q, placed.positions(q), strict=True):
        R, p = system.tree.configuration(system.tree_configuration(row)).pose("l_hand")
        assert found[0] == pytest.approx(p + R @ there, abs=1e-14)
        assert found[1] == pytest.approx(p, abs=1e-14)


def test_followers_of_couplings_move_with_their_drivers():
    """Two links of 1 m, the second turned twice as far as the first: its end is at (cos a + cos 3a, sin a + sin 3a)."""
    bar = {"mass": 1.0, "center_of_mass": (0.5, 0.0, 0.0), "inertia": (0.1, 0.1, 0.1, 0.0, 0.0, 0.0)}
    links = Character(
        name="links",
        bodies=(Body(name="one", **bar), Body(name="two", **bar)),
        joints=(
            Joint(name="first", kind="hinge", parent="world", child="one"),
            Joint(name="second", kind="hinge", parent="one", child="two", pose=Pose(position=(1.0, 0.0, 0.0))),
        ),
        couplings=(Coupling(driver="first", follower="second", ratio=2.0),),
    )
    points = Points(build_system(compile_tree(links)), [Place("two", (1.0, 0.0, 0.0))])
    a = np.array([[0.3], [-1.1]])
    wanted = np.hstack([np.cos(a) + np.cos(3 * a), np.sin(a) + np.sin(3 * a), 0 * a])
    slope = np.hstack([-np.sin(a) - 3 * np.sin(3 * a), np.cos(a) + 3 * np.cos(3 * a), 0 * a])
    np.testing.assert_allclose(points.positions(a)[:, 0], wanted, atol=1e-14)
    np.testing.assert_allclose(points.jacobians(a)[:, 0, :, 0], slope, atol=1e-14)
