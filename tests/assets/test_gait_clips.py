"""The built-in clips of legs and wheels: their goals, and that the robots they are for can make their footfalls."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from bunraku.formats.registry import read_character, read_clip
from bunraku.gait.feet import feet_of
from bunraku.gait.overlap import SUPPORT
from bunraku.gait.patterns import contacts, footfalls, swing_heights

# clip: robot, duration [s], distance (x, y) [m], turn [deg]; the first twelve as in Table 1 of Geilinger et al. 2018
GOALS = {
    "swizzle": ("swizzlebot", 1.2, (0.5, 0.0), 0.0),
    "swizzle-turn": ("swizzlebot", 1.2, None, 20.0),
    "walk-tripod": ("creature3", 0.8, (0.1, 0.0), 0.0),
    "fast-walk": ("creature3", 0.8, (0.3, 0.0), 0.0),
    "turn-tripod": ("creature3", 0.8, None, 20.0),
    "brain-swizzle": ("brainbot", 2.0, (0.2, 0.0), 0.0),
    "brain-turn": ("brainbot", 2.0, None, 20.0),
    "start-stop-fast": ("agilebot", 0.8, (1.0, 0.0), 0.0),
    "slalom": ("agilebot", 1.6, (1.07, 0.0), 0.0),
    "side-step": ("agilebot", 3.0, (0.6, 0.1), 0.0),
    "skate": ("skatebot", 1.2, (0.3, 0.0), 0.0),
    "dino-skate": ("dinobot", 2.0, (0.8, 0.0), 0.0),
    "turn-in-place": ("agilebot", 1.6, (0.0, 0.0), 45.0),
    "start-stop": ("agilebot", 1.2, (1.0, 0.0), 0.0),
    "start-stop-locked": ("agilebot-tall", 0.8, (1.0, 0.0), 0.0),
    "swizzle-rest": ("swizzlebot", 1.2, (0.5, 0.0), 0.0),
    "crawl": ("walker", 1.2, (0.12, 0.0), 0.0),
    "crawl-turn": ("walker", 1.2, (0.0, 0.0), 20.0),
    "trot": ("walker", 0.6, (0.1, 0.0), 0.0),
    "car-forward": ("tilted-car", 1.2, (0.5, 0.0), 0.0),
    "slope": ("walker", 9.0, (0.84, 0.0), 0.0),
    "step-up": ("walker", 6.6, (0.5, 0.0), 0.0),
}


@pytest.fixture(scope="module")
def robots():
    return {name: read_character(name) for name in sorted({row[0] for row in GOALS.values()})}


@pytest.mark.parametrize("name", GOALS)
def test_the_goal_is_the_stated_one(name):
    _, duration, distance, turn = GOALS[name]
    gait = read_clip(name).gait
    assert gait.duration == duration
    assert gait.distance == distance
    assert math.degrees(gait.turn) == pytest.approx(turn, abs=1e-12)
    assert gait.periodic == (
        name not in ("start-stop", "start-stop-fast", "start-stop-locked", "swizzle-rest", "side-step", "slope", "step-up")
    )


@pytest.mark.parametrize("name", GOALS)
def test_its_robot_can_make_the_footfalls(robots, name):
    robot, gait = robots[GOALS[name][0]], read_clip(name).gait
    pattern = footfalls(robot, gait)
    samples = gait.samples or (48 if gait.periodic else 24 * gait.cycles + 1)
    flags = contacts(pattern, samples)
    heights = swing_heights(pattern, samples, gait.swing_height)
    assert flags.any(axis=1).all()
    assert heights.max() == pytest.approx(gait.swing_height if pattern.swings else 0.0, rel=0.05)
    assert not robot.expand(gait.locked) or name == "start-stop-locked"
    assert not pattern.notes
    ends = sorted({(start, end) for _, start, end in pattern.swings})
    cycle = 1.0 if gait.periodic or gait.pattern == "custom" else 1.0 / (gait.cycles + 0.5)
    assert all(b[0] - a[1] >= (SUPPORT - 1e-9) * cycle for a, b in pairwise(ends))
    if not gait.periodic:
        assert flags[0].all()
        assert flags[-1].all()


def test_the_skaters_stroke_with_both_wheels_of_a_foot_and_the_tripod_keeps_its_body_wheel(robots):
    for name, clip in (("skatebot", "skate"), ("dinobot", "dino-skate")):
        flags = contacts(footfalls(robots[name], read_clip(clip).gait), 48)
        feet = feet_of(robots[name]).feet
        assert sorted(len(foot.effectors) for foot in feet) == [2, 2, 2, 2]
        for foot in feet:
            np.testing.assert_array_equal(flags[:, foot.effectors[0]], flags[:, foot.effectors[1]])
    tripod = robots["creature3"]
    flags = contacts(footfalls(tripod, read_clip("fast-walk").gait), 48)
    assert flags[:, list(feet_of(tripod).fixed)].all()
    assert (flags.sum(axis=1) >= 3).all()


@pytest.mark.parametrize("name", ["slope", "step-up"])
def test_the_walker_starts_before_the_terrain_and_ends_on_it(robots, name):
    gait = read_clip(name).gait
    places = np.array(feet_of(robots["walker"]).places)
    start, end = places, places + np.array(gait.distance)
    ground = gait.terrain
    np.testing.assert_allclose(ground.height(*start.T), 0.0, atol=1e-15)
    if name == "step-up":
        np.testing.assert_allclose(ground.height(*end.T), ground.heights.max())
    else:
        assert (ground.height(*end.T) > 0.05).all()  # all feet stand on the slope
    steepest = np.degrees(np.arctan(ground.gradient(np.linspace(-1.0, 2.0, 3001), 0.0)[:, 0])).max()
    if name == "slope":
        assert steepest == pytest.approx(10.0)
    else:
        assert ground.heights.max() == 0.015
        assert gait.swing_height > 0.015
