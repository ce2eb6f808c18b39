"""The wheel of a driven axle: a printed rim for a rubber ring, with a hub on the motor's shaft or horn."""

from __future__ import annotations

import numpy as np

from bunraku.building.placement import PlacedTip
from bunraku.building.servos import Servo
from bunraku.fabrication.draft import PLATE, SEAT, Draft, Hole, holes_of
from bunraku.fabrication.shaping import MM, bore, box, cylinder, difference, union

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
