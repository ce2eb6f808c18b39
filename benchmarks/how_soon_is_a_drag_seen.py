"""How soon is a drag seen? From a guest's drag of a slider to the first message with the new motion that arrives at that guest.

Through the real studio: server, page, session, live worker, drawing and sending, all pinned to one core where the system allows it;
the guest, a raw websocket client, has another if there is one. The motion stands still at a time late in its cycle, so that the
parts move when, and only when, a new motion is shown. Sixty drags of the way forward, within +-10 %, each made when the one before
has been seen, after one that opens the live solver and is not counted. One array of one part is watched, and its numbers are
compared: what is sent again, or sent late of the motion before, does not count. Wall clock: run it on a quiet machine.
Bar: p95 <= 150 ms wherever there are at most 800 unknowns.

Run: python benchmarks/how_soon_is_a_drag_seen.py [NAME ...]
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

from _client import Client

DRAGS, BAR, MOST, PATIENCE = 60, 150.0, 800, 300.0
CASES = ("swizzlebot", "creature3", "agilebot-slalom", "walker-crawl", "skatebot")
WATCHED = "batched_positions"


def pin(cores: set[int]) -> None:
    """Keep this process, and those it starts, on some cores."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, cores)


def serve(name: str) -> None:
    """A studio with an example performed, standing still; tells its address, and the unknowns when it is asked to end."""
    from bunraku.studio.studio import Studio

    unknowns = 0
    with tempfile.TemporaryDirectory() as folder:
        studio = Studio(Path(folder) / "project", tour=False)
        session = studio.session
        teller: Any = session.queue.jobs._line._teller
        answered = teller.tell

        def noted(answer: Any) -> None:
            nonlocal unknowns
            unknowns = int(answer.figures.get("unknowns", unknowns))
            answered(answer)

        teller.tell = noted
        try:
            session.do("open.example", name=name)
            session.make.perform()
            end = time.monotonic() + PATIENCE
            while session.busy or session.shown.motion is None:
                if time.monotonic() > end:
                    raise RuntimeError(f"{name} was not performed within {PATIENCE:.0f} s")
                time.sleep(0.05)
            session.transport.pause()
            session.transport.scrub(0.7 * session.transport.duration)
            studio.page.player.wake()
            print(json.dumps({"url": studio.url}), flush=True)
            sys.stdin.readline()
            print(json.dumps({"unknowns": unknowns}), flush=True)
        finally:
            studio.close()


class Guest(Client):
    """A client that notes when a part of the figure has moved."""

    def __init__(self, url: str) -> None:
        self.moved = threading.Event()
        self.at = 0.0
        self._part, self._places = "", b""
        super().__init__(url)

    def _note(self, message: dict[str, Any]) -> None:
        super()._note(message)
        name, updates = str(message.get("name", "")), message.get("updates", {})
        if "/performed/" in name and WATCHED in updates and name == (self._part or name):
            self._part, there = name, self.buffers[updates[WATCHED]["__binary_index"]]
            if self._places != there:
                self._places = there
                if not self.moved.is_set():
                    self.at = time.perf_counter()
                    self.moved.set()


def drag(guest: Guest, value: float) -> float:
    """The time [ms] from a drag to the new motion."""
    slider = guest.labelled("GuiSliderMessage", "Forward [m]")
    if slider is None:
        raise RuntimeError("there is no slider for the way forward")
    guest.moved.clear()
    begin = time.perf_counter()
    guest.set(slider, value)
    if not guest.moved.wait(PATIENCE):
        raise RuntimeError(f"no motion came within {PATIENCE:.0f} s")
    return 1e3 * (guest.at - begin)


def examine(name: str, core: int) -> list[str]:
    """Serve, drag, print a line; the bars missed."""
    words = [sys.executable, __file__, "--serve", name, "--core", str(core)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as studio:
        assert studio.stdin is not None
        assert studio.stdout is not None
        guest = Guest(json.loads(studio.stdout.readline())["url"])
        guest.ready.wait(60.0)
        time.sleep(1.0)
        slider = guest.labelled("GuiSliderMessage", "Forward [m]")
        value, step = (float(slider.value), float(slider.props["step"])) if slider is not None else (0.0, 0.0)
        u = np.arange(1, DRAGS + 2) / (DRAGS + 1)
        wished = value * (1.0 + 0.1 * np.sin(2.0 * np.pi * u))
        steps = np.round(wished / step)
        before = round(value / step)
        for k in range(len(steps)):  # every drag moves the slider
            steps[k] += steps[k] == before
            before = steps[k]
        drag(guest, round(float(steps[0] * step), 4))
        time.sleep(5.0)
        spent = [drag(guest, round(float(k * step), 4)) for k in steps[1:]]
        guest.leave()
        studio.stdin.write("\n")
        studio.stdin.flush()
        n = int(json.loads(studio.stdout.readline())["unknowns"])
    p50, p95 = np.percentile(spent, (50, 95))
    bar = f"{BAR:6.0f}" if n <= MOST else f"{'-':>6}"
    print(f"{name:17}{n:6d}{min(spent):8.1f}{p50:8.1f}{p95:8.1f}{max(spent):8.1f}{bar}", flush=True)
    return [f"p95 {p95:.0f} ms"] if p95 > BAR and n <= MOST else []


def main() -> int:
    """Print the table; 1 when a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(CASES)}; all if none is given")
    parser.add_argument("--serve", default="", help=argparse.SUPPRESS)
    parser.add_argument("--core", type=int, default=0, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.serve:
        pin({chosen.core})
        serve(chosen.serve)
        return 0
    names = chosen.names or list(CASES)
    if unknown := [name for name in names if name not in CASES]:
        parser.error(f"there is no {unknown[0]!r}; there are {', '.join(CASES)}")
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0]
    pin(set(cores[1:] or cores))
    print(
        f"{'':23}{'drag to motion at the guest, ms':>32}\n"
        f"{'motion':17}{'n':>6}{'least':>8}{'p50':>8}{'p95':>8}{'most':>8}{'bar':>6}"
    )
    below = {name: told for name in names if (told := examine(name, cores[0]))}
    for name, told in below.items():
        print(f"{name} is below its bar: {'; '.join(told)}")
    print(f"all bars of {', '.join(names)} met: {'NO' if below else 'yes'}")
    return 1 if below else 0


if __name__ == "__main__":
    sys.exit(main())
