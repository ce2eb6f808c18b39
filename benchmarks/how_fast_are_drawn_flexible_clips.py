"""How fast are flexible characters retargeted to clips that nobody tuned, and how well?

Each character has its own clip and ``--clips`` drawn ones: every motor that the own clip moves goes from a random pose within the
range it has there to the next, along minimum-jerk curves, each at its own times, as fast as in the own clip at most. Weights and
control points a second are those of the demo. A seed fixes the draw; none is dropped. The bars: thread CPU time of the solution
over the duration of the clip.

Run: python benchmarks/how_fast_are_drawn_flexible_clips.py [--seed 1] [--clips 2] [NAME ...]
"""

from __future__ import annotations

import argparse
import sys
import zlib
from dataclasses import replace

import numpy as np

from _flexible import NAMES, Case, case, warm_up
from _open_joints import pose_to_pose
from bunraku.errors import BunrakuError
from bunraku.motion import JointCurves

BAR = {"drummer": 1.6, "boxer": 1.6}
USUAL_THRESHOLD = 1.0
SECONDS = (3.0, 6.0)
"""Drawn clips last from and to [s]."""


def drawn(one: Case, seed: int, number: int) -> Case:
    """The character with a drawn clip."""
    rng = np.random.default_rng([seed, number, zlib.crc32(one.name.encode())])
    wish, rate = one.wish, one.wish.rate
    frames = round(rng.uniform(*SECONDS) * rate)
    t = np.arange(frames + 1) / rate
    fastest = np.abs(np.diff(wish.values, axis=0)).max(axis=0) * rate
    columns = [pose_to_pose(rng, t, v.min(), v.max(), v[0], float(f)) for v, f in zip(wish.values.T, fastest, strict=True)]
    clip = one.clip.changed(
        name=f"drawn {number}",
        joints=JointCurves(wish.names, rate, np.column_stack(columns)),
        emphasis=(),
        phrases=(),
        words=(),
        audio=None,
    )
    points = max(8, round((one.options["points"] - 3) * t[-1] / wish.duration) + 3)
    return replace(one, clip=clip, options={**one.options, "points": points})


def row(one: Case, bar: float) -> tuple[str, bool]:
    """The line of one clip, and whether its bar is met."""
    head = f"{one.name:12}{one.clip.name:12}{one.wish.duration:7.2f}"
    try:
        performance, seconds = one.perform()
    except BunrakuError as error:
        return f"{head}  {error}", False
    figures, ratio = performance.certificate.figures, seconds / one.wish.duration
    before, after = (1e3 * figures.get(f"rms_error_{when}_m", np.nan) for when in ("before", "after"))
    broken = [check.name for check in performance.certificate.checks if check.stands_against]
    met = ratio <= bar and performance.certificate.status.good and not broken
    said = f"{performance.certificate.status.name.lower()}{', NOT ' + ', '.join(broken) if broken else ''}"
    return (
        f"{head}{seconds:8.2f}{ratio:7.2f}{bar:6.1f}{before:10.3f}{after:10.5f}{figures.get('torque_share', np.nan):8.3f}"
        f"{figures['iterations']:4.0f}  {said}{'' if met else '  MISSED'}",
        met,
    )


def main() -> int:
    """Print the table; 1 when a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}; all if none is given")
    parser.add_argument("--seed", type=int, default=1, help="of the draw")
    parser.add_argument("--clips", type=int, default=2, help="drawn for each character")
    given = parser.parse_args()
    unknown = [name for name in given.names if name not in NAMES]
    if unknown:
        parser.error(f"there is no {unknown[0]!r}; there are {', '.join(NAMES)}")
    warm_up()
    head = {"dur s": 7, "solve s": 8, "ratio": 7, "bar": 6, "RMS wish": 10, "RMS mm": 10, "torque": 8, "it": 4}
    print(f"{'character':12}{'clip':12}{''.join(f'{word:>{wide}}' for word, wide in head.items())}  end")
    missed = 0
    for name in given.names or NAMES:
        one = case(name)
        for each in (one, *(drawn(one, given.seed, k) for k in range(given.clips))):
            text, met = row(each, BAR.get(name, USUAL_THRESHOLD))
            missed += not met
            print(text, flush=True)
    print(f"all bars met: {f'NO, {missed} missed' if missed else 'yes'}")
    return 1 if missed else 0


EXHAUSTIVE = True  # takes many minutes: `bunraku bench` asks it with --exhaustive, or by name

if __name__ == "__main__":
    sys.exit(main())
