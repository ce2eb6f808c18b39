"""Does the batch survive kills? 200 quick runs on two workers, while workers, schedulers and the whole command are killed.

One plan (a head that nods, intensity x tempo), five ways to carry it out, each in processes of its own, SIGKILL each time:

    undisturbed        two local workers
    workers killed     each of the two local workers is killed once
    command killed     the command is killed at a quarter and at half; given again each time
    own processes      `dask scheduler` and two `dask worker` on loopback
    scheduler killed   the same, scheduler and workers killed at a third and started again; the command waits for them

Bars: every time the table has every run exactly once, all done, and its bytes are those of the undisturbed one; a run that was done
before a kill is not done again (its files are the same); no worker outlives its command; with local workers nothing listens.
Linux only (it reads /proc); elsewhere it ends with 77.

Run: python benchmarks/does_the_batch_survive_kills.py [--runs 200]
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from _nodder import CHARACTER

CLIP = """bunraku: clip/1
name: yes
rate_hz: 50
joints:
  keys_deg: {nod: [[0.0, 0], [0.3, 25], [0.6, 0], [0.9, 20], [1.4, 0]]}
"""
PLAN = """bunraku: batch/1
characters: [nodder.character.yaml]
clips: [yes.clip.yaml]
performers: [speech]
vary:
  - {{option: intensity, low: 0.5, high: 1.4, count: 5}}
  - {{clip: tempo, low: 0.5, high: 3, count: {count}}}
