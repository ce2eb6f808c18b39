"""The feet of a character: which end effectors leave the ground together, and where each foot stands on the character."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.character import WORLD, Character, EndEffector, Joint
from bunraku.errors import BadInput
from bunraku.mechanics.tree import compile_tree

Side = Literal["left", "right", "middle"]
MIDDLE = 0.05
"""A foot is in the middle when its distance from the middle plane is below this share of the feet's extent."""


@dataclass(frozen=True)
class FootGroup:
    """End effectors on one rigid part of a leg: ``effectors`` by index, the ``body`` that carries them.

    ``place`` (2,) [m]: their mean in the base frame at home, x forward and y left; ``row``: 0 is the foremost of the feet's rows;
    ``leg`` [m]: the length of the leg, from its first joint along the others to the middle of the foot.
    """

    effectors: tuple[int, ...]
    body: str
    place: tuple[float, float]
    side: Side
    row: int
    leg: float


@dataclass(frozen=True)
class Feet:
    """The feet that can leave the ground, and ``fixed``: the end effectors on the base body, which never do by themselves.

    ``places`` (x, y) [m]: every end effector's centre in the base frame at home.
    """

    feet: tuple[FootGroup, ...]
    fixed: tuple[int, ...]
    places: tuple[tuple[float, float], ...]

    @property
    def rows(self) -> int:
        """The number of rows of feet."""
        return 1 + max((foot.row for foot in self.feet), default=-1)


def feet_of(character: Character) -> Feet:
    """The feet of a character at its home pose.

    Wheels turn about axles of their own, so the part that carries a wheel is the parent of its axle, with all that is fixed to it;
    end effectors on the same part are one foot. Rows: feet sorted from front to back, a new row where the next foot lies more than
    a fifth of their extent behind the first of the row.
    """
    if not character.end_effectors:
        raise BadInput(f"the character {character.name!r} has no end effectors; to go it needs feet or wheels on the ground")
    above = {joint.child: joint for joint in character.joints}
    base = _base(character)
    tree = compile_tree(character)
    at = tree.configuration(tree.home)
    turn, origin = at.pose(base)
    groups: dict[str, list[int]] = {}
    for index, tip in enumerate(character.end_effectors):
        groups.setdefault(_carrier(tip, above), []).append(index)
    centers = [
        position + rotation @ np.array(tip.center) for tip in character.end_effectors for rotation, position in [at.pose(tip.body)]
    ]
    local = (np.array(centers) - origin) @ turn
    every = tuple((float(x), float(y)) for x, y, _ in local)
    moving = [body for body in groups if body != base]
    fixed = tuple(sorted(groups.get(base, [])))
    if not moving:
        return Feet((), fixed, every)
    spot = np.array([local[groups[body]].mean(axis=0) for body in moving])
    lasts = np.array([(at.pose(body)[1] - origin) @ turn for body in moving])
    extent = float(max(np.ptp(spot[:, 0]), np.ptp(spot[:, 1]), 1e-9))
    row = _rows(spot[:, 0], 0.2 * extent)
    feet = tuple(
        FootGroup(
            tuple(groups[body]),
            body,
            (float(center[0]), float(center[1])),
            "middle" if abs(center[1]) < MIDDLE * extent else "left" if center[1] > 0.0 else "right",
            int(r),
            _leg_length(body, base, above) + float(np.linalg.norm(center - last)),
        )
        for body, center, last, r in zip(moving, spot, lasts, row, strict=True)
    )
    return Feet(feet, fixed, every)


def _base(character: Character) -> str:
    """The base body: the child of the free joint from the world."""
    free = next((joint for joint in character.joints if joint.parent == WORLD and joint.kind == "free"), None)
    if free is None:
        raise BadInput(f"the character {character.name!r} is fixed to the world; one that goes hangs on a free joint")
    return free.child


def _carrier(tip: EndEffector, above: dict[str, Joint]) -> str:
    """The uppermost body of the rigid part that carries an end effector."""
    body = above[tip.body].parent if tip.spins else tip.body
    while body in above and above[body].kind == "fixed":
        body = above[body].parent
    return body


def _rows(x: Array, gap: float) -> NDArray[np.int64]:
    """Rows by x, from front to back."""
    row = np.zeros(len(x), dtype=np.int64)
    first, now = np.inf, -1
    for i in np.argsort(-x, kind="stable"):
        if x[i] < first - gap or now < 0:
            first, now = x[i], now + 1
        row[i] = now
    return row


def _leg_length(body: str, base: str, above: dict[str, Joint]) -> float:
    """Sum of the distances between successive joints from the hip to the last body."""
    length = 0.0
    while body in above and above[body].parent != base:
        length += float(np.linalg.norm(above[body].pose.position))
        body = above[body].parent
    return length
