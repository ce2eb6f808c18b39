"""How many captured motions can the puppet perform? Windows of four seconds, drawn once from a folder of BVH files, none dropped.

Each window goes the way of ``bunraku perform marionette FILE.bvh``: retargeted to the marionette, then performed with no option
touched but the part of the clip. A motion counts when the solver converged and every check of the certificate holds. For each:
iterations, CPU time of the solve and of all (retargeting and certificate included), cost J, RMS distance of the tracked points from
the wish that was performed, by how much the worst limit is exceeded in its own unit, and what the certificate says of the wish.

Threshold: seven of ten, median CPU time of the solve at most 12 s.

Run: python benchmarks/how_many_captured_motions_can_the_puppet_perform.py [FOLDER] [--seed 1] [--cases 10]
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import bunraku
from _dances import DATA, puppet
from bunraku.errors import BunrakuError
from bunraku.formats.registry import read_clip
from bunraku.optimization.monitor import Event, SilentMonitor

SECONDS = 4.0
"""Length of a window [s]."""

SHARE, MEDIAN = 0.7, 12.0
"""Thresholds: share of the windows that count, median CPU time of the solve [s]."""

HEAD = (
    f"{'file':14}{'from s':>7}  {'status':<16}{'it':>4}{'solve s':>9}{'all s':>7}{'cost':>9}{'RMS cm':>8}{'excess':>9}  of the wish"
)


@dataclass
class Clock(SilentMonitor):
    """Hears how long the solve took [s]."""

    solve_s: float = float("nan")

    def report(self, event: Event) -> None:
        """Keep the figure of the solve."""
        self.solve_s = event.figures.get("solve_s", self.solve_s)


def draw(folder: Path, seed: int, cases: int) -> list[tuple[Path, float]]:
    """Files and starts [s] of the windows: files without repetition while there are some, starts anywhere."""
    files, generator = sorted(folder.glob("*.bvh")), np.random.default_rng(seed)
    if not files:
        raise SystemExit(f"no .bvh file in {folder}; give a folder of captured motions")
    order = [files[i] for _ in range(-(-cases // len(files))) for i in generator.permutation(len(files))][:cases]
    return [(file, float(generator.uniform())) for file in order]


def examine(file: Path, share: float) -> tuple[bool, float]:
    """Perform one window and print its row; whether it counts, and the CPU time [s] of its solve."""
    clip, clock, begun = read_clip(str(file)), Clock(), time.process_time()
    assert clip.skeleton is not None
    start = round(share * max(clip.skeleton.duration - SECONDS - 0.1, 0.0), 2)
    try:
        window = {"start": start, "duration": SECONDS}
        made = bunraku.perform(puppet(), clip, performer="marionette", monitor=clock, once=True, **window).certificate
    except BunrakuError as error:
        print(f"{file.stem:14}{start:7.2f}  refused: {error}", flush=True)
        return False, time.process_time() - begun
    spent = time.process_time() - begun
    excess = max((abs(check.value - check.threshold) for check in made.checks if not check.holds), default=0.0)
    counts, figures = made.status.good and made.holds, made.figures
    broken = ", ".join(check.name for check in made.checks if not check.holds)
    said = "; ".join(note for note in made.notes if "the wish" in note)
    print(
        f"{file.stem:14}{start:7.2f}  {made.status.value:<16}{figures['iterations']:4.0f}{clock.solve_s:9.1f}{spent:7.1f}"
        f"{figures['final cost']:9.2f}{100 * made.check('imitation error').value:8.2f}{excess:9.4f}  {said}"
        f"{f'  BROKEN: {broken}' if broken else ''}",
        flush=True,
    )
    return counts, clock.solve_s


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=DATA / "mocap", help="folder of BVH files")
    parser.add_argument("--seed", type=int, default=1, help="of the draw")
    parser.add_argument("--cases", type=int, default=10, help="how many windows")
    asked = parser.parse_args()
    print(HEAD)
    rows = [examine(file, share) for file, share in draw(asked.folder, asked.seed, asked.cases)]
    count, median = sum(counts for counts, _ in rows), float(np.median([seconds for _, seconds in rows]))
    met = count >= SHARE * len(rows) and median <= MEDIAN
    print(f"{count} of {len(rows)} converged with every limit kept; median solve {median:.1f} s: {'met' if met else 'NOT MET'}")
    return 0 if met else 1


EXHAUSTIVE = True  # takes many minutes: `bunraku bench` asks it with --exhaustive, or by name

if __name__ == "__main__":
    sys.exit(main())
