"""BLAS is held to one thread while something computes, at every door, and as before after it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from bunraku.optimization.threads import ONE_THREAD, one_thread
from bunraku.performers.performer import REGISTRY, performer_class

threadpoolctl = pytest.importorskip("threadpoolctl")


def _threads() -> set[int]:
    return {pool["num_threads"] for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"}


def test_one_thread_within_and_as_before_after() -> None:
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        before = _threads()
        assert one_thread(_threads)() == {1}
        assert _threads() == before


def test_every_performer_computes_with_one_thread() -> None:
    for name in REGISTRY:
        assert hasattr(performer_class(name).perform, "__wrapped__"), name


def test_the_command_line_bounds_threads_before_numpy_is_loaded() -> None:
    code = (
        "import sys, os; from bunraku.cli.main import _run; early = 'numpy' in sys.modules; _run(['--version']); "
        "print(early, *(os.environ[name] for name in sys.argv[1:]))"
    )
    environment = {name: value for name, value in os.environ.items() if name not in ONE_THREAD}
    done = subprocess.run([sys.executable, "-c", code, *ONE_THREAD], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.split()[2:] == ["False", *ONE_THREAD.values()]
