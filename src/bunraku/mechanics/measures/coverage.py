"""Coverage: how much of a captured motion is in the performance, limb by limb.

A captured skeleton is cut into limbs. The motion of a limb is E = sum over its bones of mean(omega^2) L^2: omega [rad/s] the turn
of the bone in its parent, L [m] how far the limb reaches beyond it, so that a shoulder counts more than a finger. ``captured`` is
the limb's part of the sum over all limbs. Of that, ``followed`` is in the wish, 1 - sum |p - p*|^2 / sum |p*|^2 with p the places
of the limb's targets on the character and p* the wished ones, both about their means; and of the wish so much is performed as the
limb's joints follow, or, where physics moves it, as its places move (see `followed`). Coverage is the part of the captured motion
that is performed, over the limbs that move and that the character could follow: legs that are held at home, so that the character
stands, leave out what they were to do. Where only some limbs were asked for, the parts are those of what these carry.

The table is kept as figures of the certificate; verification computes the performed part and the checks again from them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.mechanics.measures.followed import share_followed, share_moved
from bunraku.mechanics.tree.tree import compile_tree
from bunraku.motion import Check, JointCurves, Performance

COVERAGE = 0.6
"""At least this part of the captured motion of the limbs that could follow is performed: with one arm of two it is about half."""

LIMB = 0.25
"""And of each limb that moves this part of its own motion: better than a limb that stands still (0)."""

MOVES = 0.05
"""A limb moves when it carries this part of the captured motion that was asked for..."""

STILL = 1e-3
"""...and this part of all of it."""

FOLLOWS, HELD, NO_JOINT, NOT_ASKED, MISSING = range(5)
"""What became of a limb; ``MISSING``: joints of the character are free to follow it and nothing in the rig map drives them."""

_IDLE = {
    MISSING: "no bone of it drives a joint, though joints are free: name it in a rig map (--rig)",
    HELD: "its joints are held at home: ask for the others alone (--only upper)",
}
_WHY = {HELD: "joints are held at home", NO_JOINT: "no joint of the character is left", NOT_ASKED: "not asked for"}


@dataclass(frozen=True)
class CapturedLimb:
    """A limb of a captured skeleton: its part of the motion ``captured``, what is ``followed`` of it, and which ``joints`` do."""

    name: str
    captured: float
    followed: float
    fate: int
    joints: tuple[str, ...] = ()


def coverage_figures(limbs: Sequence[CapturedLimb]) -> dict[str, float]:
    """The table as flat figures."""
    figures: dict[str, float] = {}
    for limb in limbs:
        rows = {"captured": limb.captured, "followed": limb.followed, "fate": float(limb.fate)}
        figures |= {f"coverage {row}: {limb.name}": value for row, value in rows.items()}
        figures |= {f"coverage joint: {limb.name}: {joint}": 1.0 for joint in limb.joints}
    return figures


def limbs_in(figures: Mapping[str, float]) -> tuple[CapturedLimb, ...]:
    """The table in the figures of a certificate; empty where the wish was not captured."""
    beginning = "coverage captured: "
    names = [key.removeprefix(beginning) for key in figures if key.startswith(beginning)]
    limbs = []
    for name in names:
        joint = f"coverage joint: {name}: "
        joints = tuple(key.removeprefix(joint) for key in figures if key.startswith(joint))
        captured, followed, fate = (figures.get(f"coverage {row}: {name}", np.nan) for row in ("captured", "followed", "fate"))
        known = fate in (FOLLOWS, HELD, NO_JOINT, NOT_ASKED)
        limbs.append(CapturedLimb(name, captured, followed, int(fate) if known else MISSING, joints))
    return tuple(limbs)


def coverage_checks(performance: Performance, limbs: Sequence[CapturedLimb]) -> tuple[Check, ...]:
    """The part of the captured motion that is performed, of all ``limbs`` and of each; nothing where none was captured."""
    if not limbs:
        return ()
    able = [limb for limb in limbs if limb.fate in (FOLLOWS, MISSING, HELD)]
    asked = sum(limb.captured for limb in able) if any(limb.fate == NOT_ASKED for limb in limbs) else 1.0
    able = [limb for limb in able if not limb.captured < max(MOVES * asked, STILL)]
    done = {limb.name: limb.followed * _performed(performance, limb) if limb.fate == FOLLOWS else 0.0 for limb in able}
    checks: list[Check] = []
    fates = {fate: [limb.name for limb in limbs if limb.fate == fate] for fate in _WHY}
    left = [f"{', '.join(names)}: {_WHY[fate]}" for fate, names in fates.items() if names]
    total = sum(limb.captured for limb in able)
    if able:
        share = sum(limb.captured * done[limb.name] for limb in able) / total
        note = "; ".join([", ".join(f"{limb.name} {100.0 * done[limb.name]:.0f} %" for limb in able), *left])
        checks.append(Check("coverage", share, "of the captured motion", COVERAGE, at_least=True, note=note))
    else:
        checks.append(Check.not_applicable("coverage", "; ".join(["what could follow hardly moves", *left])))
    for limb in able:
        note = _IDLE.get(limb.fate, "")
        checks.append(Check(f"coverage of the {limb.name}", done[limb.name], "of its motion", LIMB, at_least=True, note=note))
    return tuple(checks)


def _performed(performance: Performance, limb: CapturedLimb) -> float:
    """The part of the wish that a limb performs: by its joints, or by its places where physics moves it.

    A puppet has many poses that look alike, so that its joints tell little; and strings lift a hand whose wave they do not follow,
    so that the places themselves tell little, and their speeds much.
    """
    wish = performance.wish
    if wish is None:
        return 1.0
    done = performance.followed()
    names = [name for name in limb.joints if name in wish.names and name in done.names]
    if not names:
        return 0.0
    if performance.dynamic:
        wished, values = (_places(performance.character, names, curves) for curves in (wish, done))
        return share_moved(values, wished, wish.rate)
    return share_followed(done.chosen(tuple(names)).values, wish.chosen(tuple(names)).values)


def _places(character: Character, joints: Sequence[str], curves: JointCurves) -> Array:
    """Where (n, 3k) the bodies are that these joints carry, and the frames on them: the bodies by their centres of mass."""
    tree, coordinates = compile_tree(character), set(joints)
    carried = [joint.child for joint in character.joints if any(axis.name in coordinates for axis in joint.axes)]
    nodes = [tree.nodes[body] for body in carried]
    rotation, position = tree.poses(tree.expand(curves.names, curves.values))
    points = [(node, tree.center_of_mass[node]) for node in nodes]
    points += [(node, local) for node, local, _ in tree.frames.values() if node in nodes]
    return np.concatenate([position[:, node] + rotation[:, node] @ local for node, local in points], axis=1)
