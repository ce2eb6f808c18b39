"""Can a monster of twice the mass trot? The paper's cannot; what stands in the way, and do other footfalls help?

    python benchmarks/can_a_heavy_monster_trot.py [--times 2.0] [--json]

The coarse monster, its bodies heavier so that it weighs ``--times`` as much, follows the demo's trot as it is drawn, and with
footfalls that may be moved in time (`retime`). Rows: mass; the sentence about its motors; how far plan and frames are apart (RMS of
the joints), how far soles slip, the largest torque, what the certificate does not keep. No skin touches itself.
"""

from __future__ import annotations

import argparse
import json
import sys

from bunraku.formats.registry import read_character, read_clip
from bunraku.performers.skin.performer import SkinPerformer


def heavier(character, times):
    """The character whose bodies alone make it weigh so many times as much as with its skin."""
    own = sum(body.mass for body in character.bodies)
    whole = 11.9
    share = 1.0 + (times - 1.0) * whole / own
    bodies = [body.changed(mass=share * body.mass, inertia=tuple(share * i for i in body.inertia)) for body in character.bodies]
    return character.changed(bodies=tuple(bodies))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=float, default=2.0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    character, clip = heavier(read_character("monster-quick"), options.times), read_clip("monster-trot")
    rows = []
    for retime in (False, True):
        artist = SkinPerformer(retime=retime, collisions=False, passes=1)
        task, found = artist.solved(character, clip)
        certificate = artist.performance(task, found).certificate
        figures = certificate.figures
        broken = [check.name for check in certificate.checks if check.stands_against]
        row = {
            "retime": retime,
            "said": " ".join(found.notes),
            "broken": broken,
            **{key: figures[key] for key in ("mass_kg", "agreement_deg", "slip_per_step_m", "max_torque_nm", "foot_clearance_m")},
        }
        rows.append(row)
        print(
            f"{row['mass_kg']:.1f} kg, footfalls {'may be moved' if retime else 'as drawn'}: {row['said'] or 'nothing said'}\n"
            f"  apart {row['agreement_deg']:.2f} deg, slip {1e3 * row['slip_per_step_m']:.1f} mm, clearance "
            f"{1e3 * row['foot_clearance_m']:.0f} mm, torque {row['max_torque_nm']:.2f} N·m; "
            f"not kept: {', '.join(broken) or 'none'}",
            file=sys.stderr if options.json else sys.stdout,
            flush=True,
        )
    if options.json:
        print(json.dumps(rows, indent=1))
    return 0 if not rows[-1]["broken"] else 1


if __name__ == "__main__":
    sys.exit(main())
