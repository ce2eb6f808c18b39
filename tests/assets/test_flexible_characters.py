"""The flexible characters and their animations: the paper's facts, limits, loops, and how they vibrate when played as they are."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from bunraku.formats.registry import read_character, read_clip
from bunraku.mechanics.collision import self_collisions
from bunraku.mechanics.flexible.system import flexible_system
from bunraku.mechanics.integrators.driven.outputs import track
from bunraku.mechanics.integrators.driven.rest import rest_motion
from bunraku.mechanics.integrators.driven.simulate import simulate
from bunraku.mechanics.tree import compile_tree
from bunraku.motion.limits import MotionLimits

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"

# character: clip, seconds, motors, flexible parts with length [m], frames
STRONGER = {("bartender", "shoulder"): (3.4, 3.14, 3.0), ("rapper", "pitch"): (6.0, 8.06, 7.0)}
"""Stall torque, no-load speed and velocity limit of the motors that are not the paper's: an XH430-W350, and a pair."""

FACTS = {
    "one-rod": ("tick", 4.0, 1, {"rod": 0.7}, {"tip"}),
    "two-rods": ("tilt", 3.5, 1, {"lower_rod": 0.3, "upper_rod": 0.3}, {"motor", "tip"}),
    "dancer": ("dance", 8.5, 4, {"body_rod": 0.25, "left_arm": 0.3, "right_arm": 0.3}, {"clavicle", "left_hand", "right_hand"}),
    "bartender": ("serve", 8.5, 4, {"upper_arm": 0.2, "forearm": 0.18}, {"elbow", "glass"}),
    "rapper": ("rap", 10.0, 4, {"upper_arm": None, "forearm": None}, {"elbow", "hand"}),
    "drummer": (
        "drumming",
        10.0,
        13,
        {"left_leg": 0.45, "right_leg": 0.45, "left_forearm": 0.1, "right_forearm": 0.1},
        {"head", "pelvis", "left_hand", "right_hand"},
    ),
    "boxer": (
        "boxing",
        9.75,
        13,
        {"left_leg": 0.45, "right_leg": 0.45, "left_forearm": 0.1, "right_forearm": 0.1},
        {"head", "pelvis", "left_hand", "right_hand"},
    ),
}
# largest error [m] of a tracked frame when the clip is played as it is: least, most
BEFORE = {
    "one-rod": (0.073, 0.078),
    "two-rods": (0.075, 0.082),
    "dancer": (0.1, 0.5),
    "bartender": (0.003, 0.02),
    "rapper": (0.2, 0.4),
    "drummer": (0.05, 0.12),
    "boxer": (0.05, 0.12),
}
QUICK = ("one-rod", "dancer", "drummer")
"""Simulated with every test; the others with the exhaustive ones."""
simulated = pytest.mark.parametrize(
    "case", [one if one in QUICK else pytest.param(one, marks=pytest.mark.exhaustive) for one in FACTS], indirect=True
)
SPILL = np.degrees(np.arctan(7.0 / 31.0))
STEP = 0.002


@pytest.fixture(scope="module", params=list(FACTS))
def case(request):
    """A character with its clip: all motors' values at the clip's rate."""
    name = request.param
    character, clip = read_character(name), read_clip(FACTS[name][0])
    limits = MotionLimits.of(character)
    return SimpleNamespace(
        name=name,
        character=character,
        clip=clip,
        limits=limits,
        values=limits.completed(clip.joints.names, clip.joints.values),
        rate=clip.joints.rate,
    )


@pytest.fixture(scope="module")
def played(case):
    """The clip as wished and under gravity at rest, against the reduced simulation of the same motor values."""
    flexible = flexible_system(case.character)
    system = flexible.system
    t = np.arange(round(case.clip.duration / STEP) + 1) * STEP
    if case.name in ("one-rod", "two-rods"):
        wish = np.stack([np.interp(t, case.clip.joints.times, column) for column in case.values.T], axis=1)
    else:
        wish = CubicSpline(case.clip.joints.times, case.values)(t)
    motors = wish[:, [case.limits.names.index(system.names[i]) for i in system.kinematic]]
    rest = rest_motion(system, motors, start=flexible.home, stride=10)
    assert rest.status.good, rest.message
    moved = simulate(system, motors, STEP, start=rest.q[0])
    moved.require()
    frames = [frame.name for frame in case.character.frames]
    outputs = track(system, frames, frames)
    wanted, seen = outputs.observe(rest.q), outputs.observe(moved.q)
    m = len(frames)
    error = np.linalg.norm((seen.positions - wanted.positions)[:, :m], axis=2)
    return SimpleNamespace(flexible=flexible, t=t, q=moved.q, frames=frames, wanted=wanted, seen=seen, error=error, m=m)


