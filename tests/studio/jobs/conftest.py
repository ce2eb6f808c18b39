"""Workers for tests: the real one, and ones whose verbs a test writes itself."""

from __future__ import annotations

import threading

import pytest

from bunraku.studio.jobs import process
from bunraku.studio.jobs.jobs import Jobs

SCRIPT = """
import sys
sys.path.append({folder!r})
import own
from bunraku.studio.jobs.verbs.table import VERBS
from bunraku.studio.jobs.worker import main
VERBS.update({{verb: f"own:{{verb}}" for verb in VERBS if hasattr(own, verb)}})
main()
"""


@pytest.fixture
def scripted(monkeypatch, tmp_path):
    """Lets workers run verbs from the source text that a test gives."""

    def use(source):
        (tmp_path / "own.py").write_text(source)
        monkeypatch.setattr(process, "PROGRAM", ("-c", SCRIPT.format(folder=str(tmp_path))))

    return use


@pytest.fixture
def make_jobs(tmp_path):
    """Makes jobs, and ends their workers after the test."""
    made = []

    def make(**listeners):
        made.append(Jobs(tmp_path / "jobs", **listeners))
        return made[-1]

    yield make
    for jobs in made:
        jobs.close()


@pytest.fixture(scope="session")
def listeners():
    """Who is told of the solver's states."""
    return []


@pytest.fixture(scope="session")
def solver(tmp_path_factory, listeners):
    """The real worker, kept over tests: its kernels take seconds to load."""
    jobs = Jobs(tmp_path_factory.mktemp("solver"), on_change=lambda state: [listener(state) for listener in listeners])
    yield jobs
    jobs.close()


@pytest.fixture
def started(solver, listeners):
    """Starts a job of the solver and returns once it has reported figures."""
    begun = threading.Event()

    def hear(state):
        if state.history and state.id == solver.state.id:
            begun.set()

    def start(verb, arguments):
        solver.start(verb, arguments)
        assert begun.wait(300.0)

    listeners.append(hear)
    yield start
    listeners.remove(hear)
