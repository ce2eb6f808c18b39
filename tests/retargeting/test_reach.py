"""Reaching: places come true, ranges hold, nothing else changes, and what cannot be reached is approached and told."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from bunraku.character import Body, Character, Coupling, DependentRange, Frame, Joint, Motor, Pose
from bunraku.errors import BadInput
from bunraku.formats.registry import read_character, read_clip
from bunraku.motion import JointCurves, MotionLimits
from bunraku.retargeting.followed_point import follow_point, point_names
from bunraku.retargeting.reach import CLOSE, path_of, reached
from bunraku.stage.figure.motion import drawn_curves

Array = NDArray[np.float64]
SAMPLES, RATE = 101, 50.0


@pytest.fixture(scope="module")
def nao() -> Character:
    return read_character("nao")


@pytest.fixture(scope="module")
def speech() -> JointCurves:
    curves = read_clip("not-done-yet").joints
    assert curves is not None
    return curves


def arm(*, follower: bool = False, dependent: bool = False, wide: float = 3.0) -> Character:
    """Two links of 0.3 and 0.2 m in the plane z = 0, elbow bent one way only, and a tip that may follow the elbow."""
    axes = {"axis": (0.0, 0.0, 1.0)}
    joints = [
        Joint(name="shoulder", kind="hinge", parent="world", child="upper", range=(-wide, wide), **axes),
        Joint(
            name="elbow", kind="hinge", parent="upper", child="lower", pose=Pose(position=(0.3, 0, 0)), range=(-2.5, 2.5), **axes
        ),
        Joint(name="wrist", kind="hinge", parent="lower", child="tip", pose=Pose(position=(0.2, 0, 0)), range=(-1.0, 1.0), **axes),
    ]
    driven = ("shoulder", "elbow") if follower else ("shoulder", "elbow", "wrist")
    return Character(
        name="arm",
        bodies=tuple(Body(name=name, mass=1.0, center_of_mass=(0.1, 0.0, 0.0)) for name in ("upper", "lower", "tip")),
        joints=tuple(joints),
        motors=tuple(Motor(name=f"m {name}", coordinate=name) for name in driven),
        couplings=(Coupling(driver="elbow", follower="wrist", ratio=0.5, offset=0.1),) if follower else (),
        dependent_ranges=(DependentRange(coordinate="elbow", on="shoulder", knots=((-1.0, -2.0, 2.0), (1.0, -0.2, 0.2))),)
        if dependent
        else (),
        frames=(Frame(name="wrist", body="tip"), Frame(name="hand", body="tip", pose=Pose(position=(0.1, 0, 0)))),
    )


def resting(shoulder: float = 0.2, elbow: float = 0.9) -> JointCurves:
    t = np.arange(SAMPLES) / RATE
    sway = 0.05 * np.sin(7.0 * t)
    return JointCurves(("shoulder", "elbow"), RATE, np.stack([shoulder + sway, elbow - sway], axis=1))


def place(character: Character, curves: JointCurves, frame: str, time: float) -> Array:
    return path_of(character, curves, frame)[round(time * curves.rate)]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("frame", ["r_hand", "l_elbow", "head", "com"])
def test_a_place_where_the_frame_can_be_is_reached(nao: Character, speech: JointCurves, frame: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    limits = MotionLimits.of(nao).chosen(speech.names)
    k = int(rng.integers(len(speech.values)))
    wanted = speech.values[k] + rng.uniform(-0.25, 0.25, len(speech.names))
    for _ in range(2):
        low, high = limits.bounds(wanted[None])
        wanted = np.clip(wanted, low[0], high[0])
    there = path_of(nao, JointCurves(speech.names, speech.rate, wanted[None]), frame)[0]
    found = reached(nao, speech, frame, k / speech.rate, tuple(there))
    assert found.miss < 1e-4
    assert np.linalg.norm(path_of(nao, found.curves, frame)[k] - there) == pytest.approx(found.miss, abs=1e-12)
    changed = [name for j, name in enumerate(speech.names) if (found.curves.values[:, j] != speech.values[:, j]).any()]
    if frame == "r_hand":
        assert set(changed) <= set(nao.groups["right_arm"])


def test_joints_change_as_little_as_possible() -> None:
    """Against the least change that a fine search along the one-dimensional family of solutions finds."""
    who, curves = arm(), resting()
    curves = JointCurves((*curves.names, "wrist"), RATE, np.column_stack([curves.values, np.full(SAMPLES, 0.1)]))
    k = 40
    start = curves.values[k]
    goal = place(who, curves, "hand", k / RATE) + np.array([0.05, -0.08, 0.0])
    found = reached(who, curves, "hand", k / RATE, (goal[0], goal[1], None))
    change = float(np.linalg.norm(found.curves.values[k] - start))
    best = np.inf
    for heading in np.linspace(-np.pi, np.pi, 40001):
        x, y = goal[:2] - 0.1 * np.array([np.cos(heading), np.sin(heading)])
        cosine = (x * x + y * y - 0.13) / 0.12
        if abs(cosine) <= 1.0:
            for side in (-1.0, 1.0):
                b = side * np.arccos(cosine)
                a = np.arctan2(y, x) - np.arctan2(0.2 * np.sin(b), 0.3 + 0.2 * np.cos(b))
                c = (heading - a - b + np.pi) % (2.0 * np.pi) - np.pi
                best = min(best, float(np.linalg.norm(np.array([a, b, c]) - start)))
    assert found.miss < 1e-5
    assert change == pytest.approx(best, rel=1e-4)


def test_what_has_no_place_is_free() -> None:
    who, curves = arm(), resting()
    here = place(who, curves, "wrist", 1.0)
    found = reached(who, curves, "wrist", 1.0, (here[0] - 0.05, None, None))
    there = place(who, found.curves, "wrist", 1.0)
    assert there[0] == pytest.approx(here[0] - 0.05, abs=1e-5)
    lesser = reached(who, curves, "wrist", 1.0, (here[0] - 0.05, here[1], None))
    sample = 50
    assert np.linalg.norm(found.curves.values[sample] - curves.values[sample]) < np.linalg.norm(
        lesser.curves.values[sample] - curves.values[sample]
    )


@pytest.mark.parametrize("away", [(0.7, 0.3, 0.0), (0.3, -0.8, 0.0), (2.0, 0.5, 0.4)])
def test_beyond_reach_the_arm_points_there(away: tuple[float, float, float]) -> None:
    who, curves = arm(), resting()
    found = reached(who, curves, "wrist", 1.0, away)
    there = place(who, found.curves, "wrist", 1.0)
    across = np.hypot(away[0], away[1])
    assert found.miss == pytest.approx(float(np.hypot(across - 0.5, away[2])), abs=1e-3)
    assert there[:2] / np.linalg.norm(there[:2]) == pytest.approx(np.array(away[:2]) / across, abs=0.02)


def test_a_stretched_arm_comes_back_along_itself() -> None:
    who, curves = arm(), JointCurves(("shoulder", "elbow"), RATE, np.zeros((SAMPLES, 2)))
    assert reached(who, curves, "wrist", 1.0, (0.4, 0.0, 0.0)).miss < CLOSE


@pytest.mark.parametrize("seed", range(20))
def test_ranges_are_never_left(nao: Character, speech: JointCurves, seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    limits = MotionLimits.of(nao).chosen(speech.names)
    before = limits.excess(speech.values, speech.rate).range
    frame = ("r_hand", "l_hand", "head", "com")[seed % 4]
    time = float(rng.uniform(0.0, speech.duration))
    goal = place(nao, speech, frame, time) + rng.normal(0.0, 0.15, 3)
    found = reached(nao, speech, frame, time, tuple(goal), width=float(rng.uniform(0.05, 1.5)))
    after = limits.excess(found.curves.values, speech.rate).range
    assert (after <= before + 1e-12).all()
    assert found.miss <= float(np.linalg.norm(goal - place(nao, speech, frame, time))) + 1e-9


def test_what_was_outside_comes_no_farther_out() -> None:
    who, curves = arm(wide=0.1), resting(shoulder=0.5)
    ahead = place(who, curves, "wrist", 1.0) + np.array([-0.1, 0.3, 0.0])
    found = reached(who, curves, "wrist", 1.0, tuple(ahead))
    assert (found.curves.column("shoulder") <= curves.column("shoulder") + 1e-12).all()


def test_a_range_that_depends_on_another_joint_holds() -> None:
    who, curves = arm(dependent=True), resting(shoulder=-0.6, elbow=1.5)
    found = reached(who, curves, "wrist", 1.0, (0.1, 0.4, 0.0))
    low, high = MotionLimits.of(who).chosen(curves.names).bounds(found.curves.values)
    assert (found.curves.values >= low - 1e-12).all()
    assert (found.curves.values <= high + 1e-12).all()
    assert found.curves.column("shoulder")[50] > curves.column("shoulder")[50] + 0.1


def test_followers_follow_and_bind_their_driver() -> None:
    who, curves = arm(follower=True), resting()
    goal = place(who, curves, "hand", 1.0) + np.array([-0.04, 0.03, 0.0])
    assert reached(who, curves, "hand", 1.0, tuple(goal)).miss < CLOSE
    found = reached(who, curves, "hand", 1.0, (0.0, 0.0, 0.0))
    assert 0.5 * found.curves.column("elbow").max() + 0.1 <= 1.0 + 1e-12


@pytest.mark.parametrize("width", [0.1, 0.3, 5.0])
def test_nothing_changes_elsewhere_in_time(nao: Character, speech: JointCurves, width: float) -> None:
    time = 3.0
    goal = place(nao, speech, "r_hand", time) + np.array([0.02, 0.01, 0.02])
    found = reached(nao, speech, "r_hand", time, tuple(goal), width=width)
    away = np.abs(speech.times - time) >= width - 1e-12
    assert np.array_equal(found.curves.values[away], speech.values[away])
    near = np.abs(speech.times - time) < 0.5 * width
    assert (found.curves.values[near] != speech.values[near]).any(axis=1).all()
    other = [j for j, name in enumerate(speech.names) if name not in nao.groups["right_arm"]]
    assert np.array_equal(found.curves.values[:, other], speech.values[:, other])


def test_the_change_is_smooth_and_whole_at_the_sample() -> None:
    who, rate, width = arm(), 1000.0, 0.3
    curves = JointCurves(("shoulder", "elbow"), rate, np.tile([0.2, 0.9], (1001, 1)))
    goal = place(who, curves, "wrist", 0.5) + np.array([-0.05, 0.05, 0.0])
    found = reached(who, curves, "wrist", 0.5, tuple(goal), width=width)
    bump = (found.curves.values - curves.values)[:, 0]
    change = bump[500]
    assert np.abs(bump).max() == abs(change)
    speed, bend = np.gradient(bump, 1.0 / rate), np.gradient(np.gradient(bump, 1.0 / rate), 1.0 / rate)
    for at in (200, 500, 800):
        assert abs(speed[at]) < 1e-3 * abs(change) / width
        assert abs(bend[at]) < 0.3 * abs(change) / width**2
    assert np.abs(np.diff(bend)).max() < 70.0 * abs(change) / width**3 / rate


@pytest.mark.parametrize("frame", ["r_hand", "com", "gaze"])
def test_where_it_is_already_nothing_changes(nao: Character, speech: JointCurves, frame: str) -> None:
    found = reached(nao, speech, frame, 2.0, tuple(place(nao, speech, frame, 2.0)))
    assert found.curves is speech
    assert found.miss == 0.0


def test_only_the_joints_given_change(nao: Character, speech: JointCurves) -> None:
    goal = place(nao, speech, "r_hand", 2.0) + np.array([0.01, 0.01, 0.01])
    found = reached(nao, speech, "r_hand", 2.0, tuple(goal), joints=("RElbowRoll",))
    others = [j for j, name in enumerate(speech.names) if name != "RElbowRoll"]
    assert np.array_equal(found.curves.values[:, others], speech.values[:, others])
    assert 1e-4 < found.miss < np.linalg.norm([0.01, 0.01, 0.01])


def test_the_curve_in_space_is_the_one_drawn() -> None:
    """On a base that stands (nao), one that curves move (marionette), with strings, and fixed."""
    for who, clip in (("nao", "not-done-yet"), ("marionette", "puppet-wave"), ("puppet-arm", "arm-wave")):
        character, curves = read_character(who), read_clip(clip).joints
        assert curves is not None
        drawn = drawn_curves(character, curves)
        rows = np.round(drawn.times * curves.rate).astype(int)
        for name in point_names(character, curves.names):
            seen = drawn.com if name == "com" else drawn.frames[:, drawn.names.index(name)]
            assert path_of(character, curves, name)[rows] == pytest.approx(seen, abs=1e-6)


@pytest.mark.parametrize(("frame", "legs"), [("r_hand", False), ("com", True), ("r_foot", True), ("torso", True)])
def test_the_jacobian_is_the_slope_of_the_place(nao: Character, frame: str, legs: bool) -> None:
    names = (*nao.groups["right_arm"], *(nao.groups["legs"] if legs else ()))
    point = follow_point(nao, frame, names)
    tree = point.tree
    rng = np.random.default_rng(7)
    q = tree.expand(names, rng.uniform(-0.3, 0.3, (1, len(names))))[0]
    at = [tree.index(name) for name in point.moving]
    here, J = point.linearized(q, point.lever(at))
    assert here == pytest.approx(point.places(q[None])[0], abs=1e-12)
    for column, i in enumerate(at):
        ends = []
        for step in (1e-6, -1e-6):
            moved = q.copy()
            moved[i] += step
            for driver, follower, ratio, offset in tree.couplings:
                moved[follower] = ratio * moved[driver] + offset
            ends.append(point.places(moved[None])[0])
        assert J[:, column] == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=1e-7)


def test_the_foot_that_stands_cannot_be_moved_and_the_base_can(nao: Character) -> None:
    legs = nao.groups["legs"]
    curves = JointCurves(legs, RATE, np.tile([nao.home.get(name, 0.0) for name in legs], (SAMPLES, 1)))
    names = point_names(nao, legs)
    assert "l_foot" not in names
    assert {"r_foot", "torso", "com"} <= set(names)
    here = place(nao, curves, "torso", 1.0)
    found = reached(nao, curves, "torso", 1.0, (here[0] + 0.01, here[1], here[2] - 0.02))
    assert found.miss < CLOSE
    assert place(nao, found.curves, "l_foot", 1.0) == pytest.approx(place(nao, curves, "l_foot", 1.0), abs=1e-12)


def test_a_point_beyond_a_closed_chain_is_refused() -> None:
    rapper, curves = read_character("rapper"), read_clip("rap").joints
    assert curves is not None
    assert point_names(rapper, curves.names) == ("elbow",)
    with pytest.raises(BadInput, match="closed chain"):
        path_of(rapper, curves, "hand")


def test_what_cannot_be_asked_is_refused() -> None:
    who, curves = arm(), resting()
    for frame, time, goal in itertools.product(["wrist"], [1.0], [(0.0, 0.0), (0.0, 0.0, float("nan"))]):
        with pytest.raises(BadInput, match="x, y and z"):
            reached(who, curves, frame, time, goal)
    with pytest.raises(BadInput, match="finite time"):
        reached(who, curves, "wrist", float("inf"), (0.0, 0.0, 0.0))
    with pytest.raises(BadInput, match="positive width"):
        reached(who, curves, "wrist", 1.0, (0.0, 0.0, 0.0), width=0.0)
    with pytest.raises(BadInput, match="'paw'"):
        reached(who, curves, "paw", 1.0, (0.0, 0.0, 0.0))
    with pytest.raises(BadInput, match="no curve that"):
        reached(who, curves, "wrist", 1.0, (0.0, 0.0, 0.0), joints=("wrist",))
    with pytest.raises(BadInput, match="no curve moves"):
        reached(who, JointCurves(("wrist",), RATE, np.zeros((SAMPLES, 1))), "upper", 1.0, (0.0, 0.0, 0.0))
