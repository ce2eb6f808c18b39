"""Replay in the full elastic model: it agrees with the reduced one, and is computed once."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.motion import Channel, JointCurves
from bunraku.optimization.monitor import Monitor
from bunraku.verification.flexible import full_order, targets
from bunraku.verification.flexible.full_order import found_full_order, replay_full_order
from bunraku.verification.flexible.judge import FLOOR, SHARE, judged_again
from bunraku.verification.verify import verify


@pytest.fixture(scope="module", autouse=True)
def own_results(own_cache: None) -> Iterator[None]:
    """What is computed here is kept apart: other tests of this rod, in another process at the same time, must not find it."""
    folder = os.environ["BUNRAKU_CACHE"]
    os.environ["BUNRAKU_CACHE"] = os.path.join(folder, "full-order")
    yield
    os.environ["BUNRAKU_CACHE"] = folder


@pytest.fixture(scope="module")
def replay(quiet_turn):
    judged = judged_again(quiet_turn)[1]
    return replay_full_order(quiet_turn, ("tip",), guide=(judged.after.times, judged.targets.positions))


@pytest.mark.parametrize("last", [0.6, 0.592])
def test_targets_between_the_samples(last) -> None:
    """A guide that wiggles as the target does but stands and bends elsewhere: exact. Without it the wiggle is a spline's guess."""
    fine = 2e-3 * np.arange(round(last / 2e-3) + 1)
    known = np.append(np.arange(0.0, last - 1e-9, 0.02), last)
    times = np.append(np.arange(0.0, last - 1e-9, 4e-3), last)

    def path(t: np.ndarray, off: float) -> np.ndarray:
        cubic = off * (1.0 + t - 2.0 * t**2 + t**3)
        return np.stack([np.stack([np.sin(150.0 * t) + cubic, cubic, t], -1), np.stack([t, t**2, cubic], -1)], 1)

    samples, wanted = path(known, 0.01), path(times, 0.01)
    led = targets.between(times, known, samples, (fine, path(fine, 0.0)))
    np.testing.assert_allclose(led, wanted, atol=1e-12)
    alone = targets.between(times, known, samples, None)
    np.testing.assert_allclose(alone[:, 1], wanted[:, 1], atol=1e-12)
    assert np.abs(alone[:, 0] - wanted[:, 0]).max() > 0.01


def test_a_short_rod_does_what_the_reduced_model_predicts(quiet_turn, replay) -> None:
    """1.1 mm were predicted: the same within a twentieth of a millimetre, on the same mesh; targets within a thousandth."""
    judged = judged_again(quiet_turn)[1]
    assert not replay.lost
    every = round(4e-3 / 2e-3)
    count = len(replay.times)
    np.testing.assert_allclose(replay.times, 4e-3 * np.arange(count), atol=1e-12)
    assert count == 151
    moved = np.abs(replay.positions[:, 0] - judged.after.seen.positions[::every, 0]).max()
    wanted = np.abs(replay.targets[:, 0] - judged.targets.positions[::every, 0]).max()
    assert moved < 5e-5
    assert wanted < 1e-6
    assert replay.peak == pytest.approx(judged.after.distance[::every].max(), abs=5e-5)
    assert replay.peak == replay.error.max()
    assert replay.rms == pytest.approx(np.sqrt((replay.error**2).mean()), rel=1e-12)
    assert replay.rms == pytest.approx(judged.after.rms, abs=1e-5)
    assert replay.drift < 1e-9
    assert replay.unknowns > 500


def test_the_second_time_nothing_is_simulated(quiet_turn, replay, monkeypatch) -> None:
    def never(*_):
        raise AssertionError("simulated again")

    monkeypatch.setattr(full_order, "full_model", never)
    again = replay_full_order(quiet_turn, ("tip",))
    for name in ("times", "positions", "targets"):
        np.testing.assert_array_equal(getattr(again, name), getattr(replay, name))
    assert (again.drift, again.unknowns, again.steps_per_s) == (replay.drift, replay.unknowns, replay.steps_per_s)
    verdict = verify(quiet_turn, replay=False)
    assert verdict.holds
    assert verdict.figures["full_order_peak_error_m"] == replay.peak
    assert verdict.figures["full_order_rms_error_m"] == replay.rms
    checks = {check.name: check for check in verdict.checks}
    judged, floor = verdict.judge.judged, FLOOR * verdict.judge.promise.size
    assert checks["peak error in full order"].threshold == pytest.approx(judged.after.peak + SHARE * judged.before.peak + floor)
    assert checks["RMS error in full order"].threshold == pytest.approx(judged.after.rms + SHARE * judged.before.rms + floor)
    assert checks["RMS error in full order"].value == replay.rms


def test_what_it_was_computed_from_is_its_key(quiet_turn, replay) -> None:
    """Another channel, wish, character or place: not computed yet. What does not count, does not."""
    (channel,) = quiet_turn.channels
    values = channel.values.copy()
    values[30] += 1e-9
    heavier = quiet_turn.character.changed(
        bodies=tuple(body.changed(mass=body.mass * 1.001) for body in quiet_turn.character.bodies)
    )
    wish = JointCurves(quiet_turn.wish.names, quiet_turn.wish.rate, quiet_turn.wish.values + 1e-9)
    for other in (
        quiet_turn.changed(channels=(dataclasses.replace(channel, values=values),)),
        quiet_turn.changed(wish=wish),
        quiet_turn.changed(character=heavier),
    ):
        assert found_full_order(other, ("tip",)) is None
    assert found_full_order(quiet_turn, ("hub",)) is None
    assert found_full_order(quiet_turn.changed(clip_name="another"), ("tip",)) is not None


def test_no_cache_no_memory(quiet_turn, replay, monkeypatch) -> None:
    monkeypatch.setenv("BUNRAKU_CACHE", "off")
    assert found_full_order(quiet_turn, ("tip",)) is None


class Impatient(Monitor):
    """Cancels at once."""

    def report(self, event) -> None:
        pass

    @property
    def cancelled(self) -> bool:
        return True


def test_what_was_cancelled_is_not_kept_and_breaks_the_promise(quiet_turn) -> None:
    (channel,) = quiet_turn.channels
    other = quiet_turn.changed(channels=(dataclasses.replace(channel, values=channel.values + 1e-6),))
    made = replay_full_order(other, ("tip",), monitor=Impatient())
    assert made.lost
    assert made.peak == np.inf
    assert found_full_order(other, ("tip",)) is None


def test_a_performance_of_three_samples_is_too_short(quiet_turn) -> None:
    (channel,) = quiet_turn.channels
    short = Channel(channel.name, "position", "rad", channel.rate, channel.values[:3])
    cut = {
        name: JointCurves(c.names, c.rate, c.values[:3]) for name, c in (("wish", quiet_turn.wish), ("motion", quiet_turn.motion))
    }
    with pytest.raises(BadInput, match="3 samples; the full-order model needs at least 4"):
        replay_full_order(quiet_turn.changed(channels=(short,), phrases=(), **cut), ("tip",))
