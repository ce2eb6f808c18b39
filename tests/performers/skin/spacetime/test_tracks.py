"""The curves of an even walk: soles stand still, steps are as long as the way, arcs close."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.character import Character
from bunraku.mechanics.centroidal.kinematics import contact_points
from bunraku.mechanics.centroidal.model import centroidal_model
from bunraku.motion import Gait
from bunraku.performers.skin.spacetime.problem import SpacetimeProblem
from bunraku.performers.skin.spacetime.state import state_spacetime
from bunraku.performers.skin.spacetime.tracks import Tracks, _carried, headings


def walk(robot: Character, **fields: object) -> SpacetimeProblem:
    stated: dict[str, object] = {"pattern": "crawl", "distance": (0.05, 0.01), "turn": 0.4, "samples": 50}
    return state_spacetime(robot, Gait(2.5, **(stated | fields)))


def turned(way: tuple[float, float, float], places: np.ndarray) -> np.ndarray:
    c, s = np.cos(way[2]), np.sin(way[2])
    return places @ np.array([[c, s], [-s, c]]) + np.array(way[:2])


def test_soles_stand_still_and_step_as_far_as_the_way(robot: Character) -> None:
    problem = walk(robot)
    feet, stands = problem.tracks.feet, problem.contacts
    assert feet is not None
    way = (0.05, 0.01, 0.4)
    both = (stands[1:] * stands[:-1]).astype(bool)
    assert np.abs(np.diff(feet, axis=0))[both].max() < 1e-12
    closing = turned(way, feet[0, :, :2])
    once_more = (stands[0] * stands[-1]).astype(bool)
    assert feet[-1, once_more, :2] == pytest.approx(closing[once_more], abs=1e-12)
    assert (feet[:, :, 2] > 0.0).sum() == (stands == 0).sum()


def test_the_arc_ends_where_it_should_and_is_even(robot: Character) -> None:
    """Carried twice by a half is carried once by the whole; the whole is the way itself."""
    way, place = (0.3, -0.1, 0.7), np.array([0.2, 0.05])
    assert _carried(place, way, 1.0) == pytest.approx(turned(way, place[None])[0], abs=1e-14)
    half = _carried(np.zeros(2), way, 0.5)
    there = turned((half[0], half[1], 0.35), _carried(place, way, 0.5)[None])[0]
    assert there == pytest.approx(turned(way, place[None])[0], abs=1e-14)
    assert _carried(place, (0.3, -0.1, 1e-12), 0.5) == pytest.approx(place + np.array([0.15, -0.05]), abs=1e-12)


def test_a_motion_that_happens_once_begins_and_ends_at_home(robot: Character) -> None:
    problem = walk(robot, periodic=False, cycles=2, samples=120)
    feet, com = problem.tracks.feet, problem.tracks.com
    assert feet is not None
    assert com is not None
    home = contact_points(problem.model, problem.model.home)
    assert feet[0] == pytest.approx(home, abs=1e-12)
    assert feet[-1, :, :2] == pytest.approx(turned((0.05, 0.01, 0.4), home[:, :2]), abs=1e-12)
    assert com[-1, :2] == pytest.approx(turned((0.05, 0.01, 0.4), com[:1, :2])[0], abs=1e-12)


def test_headings_are_those_of_feet_moved_as_one(robot: Character) -> None:
    model = centroidal_model(robot)
    ways = [(0.1 * k, -0.2, 0.5 * k) for k in range(9)]
    home = contact_points(model, model.home)
    feet = np.array([np.column_stack([turned(way, home[:, :2]), home[:, 2]]) for way in ways])
    assert headings(model, Tracks(feet=feet), 9) == pytest.approx(np.array(ways), abs=1e-12)
