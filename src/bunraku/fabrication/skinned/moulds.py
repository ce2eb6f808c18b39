"""Moulds for skin pieces: two halves round the outer surface, a core for the hollow, channels for rubber and air, pins.

A limb's mould parts along the limb, at the plane behind which the least of the casting hooks; its core is held in a seat beyond the
opening. Half a torso is a bowl: its mould is drawn off the dome, and its core stands on a plate that closes the opening.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from bunraku.arrays import Array
from bunraku.fabrication.shaping import Solid, bore, bounds, box, cylinder, difference, rod_frame, triangles, union
from bunraku.fabrication.skinned.blocks import Section, lying, outlines, prism, section, spots_in, standing
from bunraku.fabrication.skinned.pieces import Plane, SkinPiece
from bunraku.fabrication.skinned.shell import cleaned
from bunraku.fabrication.skinned.undercut import PEEL_STRAIN, Draw, draw_figures, path_stretch, undercut

WALL = 10.0
"""Material [mm] round the casting."""
SEAT_LENGTH = 14.0
PLAY = 0.15
"""Gap [mm] between the core and its seat, and round pins."""
POUR, VENT, PIN = 6.0, 2.0, 6.0
"""Diameters [mm] of the channel for the rubber, of those for the air, and of pins."""
_PIN_LENGTH = 5.0


@dataclass
class Mould:
    """The parts of a piece's mould where the casting lies, and their figures.

    ``parts`` are named solids; ``draws`` the figures of the halves; ``core_strain`` how far the rubber is stretched off the core.
    """

    piece: SkinPiece
    parting: Plane
    parts: list[tuple[str, Solid]]
    draws: tuple[Draw, ...]
    core_strain: float
    notes: list[str] = field(default_factory=list)

    @property
    def strain(self) -> float:
        """The largest stretch of the rubber on its way out."""
        return max(self.core_strain, *(draw.strain for draw in self.draws))

    @property
    def comes_out(self) -> bool:
        """Whether the rubber comes out within PEEL_STRAIN."""
        return self.strain <= PEEL_STRAIN


def make_mould(piece: SkinPiece, axes: list[Array]) -> Mould:
    """The mould of a piece; ``axes`` (3,) of joints are tried as directions to part a limb's mould in."""
    return _bowl(piece) if piece.path is None else _limb(piece, axes)


def _limb(piece: SkinPiece, axes: list[Array]) -> Mould:
    opening = piece.opening
    parting = parting_plane(piece.outer, pull_directions(triangles(piece.outer)[0], opening.normal, axes), piece.cuts)
    d = parting.normal
    seat = _seat_block(piece, parting, 0.0)
    block = _block(union([piece.outer, seat]), d)
    channels, notes = _channels(piece, parting, block)
    spots = _pin_spots(section(block, d, parting.offset), section(union([piece.outer, seat, *channels]), d, parting.offset))
    hollow = union([piece.outer, _seat_block(piece, parting, PLAY)])
    halves = []
    for plane, word in ((parting, "first"), (parting.flipped(), "second")):
        half = difference(plane.above(block), [hollow, *channels])
        frame = rod_frame(d)
        for spot in spots:
            foot = frame @ np.array([*spot, parting.offset])
            if word == "first":
                half = half - bore(foot - d, foot + (_PIN_LENGTH + 1.0) * d, PIN / 2.0 + PLAY)
            else:
                half = half + cylinder(foot - 2.0 * d, foot + _PIN_LENGTH * d, PIN / 2.0, PIN / 2.0 - 0.6)
        halves.append((f"mould half {word}", cleaned(half)))
    draws = tuple(
        draw_figures(piece.outer, plane.normal, plane.offset, [(cut.normal, cut.offset) for cut in piece.cuts])
        for plane in (parting, parting.flipped())
    )
    strain = path_stretch(piece.core, piece.path) if piece.path is not None else 0.0
    return Mould(piece, parting, [*halves, ("core", cleaned(_joined_core(piece, seat)))], draws, strain, notes)


