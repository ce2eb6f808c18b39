"""Does the character stand? Built-in characters that stand on servos perform every spoken built-in clip, replayed in MuJoCo.

Prints one row a pair: whether it fell, balance margin and self-collision clearance of the certificate, tracking error, torque,
slip, and how much faster than real time the replay ran. Exit code 1 when one falls, or none could be tried.

    python benchmarks/does_the_character_stand.py [--performer speech] [--character nao] [--clip hello-everybody]
"""

from __future__ import annotations

import argparse
import sys
import time

import bunraku
from bunraku.errors import BunrakuError
from bunraku.formats.registry import built_in, read_character, read_clip
from bunraku.verification.verify import verify

COLUMNS = (
    "character",
    "clip",
    "fell",
    "verified",
    "margin mm",
    "clear mm",
    "track rad",
    "torque",
    "slip mm",
    "tilt deg",
    "x real time",
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--performer", default="speech")
    parser.add_argument("--character", action="append")
    parser.add_argument("--clip", action="append")
    chosen = parser.parse_args()
    stood = fallen = passed_over = 0
    print(" | ".join(f"{column:>14}" for column in COLUMNS))
    everyone = {name: read_character(name) for name in chosen.character or built_in("character")}
    standing = {name: who for name, who in everyone.items() if chosen.character or (who.feet and who.motors)}
    spoken = chosen.clip or [name for name in built_in("clip") if read_clip(name).audio is not None]
    for character_name, character in standing.items():
        for clip_name in spoken:
            try:
                performance = bunraku.perform(character, clip_name, performer=chosen.performer, once=True)
            except BunrakuError as error:
                print(f"{character_name:>14} | {clip_name:>14} | not performed: {str(error)[:90]}")
                passed_over += 1
                continue
            start = time.process_time()
            verdict = verify(performance)
            spent = time.process_time() - start
            replay, promised = verdict.replay, performance.certificate.figures
            if replay is None:
                print(f"{character_name:>14} | {clip_name:>14} | not replayed: {verdict.sentence}")
                fallen += 1
                continue
            stood, fallen = stood + (not replay.fell), fallen + replay.fell
            figures = replay.figures
            row = (
                character_name,
                clip_name,
                "FELL" if replay.fell else "stands",
                "yes" if verdict.holds else verdict.sentence,
                f"{1e3 * promised.get('balance_margin_m', float('nan')):.1f}",
                f"{1e3 * promised.get('self_collision_clearance_m', float('nan')):.1f}",
                f"{figures['tracking_rms_rad']:.4f}",
                f"{100 * figures['peak_torque_share']:.0f} %",
                f"{1e3 * replay.foot_slip:.2f}",
                f"{57.2958 * replay.tilt_max:.2f}",
                f"{(len(replay.times) / performance.rate) / spent:.1f}",
            )
            print(" | ".join(f"{cell:>14}" for cell in row), replay.reason)
    print(f"{stood} stood, {fallen} fell, {passed_over} were not for this character")
    return 0 if stood and not fallen else 1


if __name__ == "__main__":
    sys.exit(main())
