"""From a gait to a problem: samples, heights of the track, flight, refusals."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.motion import Gait, HeightField
from bunraku.motion.gait import Swing
from bunraku.performers.skin.spacetime.state import sample_count, state_spacetime
from bunraku.performers.skin.spacetime.tracks import Tracks

HOP = tuple(Swing(f"{leg}.sole", 0.4, 0.6) for leg in ("LF", "RF", "LH", "RH"))


def test_heights_in_the_air_are_those_of_the_track(robot: Character) -> None:
    gait = Gait(2.5, pattern="crawl", samples=40, swing_height=0.03)
    feet = np.full((40, 4, 3), np.nan)
    feet[:, 0, 2] = 0.05
    problem = state_spacetime(robot, gait, Tracks(feet=feet))
    flying = problem.contacts == 0
    assert (problem.heights[flying[:, 0], 0] == 0.05).all()
    assert problem.heights[:, 1].max() == pytest.approx(0.03, rel=0.05)
    assert (problem.heights[~flying] == 0.0).all()


def test_all_feet_may_fly(robot: Character) -> None:
    problem = state_spacetime(robot, Gait(1.0, pattern="custom", swings=HOP, samples=30))
    assert (problem.contacts.sum(axis=1) == 0).sum() == 5


def test_samples_are_those_of_the_gait_or_every_step(robot: Character) -> None:
    assert sample_count(robot, Gait(2.0, pattern="crawl", samples=64)) == 64
    assert sample_count(robot, Gait(2.5, pattern="crawl")) == 50
    assert sample_count(robot, Gait(3.0, pattern="roll", periodic=False)) == 61
    with pytest.raises(BadInput, match="samples for"):
        sample_count(robot, Gait(2.0, pattern="crawl", samples=7))


def test_the_margin_shrinks_the_soles(robot: Character) -> None:
    assert state_spacetime(robot, Gait(2.0), margin=0.005).radius == pytest.approx(0.02)
    with pytest.raises(BadInput, match="leave more than zero"):
        state_spacetime(robot, Gait(2.0), margin=0.03)


def test_what_the_step_does_not_know_is_refused(robot: Character) -> None:
    hills = HeightField((-1.0, -1.0), 0.5, np.zeros((5, 5)))
    with pytest.raises(BadInput, match="flat ground"):
        state_spacetime(robot, Gait(2.0, periodic=False, terrain=hills))
    tips = tuple(tip.model_copy(update={"kind": "ball"}) for tip in robot.end_effectors)
    with pytest.raises(BadInput, match="no sole"):
        state_spacetime(robot.model_copy(update={"end_effectors": tips}), Gait(2.0))