def test_the_character_is_the_papers(case):
    _, seconds, motors, parts, frames = FACTS[case.name]
    character = case.character
    assert case.clip.duration == pytest.approx(seconds, abs=1e-9)
    assert len(character.motors) == motors
    assert {frame.name for frame in character.frames} == frames
    found = {part.name: part.shape.length for part in character.flexibles}
    assert found == parts
    assert {part.shape.diameter for part in character.flexibles} <= {0.004, 0.005, None}
    for motor in character.motors:
        wanted = STRONGER.get((case.name, motor.name), (3.0, 8.06, 7.0))
        assert (motor.stall_torque, motor.no_load_speed, motor.velocity) == wanted
    housings = sum(s.size == (0.01425, 0.02325, 0.017) for body in character.bodies for s in body.shapes)
    pairs = sum(motor.stall_torque == 6.0 for motor in character.motors)
    assert housings == motors + pairs


def test_weights_that_the_paper_gives():
    names = ("one-rod", "two-rods", "dancer", "bartender")
    masses = {name: {body.name: body.mass for body in read_character(name).bodies} for name in names}
    assert masses["one-rod"]["tip"] == 0.1
    assert read_character("one-rod").bodies[-1].inertia[:3] == pytest.approx([7.84e-6] * 3)
    assert masses["two-rods"]["tip"] == 0.2
    assert masses["two-rods"]["housing"] + masses["two-rods"]["horn"] == pytest.approx(0.1)
    assert masses["dancer"]["collar"] == pytest.approx(0.21)
    assert masses["dancer"]["left_ball"] == masses["dancer"]["right_ball"] == 0.2
    assert masses["bartender"]["tumbler"] == pytest.approx(0.33)


def test_the_full_body_is_eighty_centimetres_tall():
    for name in ("drummer", "boxer"):
        character = read_character(name)
        tree = compile_tree(character)
        at = tree.configuration(np.zeros(tree.nq))
        skull = next(body for body in character.bodies if body.name == "skull")
        top = max(shape.pose.position[2] + shape.size[-1] for shape in skull.shapes)
        assert at.position[tree.nodes["skull"]][2] + top == pytest.approx(0.8, abs=0.015)


def test_the_wish_stays_within_the_motors_limits(case):
    assert case.limits.excess(case.values, case.rate).relative == 0.0
    speed = np.abs(np.diff(case.values, axis=0)).max() * case.rate
    assert speed < 7.0


def test_it_starts_at_home_and_begins_and_ends_at_rest(case):
    np.testing.assert_allclose(case.values[0], case.limits.home, atol=1e-5)
    for end in (case.values[:3], case.values[-3:]):
        assert np.abs(np.diff(end, axis=0)).max() * case.rate < 0.02


def test_nothing_runs_into_anything(case):
    tree = compile_tree(case.character)
    report = self_collisions(case.character, tree, tree.expand(case.limits.names, case.values))
    assert report.least_distance > 0.01


def test_strokes_are_where_a_limb_turns_or_stops():
    """At each mark's stroke some motor that moved by more than 4 degrees, fast 40 ms before, stands still."""
    for name in ("rapper", "drummer", "boxer"):
        clip = read_clip(FACTS[name][0])
        curves = clip.joints
        strokes = [mark.stroke for mark in clip.phrases if mark.stroke is not None]
        assert len(strokes) >= 8
        speed = np.gradient(curves.values, 1.0 / curves.rate, axis=0)
        for stroke in strokes:
            k = round(stroke * curves.rate)
            travel = np.ptp(curves.values[k - 20 : k + 1], axis=0) > np.radians(4.0)
            slowest = np.abs(speed[k - 2 : k + 3]).min(axis=0)
            stops = (slowest < 0.25) & (np.abs(speed[k - 4]) > 0.3)
            assert stops[travel].any(), (name, stroke)


