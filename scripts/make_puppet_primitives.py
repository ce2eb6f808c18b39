"""Make the marionette's motion primitives: what a puppeteer does with the strings, turned into poses of the puppet.

    python scripts/make_puppet_primitives.py        # writes src/bunraku/assets/clips/puppet-*.clip.yaml

A key is a displacement of carriages and string lengths [m] from home, by coordinate; a leading ``b_`` means both sides, ``all``
every carriage. The puppet hangs at rest on them (static equilibrium): the pose is the key. All primitives start and end at home.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import yaml

from bunraku.formats.registry import read_character
from bunraku.mechanics.systems.marionette import hang, marionette_system

OUT = Path(__file__).resolve().parents[1] / "src" / "bunraku" / "assets" / "clips"
SOURCE = "made by this project: poses at rest on displaced strings (scripts/make_puppet_primitives.py)"

STEP_L = {"l_knee_string.length": -0.07}
STEP_R = {"r_knee_string.length": -0.07}
HAND = {"r_hand_string.length": -0.24, "r_hand_carriage.x": -0.04}
LEFT_UP, RIGHT_UP = {"l_hand_string.length": -0.16}, {"r_hand_string.length": -0.16}
BOW = {
    "b_shoulder_string.length": 0.12,
    "b_hand_string.length": 0.06,
    "b_hand_carriage.x": 0.1,
    "b_knee_carriage.x": -0.06,
}
# name: (what, [(time, displacements)], stroke)
PRIMITIVES = {
    "puppet-walk": (
        "four steps: two forward, two back",
        [
            (0.0, {}),
            (0.5, STEP_L | {"all.x": 0.03, "all.y": -0.015}),
            (0.85, {"all.x": 0.05}),
            (1.2, STEP_R | {"all.x": 0.07, "all.y": 0.015}),
            (1.55, {"all.x": 0.08}),
            (1.9, STEP_L | {"all.x": 0.06, "all.y": -0.015}),
            (2.25, {"all.x": 0.04}),
            (2.6, STEP_R | {"all.x": 0.02, "all.y": 0.015}),
            (3.1, {}),
        ],
        0.5,
    ),
    "puppet-wave": (
        "the right hand rises and waves",
        [
            (0.0, {}),
            (1.2, HAND | {"r_hand_carriage.y": -0.03}),
            (1.6, HAND | {"r_hand_carriage.y": -0.11}),
            (2.0, HAND | {"r_hand_carriage.y": -0.03}),
            (2.4, HAND | {"r_hand_carriage.y": -0.11}),
            (3.7, {}),
        ],
        1.6,
    ),
    "puppet-bow": ("a deep bow", [(0.0, {}), (1.2, BOW), (1.6, BOW), (2.8, {})], 1.4),
    "puppet-reach": (
        "the left hand reaches out to the front",
        [
            (0.0, {}),
            (1.1, {"l_hand_string.length": -0.1, "l_hand_carriage.x": 0.28}),
            (1.5, {"l_hand_string.length": -0.1, "l_hand_carriage.x": 0.3}),
            (2.7, {}),
        ],
        1.3,
    ),
    "puppet-dance": (
        "swaying from side to side, hands and knees in turn",
        [
            (0.0, {}),
            (0.7, LEFT_UP | STEP_R | {"all.y": 0.04}),
            (1.4, RIGHT_UP | STEP_L | {"all.y": -0.04}),
            (2.1, LEFT_UP | STEP_R | {"all.y": 0.04}),
            (2.8, RIGHT_UP | STEP_L | {"all.y": -0.04}),
            (3.6, {}),
        ],
        0.7,
    ),
}


def main() -> None:
    """Write all primitives."""
    character = read_character("marionette")
    system = marionette_system(character)
    home = hang(character, system).require()
    place = {name: i for i, name in enumerate(system.names)}
    names = [system.names[i] for i in system.dynamic]
    slides = {axis.name for joint in character.joints for axis in joint.axes if axis.kind == "slide"}

    def pose(moved: dict[str, float]) -> np.ndarray:
        prescribed = {name: float(home.q[place[name]]) for name in character.prescribed}
        for key, by in moved.items():
            part, _, axis = key.partition(".")
            for name in prescribed:
                own = name.partition(".")
                fits = own[2] == axis and (part == "all" or own[0] == part or (part[:2] == "b_" and own[0][2:] == part[2:]))
                prescribed[name] += by if fits else 0.0
        found = hang(character, system, q=home.q, prescribed=prescribed, slack_below=0.3).require()
        return found.q[system.dynamic]

    for name, (what, keys, stroke) in PRIMITIVES.items():
        poses = np.array([pose(moved) for _, moved in keys])
        moving = [j for j in range(len(names)) if np.ptp(poses[:, j]) > 2e-3]
        columns = {names[j]: [[t, round(float(v), 4)] for (t, _), v in zip(keys, poses[:, j], strict=True)] for j in moving}
        turns = {key: column for key, column in columns.items() if key not in slides}
        shifts = {key: column for key, column in columns.items() if key in slides}
        end = keys[-1][0]
        content = {
            "bunraku": "clip/1",
            "name": name,
            "rate_hz": 100,
            "joints": {"keys_rad": turns, "keys_m": shifts},
            "phrases": [{"text": what, "start_s": 0.0, "end_s": end, "stroke_s": stroke}],
            "source": SOURCE,
        }
        text = yaml.safe_dump(content, sort_keys=False, default_flow_style=None, width=130)
        (OUT / f"{name}.clip.yaml").write_text(text)
        print(f"{name}: {len(moving)} coordinates, {len(keys)} keys, {len(text)} bytes")


if __name__ == "__main__":
    main()
