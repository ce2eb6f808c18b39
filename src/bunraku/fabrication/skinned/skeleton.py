"""All printed parts of a skinned character that carry it: bay, brackets, links, feet, and the bracing units on them."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from bunraku.fabrication.draft import Draft, Hole
from bunraku.fabrication.shaping import Solid, bore, cylinder, difference, overlap, rod_frame, triangles, union
from bunraku.fabrication.skinned.blocks import local_size, numbers_of_blocks, spots_in
from bunraku.fabrication.skinned.bracing import (
    THICK,
    Zone,
    bosses,
    bracing_halves,
    bracing_shell,
    joint_rings,
    lightening,
    screw_boss,
)
from bunraku.fabrication.skinned.frames import section
from bunraku.fabrication.skinned.layout import Hinge, Layout
from bunraku.fabrication.skinned.links import SkeletonLink, draw_foot, draw_link, lighten_beam, swept
from bunraku.fabrication.skinned.pieces import PartedSkin, Plane
from bunraku.fabrication.skinned.servos import PlacedServo, place_servos
from bunraku.fabrication.skinned.shell import SkinShell, cleaned, offset
from bunraku.fabrication.skinned.torso import Bay, bay_of, draw_bay, draw_bracket

__all__ = ["MadePart", "Skeleton", "make_skeleton"]

Array = NDArray[np.float64]
_FIT = 0.5
"""Gap [mm] between a bracing unit and the parts inside it."""
JOINT = "joint of blocks"
"""The group of holes for screws that join the blocks of a bracing unit."""
_COARSE = 2e-3
"""Corners nearer [mm] than this are one: files of 32 bits would not tell them apart."""
_LOOSE = 5000.0
"""Pieces of a unit below this volume [mm³] that cuts leave without a screw are left out."""
_CUP_FLOOR = 6.0
"""Thickness [mm] added to the floor of a foot's cup, for its screws."""


