"""The demos: leading figures and own keys in their order, figures against recomputation, exit codes. Short windows throughout."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from bunraku.assets.examples import DEMOS
from bunraku.cli.main import _run
from bunraku.formats.registry import read_character, read_clip, read_performance
from bunraku.mechanics.dynamics.points import Points
from bunraku.mechanics.systems.marionette import tensions
from bunraku.performers.marionette.baselines import best_quasi_static
from bunraku.performers.marionette.problem import cut_wish, state_puppet_problem
from bunraku.performers.marionette.static_poses import StaticWeights
from bunraku.retargeting.retarget import retarget
from bunraku.verification import promises
from bunraku.verification.stability import returns

LEADING = ["demo", "performer", "status", "duration_s", "solve_s", "worst_limit_violation", "verified"]
OWN = [
    "dynamic_coordinates",
    "kinematic_coordinates",
    "strings",
    "iterations",
    "cost_initial",
    "cost_final",
    "constraint_residual_m",
    "minimum_tension_n",
    "imitation_rms_m",
    "baseline_rms_m",
    "replay_rms_m",
    "open_loop_replay_rms_m",
    "returned_fraction",
]
SHOW = """bunraku: clip/1
name: short
modes:
  duration_s: 1.6
  sequence:
  - {primitive: puppet-bow, start_s: 0}
  - {primitive: puppet-reach, start_s: 0.7}
  accents:
  - {time_s: 1.5, primitive: puppet-reach, coordinates: [l_shoulder.y]}
