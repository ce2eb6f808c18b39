"""Bracing units: shells between a link and the skin, in the zone where the skin is glued to it, with holes to make them light.

A unit follows the inner surface of the skin at a gap, so that the skin rests on it, and stands on bosses screwed to the link.
Round a limb it comes in two halves, put on from both sides; a foot sits in a cup; the torso's is parted where its skin is.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.fabrication.draft import SEAT, Draft, Hole
from bunraku.fabrication.shaping import Solid, cylinder, overlap, triangles
from bunraku.fabrication.skinned.pieces import Plane, nearest_part
from bunraku.fabrication.skinned.shell import cleaned, offset

GAP = 0.3
"""Between the unit and the skin's inner surface [mm]."""
THICK = 1.6
"""Thickness of a unit [mm]."""
BOSS = 4.8
"""Radius [mm] of the bosses a unit stands on."""
WEB = 3.5
"""Material [mm] between two lightening holes."""
RIM = 3.0
"""Material [mm] between a lightening hole and the rim of its shell."""
BACKED = 2.5
"""Material [mm] between a lightening hole and a point where the skin is glued on."""
_PILOT = 2.5
_DEEP = 8.0
_RISES = (0.6, 3.3, 6.0)
_HEAD = 3.0
"""Height [mm] of the head of a screw M3."""
_BENT = 12.0
"""How much [mm] the shell may bend away under a boss."""
_JOINED = 60.0
"""Least volume [mm³] that a pad shares with the link."""


@dataclass(frozen=True)
class Zone:
    """Where a body's unit is: planes it lies above, and a point near it."""

    body: str
    planes: tuple[Plane, ...]
    mark: Array

    def of(self, solid: Solid) -> Solid:
        """What of a solid is in the zone, of several parts that nearest to the mark."""
        for plane in self.planes:
            solid = plane.above(solid)
        parts = [part for part in solid.decompose() if float(part.volume()) > 20.0]
        return nearest_part(parts, self.mark) if parts else solid


@dataclass
class Bracing:
    """A unit while it is drawn: its halves as drafts, and the pilot holes that the link gets."""

    body: str
    drafts: list[Draft]
    pads: list[Solid] = field(default_factory=list)
    pilots: list[Hole] = field(default_factory=list)


def bracing_shell(inner: Solid, zone: Zone, gap: float = GAP, thick: float = THICK) -> Solid:
    """The shell of a zone: the skin's room made smaller by the gap, less the same made smaller by gap and thickness."""
    return cleaned(zone.of(offset(inner, -gap)) - offset(inner, -gap - thick))


def joint_rings(inner: Solid, cut: Plane, width: float = 10.0, depth: float = 9.0) -> Solid:
    """A rib inside a unit on both sides of a plane that parts it: ``depth`` [mm] from its outside, ``width`` wide in all."""
    slab = Plane(cut.normal, cut.offset - width / 2.0).above(Plane(-cut.normal, -cut.offset - width / 2.0).above(inner))
    return slab ^ (offset(inner, -GAP) - offset(inner, -GAP - depth))


def bracing_halves(
    name: str, shell: Solid, link: Solid, keep_off: list[Solid], middle: tuple[Array, Array], sides: list[Array]
) -> Bracing | None:
    """Two halves of a shell about a link, each on two bosses; None when no ``sides`` has room for bosses.

    ``middle`` are two ends (3,) of the link's middle line; ``sides`` directions to try for the bosses: halves part across them.
    ``keep_off`` is what bosses must not touch: servos, and what turns near the link.
    """
    start, end = middle
    w = (end - start) / max(float(np.linalg.norm(end - start)), 1e-9)
    for v in sides:
        v = v - w * float(v @ w)
        v = v / np.linalg.norm(v)
        both = [bosses(shell, link, keep_off, middle, sign * v) for sign in (1.0, -1.0)]
        if all(len(each) >= 2 for each in both):
            return _halved(name, shell, (start + end) / 2.0, v, both)
    return None


