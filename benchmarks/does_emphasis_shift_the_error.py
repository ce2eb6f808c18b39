"""Does emphasis shift the error? The dancer under three weightings, as in Fig. 9 and 10 of Hoshyari et al. (2019).

Four motors cannot keep clavicle and both hands still at once: what counts more is better at the others' cost. Retargeted three
times: all alike; the clavicle counting 100 times at all times; besides, the left hand 100 times during the wave. RMS distances from
the targets, judged at 0.5 ms, over the whole dance and within the wave. Bars: the second lowers the clavicle's RMS at least 3 times
and raises the left hand's in the wave; the third lowers the left hand's in the wave at least 2 times against the second and raises
the right hand's there.

Run: python benchmarks/does_emphasis_shift_the_error.py [--points N] [--profile-weight W]
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

from _flexible import case, judged, rms, warm_up
from bunraku.mechanics.flexible.judge import TrackedError
from bunraku.mechanics.flexible.system import flexible_system
from bunraku.motion import Emphasis

FACTOR, CLAVICLE_THRESHOLD, HAND_THRESHOLD = 100.0, 3.0, 2.0


def main() -> int:
    """Print the table; 1 when a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=0, help="control points a motor; those of the demo if not given")
    parser.add_argument("--profile-weight", type=float, default=None, help="of the motors' deviation; the demo's if not given")
    given = parser.parse_args()
    options = {"points": given.points} if given.points else {}
    options |= {} if given.profile_weight is None else {"profile_weight": given.profile_weight}
    dancer = case("dancer")
    wave = next(mark for mark in dancer.clip.phrases if mark.text == "wave")
    clavicle = Emphasis("clavicle", FACTOR)
    weightings = {
        "all alike": (),
        f"clavicle x{FACTOR:g}": (clavicle,),
        f"and left hand x{FACTOR:g} in the wave": (clavicle, Emphasis("left_hand", FACTOR, wave.start, wave.end)),
    }
    warm_up()
    flexible = flexible_system(dancer.character)
    found: list[TrackedError] = []
    print(
        f"RMS distance [mm]{'':17}{'clavicle':>10}{'left hand':>11}{'right hand':>11} | in the wave, {wave.start:g}-{wave.end:g} s"
    )
    for name, emphasis in weightings.items():
        one = replace(dancer, clip=dancer.clip.changed(emphasis=emphasis))
        performance, seconds = one.perform(**options)
        result = judged(performance, flexible)
        if not found and result.before is not None:
            print(row("as wished", result.before, wave.start, wave.end))
        found.append(result.after)
        said = f"{performance.certificate.figures['iterations']:.0f} iterations, {seconds:.1f} s CPU"
        good = performance.certificate.status.good
        print(f"{row(name, result.after, wave.start, wave.end)}   {said}{'' if good else ', NOT CONVERGED'}", flush=True)
    one, two, three = found

    def of(error: TrackedError, place: str) -> float:
        return rms(error.of(place, wave.start, wave.end))

    bars = (
        ("clavicle, second against first: times lower", rms(one.of("clavicle")) / rms(two.of("clavicle")), CLAVICLE_THRESHOLD),
        ("left hand in the wave, second against first: times higher", of(two, "left_hand") / of(one, "left_hand"), 1.0),
        ("left hand in the wave, third against second: times lower", of(two, "left_hand") / of(three, "left_hand"), HAND_THRESHOLD),
        ("right hand in the wave, third against second: times higher", of(three, "right_hand") / of(two, "right_hand"), 1.0),
    )
    for what, value, bar in bars:
        print(f"{what} {value:.2f} (bar {bar:g}){'' if value >= bar else '  BELOW ITS BAR'}")
    return 0 if all(value >= bar for _, value, bar in bars) else 1


def row(name: str, error: TrackedError, start: float, end: float) -> str:
    """RMS distances of the three places over the whole and within the wave."""
    places = ("clavicle", "left_hand", "right_hand")
    whole, within = ([1e3 * rms(error.of(place, *when)) for place in places] for when in ((), (start, end)))
    return f"{name:34}" + "".join(f"{x:{w}.2f}" for x, w in zip((*whole, *within), (10, 11, 11, 12, 10, 10), strict=True))


EXHAUSTIVE = True  # takes many minutes: `bunraku bench` asks it with --exhaustive, or by name

if __name__ == "__main__":
    sys.exit(main())
