"""How live is the studio? From a drag, asked of the live worker, to the new motion, its arrays loaded.

Sixty drags each of a target, the distance and a dimension, one after the other along a smooth path, through the same pipe and files
that the studio uses: the request is written, the worker resolves the motion (few damped Gauss-Newton steps, resumed), plays it at
60 Hz and writes the curves, the answer is read and the curves are loaded. Wall clock of the whole way (run it on a quiet machine),
and CPU time of the worker, which computes with one thread. The distance wanders within +-10 %, the target within +-2 cm, the
dimension within +-60 % of what can be built, at most +-12 mm. The first drag after a release is among them. ``met``: the share of
answers in which every row is met within 1e-4.
Bar: p95 <= 150 ms wherever there are at most 800 unknowns, and every release solved.

Run: python benchmarks/how_live_is_the_studio.py [NAME ...]
"""

from __future__ import annotations

import argparse
import queue
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bunraku.building.robot_design import built_in_design
from bunraku.formats.registry import read_clip
from bunraku.motion import Clip, Target
from bunraku.studio.jobs.jobs import Jobs
from bunraku.studio.jobs.state import LiveAnswer

DRAGS, BAR, MOST = 60, 150.0, 800


@dataclass(frozen=True)
class Case:
    """Robot, clip, samples of the plan (0: of its coarsest stage), the dimension that is dragged."""

    robot: str
    clip: str
    samples: int
    dimension: str


CASES = {
    "swizzle": Case("swizzlebot", "swizzle", 12, "F.knee z"),
    "walk": Case("creature3", "walk-tripod", 12, "F.knee z"),
    "slalom": Case("agilebot", "slalom", 0, "F.knee z"),
    "crawl": Case("walker", "crawl", 24, "F.hip x"),
    "skate": Case("skatebot", "skate", 12, "F.hip x"),
}


def path(count: int) -> np.ndarray:
    """A smooth path in [-1, 1], (count,), from and back to 0."""
    u = np.arange(1, count + 1) / count
    return np.sin(2.0 * np.pi * u) * np.cos(3.0 * np.pi * u / 2.0) ** 2 / 0.77


def with_target(clip: Clip) -> Clip:
    """The clip with a target to drag, of the centre of mass halfway, where it has none."""
    gait = clip.gait
    assert gait is not None
    if gait.targets:
        return clip
    time_of = 0.25 * gait.duration if gait.symmetric else 0.5 * gait.duration
    return clip.changed(gait=gait.changed(targets=(Target(time_of, "com", (None, 0.0, None)),)))


def drags(case: Case, clip: Clip) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """What is dragged, and its requests."""
    gait = clip.gait
    assert gait is not None
    assert gait.distance is not None
    moves = path(DRAGS)
    first = gait.targets[0].place
    axis = next(k for k, part in enumerate(first) if part is not None)
    places = [[float(first[axis] or 0.0) + 0.02 * move if k == axis else None for k in range(3)] for move in moves]
    yield "target", [{"kind": "target", "number": 0, "place": place} for place in places]
    length = float(gait.distance[0] or 0.0)
    yield "distance", [{"kind": "goal", "distance": [length * (1.0 + 0.1 * move), None]} for move in moves]
    design = built_in_design(case.robot)
    k = design.index(case.dimension)
    value = float(design.initial[k])
    reach = min(0.6 * float(design.upper[k] - value), 0.6 * float(value - design.lower[k]), 0.012)
    yield "dimension", [{"kind": "dimensions", "parameters": {case.dimension: value + reach * move}} for move in moves]


def answer(jobs: Jobs, answers: queue.Queue[LiveAnswer], request: dict[str, Any]) -> tuple[float, LiveAnswer]:
    """The time [ms] from a request to its answer, and the answer."""
    begin = time.perf_counter()
    jobs.live(request)
    found = answers.get(timeout=300.0)
    spent = 1e3 * (time.perf_counter() - begin)
    if found.error or found.curves is None:
        raise RuntimeError(f"{request} was answered with: {found.error}")
    return spent, found


def examine(name: str, case: Case) -> list[str]:
    """Open, drag, release, print a line for each; the bars missed."""
    told, clip, answers = [], with_target(read_clip(case.clip)), queue.Queue[LiveAnswer]()
    with tempfile.TemporaryDirectory() as folder:
        jobs = Jobs(Path(folder), on_live=answers.put)
        try:
            opened, first = answer(jobs, answers, {"kind": "open", "character": case.robot, "clip": clip, "samples": case.samples})
            n = int(first.figures["unknowns"])
            for what, requests in drags(case, clip):
                found = [answer(jobs, answers, request | {"phase": "drag"}) for request in requests]
                released, last = answer(jobs, answers, requests[-1] | {"phase": "release"})
                spent, met = [one[0] for one in found], np.mean([one[1].ok for one in found])
                p50, p95 = np.percentile(spent, (50, 95))
                cpu = 1e3 * float(np.percentile([one[1].figures["cpu_s"] for one in found], 95))
                bar = f"{BAR:6.0f}" if n <= MOST else f"{'-':>6}"
                print(
                    f"{name:9}{what:11}{n:6d}{p50:9.1f}{p95:8.1f}{max(spent):8.1f}{bar}{cpu:9.1f}{100 * met:7.0f} %"
                    f"{released:11.0f}  {last.status:12}{opened:9.0f}",
                    flush=True,
                )
                told += [f"{what}: p95 {p95:.0f} ms"] if p95 > BAR and n <= MOST else []
                told += [] if last.ok else [f"{what}: the released motion is {last.status}"]
        finally:
            jobs.close()
    return told


def main() -> int:
    """Print the table; 1 when a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(CASES)}; all if none is given")
    chosen = parser.parse_args()
    names = chosen.names or list(CASES)
    if unknown := [name for name in names if name not in CASES]:
        parser.error(f"there is no {unknown[0]!r}; there are {', '.join(CASES)}")
    print(
        f"{'':26}{'drag to motion, ms':>25}{'':6}{'CPU, ms':>9}{'':9}{'release':>11}{'':14}{'open':>9}\n"
        f"{'motion':9}{'dragged':11}{'n':>6}{'p50':>9}{'p95':>8}{'most':>8}{'bar':>6}{'p95':>9}{'met':>9}{'ms':>11}"
        f"  {'status':12}{'ms':>9}"
    )
    below = {}
    for name in names:
        below |= {name: told} if (told := examine(name, CASES[name])) else {}
    for name, told in below.items():
        print(f"{name} is below its bars: {'; '.join(told)}")
    print(f"all bars of {', '.join(names)} met: {'NO' if below else 'yes'}")
    return 1 if below else 0


if __name__ == "__main__":
    sys.exit(main())