def test_the_four_bar_closes_at_every_angle_of_the_crank():
    character = read_character("rapper")
    tree = compile_tree(character)
    loop = character.loops[0]
    for crank in np.radians([-112.0, -70.0, -30.0, -8.0]):
        q = tree.home.copy()
        q[[tree.index("crank"), tree.index("elbow"), tree.index("coupler.1")]] = crank, crank, -crank
        at = tree.configuration(q)
        coupler, pin = tree.nodes[loop.parent], tree.nodes[loop.child]
        end = at.position[coupler] + at.rotation[coupler] @ np.array(loop.pose.position)
        np.testing.assert_allclose(end, at.position[pin], atol=1e-7)
    kinds = {joint.name: joint.kind for joint in character.joints}
    assert (kinds["crank"], kinds["elbow"], kinds["coupler"]) == ("hinge", "hinge", "universal")
    assert loop.kind == "ball"


def test_the_glass_of_a_stiff_arm_is_tilted_back_by_what_the_arm_will_sag():
    curves = read_clip("serve").joints
    upright = sum(curves.column(name) for name in ("shoulder", "elbow", "wrist"))
    np.testing.assert_allclose(np.degrees(upright), -5.0, atol=0.1)


@simulated
def test_played_as_it_is_it_vibrates_as_much_as_the_papers(case, played):
    low, high = BEFORE[case.name]
    assert low <= played.error.max() <= high


@simulated
def test_no_part_bends_beyond_a_quarter_of_its_length(case, played):
    most = 0.35 if case.name == "dancer" else 0.25  # its wave is near the sway of its body: there the model only has to hold
    for part in case.character.flexibles:
        length = part.shape.length or float(np.ptp(np.array(part.shape.outline), axis=0).max())
        u = played.q[:, played.flexible.coordinates(part.name)]
        for interface in played.flexible.parts[part.name].reduction.segment.interfaces:
            assert np.linalg.norm(u @ interface.C.T, axis=1).max() < most * length, part.name


@simulated
def test_what_each_vibration_is_like(case, played):
    """One rod rings in the pause with 12 mm RMS; the drummer's sway beats fore and aft; the bartender spills, its wish does not."""
    head = played.error[:, 0]
    if case.name == "one-rod":
        pause = head[(played.t > 0.75) & (played.t < 2.25)]
        assert np.sqrt((pause**2).mean()) == pytest.approx(0.0120, rel=0.03)
    elif case.name == "drummer":
        offset = np.abs(played.seen.positions - played.wanted.positions)[:, 0].max(axis=0)
        assert offset[0] > 5.0 * offset[1]
        envelope = head[: 20 * 250].reshape(20, 250).max(axis=1)
        valleys = [envelope[i] for i in range(4, 16) if envelope[i] <= envelope[i - 1] and envelope[i] <= envelope[i + 1]]
        assert len(valleys) >= 2
        assert max(valleys) < 0.35 * envelope.max()
        assert envelope[15:].max() > 0.7 * envelope.max()
    elif case.name == "bartender":
        before, wished = (_tilt(targets, played.frames.index("glass"), played.m) for targets in (played.seen, played.wanted))
        upright = played.wanted.rotations[:, played.m + played.frames.index("glass"), 2, 2]
        assert before.max() > SPILL + 2.0
        assert np.degrees(np.arccos(upright)).max() < 2.0
        assert wished.max() < 4.0


def _tilt(targets, glass, m):
    """Angle [deg] of the glass against effective gravity, acceleration smoothed over 20 ms."""
    position = targets.positions[:, glass]
    wide = 10
    acceleration = (position[2 * wide :] - 2.0 * position[wide:-wide] + position[: -2 * wide]) / (wide * STEP) ** 2
    up = acceleration + np.array([0.0, 0.0, 9.81])
    z = targets.rotations[wide:-wide, m + glass, :, 2]
    cosine = (up * z).sum(axis=1) / np.linalg.norm(up, axis=1)
    return np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0)))


def test_the_files_are_those_of_the_script():
    if not (SCRIPTS / "make_flexible_assets.py").is_file():
        pytest.skip("the scripts are not part of an installed package")
    code = (
        "import make_flexible_assets as m\n"
        "for name in m.CHARACTERS:\n"
        "    assert (m.ASSETS / 'characters' / f'{name}.character.yaml').read_text('utf-8') == m.character_text(name), name\n"
        "for make, character in m.CLIPS:\n"
        "    line = make()\n"
        "    assert (m.ASSETS / 'clips' / f'{line.name}.clip.yaml').read_text('utf-8') == m.clip_text(make, character), line.name\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=SCRIPTS, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-500:]
