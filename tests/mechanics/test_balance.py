"""Balance: closed forms of a block on a square, hulls against scipy, and feet that stay where they are."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from bunraku.character import Body, Character, Foot, Joint, Pose
from bunraku.errors import BadInput
from bunraku.mechanics.measures import balance_kernels as kernels
from bunraku.mechanics.measures.balance import STANDING_REACH, balance_margins, foot_points, planted
from bunraku.mechanics.tree import compile_tree

SQUARE = ((0.1, 0.1, 0.0), (-0.1, 0.1, 0.0), (-0.1, -0.1, 0.0), (0.1, -0.1, 0.0))


def block() -> Character:
    """A plate of 1 kg on a square of side 0.2 m, with a mass of 1 kg that slides along x."""
    return Character(
        name="block",
        bodies=(Body(name="plate", mass=1.0), Body(name="slider", mass=1.0, center_of_mass=(0.0, 0.0, 0.3))),
        joints=(
            Joint(name="base", kind="fixed", parent="world", child="plate", pose=Pose(position=(3.0, 2.0, 0.0))),
            Joint(name="slide", kind="slide", parent="plate", child="slider", axis=(1, 0, 0)),
        ),
        feet=(Foot(name="sole", body="plate", points=SQUARE),),
    )


def biped(sequence: str = "zyx") -> Character:
    """A floating body on two legs with three hinges each."""
    axes = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.3, 1.0, 0.2))
    bodies, joints = (
        [Body(name="hip", mass=3.0, center_of_mass=(0.01, 0.0, 0.1))],
        [
            Joint(
                name="base",
                kind="free",
                parent="world",
                child="hip",
                sequence=sequence,
                pose=Pose(position=(0.2, -0.1, 0.3), quaternion=(0.9, 0.1, -0.2, 0.3)),
            )
        ],
    )
    for side, y in (("left", 0.1), ("right", -0.1)):
        parent = "hip"
        for i, axis in enumerate(axes):
            child = f"{side} {i}"
            place = Pose(position=(0.0, y, 0.0) if i == 0 else (0.0, 0.0, -0.2))
            bodies.append(Body(name=child, mass=0.3, center_of_mass=(0.0, 0.0, -0.1)))
            joints.append(Joint(name=f"{side} hinge {i}", kind="hinge", parent=parent, child=child, axis=axis, pose=place))
            parent = child
    feet = tuple(Foot(name=side, body=f"{side} 2", points=SQUARE) for side in ("left", "right"))
    return Character(name="biped", bodies=tuple(bodies), joints=tuple(joints), feet=feet, home={"base.tz": 0.7, "base.rz": 0.4})


def test_margin_of_a_block_on_a_square() -> None:
    character = block()
    tree = compile_tree(character)
    shift = np.array([0.0, 0.1, 0.2, 0.3, -0.5])
    # the centre of mass moves by half the slider's shift; inside the nearest edge counts, outside the distance
    expected = 0.1 - np.abs(shift) / 2
    np.testing.assert_allclose(balance_margins(character, tree, shift[:, None]), expected, atol=1e-12)


def test_margin_beyond_a_corner_is_the_distance_to_the_corner() -> None:
    hull = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    assert kernels.polygon_margin(hull, 4, 1.3, 1.4) == pytest.approx(-0.5)
    assert kernels.polygon_margin(hull, 4, 0.5, 0.25) == pytest.approx(0.25)
    assert kernels.polygon_margin(hull, 2, 0.5, 0.0) == pytest.approx(0.0), "a line supports nothing"


def test_hull_equals_scipy() -> None:
    rng = np.random.default_rng(1)
    for n in (3, 4, 8, 40):
        points = rng.normal(size=(n, 2))
        hull = np.empty((2 * n + 2, 2))
        size = kernels.convex_hull(points.copy(), n, hull)
        reference = ConvexHull(points)
        assert size == len(reference.vertices)
        x, y = hull[:size].T
        area = 0.5 * np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))
        assert area == pytest.approx(reference.volume, rel=1e-12)
        for point in rng.normal(size=(20, 2)):
            # distance to a convex polygon from inside: the least slack of its half planes
            slack = -(reference.equations[:, :2] @ point + reference.equations[:, 2]).max()
            margin = kernels.polygon_margin(hull, size, point[0], point[1])
            assert margin == pytest.approx(slack, abs=1e-12) if slack > 0 else margin <= slack + 1e-12


def test_hull_of_equal_points_does_not_break() -> None:
    points = np.zeros((4, 2))
    hull = np.empty((10, 2))
    assert kernels.polygon_margin(hull, kernels.convex_hull(points, 4, hull), 3.0, 4.0) == pytest.approx(-5.0)


@pytest.mark.parametrize("sequence", ["xyz", "xzy", "yxz", "yzx", "zxy", "zyx"])
def test_planted_keeps_the_first_foot_at_its_home_pose(sequence: str) -> None:
    character = biped(sequence)
    tree = compile_tree(character)
    rng = np.random.default_rng(2)
    q = np.tile(tree.home, (20, 1))
    q[:, 6:] += rng.uniform(-0.4, 0.4, size=(20, 6))
    q[:, :6] += rng.uniform(-0.3, 0.3, size=(20, 6))
    stood = planted(character, tree, q)
    np.testing.assert_array_equal(stood[:, 6:], q[:, 6:])
    rotation, position = tree.poses(stood)
    home = tree.configuration(tree.home)
    foot = tree.nodes["left 2"]
    np.testing.assert_allclose(rotation[:, foot], np.tile(home.rotation[foot], (20, 1, 1)), atol=1e-12)
    np.testing.assert_allclose(position[:, foot], np.tile(home.position[foot], (20, 1)), atol=1e-12)


@pytest.mark.parametrize("sequence", ["xyz", "xzy", "yxz", "yzx", "zxy", "zyx"])
def test_a_base_that_turns_through_the_singularity_keeps_turning(sequence: str) -> None:
    """One leg, one hinge at the hip along the sequence's middle axis: the base turns by minus the hinge's angle, past pi / 2."""
    axis = np.eye(3)["xyz".index(sequence[1])]
    character = Character(
        name="hopper",
        bodies=(Body(name="hip", mass=1.0), Body(name="leg", mass=0.1)),
        joints=(
            Joint(name="base", kind="free", parent="world", child="hip", sequence=sequence),
            Joint(name="hinge", kind="hinge", parent="hip", child="leg", axis=tuple(axis), pose=Pose(position=(0.0, 0.1, -0.2))),
        ),
        feet=(Foot(name="sole", body="leg", points=SQUARE),),
        home={"base.tz": 0.5},
    )
    tree = compile_tree(character)
    angle = np.linspace(0.0, 3.0, 61)
    angle[30] = np.pi / 2
    q = np.tile(tree.home, (len(angle), 1))
    q[:, 6] = -angle
    stood = planted(character, tree, q)
    # the hip's origin circles about the hinge, which stays where it is at home
    hinge, arm = np.array([0.0, 0.1, 0.3]), np.array([0.0, -0.1, 0.2])
    turned = np.outer(np.cos(angle), arm - axis * (axis @ arm)) + np.outer(np.sin(angle), np.cross(axis, arm)) + axis * (axis @ arm)
    np.testing.assert_allclose(stood[:, :3], hinge + turned, atol=1e-12)
    expected = np.zeros((len(angle), 3))
    expected[:, 1] = angle
    np.testing.assert_allclose(stood[:, 3:6], expected, atol=1e-7)


def test_planted_leaves_home_and_fixed_characters_alone() -> None:
    character = biped()
    tree = compile_tree(character)
    np.testing.assert_allclose(planted(character, tree, tree.home[None, :])[0], tree.home, atol=1e-12)
    fixed = block()
    np.testing.assert_array_equal(planted(fixed, compile_tree(fixed), np.array([[0.4]])), [[0.4]])


def support_polygon(tree, character, q):
    """Corners (k, 2) of the hull of the foot points that stand at q."""
    nodes, points = foot_points(character, tree)
    at = tree.configuration(q)
    world, which = np.empty((len(nodes), 3)), np.empty(len(nodes), dtype=np.int64)
    count = kernels.standing_points(at.rotation, at.position, nodes, points, STANDING_REACH, world, which)
    hull = np.empty((2 * count + 2, 2))
    return hull[: kernels.convex_hull(world[:count, :2].copy(), count, hull)]


def test_a_lifted_foot_supports_nothing() -> None:
    character = biped().changed(
        joints=tuple(j if j.name != "base" else j.changed(pose=Pose()) for j in biped().joints), home={"base.tz": 0.7}
    )
    tree = compile_tree(character)
    both = support_polygon(tree, character, tree.home)
    assert np.ptp(both[:, 1]) == pytest.approx(0.4)
    q = tree.home.copy()
    q[tree.index("right hinge 1")], q[tree.index("right hinge 2")] = -0.8, 0.8
    one = support_polygon(tree, character, q)
    assert np.ptp(one[:, 1]) == pytest.approx(0.2)
    assert one[:, 1].min() == pytest.approx(0.0)


@pytest.mark.parametrize(("lift", "margin"), [(0.009, 0.0), (0.011, -0.1)])
def test_a_point_less_than_a_centimetre_above_the_lowest_stands(lift: float, margin: float) -> None:
    """Of the square's points the two behind are lifted; the centre of mass is above their edge."""
    points = tuple((x, y, lift if x < 0.0 else 0.0) for x, y, _ in SQUARE)
    character = block().changed(feet=(Foot(name="sole", body="plate", points=points),))
    tree = compile_tree(character)
    assert balance_margins(character, tree, np.array([[-0.2]]))[0] == pytest.approx(margin + (0.0 if lift < 0.01 else -0.1))


