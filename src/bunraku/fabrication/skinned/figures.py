"""What is checked of a skinned character as it is made: joints' free ranges, parts in each other's way, servos in the skin."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.fabrication.shaping import Solid, moved, overlap
from bunraku.fabrication.skinned.layout import Hinge, Layout
from bunraku.fabrication.skinned.shell import offset
from bunraku.fabrication.skinned.skeleton import Skeleton
from bunraku.geometry.rotations import axis_angle

__all__ = ["PRESSED", "FreeRange", "clashes", "free_ranges", "in_the_skin"]

Array = NDArray[np.float64]
TOUCH = 1.0
"""Volume [mm³] that two parts may share: rounding at faces that touch."""
PRESSED = 1.0
"""How deep [mm] the corner of a servo may press into the soft skin."""
_STEPS = (1.0, 0.85, 0.7, 0.55, 0.4, 0.25, 0.1)


@dataclass(frozen=True)
class FreeRange:
    """How far [rad] a hinge turns before a part of its child meets one of its parent; ``wanted`` is what its motor may do."""

    joint: str
    wanted: tuple[float, float]
    free: tuple[float, float]

    @property
    def whole(self) -> bool:
        """Whether all of the range is free."""
        return self.free[0] <= self.wanted[0] + 1e-9 and self.free[1] >= self.wanted[1] - 1e-9


def free_ranges(layout: Layout, skeleton: Skeleton) -> list[FreeRange]:
    """The free range of every hinge, of the bodies it joins alone, in steps of 15 % of the range to either side."""
    found = []
    for hinge in layout.hinges:
        still, turning = skeleton.rigid(hinge.parent), skeleton.rigid(hinge.child)
        low, high = (_free(hinge, limit, still, turning) for limit in hinge.reach)
        found.append(FreeRange(hinge.name, hinge.reach, (low, high)))
    return found


def _free(hinge: Hinge, limit: float, still: list[Solid], turning: list[Solid]) -> float:
    for share in _STEPS:
        R = axis_angle(hinge.axis, share * limit)
        there = [moved(solid, R, hinge.place - R @ hinge.place) for solid in turning]
        if all(overlap(one, other) <= TOUCH for one in there for other in still):
            return share * limit
    return 0.0


def clashes(skeleton: Skeleton) -> list[tuple[str, str, float]]:
    """Pairs of printed parts and servos that are in each other at home, with the volume [mm³] they share."""
    things = [(part.name, part.solid) for part in skeleton.parts]
    things += [(f"servo of {name}", servo.body()) for name, servo in skeleton.servos.items()]
    found = []
    for i, (one, solid) in enumerate(things):
        for other, second in things[i + 1 :]:
            shared = overlap(solid, second)
            if shared > TOUCH:
                found.append((one, other, shared))
    return found


def in_the_skin(skeleton: Skeleton, inner: Solid) -> list[tuple[str, float]]:
    """Printed parts and servos that are more than PRESSED deep in the skin at home, with the volume [mm³] that is.

    ``inner`` is the room inside the skin.
    """
    room = offset(inner, PRESSED)
    things = [(part.name, part.solid) for part in skeleton.parts]
    things += [(f"servo of {name}", servo.body()) for name, servo in skeleton.servos.items()]
    found = [(name, float((solid - room).volume())) for name, solid in things]
    return [(name, volume) for name, volume in found if volume > TOUCH]