@dataclass
class MadePart:
    """A part to print, in the world frame of the home pose [mm]; ``frame`` (3, 3): the axes it is drawn and printed along."""

    name: str
    kind: str
    body: str
    solid: Solid
    frame: Array
    holes: list[Hole] = field(default_factory=list)
    cases: list[tuple[str, Solid]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    draft: Draft | None = None


@dataclass
class Skeleton:
    """The printed parts, the servos in them, and what could not be drawn, in sentences."""

    parts: list[MadePart]
    servos: dict[str, PlacedServo]
    bays: list[Bay]
    faults: list[str]

    def rigid(self, body: str) -> list[Solid]:
        """All solids fixed to a body: its printed parts and the servos it carries."""
        own = [part.solid for part in self.parts if part.body == body]
        return own + [servo.body() for servo in self.servos.values() if servo.carrier == body]


class _Maker:
    """The parts while they are made."""

    def __init__(self, layout: Layout, shell: SkinShell, torso_room: Solid, printer: tuple[float, float, float]) -> None:
        self.layout, self.shell, self.torso_room, self.printer = layout, shell, torso_room, printer
        self.room = offset(shell.inner, -0.3)
        self.servos = place_servos(layout, self.room)
        self.made = Skeleton([], self.servos, [], [])
        self.fixed: dict[str, Solid] = {}

    def add(self, name: str, kind: str, body: str, draft: Draft, frame: Array, clip: bool = True) -> MadePart:
        solid = cleaned(draft.solid() ^ self.room if clip else draft.solid())
        part = MadePart(name, kind, body, solid, frame, draft.holes, draft.cases, draft.notes, draft)
        self.made.parts.append(part)
        return part


def make_skeleton(layout: Layout, shell: SkinShell, parted: PartedSkin, printer: tuple[float, float, float]) -> Skeleton:
    """Draw every part. The torso's bracing is parted where its skin is, and again where it does not fit the ``printer`` [mm]."""
    maker = _Maker(layout, shell, parted.torso_room, printer)
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
    for part in maker.made.parts:
        part.solid = cleaned(part.solid.simplify(_COARSE))
    return maker.made


def _clear_bracing(maker: _Maker, hinge: Hinge) -> None:
    """Cut the bracing units at a hinge where the link on its other side passes them as it turns."""
    servo = maker.servos[hinge.name]
    for body, other, sign in ((hinge.parent, hinge.child, -1.0), (hinge.child, hinge.parent, 1.0)):
        if other not in maker.fixed:
            continue
        passing = swept(maker.fixed[other], servo, 7, _FIT, sign)
        for part in maker.made.parts:
            if part.body == body and part.kind == "bracing" and overlap(part.solid, passing) > 0.1:
                part.solid = cleaned(part.solid - passing, 60.0)


def _ends(maker: _Maker, body: str) -> tuple[tuple[PlacedServo, ...], tuple[PlacedServo, ...]]:
    """The servos that a body carries, and those whose horns it holds on to."""
    near = [servo for servo in maker.servos.values() if body in (servo.hinge.parent, servo.hinge.child)]
    return tuple(s for s in near if s.carrier == body), tuple(s for s in near if s.carrier != body)


def _past(maker: _Maker, body: str) -> Solid | None:
    """What a body turns past at the hinge above it: the link of its parent."""
    above = maker.layout.above(body)
    if above is None or above.parent not in maker.fixed:
        return None
    return swept(maker.fixed[above.parent], maker.servos[above.name], grow=_FIT)


def _trunk(maker: _Maker, body: str, cut: Plane) -> None:
    """Bay, brackets and bracing of a body of the torso; where a servo turns it, the yoke on that."""
    layout, bay = maker.layout, bay_of(maker.layout, body)
    maker.made.bays.append(bay)
    screws: list[list[Hole]] = []
    pieces: list[Solid] = []
    outlines: list[Solid] = []
    seats, yokes = _ends(maker, body)
    for servo in (*seats, *yokes):
        held = servo in seats
        past = _past(maker, body) if servo.hinge.child == body else None
        link = draw_link(f"bracket {servo.hinge.name}", (servo,) if held else (), () if held else (servo,), bay.center, past)
        screws.append(draw_bracket(bay, link))
        link.blocks.append(link.draft.add[-2])
        part = maker.add(link.draft.name, "bracket", body, link.draft, _frame(servo.case.axes))
        part.solid = difference(part.solid, lighten_beam(link, part.solid, [_room(hole) for hole in part.holes]))
        pieces.append(part.solid)
        outlines.append(link.outline())
    columns = bay.columns(pieces)
    tray = draw_bay(bay, screws, columns)
    name = "bay" if len(layout.torso) == 1 else f"bay {body}"
    whole = maker.add(name, "bay", body, tray, np.eye(3))
    maker.fixed[body] = union(outlines) if outlines else whole.solid
    _torso_bracing(maker, body, columns, whole, [*pieces, whole.solid], cut)


def _frame(axes: Array) -> Array:
    """A frame to draw a link in: x along its servo's long side, z along the shaft."""
    return np.stack([axes[:, 1], np.cross(axes[:, 2], axes[:, 1]), axes[:, 2]], axis=1)


def _torso_bracing(maker: _Maker, body: str, columns: list[Array], tray: MadePart, inside: list[Solid], cut: Plane) -> None:
    """The torso's unit: the skin's room less a shell, parted by a plane, on posts that stand on the bay's columns."""
    glue = maker.layout.glue.get(body)
    if glue is None:
        maker.made.faults.append(f"{body}: the skin is glued nowhere to it, so it has no bracing unit")
        return
    planes = _between(maker.layout, body)
    shell = bracing_shell(maker.shell.inner, Zone(body, planes, glue.mean(axis=0)))
    shell = cleaned(shell ^ maker.torso_room, 200.0)
    off = union([offset(solid, _FIT) for solid in inside] + [s.body(_FIT) for s in _servos_in(maker, body)])
    for word, plane in zip(("first", "second"), (cut, cut.flipped()), strict=True):
        half = cleaned(Plane(plane.normal, plane.offset + 0.15).above(shell), 200.0)
        draft = Draft(f"{body} bracing {word}", [cleaned(half - off, 200.0)])
        posts = []
        for place in columns:
            for side in (np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.0, -1.0])):
                posts += bosses(half, tray.solid, [], (place - 0.1 * side, place), side, 1)
        for boss in posts:
            pilot = screw_boss(draft, boss)
            tray.holes.append(pilot)
            tray.solid = _bored(tray.solid + boss.pad, pilot)
        if len(posts) < 2:
            maker.made.faults.append(f"{body} bracing {word}: {len(posts)} posts reach the bay; two or more are needed")
        frame = _trunk_frame(plane.normal)
        cuts = _cuts(half, frame, maker.printer, [post.foot for post in posts])
        ribs = [
            cleaned((joint_rings(maker.shell.inner, each) ^ maker.torso_room ^ plane.above(maker.torso_room)) - off)
            for each in cuts
        ]
        draft.add += ribs
        name = f"bracing {body} {word}"
        _light(maker, draft, half, [post.pillar for post in posts], name, body, frame, ribs)
        _in_blocks(maker, maker.made.parts.pop(), cuts, ribs)


