"""A run by plain data alone: the same figures as performing by hand; refusals and accidents are results."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bunraku.batch import working
from bunraku.batch.plan import read_plan
from bunraku.batch.working import carry_out
from bunraku.errors import BadInput, Cancelled, MissingExtra
from bunraku.formats.performance_npz import read_performance_npz
from bunraku.formats.registry import read_character, read_clip
from bunraku.motion.excerpt import at_tempo
from bunraku.performers.performer import make_performer

Planned = Callable[..., Path]


def test_figures_are_those_of_performing_by_hand(planned: Planned, folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    plan = read_plan(planned(("measure:", "keep_performances: true\nmeasure:")))
    clip = read_clip(folder / "yes.clip.yaml")
    character = read_character(folder / "nodder.character.yaml")
    jobs = [(run, plan.job(run)) for run in plan.runs]
    shutil.move(folder, tmp_path_factory.mktemp("gone") / "away")  # a worker has no folder in common with us
    fastest = 0.0
    for run, job in jobs:
        found = carry_out(job)
        assert found["status"] == "done", found["reason"]
        by_hand = make_performer("speech", run.options).perform(character, at_tempo(clip, run.clip_changes["tempo"]))
        values = {check.name.replace(" ", "_"): check.value for check in by_hand.certificate.checks}
        wanted = {name: "nan" if np.isnan(value) else value for name, value in values.items()}
        assert {name: found["figures"][name] for name in wanted} == wanted
        assert found["figures"]["duration_s"] == pytest.approx(clip.duration / run.clip_changes["tempo"])
        kept = read_performance_npz(found["performance"], file="kept")
        assert (kept.motion.values == by_hand.motion.values).all()
        fastest = max(fastest, found["figures"]["velocity_violations_of_the_wish"])
    assert fastest > 0, "some of these wishes are too fast for the motor"


def test_refusals_are_results(planned: Planned) -> None:
    plan = read_plan(planned(("clip: tempo, values: [1, 2, 4]", "clip: start_s, values: [0.5, 7]")))
    states = [(carry_out(plan.job(run))["status"], run.clip_changes["start_s"]) for run in plan.runs]
    assert {state for state, start in states if start == 0.5} == {"done"}
    assert {state for state, start in states if start == 7} == {"refused"}
    reason = carry_out(plan.job(plan.runs[1]))["reason"]
    assert "the part from 7 s on of the clip 'yes'" in reason
    assert "bunraku-batch-" not in reason


def test_accidents_are_results(planned: Planned, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = read_plan(planned())
    job = plan.job(plan.runs[0])

    def broken(*_: object) -> None:
        raise ZeroDivisionError("on\npurpose")

    monkeypatch.setattr(working, "_changed", broken)
    found = carry_out(job)
    assert found["status"] == "failed"
    assert found["reason"].startswith("unexpected ZeroDivisionError: on purpose (test_working.py, line")
    assert "in broken" in found["report"]
    monkeypatch.undo()
    assert carry_out(job | {"versions": {"numpy": "0.1"}})["reason"].endswith("made with 0.1; install the same there")
    stranger = replace(plan.runs[0].character, label="nao", built_in=True).plain()
    found = carry_out(job | {"character": stranger})
    assert found["status"] == "failed"
    assert "is another one" in found["reason"]


def test_troubles_of_the_worker_may_be_tried_again(planned: Planned, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = read_plan(planned())
    job = plan.job(plan.runs[0])

    def state(job: dict[str, Any], *changes: tuple[object, str, object]) -> tuple[str, str]:
        with monkeypatch.context() as patch:
            patch.setattr(working, "_LAST", {})
            for where, name, value in changes:
                patch.setattr(where, name, value)
            found = carry_out(job)
        assert "bunraku-batch-" not in found["reason"]
        return found["status"], found["reason"]

    def raising(error: Exception, cause: Exception | None = None) -> Callable[..., None]:
        def broken(*_: object, **__: object) -> None:
            raise error from cause

        return broken

    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    status, reason = state(job, (os, "fsync", raising(full)))
    assert status == "failed"
    assert "No space left on device" in reason
    many = OSError(errno.EMFILE, os.strerror(errno.EMFILE))
    assert state(job, (working, "read_clip", raising(BadInput("cannot be read"), many)))[0] == "failed"
    stopped = (working, "_changed", raising(Cancelled("stopped")))
    assert state(job, stopped) == ("failed", "stopped")
    assert state(job | {"timeout": 1e-9}, stopped)[0] == "timeout"
    assert state(job, (working, "_changed", raising(MissingExtra("ruckig", "peers", "it"))))[0] == "failed"
    built_in = job | {"character": replace(plan.runs[0].character, label="nao", built_in=True).plain()}
    status, reason = state(built_in, (working, "pack", raising(BadInput("cannot be read (Input/output error)"))))
    assert (status, "Input/output error" in reason) == ("failed", True)
    assert state(job, (working, "_changed", raising(BadInput("no such joint"))))[0] == "refused"


def test_a_file_that_is_not_there_is_refused(planned: Planned, folder: Path) -> None:
    (folder / "nods.csv").unlink()
    plan = read_plan(planned())
    found = carry_out(plan.job(plan.runs[0]))
    assert (found["status"], "nods.csv" in found["reason"]) == ("refused", True)


def test_a_run_ends_at_its_timeout(planned: Planned) -> None:
    plan = read_plan(
        planned(text="bunraku: batch/1\ncharacters: [walker]\nclips: [crawl]\nperformers: [locomotion]\ntimeout_s: 0.001\n")
    )
    found = carry_out(plan.job(plan.runs[0]))
    assert (found["status"], found["reason"], found["figures"]) == ("timeout", "it took more than 0.001 s", {})


def test_dimensions_reach_the_character(tmp_path: Path) -> None:
    path = tmp_path / "legs.batch.yaml"
    path.write_text(
        "bunraku: batch/1\ncharacters: [skatebot]\nclips: [skate]\nvary:\n  - {design_mm: {F.knee z: [-80, -120]}, count: 2}\n"
    )
    plan = read_plan(path)
    found = [working._shaped(plan.job(run)) for run in plan.runs]
    knees = [next(joint for joint in one.joints if joint.name == "LF.knee").pose.position[2] for one in found]
    assert knees == [pytest.approx(-0.08), pytest.approx(-0.12)]


def test_a_gait_gets_another_speed() -> None:
    clip = read_clip("skate")
    gait = working._changed(clip, {"speed_m_s": 0.5}).gait
    assert gait is not None
    assert gait.distance == (pytest.approx(0.6), 0.0)
    gait = working._changed(clip, {"speed_m_s": 0.5, "cycle_s": 0.8}).gait
    assert gait is not None
    assert gait.duration == pytest.approx(0.8)
    assert gait.distance == (pytest.approx(0.4), 0.0)
