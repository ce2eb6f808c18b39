"""What is checked of a skinned character as it is made: joints' free ranges, parts in each other's way, servos in the skin."""

from __future__ import annotations

from itertools import combinations

from bunraku.fabrication.collisions import JointRoom
from bunraku.fabrication.shaping import Solid, ball, moved, overlap
from bunraku.fabrication.skinned.drawing import Skeleton, driver
from bunraku.fabrication.skinned.layout import DrivenHinge, Layout
from bunraku.fabrication.skinned.shell import offset
from bunraku.geometry.rotations import axis_angle

TOUCH = 1.0
"""Volume [mm³] that two parts may share: rounding at faces that touch."""
PRESSED = 1.0
"""How deep [mm] the corner of a servo may press into the soft skin."""
BACK = 2.0
"""How near [mm] to a point of glue its bracing unit must come."""
_STEPS = (1.0, 0.85, 0.7, 0.55, 0.4, 0.25, 0.1)


def free_ranges(layout: Layout, skeleton: Skeleton) -> list[JointRoom]:
    """The free range of every hinge, of the bodies it joins alone, to 2 % of the range on either side."""
    found = []
    for hinge in layout.hinges:
        still, turning = skeleton.rigid(hinge.parent), skeleton.rigid(hinge.child)
        low, high = (_free(hinge, limit, still, turning) for limit in hinge.reach)
        found.append(JointRoom(hinge.name, (low, high), hinge.reach))
    return found


def _free(hinge: DrivenHinge, limit: float, still: list[Solid], turning: list[Solid]) -> float:
    """The free part of a limit: from the largest of some shares that is free, half the way to the next again and again."""

    def clear(share: float) -> bool:
        R = axis_angle(hinge.axis, share * limit)
        there = [moved(solid, R, hinge.place - R @ hinge.place) for solid in turning]
        return all(overlap(one, other) <= TOUCH for one in there for other in still)

    low = next((share for share in _STEPS if clear(share)), 0.0)
    if low == _STEPS[0]:
        return limit
    high = min(share for share in _STEPS if share > low)
    for _ in range(3):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if clear(middle) else (low, middle)
    return low * limit


def clashes(skeleton: Skeleton) -> list[tuple[str, str, float]]:
    """Pairs of printed parts and servos that are in each other at home, with the volume [mm³] they share."""
    things = _things(skeleton)
    shared = [(one, other, overlap(solid, second)) for (one, solid), (other, second) in combinations(things, 2)]
    return [clash for clash in shared if clash[2] > TOUCH]


def in_the_skin(skeleton: Skeleton, inner: Solid) -> list[tuple[str, float]]:
    """Printed parts and servos that are more than PRESSED deep in the skin at home, with the volume [mm³] that is.

    ``inner`` is the room inside the skin.
    """
    room = offset(inner, PRESSED)
    outside = [(name, float((solid - room).volume())) for name, solid in _things(skeleton)]
    return [(name, volume) for name, volume in outside if volume > TOUCH]


def _things(skeleton: Skeleton) -> list[tuple[str, Solid]]:
    """Printed parts and servos, by name."""
    servos = [(f"servo of {name}", servo.body()) for name, servo in skeleton.servos.items()]
    return [*((part.name, part.solid) for part in skeleton.parts), *servos]


def backed_glue(layout: Layout, skeleton: Skeleton) -> tuple[int, int]:
    """How many of the points where the skin is glued on have a bracing unit within BACK of them, and how many there are."""
    backed = 0
    for body, points in layout.glue.items():
        units = [part.solid for part in skeleton.parts if part.body == body and part.kind == "bracing"]
        backed += sum(any(overlap(ball(point, BACK), unit) > 0.1 for unit in units) for point in points)
    return backed, sum(len(points) for points in layout.glue.values())


def shut_in(skeleton: Skeleton) -> list[tuple[str, str]]:
    """Pairs of servos of a body that cannot both be put in: each stands before screws of the other.

    A screw needs room for its head and a driver behind it; when only one is in the other's way, it is put in last.
    """
    before = set()
    for part in skeleton.parts:
        own = {name: servo.body() for name, servo in skeleton.servos.items() if servo.carrier == part.body}
        for hole in part.holes:
            way, name = driver(hole), hole.group.rpartition(" of ")[2]
            if way is not None and name in skeleton.servos:
                before |= {(name, other) for other, case in own.items() if other != name and overlap(way, case) > TOUCH}
    return sorted({(a, b) for a, b in before if a < b and (b, a) in before})
