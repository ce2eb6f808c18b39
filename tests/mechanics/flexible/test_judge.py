"""The judge: the wish against itself, known lags, known tilts, and what a slow motion leaves."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from bunraku.errors import BadInput
from bunraku.mechanics.flexible.judge import Judged, TrackedError, hit_lags, judge, tilts
from bunraku.mechanics.flexible.system import flexible_system
from bunraku.mechanics.integrators.driven.outputs import OutputTargets
from bunraku.motion import JointCurves, Mark

RATE = 100.0


def turn(seconds: float, angle: float = 0.15, rest: float = 0.2) -> JointCurves:
    """From rest to rest in so many seconds."""
    t = np.arange(round(RATE * (seconds + 2 * rest)) + 1) / RATE
    s = np.clip((t - rest) / seconds, 0.0, 1.0)
    return JointCurves(("shoulder",), RATE, (angle * s**3 * (10 - 15 * s + 6 * s**2))[:, None])


@pytest.fixture
def model(one_rod):
    return flexible_system(one_rod())


def test_the_wish_itself_is_before_and_after(model) -> None:
    wish = turn(0.2)
    judged = judge(model, wish, wish, ("tip",))
    np.testing.assert_array_equal(judged.before.distance, judged.after.distance)
    assert judged.note == ""
    assert judged.after.peak > 5e-3
    assert judged.after.rms == pytest.approx(np.sqrt((judged.after.distance**2).mean()))
    np.testing.assert_allclose(judged.after.times, 2e-3 * np.arange(301), atol=1e-12)
    assert judged.after.of("tip", 0.1, 0.15).shape == (26,)
    assert judged.after.of("tip", 0.0, 0.19).max() < 1e-6  # what the cubic through the samples rings
    still = JointCurves(("shoulder",), RATE, np.full((30, 1), 0.4))
    assert judge(model, still, still, ("tip",)).after.peak < 1e-9


def test_targets_are_the_rest_of_the_wish_not_of_what_is_played(model) -> None:
    """Standing still where the wish turns: off by the whole way of the tip."""
    wish = turn(0.3)
    judged = judge(model, wish, JointCurves(("shoulder",), RATE, 0.0 * wish.values), ("tip",))
    way = np.linalg.norm(judged.targets.positions[-1, 0] - judged.targets.positions[0, 0])
    assert way == pytest.approx(2 * 0.5 * np.sin(0.075), rel=0.1)
    assert judged.after.peak == pytest.approx(way, rel=1e-5)


def test_a_slow_turn_is_off_by_acceleration_over_squared_frequency(model) -> None:
    """A turn of width s whose speed is a bell: its acceleration is at most 0.242 angle / s²; twice as slow, a quarter.

    The frequency is that of the mesh, lowered by gravity (6/5 of the weight over the length off the stiffness); the tip's arm is
    the length and the sag that grows with the angle.
    """
    m, weight, L = 0.1 + 33 / 140 * 7850 * np.pi * 0.002**2 * 0.5, 9.81 * (0.1 + 0.375 * 7850 * np.pi * 0.002**2 * 0.5), 0.5
    w2 = (2 * np.pi * model.parts["rod"].frequency) ** 2 - 1.2 * weight / L / m
    arm = L + weight / (m * w2)
    peaks = []
    for width in (0.3, 0.6):
        t = np.arange(round(8 * width * RATE) + 1) / RATE
        bell = 0.15 * norm.cdf((t - 4 * width) / width)
        wish = JointCurves(("shoulder",), RATE, bell[:, None])
        peaks.append(judge(model, wish, wish, ("tip",)).after.peak)
        assert peaks[-1] == pytest.approx(0.242 * 0.15 / width**2 * arm / w2, rel=0.07)
    assert peaks[0] / peaks[1] == pytest.approx(4.0, rel=0.05)


def test_a_turn_in_a_plane_stays_in_it(one_rod) -> None:
    """0.2 m of travel in x and z; sideways a thousandth of a millimetre, of the mesh, which is not symmetric."""
    t = np.arange(101) / RATE
    swing = JointCurves(("shoulder",), RATE, 0.3 * np.sin(5 * t)[:, None] ** 2)
    path = judge(flexible_system(one_rod(cell=0.007)), swing, swing, ("tip",)).after.seen.positions[:, 0]
    assert np.ptp(path[:, 0]) > 0.2
    assert np.abs(path[:, 1]).max() < 3e-6


def test_a_wish_that_cannot_be_simulated_has_no_before(model) -> None:
    calm, wild = turn(0.3), turn(0.3)
    wild = JointCurves(("shoulder",), RATE, wild.values + 60.0 * (np.arange(len(wild.values)) == 35)[:, None])
    judged = judge(model, wild, calm, ("tip",))
    assert judged.before is None
    assert judged.note.startswith("the wish as it is cannot be simulated: the simulation ended at t = 0.")
    with pytest.raises(BadInput, match=r"the motion cannot be simulated: .* ended at t = 0\.\d+ s, worst at .*'rod'"):
        judge(model, calm, wild, ("tip",))


def made(positions: np.ndarray, lag: int) -> Judged:
    """A motion that is its target, ``lag`` samples late."""
    still = np.tile(np.eye(3), (*positions.shape[:2], 1, 1))
    seen, times = OutputTargets(np.roll(positions, lag, axis=0), still), 2e-3 * np.arange(len(positions))
    names = tuple(f"p{k}" for k in range(positions.shape[1]))
    away = np.linalg.norm(seen.positions - positions, axis=2)
    return Judged(OutputTargets(positions, still), None, TrackedError(times, names, away, tilts(seen, seen), seen, None))


@pytest.mark.parametrize("lag", [-20, -3, 0, 7, 15])
def test_lags_of_hits_are_found(lag) -> None:
    """Two places that stop hard at 0.5 s and at 1.0 s, all of it shifted by whole samples of 2 ms; and a slow drift of one."""
    t = 2e-3 * np.arange(800)
    hit = np.exp(-(((t[:, None] - [0.5, 1.0]) / 0.03) ** 2))
    positions = np.stack([hit @ [0.1, 0.0], hit @ [0.0, 0.2], 0.0 * t, 0.01 * hit @ [1, 1], 0.0 * t, t], axis=1).reshape(-1, 2, 3)
    marks = [
        Mark("boom", 0.4, 0.6, 0.5),
        Mark("bang", 0.9, 1.1, 1.0),
        Mark("no stroke", 0.2, 0.3),
        Mark("too early", 0.0, 0.1, 0.05),
    ]
    found = hit_lags(made(positions, lag), marks)
    assert found == {"boom at 0.5 s": pytest.approx(2e-3 * lag), "bang at 1 s": pytest.approx(2e-3 * lag)}


def test_tilts_are_angles_between_axes() -> None:
    def about_y(a: float) -> np.ndarray:
        return np.array([[np.cos(a), 0.0, np.sin(a)], [0.0, 1.0, 0.0], [-np.sin(a), 0.0, np.cos(a)]])

    angles = np.array([0.0, 1e-9, 0.3, 1.7, 3.0])
    turned = np.array([about_y(a) for a in angles])[:, None]
    spun = turned @ np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    upright = OutputTargets(np.zeros((5, 1, 3)), np.tile(np.eye(3), (5, 1, 1, 1)))
    np.testing.assert_allclose(tilts(OutputTargets(np.zeros((5, 1, 3)), spun), upright)[:, 0], angles, rtol=1e-12)
