"""How many gaits that nobody tuned for are proven? Drawn at random on built-in robots, performed with no option, then verified.

Robots in turn; a footfall pattern that suits the robot; cycles of 0.8 to 1.6 s; a speed of 0.03 to 0.12 sqrt(g l), l the leg's
length; every second one turns by up to 0.3 rad a cycle. A case is drawn once and none is dropped. Seeds from 100 on are for
development, those below for judging.

Run: python benchmarks/how_many_drawn_gaits_are_proven.py [--seed 1] [--cases 24] [ROBOT ...]
"""

from __future__ import annotations

import argparse
import math
import sys
import time

import numpy as np

import bunraku
from bunraku.errors import BunrakuError
from bunraku.formats.registry import read_character
from bunraku.gait.feet import feet_of
from bunraku.motion import Clip, Gait
from bunraku.verification.verify import verify

PATTERNS = {
    "walker": ("crawl", "trot", "best"),
    "creature3": ("crawl", "best"),
    "skatebot": ("trot",),
    "brainbot": ("roll",),
    "agilebot": ("roll", "trot"),
    "swizzlebot": ("roll",),
}
ENOUGH = 2.0 / 3.0


def drawn(robots: list[str], seed: int, cases: int) -> list[tuple[str, Gait]]:
    """The cases of a seed: robot and gait."""
    rng = np.random.default_rng(seed)
    found = []
    for k in range(cases):
        name = robots[k % len(robots)]
        leg = max(foot.leg for foot in feet_of(read_character(name)).feet)
        pattern = PATTERNS[name][rng.integers(len(PATTERNS[name]))]
        duration = float(rng.uniform(0.8, 1.6))
        speed = float(rng.uniform(0.03, 0.12)) * math.sqrt(9.81 * leg)
        turn = float(rng.uniform(-0.3, 0.3)) if rng.integers(2) else 0.0
        found.append((name, Gait(duration, pattern, distance=(speed * duration, 0.0), turn=turn)))
    return found


def main() -> int:
    reader = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    reader.add_argument("robots", nargs="*", default=list(PATTERNS))
    reader.add_argument("--seed", type=int, default=1)
    reader.add_argument("--cases", type=int, default=24)
    asked = reader.parse_args()
    print(f"seed {asked.seed}\n{'robot':12}{'pattern':8}{'T s':>6}{'m/s':>7}{'turn':>7}{'n':>5}{'CPU s':>8}  verdict", flush=True)
    proven = refused = 0
    for name, gait in drawn(asked.robots, asked.seed, asked.cases):
        clock = time.thread_time()
        speed = (gait.distance or (0.0, 0.0))[0] / gait.duration
        row = f"{name:12}{gait.pattern:8}{gait.duration:6.2f}{speed:7.3f}{gait.turn:7.2f}"
        try:
            result = bunraku.perform(name, Clip(name="drawn", gait=gait), performer="locomotion")
        except BunrakuError as error:
            refused += 1
            print(f"{row}{'':5}{time.thread_time() - clock:8.1f}  refused: {error}", flush=True)
            continue
        spent, verdict, status = time.thread_time() - clock, verify(result), result.certificate.status
        good = verdict.holds and result.certificate.holds and status.good
        broken = [check for check in (*result.certificate.checks, *verdict.checks) if not check.holds]
        why = ", ".join(f"{check.name} {check.value:.3g}" for check in broken)
        proven += good
        words = "proven" if good else f"{status.value}: {why}"
        print(f"{row}{result.certificate.figures['samples']:5.0f}{spent:8.1f}  {words}", flush=True)
    print(f"proven {proven} of {asked.cases}, refused {refused}")
    return 0 if proven >= ENOUGH * asked.cases else 1


EXHAUSTIVE = True  # takes many minutes: `bunraku bench` asks it with --exhaustive, or by name

if __name__ == "__main__":
    sys.exit(main())