"""


@pytest.fixture
def shortened(monkeypatch):
    def change(name, clip=None, **options):
        shorter = replace(DEMOS[name], options={**DEMOS[name].options, **options}, clip=clip or DEMOS[name].clip)
        monkeypatch.setitem(DEMOS, name, shorter)

    return change


def figures_of(arguments, capsys):
    code = _run(["demo", *arguments, "--json"])
    said = capsys.readouterr()
    return code, json.loads(said.out), said.err


def test_the_marionette_says_what_can_be_computed_again(tmp_path, capsys, shortened) -> None:
    window = {"duration": 1.0, "blend": 0.2, "acceleration_weight": 1.0}
    shortened("marionette", **window)
    code, figures, words = figures_of(["marionette", "-o", str(tmp_path / "out")], capsys)
    assert list(figures) == [*LEADING, *OWN]
    assert [figures[key] for key in ("demo", "performer", "status")] == ["marionette", "marionette", "converged"]
    assert [figures[key] for key in ("dynamic_coordinates", "kinematic_coordinates", "strings")] == [22, 18, 6]
    assert figures["duration_s"] == pytest.approx(1.0)
    assert figures["solve_s"] > 0.0 == figures["worst_limit_violation"]
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "chicken-dance.performance.npz",
        "overview.png",
        "joints.png",
        "poses.png",
        "replay.png",
        "report.html",
    }
    puppet = read_character("marionette")
    wish = cut_wish(retarget(read_clip("chicken-dance"), puppet).clip.joints, rate=100.0, duration=1.0)
    problem = state_puppet_problem(puppet, wish, blend=0.2)
    system, integrator = problem.system, problem.dynamics.integrator
    performance = read_performance(tmp_path / "out" / "chicken-dance.performance.npz")
    k = performance.commands([system.names[i] for i in system.kinematic])
    start = integrator.initial(problem.rest[: system.nq], problem.rest[: system.nq])
    run = integrator.rollout(start.q, start.p, np.zeros((len(k) - 1, 0)), k[1:])
    assert figures["minimum_tension_n"] == pytest.approx(tensions(system, run).min(), rel=1e-3)
    assert figures["minimum_tension_n"] == performance.certificate.check("least tension").value
    points = Points(system, ("l_hand", "r_hand", "l_knee", "r_knee", "head"))
    off = np.linalg.norm(points.positions(run.q) - points.positions(problem.q), axis=2)
    assert figures["imitation_rms_m"] == pytest.approx(np.sqrt(np.mean(off**2)), rel=1e-4)
    slow = best_quasi_static(
        puppet,
        system,
        problem.q,
        points,
        np.full(5, 100.0),
        rate=100.0,
        cutoffs=(0.25, 0.35, 0.5, 1.0, 2.0),
        q_start=problem.rest[: system.nq],
        statics=[StaticWeights(vertical=v) for v in (0.1, 0.3, 1.0)],
    )
    assert figures["baseline_rms_m"] == pytest.approx(slow.rms, rel=1e-6)
    assert figures["returned_fraction"] == returns(performance).fraction
    covered = {check.name: check.holds for check in performance.certificate.checks if check.name.startswith("coverage")}
    assert "coverage" in covered
    assert figures["verified"] is all(covered.values()), "in so short a window with so dear accelerations limbs hardly move"
    kept = figures["imitation_rms_m"] <= 0.55 * slow.rms and figures["returned_fraction"] >= 0.95 and all(covered.values())
    assert (code, "\nProven: " in words, "\nNot proven: " in words) == (0 if kept else 1, kept, not kept)


def test_the_show_is_choreographed_and_then_performed(tmp_path, capsys, shortened) -> None:
    (tmp_path / "short.clip.yaml").write_text(SHOW)
    shortened("marionette-show", clip=str(tmp_path / "short.clip.yaml"))
    code, figures, _ = figures_of(["marionette-show", "-o", str(tmp_path / "out")], capsys)
    assert list(figures)[: len(LEADING)] == LEADING
    timed = read_clip(tmp_path / "out" / "short.clip.yaml")
    assert [figures["puppet_reach_at_s"]] == pytest.approx(list(timed.modes.switching_times))
    assert figures["saving"] == pytest.approx(1.0 - figures["cost_optimized"] / figures["cost_equal_spacing"])
    performance = read_performance(tmp_path / "out" / "short.performance.npz")
    assert figures["minimum_tension_n"] == performance.certificate.check("least tension").value
    start = {name: performance.wish.column(name)[0] for name in performance.wish.names}
    rest = dict(zip(performance.motion.names, performance.motion.values[0], strict=True))
    assert all(start[name] == pytest.approx(rest[name], abs=1e-6) for name in start)  # the show begins as the puppet hangs
    assert code == (0 if figures["saving"] >= 0.2 and figures["returned_fraction"] >= 0.95 else 1)


def test_a_broken_promise_is_exit_1(capsys, monkeypatch) -> None:
    monkeypatch.setattr(promises, "FIRST_STEP", 1.0)
    code, figures, words = figures_of(["double-pendulum", "--quick"], capsys)
    assert (code, figures["verified"]) == (1, True)  # the performance is what it says; the demo's own promise does not hold
    assert "Not proven: " in words
    assert "first Newton iterate" in words
    assert list(figures)[: len(LEADING)] == LEADING
    assert figures["cost_final"] < figures["cost_first_iterate"] <= 1.1 * figures["cost_final"]
    assert figures["first_iterate_ratio"] == pytest.approx(figures["cost_first_iterate"] / figures["cost_final"], rel=1e-6)
    assert figures["newton_order"] >= 1.8


def test_a_pendulum_that_has_no_time_does_not_stand(capsys, shortened) -> None:
    shortened("cart-pendulum", duration=1.6)
    code, figures, words = figures_of(["cart-pendulum", "--quick"], capsys)
    assert code == 1
    assert figures["standing_s"] == 0.0
    assert figures["imitation_rms_m"] > 0.01
    assert "standing" in words.split("Not proven")[1]


def test_the_arm_goes_through_its_singularity(capsys, shortened) -> None:
    shortened("puppet-arm", duration=2.1)
    code, figures, _ = figures_of(["puppet-arm", "--quick"], capsys)
    assert code == 0
    assert list(figures)[: len(LEADING)] == LEADING
    assert figures["straight_arm_passed"] == 2
    assert figures["condition_hand_max"] > 1e3
    assert 1.0 < figures["condition_step_max"] < 1e4
    assert figures["minimum_tension_n"] >= 0.1


def test_the_hand_returns_only_with_feedback(capsys, shortened, tmp_path) -> None:
    shortened("hand", duration=0.3)
    code, figures, _ = figures_of(["hand", "-o", str(tmp_path / "out")], capsys)
    assert code == 0
    assert list(figures)[: len(LEADING)] == LEADING
    assert (figures["mobility"], figures["reachable_dimension"], figures["tendons"], figures["loops"]) == (11, 22, 25, 5)
    assert (figures["returned_fraction"], figures["returned_without_feedback"]) == (1.0, 0.0)
    performance = read_performance(tmp_path / "out" / "hold.performance.npz")
    pulls = np.array([channel.values for channel in performance.channels])
    assert {channel.unit for channel in performance.channels} == {"N"}
    assert figures["minimum_tension_n"] == pulls.min() > 0.0
    assert figures["nudge_rad"] == pytest.approx(0.05, rel=0.1)
    assert figures["nudge_at_end_rad"] < 0.02 * figures["nudge_rad"]
    assert figures["replay_rms_m"] < 0.1 * figures["open_loop_replay_rms_m"]


@pytest.mark.parametrize("arguments", [["opera"], ["marionette", "-o", "a-file"]])
def test_bad_input_is_exit_2(arguments, capsys, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a-file").write_text("")
    assert _run(["demo", *arguments]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert ("there is no demo 'opera'; there are speech, marionette" in said.err) or ("give a folder" in said.err)


def test_the_list_names_every_demo(capsys) -> None:
    assert _run(["demo", "--list"]) == 0
    listed = [line.split()[0] for line in capsys.readouterr().err.splitlines()]
    small = ["speech", "marionette", "marionette-show", "cart-pendulum", "double-pendulum", "puppet-arm", "hand"]
    bending = ["one-rod", "two-rods", "dancer", "bartender", "rapper", "drummer", "boxer"]
    rolling = ["swizzlebot", "swizzlebot-turn", "swizzlebot-rest", "creature3", "creature3-fast", "creature3-turn"]
    rolling += ["brainbot", "brainbot-turn", "agilebot-start-stop", "agilebot-turn", "agilebot-slalom", "agilebot-sidestep"]
    going = [*rolling, "skatebot", "dinobot", "walker-crawl", "walker-trot", "tilted-car", "growing-robot", "motion-graph"]
    skinned = [
        "beetle-lift",
        "beetle-lift-two",
        "beetle-walk",
        "monster-walk",
        "monster-walk-high",
        "monster-trot",
        "lizard-walk",
        "fold",
    ]
    assert listed == [*small, *bending, *going, *skinned, "full-show"]
