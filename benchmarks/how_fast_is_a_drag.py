"""How fast is a drag? The answer of a plan while its goal or a target is dragged, and the full solve after it is let go.

Forty small drags each: the speed (distance per cycle) wanders within +-10 %, the lateral target of the slalom within +-2 cm, both
along a smooth path. Each answer resumes the last: at most three damped Gauss-Newton steps, one change of shifts, up to three times
while a row is violated by more than 1e-4 (own unit). Thread CPU time of one core, kernels compiled before; the goal is where
the centre of mass goes. Bars: 95 % of the answers within 50 ms (skate 80 ms), the released plan solved to 1e-6.

Run: python benchmarks/how_fast_is_a_drag.py [NAME ...]
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass

import numpy as np

from bunraku.formats.registry import read_character, read_clip
from bunraku.performers.locomotion.interactive import DraggedPlan

DRAGS = 40


@dataclass(frozen=True)
class Case:
    """What is dragged: robot, clip, samples, whether a target (else the speed), bar of p95 [ms]."""

    robot: str
    clip: str
    samples: int
    target: bool
    bar: float


CASES = {
    "swizzle": Case("swizzlebot", "swizzle", 12, False, 50.0),
    "walk": Case("creature3", "walk-tripod", 12, False, 50.0),
    "slalom": Case("agilebot", "slalom", 24, True, 50.0),
    "crawl": Case("walker", "crawl", 0, False, 50.0),
    "skate": Case("skatebot", "skate", 12, False, 80.0),
}


def path(count: int) -> np.ndarray:
    """A smooth path in [-1, 1], (count,), from and back to 0."""
    u = np.arange(1, count + 1) / count
    return np.sin(2.0 * np.pi * u) * np.cos(3.0 * np.pi * u / 2.0) ** 2 / 0.77


def examine(name: str, case: Case) -> list[str]:
    """Drag, print one line; the bars missed."""
    gait = read_clip(case.clip).gait
    assert gait is not None
    assert gait.distance is not None
    assert gait.distance[0] is not None
    dragged = DraggedPlan(read_character(case.robot), gait, samples=case.samples)
    told = [] if dragged.plan.solution.status.good else [f"first plan {dragged.plan.solution.status.name}"]
    length, first = gait.distance[0], gait.targets[0].place if gait.targets else (None, 0.0, None)
    spent, residuals, factors, missed = [], [], [], []
    for move in path(DRAGS):
        begin = time.thread_time()
        if case.target:
            plan = dragged.drag(targets={0: (None, (first[1] or 0.0) + 0.02 * move, None)})
            goal = length
        else:
            goal = length * (1.0 + 0.1 * move)
            plan = dragged.drag(distance=(goal, None))
        spent.append(1e3 * (time.thread_time() - begin))
        residuals.append(plan.solution.residual)
        factors.append(plan.solution.factorizations)
        missed.append(abs(plan.displacement[0] - goal))
    begin = time.thread_time()
    released = dragged.release().solution
    seconds = time.thread_time() - begin
    p50, p95 = np.percentile(spent, (50, 95))
    print(
        f"{name:9}{dragged.plan.problem.samples:4d}{dragged.plan.problem.size:6d}{p50:9.1f}{p95:8.1f}{max(spent):8.1f}{case.bar:6.0f}"
        f"{max(factors):7d}{max(residuals):11.1e}{np.median(residuals):10.1e}{1e3 * max(missed):10.3f}"
        f"{1e3 * seconds:11.0f}{released.iterations:5d}{released.residual:10.1e}",
        flush=True,
    )
    told += [f"p95 {p95:.0f} ms, bar {case.bar:.0f}"] if p95 > case.bar else []
    told += [f"released plan {released.status.name}"] if not released.status.good else []
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
        f"{'':9}{'':10}{'drag, ms':>25}{'':6}{'most':>7}{'residual':>21}{'goal':>10}{'released':>26}\n"
        f"{'motion':9}{'T':>4}{'n':>6}{'p50':>9}{'p95':>8}{'most':>8}{'bar':>6}{'factors':>8}{'most':>10}{'median':>10}"
        f"{'mm off':>10}{'ms':>11}{'it':>5}{'residual':>10}"
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