@dataclass(frozen=True)
class Boss:
    """A boss along ``side``: from ``foot`` (3,) on the link's pad to ``head`` (3,) in the shell; ``pad`` joins it to the link.

    ``seat`` [mm] is the material under the screw's head, which does not come out of the shell.
    """

    foot: Array
    head: Array
    side: Array
    pad: Solid
    pillar: Solid
    seat: float


def bosses(
    shell: Solid, link: Solid, keep_off: list[Solid], middle: tuple[Array, Array], side: Array, count: int = 2
) -> list[Boss]:
    """Places for bosses on one side of a link: rays from its middle line outwards that meet link, free room, then the shell."""
    start, end = middle
    way = end - start
    length = float(np.linalg.norm(way))
    w = way / length if length > 1e-6 else np.cross(side, [0.0, 0.0, 1.0])
    across = np.cross(w, side)
    chosen: list[Boss] = []
    tries = [(s, c) for c in (7.0, -7.0, 0.0) for s in np.arange(0.0, length + 1.0, 4.0)]
    tries.sort(key=lambda sc: abs(sc[0] - length / 2.0))
    for s, c in tries:
        axis = start + s * w + c * across
        if any(np.linalg.norm(np.cross(axis - other.foot, side)) < 2.0 * BOSS + 1.0 for other in chosen):
            continue
        boss = _boss(shell, link, keep_off, axis, side)
        if boss is not None:
            chosen.append(boss)
            if len(chosen) == count:
                break
    return chosen


def _boss(shell: Solid, link: Solid, keep_off: list[Solid], axis: Array, side: Array) -> Boss | None:
    """A boss along ``side`` about ``axis``: on the link as it is, or on a pad that gives its screw the depth a thin wall lacks."""
    rod = cylinder(axis, axis + 140.0 * side, BOSS)
    on_link, on_shell = link ^ rod, shell ^ rod
    if on_link.is_empty() or on_shell.is_empty() or float(on_link.volume()) < 150.0:
        return None
    top = float((triangles(on_link)[0] - axis).dot(side).max())
    wall = (triangles(on_shell)[0] - axis).dot(side)
    inside, outside = float(wall.min()), float(wall.max())
    full = np.pi * BOSS**2 * THICK
    if inside - top > 60.0 or float(on_shell.volume()) < 0.9 * full or outside - inside > _BENT:
        return None
    for rise in _RISES:
        deep = inside + THICK - top - rise  # from the foot to the outside of the shell
        if inside - top - rise < 0.4 or deep < SEAT + _HEAD:
            return None
        foot = axis + (top + rise) * side
        pad = cylinder(axis + max(top + rise - _DEEP - 0.2, 0.0) * side, foot, BOSS)
        bored = cylinder(foot, foot - _DEEP * side, _PILOT / 2.0 + 1.4)
        if float(((link + pad) ^ bored).volume()) < 0.97 * float(bored.volume()):
            continue
        whole = cylinder(foot - (_DEEP + 0.2) * side, axis + inside * side, BOSS + 0.8)
        if any(overlap(whole, other) > 0.5 for other in keep_off):
            continue
        if float((link ^ pad).volume()) < _JOINED:
            continue
        pillar = cylinder(foot, axis + (inside + THICK * 0.7) * side, BOSS)
        return Boss(foot, axis + (outside - 0.3) * side, side, pad, pillar, float(np.clip(deep - _HEAD, SEAT, 3.0)))
    return None


def screw_boss(draft: Draft, boss: Boss) -> Hole:
    """Put a boss into the draft of a unit; returns the pilot hole that its link gets."""
    draft.add.append(boss.pillar)
    length = 10 if boss.seat > 2.5 else 8
    draft.drill([Hole(boss.foot, boss.side, 3.4, boss.seat, "M3", "bracing", length=length)], thickness=80.0)
    return Hole(boss.foot, -boss.side, _PILOT, 7.0, "M3", "bracing", pilot=True)


