"""The verbs in the real worker: what comes out is what the same computation gives here, and faults are one line."""

from __future__ import annotations

import os
import resource
import signal

import numpy as np
import pytest

from bunraku.formats.registry import read_character, read_clip, read_performance
from bunraku.optimization.solution import Status
from bunraku.performers.locomotion.performer import LocomotionPerformer
from bunraku.stage.figure.figure import Figure
from bunraku.studio.jobs.drawn_file import read_drawn
from bunraku.studio.jobs.exchange import read_curves

BASE = "base.tx"
GOING = {"character": "swizzlebot", "clip": "swizzle", "options": {"samples": 24, "cycles": 2}}


def run(jobs, verb, **arguments):
    """The state after a job."""
    jobs.start(verb, arguments)
    return jobs.wait(300.0)


@pytest.fixture(scope="module")
def performed(solver):
    """The state of a performance, and the performance."""
    state = run(solver, "perform", **GOING)
    assert state.status == "done", state.error
    return state, read_performance(state.result["path"])


def test_a_performance_is_that_of_the_performer_here(performed):
    state, performance = performed
    here = LocomotionPerformer(samples=24, cycles=2).perform(read_character("swizzlebot"), read_clip("swizzle"))
    np.testing.assert_allclose(performance.motion.values, here.motion.values, rtol=0.0, atol=1e-6)  # BLAS has other threads here
    assert performance.certificate.status == here.certificate.status
    for there, check in zip(performance.certificate.checks, here.certificate.checks, strict=True):
        assert (there.name, there.holds) == (check.name, check.holds)
        assert there.value == pytest.approx(check.value, rel=1e-3, abs=1e-6, nan_ok=True)
    assert state.result["performer"] == "locomotion"
    assert "end effectors" in state.result["reason"]
    assert state.result["certificate"]["holds"] is True
    assert len(state.result["certificate"]["checks"]) == len(here.certificate.checks)
    residuals = [figures["residual"] for _, figures in state.history if "residual" in figures]
    assert residuals[-1] < 1e-5 < residuals[0]


def test_the_replay_goes_beside_the_plan(solver, performed):
    performance = performed[1]
    state = run(solver, "verify", performance=performed[0].result["path"])
    assert state.status == "done", state.error
    assert state.result["holds"] is True
    assert state.result["sentence"].startswith("Proven: ")
    assert not any(check["state"] == "broken" for check in state.result["checks"])
    curves = read_curves(state.result["replay"])
    assert curves.rate == performance.rate
    assert set(curves.names) == set(performance.character.coordinates)
    n = min(len(curves.values), len(performance.motion.values))
    assert n > 0.9 * len(performance.motion.values)
    driven = [motor.coordinate for motor in performance.character.motors]
    apart = np.column_stack([curves.column(name)[:n] - performance.motion.column(name)[:n] for name in driven])
    assert np.sqrt(np.mean(apart**2)) < 0.05
    moved = [
        curve.values[n - 1, curve.names.index(BASE)] - curve.values[0, curve.names.index(BASE)]
        for curve in (curves, performance.motion)
    ]
    assert moved[0] == pytest.approx(moved[1], rel=0.1)


def test_what_is_drawn_needs_no_computing_here(solver, performed):
    performance = performed[1]
    state = run(solver, "drawn", performance=performed[0].result["path"], which=["motion", "wish"])
    assert state.status == "done", state.error
    drawn = read_drawn(state.result["paths"]["motion"], Figure(performance.character))
    assert drawn.duration == pytest.approx(performance.motion.duration)
    home = run(solver, "drawn", character=performance.character)
    assert len(read_drawn(home.result["path"], Figure(performance.character)).times) == 1
    assert "cannot be drawn" in run(solver, "drawn", performance=performed[0].result["path"], which="dream").error


def test_a_design_improves_by_itself(solver):
    state = run(
        solver, "design", character="swizzlebot", clip="swizzle", samples=12, aim="energy", free=["F.hip x", "F.hip y"], steps=1
    )
    assert state.status == "done", state.error
    facts = state.result
    assert facts["feasible"]
    assert facts["energy_after"] < facts["energy_before"]
    energies = [step["energy"] for step in facts["steps"]]
    assert energies[-1] == pytest.approx(facts["energy_after"])
    made, old = read_character(facts["path"]), read_character("swizzlebot")
    assert made != old
    assert [joint.name for joint in made.joints] == [joint.name for joint in old.joints]


