"""The torso's bracing units: parted where its skin is, in blocks that the printer takes, screwed together at lugs."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from bunraku.arrays import Array
from bunraku.fabrication.checks import fits_printer
from bunraku.fabrication.draft import Draft, Hole
from bunraku.fabrication.shaping import Solid, bore, cylinder, difference, rod_frame, triangles, union
from bunraku.fabrication.skinned.blocks import local_size, section, spots_in
from bunraku.fabrication.skinned.bracing import Zone, bosses, bracing_shell, joint_rings, screw_boss
from bunraku.fabrication.skinned.drawing import FIT, DrawnPart, Maker, bored, holds, unit, wide
from bunraku.fabrication.skinned.layout import Layout
from bunraku.fabrication.skinned.pieces import Plane
from bunraku.fabrication.skinned.shell import bodies_of, cleaned, offset

JOINT = "joint of blocks"
"""The group of holes for screws that join the blocks of a bracing unit."""
LUG = 6.0
"""Radius [mm] of the lugs at a cut."""
_LOOSE = 5000.0
"""Pieces of a unit below this volume [mm³] that cuts leave without a screw are left out."""
_MARGIN = 1.0
_HALF = 4.0


def torso_bracing(maker: Maker, body: str, columns: list[Array], tray: DrawnPart, inside: list[Solid], cut: Plane) -> None:
    """The unit of a body of the torso: a shell in the skin, parted by a plane, on posts that stand on the bay's columns."""
    glue = maker.layout.glue.get(body)
    if glue is None:
        maker.skeleton.faults.append(f"{body}: the skin is glued nowhere to it, so it has no bracing unit")
        return
    shell = bracing_shell(maker.shell.inner, Zone(body, _between(maker.layout, body), glue.mean(axis=0)))
    shell = cleaned(shell ^ maker.torso_room, 200.0)
    off = union([offset(solid, FIT) for solid in inside] + [s.body(FIT) for s in maker.servos_at(body)])
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
            tray.solid = bored(tray.solid + boss.pad, pilot)
        if len(posts) < 2:
            maker.skeleton.faults.append(f"{body} bracing {word}: {len(posts)} posts reach the bay; two or more are needed")
        frame = _frame(plane.normal)
        cuts = _cuts(half, frame, maker.printer, [post.foot for post in posts])
        inside_skin = maker.torso_room ^ plane.above(maker.torso_room)
        lugs: list[Solid] = []
        for each in cuts:
            room = joint_rings(maker.shell.inner, each.plane) ^ inside_skin
            for border in each.within:
                room = border.above(room)
            ears = _lugs(cleaned(room - off), each.plane)
            lugs += [lug for lug, _ in ears]
            each.places += [place for _, place in ears]
        draft.add += lugs
        part = maker.light(draft, half, [*(wide(post.pillar) for post in posts), *lugs], f"bracing {body} {word}", body, frame)
        maker.skeleton.parts.remove(part)
        _in_blocks(maker, part, cuts)


@dataclass
class BlockCut:
    """A plane, seen from both ``sides``, that parts a unit's block above the planes ``within``; ``places`` (3,) of its screws."""

    sides: tuple[Plane, Plane]
    within: tuple[Plane, ...]
    places: list[Array] = field(default_factory=list)

    @property
    def plane(self) -> Plane:
        """The plane from its first side."""
        return self.sides[0]


def _between(layout: Layout, body: str) -> tuple[Plane, ...]:
    """Planes that part the zones of bodies of the torso: each ends where its own glue does on the side of the others.

    Where a hinge joins two of them the plane holds its axis.
    """
    own = layout.glue[body]
    planes = []
    for other in layout.torso:
        if other != body and other in layout.glue:
            way = own.mean(axis=0) - layout.glue[other].mean(axis=0)
            joint = next((hinge for hinge in layout.hinges if {hinge.parent, hinge.child} == {body, other}), None)
            if joint is not None:
                way = way - joint.axis * float(way @ joint.axis)
            n = unit(way)
            planes.append(Plane(n, float((own @ n).min()) - 2.0))
    return tuple(planes)


def _frame(normal: Array) -> Array:
    """Axes of a torso's unit: z across the plane that parts it, x forward as far as that lets it be."""
    x = np.array([1.0, 0.0, 0.0]) - normal * normal[0]
    x = x / np.linalg.norm(x) if np.linalg.norm(x) > 1e-3 else np.array([0.0, 1.0, 0.0])
    return np.stack([x, np.cross(normal, x), normal], axis=1)