def _trunk_frame(normal: Array) -> Array:
    """Axes of a torso's unit: z across the plane that parts it, x forward as far as that lets it be."""
    x = np.array([1.0, 0.0, 0.0]) - normal * normal[0]
    x = x / np.linalg.norm(x) if np.linalg.norm(x) > 1e-3 else np.array([0.0, 1.0, 0.0])
    return np.stack([x, np.cross(normal, x), normal], axis=1)


def _cuts(solid: Solid, frame: Array, printer: tuple[float, float, float], posts: list[Array]) -> list[Plane]:
    """Planes that cut a unit into lengths that fit the printer, clear of its ``posts``."""
    counts = numbers_of_blocks(local_size(solid, frame), printer)
    along = triangles(solid)[0] @ frame
    found = []
    for k in range(3):
        levels = np.linspace(along[:, k].min(), along[:, k].max(), counts[k] + 1)[1:-1]
        for level in levels:
            tries = [Plane(frame[:, k], float(level) + shift) for shift in (0.0, 5.0, -5.0, 10.0, -10.0, 15.0, -15.0)]
            gaps = [min([10.0, *(abs(float(plane.height(post))) for post in posts)]) for plane in tries]
            found.append(tries[int(np.argmax(gaps))])
    return found


def _in_blocks(maker: _Maker, part: MadePart, cuts: list[Plane], ribs: list[Solid]) -> None:
    """Part a unit at its ribs, and put screws through them."""
    blocks = [part.solid]
    holes = list(part.holes)
    for plane, rib in zip(cuts, ribs, strict=True):
        frame = rod_frame(plane.normal)
        flats = [section(rib, plane.normal, plane.offset + shift) for shift in (0.0, -4.2, 4.2)]
        for spot in spots_in(flats[0] ^ flats[1] ^ flats[2], 3.0, 25.0, 8, 1.0):
            place = frame @ np.array([*spot, plane.offset])
            n = plane.normal
            holes += [Hole(place, side * n, 3.4, 4.0, None, JOINT) for side in (1.0, -1.0)]
            drill = bore(place - 8.0 * n, place + 8.0 * n, 1.7)
            blocks = [block - drill for block in blocks]
        blocks = [piece for block in blocks for side in (plane, plane.flipped()) for piece in _sides(side, block)]
    held = [(block, [hole for hole in holes if _holds(block, hole)]) for block in blocks]
    held = [(block, own) for block, own in held if own or float(block.volume()) > _LOOSE]
    for number, (block, own) in enumerate(held, 1):
        name = part.name if len(held) == 1 else f"{part.name} {number}"
        maker.made.parts.append(MadePart(name, part.kind, part.body, block, part.frame, own, part.cases, part.notes))
        if len(own) < 2:
            maker.made.faults.append(f"{name}: {len(own)} screws hold it; two or more are needed")