def test_margins_do_not_depend_on_where_the_world_is() -> None:
    character = biped()
    tree = compile_tree(character)
    moved = character.changed(
        joints=tuple(j if j.name != "base" else j.changed(pose=Pose(position=(5.0, 1.0, 0.0))) for j in character.joints)
    )
    turned = character.changed(
        joints=tuple(
            j if j.name != "base" else j.changed(pose=Pose(position=(1.0, 2.0, 0.0), quaternion=(0.6, 0.0, 0.0, 0.8)))
            for j in character.joints
        )
    )
    q = np.tile(tree.home, (5, 1))
    q[:, 6:] += np.random.default_rng(3).uniform(-0.01, 0.01, size=(5, 6))
    first = balance_margins(moved, compile_tree(moved), planted(moved, compile_tree(moved), q))
    second = balance_margins(turned, compile_tree(turned), planted(turned, compile_tree(turned), q))
    np.testing.assert_allclose(first, second, atol=1e-12)


def test_no_feet_and_no_mass_are_said() -> None:
    character = block()
    with pytest.raises(BadInput, match="no feet"):
        balance_margins(character.changed(feet=()), compile_tree(character), np.zeros((1, 1)))
    weightless = character.changed(bodies=tuple(body.changed(mass=0.0) for body in character.bodies))
    with pytest.raises(BadInput, match="no mass"):
        balance_margins(weightless, compile_tree(weightless), np.zeros((1, 1)))