retries: 5
"""
NOT_MEASURED = 77
WAIT = 900.0


class Batch:
    """The command under test, in a process of its own."""

    def __init__(self, folder: Path, name: str, *words: str) -> None:
        self.out = folder / name
        self.log = folder / f"{name}.log"
        command = [sys.executable, "-m", "bunraku.cli.main", "batch", "nods.batch.yaml", "-o", str(self.out), "--no-plots", *words]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)

    @property
    def done(self) -> int:
        """How many runs are kept."""
        runs = self.out / "runs"
        return sum(not name.startswith(".") for name in os.listdir(runs)) if runs.is_dir() else 0

    def until(self, runs: int) -> None:
        """Wait until so many runs are kept."""
        end = time.monotonic() + WAIT
        while self.done < runs:
            if self.process.poll() is not None or time.monotonic() > end:
                raise SystemExit(f"the batch ended or stood still at {self.done} runs:\n{self.log.read_text()}")
            time.sleep(0.02)

    def workers(self) -> list[int]:
        """The processes that work for it: its children that were spawned by multiprocessing and are no helper of that."""
        return [pid for pid in children(self.process.pid) if b"spawn_main" in _read(f"/proc/{pid}/cmdline")]

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def ended(self) -> int:
        return self.process.wait(timeout=WAIT)

    def stamps(self) -> dict[str, tuple[int, int]]:
        """The inode and the time of every result: another one if it was written again."""
        found = {}
        for path in (self.out / "runs").glob("[!.]*/figures.json"):
            status = path.stat()
            found[path.parent.name] = (status.st_ino, status.st_mtime_ns)
        return found

    def table(self) -> bytes:
        return (self.out / "results.csv").read_bytes()


def children(pid: int) -> list[int]:
    """The processes that a process started."""
    found: list[int] = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += [int(word) for word in path.read_text().split()]
    return found


def _read(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError:
        return b""


def listening(pid: int) -> set[str]:
    """The hexadecimal IPv4 and IPv6 addresses at which a process listens."""
    inodes = set()
    with contextlib.suppress(OSError):
        for name in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                inodes.add(os.readlink(f"/proc/{pid}/fd/{name}").removeprefix("socket:[").rstrip("]"))
    found = set()
    for file in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in _read(file).decode().splitlines()[1:]:
            words = line.split()
            if words[3] == "0A" and words[9] in inodes:
                found.add(words[1].partition(":")[0])
    return found


@contextlib.contextmanager
def dask(folder: Path, port: int, workers: int = 2) -> Iterator[None]:
    """A scheduler and workers in processes of their own, killed at the end."""
    address = f"tcp://127.0.0.1:{port}"
    quiet = {"cwd": folder, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "start_new_session": True}
    one = [sys.executable, "-m", "dask", "scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]
    other = [sys.executable, "-m", "dask", "worker", address, "--host", "127.0.0.1", "--nthreads", "1", "--no-dashboard"]
    started = [subprocess.Popen(one, **quiet), *(subprocess.Popen(other, **quiet) for _ in range(workers))]  # type: ignore[call-overload]
    try:
        yield
    finally:
        for process in started:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def judged(name: str, batch: Batch, runs: int, wanted: bytes | None) -> list[str]:
    """What is wrong with a table."""
    rows = list(csv.DictReader(batch.table().decode().splitlines()))
    keys = [row["run"] for row in rows]
    done = sum(row["status"] == "done" for row in rows)
    same = wanted is None or batch.table() == wanted
    once = len(keys) == runs and len(set(keys)) == runs
    print(f"{name:18} {done:4d} of {runs} done, each {'once' if once else 'NOT ONCE'}, table {'the same' if same else 'ANOTHER'}")
    found = [] if once and done == runs else [f"{name}: not every run is done exactly once"]
    return found + ([] if same else [f"{name}: the table is another one"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=200)
    runs = 5 * (parser.parse_args().runs // 5)
    if not Path("/proc/self/task").is_dir():
        print("this reads /proc, which is not here")
        return NOT_MEASURED
    missed: list[str] = []
    with tempfile.TemporaryDirectory(prefix="bunraku-kills-") as name:
        folder = Path(name)
        (folder / "nodder.character.yaml").write_text(CHARACTER)
        (folder / "yes.clip.yaml").write_text(CLIP)
        (folder / "nods.batch.yaml").write_text(PLAN.format(count=runs // 5))

        began = time.perf_counter()
        plain = Batch(folder, "undisturbed")
        plain.until(1)
        heard = set().union(*(listening(pid) for pid in (plain.process.pid, *plain.workers())))
        missed += [f"something listens: {heard}"] if heard else []
        missed += [] if plain.ended() == 0 else ["undisturbed: the exit code is not 0"]
        wanted = plain.table()
        missed += judged("undisturbed", plain, runs, None)
        print(f"{'':18} {time.perf_counter() - began:.1f} s with two local workers, starting them included; nothing listens")

        batch = Batch(folder, "workers")
        for share in (0.2, 0.6):
            batch.until(int(share * runs))
            victims = batch.workers()
            os.kill(victims[0], signal.SIGKILL)
            print(f"{'':18} killed worker {victims[0]} of {len(victims)} at {batch.done} runs")
        missed += [] if batch.ended() == 0 else ["workers killed: the exit code is not 0"]
        missed += judged("workers killed", batch, runs, wanted)

        before: dict[str, tuple[int, int]] = {}
        for share in (0.25, 0.5):
            batch = Batch(folder, "command")
            batch.until(int(share * runs))
            orphans = batch.workers()
            batch.kill()
            stamps = batch.stamps()
            missed += [] if before.items() <= stamps.items() else ["command killed: a run that was done was done again"]
            before = stamps
            end = time.monotonic() + 30.0
            while (left := [pid for pid in orphans if os.path.exists(f"/proc/{pid}")]) and time.monotonic() < end:
                time.sleep(0.1)
            missed += [f"command killed: {len(left)} workers outlive it"] if left else []
            print(f"{'':18} killed the command at {len(stamps)} runs; {len(orphans)} workers, {len(left)} left after it")
        batch = Batch(folder, "command")
        missed += [] if batch.ended() == 0 else ["command killed: the exit code is not 0"]
        missed += [] if before.items() <= batch.stamps().items() else ["command killed: a run that was done was done again"]
        missed += judged("command killed", batch, runs, wanted)

        port = free_port()
        with dask(folder, port):
            batch = Batch(folder, "own", "--scheduler", f"tcp://127.0.0.1:{port}")
            missed += [] if batch.ended() == 0 else ["own processes: the exit code is not 0"]
        missed += judged("own processes", batch, runs, wanted)

        port = free_port()
        with dask(folder, port):
            batch = Batch(folder, "scheduler", "--scheduler", f"tcp://127.0.0.1:{port}")
            batch.until(runs // 3)
        stamps = batch.stamps()
        print(f"{'':18} killed scheduler and workers at {len(stamps)} runs; starting them again")
        with dask(folder, port):
            missed += [] if batch.ended() == 0 else ["scheduler killed: the exit code is not 0"]
        missed += [] if stamps.items() <= batch.stamps().items() else ["scheduler killed: a run that was done was done again"]
        missed += judged("scheduler killed", batch, runs, wanted)
    for sentence in missed:
        print(f"MISSED: {sentence}")
    return 1 if missed else 0


EXHAUSTIVE = True  # takes many minutes: `bunraku bench` asks it with --exhaustive, or by name

if __name__ == "__main__":
    sys.exit(main())