def _sides(plane: Plane, block: Solid) -> list[Solid]:
    side = cleaned(Plane(plane.normal, plane.offset + 0.05).above(block), 200.0)
    return [part for part in side.decompose() if float(part.volume()) > 200.0]


def _holds(block: Solid, hole: Hole) -> bool:
    """Whether there is material all round a hole."""
    ring = cylinder(hole.center + 0.5 * hole.axis, hole.center + 2.5 * hole.axis, hole.diameter / 2.0 + 1.0)
    inner = cylinder(hole.center + 0.5 * hole.axis, hole.center + 2.5 * hole.axis, hole.diameter / 2.0 + 0.1)
    wanted = ring - inner
    return float((block ^ wanted).volume()) > 0.6 * float(wanted.volume())


def _servos_in(maker: _Maker, body: str) -> list[PlacedServo]:
    return [servo for servo in maker.servos.values() if body in (servo.hinge.parent, servo.hinge.child)]


def _between(layout: Layout, body: str) -> tuple[Plane, ...]:
    """Planes that part the zones of bodies of the torso: each ends where its own glue does on the side of the others."""
    own = layout.glue[body]
    planes = []
    for other in layout.torso:
        if other != body and other in layout.glue:
            way = own.mean(axis=0) - layout.glue[other].mean(axis=0)
            n = way / np.linalg.norm(way)
            planes.append(Plane(n, float((own @ n).min()) - 2.0))
    return tuple(planes)


def _zone(maker: _Maker, body: str, closed: bool) -> Zone | None:
    """The zone of a limb's body: from the first to the last of its glue, between planes across the limb at its two hinges.

    None where the skin is not glued to it, as inside the torso.

    At a bend the limb's direction is the middle one of those before and after it, as it is for the folds of the skin.
    """
    glue = maker.layout.glue.get(body)
    if glue is None:
        return None
    limb = next(limb for limb in maker.layout.limbs if body in limb.bodies)
    places = [*(hinge.place for hinge in limb.hinges), limb.sole]
    ways = [_unit(b - a) for a, b in pairwise(places)]
    k = limb.bodies.index(body)
    start = _unit(ways[k] + ways[k - 1]) if k > 0 else ways[0]
    planes = [Plane(start, float((glue @ start).min()) - 1.5)]
    if not closed:
        end = _unit(ways[k] + ways[k + 1])
        planes.append(Plane(-end, -float((glue @ end).max()) - 1.5))
    return Zone(body, tuple(planes), glue.mean(axis=0))


def _limb_link(maker: _Maker, body: str) -> None:
    seats, yokes = _ends(maker, body)
    start = next(servo.hinge.place for servo in (*seats, *yokes) if servo.hinge.child == body)
    goal = np.mean([hinge.place for hinge in maker.layout.children(body)], axis=0)
    link = draw_link(body, seats, yokes, (start + goal) / 2.0, _past(maker, body))
    part = maker.add(body.replace("_link", " link"), "link", body, link.draft, _frame((*seats, *yokes)[0].case.axes))
    zone = _zone(maker, body, False)
    if zone is not None:
        _limb_bracing(maker, link, part, zone)
    holes = lighten_beam(link, part.solid, [_room(hole) for hole in part.holes])
    part.solid = cleaned(difference(part.solid, holes))
    maker.fixed[body] = link.outline()


def _room(hole: Hole) -> Solid:
    """A hole with material about it, which lightening leaves alone."""
    return cylinder(hole.center - 2.0 * hole.axis, hole.center + (hole.seat + 2.0) * hole.axis, hole.diameter / 2.0 + 1.5)


