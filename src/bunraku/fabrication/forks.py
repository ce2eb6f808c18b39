"""What holds a wheel that turns freely: a fork with seats for two ball bearings, under a horn or under the chassis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array
from bunraku.building.placement import PlacedTip
from bunraku.fabrication.draft import HEAD_PLAY, PLATE, Draft
from bunraku.fabrication.hardware import BEARING, screw
from bunraku.fabrication.mounts import Horn
from bunraku.fabrication.shaping import MM, Solid, bore, box, cylinder, hull

LEG = 4.4
"""Thickness [mm] of a fork's legs: the bearing and the lip that holds it."""
AXLE_PLAY = 1.0
"""Room [mm] on both sides of a wheel, for washers or spacers."""
_BOSS = 5.8
_FOOT = 9.0
_WHEEL_PLAY = 1.5


@dataclass(frozen=True)
class AxleSeat:
    """Where an axle goes: ``center`` (3,) [mm] of the wheel, ``axis`` (3,), distance ``inner`` to a leg's inner face."""

    wheel: str
    center: Array
    axis: Array
    inner: float

    @property
    def outer(self) -> float:
        """Distance [mm] from the wheel's middle to a leg's outer face."""
        return self.inner + LEG


def wheel_solid(tip: PlacedTip, center: Array, play: float = 0.0) -> Solid:
    """A wheel as a cylinder [mm], larger by ``play``; its ``center`` in the part's frame."""
    half = MM * tip.model.width / 2.0 + min(play, AXLE_PLAY / 2.0)
    return cylinder(center - half * tip.axis, center + half * tip.axis, MM * tip.radius + play)


def fork(draft: Draft, base: Array, down: Array, tips: list[PlacedTip], horn: Horn | None) -> list[AxleSeat]:
    """Add the forks of all wheels under a plate at ``base`` (3,), the wheels being towards ``down`` (3,); returns their axle seats.

    Legs stand beside the screws of the horn, so that a driver reaches them with the wheels taken out.
    """
    seats = []
    pattern = None if horn is None else horn.case.servo.horn
    keep = 0.0 if pattern is None else MM * pattern.radius + (screw(pattern.screw).head_diameter + HEAD_PLAY) / 2.0 + 0.4
    for tip in tips:
        a = tip.axis
        e = np.cross(a, down) / np.linalg.norm(np.cross(a, down))
        center = MM * tip.center
        forward = float((center - base) @ e)
        least = MM * tip.model.width / 2.0 + AXLE_PLAY
        low, high = forward - _FOOT, forward + _FOOT
        under = pattern is not None and low < keep and high > -keep
        if under and abs(forward) - 5.0 > keep:  # a wheel beside the screws: its legs too
            low, high = (max(low, keep), high) if forward > 0.0 else (low, min(high, -keep))
            under = False
        inner = max(least, keep) if under else least
        seats.append(AxleSeat(tip.name, center, a, inner))
        middle = float((center - base) @ a)
        for side in (1.0, -1.0):
            out = middle + side * (inner + LEG / 2.0)
            foot = box(
                base + down * PLATE / 2.0 + e * (low + high) / 2.0 + a * out,
                (high - low, LEG, PLATE),
                np.stack([e, a, down], axis=1),
            )
            boss = cylinder(center + a * side * inner, center + a * side * (inner + LEG), _BOSS)
            draft.add.append(hull([foot, boss]))
            draft.cut.append(_seat(center, a * side, inner))
            draft.cut.append(bore(center + a * side * (inner - 0.5), center + a * side * (inner + LEG + 0.5), BEARING.free / 2.0))
            draft.add.append(hull([_pad(base, down, horn), foot]))
        draft.cut.append(wheel_solid(tip, center, _WHEEL_PLAY))
        draft.cases.append((f"wheel {tip.name}", wheel_solid(tip, center)))
    return seats


def _pad(base: Array, down: Array, horn: Horn | None) -> Solid:
    return cylinder(base, base + down * PLATE, 8.0 if horn is None else horn.radius)


def _seat(center: Array, outward: Array, inner: float) -> Solid:
    face = inner + LEG
    return bore(center + outward * (face - BEARING.width), center + outward * (face + 1.0), BEARING.seat / 2.0)


def axle_length(seat: AxleSeat) -> float:
    """What an axle must span [mm]: both legs and what is between."""
    return 2.0 * seat.outer


def spacer_length(seat: AxleSeat, width: float) -> float:
    """The length [mm] of the tube that keeps a wheel of ``width`` [mm] in the middle of its fork."""
    return seat.inner - width / 2.0 - 0.25 + (LEG - BEARING.width)


def spacer(length: float) -> Solid:
    """A tube on the axle, inside the lip that holds the bearing, against its inner ring."""
    tube = cylinder((0.0, 0.0, 0.0), (0.0, 0.0, length), BEARING.free / 2.0 - 0.3)
    return tube - cylinder((0.0, 0.0, -1.0), (0.0, 0.0, length + 1.0), BEARING.bore / 2.0 + 0.1)