def _cuts(solid: Solid, frame: Array, printer: tuple[float, float, float], posts: list[Array]) -> list[BlockCut]:
    """Planes that cut a unit into blocks that fit the printer, block by block; those before others come first."""
    room = np.array(sorted(printer, reverse=True)) - 2.0 * _MARGIN
    cuts: list[BlockCut] = []
    waiting: list[tuple[Solid, tuple[Plane, ...]]] = [(solid, ())]
    while waiting:
        block, within = waiting.pop(0)
        size = np.array(local_size(block, frame))
        if fits_printer(tuple(size), tuple(room)):
            continue
        order = np.argsort(-size)
        rank = int(np.argmax(size[order] / room))
        k = int(order[rank])
        plane = _best(block, frame[:, k], int(np.ceil(size[k] / room[rank])), float(room[rank]), posts)
        cut = BlockCut((plane, plane.flipped()), within)
        cuts.append(cut)
        waiting += [(side.above(block), (*within, side)) for side in cut.sides]
    return cuts


def _best(block: Solid, normal: Array, count: int, room: float, posts: list[Array]) -> Plane:
    """Of planes that leave lengths that fit on both sides, that which leaves the fewest pieces, then is farthest from posts."""
    along = triangles(block)[0] @ normal
    low, high = float(along.min()), float(along.max())
    level = low + (high - low) * (count // 2) / count
    slack = max(min((count // 2) * room - (level - low), (count - count // 2) * room - (high - level)), 0.0)
    shifts = [shift for shift in (0.0, 5.0, -5.0, 10.0, -10.0, 15.0, -15.0, 22.0, -22.0) if abs(shift) <= slack]
    tries = [Plane(normal, level + shift) for shift in shifts]

    def score(plane: Plane) -> tuple[int, float]:
        pieces = sum(len(bodies_of(side.above(block))) for side in (plane, plane.flipped()))
        return pieces, -min([10.0, *(abs(float(plane.height(post))) for post in posts)])

    return min(tries, key=score)


def _lugs(ring: Solid, cut: Plane) -> list[tuple[Solid, Array]]:
    """Lugs across a cut and the places (3,) of their screws, where a ``ring`` inside the unit has room all along them."""
    n, frame = cut.normal, rod_frame(cut.normal)
    flats = [section(ring, n, cut.offset + shift) for shift in (0.0, -2.0, 2.0, -_HALF - 0.2, _HALF + 0.2)]
    common = flats[0]
    for flat in flats[1:]:
        common = common ^ flat
    lugs = []
    for spot in spots_in(common, 3.1, 30.0, 8, 1.0):
        place = frame @ np.array([*spot, cut.offset])
        lugs.append((ring ^ cylinder(place - (_HALF + 1.0) * n, place + (_HALF + 1.0) * n, LUG), place))
    return lugs


def _in_blocks(maker: Maker, part: DrawnPart, cuts: list[BlockCut]) -> None:
    """Part a unit at its cuts, and put screws through the lugs."""
    blocks: list[tuple[Solid, tuple[Plane, ...]]] = [(part.solid, ())]
    holes = list(part.holes)
    for cut in cuts:
        n = cut.plane.normal
        drills = []
        for place in cut.places:
            pair = [Hole(place, side * n, 3.4, _HALF, None, JOINT) for side in (1.0, -1.0)]
            if all(holds(part.solid, hole) for hole in pair):
                holes += pair
                drills.append(bore(place - 8.0 * n, place + 8.0 * n, 1.7))
        parted = []
        for block, within in blocks:
            if [id(each) for each in within] != [id(each) for each in cut.within]:
                parted.append((block, within))
                continue
            drilled = difference(block, drills)
            parted += [(piece, (*within, side)) for side in cut.sides for piece in _sides(side, drilled)]
        blocks = parted
    held = [(block, [hole for hole in holes if holds(block, hole)]) for block, _ in blocks]
    held = [(block, own) for block, own in held if own or float(block.volume()) > _LOOSE]
    for number, (block, own) in enumerate(held, 1):
        name = part.name if len(held) == 1 else f"{part.name} {number}"
        maker.skeleton.parts.append(DrawnPart(name, part.kind, part.body, block, part.frame, own, part.cases, part.notes))
        if len(own) < 2:
            maker.skeleton.faults.append(f"{name}: {len(own)} screws hold it; two or more are needed")


def _sides(plane: Plane, block: Solid) -> list[Solid]:
    side = cleaned(Plane(plane.normal, plane.offset + 0.05).above(block), 200.0)
    return [part for part in side.decompose() if float(part.volume()) > 200.0]
