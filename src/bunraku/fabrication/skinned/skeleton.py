"""All printed parts of a skinned character that carry it: bay, brackets, links, feet, and the bracing units on them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from bunraku.arrays import Array
from bunraku.fabrication.draft import Draft, Hole
from bunraku.fabrication.shaping import Solid, bore, cylinder, difference, hull, overlap, rod_frame, triangles, union
from bunraku.fabrication.skinned.bracing import THICK, Zone, bracing_halves, bracing_shell
from bunraku.fabrication.skinned.drawing import FIT, DrawnPart, Maker, Skeleton, bored, driver, holds, hole_room, unit, wide
from bunraku.fabrication.skinned.layout import DrivenHinge, Layout
from bunraku.fabrication.skinned.links import SkeletonLink, draw_foot, draw_link, lighten_beam, passing_room, swept
from bunraku.fabrication.skinned.pieces import PartedSkin, Plane
from bunraku.fabrication.skinned.servos import PlacedServo
from bunraku.fabrication.skinned.shell import SkinShell, cleaned, offset, printable
from bunraku.fabrication.skinned.torso import bay_of, draw_bay, draw_bracket
from bunraku.fabrication.skinned.torso_bracing import torso_bracing

_SHARES = (1.0, 0.8, 0.6)
"""Shares of a hinge's range over which a bracing unit is cut free, the first that leaves it whole."""
_CUP_FLOOR = 6.0
"""Thickness [mm] added to the floor of a foot's cup, for its screws."""


def make_skeleton(layout: Layout, shell: SkinShell, parted: PartedSkin, printer: tuple[float, float, float]) -> Skeleton:
    """Draw every part. The torso's bracing is parted where its skin is, and again where it does not fit the ``printer`` [mm]."""
    maker = Maker(layout, shell, parted.torso_room, printer)
    for body in layout.torso:
        _trunk(maker, body, parted.torso_cut)
    for limb in layout.limbs:
        for hinge in limb.hinges:
            if layout.children(hinge.child):
                _limb_link(maker, hinge.child)
            else:
                _foot(maker, hinge.child, limb.sole, limb.radius)
    for hinge in layout.hinges:
        _clear_bracing(maker, hinge)
    for part in maker.skeleton.parts:
        part.solid = printable(part.solid)
    return maker.skeleton


def _clear_bracing(maker: Maker, hinge: DrivenHinge) -> None:
    """Cut the bracing units at a hinge where what is on its other side passes them as it turns.

    That is the link there with the servos it carries, and for one of the two units the other: the torso's gives way to that of the
    limb, and a limb's to the one above it.
    """
    servo = maker.servos[hinge.name]
    for body, other, sign in ((hinge.parent, hinge.child, -1.0), (hinge.child, hinge.parent, 1.0)):
        if other in maker.fixed:
            things = [maker.fixed[other], *(each.body(FIT) for each in maker.servos.values() if each.carrier == other)]
            _cut_bracing(maker, body, servo, things, sign)
    standing, giving, sign = hinge.parent, hinge.child, 1.0
    if hinge.parent in maker.layout.torso:
        standing, giving, sign = hinge.child, hinge.parent, -1.0
    units = [part.solid for part in maker.skeleton.parts if part.body == standing and part.kind == "bracing"]
    if units:
        _cut_bracing(maker, giving, servo, [union(units)], sign)


def _cut_bracing(maker: Maker, body: str, servo: PlacedServo, things: list[Solid], sign: float) -> None:
    """Cut the bracing units of a body free of ``things`` that pass them; the first of these gets a gap, the others have theirs.

    Over all of the hinge's range, or as much of it as leaves a unit whole and on its screws.
    """
    passing: dict[float, Solid] = {}
    for part in maker.skeleton.parts:
        if part.body != body or part.kind != "bracing":
            continue
        held = sum(holds(part.solid, hole) for hole in part.holes)
        for share in _SHARES:
            if share not in passing:
                ways = [swept(thing, servo, 7, 0.0 if k else FIT, sign, share) for k, thing in enumerate(things)]
                passing[share] = union(ways)
            if overlap(part.solid, passing[share]) <= 0.1:
                break
            left = cleaned(part.solid - passing[share], 60.0)
            pieces = left.decompose()
            screws = [sum(holds(piece, hole) for hole in part.holes) for piece in pieces]
            if max(screws, default=0) == held and held:
                part.solid = pieces[int(np.argmax(screws))]
                break


