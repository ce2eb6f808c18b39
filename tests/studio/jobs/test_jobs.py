"""Jobs with small verbs of our own: order, cancelling, faults of a verb, and a worker that dies or hangs."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading

import pytest

from bunraku.errors import BadInput
from bunraku.studio.jobs import jobs as jobs_module
from bunraku.studio.jobs import process

ANSWER = """
def verify(arguments, folder, monitor):
    return {"pid": __import__("os").getpid(), **arguments}, False
"""

WAITING = (
    ANSWER
    + """
def perform(arguments, folder, monitor):
    from bunraku.optimization.monitor import Event
    import time
    monitor.report(Event("waiting", 0.25, "for you", {"energy": 2.0}))
    while not monitor.cancelled:
        time.sleep(0.005)
    return {"best": "so far"}, True
"""
)


COMPILING = """
import numba

@numba.njit
def inner(x):
    return x + 1.0

@numba.njit
def outer(x):
    return inner(x)

def perform(arguments, folder, monitor):
    from bunraku.optimization.monitor import Event
    monitor.report(Event("planning", 0.5, "24 samples", {"energy": 2.0}))
    outer(1.0)
    outer(2.0)
    return {}, False
"""


class Heard:
    """Keeps the states it is told and lets a test wait for one."""

    def __init__(self):
        self.states = []
        self.news = threading.Condition()

    def __call__(self, state):
        with self.news:
            self.states.append(state)
            self.news.notify_all()

    def until(self, wanted):
        with self.news:
            assert self.news.wait_for(lambda: any(wanted(state) for state in self.states), 300.0)
            return next(state for state in self.states if wanted(state))


def test_kernels_that_are_compiled_are_said(scripted, make_jobs):
    scripted(COMPILING)
    heard = Heard()
    jobs = make_jobs(on_change=heard)
    for said in (["24 samples", "24 samples; compiling kernels, once on this machine (1 so far)", "24 samples"], ["24 samples"]):
        heard.states.clear()
        jobs.start("perform", {})
        assert jobs.wait().status == "done"
        heard.until(lambda state: state.status == "done")
        running = [state for state in heard.states if state.running and state.message]
        assert [state.message for state in running] == said
        assert {(state.stage, state.fraction) for state in running} == {("planning", 0.5)}


def test_a_worker_is_kept_and_results_arrive(scripted, make_jobs):
    scripted(ANSWER)
    jobs = make_jobs()
    first, second = (jobs.start("verify", {"a": k}) and jobs.wait() for k in (1, 2))
    assert (first.status, first.result["a"], second.result["a"]) == ("done", 1, 2)
    assert first.result["pid"] == second.result["pid"] == jobs.worker_pid
    assert (first.id, second.id) == (1, 2)


def test_a_running_job_keeps_others_out_and_cancel_keeps_the_best(scripted, make_jobs):
    scripted(WAITING)
    heard = Heard()
    jobs = make_jobs(on_change=heard)
    jobs.start("perform", {})
    state = heard.until(lambda state: state.stage == "waiting")
    assert (state.status, state.fraction, state.message) == ("running", 0.25, "for you")
    assert state.history[0][1] == {"energy": 2.0}
    with pytest.raises(BadInput, match="still running"):
        jobs.start("verify", {})
    jobs.cancel()
    jobs.cancel()
    assert jobs.wait().status == "cancelled"
    assert jobs.wait().result == {"best": "so far"}
    jobs.start("verify", {})
    assert jobs.wait().status == "done"
    heard.until(lambda state: state.verb == "verify" and state.status == "done")
    assert [state.status for state in heard.states if state.id == 1][-1] == "cancelled"


def test_cancel_before_the_worker_has_begun(scripted, make_jobs):
    scripted(WAITING)
    jobs = make_jobs()
    jobs.start("perform", {})
    jobs.cancel()
    assert (jobs.wait().status, jobs.wait().result) == ("cancelled", {"best": "so far"})


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("from bunraku.errors import BadInput\n    raise BadInput('no such\\nfoot')", "no such foot"),
        ("raise MemoryError", "no memory was left"),
        ("return 1 / 0", "unexpected ZeroDivisionError: division by zero (own.py, line 3)"),
        ("return {'text': 'x' * (1 << 21)}, False", "unexpected ValueError"),
        ("raise SystemExit(3)", "it ended with code 3"),
    ],
)
def test_faults_of_a_verb_are_one_line_and_the_next_job_works(scripted, make_jobs, body, error):
    scripted(f"\ndef perform(arguments, folder, monitor):\n    {body}\n" + ANSWER)
    jobs = make_jobs()
    jobs.start("perform", {})
    state = jobs.wait()
    assert state.status == ("lost" if "SystemExit" in body else "failed")
    assert error in state.error
    assert "\n" not in state.error
    assert ("unexpected" in error) == ("please send in" in state.error)
    assert not state.result
    jobs.start("verify", {})
    assert jobs.wait().status == "done"


def test_a_killed_worker_is_lost_in_words_and_replaced(scripted, make_jobs):
    scripted(WAITING)
    heard = Heard()
    jobs = make_jobs(on_change=heard)
    jobs.start("perform", {})
    heard.until(lambda state: state.stage == "waiting")
    old = jobs.worker_pid
    os.kill(old, signal.SIGKILL)
    state = jobs.wait()
    assert state.status == "lost"
    assert "SIGKILL" in state.error
    assert "waiting" in state.error
    assert "start it again" in state.error
    jobs.start("verify", {})
    assert jobs.wait().status == "done"
    assert jobs.wait().result["pid"] != old


def test_a_worker_that_does_not_stop_is_ended(scripted, make_jobs, monkeypatch):
    monkeypatch.setattr(jobs_module, "GRACE", 0.2)
    scripted(WAITING)
    heard = Heard()
    jobs = make_jobs(on_change=heard)
    jobs.start("perform", {})
    heard.until(lambda state: state.stage == "waiting")
    os.kill(jobs.worker_pid, signal.SIGSTOP)
    jobs.cancel()
    state = jobs.wait()
    assert state.status == "cancelled"
    assert "did not stop when asked" in state.error
    jobs.start("verify", {})
    assert jobs.wait().status == "done"


class Clock:
    """A clock that a test sets; it tells when it has been read again."""

    def __init__(self):
        self.now, self.reads = 0.0, threading.Semaphore(0)

    def monotonic(self):
        self.reads.release()
        return self.now


def test_one_that_has_noticed_gets_time_to_keep_the_best(scripted, make_jobs, monkeypatch, tmp_path):
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    noticed = f'    monitor.report(Event("keeping", 1.0))\n    open({str(gate)!r}).read()\n'
    scripted(WAITING.replace('    return {"best"', noticed + '    return {"best"'))
    monkeypatch.setattr(jobs_module, "time", clock := Clock())
    heard = Heard()
    jobs = make_jobs(on_change=heard)
    jobs.start("perform", {})
    heard.until(lambda state: state.stage == "waiting")
    jobs.cancel()
    heard.until(lambda state: state.stage == "keeping")
    clock.now = 0.5 * (jobs_module.GRACE + jobs_module.LAST_GRACE)
    while clock.reads.acquire(blocking=False):
        pass
    for _ in range(6):  # the watch reads it at most twice a round: it has looked at the time that is over for one that is deaf
        clock.reads.acquire()
    assert jobs.state.running
    gate.open("w").close()
    assert (jobs.wait().status, jobs.wait().result) == ("cancelled", {"best": "so far"})


def test_garbage_on_stdout_does_not_reach_the_studio(scripted, make_jobs):
    noise = """
