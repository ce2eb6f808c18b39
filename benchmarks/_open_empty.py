"""Is a proven performance empty? Computed from the performance and the clip alone, with none of the product's own checks.

Run by `_open_run` in a process of its own: python benchmarks/_open_empty.py PERFORMANCE CHARACTER CLIP VERDICT.json prints a JSON
object: ``empty``, pairs of a sentence and whether a stated change of the wish excuses it, and ``figures``.

A green is empty when

- less than half of the wished motion is in the result: of joint curves the share of their motion that the result follows, of a
  capture the share of the motion of bodies, hands and feet about their centre, of a gait the share of its way;
- a limb with more than a fifth of a capture's motion drives nothing that the character has for it;
- a character whose base is fixed is said to stand, or one whose shapes were dropped not to touch itself;
- the commands shake: more than 12 reversals a second of more than 0.2 degrees, 0.5 mm;
- a limit is said to hold that no motor states.
"""

from __future__ import annotations

import json
import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np

from bunraku.arrays import Array
from bunraku.formats.registry import read_clip, read_performance
from bunraku.mechanics.tree import compile_tree
from bunraku.motion import JointCurves, Performance

ENOUGH = 0.5
"""The least share of the wish."""
MUCH, STILL = 0.2, 0.1
"""A limb with this share of a capture's motion must move; one that moves so little of it [rad/s over rad/s] does not."""
REVERSALS = 12.0
SWING = {"rad": np.radians(0.2), "m": 5e-4}
LIMBS = {
    "left arm": (r"left.*(arm|hand|elbow|shoulder|wrist)|\bl_?(arm|hand|elbow|shoulder|wrist|sh|el|wr)", "arm"),
    "right arm": (r"right.*(arm|hand|elbow|shoulder|wrist)|\br_?(arm|hand|elbow|shoulder|wrist|sh|el|wr)", "arm"),
    "left leg": (r"left.*(leg|foot|knee|hip|ankle|toe)|\bl_?(leg|foot|knee|hip|ankle|thigh|shin)", "leg"),
    "right leg": (r"right.*(leg|foot|knee|hip|ankle|toe)|\br_?(leg|foot|knee|hip|ankle|thigh|shin)", "leg"),
    "head": (r"head|neck", "head"),
}
"""Limbs: the names of bones and joints that belong to them."""

Empty = list[tuple[str, bool]]


def limb_of(name: str) -> str:
    """The limb that a bone or joint belongs to by its name; nothing if none."""
    plain = re.sub(r"([a-z])([A-Z])", r"\1_\2", name)
    plain = re.sub(r"^([LR])([A-Z])", r"\1_\2", plain).lower().replace(".", "_")
    return next((limb for limb, (words, _) in LIMBS.items() if re.search(words, plain)), "")


def share_of_curves(wish: Array, result: Array) -> float:
    """The share of the wished motion that is in the result: sum of r w over that of w squared, both from their means over time.

    Displacements and not velocities: who takes the shaking out of a capture leaves its motion in.
    """
    w, r = wish - wish.mean(axis=0), result - result.mean(axis=0)
    energy = float((w * w).sum())
    return float((r * w).sum()) / energy if energy > 1e-12 else 1.0


def columns(performance: Performance, wish: JointCurves) -> tuple[Array, Array]:
    """Wish and result in the joints of the wish."""
    kept = [name for name in wish.names if name in performance.motion.names]
    return np.column_stack([wish.column(name) for name in kept]), np.column_stack(
        [performance.motion.column(name) for name in kept]
    )


def places(performance: Performance, wish: JointCurves) -> tuple[Array, Array]:
    """Where bodies and frames are about their centre, wished and in the result: a puppet has many poses that look the same."""
    tree, result, found = compile_tree(performance.character), performance.moved(), list[Array]()
    asked = np.column_stack([wish.column(name) if name in wish.names else result.column(name) for name in result.names])
    for values in (asked, result.values):
        turned, at = tree.poses(tree.expand(result.names, values))
        ends = [(at[:, node] + turned[:, node] @ local)[:, None] for node, local, _ in tree.frames.values()]
        points = np.concatenate([at, *ends], axis=1) - at.mean(axis=1, keepdims=True)
        found.append(points.reshape(len(at), -1))
    return found[0], found[1]


