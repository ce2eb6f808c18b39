"""The body of a robot as printed parts: a tray for what it carries, and a deck with a seat for every servo fixed to the body.

The deck lies on the rim of the tray, M3 screws cut their threads into posts inside it. A seat is a cap on the servo's flange,
joined to the deck by walls around the case. Bodies longer than the printer's bed are made in two halves, joined by straps.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from bunraku.arrays import Array
from bunraku.building.placement import PlacedLimb, PlacedTip
from bunraku.building.robot import Robot
from bunraku.building.tips import payload
from bunraku.fabrication.draft import PLATE, Draft, Hole
from bunraku.fabrication.forks import fork, wheel_solid
from bunraku.fabrication.links import PrintedLink
from bunraku.fabrication.mounts import CHEEK, Flange, case_solid, flange_of, grown_case, horn_of, screw_on
from bunraku.fabrication.shaping import MM, Solid, bore, bounds, box, cylinder, hull, overlap, union

DECK = 2.4
"""Thickness [mm] of the deck."""
_POST = 4.2
_PILOT = 2.5
_SWEEP = 46.0
_DOWN = np.array([0.0, 0.0, -1.0])


@dataclass
class _Body:
    """The body's box [mm] and what is fixed to it."""

    center: Array
    size: Array
    wall: float
    flanges: list[Flange] = field(default_factory=list)
    payloads: list[tuple[str, Solid]] = field(default_factory=list)
    free: list[Solid] = field(default_factory=list)

    @property
    def top(self) -> float:
        return float(self.center[2] + self.size[2] / 2.0)

    @property
    def bottom(self) -> float:
        return float(self.center[2] - self.size[2] / 2.0)


def chassis_parts(robot: Robot, limbs: tuple[PlacedLimb, ...], longest: float) -> list[PrintedLink]:
    """Deck and tray, in halves with straps where they are longer than ``longest`` [mm], and struts of wheels under the body."""
    body = _body(robot, limbs)
    deck, tray = Draft("deck"), Draft("tray")
    struts = [_strut(body, tip, tray) for limb in limbs if not limb.stages for tip in limb.tips if tip.case is None]
    seats = [_seat(body, flange) for flange in body.flanges]
    _deck(body, deck, seats)
    _tray(body, tray)
    _screws(body, deck, tray, seats)
    parts = [PrintedLink("body", "deck", deck, joins=[flange.group for flange in body.flanges]), PrintedLink("body", "tray", tray)]
    if np.ptp(bounds(deck.solid())[:, 0]) > longest:
        parts = [
            half
            for part, level, up in zip(parts, (body.top + DECK, body.bottom), (1.0, -1.0), strict=True)
            for half in _halves(body, part, level, up)
        ]
    return parts + struts


def _body(robot: Robot, limbs: tuple[PlacedLimb, ...]) -> _Body:
    chassis = robot.chassis
    body = _Body(MM * np.array(chassis.center), MM * np.array(chassis.size), max(MM * robot.material.wall, 2.0))
    for limb in limbs:
        if limb.stages:
            first = limb.stages[0]
            body.flanges.append(flange_of(first.case, first.joint))
            horn = horn_of(first.case, first.joint)
            radius = horn.radius + 2.0 if abs(horn.axis[2]) > 0.7 else _SWEEP
            body.free.append(cylinder(horn.center - horn.axis, horn.center + 60.0 * horn.axis, radius))
        for tip in limb.tips if not limb.stages else ():
            body.free.append(wheel_solid(tip, MM * tip.center, 3.0))
            if tip.case is not None:
                body.flanges.append(flange_of(tip.case, tip.axle))
                inward = -tip.case.axes[:, 2]
                body.free.append(cylinder(MM * tip.center, MM * tip.case.horn + inward * MM * tip.case.servo.horn_height, 14.0))
    for carried in chassis.carries:
        thing = payload(carried.model)
        body.payloads.append((thing.name, box(body.center + MM * np.array(carried.place), MM * np.array(thing.size))))
    return body


