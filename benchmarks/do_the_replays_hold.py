"""Do the replays hold? Every demo that goes over the ground, and the slope and the step, in MuJoCo: the worst of all worlds.

The fixed worlds of `bunraku verify`: servos softer and stiffer, floors of friction 0.6 and 0.8, commands at full and half rate,
torque-speed lines active.
Bars on the velocity error: slalom 2 %, swizzles 4 %, start and stop 5 %, the others 6 %; distance within 5 %; nothing falls; and
every other check of `bunraku verify`.

Run: python benchmarks/do_the_replays_hold.py [DEMO ...]
"""

from __future__ import annotations

import sys
import time

import bunraku
from bunraku.assets.examples import DEMOS
from bunraku.cli.demos.ground import VELOCITY_THRESHOLDS
from bunraku.formats.registry import read_clip
from bunraku.verification.verify import verify

TERRAIN = {"slope": ("walker", "slope", {}), "step-up": ("walker", "step-up", {})}


def main(chosen: list[str]) -> int:
    going = {name: one for name, one in DEMOS.items() if one.kind == "ground"}
    motions = {name: (one.character, one.clip, one.options) for name, one in going.items()} | TERRAIN
    heads = f"{'motion':20}{'status':>11}{'CPU s':>8}{'it':>6}{'n':>6}{'residual':>10}"
    print(f"{heads}{'velocity':>10}{'bar':>6}{'distance':>10}{'fell':>6}")
    broken = []
    for name, (who, what, options) in motions.items():
        if chosen and name not in chosen:
            continue
        clip, clock = read_clip(what), time.thread_time()
        result = bunraku.perform(who, clip, performer="locomotion", once=True, **options)
        spent, found = time.thread_time() - clock, result.certificate.figures
        verdict = verify(result)
        bar = next((bar for start, bar in VELOCITY_THRESHOLDS.items() if clip.name.startswith(start)), 0.06)
        figures = verdict.figures
        error, off, fell = (
            figures.get(f"{key}", float("nan")) for key in ("replay_velocity_error", "replay_distance_error", "fell")
        )
        print(
            f"{name:20}{result.certificate.status.value:>11}{spent:8.2f}{found['iterations']:6.0f}{found['variables']:6.0f}"
            f"{found['max_residual']:10.1e}{100 * error:8.2f} %{100 * bar:4.0f} %{100 * off:8.2f} %{fell:6.0f}"
            + ("" if verdict.holds else f"  {verdict.sentence}"),
            flush=True,
        )
        if not (verdict.holds and error <= bar):
            broken.append(name)
    print("all hold" if not broken else f"below their thresholds: {', '.join(broken)}")
    return 1 if broken else 0


EXHAUSTIVE = True  # takes many minutes: `bunraku bench` asks it with --exhaustive, or by name

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
