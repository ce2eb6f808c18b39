"""Windows of captured motion, drawn at random from BVH files, on humanoids and on puppets. No question of its own.

A window starts anywhere and lasts 2 to 6 s; the first frame of a file, which may be a rest pose, is left out. The window is cut
out of the file's text, so that what is performed is a file like those that people bring.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np

from _open_case import OpenCase, generator

SECONDS = (2.0, 6.0)
"""Windows last from and to [s]."""
IMPORTED = ("nao_kin.urdf", "robots/booster_t1/t1.xml")
"""Humanoids in the data folder."""
INSTALLED = (
    "cmeel.prefix/share/example-robot-data/robots/talos_data/robots/talos_full_v2.urdf",
    "cmeel.prefix/share/example-robot-data/robots/icub_description/robots/icub_reduced.urdf",
    "cmeel.prefix/share/example-robot-data/robots/romeo_description/urdf/romeo.urdf",
    "pybullet_data/humanoid/nao.urdf",
    "dm_control/locomotion/walkers/assets/humanoid_CMU_V2020.xml",
)
"""Humanoids of packages, where those are installed."""


def humanoids(data: Path) -> list[str | Path]:
    """Two built-in ones and those of other makers that are there."""
    there = [data / name for name in IMPORTED] + [Path(entry) / name for name in INSTALLED for entry in sys.path if entry]
    return ["nao", "humanoid", *(file for file in there if file.is_file())]


def draw(seed: int, number: int, data: Path) -> OpenCase:
    """The window of that number, on a humanoid: both built-in ones, then one of another maker, in turn."""
    rng, there = generator("mocap", seed, number), humanoids(data)
    others = there[2:] or there
    who = others[(number // 3) % len(others)] if number % 3 == 2 else there[number % 3]
    clip, what = window(rng, data)
    return OpenCase(who.name if isinstance(who, Path) else who, what, who, clip, ".bvh")


def draw_puppet(seed: int, number: int, data: Path) -> OpenCase:
    """The window of that number, on the marionette."""
    clip, what = window(generator("puppets", seed, number), data)
    return OpenCase("marionette", what, "marionette", clip, ".bvh")


def window(rng: np.random.Generator, data: Path) -> tuple[bytes, str]:
    """A window as a BVH file, and in words where it was cut out."""
    files = sorted([*(data / "mocap").glob("*.bvh"), *(data / "mocap_long").glob("*.bvh"), *data.glob("cmu_*.bvh")])
    if not files:
        raise FileNotFoundError(f"no .bvh files in {data}")
    file = files[int(rng.integers(len(files)))]
    text = file.read_text(encoding="latin-1")
    head, _, motion = text.partition("MOTION")
    step = re.search(r"Frame Time:\s*([\d.eE+-]+)", motion)
    assert step is not None, file
    dt, frames = float(step[1]), [line.strip() for line in motion[step.end() :].splitlines() if line.strip()]
    count = min(round(float(rng.uniform(*SECONDS)) / dt), len(frames) - 1)
    first = int(rng.integers(1, len(frames) - count + 1))
    cut = "\n".join(frames[first : first + count])
    what = f"{file.stem} from {first * dt:.2f} s for {count * dt:.2f} s"
    return f"{head}MOTION\nFrames: {count}\nFrame Time: {dt:.7f}\n{cut}\n".encode(), what
