"""What holds wheels: a fork with two ball bearings where they turn freely, a rim on the motor's shaft where they are driven."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array
from bunraku.building.placement import PlacedTip
from bunraku.building.servos import Servo
from bunraku.fabrication.draft import BEARING, HEAD_PLAY, PLATE, SEAT, Draft, Hole, holes_of, screw
from bunraku.fabrication.mounts import Horn
from bunraku.fabrication.shaping import MM, Solid, bore, box, cylinder, difference, hull, union

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
    pad = cylinder(base, base + down * PLATE, 8.0 if horn is None else horn.radius)
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
            face = inner + LEG
            draft.cut.append(bore(center + a * side * (face - BEARING.width), center + a * side * (face + 1.0), BEARING.seat / 2.0))
            draft.cut.append(bore(center + a * side * (inner - 0.5), center + a * side * (inner + LEG + 0.5), BEARING.free / 2.0))
            draft.add.append(hull([pad, foot]))
        draft.cut.append(wheel_solid(tip, center, _WHEEL_PLAY))
        draft.cases.append((f"wheel {tip.name}", wheel_solid(tip, center)))
    return seats


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


RUBBER = 3.0
"""Thickness [mm] of the rubber ring on a rim."""
_BAND = 2.0
_WEB = 2.6
_SPOKES = 6
_SPOKE = 4.0
_SHAFT_PLAY = 0.15


def rim(tip: PlacedTip) -> Draft:
    """The rim of a driven wheel, its middle at the origin, its axle along z, the motor towards -z [mm].

    On a plain shaft the hub has a bore with a flat and a set screw, and ends 0.5 mm before the plate that holds the motor; on a
    horn it ends in a plate with the horn's screws.
    """
    if tip.case is None:
        raise ValueError(f"{tip.name} has no motor")
    width, radius = MM * tip.model.width, MM * tip.radius - RUBBER
    drive, inward = tip.case.servo, -tip.case.axes[:, 2]
    horn = -float((MM * (tip.case.horn - tip.center)) @ inward)
    draft = Draft(f"rim {tip.name}")
    band = cylinder((0, 0, -width / 2), (0, 0, width / 2), radius) - cylinder((0, 0, -width), (0, 0, width), radius - _BAND)
    disc = cylinder((0, 0, -width / 2), (0, 0, -width / 2 + _WEB), radius - 1.0)
    hub_radius = (
        6.0 if drive.flange_in_front else MM * max(drive.horn_radius, drive.horn.radius + drive.horn.hole_diameter / 2 + 0.0022)
    )
    end = horn - MM * drive.horn_height + PLATE + 0.5 if drive.flange_in_front else horn
    draft.add = [band, disc, cylinder((0, 0, end), (0, 0, width / 2 if drive.flange_in_front else -width / 2 + _WEB), hub_radius)]
    between = (hub_radius + radius - _BAND) / 2.0
    window = min((radius - _BAND - hub_radius) / 2.0 - 1.6, between * float(np.sin(np.pi / _SPOKES)) - _SPOKE / 2.0)
    rise = np.array([0.0, 0.0, width])
    if window > 1.5:
        for k in range(_SPOKES):
            angle = 2.0 * np.pi * (k + 0.5) / _SPOKES
            place = between * np.array([np.cos(angle), np.sin(angle), 0.0])
            draft.cut.append(cylinder(place - rise, place + rise, window))
    if drive.flange_in_front:
        _on_shaft(draft, drive, end, horn)
    else:
        top = -width / 2 + _WEB - end
        holes = holes_of(drive.horn, (0.0, 0.0, end), (1, 0, 0), (0, 1, 0), (0, 0, 1), f"horn of {tip.name}")
        draft.drill([Hole(h.center, h.axis, h.diameter, max(top - 2.4, SEAT), h.screw, h.group, h.pattern) for h in holes])
    return draft


def _on_shaft(draft: Draft, drive: Servo, end: float, horn: float) -> None:
    """A bore for a D-shaped shaft (flat at 3/8 of the diameter) and the hole of a set screw M3 on the flat."""
    radius = MM * drive.horn.hole_diameter / 2.0
    hole = bore((0, 0, end - 1.0), (0, 0, horn + 0.5), radius + _SHAFT_PLAY)
    flat = 0.75 * radius + _SHAFT_PLAY
    hole = difference(hole, [box((flat + 5.0, 0, (end + horn) / 2), (10.0, 20.0, 100.0))])
    middle = (end + horn) / 2.0
    draft.cut += [union([hole, cylinder((0, 0, middle), (20.0, 0, middle), 1.25)])]
    draft.notes.append("tap M3 into the hub for the set screw, onto the flat of the shaft")
