"""Make the built-in dance: `python scripts/make_dance.py` writes chicken-dance.bvh and its clip file.

A person of 1.75 m dances for 8 s: wings flap, hands go up by turns while the other knee is lifted, arms wave overhead while the
trunk turns, the tail wiggles in a crouch. Every curve is a cubic B-spline, twice continuously differentiable, whose control points,
four a beat, lie on the polygon through keys written by hand: it never leaves their range. Angles are in degrees, lengths in
centimetres, time in beats of half a second.

Axes of the file: x left, y up, z forward. A bone's turn is R = Rz(a) Rx(b) Ry(c): for an arm hanging down a lifts it to the left,
-b to the front, c turns it about itself. The hips' height follows from the legs: the lower foot stands on the floor.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from bunraku.geometry.splines import Spline, SplineBasis

CLIPS = Path(__file__).resolve().parents[1] / "src" / "bunraku" / "assets" / "clips"
NAME = "chicken-dance"
BEAT, BEATS, RATE = 0.5, 16, 50
CONTROLS = 4  # a beat
THIGH, SHIN = 42.0, 41.0
SHARPNESS = 0.5  # [1/cm] of the soft minimum of both feet's heights

# bone: parent, offset [cm], channels, end of the bone if it is the last
ALL, HINGE = ("Zrotation", "Xrotation", "Yrotation"), ("Xrotation",)
BONES = {
    "Hips": ("", (0, 0, 0), ("Xposition", "Yposition", "Zposition", *ALL), None),
    "Spine": ("Hips", (0, 8, 0), ALL, None),
    "Chest": ("Spine", (0, 22, 0), (), None),
    "Neck": ("Chest", (0, 24, 0), (), None),
    "Head": ("Neck", (0, 10, 0), ALL, (0, 17, 0)),
}
for _side, _s in (("Left", 1), ("Right", -1)):
    BONES |= {
        f"{_side}Shoulder": ("Chest", (3 * _s, 19, 0), (), None),
        f"{_side}Arm": (f"{_side}Shoulder", (16 * _s, 0, 0), ALL, None),
        f"{_side}ForeArm": (f"{_side}Arm", (0, -30, 0), HINGE, None),
        f"{_side}Hand": (f"{_side}ForeArm", (0, -26, 0), (), (0, -18, 0)),
        f"{_side}UpLeg": ("Hips", (9 * _s, -2, 0), ALL, None),
        f"{_side}Leg": (f"{_side}UpLeg", (0, -THIGH, 0), HINGE, None),
        f"{_side}Foot": (f"{_side}Leg", (0, -SHIN, 0), HINGE, None),
        f"{_side}ToeBase": (f"{_side}Foot", (0, -5, 13), (), (0, 0, 7)),
    }

# Keys (beat, value)
FLAPS = [(b, v) for k in range(4) for b, v in ((1.5 + k, 0.0), (2.0 + k, 1.0))] + [(5.5, 0.0)]
WIGGLES = [(11.5, 0.0), (12.0, 1.0), (12.5, -1.0), (13.0, 1.0), (13.5, -1.0), (14.0, 1.0), (14.5, 0.0)]
BOUNCES = [(2.0 + 0.5 * k, 8.0 if k % 2 else 24.0) for k in range(7)]
WAVES = [(9.0, 4.0), (9.5, 14.0), (10.0, 4.0), (10.75, 14.0)]
CROUCHES = [(12.0 + 0.5 * k, 28.0 if k % 2 else 36.0) for k in range(5)]
REST, END = [(0.0, 0.0), (0.5, 0.0)], [(15.75, 0.0), (16.0, 0.0)]
WINGS = [(0.5, 0.0), (1.5, 1.0), (5.5, 1.0), (6.25, 0.0), (10.75, 0.0), (11.75, 1.0), (14.25, 1.0), (15.5, 0.0)]
KEYS = {
    # share of: wings (hands at the armpits), a flap, left hand up, right hand up, both hands up
    "wings": [(0.0, 0.0), *WINGS, (16.0, 0.0)],
    "flap": [(0.0, 0.0), *FLAPS, (6.0, 0.0), *[(b, 0.6 * abs(v)) for b, v in WIGGLES], (15.0, 0.0), (16.0, 0.0)],
    "left": [(0.0, 0.0), (5.25, 0.0), (6.25, 0.9), (6.75, 0.9), (7.75, 0.0), (16.0, 0.0)],
    "right": [(0.0, 0.0), (6.25, 0.0), (7.25, 0.9), (7.75, 0.9), (8.75, 0.0), (16.0, 0.0)],
    "both": [(0.0, 0.0), (7.75, 0.0), (9.0, 1.0), (10.0, 1.0), (11.5, 0.0), (16.0, 0.0)],
    "wave": [(0.0, 0.0), (8.5, 0.0), (9.0, 1.0), (9.5, -1.0), (10.0, 1.0), (10.5, 0.0), (16.0, 0.0)],
    # degrees: trunk
    "sway": [
        *REST,
        (1.5, 0),
        (2, 6),
        (3, -6),
        (4, 6),
        (5, -6),
        (6.5, 11),
        (7.5, -11),
        (8.5, 0),
        (9.5, 6),
        (10.5, -6),
        (11.5, 0),
        *END,
    ],
    "turn": [*REST, (2, 10), (4, -10), (5.5, 0), (6.5, -14), (7.5, 14), (9.25, 32), (10.5, -32), (11.75, 0), (14, 0), *END],
    "bend": [*REST, (2, 8), (5, 8), (6.5, -4), (7.5, -4), (9.5, -6), (10.5, -4), (12, 20), (14, 20), *END],
    "tail": [(0.0, 0.0), (11.0, 0.0), *[(b, 11 * v) for b, v in WIGGLES], (15.25, 0.0), (16.0, 0.0)],
    "nod": [*REST, (2, -10), (4, -10), (6.5, 6), (7.5, 6), (9.75, 12), (12, -14), (14, -14), *END],
    # degrees: crouch of both legs, lift of each thigh
    "crouch": [*REST, (1.5, 8), *BOUNCES, (6.5, 10), (7.5, 10), (8.25, 22), *WAVES, *CROUCHES, (15.25, 6), *END],
    "right knee": [(0.0, 0.0), (5.75, 0.0), (6.5, 56), (7.25, 0.0), (16.0, 0.0)],
    "left knee": [(0.0, 0.0), (6.75, 0.0), (7.5, 56), (8.25, 0.0), (16.0, 0.0)],
}

# The left arm: lift to the side, to the front (negative), turn about itself, elbow (negative bends); the right is its mirror image
HANGING = np.array([10.0, -4.0, 0.0, -18.0])
WING = np.array([26.0, 10.0, -16.0, -124.0])
FLAP = np.array([42.0, 0.0, -14.0, 6.0])
UP = np.array([-16.0, -140.0, 0.0, -36.0])
WAVE = np.array([-10.0, 0.0, 0.0, -10.0])


def curves(times: np.ndarray) -> dict[str, np.ndarray]:
    """Values of all keyed curves at ``times`` [s], none of them leaving the range of its keys."""
    basis = SplineBasis.uniform(0.0, BEAT * BEATS, CONTROLS * BEATS)
    at = (np.arange(basis.size) - 1) / CONTROLS
    return {name: Spline(basis, np.interp(at, *np.array(keys, dtype=np.float64).T))(times) for name, keys in KEYS.items()}


def arm(c: dict[str, np.ndarray], side: int) -> np.ndarray:
    """Angles (m, 4) of the arm of side +1 (left) or -1."""
    one = c["left"] if side > 0 else c["right"]
    up = one + c["both"]
    angles = HANGING + np.outer(c["wings"], WING - HANGING) + np.outer(c["flap"], FLAP)
    angles = angles + np.outer(up, UP - HANGING) + side * np.outer(c["wave"], WAVE)
    return angles * [side, 1.0, side, 1.0]


def motion() -> dict[str, np.ndarray]:
    """Channel values (m, channels) of every bone that has channels."""
    times = np.arange(round(BEAT * BEATS * RATE) + 1) / RATE
    c = curves(times)
    none = np.zeros(len(times))
    out, heights = {}, []
    shift = 0.8 * c["sway"] + 0.5 * c["tail"]  # cm to the left
    lean = -np.degrees(np.arctan(shift / (THIGH + SHIN)))
    hips = np.stack([0.3 * c["sway"] + c["tail"], 0.35 * c["bend"], 0.4 * c["turn"]], axis=1)
    for side, word in ((1, "Left"), (-1, "Right")):
        lift = c["left knee" if side > 0 else "right knee"]
        thigh = np.stack([lean - hips[:, 0] + 4.0 * side, -c["crouch"] - lift - hips[:, 1], 0.5 * c["crouch"] * side * 0.4], axis=1)
        knee, angles = 2.0 * c["crouch"] + 1.6 * lift + 6.0, arm(c, side)
        foot = -(knee + thigh[:, 1]) - hips[:, 1] + 0.5 * lift
        out |= {f"{word}UpLeg": thigh, f"{word}Leg": knee[:, None], f"{word}Foot": foot[:, None]}
        out |= {f"{word}Arm": angles[:, :3], f"{word}ForeArm": angles[:, 3:]}
        a, b = np.radians(hips[:, 1] + thigh[:, 1]), np.radians(hips[:, 1] + thigh[:, 1] + knee)
        heights.append(THIGH * np.cos(a) + SHIN * np.cos(b))
    height = np.log(np.mean(np.exp(SHARPNESS * (np.array(heights) - THIGH - SHIN)), axis=0)) / SHARPNESS + THIGH + SHIN
    place = np.stack([shift, height + 2.0 + 9.0, none], axis=1)
    out["Hips"] = np.concatenate([place, hips], axis=1)
    out["Spine"] = np.stack([0.7 * c["sway"] - c["tail"], 0.65 * c["bend"], 0.6 * c["turn"]], axis=1)
    out["Head"] = np.stack([-0.4 * c["sway"], c["nod"], 0.3 * c["turn"]], axis=1)
    return out


def bvh() -> str:
    """The text of the BVH file."""
    lines, values = ["HIERARCHY"], []
    moved = motion()

    def write(bone: str, depth: int) -> None:
        parent, offset, channels, tip = BONES[bone]
        pad = "  " * depth
        lines.extend([f"{pad}{'JOINT' if parent else 'ROOT'} {bone}", pad + "{", f"{pad}  OFFSET {_row(offset)}"])
        if channels:
            lines.append(f"{pad}  CHANNELS {len(channels)} {' '.join(channels)}")
            values.append(moved[bone])
        for child in [name for name, row in BONES.items() if row[0] == bone]:
            write(child, depth + 1)
        if tip is not None:
            lines.extend([f"{pad}  End Site", pad + "  {", f"{pad}    OFFSET {_row(tip)}", pad + "  }"])
        lines.append(pad + "}")

    write("Hips", 0)
    table = np.concatenate(values, axis=1)
    lines += ["MOTION", f"Frames: {len(table)}", f"Frame Time: {1.0 / RATE:.6f}", *[_row(row) for row in table]]
    return "\n".join(lines) + "\n"


def _row(numbers) -> str:
    return " ".join(f"{round(float(x), 3) + 0.0:.3f}".rstrip("0").rstrip(".") for x in numbers)


CLIP = f"""# A dance of 8 s for a puppet: flapping wings, lifted knees, hands up, a wiggling tail. Made by scripts/make_dance.py.
bunraku: clip/1
name: {NAME}
skeleton: {{file: {NAME}.bvh, metres_per_unit: 0.01}}
source: 'our own choreography, made by scripts/make_dance.py'
"""


def main(folder: Path) -> None:
    """Write both files into ``folder``."""
    (folder / f"{NAME}.bvh").write_text(bvh(), encoding="utf-8", newline="\n")
    (folder / f"{NAME}.clip.yaml").write_text(CLIP, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else CLIPS)
