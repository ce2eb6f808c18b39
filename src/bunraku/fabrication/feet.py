"""The ends of limbs that do not roll: ball feet on a screw, discs printed with the limb, and plates for a head."""

from __future__ import annotations

import numpy as np

from bunraku.arrays import Array
from bunraku.building.placement import PlacedTip
from bunraku.building.screws import rectangle
from bunraku.fabrication.draft import PLATE, Draft, Hole, holes_of
from bunraku.fabrication.mounts import Horn
from bunraku.fabrication.shaping import MM, box, cylinder, hull

_PAD = 4.0
_SCREW = "M4"


def ball_foot(draft: Draft, horn: Horn, tip: PlacedTip) -> None:
    """An arm in the plane of the horn, and at its end a pad to which the ball is screwed from above."""
    s = horn.axis
    center = MM * tip.center
    way = center - horn.center
    way = way - s * float(way @ s)
    w = way / np.linalg.norm(way)
    m = np.cross(s, w)
    radius = MM * tip.radius
    pad = center - w * (radius - 1.0)
    axes = np.stack([s, w, m], axis=1)
    half = min(8.0, radius - 3.0)
    middle = float(horn.center @ s) + PLATE / 2.0
    flat = pad - w * 7.0 + s * (middle - float(pad @ s))
    block = box(flat, (PLATE, 14.0, 2.0 * half), axes)
    rest = cylinder(pad - w * _PAD, pad, half)
    draft.add += [hull([horn.disc(), block]), hull([rest, box(flat + w * 5.0, (PLATE, 4.0, 2.0 * half), axes)])]
    if any(hole.group == f"foot {tip.name}" for hole in draft.holes):
        return  # the arm of the idler leads to the same pad
    draft.drill([Hole(pad, -w, 4.4, _PAD - 1.4, _SCREW, f"foot {tip.name}")], thickness=14.0)
    ball = cylinder(center - w * (radius - 1.0), center + w * radius, 0.6 * radius)
    draft.cases.append((f"foot {tip.name}", ball))


def printed_disc(draft: Draft, horn: Horn, tip: PlacedTip) -> None:
    """A disc printed with the limb."""
    half = MM * tip.model.width / 2.0
    disc = cylinder(MM * tip.center - half * tip.axis, MM * tip.center + half * tip.axis, MM * tip.radius)
    draft.add += [disc, hull([horn.disc(), cylinder(MM * tip.center - half * tip.axis, MM * tip.center + half * tip.axis, 8.0)])]


def end_plate(draft: Draft, horn: Horn, center: Array, size: Array, group: str) -> None:
    """A post to a plate with four screws M3, on the side of a box (``center``, full lengths ``size`` [mm]) that faces the horn."""
    s = horn.axis
    near = center - s * float(np.abs(s) @ size) / 2.0
    axes = np.stack([horn.u, horn.v, s], axis=1)
    lengths = np.abs(axes.T) @ size
    plate = np.array([min(lengths[0], 50.0), min(lengths[1], 50.0), PLATE])
    draft.add += [box(near - s * PLATE / 2.0, plate, axes)]
    draft.add += [hull([horn.disc(), cylinder(near - s * PLATE, near - s, horn.radius)])]
    pattern = rectangle((plate[0] - 10.0) / MM, (plate[1] - 10.0) / MM, 0.0034, "M3", "ours")
    draft.drill(holes_of(pattern, near, horn.u, horn.v, -s, group), thickness=20.0)