import os, sys
def verify(arguments, folder, monitor):
    print('{"id": 1, "ended": "failed", "error": "forged"}')
    os.write(1, b'{"id": 1, "ended": "failed", "error": "forged"}\\n' + b"x" * 3_000_000)
    sys.stdout.flush()
    return {"a": 1}, False
"""
    scripted(noise)
    jobs = make_jobs()
    jobs.start("verify", {})
    state = jobs.wait()
    assert (state.status, state.error) == ("done", "")
    assert state.result == {"a": 1}


def test_a_worker_that_speaks_nonsense_is_not_believed(make_jobs, monkeypatch):
    nonsense = """
import sys
for line in sys.stdin:
    sys.stdout.write("Segmentation fault\\n" + "[" * 5000 + "\\n" + "y" * 3_000_000 + "\\n" + '{"id": 7, "ended": "done"}\\n')
    sys.stdout.write('{"id": 1, "ended": "perhaps"}\\n{"id": 1, "event": 3}\\n{"id": 1, "ended": "done", "result": [1]}\\n')
    sys.stdout.flush()
"""
    monkeypatch.setattr(process, "PROGRAM", ("-c", nonsense))
    jobs = make_jobs()
    jobs.start("verify", {})
    assert (jobs.wait().status, jobs.wait().result) == ("done", {})


def test_reports_are_few_but_no_figure_is_lost(scripted, make_jobs):
    chatter = """
