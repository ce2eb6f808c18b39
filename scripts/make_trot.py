"""Make the monster's trot: a drawing of a trot by inverse kinematics, whose leaps are too high for the time they take.

python scripts/make_trot.py        # writes monster-trot and monster-trot-quick into src/bunraku/assets/clips
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from bunraku.formats.registry import read_character, write_clip
from bunraku.gait.trot_clip import Trot, flight_needed, trot_curves, trot_gait
from bunraku.motion import Clip, JointCurves

OUT = Path(__file__).resolve().parents[1] / "src" / "bunraku" / "assets" / "clips"
TROT = Trot(flight=0.04, leap=0.010, height=0.016, drop=0.015, samples=120)
TROTS = {"monster-trot": TROT, "monster-trot-quick": replace(TROT, speed=0.3, steps=2, samples=48)}


def main() -> None:
    """Write the clips."""
    monster = read_character("monster")
    for name, trot in TROTS.items():
        drawn = trot_curves(monster, trot)
        curves = JointCurves(drawn.names, drawn.rate, np.round(drawn.values, 6) + 0.0)
        source = (
            f"a trot at {trot.speed:g} m/s drawn by scripts/make_trot.py: the body rises {1e3 * trot.leap:.0f} mm in flights of "
            f"{1e3 * trot.flight:.0f} ms, for which gravity would need {1e3 * flight_needed(trot.leap):.0f} ms"
        )
        write_clip(OUT / f"{name}.clip.yaml", Clip(name, joints=curves, gait=trot_gait(monster, trot), source=source))


if __name__ == "__main__":
    main()
