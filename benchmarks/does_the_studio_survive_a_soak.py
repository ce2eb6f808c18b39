"""Does the studio survive a soak? Eight guests connect, edit and leave for half an hour, while it plays and solves live.

Three processes: the studio with the example swizzlebot (and its two workers), eight guests that speak viser's protocol over raw
websockets and the page's events over HTTP (benchmarks/_guests.py: seeded, 1 to 20 s each, three in ten leave without a word), and
this one, which prints what the studio says of itself every ten seconds: resident memory, threads, descriptors, messages that viser
keeps for newcomers, the journal, errors told to the user. The first fifth of the time is warm-up: histories and caches fill.
Bars: memory of the studio and of its workers grows by less than 1 MB/min over the second half and lies at its end at most 15 %
above what it was after warm-up; no more threads, descriptors and kept messages than after warm-up; no error, no guest cut off; when
all have left, no connection is left. Linux only (it reads /proc); elsewhere it ends with 77.

Run: python benchmarks/does_the_studio_survive_a_soak.py [--minutes 30] [--seed 7]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

EVERY = 10.0
WARM = 0.2
SLOPE, GROWTH = 1.0, 1.15
SPARE = {"threads": 4.0, "files": 6.0, "kept": 60.0}
"""How many more there may be at the end than after warm-up: as many as come and go with guests and sections of the page."""
NOT_MEASURED = 77


# -- the studio's process --


def serve(folder: Path) -> None:
    """Run a studio that plays, and tell how it stands whenever a line comes in; an empty line ends it."""
    import resource

    from bunraku.studio.session import Session
    from bunraku.studio.studio import Studio

    first = Session(folder)  # saved and opened again: undo never leads to an empty page
    first.do("open.example", name="swizzlebot")
    first.save()
    first.close()
    studio = Studio(folder, tour=False)
    session = studio.session
    told: list[str] = []
    seen = 0
    try:
        session.make.perform()
        _wait(lambda: session.shown.motion is not None and not session.busy)
        session.transport.play()
        studio.page.player.wake()
        print(json.dumps({"url": studio.url}), flush=True)
        for line in sys.stdin:
            if not line.strip():
                break
            for one in session.messages.since(seen):
                seen = one.number
                told += [one.text] if one.kind == "error" else []
            buffer = studio.server.viser._websock_server._broadcast_buffer
            workers = [pid for pid in (session.queue.jobs.worker_pid, session.queue.jobs.live_pid) if pid is not None]
            journal = session.journal.path
            if not session.transport.playing:
                session.transport.play()
                studio.page.player.wake()
            usage = resource.getrusage(resource.RUSAGE_SELF)
            facts = {
                "rss": _rss(os.getpid()),
                "workers": sum(_rss(pid) for pid in workers),
                "pids": workers,
                "threads": threading.active_count(),
                "files": len(os.listdir("/proc/self/fd")),
                "kept": len(buffer.message_from_id),
                "journal": journal.stat().st_size if journal.is_file() else 0,
                "steps": len(session.history.edits),
                "results": len(session.results),
                "guests": len(studio.server.viser.get_clients()),
                "cpu": usage.ru_utime + usage.ru_stime,
                "errors": told,
            }
            print(json.dumps(facts), flush=True)
            told = []
    finally:
        studio.close()


def _wait(ready: Any, seconds: float = 1500.0) -> None:
    end = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > end:
            raise TimeoutError("the example was not performed")
        time.sleep(0.1)


def _rss(pid: int) -> float:
    """Resident memory of a process [MB]."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


# -- the measuring process --

HEAD = ("min", "rss", "workers", "threads", "files", "kept", "journal", "steps", "results", "guests", "cpu", "errors")


def line_of(facts: dict[str, Any]) -> str:
    """One line of the table."""
    return (
        f"{facts['minute']:6.2f}{facts['rss']:9.1f}{facts['workers']:9.1f}{facts['threads']:9d}{facts['files']:9d}{facts['kept']:9d}"
        f"{facts['journal'] / 1e3:9.1f}{facts['steps']:9d}{facts['results']:9d}{facts['guests']:9d}{facts['cpu']:9.1f}"
        f"{len(facts['errors']):9d}"
    )