def wished(performance: Performance, clip: Path) -> tuple[Empty, dict[str, float]]:
    """Whether what was wished is there."""
    asked = read_clip(clip)
    if asked.gait is not None:
        return _gone(performance, asked.gait)
    empty, figures = Empty(), dict[str, float]()
    wish = getattr(performance, "wish", None)
    if wish is not None:
        captured = asked.joints is None
        figures["share"] = share_of_curves(*(places(performance, wish) if captured else columns(performance, wish)))
        if figures["share"] < ENOUGH:
            empty.append((f"{100 * figures['share']:.0f} % of the wished motion is in the result", True))
    if asked.joints is not None and asked.skeleton is None:
        figures["way"] = _way(performance, asked.joints)
        if figures["way"] < ENOUGH:
            empty.append((f"the joints go {100 * figures['way']:.0f} % of the way that the clip asks for", True))
    if asked.skeleton is not None:
        empty += [(words, False) for words in _idle_limbs(performance, clip)]
    return empty, figures


def _way(performance: Performance, joints: Any) -> float:
    """The way that the joints of a clip go in the result, each at most its own, over the way in the clip."""
    long, there = 0.0, 0.0
    for name in joints.names:
        asked = float(np.abs(np.diff(joints.column(name))).sum())
        gone = float(np.abs(np.diff(performance.motion.column(name))).sum()) if name in performance.motion.names else 0.0
        long, there = long + asked, there + min(asked, gone)
    return there / long if long > 1e-9 else 1.0


def _gone(performance: Performance, gait: Any) -> tuple[Empty, dict[str, float]]:
    """Whether the base goes where a gait asks it to, by share of the way, in the direction it looks in at first."""
    cycles = gait.cycles if gait.periodic else 1
    base = next((joint.name for joint in performance.character.joints if joint.kind in ("free", "planar")), "")
    asked = np.array([part or 0.0 for part in (gait.distance or (0.0, 0.0))])
    if not base or gait.distance is None or np.linalg.norm(asked) < 1e-6:
        return [], {}
    x, y = (performance.motion.column(f"{base}.{axis}") for axis in ("tx", "ty"))
    way = float(np.hypot(np.diff(x), np.diff(y)).sum())
    chord = float(np.hypot(x[-1] - x[0], y[-1] - y[0]))
    turn = abs(cycles * (gait.turn or 0.0))
    arc = 1.0 if turn < 1e-6 else abs(np.sin(turn / 2.0) / (turn / 2.0))
    share = chord / (cycles * float(np.linalg.norm(asked)) * arc)
    empty: Empty = [(f"it goes {100 * share:.0f} % of the wished way", True)] if share < ENOUGH else []
    if turn > 0.1:
        heading = performance.motion.column(f"{base}.rz")
        turned = float(heading[-1] - heading[0]) / (cycles * (gait.turn or 1.0))
        empty += [(f"it turns {100 * turned:.0f} % of what was wished", True)] if turned < ENOUGH else []
    return empty, {"share": share, "detour": way / max(chord, 1e-9)}


def _idle_limbs(performance: Performance, clip: Path) -> list[str]:
    """Limbs of a capture that move much, whose joints in the character hardly do or not at all; not legs that nobody asked for."""
    speeds = _bone_speeds(clip)
    total = sum(energy for energy in speeds.values())
    found = []
    only = performance.provenance.options.get("only") or ()
    for limb in LIMBS:
        if only and "leg" in limb and not any("leg" in word for word in only):
            continue
        bones = {bone: energy for bone, energy in speeds.items() if limb_of(bone) == limb}
        if total <= 0.0 or sum(bones.values()) < MUCH * total:
            continue
        own = [name for name in performance.motion.names if limb_of(name) == limb]
        moved = [float(np.sqrt(np.mean(np.gradient(performance.motion.column(n), 1.0 / performance.rate) ** 2))) for n in own]
        if own and max(moved) < STILL * max(bones.values()) ** 0.5:
            found.append(f"the {limb} has {100 * sum(bones.values()) / total:.0f} % of the capture's motion and drives nothing")
    return found