def perform(arguments, folder, monitor):
    from bunraku.optimization.monitor import Event
    for k in range(300):
        monitor.report(Event("counting", k / 299, "", {"k": float(k)}))
    return {}, False
"""
    scripted(chatter)
    heard = Heard()
    jobs = make_jobs(on_change=heard)
    jobs.start("perform", {})
    state = jobs.wait()
    heard.until(lambda state: state.status == "done")
    told = [state for state in heard.states if state.stage == "counting"]
    assert 2 <= len(told) <= 3 + 20.0 * state.history[-1][0]
    values = [figures["k"] for _, figures in state.history]
    assert values[0] == 0.0
    assert values == sorted(values)
    assert len(values) >= 75


def test_a_listener_that_fails_does_not_matter(scripted, make_jobs):
    scripted(ANSWER)

    def fail(state):
        raise RuntimeError("a listener's own fault")

    jobs = make_jobs(on_change=fail)
    for _ in range(2):
        jobs.start("verify", {})
        assert jobs.wait().status == "done"


def test_unknown_jobs_and_closed_sessions_are_refused(make_jobs):
    jobs = make_jobs()
    for verb in ("dance", "live"):
        with pytest.raises(BadInput, match="there are perform"):
            jobs.start(verb, {})
    with pytest.raises(BadInput, match="nothing was started"):
        jobs.wait()
    jobs.cancel()
    jobs.close()
    with pytest.raises(BadInput, match="closed"):
        jobs.start("perform", {})


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="watches a process")
def test_closing_ends_the_worker(scripted, make_jobs):
    scripted(WAITING)
    heard = Heard()
    jobs = make_jobs(on_change=heard)
    jobs.start("perform", {})
    heard.until(lambda state: state.stage == "waiting")
    watch = os.pidfd_open(jobs.worker_pid)
    jobs.close()
    assert select.select([watch], [], [], 300.0)[0]
    os.close(watch)
    assert jobs.wait().status == "cancelled"


def test_a_worker_whose_stdin_closes_ends_even_while_it_is_heard():
    worker = subprocess.Popen([sys.executable, *process.PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert b"ready" in worker.stdout.readline()
    worker.stdin.close()
    assert worker.wait(300.0) == 0
    worker.stdout.close()


PARENT = """
import sys, threading
from pathlib import Path
from bunraku.studio.jobs.jobs import Jobs
jobs = Jobs(Path({folder!r}))
jobs.start("verify", {{"performance": "nothing.performance.npz"}})
print(jobs.worker_pid, flush=True)
threading.Event().wait()
"""


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="watches a process that is not our child")
def test_the_worker_ends_with_its_parent(tmp_path):
    parent = subprocess.Popen([sys.executable, "-c", PARENT.format(folder=str(tmp_path))], stdout=subprocess.PIPE)
    watch = os.pidfd_open(int(parent.stdout.readline()))
    parent.kill()
    parent.wait()
    parent.stdout.close()
    assert select.select([watch], [], [], 300.0)[0]
    os.close(watch)
