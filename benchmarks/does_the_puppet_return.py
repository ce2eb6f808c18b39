"""Does the puppet return? Dances of the marionette from pushed starts, in our own simulation and in MuJoCo, and their replay.

A hundred starts for each dance: every joint that physics moves is off by 0.1 rad and 0.2 rad/s (standard deviations, seed 0),
strings then met by the least change. With the feedback of the performance, commands cut to what carriages and winches can do, a
start has returned when every point of the puppet stays within 2 cm of the plan over the last half second. For comparison the same
starts without feedback, and pushed twice as hard. Then the replay from the planned start in MuJoCo, whose strings are elastic and
can go slack, open loop and with feedback: RMS over all points and samples.

The errors are the largest of a point in that half second: in the middle one of the starts, in the ninetieth, in the worst. Starts
whose rigid strings left no step to make, as at a leg pulled straight, broke off and count as not returned; so do, in our own
simulation, those in which a string, two-sided there, pushed at any step (column "push", and the least tension of all starts).

Bars: >= 95 of 100 return, ours in each dance and MuJoCo's in the first; replay with feedback <= 2 cm RMS. The second dance needs
the data folder beside the repository (or BUNRAKU_SHARED). Run: python benchmarks/does_the_puppet_return.py
"""

from __future__ import annotations

import dataclasses
import sys
import time

import numpy as np

from _dances import Dance, puppet
from bunraku.motion import Performance
from bunraku.verification.stability import NEAR, returns
from bunraku.verification.strings.replay import StringRun, replay_strings

STARTS, ANGLE, RATE = 100, 0.1, 0.2
RETURN_THRESHOLD, REPLAY_THRESHOLD = 0.95, 0.02
DANCES = (Dance("chicken-dance", 0.0, 4.0), Dance("cmu_18_15", 3.0, 4.0))


def without_feedback(performance: Performance) -> Performance:
    """The same performance, its gains zero."""
    feedback = performance.feedback
    assert feedback is not None
    return dataclasses.replace(performance, feedback=dataclasses.replace(feedback, gains=np.zeros(feedback.gains.shape)))


def count(what: str, performance: Performance, *, angle: float = ANGLE, rate: float = RATE, foreign: bool = False) -> float:
    """Print one row of pushed starts; the share that returned."""
    clock = time.process_time()
    found = returns(performance, starts=STARTS, angle=angle, rate=rate, foreign=foreign)
    errors = np.sort(found.errors)
    whole = errors[np.isfinite(errors)]
    middle, ninety, worst = (100 * value for value in (errors[STARTS // 2], errors[9 * STARTS // 10 - 1], whole.max(initial=0.0)))
    print(
        f"  {what:44}{found.fraction * STARTS:5.0f} of {STARTS}{100 * np.median(found.pushed):12.1f}{middle:10.2f}{ninety:8.2f}"
        f"{worst:8.2f}{STARTS - len(whole):11d}{(found.least_tension < 0.0).sum():6d}{found.least_tension.min():9.2f} N"
        f"{time.process_time() - clock:8.1f}",
        flush=True,
    )
    return found.fraction


def row(what: str, run: StringRun) -> None:
    """Print one replay."""
    print(
        f"  {what:44}{100 * run.rms:8.3f}{100 * run.largest:9.2f}{run.worst:>14}{run.least_tension:9.2f} N{100 * run.slack:7.1f} %"
        f"{run.clamped:8d}  {run.lost}",
        flush=True,
    )


def examine(dance: Dance, *, foreign: bool) -> bool:
    """Perform one dance, push it, replay it; whether the bars are met."""
    performance = dance.performer.perform(puppet(), dance.clip)
    print(f"\n{dance.label}")
    print(
        f"  {'starts':44}{'returned':>12}{'pushed cm':>10}{'middle':>10}{'90 %':>8}{'worst':>8}{'broke off':>11}{'push':>6}"
        f"{'least T':>11}{'CPU s':>8}"
    )
    met = count("with feedback", performance) >= RETURN_THRESHOLD
    if foreign:
        met = count("with feedback, in MuJoCo", performance, foreign=True) >= RETURN_THRESHOLD and met
    count("with feedback, pushed twice as hard", performance, angle=2 * ANGLE, rate=2 * RATE)
    count("without feedback", without_feedback(performance))
    replay = replay_strings(performance)
    print(f"  {'replay in MuJoCo':44}{'RMS cm':>8}{'most cm':>9}{'worst':>14}{'least T':>11}{'slack':>9}{'cut':>8}")
    row("open loop", replay.open_loop)
    assert replay.closed_loop is not None
    row("with feedback", replay.closed_loop)
    return met and not replay.closed_loop.lost and replay.closed_loop.rms <= REPLAY_THRESHOLD


def main() -> int:
    print(f"returned: every point within {100 * NEAR:g} cm of the plan over the last half second")
    met = True
    for i, dance in enumerate(DANCES):
        if dance.there:
            met = examine(dance, foreign=i == 0) and met
        else:
            print(f"not measured, for want of data: {dance.label}")
    print(f"\n95 of 100 return, replay with feedback within {100 * REPLAY_THRESHOLD:g} cm RMS: {'yes' if met else 'NO'}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
