"""BLAS is held to one thread while something computes, at every door, and as before after it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

from bunraku.formats.registry import read_character, read_clip
from bunraku.optimization.monitor import Event, SilentMonitor
from bunraku.optimization.threads import ONE_THREAD, one_thread
from bunraku.performers.fit import REGISTRY
from bunraku.performers.performer import make_performer, performer_class
from bunraku.verification.verify import verify

threadpoolctl = pytest.importorskip("threadpoolctl")


def _threads() -> set[int]:
    return {pool["num_threads"] for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"}


def test_one_thread_within_and_as_before_after() -> None:
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        before = _threads()
        assert one_thread(one_thread(_threads))() == {1}
        assert _threads() == before


def test_a_blas_that_is_loaded_meanwhile_has_one_thread_too() -> None:
    script = (
        "import sys\n"
        "from bunraku.optimization.threads import one_thread\n"
        "def work():\n"
        "    import scipy.linalg, threadpoolctl\n"
        "    return {pool['num_threads'] for pool in threadpoolctl.threadpool_info() if pool['user_api'] == 'blas'}\n"
        "assert 'scipy.linalg' not in sys.modules\n"
        "import os; before = dict(os.environ)\n"
        "print(one_thread(work)(), dict(os.environ) == before)"
    )
    free = {name: value for name, value in os.environ.items() if name not in ONE_THREAD}
    output = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=free).stdout
    assert output.split() == ["{1}", "True"]


def test_after_calls_that_overlap_it_is_as_before() -> None:
    """The first to come in leaves first."""
    came, leave = threading.Event(), threading.Event()

    @one_thread
    def second() -> None:
        came.set()
        assert leave.wait(10.0)

    @one_thread
    def first() -> threading.Thread:
        other = threading.Thread(target=second)
        other.start()
        assert came.wait(10.0)
        return other

    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        before = _threads()
        other = first()
        leave.set()
        other.join()
        assert _threads() == before


class _Watch(SilentMonitor):
    """Notes the threads of BLAS whenever something is reported."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[int] = set()

    def report(self, event: Event) -> None:
        self.seen |= _threads()


def test_performing_and_verifying_compute_with_one_thread() -> None:
    watch = _Watch()
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        result = make_performer("speech").perform(read_character("nao"), read_clip("not-done-yet"), monitor=watch)
        verify(result, monitor=watch)
    assert watch.seen == {1}


def test_every_performer_is_held_to_one_thread() -> None:
    for name in REGISTRY:
        assert performer_class(name).perform.__wrapped__.__code__.co_name == "perform", name


def test_the_command_line_bounds_threads_before_numpy_is_loaded() -> None:
    code = (
        "import sys, os; from bunraku.cli.main import _run; early = 'numpy' in sys.modules; _run(['--version']); "
        "print(early, *(os.environ[name] for name in sys.argv[1:]))"
    )
    environment = {name: value for name, value in os.environ.items() if name not in ONE_THREAD}
    done = subprocess.run([sys.executable, "-c", code, *ONE_THREAD], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.split()[2:] == ["False", *ONE_THREAD.values()]