def judged(rows: list[dict[str, Any]], last: dict[str, Any], guests: dict[str, Any]) -> list[str]:
    """The bars that are missed, in sentences; prints the figures."""
    missed = []
    minute = np.array([row["minute"] for row in rows])
    total = float(minute[-1])
    second, warm = minute >= 0.5 * total, (minute >= WARM * total) & (minute <= 0.5 * total)
    final = minute >= 0.8 * total
    for name, words in (("rss", "studio"), ("workers", "workers")):
        values = np.array([row[name] for row in rows])
        slope = float(np.polyfit(minute[second], values[second], 1)[0])
        after, end = float(np.median(values[warm])), float(np.median(values[final]))
        print(f"{words:9} memory {after:.1f} MB after warm-up, {end:.1f} MB at the end ({100 * (end / after - 1):+.1f} %), "
              f"most {values.max():.1f} MB, slope of the second half {slope:+.3f} MB/min (bar {SLOPE:g})")  # fmt: skip
        missed += [f"the memory of the {words} grows by {slope:.2f} MB/min"] if slope >= SLOPE else []
        missed += [f"the memory of the {words} has grown to {end:.0f} MB from {after:.0f} MB"] if end > GROWTH * after else []
    for name, spare in SPARE.items():
        values = np.array([row[name] for row in rows])
        after, end = float(np.median(values[warm])), float(np.median(values[final]))
        print(f"{name:9} {after:.0f} after warm-up, {end:.0f} at the end, most {values.max()}; {last[name]} when all had left")
        missed += [f"{name} have grown from {after:.0f} to {end:.0f}"] if end > after + spare else []
    errors = [text for row in (*rows, last) for text in row["errors"]]
    missed += [f"{len(errors)} errors were told, such as: {errors[0]}"] if errors else []
    missed += [f"{guests['count']} guests had trouble, such as: {guests['faults'][0]}"] if guests["count"] else []
    missed += [f"{last['guests']} connections are left when all have gone"] if last["guests"] else []
    print(f"guests: {json.dumps(guests['done'])}")
    return missed


def soak(minutes: float, seed: int, folder: str) -> list[str]:
    """Run all three; the bars missed."""
    here = Path(__file__).resolve()
    environment = os.environ | dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    studio = subprocess.Popen(
        [sys.executable, str(here), "--serve", str(Path(folder) / "project")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
    )  # fmt: skip
    assert studio.stdin is not None
    assert studio.stdout is not None
    guests = None
    try:
        url = json.loads(studio.stdout.readline())["url"]
        print("".join(f"{name:>{6 if name == 'min' else 9}}" for name in HEAD), flush=True)
        command = [sys.executable, str(here.with_name("_guests.py")), url, "--seed", str(seed), "--seconds", str(60.0 * minutes)]
        guests = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        rows: list[dict[str, Any]] = []
        begin = time.monotonic()

        def measure() -> dict[str, Any]:
            assert studio.stdin is not None
            assert studio.stdout is not None
            studio.stdin.write("?\n")
            studio.stdin.flush()
            facts: dict[str, Any] = json.loads(studio.stdout.readline())
            facts["minute"] = (time.monotonic() - begin) / 60.0
            print(line_of(facts), flush=True)
            for text in facts["errors"]:
                print(f"       error: {text}", flush=True)
            return facts

        while time.monotonic() < begin + 60.0 * minutes:
            time.sleep(min(EVERY, 6.0 * minutes))
            rows.append(measure())
        said, _ = guests.communicate(timeout=600.0)
        time.sleep(3.0)
        last = measure()
        pids = [studio.pid, *last["pids"]]
        studio.stdin.write("\n")
        studio.stdin.flush()
        studio.wait(300.0)  # on a machine that others use too
        missed = judged(rows, last, json.loads(said))
        left = [pid for pid in pids if Path(f"/proc/{pid}").exists()]
        return missed + ([f"processes {left} are left"] if left else [])
    finally:
        for process in (guests, studio):
            if process is not None and process.poll() is None:
                process.kill()
                process.wait()


def main() -> int:
    """Print the table; 1 when a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if not Path("/proc/self/statm").exists():
        print("this system has no /proc; not measured")
        return NOT_MEASURED
    if given.serve is not None:
        serve(given.serve)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        missed = soak(given.minutes, given.seed, folder)
    for one in missed:
        print(f"below its bar: {one}")
    print(f"all bars met: {'NO' if missed else 'yes'}")
    return 1 if missed else 0


EXHAUSTIVE = True  # takes many minutes: `bunraku bench` asks it with --exhaustive, or by name

if __name__ == "__main__":
    sys.exit(main())