def _seat_block(piece: SkinPiece, parting: Plane, grow: float) -> Solid:
    """The block beyond the opening that holds the core, ``grow`` [mm] larger; its sides run along the pull."""
    n, d = piece.opening.normal, parting.normal
    e = np.cross(n, d)
    e /= np.linalg.norm(e)
    m = np.cross(d, e)
    if m @ n < 0.0:
        e, m = -e, -m
    x = triangles(piece.outer)[0]
    rim = x[np.abs(piece.opening.height(x)) < 0.5]
    axes = np.stack([d, e, m], axis=1) if np.linalg.det(np.stack([d, e, m], axis=1)) > 0 else np.stack([d, -e, m], axis=1)
    along = rim @ axes
    low, high = along.min(axis=0) - 4.0 - grow, along.max(axis=0) + 4.0 + grow
    high[2] += SEAT_LENGTH
    low[2] -= 1.0
    whole = box(axes @ ((low + high) / 2.0), high - low, axes)
    return piece.opening.above(whole)


def _joined_core(piece: SkinPiece, base: Solid) -> Solid:
    """The hollow's shape and a base on the other side of the opening, joined by a neck through it."""
    import manifold3d

    n, at = piece.opening.normal, piece.opening.offset
    flat = section(piece.core, n, at - 0.5).offset(-0.6, manifold3d.JoinType.Round)
    neck = prism(flat, n, at - 0.5, at + 4.0)
    return union([piece.core, base, neck])


def _block(inside: Solid, d: Array, wall: float = WALL) -> Solid:
    """The mould's outside: what is inside, seen along the pull, a wall wider, and a wall higher at both ends."""
    import manifold3d

    turned = lying(inside, d)
    shadow = turned.project().offset(wall, manifold3d.JoinType.Round).offset(4.0 * wall).offset(-4.0 * wall)
    shadow = _filled(shadow).simplify(0.2)
    low, high = turned.bounding_box()[2] - wall, turned.bounding_box()[5] + wall
    return standing(manifold3d.Manifold.extrude(shadow, high - low).translate([0.0, 0.0, low]), d)


def _filled(flat: Section) -> Section:
    """A section without its holes."""
    import manifold3d

    lines = [line for line in outlines(flat) if _turn(line) > 0.0]
    return manifold3d.CrossSection(lines, manifold3d.FillRule.NonZero)


def _turn(line: Array) -> float:
    after = np.roll(line, -1, axis=0)
    return float((line[:, 0] * after[:, 1] - line[:, 1] * after[:, 0]).sum()) / 2.0


def _channels(piece: SkinPiece, parting: Plane, block: Solid) -> tuple[list[Solid], list[str]]:
    """Channels in the parting plane: for the rubber at the lowest place, for air at every place it cannot rise from.

    The mould stands with its opening up.
    """
    d, n = parting.normal, piece.opening.normal
    frame = rod_frame(d)
    up = (frame.T @ n)[:2]
    up /= np.linalg.norm(up)
    flat = section(piece.outer, d, parting.offset)
    if flat.is_empty():
        return [], ["the parting plane does not meet the casting"]
    line = max(outlines(flat), key=lambda points: abs(_turn(points)))
    heights = line @ up
    reach = 2.0 * float(np.linalg.norm(np.ptp(bounds(block), axis=0)))

    def at(point: Array) -> Array:
        return frame @ np.array([*point, parting.offset])

    lowest = line[int(np.argmin(heights))]
    down = frame[:, :2] @ -up
    channels = [bore(at(lowest) - 2.0 * down, at(lowest) + reach * down, POUR / 2.0)]
    side = np.array([-up[1], up[0]])
    rim = line[heights > heights.max() - 0.5]
    for sign in (1.0, -1.0):
        edge = rim[int(np.argmax(sign * (rim @ side)))] - 1.6 * up
        out = frame[:, :2] @ (sign * side)
        channels.append(bore(at(edge) - 1.5 * out, at(edge) + reach * out, VENT / 2.0))
    peaks = _peaks(line, heights)
    for peak in peaks:
        rise = frame[:, :2] @ up
        channels.append(bore(at(peak) - 1.0 * rise, at(peak) + reach * rise, VENT / 2.0))
    notes = [
        f"stand it with the core's seat up, fill from below through the {POUR:g} mm channel, close it when rubber shows at "
        f"{2 + len(peaks)} vents"
    ]
    return channels, notes