def _bone_speeds(clip: Path) -> dict[str, float]:
    """Mean square speed [rad²/s²] of every bone's own angles in a BVH file, the root's left out."""
    text = clip.read_text(encoding="latin-1")
    names, columns = [], []
    name = ""
    for line in text.partition("MOTION")[0].splitlines():
        words = line.split()
        if words and words[0] in ("ROOT", "JOINT"):
            name = "" if words[0] == "ROOT" else words[1]
        elif words and words[0] == "CHANNELS":
            columns += [(name, kind.lower().endswith("rotation")) for kind in words[2:]]
            names.append(name)
    lines = [line for line in text.partition("MOTION")[2].splitlines() if line.strip()]
    dt = float(lines[1].split(":")[1])
    values = np.unwrap(np.radians(np.array([[float(x) for x in line.split()] for line in lines[2:]])), axis=0)
    speeds = (np.diff(values, axis=0) / dt) ** 2
    found: dict[str, float] = {}
    for j, (bone, turns) in enumerate(columns):
        if bone and turns:
            found[bone] = found.get(bone, 0.0) + float(speeds[:, j].mean())
    return found


def shaking(performance: Performance) -> tuple[Empty, dict[str, float]]:
    """The most reversals a second of any place that is commanded."""
    worst, where = 0.0, ""
    for channel in performance.channels:
        if channel.kind not in ("position", "length"):
            continue
        count = reversals(np.asarray(channel.values), SWING.get(channel.unit, SWING["rad"]))
        rate = count * channel.rate / max(len(channel.values) - 1, 1)
        worst, where = max((worst, where), (rate, channel.name))
    said: Empty = [(f"{where} reverses {worst:.0f} times a second", False)] if worst > REVERSALS else []
    return said, {"reversals": worst}


def reversals(values: np.ndarray, swing: float) -> int:
    """How often a curve turns back by more than ``swing``."""
    count, way, extreme = 0, 0, float(values[0])
    for value in values.tolist():
        if (way >= 0 and value > extreme) or (way <= 0 and value < extreme):
            way, extreme = (way or (1 if value > extreme else -1)), value
        elif abs(value - extreme) > swing:
            count, way, extreme = count + 1, -way, value
    return count


def claims(performance: Performance, source: str, verdict: dict[str, Any]) -> Empty:
    """What is said to hold though nothing could be judged."""
    who = performance.character
    holds = [check["name"] for check in verdict["checks"] if check.get("state") == "holds"]
    found: Empty = []
    floats = any(joint.kind in ("free", "planar") and joint.parent == "world" for joint in who.joints)
    if not floats:
        found += [
            (f"its base is fixed, and {name!r} holds", False) for name in holds if name.startswith(("fell", "balance margin"))
        ]
    if any(name.startswith("self-collision") for name in holds):
        bare = dropped(performance, source)
        found += [(f"self-collision holds, and {bare} moving bodies have lost their shapes", False)] if bare else []
    stated = {
        "velocity": any(motor.velocity is not None for motor in who.motors),
        "acceleration": any(motor.acceleration is not None for motor in who.motors),
        "jerk": any(motor.jerk is not None for motor in who.motors),
    }
    for name in holds:
        word = name.split()[0]
        if who.motors and not who.strings and re.match(r"\w+ (violations|excess)", name) and not stated.get(word, True):
            found.append((f"{name!r} holds, and no motor states a limit of {word}", False))
    return found


def dropped(performance: Performance, source: str) -> int:
    """How many bodies that move have shapes in the source and none that collides in the character; 0 below a fifth of them."""
    file = Path(source)
    if file.suffix not in (".urdf", ".xml"):
        colliding = sum(any(shape.collides for shape in body.shapes) for body in performance.character.bodies)
        return len(performance.character.bodies) if colliding < 2 else 0
    root = ET.parse(file).getroot()
    there = {
        body.name: any(shape.collides and shape.kind != "mesh" for shape in body.shapes) for body in performance.character.bodies
    }
    shaped = {
        element.get("name", "")
        for element in (*root.iter("link"), *root.iter("body"))
        if element.find("collision") is not None or element.find("geom") is not None
    }
    bare = [name for name in shaped if name in there and not there[name]]
    return len(bare) if len(bare) > 0.2 * max(len(shaped), 1) else 0


def main() -> int:
    """Print what was found."""
    performance, character, clip, verdict = sys.argv[1:5]
    given = read_performance(performance)
    empty, figures = wished(given, Path(clip))
    more, numbers = shaking(given)
    empty += more + claims(given, character, json.loads(Path(verdict).read_text()))
    print(json.dumps({"empty": empty, "figures": {name: round(value, 4) for name, value in (figures | numbers).items()}}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
