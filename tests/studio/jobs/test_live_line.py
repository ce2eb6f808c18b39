"""The line to the live worker: the newest request of each handle waits, older ones are dropped, nothing is lost when it dies."""

from __future__ import annotations

import json
import os
import queue
import signal

import pytest

from bunraku.errors import BadInput

ECHO = """
import json
from bunraku.errors import BadInput

def live(arguments, folder, monitor):
    requests = arguments["requests"]
    if any(request.get("gate") for request in requests):
        (folder / "begun").write_text("")
        with open(folder / "gate") as gate:
            gate.read()
    if any(request.get("wait") for request in requests):
        (folder / "ready").open("w").close()
        while not monitor.cancelled:
            pass
        requests.append("cut short")
    raise BadInput(json.dumps(requests))
"""


@pytest.fixture
def line(scripted, make_jobs):
    """Jobs whose live worker says what it was asked, and the queue of answers."""
    scripted(ECHO)
    answers = queue.Queue()
    jobs = make_jobs(on_live=answers.put)
    jobs.live_folder.mkdir()
    return jobs, answers, jobs.live_folder


def asked(answer):
    """What the worker was asked."""
    return json.loads(answer.error)


def test_the_newest_of_each_handle_waits(line):
    jobs, answers, folder = line
    os.mkfifo(folder / "gate")
    jobs.live({"kind": "open", "character": "a", "gate": True})
    for x in (1.0, 2.0, 3.0):
        jobs.live({"kind": "target", "number": 0, "place": [x, None, None]})
        jobs.live({"kind": "target", "number": 1, "place": [-x, None, None]})
    jobs.live({"kind": "goal", "turn": 0.1})
    jobs.live({"kind": "target", "number": 0, "place": [4.0, None, None], "phase": "release"})
    (folder / "gate").open("w").close()
    first, second = answers.get(timeout=300.0), answers.get(timeout=300.0)
    assert (first.kind, first.latest, second.latest) == ("open", False, True)
    assert [(one["kind"], one.get("number"), one.get("place", [None])[0]) for one in asked(second)] == [
        ("target", 1, -3.0),
        ("goal", None, None),
        ("target", 0, 4.0),
    ]
    assert (second.kind, second.phase) == ("target", "release")
    assert answers.empty()


def test_a_release_is_cut_short_by_the_next_drag(line):
    jobs, answers, folder = line
    os.mkfifo(folder / "ready")
    jobs.live({"kind": "open", "character": "a"})
    answers.get(timeout=300.0)
    jobs.live({"kind": "goal", "turn": 0.1, "phase": "release", "wait": True})
    (folder / "ready").open().close()
    jobs.live({"kind": "goal", "turn": 0.2, "phase": "drag"})
    assert asked(answers.get(timeout=300.0))[-1] == "cut short"
    assert asked(answers.get(timeout=300.0))[0]["turn"] == 0.2


def test_after_a_kill_the_next_edit_brings_all_edits_back(line):
    jobs, answers, folder = line
    os.mkfifo(folder / "ready")
    jobs.live({"kind": "open", "character": "a"})
    jobs.live({"kind": "dimensions", "parameters": {"leg": 0.1}})
    answers.get(timeout=300.0)
    answers.get(timeout=300.0)
    jobs.live({"kind": "goal", "turn": 0.1, "wait": True})
    (folder / "ready").open().close()
    os.kill(jobs.live_pid, signal.SIGKILL)
    lost = answers.get(timeout=300.0)
    assert "SIGKILL" in lost.error
    assert lost.curves is None
    jobs.live({"kind": "goal", "turn": 0.3})
    again = asked(answers.get(timeout=300.0))
    assert [one["kind"] for one in again] == ["open", "dimensions", "goal"]
    assert again[-1]["turn"] == 0.3


def test_another_gait_forgets_goals_and_targets(line):
    jobs, answers, _ = line
    jobs.live({"kind": "open", "character": "a"})
    jobs.live({"kind": "goal", "turn": 0.1})
    answers.get(timeout=300.0)
    answers.get(timeout=300.0)
    jobs.live({"kind": "gait", "clip": "b"})
    answers.get(timeout=300.0)
    os.kill(jobs.live_pid, signal.SIGKILL)
    while jobs.live_pid is not None:
        pass
    jobs.live({"kind": "dimensions", "parameters": {}})
    assert [one["kind"] for one in asked(answers.get(timeout=300.0))] == ["open", "gait", "dimensions"]


def test_what_is_no_request_is_refused(line):
    jobs, _, _ = line
    with pytest.raises(BadInput, match="there are open"):
        jobs.live({"kind": "wish"})
    with pytest.raises(BadInput, match="open first"):
        jobs.live({"kind": "goal", "turn": 0.1})
    assert jobs.live_pid is None
    jobs.close()
    with pytest.raises(BadInput, match="closed"):
        jobs.live({"kind": "open", "character": "a"})


def test_the_motion_of_what_is_no_longer_open_is_told_to_nobody(line):
    jobs, answers, folder = line
    os.mkfifo(folder / "gate")
    jobs.live({"kind": "open", "character": "a", "gate": True})
    jobs.live({"kind": "open", "character": "b"})
    (folder / "gate").open("w").close()
    assert asked(answers.get(timeout=300.0))[0]["character"] == "b"
    assert answers.empty()