def _peaks(line: Array, heights: Array, span: float = 12.0) -> list[Array]:
    """Corners of a closed line higher than all within ``span`` [mm] along it and a millimetre above its ends; not the top."""
    top = heights.max()
    lengths = np.linalg.norm(np.roll(line, -1, axis=0) - line, axis=1)
    arc = np.concatenate([[0.0], np.cumsum(lengths)])
    total = float(arc[-1])
    peaks: list[Array] = []
    for k in np.argsort(-heights):
        if heights[k] > top - 3.0:
            continue
        apart = np.abs(arc[:-1] - arc[k])
        near = np.minimum(apart, total - apart) < span
        if heights[k] >= heights[near].max() - 1e-9 and heights[k] > heights[near].min() + 1.0 and len(peaks) < 12:
            inside_turn = _convex(line, int(k))
            if inside_turn and all(np.linalg.norm(line[k] - other) > span for other in peaks):
                peaks.append(line[k])
    return peaks


def _convex(line: Array, k: int) -> bool:
    a, b = line[k] - line[k - 1], line[(k + 1) % len(line)] - line[k]
    return bool((a[0] * b[1] - a[1] * b[0]) * np.sign(_turn(line)) >= 0.0)


def _pin_spots(face: Section, taken: Section) -> list[Array]:
    """Places for four pins on the parting face, as far apart as can be: off the casting, the seat and the channels, off the rim."""
    import manifold3d

    room = face - taken.offset(PIN / 2.0 + 1.5, manifold3d.JoinType.Round)
    return spots_in(room, PIN / 2.0 + 1.5, 2.5 * PIN, 4)


def _bowl(piece: SkinPiece) -> Mould:
    """The mould of half a torso: a cavity drawn off the dome, a plate under the opening, the core on it."""
    opening = piece.opening
    d = -opening.normal
    level = -opening.offset
    block = _block(piece.outer, d)
    cavity = Plane(d, level).above(block) - piece.outer
    plate = Plane(d, level - WALL).above(opening.above(block))
    rim = section(piece.rubber, d, level + 0.5)
    face = section(block, d, level + 0.5)
    frame = rod_frame(d)
    for spot in _pin_spots(face, section(piece.outer, d, level + 0.5)):
        foot = frame @ np.array([*spot, level])
        cavity = cavity - bore(foot - d, foot + (_PIN_LENGTH + 1.0) * d, PIN / 2.0 + PLAY)
        plate = plate + cylinder(foot - 2.0 * d, foot + _PIN_LENGTH * d, PIN / 2.0, PIN / 2.0 - 0.6)
    vents = _rim_spots(rim)
    for spot in vents:
        foot = frame @ np.array([*spot, level])
        plate = plate - bore(foot + d, foot - 2.0 * WALL * d, VENT / 2.0)
    x = triangles(piece.outer)[0]
    top = x[int(np.argmax(x @ d))]
    cavity = cavity - bore(top - 2.0 * d, top + 3.0 * WALL * d, POUR / 2.0)
    core = piece.core
    for spot in spots_in(section(piece.core, d, level + 0.5), 12.0, 20.0, 2):
        foot = frame @ np.array([*spot, level])
        hole = bore(foot - 2.0 * WALL * d, foot + 12.0 * d, 2.15)
        core, plate = core - hole, plate - hole
    cuts = [(cut.normal, cut.offset) for cut in piece.cuts]
    draw = draw_figures(piece.outer, d, level, cuts)
    strain = undercut(piece.core, d, level)[1]
    notes = [
        f"fix the core on the plate with two steel pins 4 x 20 mm; stand it with the plate up, fill from below through the "
        f"{POUR:g} mm channel, close it when rubber shows at {len(vents)} vents in the plate"
    ]
    parts = [("mould cavity", cleaned(cavity)), ("mould plate", cleaned(plate)), ("core", cleaned(core))]
    return Mould(piece, Plane(d, level), parts, (draw,), strain, notes)