def _limb_bracing(maker: _Maker, link: SkeletonLink, part: MadePart, zone: Zone) -> None:
    shell = bracing_shell(maker.shell.inner, zone)
    servos = [servo.body(_FIT + 0.5) for servo in (*link.seats, *link.yokes)]
    along = _unit(link.beam[1] - link.beam[0])
    sides = [servo.case.axes[:, 2] for servo in (*link.seats, *link.yokes)]
    sides += [np.cross(along, side) for side in sides if np.linalg.norm(np.cross(along, side)) > 0.3]
    sides = [side for side in sides if np.linalg.norm(np.cross(along, side)) > 0.3]
    extended = (link.beam[0] - 8.0 * along, link.beam[1] + 12.0 * along)
    found = bracing_halves(link.body, shell, part.solid, [*servos, *link.kept_free], extended, sides)
    if found is None:
        maker.made.faults.append(f"{link.body}: no room for bosses between the link and its bracing unit")
        return
    part.solid = union([part.solid, *found.pads])
    for pilot in found.pilots:
        part.holes.append(pilot)
        part.solid = _bored(part.solid, pilot)
    off = union([offset(part.solid, _FIT), *servos])
    for word, draft in zip(("first", "second"), found.drafts, strict=True):
        half, pillars = draft.add[0], draft.add[1:]
        draft.add[0] = cleaned(half - off)
        frame = rod_frame(along)
        _light(maker, draft, half, pillars, f"bracing {link.body.replace('_link', '')} {word}", link.body, frame)


def _light(
    maker: _Maker,
    draft: Draft,
    shell: Solid,
    keep: list[Solid],
    name: str,
    body: str,
    frame: Array,
    ribs: list[Solid] | None = None,
) -> None:
    """Add a unit with as many holes as leave it whole."""
    big = max(local_size(shell, frame)) > 150.0
    holes = lightening(shell, [*(_wide(pillar) for pillar in keep), *(ribs or [])], *((11.0, 27.0) if big else (7.0, 19.0)))
    part = maker.add(name, "bracing", body, draft, frame, clip=False)
    lighter = cleaned(difference(part.solid, holes)) if holes else part.solid
    if len(lighter.decompose()) <= len(part.solid.decompose()):
        part.solid = lighter


def _wide(pillar: Solid) -> Solid:
    extent = np.array(pillar.bounding_box()).reshape(2, 3)
    from bunraku.fabrication.shaping import box

    return box(extent.mean(axis=0), extent[1] - extent[0] + 3.0 * THICK)


def _unit(vector: Array) -> Array:
    found: Array = vector / max(float(np.linalg.norm(vector)), 1e-9)
    return found


def _bored(solid: Solid, hole: Hole) -> Solid:
    return solid - bore(hole.center - hole.axis, hole.center + (hole.seat + 1.0) * hole.axis, hole.diameter / 2.0)


def _foot(maker: _Maker, body: str, sole: Array, radius: float) -> None:
    """The link of a foot and its cup."""
    seats, yokes = _ends(maker, body)
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
    base = zone.of(inside) ^ cylinder(sole * np.array([1, 1, 0]) + np.array([0, 0, low]), np.array([*sole[:2], floor]), 23.0)
    off = union([offset(part.solid, _FIT), servo.body(_FIT + 0.5)])
    cup = Draft(f"{body} cup", [cleaned(shell - off), base])
    cup.cut.append(part.solid)
    for pilot in pilots:
        cup.holes.append(pilot)
        cup.cut.append(bore(pilot.center - pilot.axis, pilot.center + (pilot.seat + 0.8) * pilot.axis, pilot.diameter / 2.0))
    _light(maker, cup, shell, [base], f"bracing {body.replace('_link', '')} cup", body, np.eye(3))
    maker.fixed[body] = link.outline()
