"""Drawn motion: which frames, whose curves, bent rods, closed loops, feet that stay, the centre of mass."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.character import Body, Character, Joint, Motor, Pose, Shape
from bunraku.errors import BadInput
from bunraku.formats.registry import read_character
from bunraku.mechanics.dynamics.poses import find_pose
from bunraku.mechanics.systems.loops import loop_gaps
from bunraku.mechanics.tree import compile_tree
from bunraku.motion import Certificate, Channel, JointCurves, Performance, Provenance
from bunraku.optimization.solution import Status
from bunraku.stage.figure.figure import Figure
from bunraku.stage.figure.motion import closed, drawn, drawn_curves, drawn_pose
from bunraku.stage.figure.parts import ALONG, AROUND, standing, unbent


def served(character: Character, rate: float, motion: np.ndarray, wish: np.ndarray, sent: np.ndarray) -> Performance:
    """A performance of servos whose wish, commands and motion differ."""
    names = character.driven
    return Performance(
        character,
        "clip",
        tuple(Channel(name, "position", "rad", rate, sent[:, j]) for j, name in enumerate(names)),
        JointCurves(names, rate, wish),
        JointCurves(character.coordinates, rate, motion),
        Certificate(Status.CONVERGED, (), ()),
        Provenance("speech", {}, {}, {}),
    )


def arm() -> Character:
    """One link of 1 m that turns about z, its ball at the end; and a passive second hinge there."""
    ball = Shape(kind="sphere", size=(0.1,), pose=Pose(position=(1.0, 0.0, 0.0)))
    return Character(
        name="arm",
        bodies=(Body(name="link", mass=2.0, center_of_mass=(0.5, 0.0, 0.0), shapes=(ball,)), Body(name="hand", mass=1.0)),
        joints=(
            Joint(name="a", kind="hinge", parent="world", child="link"),
            Joint(name="b", kind="hinge", parent="link", child="hand", pose=Pose(position=(1.0, 0.0, 0.0))),
        ),
        motors=(Motor(name="m", coordinate="a"),),
    )


def test_at_most_sixty_frames_a_second_and_always_the_last() -> None:
    character = arm()
    angles = np.linspace(0.0, 1.0, 103)
    motion = np.column_stack([angles, np.zeros(103)])
    shown = drawn(served(character, 200.0, motion, angles[:, None], angles[:, None]))
    np.testing.assert_allclose(shown.times, [*np.arange(0, 102, 4) / 200.0, 102 / 200.0])
    np.testing.assert_allclose(shown.placed["ball"].positions[-1, 0], [np.cos(1.0), np.sin(1.0), 0.0], atol=1e-6)
    assert shown.at(-1.0) == 0
    assert shown.at(0.0205) == 1
    assert shown.at(99.0) == len(shown.times) - 1
    assert len(drawn(served(character, 60.0, motion, angles[:, None], angles[:, None])).times) == 103


def test_motion_wish_and_commands_are_three_things() -> None:
    character = arm()
    t = np.arange(10)[:, None] / 50.0
    motion = np.hstack([0.1 + t, np.full((10, 1), 0.7)])
    performance = served(character, 50.0, motion, 0.5 + t, 0.9 + t)
    for which, start in (("motion", 0.1), ("wish", 0.5), ("before", 0.5), ("commanded", 0.9)):
        shown = drawn(performance, which=which)  # type: ignore[arg-type]
        angle = start + t[:, 0]
        wanted = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
        np.testing.assert_allclose(shown.placed["ball"].positions[:, 0], wanted, atol=1e-6)
        np.testing.assert_allclose(shown.com, (2.0 * 0.5 + 1.0) / 3.0 * wanted, atol=1e-6)  # half-way out, and at the end


def test_a_pose_is_one_frame() -> None:
    character = arm()
    shown = drawn_pose(character, [0.5 * np.pi, 0.0])
    np.testing.assert_allclose(shown.placed["ball"].positions[0, 0], [0.0, 1.0, 0.0], atol=1e-6)
    assert shown.times.tolist() == [0.0]
    np.testing.assert_allclose(drawn_pose(character).placed["ball"].positions[0, 0], [1.0, 0.0, 0.0])
    with pytest.raises(BadInput, match=r"\(2,\) numbers are needed"):
        drawn_pose(character, [0.0])


def test_a_puppet_posed_by_its_joints_alone_keeps_its_carriages_at_home() -> None:
    character = read_character("marionette")
    shown = drawn_pose(character, np.zeros(len(character.coordinates)))
    held = {carriage.name: carriage.home for carriage in character.carriages}
    np.testing.assert_allclose(shown.strings[0, :, 0], [held[string.carriage] for string in character.strings], atol=1e-6)


def test_curves_leave_the_rest_at_home_and_the_first_foot_where_it_stands() -> None:
    character = read_character("nao")
    curves = JointCurves(("LKneePitch", "nothing it has"), 25.0, np.linspace([0.1, 0.0], [0.9, 1.0], 8))
    shown = drawn_curves(character, curves)
    at, sole = shown.figure.bodies.index(character.feet[0].body), character.feet[0]
    q = shown.figure.configurations(("LKneePitch",), curves.values[:, :1])
    still = drawn_pose(character)
    home = shown.figure.poses(shown.figure.home[None])[1][0, at]
    moved = shown.figure.poses(q)[1][:, at]
    assert np.abs(moved - home).max() > 0.01  # the base held, the foot would swing
    near = [
        j for j, name in enumerate(shown.names) if name in {frame.name for frame in character.frames if frame.body == sole.body}
    ]
    np.testing.assert_allclose(shown.frames[:, near], np.broadcast_to(still.frames[:, near], (8, len(near), 3)), atol=1e-6)


def test_loops_stay_closed_where_curves_leave_joints_open() -> None:
    bar = Shape(kind="capsule", size=(0.01, 0.1))
    names = ("crank", "coupler", "rocker")
    links = Character(
        name="four-bar",
        bodies=tuple(Body(name=name, mass=0.1, inertia=(1e-4, 1e-4, 1e-4, 0, 0, 0), shapes=(bar,)) for name in names),
        joints=(
            Joint(name="a", kind="hinge", parent="world", child="crank"),
            Joint(name="b", kind="hinge", parent="crank", child="coupler", pose=Pose(position=(0.0, 0.2, 0.0))),
            Joint(name="d", kind="hinge", parent="world", child="rocker", pose=Pose(position=(0.5, 0.0, 0.0))),
        ),
        loops=(
            Joint(
                name="c",
                kind="hinge",
                parent="coupler",
                child="rocker",
                pose=Pose(position=(0.5, 0.0, 0.0)),
                child_pose=Pose(position=(0.0, 0.2, 0.0)),
            ),
        ),
    )
    turn = np.linspace(0.0, 0.6, 5)
    shown = drawn_curves(links, JointCurves(("a",), 10.0, turn[:, None]))
    assert not shown.notes
    for k, angle in enumerate(turn):  # a parallelogram: the rocker turns as the crank does, the coupler only shifts
        wanted = [0.0, 0.0, np.sin(0.5 * angle)]
        np.testing.assert_allclose(shown.placed["tube"].wxyz[k, 2, 1:], wanted, atol=1e-6)
        np.testing.assert_allclose(shown.placed["tube"].wxyz[k, 1, 1:], np.zeros(3), atol=1e-6)


@pytest.fixture(scope="module")
def rod() -> Figure:
    """One rod on a motor with a ball on it, of few cells and modes."""
    character = read_character("one-rod")
    part = character.flexibles[0]
    coarse = part.changed(modes=1, shape=part.shape.changed(cell=0.02))
    return Figure(character.changed(flexibles=(coarse,)))


def test_a_bent_rod_ends_where_the_tree_has_its_child(rod: Figure) -> None:
    model = rod.model
    rng = np.random.default_rng(2)
    q = np.tile(model.home, (3, 1))
    modes = model.coordinates(rod.parts[0].name)
    q[:, model.motors] = rng.uniform(-1.0, 1.0, (3, len(model.motors)))
    first = modes[: model.parts[rod.parts[0].name].reduction.primary]
    q[:, first[:2]] = rng.uniform(-1.0, 1.0, (3, 2))
    C = model.parts[rod.parts[0].name].reduction.segment.interfaces[0].C
    reach = np.linalg.norm(q[:, modes] @ C.T, axis=1)
    q[:, modes] *= (0.1 * model.parts[rod.parts[0].name].length / reach)[:, None]  # bent by a tenth of its length
    bent = standing(model, rod.bodies, rod.parts, q)
    part, points = rod.parts[0], bent.surfaces[0].astype(np.float64)
    child = model.character.flexibles[0].children[0].body
    local = find_pose(model.system, model.home, child)[1] - find_pose(model.system, model.home, part.base)[1]
    assert np.linalg.norm(local) > 0.1
    unbent_tip = part.vertices[AROUND * (ALONG - 1) : AROUND * ALONG].mean(axis=0)
    for k in range(3):
        R, p = find_pose(model.system, q[k], child)
        R0, p0 = find_pose(model.system, model.home, child)
        Rb, pb = find_pose(model.system, model.home, part.base)
        tip = Rb @ (part.rotation @ unbent_tip + part.position) + pb
        wanted = p + R @ (R0.T @ (tip - p0))
        ring = points[k, AROUND * (ALONG - 1) : AROUND * ALONG]
        assert np.linalg.norm(ring.mean(axis=0) - wanted) < 2e-5
        across = R @ R0.T @ Rb @ part.rotation[:, 2]
        assert np.abs((ring - ring.mean(axis=0)) @ across).max() < 2e-4 * np.linalg.norm(local)  # square to the child's axis
        start = points[k, :AROUND].mean(axis=0)
        Rb, pb = find_pose(model.system, q[k], part.base)
        np.testing.assert_allclose(start, Rb @ part.position + pb, atol=1e-6)


def test_an_unbent_rod_is_the_same_with_and_without_its_model(rod: Figure) -> None:
    model = rod.model
    bent = standing(model, rod.bodies, rod.parts, model.home[None])
    plain = unbent(rod.bodies, rod.parts, *rod.poses(rod.home[None]))
    np.testing.assert_allclose(bent.surfaces[0], plain.surfaces[0], atol=1e-6)
    np.testing.assert_allclose(bent.moment, plain.moment, rtol=1e-3, atol=1e-9)


def test_a_flexible_character_swings_in_its_motion_and_rests_in_its_wish(rod: Figure) -> None:
    character = rod.character
    t = np.arange(60) / 100.0
    turn = 0.4 * np.where(t < 0.2, 0.5 - 0.5 * np.cos(np.pi * t / 0.2), 1.0)  # a quick turn, then still
    sent = np.tile(turn[:, None], (1, len(character.driven)))
    motion = compile_tree(character).expand(character.driven, sent)
    performance = served(character, 100.0, motion, sent, sent)
    shown = {which: drawn(performance, which=which, figure=rod) for which in ("motion", "wish", "commanded")}  # type: ignore[arg-type]
    tips = {which: one.rods[0].points[:, -1].astype(np.float64) for which, one in shown.items()}
    late = shown["motion"].times > 0.3
    assert np.ptp(tips["motion"][late], axis=0).max() > 20.0 * np.ptp(tips["wish"][late], axis=0).max()
    sag = np.linalg.norm(tips["wish"] - tips["commanded"], axis=1)
    assert sag.max() < 0.05  # it rests near where it is sent
    np.testing.assert_allclose(shown["motion"].rods[0].points[0], shown["wish"].rods[0].points[0], atol=1e-5)  # starts at rest
    few = drawn(performance, which="wish", figure=rod, times=[0.0, 0.06, 0.12, 0.2, 0.32, 0.58])  # the same, if few are asked for
    same = [shown["wish"].at(time) for time in few.times]
    np.testing.assert_allclose(shown["wish"].times[same], few.times, atol=1e-9)
    np.testing.assert_allclose(few.rods[0].points, shown["wish"].rods[0].points[same], atol=1e-6)
    assert (shown["motion"].upper[:, None] >= shown["motion"].rods[0].points).all()


def test_loops_of_a_built_in_close_and_those_that_cannot_are_told() -> None:
    character = read_character("rapper")
    tree = compile_tree(character)
    open_ = tree.expand(("crank",), tree.home[tree.names.index("crank")] + np.linspace(0.0, 0.5, 4)[:, None])
    assert max(gap for gap, _ in loop_gaps(character, tree, open_[-1]).values()) > 1e-3
    q, note = closed(character, tree.names, open_, ("crank",))
    assert not note
    assert max(gap for pose in q for gap, _ in loop_gaps(character, tree, pose).values()) < 1e-8
    np.testing.assert_array_equal(q[:, tree.names.index("crank")], open_[:, tree.names.index("crank")])
    held = [name for name in tree.names if name not in ("coupler.1", "coupler.2")]  # an elbow held leaves no way to close
    _, note = closed(character, tree.names, open_, held)
    assert "stay open in 3 of 4 frames" in note
