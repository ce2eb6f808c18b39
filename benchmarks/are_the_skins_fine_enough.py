"""Are the skins of the creatures fine enough where they bend?

    python benchmarks/are_the_skins_fine_enough.py [NAME ...] [--folder DIR] [--bend DEGREES] [--json]

The stiffness of every joint [N·m/rad] as the skin has it (the diagonal of `mechanics/coupled/stiffness.joint_stiffness`), against
that of the same skin with every cell cut into eight. Bar: at most 15 % more. With --bend each joint of the left fore leg, and that
of the spine, is then turned slowly by so many degrees to both sides: no cell may collapse. --folder is where NAME.character.yaml
and its skin are; the built-in ones if left out.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from _skin_refine import refined_skin
from bunraku.formats.registry import read_character
from bunraku.mechanics.coupled.frame import CoupledFrames
from bunraku.mechanics.coupled.known_skins import skin_of
from bunraku.mechanics.coupled.skinned import SkinnedModel, skinned_model
from bunraku.mechanics.coupled.state import rest_state
from bunraku.mechanics.coupled.stiffness import joint_stiffness
from bunraku.mechanics.elastic.solid import Collapsed

NAMES = ("beetle", "monster", "lizard")
CHARACTERS = Path(__file__).resolve().parents[1] / "src" / "bunraku" / "assets" / "characters"
BAR = 0.15
STEPS = 30
"""Steps of 20 ms in which a joint is turned."""


def bent(model: SkinnedModel, coordinate: int, angle: float) -> float:
    """How far [rad] a joint gets on its way to ``angle`` before a cell of the skin collapses; the skin follows quasi-statically."""
    frames, state = CoupledFrames(model, 0.02), rest_state(model)
    step = np.zeros(model.nq)
    step[coordinate] = angle / STEPS
    for k in range(STEPS):
        try:
            frames.linearize(state)
            state = frames.carry(state, step)
        except Collapsed:
            return k * angle / STEPS
    return angle


def row(name: str, folder: Path, bend: float) -> dict[str, Any]:
    """The figures of one creature."""
    started = time.thread_time()
    character = read_character(folder / f"{name}.character.yaml")
    mesh = skin_of(character)
    coarse = skinned_model(character, mesh)
    stiff = np.diag(joint_stiffness(coarse))[coarse.driven]
    fine = refined_skin(mesh)
    finer = np.diag(joint_stiffness(skinned_model(character, fine)))[coarse.driven]
    joints = [motor.coordinate for motor in character.motors]
    turned = {}
    if bend > 0.0:
        chosen = [(k, joint) for k, joint in enumerate(joints) if joint.startswith("LF.") or "." not in joint]
        for k, joint in chosen:
            turned[joint] = [float(np.degrees(bent(coarse, int(coarse.driven[k]), np.radians(s * bend)))) for s in (1.0, -1.0)]
    return {
        "name": name,
        "nodes": len(mesh.nodes),
        "refined_nodes": len(fine.nodes),
        "joints": joints,
        "stiffness": stiff.tolist(),
        "refined_stiffness": finer.tolist(),
        "error": (stiff / finer - 1.0).tolist(),
        "bent_deg": turned,
        "cpu_s": time.thread_time() - started,
    }


def main() -> int:
    """Print the table; 1 when a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(NAMES))
    parser.add_argument("--folder", type=Path, default=CHARACTERS)
    parser.add_argument("--bend", type=float, default=0.0, help="how far to turn the joints of one leg [deg]")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    rows, missed = [], []
    for name in given.names:
        found = row(name, given.folder, given.bend)
        rows.append(found)
        print(f"{name}: {found['nodes']:,} nodes, refined {found['refined_nodes']:,}, {found['cpu_s']:.0f} s CPU")
        for joint, stiff, finer, error in zip(
            found["joints"], found["stiffness"], found["refined_stiffness"], found["error"], strict=True
        ):
            print(f"  {joint:10} {stiff:7.3f} N·m/rad, refined {finer:7.3f}: {100 * error:+5.1f} %", flush=True)
            missed += [f"{name} {joint}: {100 * error:.1f} %, bar {100 * BAR:.0f}"] if error > BAR else []
        for joint, (plus, minus) in found["bent_deg"].items():
            print(f"  {joint:10} turned to {plus:+.0f} and {minus:+.0f} deg", flush=True)
            if min(plus, -minus) < given.bend - 1e-6:
                missed.append(f"{name} {joint} turns to {plus:+.0f} and {minus:+.0f} deg, asked for {given.bend:.0f}")
    if given.json:
        print(json.dumps({"rows": rows, "missed": missed}))
    print("\n".join(f"MISSED {reason}" for reason in missed) or "every bar is met")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
