"""Live edits through the real worker: what comes back is the motion that the same edits give here."""

from __future__ import annotations

import queue

import numpy as np
import pytest

from bunraku.building.robot_design import built_in_design
from bunraku.design.live import LiveMotion
from bunraku.formats.registry import read_clip
from bunraku.studio.jobs.jobs import Jobs


@pytest.fixture(scope="module")
def line(tmp_path_factory):
    """Jobs with the slalom open, and the answers after the first."""
    answers = queue.Queue()
    jobs = Jobs(tmp_path_factory.mktemp("live"), on_live=answers.put)
    jobs.live({"kind": "open", "character": "agilebot", "clip": read_clip("slalom"), "samples": 16})
    first = answers.get(timeout=600.0)
    assert first.error == ""
    assert first.ok
    yield jobs, answers
    jobs.close()


def test_edits_give_the_motion_they_give_here(line):
    jobs, answers = line
    here = LiveMotion(built_in_design("agilebot"), read_clip("slalom").gait, samples=16)
    jobs.live({"kind": "target", "number": 0, "place": [None, 0.22, None], "phase": "release"})
    there = answers.get(timeout=300.0)
    here.drag(targets={0: (None, 0.22, None)})
    here.release()
    assert there.ok
    assert (there.kind, there.phase, there.status, there.violated) == ("target", "release", "converged", "")
    assert there.energy == pytest.approx(here.plan.solution.objective, rel=1e-9)
    curves = here.curves()
    assert there.curves.names == curves.names
    assert there.curves.rate == curves.rate
    assert np.allclose(there.curves.values, curves.values, atol=1e-9)


def test_a_dimension_and_the_goal_at_once(line):
    jobs, answers = line
    jobs.live({"kind": "dimensions", "parameters": {"F.knee z": -0.07}, "phase": "drag"})
    jobs.live({"kind": "goal", "distance": [1.0], "phase": "release"})
    found = [answers.get(timeout=300.0)]
    while found[-1].phase != "release":
        found.append(answers.get(timeout=300.0))
    assert found[-1].error == ""
    assert found[-1].ok
    assert found[-1].figures["distance"][0] == pytest.approx(1.0, abs=1e-4)
    assert len(list(jobs.live_folder.glob("answer-*"))) == 0


def test_another_footfall_is_solved(line):
    jobs, answers = line
    clip = read_clip("slalom")
    jobs.live({"kind": "gait", "clip": clip.changed(gait=clip.gait.changed(distance=(0.9, 0.0)))})
    found = answers.get(timeout=600.0)
    assert found.error == ""
    assert found.figures["distance"][0] == pytest.approx(0.9, abs=1e-4)


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        ({"kind": "dimensions", "parameters": {"F.knee z": 9.0}}, "cannot be built"),
        ({"kind": "dimensions", "parameters": {"wing span": 0.1}}, "no parameter"),
        ({"kind": "target", "number": 7, "place": [0.0, 0.0, 0.0]}, "target 7"),
        ({"kind": "goal", "turn": 0.0, "phase": "throw"}, "drag or a release"),
        ({"kind": "goal", "height": 0.1}, "takes no 'height'"),
        ({"kind": "gait", "clip": "no-problem"}, "no gait"),
    ],
)
def test_what_is_refused_is_said_and_editing_goes_on(line, request_, error):
    jobs, answers = line
    jobs.live(request_)
    refused = answers.get(timeout=300.0)
    assert error in refused.error
    assert refused.curves is None
    jobs.live({"kind": "goal", "distance": [0.95, None]})
    after = answers.get(timeout=300.0)
    assert after.error == ""
    assert after.curves is not None
