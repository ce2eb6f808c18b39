"""Stance at the playing rate: residuals and their slopes, slip that is gone between the samples, samples that resolve swings."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.formats.registry import read_character
from bunraku.gait.patterns import footfalls
from bunraku.mechanics.centroidal.kinematics import kinematics
from bunraku.motion import Gait
from bunraku.performers.locomotion.played import _splined
from bunraku.performers.locomotion.solve import plan_motion
from bunraku.performers.locomotion.stance import contact_rows, stand, standing
from bunraku.performers.locomotion.state import stages
from bunraku.performers.locomotion.tipping import tipping
from bunraku.performers.locomotion.track import track_of


@pytest.fixture(scope="module", params=[("walker", "trot", 24), ("swizzlebot", "roll", 12)])
def played(request):
    robot, pattern, samples = request.param
    gait = Gait(0.8, pattern, distance=(0.1, 0.0), turn=0.1, samples=samples)
    track = track_of(plan_motion(read_character(robot), gait).plan, 1)
    at = np.arange(161) / 200.0
    return track, at, _splined(track, at)


def test_the_rows_have_the_slopes_they_say(played) -> None:
    """Central differences along a random direction, of every row at once: the error falls with the square of the step."""
    track, at, q = played
    on = standing(track, at)

    def rows(x):
        return contact_rows(track.model, kinematics(track.model, x, jacobians=True), on, None)

    _, J = rows(q)
    way = np.random.default_rng(0).standard_normal(q.shape)
    slope = J @ way.ravel()
    errors = [np.abs((rows(q + h * way)[0] - rows(q - h * way)[0]) / (2.0 * h) - slope).max() for h in (1e-2, 1e-3)]
    # turns and directions of a step are taken at its middle to first order in the step between two moments
    assert errors[1] < 2e-2 * np.abs(slope).max()
    assert errors[1] < errors[0]


def test_feet_and_wheels_stay_where_they_stand_between_the_samples(played) -> None:
    track, at, q = played
    on = standing(track, at)
    before, _ = contact_rows(track.model, kinematics(track.model, q, jacobians=True), on, None)
    held, seen = stand(track, at, q)
    after, _ = contact_rows(track.model, seen, on, None)
    assert np.abs(after).max() < min(1e-6, 0.1 * np.abs(before).max())
    assert np.abs(held - q)[:, :6].max() < 1e-4  # the base carries the dynamics
    assert np.abs(held - q).max() < 0.05


@pytest.mark.parametrize("duration", [0.8, 1.19, 1.21, 1.3, 1.6, 2.5])
@pytest.mark.parametrize(("pattern", "least"), [("trot", 48), ("crawl", 78)])
def test_swings_are_resolved_whatever_the_duration(duration: float, pattern: str, least: int) -> None:
    gait = Gait(duration, pattern, distance=(0.1, 0.0))
    assert stages(gait, footfalls(read_character("walker"), gait))[-1] >= least


def test_a_pendulum_on_one_line_tips_and_one_in_the_middle_does_not() -> None:
    """Feet on a square of 0.2 m; the centre of mass 0.1 m up stands at its edge for half of the time, 0.03 m outside at most."""
    h, step, n = 0.1, 0.01, 100
    feet = np.tile(np.array([[0.1, 0.1, 0.0], [0.1, -0.1, 0.0], [-0.1, 0.1, 0.0], [-0.1, -0.1, 0.0]]), (n, 1, 1))
    com = np.zeros((n, 3))
    com[:, 2] = h
    on = np.ones((n, 4), dtype=bool)
    assert tipping(com, feet, on, step).time == 0.0
    com[50:, 0] = 0.13
    out = tipping(com, feet, on, step)
    assert out.time == pytest.approx(0.5 / np.sqrt(h / 9.81), rel=1e-3)
    assert out.distance == pytest.approx(0.03 / h)
    assert not out.safe
    assert "may tip" in out.note