def _seat(body: _Body, flange: Flange, grow: float = 0.0) -> Solid:
    """The cap of a servo, with a wall behind its case, and everything between it and the deck."""
    axes = np.stack([flange.u, flange.v, flange.normal], axis=1)
    back = CHEEK + 0.2
    center = flange.center + flange.normal * PLATE / 2.0 - flange.v * back / 2.0
    size = np.array([2.0 * flange.half_u, 2.0 * flange.half_v + back, PLATE]) + 2.0 * grow
    cap = box(center, size, axes)
    low, high = bounds(cap)
    shadow_size = np.array([high[0] - low[0], high[1] - low[1], DECK])
    place = np.array([(low[0] + high[0]) / 2.0, (low[1] + high[1]) / 2.0, body.top + DECK / 2.0 + grow])
    shadow = box(place, shadow_size)
    room = np.maximum((body.size - shadow_size) / 2.0, 0.0)
    inside = np.clip(place, body.center - room, body.center + room)
    inside[2] = place[2]
    return union([hull([cap, shadow]), hull([shadow, box(inside, shadow_size)])])


def _deck(body: _Body, deck: Draft, seats: list[Solid]) -> None:
    place = np.array([*body.center[:2], body.top + DECK / 2.0])
    deck.add += [_rounded(place, np.array([body.size[0], body.size[1], DECK])), *seats]
    for side in (1.0, -1.0):
        window = np.array([body.size[0] / 6.0, 0.36 * body.size[1], 3.0 * DECK])
        deck.cut.append(_rounded(place + np.array([side * 0.19 * body.size[0], 0.0, 0.0]), window))
    deck.cut += body.free
    deck.cases += body.payloads
    for flange in body.flanges:
        screw_on(deck, flange)


def _rounded(center: Array, size: Array, radius: float = 6.0) -> Solid:
    """A box with its upright edges rounded."""
    corners = [np.array([sx * (size[0] / 2.0 - radius), sy * (size[1] / 2.0 - radius), 0.0]) for sx in (1, -1) for sy in (1, -1)]
    half = np.array([0.0, 0.0, size[2] / 2.0])
    return hull([cylinder(center + corner - half, center + corner + half, radius) for corner in corners])


def _tray(body: _Body, tray: Draft) -> None:
    inner = body.size - np.array([2.0 * body.wall, 2.0 * body.wall, 0.0])
    shell = _rounded(body.center, body.size) - _rounded(body.center + np.array([0.0, 0.0, body.wall]), inner, 4.0)
    tray.add.append(shell)
    tray.cut += [_opening(body, flange) for flange in body.flanges]
    tray.cut += [_seat(body, flange, 0.4) for flange in body.flanges] + body.free
    tray.cases += [(flange.group, case_solid(flange.case)) for flange in body.flanges] + body.payloads
    for name, solid in body.payloads:
        if name.startswith("battery"):  # slots for a strap around the battery
            low, high = bounds(solid)
            for x in (-15.0, 15.0):
                for y in (low[1] - 4.0, high[1] + 4.0):
                    tray.cut.append(box(((low[0] + high[0]) / 2.0 + x, y, body.bottom), (20.0, 3.0, 4.0 * DECK)))


def _opening(body: _Body, flange: Flange) -> Solid:
    """Room for a case in the tray; where it would leave less than a wall of the tray's side standing, through that too."""
    room = grown_case(flange.case, 0.6)
    low, high = bounds(room)
    for axis in (0, 1):
        near, far = body.center[axis] - body.size[axis] / 2.0, body.center[axis] + body.size[axis] / 2.0
        if abs(low[axis] - near) < body.wall + 0.5:
            low[axis] = near - 2.0
        if abs(high[axis] - far) < body.wall + 0.5:
            high[axis] = far + 2.0
    return union([room, box((low + high) / 2.0, high - low)])


