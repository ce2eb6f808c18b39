"""Random clips on every flexible character and on random chains of rods. No question of its own.

Of a built-in character every motor that its own clip moves goes within the range and the speed that it has there; chains move
within 70 degrees to both sides, at 20 to 60 % of the speed of their motors. In turn from pose to pose and in waves.
"""

from __future__ import annotations

from math import pi
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from _open_case import OpenCase, generator
from _open_joints import pose_to_pose, waves
from bunraku.assets.examples import DEMOS
from bunraku.character import Character
from bunraku.formats.character_yaml import read_character_yaml
from bunraku.formats.registry import read_clip

NAMES = ("one-rod", "two-rods", "dancer", "bartender", "rapper", "drummer", "boxer")
SECONDS, RATE = (2.0, 5.0), 100.0
"""Clips last from and to [s]; their samples a second."""
MATERIALS = (
    {"name": "spring-steel", "young_pa": 200e9, "density_kg_m3": 7850.0, "strain_damping_s": 0.00074},
    {"name": "aluminium", "young_pa": 70e9, "density_kg_m3": 2700.0, "strain_damping_s": 0.0004},
    {"name": "carbon", "young_pa": 120e9, "density_kg_m3": 1550.0, "strain_damping_s": 0.0006},
)
MOTOR: dict[str, Any] = {
    "velocity_rad_s": 7.0, "acceleration_rad_s2": 250.0, "stall_torque_n_m": 3.0, "no_load_speed_rad_s": 8.06,
    "torque_fraction": 0.8, "continuous_torque_n_m": 1.0,
}  # fmt: skip
"""A Dynamixel XM430-W210 at 12 V."""


def draw(seed: int, number: int, data: Path) -> OpenCase:
    """The clip of that number."""
    rng = generator("clips", seed, number)
    shape = waves if rng.integers(2) else pose_to_pose
    t = np.arange(round(rng.uniform(*SECONDS) * RATE) + 1) / RATE
    which = number % (len(NAMES) + 1)
    if which < len(NAMES):
        who: str | Character = NAMES[which]
        own = read_clip(DEMOS[NAMES[which]].clip).need_joints("a benchmark")
        values, fastest = own.values, np.abs(np.diff(own.values, axis=0)).max(axis=0) * own.rate
        names = own.names
        ranges = [(float(v.min()), float(v.max()), float(v[0])) for v in values.T]
        words = NAMES[which]
    else:
        who = chain(rng)
        names = tuple(motor.coordinate for motor in who.motors)
        fastest, ranges = np.full(len(names), rng.uniform(0.2, 0.6) * MOTOR["velocity_rad_s"]), [(-1.2, 1.2, 0.0)] * len(names)
        words = f"chain of {len(names)}"
    columns = [shape(rng, t, *ranges[j], float(fastest[j])) for j in range(len(names))]
    lines = [",".join(["time", *names]), *(",".join(f"{x:.6f}" for x in row) for row in np.column_stack([t, *columns]))]
    return OpenCase(words, f"{shape.__name__} {t[-1]:.2f} s", who, ("\n".join(lines) + "\n").encode(), ".csv")


def chain(rng: np.random.Generator) -> Character:
    """One to three rods in a row, each turned by a motor that the rod before carries, with a weight at the end."""
    count, material = int(rng.integers(1, 4)), MATERIALS[int(rng.integers(len(MATERIALS)))]
    bodies = [_body("stand", 0.6)]
    joints: list[dict[str, Any]] = [{"name": "stand", "kind": "fixed", "parent": "world", "child": "stand"}]
    motors, parts, frames, before = [], [], [], "stand"
    for k in range(count):
        length = float(rng.uniform(0.15, 0.45)) / count**0.5
        mass = float(rng.uniform(0.03, 0.15)) if k == count - 1 else 0.1
        end, axis = f"end{k + 1}", [0, 1, 0] if rng.random() < 0.7 else [1, 0, 0]
        bodies += [_body(f"horn{k + 1}", 0.02), _body(end, mass)]
        joints += [
            {
                "name": f"turn{k + 1}",
                "kind": "hinge",
                "parent": before,
                "child": f"horn{k + 1}",
                "axis": axis,
                "range_rad": [-1.5, 1.5],
            },
            {
                "name": f"rod{k + 1}",
                "kind": "fixed",
                "parent": f"horn{k + 1}",
                "child": end,
                "pose": {"position_m": [0, 0, length]},
            },
        ]
        motors.append({"name": f"turn{k + 1}", "coordinate": f"turn{k + 1}", **MOTOR})
        rod = {"kind": "rod", "length_m": length, "diameter_m": float(rng.uniform(0.003, 0.005)) * (1.0 + 0.25 * (count - 1 - k))}
        parts.append(
            {"name": f"rod{k + 1}", "material": material["name"], "shape": rod, "base": f"horn{k + 1}", "children": [{"body": end}]}
        )
        frames.append({"name": end, "body": end})
        before = end
    text = yaml.safe_dump(
        {"bunraku": "character/1", "name": f"chain{count}", "bodies": bodies, "joints": joints, "motors": motors, "frames": frames,
         "materials": [dict(material)], "flexibles": parts},
        sort_keys=False,
    )  # fmt: skip
    return read_character_yaml(text.encode(), file="chain.character.yaml")


def _body(name: str, mass: float) -> dict[str, Any]:
    """A ball of plastic of that mass [kg]."""
    radius = (3.0 * mass / (4.0 * pi * 2000.0)) ** (1.0 / 3.0)
    moment = 0.4 * mass * radius**2
    shape = {"kind": "sphere", "size_m": [radius], "collides": False}
    return {"name": name, "mass_kg": mass, "inertia_kg_m2": [moment, moment, moment, 0.0, 0.0, 0.0], "shapes": [shape]}
