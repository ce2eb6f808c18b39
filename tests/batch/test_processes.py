"""Workers of this machine: nothing listens that a stranger could connect to, and one that dies or hangs harms its own job alone."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bunraku.batch.cluster import Answer
from bunraku.batch.plan import read_plan
from bunraku.batch.processes import LocalWorkers, WorkerProcesses
from bunraku.batch.working import carry_out

Planned = Callable[..., Path]
HANGS = """
import os, time
from bunraku.batch import working

def held(job):
    if job["key"] == os.environ["BUNRAKU_TEST_HANGS"]:
        time.sleep(3600)
    return {"status": "done", "key": job["key"], "long": job.get("long")}

working.carry_out = held
"""


@pytest.fixture
def jobs(planned: Planned) -> list[dict[str, Any]]:
    plan = read_plan(planned())
    return [plan.job(run) for run in plan.runs]


@pytest.fixture
def pool() -> Iterator[WorkerProcesses]:
    made = LocalWorkers(2).connect()
    yield made
    made.close()


@pytest.fixture
def hanging(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers whose job "late" never ends, and any other at once."""
    (tmp_path / "sitecustomize.py").write_text(HANGS)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]).strip(os.pathsep))
    monkeypatch.setenv("BUNRAKU_TEST_HANGS", "late")


def answered(pool: WorkerProcesses, count: int) -> dict[str, Answer]:
    found: dict[str, Answer] = {}
    for _ in range(240):
        answer = pool.answer(0.5)
        if answer is not None:
            found[answer.key] = answer
        if len(found) == count:
            break
    return found


def doors(pid: int) -> list[str]:
    """What a stranger could connect to in a process: ports that listen, of any kind, and sockets with a name."""
    inodes = set()
    for name in os.listdir(f"/proc/{pid}/fd"):
        link = Path(f"/proc/{pid}/fd/{name}")
        if link.is_symlink():
            inodes.add(os.readlink(link).removeprefix("socket:[").rstrip("]"))
    found = []
    for file in ("tcp", "tcp6", "udp", "udp6"):
        lines = Path(f"/proc/{pid}/net/{file}").read_text().splitlines()[1:]
        words = [line.split() for line in lines]
        found += [f"{file} {one[1]}" for one in words if one[9] in inodes and (one[3] == "0A" or file.startswith("udp"))]
    for line in Path(f"/proc/{pid}/net/unix").read_text().splitlines()[1:]:
        words_of = line.split()
        if words_of[6] in inodes and len(words_of) > 7:
            found.append(f"unix {words_of[7]}")
    return found


@pytest.mark.skipif(not Path("/proc/self/net/tcp").is_file(), reason="finds open ports in /proc")
def test_a_stranger_finds_nothing_to_connect_to(jobs: list[dict[str, Any]], pool: WorkerProcesses) -> None:
    with socket.create_server(("127.0.0.1", 0)) as seen:
        assert len(doors(os.getpid())) >= 1, f"port {seen.getsockname()[1]} would be found"
    before = doors(os.getpid())
    for job in jobs[:3]:
        pool.send(job)
    found = answered(pool, 3)
    assert [answer.result["status"] for answer in found.values() if answer.result is not None] == ["done"] * 3
    workers = [one.process.pid for one in pool._workers]
    assert len(workers) == 2
    assert [doors(pid) for pid in workers if pid is not None] == [[], []]
    assert doors(os.getpid()) == before


def test_results_are_those_of_this_process(jobs: list[dict[str, Any]], pool: WorkerProcesses) -> None:
    pool.send(jobs[0])
    result = answered(pool, 1)[jobs[0]["key"]].result
    assert result is not None
    here = carry_out(jobs[0])
    assert {name: result[name] for name in ("status", "reason", "figures", "performance")} == {
        name: here[name] for name in ("status", "reason", "figures", "performance")
    }
    assert result["worker"].startswith("process ")


@pytest.mark.usefixtures("hanging")
def test_a_worker_that_dies_is_an_accident_of_its_job_alone(pool: WorkerProcesses) -> None:
    pool.send({"key": "late"})
    pool.send({"key": "a"})
    assert answered(pool, 1)["a"].result == {"status": "done", "key": "a", "long": None, "worker": answered_by(pool, "")}
    victim = next(one for one in pool._workers if one.key == "late")
    victim.process.kill()
    code = -int(signal.SIGKILL) if os.name == "posix" else 1
    assert answered(pool, 1) == {"late": Answer("late", None, f"its worker died (exit code {code})")}
    for key in ("b", "c", "d"):
        pool.send({"key": key})
    assert set(answered(pool, 3)) == {"b", "c", "d"}


def answered_by(pool: WorkerProcesses, key: str) -> str:
    return next(f"process {one.process.pid}" for one in pool._workers if one.key == key)


@pytest.mark.usefixtures("hanging")
def test_what_hangs_is_ended_and_nothing_else(pool: WorkerProcesses) -> None:
    pool.send({"key": "late"})
    for _ in range(240):
        pool.answer(0.25)
        if pool._workers[0].began is not None:
            break
    assert pool.overdue(3600.0) == []
    pool.send({"key": "a"})
    victim = pool._workers[0].process
    assert pool.overdue(0.0)[:1] == ["late"]
    assert not victim.is_alive()
    assert set(answered(pool, 1)) == {"a"}


@pytest.mark.usefixtures("hanging")
def test_closing_leaves_no_process(pool: WorkerProcesses) -> None:
    for key in ("late", "a", "b"):
        pool.send({"key": key, "long": bytes(5_000_000)})  # far more than a pipe holds
    answered(pool, 2)
    processes = [one.process for one in pool._workers]
    pool.close()
    assert len(processes) == 2
    assert not any(process.is_alive() for process in processes)