def _past(maker: Maker, body: str) -> Solid | None:
    """What a body turns past at the hinge above it: the link of its parent."""
    above = maker.layout.above(body)
    if above is None or above.parent not in maker.fixed:
        return None
    return swept(maker.fixed[above.parent], maker.servos[above.name], grow=FIT)


def _trunk(maker: Maker, body: str, cut: Plane) -> None:
    """Bay, brackets and bracing of a body of the torso; where a servo turns it, the yoke on that."""
    layout, bay = maker.layout, bay_of(maker.layout, body)
    maker.skeleton.bays.append(bay)
    screws: list[list[Hole]] = []
    pieces: list[Solid] = []
    outlines: list[Solid] = []
    seats, yokes = maker.ends(body)
    for servo in (*seats, *yokes):
        held = servo in seats
        past = _past(maker, body) if servo.hinge.child == body else None
        link = draw_link(f"bracket {servo.hinge.name}", (servo,) if held else (), () if held else (servo,), bay.center, past)
        screws.append(draw_bracket(bay, link))
        link.blocks.append(link.draft.add[-2])
        part = maker.add(link.draft.name, "bracket", body, link.draft, _frame(servo.case.axes))
        part.solid = difference(part.solid, lighten_beam(link, part.solid, [hole_room(hole) for hole in part.holes]))
        pieces.append(part.solid)
        outlines.append(link.outline())
    columns = bay.columns(pieces)
    tray = draw_bay(bay, screws, columns)
    name = "bay" if len(layout.torso) == 1 else f"bay {body}"
    whole = maker.add(name, "bay", body, tray, np.eye(3))
    maker.fixed[body] = union(outlines) if outlines else whole.solid
    torso_bracing(maker, body, columns, whole, [*pieces, whole.solid], cut)


def _frame(axes: Array) -> Array:
    """A frame to draw a link in: x along its servo's long side, z along the shaft."""
    return np.stack([axes[:, 1], np.cross(axes[:, 2], axes[:, 1]), axes[:, 2]], axis=1)


def _zone(maker: Maker, body: str, closed: bool) -> Zone | None:
    """The zone of a limb's body: from the first to the last of its glue, between planes across the limb at its two hinges.

    None where the skin is not glued to it, as inside the torso.

    At a bend the limb's direction is the middle one of those before and after it, as it is for the folds of the skin.
    """
    glue = maker.layout.glue.get(body)
    if glue is None:
        return None
    limb = next(limb for limb in maker.layout.limbs if body in limb.bodies)
    places = [*(hinge.place for hinge in limb.hinges), limb.sole]
    ways = [unit(b - a) for a, b in pairwise(places)]
    k = limb.bodies.index(body)
    start = unit(ways[k] + ways[k - 1]) if k > 0 else ways[0]
    planes = [Plane(start, float((glue @ start).min()) - 1.5)]
    if not closed:
        end = unit(ways[k] + ways[k + 1])
        planes.append(Plane(-end, -float((glue @ end).max()) - 1.5))
    return Zone(body, tuple(planes), glue.mean(axis=0))


def _limb_link(maker: Maker, body: str) -> None:
    seats, yokes = maker.ends(body)
    start = next(servo.hinge.place for servo in (*seats, *yokes) if servo.hinge.child == body)
    far_end = np.mean([hinge.place for hinge in maker.layout.children(body)], axis=0)
    link = draw_link(body, seats, yokes, (start + far_end) / 2.0, _past(maker, body))
    part = maker.add(body.replace("_link", " link"), "link", body, link.draft, _frame((*seats, *yokes)[0].case.axes))
    zone = _zone(maker, body, False)
    if zone is not None:
        _limb_bracing(maker, link, part, zone)
    holes = lighten_beam(link, part.solid, [hole_room(hole) for hole in part.holes])
    part.solid = cleaned(difference(part.solid, holes))
    maker.fixed[body] = link.outline()


