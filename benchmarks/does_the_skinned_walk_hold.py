"""Does a skinned character do by itself what was planned, in another simulator and with a finer skin?

    python benchmarks/does_the_skinned_walk_hold.py FILE.performance.npz ... [--full] [--plain] [--replay-only] [--json]

Each performance is first replayed in MuJoCo with the skin's mass in the bodies and its stiffness in the joints: servos of three
stiffnesses, two frictions, two command rates; a row each. Then its planned angles go to the servos of the whole character, steps of
2.5 ms: with the skin as planned, and refined once. Skins of more than 5000 nodes are refined only with ``--full``: a step then
takes seconds. The angles told hold what a servo gives way under the planned torque, as in MuJoCo; ``--plain`` leaves that out.
Bars: 15 % of the distance (of the soles' spacing for motions in place), no fall, 15 % of the RMS torque of all motors together.
"""

from __future__ import annotations

import argparse
import json
import sys

from _skin_forward import TORQUE_RATIO, forward_check
from bunraku.formats.registry import read_performance
from bunraku.optimization.monitor import SILENT
from bunraku.verification.skin.judge import SkinJudge, missed_swings, replayed_walk

COARSE = 5000


def replays(performance, say):
    """Rows of the replays in MuJoCo."""
    found = SkinJudge(performance).verify()
    if found.replay is None:
        say(f"  replay: {next(check.note for check in found.checks if check.name == 'replay')}")
        return [], False
    rows = []
    for one in found.replay.replays:
        walk = replayed_walk(one)
        rows.append(
            {
                "world": one.described,
                "distance_m": walk.distance,
                "planned_distance_m": walk.planned,
                "distance_error": walk.error,
                "missed_swings": missed_swings(one),
                "fell": one.reason,
            }
        )
        went = f"{walk.distance:.3f} m of {walk.planned:.3f} m, error {walk.error:.1%} {walk.unit}"
        say(f"  {one.described}: {went}; {one.reason or 'stays up'}")
    wanted = ("fell", "distance error", "planned swings that stay on the ground")
    return rows, all(check.holds for check in found.checks if check.name in wanted)


def forward(performance, refine, feedforward, say):
    """One row of the forward check, and whether it holds."""
    made = forward_check(performance, refine=refine, feedforward=feedforward, monitor=SILENT)
    ratios = ", ".join(f"{name} {ratio:.2f}" for name, ratio in zip(made.motors, made.ratios, strict=True))
    say(
        f"  servos, {made.nodes} nodes, {made.seconds:.2f} s CPU a step: {made.walk.distance:.3f} m of {made.walk.planned:.3f} m, "
        f"error {made.walk.error:.1%} {made.walk.unit}; torque RMS {made.ratio:.3f} of the plan (bar 1 +- {TORQUE_RATIO:g}); "
        f"{made.reason or 'stays up'}\n    by motor: {ratios}"
    )
    ratios = dict(zip(made.motors, made.ratios.tolist(), strict=True))
    return {"refine": refine, "reason": made.reason, "ratios": ratios, **made.figures}, all(check.holds for check in made.checks)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--replay-only", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()

    def say(text):
        print(text, file=sys.stderr if options.json else sys.stdout, flush=True)

    rows, good = [], True
    for file in options.files:
        performance = read_performance(file)
        say(f"{performance.character.name}, {performance.clip_name}, {performance.duration:.2f} s")
        made, held = replays(performance, say)
        row = {"file": file, "replays": made, "forward": []}
        if not options.replay_only:
            vertices = performance.certificate.figures.get("skin_vertices", 0.0)
            for refine in (0, 1) if options.full or vertices <= COARSE else (0,):
                found, ok = forward(performance, refine, not options.plain, say)
                row["forward"].append(found)
                held = held and ok
        say(f"  {'HOLDS' if held else 'DOES NOT HOLD'}")
        rows.append(row | {"holds": held})
        good = good and held
    if options.json:
        print(json.dumps(rows, indent=1))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