def _rim_spots(rim: Section, count: int = 8) -> list[Array]:
    """Places in the middle of the rubber's rim, as far apart as can be."""
    lines = outlines(rim)
    if not lines:
        return []
    corners = np.concatenate([_resampled(line, 3.0) for line in lines])
    shrunk = [rim.offset(-by) for by in (1.8, 1.4, 1.0, 0.6)]
    room = next((flat for flat in shrunk if not flat.is_empty()), rim)
    corners = np.concatenate([_resampled(line, 3.0) for line in outlines(room)]) if outlines(room) else corners
    chosen = [corners[int(np.argmax(corners[:, 0]))]]
    while len(chosen) < count:
        far = np.minimum.reduce([np.linalg.norm(corners - other, axis=1) for other in chosen])
        chosen.append(corners[int(np.argmax(far))])
    return chosen


def _resampled(line: Array, step: float) -> Array:
    closed = np.concatenate([line, line[:1]])
    arc = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(closed, axis=0), axis=1))])
    s = np.arange(0.0, arc[-1], step)
    return np.stack([np.interp(s, arc, closed[:, k]) for k in range(2)], axis=1)


_SHARES = np.linspace(0.3, 0.7, 17)


def pull_directions(points: Array, opening: Array, axes: Sequence[Array]) -> list[Array]:
    """Directions to try: across the ``opening``'s normal, every 15 degrees about it, then the ``axes`` and the casting's own.

    A limb lies along a plane: the direction in which its ``points`` (n, 3) extend least is a good one.
    """
    n = opening / np.linalg.norm(opening)
    _, vectors = np.linalg.eigh(np.cov((points - points.mean(axis=0)).T))
    candidates = [*axes, *vectors.T, *np.eye(3)]
    u = np.eye(3)[int(np.argmin(np.abs(n)))]
    u = u - n * (n @ u)
    u /= np.linalg.norm(u)
    v = np.cross(n, u)
    candidates += [np.cos(a) * u + np.sin(a) * v for a in np.radians(np.arange(0.0, 180.0, 15.0))]
    directions: list[Array] = []
    for d in candidates:
        d = np.asarray(d, dtype=float) / np.linalg.norm(d)
        if abs(d @ n) < 0.75 and all(abs(d @ other) < 0.9999 for other in directions):
            directions.append(d)
    return directions


def parting_plane(solid: Solid, directions: Sequence[Array], leave_out: Sequence[Plane] = ()) -> Plane:
    """Of planes across the ``directions``, at several heights, that with the least hooked area; of equals the first."""
    middle, vector = _faces(solid, leave_out)
    corners = triangles(solid)[0]
    best, least = None, np.inf
    for d in directions:
        along = corners @ d
        low, high = float(along.min()), float(along.max())
        for share in sorted(_SHARES, key=lambda s: abs(s - 0.5)):
            plane = Plane(d, low + float(share) * (high - low))
            hooked = _hooked(middle, vector, plane)
            if hooked < least - 1.0:
                best, least = plane, hooked
    if best is None:
        raise ValueError("no directions to pull a mould in")
    return best


def _faces(solid: Solid, leave_out: Sequence[Plane]) -> tuple[Array, Array]:
    x, t = triangles(solid)
    a, b, c = (x[t[:, i]] for i in range(3))
    counts = np.ones(len(t), dtype=bool)
    for plane in leave_out:
        counts &= ~np.stack([np.abs(plane.height(p)) < 1e-3 for p in (a, b, c)]).all(axis=0)
    return ((a + b + c) / 3.0)[counts], (np.cross(b - a, c - a) / 2.0)[counts]


def _hooked(middle: Array, vector: Array, plane: Plane) -> float:
    side = np.where(plane.height(middle) > 0.0, 1.0, -1.0)
    return float(np.maximum(0.0, -side * (vector @ plane.normal)).sum())
