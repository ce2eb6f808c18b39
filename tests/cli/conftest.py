"""A small capture for the tests of the command line: a person of nine bones who waves with the left arm."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

BONES = {
    "Hips": ("", (0, 90, 0)),
    "Spine": ("Hips", (0, 20, 0)),
    "Head": ("Spine", (0, 35, 0)),
    "LeftArm": ("Spine", (18, 22, 0)),
    "LeftForeArm": ("LeftArm", (28, 0, 0)),
    "LeftHand": ("LeftForeArm", (25, 0, 0)),
    "RightArm": ("Spine", (-18, 22, 0)),
    "RightForeArm": ("RightArm", (-28, 0, 0)),
    "RightHand": ("RightForeArm", (-25, 0, 0)),
}


def _bone(name: str, depth: int) -> list[str]:
    tab = "  " * depth
    parent, offset = BONES[name]
    kind = "JOINT" if parent else "ROOT"
    channels = "6 Xposition Yposition Zposition Zrotation Yrotation Xrotation" if not parent else "3 Zrotation Yrotation Xrotation"
    lines = [f"{tab}{kind} {name}", tab + "{", f"{tab}  OFFSET {offset[0]} {offset[1]} {offset[2]}", f"{tab}  CHANNELS {channels}"]
    children = [child for child, (above, _) in BONES.items() if above == name]
    for child in children:
        lines += _bone(child, depth + 1)
    if not children:
        lines += [f"{tab}  End Site", tab + "  {", f"{tab}    OFFSET 0 10 0", tab + "  }"]
    return [*lines, tab + "}"]


@pytest.fixture
def waving(tmp_path: Path) -> Path:
    """A BVH file: 60 frames at 30 Hz, the left upper arm swings by 15 degrees about a pose with both arms half down and bent."""
    frames = []
    for k in range(60):
        row = dict.fromkeys(BONES, (0.0, 0.0, 0.0))
        row["LeftArm"] = (-45.0 + 15.0 * np.sin(2 * np.pi * k / 30.0), -20.0, 0.0)
        row["RightArm"] = (45.0, 20.0, 0.0)
        row["LeftForeArm"], row["RightForeArm"] = (0.0, -50.0, 0.0), (0.0, 50.0, 0.0)
        frames.append(" ".join(["0 90 0"] + [" ".join(f"{angle:.5f}" for angle in row[name]) for name in _order("Hips")]))
    path = tmp_path / "wave.bvh"
    path.write_text("\n".join(["HIERARCHY", *_bone("Hips", 0), "MOTION", "Frames: 60", "Frame Time: 0.0333333", *frames, ""]))
    return path


def _order(name: str) -> list[str]:
    return [name] + [below for child, (above, _) in BONES.items() if above == name for below in _order(child)]
