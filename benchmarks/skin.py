"""Skins: the paper's Table 1 beside ours, and how long a frame takes.

Joints, vertices of the skin, glue vertices and weight of the three creatures beside those of the paper; "frame": CPU seconds of one
thread for one frame of 5 ms, everything included (stiffness, collisions, condensation, torques and contact), the median of some
frames of a walk's beginning, kernels compiled before. The paper's seconds are wall clock on its own computer (i7-7700) for its own
meshes. Bars: figures of the table within 10 % of the paper's, vertices at least the bar of each, a frame of the beetle <= 0.35 s.

Run: python benchmarks/skin.py [NAME ...]     (of beetle, monster, lizard; all if none is given)
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass

import numpy as np

from bunraku.formats.registry import read_character
from bunraku.mechanics.coupled.skinned import skinned_model
from bunraku.mechanics.coupled.state import rest_state
from bunraku.performers.skin.alternate import SkinnedPuppet
from bunraku.performers.skin.tracking import track

FRAMES, SKIPPED = 12, 3
"""Frames that are computed, and the first of them that do not count."""

BAR = 0.35
"""CPU seconds of a frame of the beetle."""


@dataclass(frozen=True)
class Row:
    """A row of Table 1: joints, vertices, glue vertices, weight [kg], seconds a frame; ``least`` vertices ours must have."""

    joints: int
    vertices: int
    glue: int
    weight: float
    seconds: float
    least: int


TABLE = {
    "beetle": Row(12, 14_152, 140, 3.9, 3.2, 14_000),
    "monster": Row(16, 16_624, 301, 11.87, 8.98, 16_000),
    "lizard": Row(17, 18_261, 176, 10.8, 8.41, 18_000),
}


def examine(name: str, row: Row) -> list[str]:
    """Measure one creature, print its line; the bars missed."""
    puppet = SkinnedPuppet(skinned_model(read_character(name)), collisions=True)
    model = puppet.model
    stands = np.ones((FRAMES, len(model.character.end_effectors)), dtype=bool)
    wished = np.tile(model.home, (FRAMES, 1))
    tracked = track(puppet.frames, rest_state(model), wished, stands, collisions=puppet.touching)
    seconds = float(np.median([record.seconds for record in tracked.records[SKIPPED:]]))
    ours = (len(model.driven), len(model.mesh.nodes), len(model.glue), model.total_mass)
    print(
        f"{name:9}{row.joints:5d}{ours[0]:5d}{row.vertices:9,d}{ours[1]:9,d}{row.glue:6d}{ours[2]:6d}{row.weight:8.2f}{ours[3]:8.2f}"
        f"{row.seconds:9.2f}{seconds:9.3f}{f'x{row.seconds / seconds:.0f}':>7}",
        flush=True,
    )
    told = []
    for what, theirs, mine in zip(
        ("joints", "glue", "weight"), (row.joints, row.glue, row.weight), ours[:1] + ours[2:], strict=True
    ):
        told += [f"{what} {mine:g} against {theirs:g}, bar 10 %"] if abs(mine / theirs - 1.0) > 0.1 else []
    told += [f"{ours[1]} vertices, bar {row.least}"] if ours[1] < row.least else []
    told += [f"a frame takes {seconds:.2f} s, bar {BAR} s"] if name == "beetle" and seconds > BAR else []
    return told


def main() -> int:
    """Print the table; 1 when a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(TABLE)}; all if none is given")
    names = parser.parse_args().names or list(TABLE)
    unknown = [name for name in names if name not in TABLE]
    if unknown:
        parser.error(f"there is no {unknown[0]!r}; there are {', '.join(TABLE)}")
    print(f"{'':9}{'joints':>10}{'vertices':>18}{'glue':>12}{'weight [kg]':>16}{'frame [s]':>18}")
    print(
        f"{'':9}{'paper ours':>10}{'paper     ours':>18}{'paper ours':>12}{'paper    ours':>16}{'paper     ours':>18}{'ratio':>7}"
    )
    below = {}
    for name in names:
        below |= {name: told} if (told := examine(name, TABLE[name])) else {}
    for name, told in below.items():
        print(f"{name} is below its bars: {'; '.join(told)}")
    print(f"all bars of {', '.join(names)} met: {'NO' if below else 'yes'}")
    return 1 if below else 0


if __name__ == "__main__":
    sys.exit(main())