def test_a_design_by_hand_keeps_what_is_asked(solver):
    given = {"character": read_character("swizzlebot"), "clip": "swizzle", "samples": 12, "changes": {"F.hip x": 0.112}}
    state = run(solver, "design", **given, keep="feet")
    assert state.status == "done", state.error
    assert state.result["parameters"]["F.hip x"] == pytest.approx(0.112)
    assert state.result["drift"] < 1e-3
    assert "nothing is left" in run(solver, "design", **given, aim="energy", free=["F.hip x"]).error
    assert "cannot be built" in run(solver, "design", **(given | {"changes": {"F.hip x": 3.0}})).error


def test_a_captured_skeleton_is_retargeted(solver):
    state = run(solver, "retarget", character="nao", clip="chicken-dance")
    assert state.status == "done", state.error
    clip = read_clip(state.result["path"])
    assert clip.joints is not None
    assert any("RMS" in note for note in state.result["notes"])


@pytest.mark.parametrize(
    ("verb", "arguments", "error"),
    [
        ("perform", {"character": "nobody", "clip": "swizzle"}, "nobody"),
        ("perform", {"clip": "swizzle"}, "perform needs 'character'"),
        ("perform", {"character": "swizzlebot", "clip": "swizzle", "speed": 3}, "perform takes no 'speed'"),
        ("perform", {"character": "swizzlebot", "clip": "swizzle", "options": {"speed": 3}}, "no option 'speed'"),
        ("perform", {"character": "swizzlebot", "clip": "swizzle", "performer": "marionette"}, "cannot move"),
        ("perform", {"character": 3, "clip": "swizzle"}, "another kind of value"),
        ("design", {"character": "nao", "clip": "no-problem"}, "has no gait"),
        ("design", {"character": "swizzlebot", "clip": "swizzle", "aim": "beauty"}, "one of energy"),
        ("timing", {"character": "swizzlebot", "clip": "swizzle"}, "swizzle"),
        ("fabricate", {"character": "nao"}, "not made of components"),
        ("fabricate", {"character": "car", "printer": [1.0, 2.0]}, "three lengths"),
        ("surface", {"file": "nowhere.obj", "recipe": {"template": "monster"}}, "nowhere.obj"),
        ("surface", {"file": "nowhere.obj", "recipe": {"template": "horse"}}, "horse"),
        ("planned", {"file": "nowhere.obj", "recipe": {"colour": "red"}}, "has no 'colour'"),
        ("verify", {"performance": "nowhere.performance.npz"}, "nowhere.performance.npz"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(solver, verb, arguments, error):
    state = run(solver, verb, **arguments)
    assert state.status == "failed"
    assert error in state.error
    assert "unexpected" not in state.error
    assert "\n" not in state.error


LONG = {"character": "walker", "clip": "crawl", "options": {"samples": 1600, "tolerance": 1e-9}}


def test_a_cancelled_performance_is_the_best_so_far(solver, started):
    started("perform", LONG)
    solver.cancel()
    state = solver.wait(120.0)
    assert state.status == "cancelled"
    assert state.error == ""
    kept = read_performance(state.result["path"])
    assert kept.certificate.status is Status.CANCELLED
    assert not kept.certificate.holds
    assert state.result["certificate"]["status"] == "cancelled"
    assert np.isfinite(kept.motion.values).all()


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="limits the size of the worker's files")
def test_a_full_disk_is_said_and_the_next_job_works(solver, performed, tmp_path):
    before = resource.prlimit(solver.worker_pid, resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
    state = run(solver, "perform", **GOING, target=str(tmp_path / "show.performance.npz"))
    assert state.status == "failed"
    assert "cannot be written" in state.error
    assert "space left" in state.error
    assert not list(tmp_path.iterdir())
    resource.prlimit(solver.worker_pid, resource.RLIMIT_FSIZE, before)
    assert run(solver, "perform", **GOING, target=str(tmp_path / "show.performance.npz")).status == "done"


def test_a_folder_that_is_not_there_is_said_before_anything_is_computed(solver, tmp_path):
    state = run(solver, "perform", **GOING, target=str(tmp_path / "nowhere" / "show.performance.npz"))
    assert state.status == "failed"
    assert "does not exist" in state.error
    assert not state.history


def test_a_performance_killed_on_the_way_leaves_nothing_half_written(solver, started, tmp_path):
    target = tmp_path / "show.performance.npz"
    started("perform", LONG | {"target": str(target)})
    os.kill(solver.worker_pid, signal.SIGKILL)
    assert solver.wait().status == "lost"
    assert "augmented Lagrangian" in solver.wait().error
    assert not list(tmp_path.iterdir())
    assert run(solver, "perform", **GOING, target=str(target)).status == "done"
    assert read_performance(target).certificate.holds