def _halved(name: str, shell: Solid, middle: Array, v: Array, sides: list[list[Boss]]) -> Bracing:
    bracing = Bracing(name, [])
    for sign, mine in zip((1.0, -1.0), sides, strict=True):
        plane = Plane(sign * v, float(sign * v @ middle) + 0.15)
        draft = Draft(f"{name} bracing", [cleaned(plane.above(shell))])
        for boss in mine:
            bracing.pilots.append(screw_boss(draft, boss))
            bracing.pads.append(boss.pad)
        bracing.drafts.append(draft)
    return bracing


def lightening(shell: Solid, keep: list[Solid], glue: Array, radii: tuple[float, ...] = (9.0, 6.5, 4.5)) -> list[Solid]:
    """Round holes through a shell, the largest of the ``radii`` [mm] first, where they leave its rims and ``keep`` alone.

    ``glue`` (k, 3) are the points where the skin is glued on: they keep material under them. Between holes there is a WEB. Places
    to try are on the shell's outside, each the farthest from those before.
    """
    from scipy.spatial import cKDTree

    x, t = triangles(shell.refine_to_length(6.0))
    a, b, c = (x[t[:, i]] for i in range(3))
    n = np.cross(b - a, c - a)
    size = np.linalg.norm(n, axis=1)
    middle, n = (a + b + c) / 3.0, n / np.maximum(size, 1e-12)[:, None]
    rims = _rims(x, t)
    room = np.full(len(middle), np.inf)
    for points, margin in ((rims, RIM), (glue, BACKED)):
        if len(points):
            room = np.minimum(room, np.asarray(cKDTree(points).query(middle)[0]) - margin)
    holes: list[Solid] = []
    places, reach = np.zeros((0, 3)), np.zeros(0)
    spread = np.array(_spread(middle, 5.0), dtype=np.int64)
    for radius in radii:
        for k in spread[room[spread] > radius]:
            place, d = middle[k], n[k]
            if (np.linalg.norm(places - place, axis=1) < reach + radius + WEB).any():
                continue
            slab = cylinder(place + 0.5 * d, place - (THICK + 0.5) * d, radius + RIM)
            if any(overlap(slab, other) > 0.01 for other in keep):
                continue
            holes.append(cylinder(place + 4.0 * d, place - (THICK + 4.0) * d, radius))
            places, reach = np.vstack([places, place]), np.append(reach, radius)
    return holes


def _rims(x: Array, t: NDArray[np.int64]) -> Array:
    """Points (k, 3), 3 mm apart at most, of the edges at which a surface turns by more than two thirds of a right angle."""
    n = np.cross(x[t[:, 1]] - x[t[:, 0]], x[t[:, 2]] - x[t[:, 0]])
    n /= np.maximum(np.linalg.norm(n, axis=1), 1e-12)[:, None]
    sides = np.sort(t[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    order = np.lexsort(sides.T)
    sides, face = sides[order], np.repeat(np.arange(len(t)), 3)[order]
    same = np.flatnonzero((sides[1:] == sides[:-1]).all(axis=1))
    sharp = same[(n[face[same]] * n[face[same + 1]]).sum(axis=1) < np.cos(np.pi / 3.0)]
    ends = x[sides[sharp]]
    count = np.maximum(np.ceil(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1) / 3.0).astype(np.int64), 1)
    which = np.repeat(np.arange(len(ends)), count)
    share = (np.arange(len(which)) - np.repeat(np.cumsum(count) - count, count) + 0.5) / count[which]
    return ends[which, 0] + share[:, None] * (ends[which, 1] - ends[which, 0])


def _spread(points: Array, spacing: float) -> list[int]:
    """Numbers of points at least ``spacing`` apart, each the farthest from those before."""
    if not len(points):
        return []
    chosen = [int(np.argmax(points[:, 2]))]
    far = np.linalg.norm(points - points[chosen[0]], axis=1)
    while far.max() > spacing and len(chosen) < 900:
        k = int(np.argmax(far))
        chosen.append(k)
        far = np.minimum(far, np.linalg.norm(points - points[k], axis=1))
    return chosen