def _limb_bracing(maker: Maker, link: SkeletonLink, part: DrawnPart, zone: Zone) -> None:
    shell = bracing_shell(maker.shell.inner, zone)
    ends = (*link.seats, *link.yokes)
    servos = [servo.body(FIT + 0.5) for servo in ends]
    start, far_end = (np.asarray(servo.hinge.place) for servo in sorted(ends, key=lambda each: each.hinge.parent == link.body)[:2])
    along = unit(far_end - start)
    sides = [servo.case.axes[:, 2] for servo in ends]
    sides += [np.cross(along, side) for side in sides if np.linalg.norm(np.cross(along, side)) > 0.3]
    sides = [side for side in sides if np.linalg.norm(np.cross(along, side)) > 0.3]
    beam = unit(link.beam[1] - link.beam[0])
    lines = ((link.beam[0] - 8.0 * beam, link.beam[1] + 12.0 * beam), (start, far_end))
    drivers = [way for way in map(driver, part.holes) if way is not None]
    below = [(maker.servos[hinge.name], hinge.child) for hinge in maker.layout.children(link.body)]
    passing = [passing_room(servo, _next(maker, child)) for servo, child in below if servo.carrier == link.body]
    keep_off = [*servos, *link.kept_free, *drivers, *passing]
    tries = (bracing_halves(link.body, shell, part.solid, keep_off, line, sides) for line in lines)
    bracing = next((each for each in tries if each is not None), None)
    if bracing is None:
        maker.skeleton.faults.append(f"{link.body}: no room for bosses between the link and its bracing unit")
        return
    part.solid = union([part.solid, *bracing.pads])
    for pilot in bracing.pilots:
        part.holes.append(pilot)
        part.solid = bored(part.solid, pilot)
    off = union([offset(part.solid, FIT), *servos])
    for word, draft in zip(("first", "second"), bracing.drafts, strict=True):
        half, pillars = draft.add[0], draft.add[1:]
        draft.add[0] = cleaned(half - off)
        name = f"bracing {link.body.replace('_link', '')} {word}"
        maker.light(draft, half, [wide(pillar) for pillar in pillars], name, link.body, rod_frame(along))


def _next(maker: Maker, body: str) -> Array:
    """Where a body of a limb leads to: its next hinge, or its sole."""
    below = maker.layout.children(body)
    if below:
        return below[0].place
    return next(limb.sole for limb in maker.layout.limbs if body in limb.bodies)


def _foot(maker: Maker, body: str, sole: Array, radius: float) -> None:
    """The link of a foot and its cup."""
    seats, yokes = maker.ends(body)
    servo = (*seats, *yokes)[0]
    zone = _zone(maker, body, True)
    if zone is None:
        return
    shell = bracing_shell(maker.shell.inner, zone)
    x = triangles(shell)[0]
    near = x[np.linalg.norm(x[:, :2] - sole[:2], axis=1) < max(radius - 6.0, 8.0)]
    low = float(near[:, 2].min()) if len(near) else float(x[:, 2].min())
    floor = low + THICK + _CUP_FLOOR
    link, pilots = draw_foot(body, servo, bool(seats), sole, floor, _past(maker, body))
    part = maker.add(body.replace("_link", " link"), "link", body, link.draft, _frame(servo.case.axes))
    inside = offset(maker.shell.inner, -0.3)
    ends = [(np.array([*pilot.center[:2], low]), np.array([*pilot.center[:2], floor])) for pilot in pilots]
    pillars = [cylinder(bottom, top, 4.6) for bottom, top in ends]  # what the screws of the foot's plate go into
    bridges = [hull(pillars[:2]), hull(pillars[2:])]
    base = zone.of(inside) ^ union(bridges)
    off = union([offset(part.solid, FIT), servo.body(FIT + 0.5)])
    cup = Draft(f"{body} cup", [cleaned(shell - off), base])
    cup.cut.append(part.solid)
    for pilot in pilots:
        cup.holes.append(pilot)
        cup.cut.append(bore(pilot.center - pilot.axis, pilot.center + (pilot.seat + 0.8) * pilot.axis, pilot.diameter / 2.0))
    maker.light(cup, shell, [wide(base)], f"bracing {body.replace('_link', '')} cup", body, np.eye(3))
    maker.fixed[body] = link.outline()
