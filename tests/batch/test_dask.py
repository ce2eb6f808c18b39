"""On real processes and real Dask: whatever is killed, the table is the one that runs in this process give, byte for byte.

200 runs, and more kinds of kills: benchmarks/does_the_batch_survive_kills.py.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bunraku.batch.batch import run_batch
from bunraku.batch.cluster import RemoteScheduler
from bunraku.batch.plan import BatchPlan, read_plan
from bunraku.batch.processes import LocalWorkers
from bunraku.batch.store import Store
from bunraku.batch.table import make_table, write_table
from bunraku.batch.working import carry_out
from bunraku.optimization.monitor import Event, Monitor

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="finds its processes in /proc")

Planned = Callable[..., Path]


def expected(plan: BatchPlan, folder: Path) -> bytes:
    """The table without Dask: every run in this process."""
    store = Store(folder)
    for run in plan.runs:
        store.keep(run.key, run.settings, carry_out(plan.job(run)), 1)
    return write_table(make_table(plan, store), folder)[0].read_bytes()


def workers(pid: int) -> list[int]:
    """The workers among the children of a process that this test started, or of itself."""
    found: list[int] = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += [int(word) for word in path.read_text().split()]
    return [child for child in found if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]


def kept(folder: Path) -> dict[str, int]:
    """The inode of every result that is kept."""
    return {path.parent.name: path.stat().st_ino for path in (folder / "runs").glob("[!.]*/figures.json")}


def until(ready: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    while not ready():
        assert process.poll() is None, "it ended too early"
        time.sleep(0.01)


GATE = """
import os, pathlib, time
from bunraku.batch import working

gate, perform = pathlib.Path(os.environ["BUNRAKU_TEST_GATE"]), working._performed

def held(job, deadline):
    for place in range(3):
        try:
            (gate / str(place)).touch(exist_ok=False)
        except FileExistsError:
            continue
        return perform(job, deadline)
    while not (gate / "open").exists():
        time.sleep(0.01)
    return perform(job, deadline)

working._performed = held
"""


def gated(folder: Path) -> dict[str, str]:
    """An environment whose Python performs three runs; the others wait until there is a file ``open`` in the folder."""
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(GATE)
    known = os.environ.get("PYTHONPATH", "")
    return os.environ | {
        "BUNRAKU_TEST_GATE": str(folder),
        "PYTHONPATH": os.pathsep.join([str(folder), *([known] if known else [])]),
    }


class Killing(Monitor):
    """Kills a worker of this process when the first new run is done."""

    killed = 0

    def report(self, event: Event) -> None:
        if not self.killed and event.fraction is not None and event.fraction < 1.0:
            self.killed = workers(os.getpid())[0]
            os.kill(self.killed, signal.SIGKILL)

    @property
    def cancelled(self) -> bool:
        return False


def test_the_command_and_a_worker_are_killed(planned: Planned, folder: Path) -> None:
    path = planned()
    plan = read_plan(path)
    words = [sys.executable, "-m", "bunraku.cli.main", "batch", str(path), "-o", str(folder / "out"), "--no-plots"]
    gate = folder / "gate"
    command = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=gated(gate))
    try:
        until(lambda: len(kept(folder / "out")) >= 3, command)
        orphans = [os.pidfd_open(pid) for pid in workers(command.pid)]
    finally:
        command.kill()
        command.wait()
        (gate / "open").touch()
    before = kept(folder / "out")
    assert len(orphans) == 2
    assert len(before) == 3, "the others could not be done, however quick they are"
    killing = Killing()
    batch = run_batch(plan, folder / "out", LocalWorkers(2), plots=False, monitor=killing)
    assert killing.killed
    assert batch.exit_code == 0
    assert before.items() <= kept(folder / "out").items(), "what was done before the kill is not done again"
    assert (folder / "out" / "results.csv").read_bytes() == expected(plan, folder / "plain")
    for orphan in orphans:
        assert select.select([orphan], [], [], 300.0)[0], "the killed command's workers live on"
        os.close(orphan)


@contextlib.contextmanager
def scheduled(folder: Path) -> Iterator[str]:
    """The address of a scheduler that chose its port itself, with a worker, in processes of their own; killed at the end."""
    file, where = folder / "scheduler.json", ["--host", "127.0.0.1", "--no-dashboard"]
    started = [
        subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        for words in (
            [sys.executable, "-m", "dask", "scheduler", "--port", "0", "--scheduler-file", str(file), *where],
            [sys.executable, "-m", "dask", "worker", "--scheduler-file", str(file), "--nthreads", "1", *where],
        )
    ]
    try:
        until(lambda: file.is_file() and file.read_text().endswith("}"), started[0])
        yield json.loads(file.read_text())["address"]
    finally:
        for process in started:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def test_a_scheduler_of_its_own(planned: Planned, folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    pytest.importorskip("distributed")
    plan = read_plan(planned())
    with scheduled(tmp_path_factory.mktemp("elsewhere")) as address:
        batch = run_batch(plan, folder / "out", RemoteScheduler(address), plots=False)
    assert batch.exit_code == 0
    assert (folder / "out" / "results.csv").read_bytes() == expected(plan, folder / "plain")
