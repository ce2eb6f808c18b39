"""Trials: the same draws and the same verdict with any number of threads, spreads as stated, the factor that hurts."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.optimization.monitor import Event, Monitor
from bunraku.verification.trials.outcome import Trial, Trials
from bunraku.verification.trials.run import run_trials, with_trials
from bunraku.verification.trials.spread import FACTORS, DrawnWorld, Spread, draw_worlds
from bunraku.verification.verify import judge_of, verify
from bunraku.verification.wording import in_words
from bunraku.verification.worlds import World


@pytest.fixture(scope="module")
def drive(make_car, make_going, driving):
    """A car that drives 0.12 m against the drag of its wheels, which it is fed forward."""
    car = make_car("active", drag=0.5, speed_gain=0.1)
    q = driving(car, 0.4, 0.3)
    torque = {f"axle{i}": np.full(len(q), 0.5 * 0.4 * 0.03) for i in range(4)}
    speeds = {name: 0.4 / 0.03 + values / 0.1 for name, values in torque.items()}
    return make_going(car, q, 200.0, torque, speeds=speeds)


def test_the_verdict_is_the_same_with_any_number_of_threads(drive) -> None:
    one, two = (run_trials(judge_of(drive), 6, 3, threads=threads) for threads in (1, 2))
    assert [trial.as_json for trial in one.trials] == [trial.as_json for trial in two.trials]
    assert [trial.figures for trial in one.trials] == [trial.figures for trial in two.trials]
    assert one.hurts == two.hurts
    assert one.share == two.share == 1.0


def test_a_seed_draws_the_same_worlds_whatever_their_number(make_car) -> None:
    car = make_car("active")
    few, many = (draw_worlds(car, n, 7, duration=1.0, rate=200.0, friction=0.8) for n in (3, 12))
    assert [draw.factors for draw in few] == [draw.factors for draw in many[:3]]
    assert few[0].factors != draw_worlds(car, 1, 8, duration=1.0, rate=200.0, friction=0.8)[0].factors


def test_draws_keep_to_their_spread(make_car) -> None:
    """Unstated gains from half to twice, friction down to three quarters, pushes to 0.05 sqrt(g h), play of the unstated motors."""
    car = make_car("active")
    draws = draw_worlds(car, 300, 0, duration=2.0, rate=200.0, friction=0.8)
    found = {name: np.array([draw.factors[name] for draw in draws]) for name in FACTORS}
    assert 0.5 <= found["stiffness"].min() < 0.52
    assert 1.95 < found["stiffness"].max() <= 2.0
    assert 0.6 <= found["friction"].min() < 0.605
    assert 0.795 < found["friction"].max() <= 0.8
    height = 0.05 - 0.08 * 0.02 / 1.08
    assert 0.97 < found["push"].max() / (Spread().push * np.sqrt(9.81 * height)) <= 1.0
    masses = np.array([list(draw.world.masses.values()) for draw in draws])
    assert masses.std() == pytest.approx(0.05, rel=0.1)
    plays = np.array([draw.world.backlash for draw in draws])
    assert 0.95 < plays.max() / Spread().unstated_backlash <= 1.0
    stated = make_car("active", speed_gain=0.2)
    gains = np.array([draw.world.gain for draw in draw_worlds(stated, 300, 0, duration=2.0, rate=200.0, friction=0.8)])
    assert 1.0 / 1.1 <= gains.min() < gains.max() <= 1.1


def test_a_push_changes_the_speed_by_just_so_much(drive) -> None:
    """The base gets the velocity it is pushed with, at the time that is drawn."""
    from bunraku.verification.ground.plan import ground_plan
    from bunraku.verification.ground.replay import replay_plan

    plan = ground_plan(drive)
    still, pushed = (replay_plan(plan, World(1.0, 0.8, 200.0, push=push)) for push in (None, (0.15, 0.0, 0.05)))
    before = pushed.record.times < 0.15
    np.testing.assert_array_equal(pushed.record.com[before], still.record.com[before])
    sideways = pushed.record.qvel[:, 1]
    assert sideways[before].max() < 1e-6
    assert sideways[np.flatnonzero(~before)[0]] == pytest.approx(0.05, rel=0.2)


def _trials(strains: dict[str, np.ndarray], strain: np.ndarray) -> Trials:
    blank = dict.fromkeys(FACTORS, 0.0)
    rows = []
    for i, value in enumerate(strain):
        draw = DrawnWorld(i, World(), blank | {name: float(sizes[i]) for name, sizes in strains.items()})
        rows.append(Trial(draw, ("velocity error",) if value > 1.0 else (), False, float(value), {}, None))
    return Trials(0, tuple(rows))


def test_the_factor_that_hurts_most_is_found() -> None:
    """Friction makes the strain, whatever the shape of the curve; pushes add noise; nothing else varies."""
    random = np.random.default_rng(0)
    friction, push = random.uniform(0.6, 0.8, 64), random.uniform(0.0, 0.1, 64)
    seen = _trials({"friction": friction, "push": push}, np.exp(10.0 * (0.7 - friction)) + push)
    assert next(iter(seen.hurts)) == "friction"
    assert seen.hurts["friction"] < -0.95
    assert "friction hurts most, less is worse" in seen.hurts_most
    assert seen.worst.draw.number == int(np.argmax([trial.strain for trial in seen.trials]))
    assert seen.hurts["mass"] == 0.0
    unrelated = _trials({"friction": friction}, random.permutation(64) / 32.0)
    assert unrelated.hurts_most == "no factor stands out"
    alike = _trials({"friction": friction}, 0.9 - friction)
    assert alike.hurts["friction"] < -0.95
    assert alike.hurts_most == "no trial failed"


def test_the_share_is_a_promise_only_where_one_is_asked_for(drive) -> None:
    verdict = verify(drive)
    told = with_trials(verdict, 4, 0)
    check = next(check for check in told.checks if check.name == "trials that hold")
    assert (check.threshold, check.state, check.value) == (None, "", 1.0)
    assert "4 of 4 hold, 95 % interval 40 to 100 %; no trial failed; nearest to failing: trial" in check.note
    assert in_words(check).startswith("trials that hold: 100 % of the 4 trials (")
    assert with_trials(verdict, 4, 0, least=0.9).holds is verdict.holds
    rows = [Trial(t.draw, ("fell",) if i % 2 else (), bool(i % 2), 0.5, {}, None) for i, t in enumerate(told.trials.trials)]
    half = Trials(0, tuple(rows))
    assert [check.state for check in half.checks(0.9)] == ["broken", ""]
    assert [check.state for check in half.checks(0.5)] == ["holds", ""]


def test_puppets_say_that_their_trials_were_not_made(wave) -> None:
    verdict = with_trials(verify(wave, replay=False), 4)
    check = next(check for check in verdict.checks if check.name == "trials that hold")
    assert check.state == "not checked"
    assert verdict.trials is None


def test_bolted_robots_are_not_pushed(make_car) -> None:
    car = make_car("active")
    joints = tuple(joint.changed(kind="fixed") if joint.kind == "free" else joint for joint in car.joints)
    bolted = car.changed(joints=joints, home={})
    draws = draw_worlds(bolted, 3, 0, duration=1.0, rate=200.0, friction=None)
    assert {draw.world.push for draw in draws} == {None}


def test_trials_that_are_stopped_prove_nothing(drive) -> None:
    class Impatient(Monitor):
        cancelled = True

        def report(self, event: Event) -> None:
            """Nothing."""

    verdict = verify(drive)
    stopped = with_trials(verdict, 64, 0, least=0.5, threads=1, monitor=Impatient())
    assert verdict.holds
    assert not stopped.holds
    assert next(check for check in stopped.checks if check.name == "trials completed").broken