def _screws(body: _Body, deck: Draft, tray: Draft, seats: list[Solid]) -> None:
    """Posts inside the tray and screws through the deck into them, as far out as servos and payloads let them be."""
    taken = [*seats, *(grown_case(flange.case, 1.0) for flange in body.flanges), *(solid for _, solid in body.payloads), *body.free]
    half = body.size[:2] / 2.0 - body.wall - 3.0
    spots: list[Array] = []
    for share in (1.0, 0.8, 0.6, 0.45, 0.3):
        corners = [body.center + np.array([sx * share * half[0], sy * half[1], 0.0]) for sx in (1, -1) for sy in (1, -1)]
        if all(_clear(body, place, taken) for place in corners):
            spots = corners
            break
    if not spots:
        tray.notes.append("no room for posts beside servos and payloads: glue the deck on the rim")
    for place in spots:
        head = np.array([place[0], place[1], body.top])
        post = cylinder(np.array([place[0], place[1], body.bottom]), head, _POST)
        tray.add.append(post ^ box(body.center, body.size))
        deck.drill([Hole(head, -_DOWN, 3.4, 1.6, "M3", "deck", length=10)])
        tray.holes.append(Hole(head, _DOWN, _PILOT, 9.0, "M3", "deck", pilot=True))
        tray.cut.append(bore(head - _DOWN, head + 12.0 * _DOWN, _PILOT / 2.0))


def _clear(body: _Body, place: Array, taken: list[Solid]) -> bool:
    post = cylinder(np.array([place[0], place[1], body.bottom]), np.array([place[0], place[1], body.top + 20.0]), _POST + 1.0)
    return all(overlap(post, solid) < 1e-6 for solid in taken)


def _strut(body: _Body, tip: PlacedTip, tray: Draft) -> PrintedLink:
    """The fork of a wheel under the body, screwed to the tray's floor."""
    base = np.array([*(MM * tip.center[:2]), body.bottom])
    link = PrintedLink("body", "wheel strut", Draft(f"strut {tip.name}"), joins=["floor of the tray", f"axle of {tip.name}"])
    link.draft.add.append(_rounded(base + _DOWN * PLATE / 2.0, np.array([44.0, 34.0, PLATE])))
    link.axles += fork(link.draft, base, _DOWN, [tip], None)
    for x in (16.0, -16.0):
        for y in (11.0, -11.0):
            place = base + np.array([x, y, 0.0])
            link.draft.drill([Hole(place, _DOWN, 3.4, 1.6, "M3", "strut", length=8)])
            tray.holes.append(Hole(place, -_DOWN, 3.4, body.wall, None, "strut"))
            tray.cut.append(bore(place + _DOWN, place - _DOWN * 2.0 * DECK, 1.7))
    return link


def _halves(body: _Body, part: PrintedLink, level: float, up: float) -> list[PrintedLink]:
    """A part cut across its middle, and the strap that joins the halves; ``level`` [mm] is the face it lies on, ``up`` its side."""
    strap = Draft(f"{part.kind} strap")
    middle = np.array([body.center[0], body.center[1], level])
    normal = np.array([0.0, 0.0, up])
    strap.add.append(_rounded(middle + normal * PLATE / 2.0, np.array([56.0, 0.7 * body.size[1], PLATE])))
    whole = part.draft
    thickness = DECK if part.kind == "deck" else body.wall
    for x in (-20.0, -8.0, 8.0, 20.0):
        for y in (-0.28 * body.size[1], 0.28 * body.size[1]):
            place = middle + np.array([x, y, 0.0])
            strap.drill([Hole(place, normal, 3.4, 1.6, "M3", "strap", length=8)])
            whole.holes.append(Hole(place, -normal, 3.4, thickness, None, "strap"))
            whole.cut.append(bore(place + normal, place - normal * (DECK + 1.0), 1.7))
    halves = []
    for side, word in ((1.0, "front"), (-1.0, "hind")):
        keep = box(middle + np.array([side * 500.0, 0.0, 0.0]), (1000.0, 2000.0, 2000.0))
        half = Draft(f"{whole.name}, {word} half", [union(whole.add) ^ keep], list(whole.cut), cases=list(whole.cases))
        half.holes = [hole for hole in whole.holes if side * (hole.center[0] - middle[0]) > 0.0]
        joins = (
            [flange.group for flange in body.flanges if side * (flange.center[0] - middle[0]) > 0.0] if part.kind == "deck" else []
        )
        halves.append(PrintedLink("body", f"{part.kind} half", half, joins=[f"{word} half", *joins], where=word))
    return [*halves, PrintedLink("body", "strap", strap, joins=[f"halves of the {part.kind}"])]
