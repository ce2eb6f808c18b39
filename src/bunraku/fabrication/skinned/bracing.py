"""Bracing units: shells between a link and the skin, in the zone where the skin is glued to it, with holes to make them light.

A unit follows the inner surface of the skin at a gap, so that the skin rests on it, and stands on bosses screwed to the link.
Round a limb it comes in two halves, put on from both sides; a foot sits in a cup; the torso's is parted where its skin is.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bunraku.fabrication.draft import Draft, Hole
from bunraku.fabrication.shaping import Solid, bore, cylinder, difference, overlap, triangles, union
from bunraku.fabrication.skinned.pieces import Plane
from bunraku.fabrication.skinned.shell import cleaned, offset

__all__ = ["GAP", "THICK", "Bracing", "Zone", "bosses", "bracing_halves", "bracing_shell", "joint_rings", "lightening"]

Array = NDArray[np.float64]
GAP = 0.3
"""Between the unit and the skin's inner surface [mm]."""
THICK = 3.0
"""Thickness of a unit [mm]."""
BOSS = 4.8
"""Radius [mm] of the bosses a unit stands on."""
_PILOT = 2.5


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
        if not parts:
            return solid
        return min(parts, key=lambda part: float(np.linalg.norm(triangles(part)[0] - self.mark, axis=1).min()))


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


def joint_rings(inner: Solid, cut: Plane, width: float = 10.0, depth: float = 11.0) -> Solid:
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
        found = [bosses(shell, link, keep_off, middle, sign * v) for sign in (1.0, -1.0)]
        if all(len(each) >= 2 for each in found):
            return _halved(name, shell, (start + end) / 2.0, v, found)
    return None


@dataclass(frozen=True)
class Boss:
    """A boss along ``side``: from ``foot`` (3,) on the link's pad to ``head`` (3,) in the shell; ``pad`` joins it to the link."""

    foot: Array
    head: Array
    side: Array
    pad: Solid
    pillar: Solid


def bosses(
    shell: Solid, link: Solid, keep_off: list[Solid], middle: tuple[Array, Array], side: Array, count: int = 2
) -> list[Boss]:
    """Places for bosses on one side of a link: rays from its middle line outwards that meet link, free room, then the shell."""
    start, end = middle
    way = end - start
    length = float(np.linalg.norm(way))
    w = way / length if length > 1e-6 else np.cross(side, [0.0, 0.0, 1.0])
    across = np.cross(w, side)
    found: list[Boss] = []
    tries = [(s, c) for c in (7.0, -7.0, 0.0, 10.0, -10.0) for s in np.arange(0.0, length + 1.0, 4.0)]
    tries.sort(key=lambda sc: abs(sc[0] - length / 2.0))
    for s, c in tries:
        axis = start + s * w + c * across
        if any(np.linalg.norm(np.cross(axis - other.foot, side)) < 2.0 * BOSS + 1.0 for other in found):
            continue
        boss = _boss(shell, link, keep_off, axis, side)
        if boss is not None:
            found.append(boss)
            if len(found) == count:
                break
    return found


def _boss(shell: Solid, link: Solid, keep_off: list[Solid], axis: Array, side: Array) -> Boss | None:
    rod = cylinder(axis, axis + 140.0 * side, BOSS)
    on_link, on_shell = link ^ rod, shell ^ rod
    if on_link.is_empty() or on_shell.is_empty() or float(on_link.volume()) < 150.0:
        return None
    top = float((triangles(on_link)[0] - axis).dot(side).max())
    wall = (triangles(on_shell)[0] - axis).dot(side)
    inside, outside = float(wall.min()), float(wall.max())
    full = np.pi * BOSS**2 * THICK
    if inside - top < 1.0 or inside - top > 60.0 or float(on_shell.volume()) < 0.9 * full or outside - inside > 4.0 * THICK:
        return None
    foot = axis + (top + 0.6) * side
    head = axis + (outside - 0.3) * side
    pad = cylinder(axis + max(top - 8.0, 0.0) * side, foot, BOSS)
    pillar = cylinder(foot, axis + (inside + THICK * 0.7) * side, BOSS)
    whole = cylinder(foot - 9.0 * side, axis + inside * side, BOSS + 0.8)
    if any(overlap(whole, other) > 0.5 for other in keep_off):
        return None
    bored = cylinder(foot, foot - 8.0 * side, _PILOT / 2.0 + 1.4)
    solid = float(((link + pad) ^ bored).volume())
    if solid < 0.97 * float(bored.volume()):
        return None
    return Boss(foot, head, side, pad, pillar)


def screw_boss(draft: Draft, boss: Boss) -> Hole:
    """Put a boss into the draft of a unit; returns the pilot hole that its link gets."""
    draft.add.append(boss.pillar)
    draft.drill([Hole(boss.foot, boss.side, 3.4, 3.0, "M3", "bracing", length=10)], thickness=80.0)
    return Hole(boss.foot, -boss.side, _PILOT, 7.0, "M3", "bracing", pilot=True)


def _halved(name: str, shell: Solid, middle: Array, v: Array, found: list[list[Boss]]) -> Bracing:
    made = Bracing(name, [])
    for sign, mine in zip((1.0, -1.0), found, strict=True):
        plane = Plane(sign * v, float(sign * v @ middle) + 0.15)
        draft = Draft(f"{name} bracing", [cleaned(plane.above(shell))])
        for boss in mine:
            made.pilots.append(screw_boss(draft, boss))
            made.pads.append(boss.pad)
        made.drafts.append(draft)
    return made


def pilot_cut(hole: Hole) -> Solid:
    """What a pilot hole takes away."""
    return bore(hole.center - hole.axis, hole.center + (hole.seat + 1.0) * hole.axis, hole.diameter / 2.0)


def lightening(shell: Solid, keep: list[Solid], radius: float = 7.0, spacing: float = 22.0) -> list[Solid]:
    """Round holes through a shell, spread evenly over it, where they leave its rims and what is in ``keep`` alone.

    From corners of its outer side, the farthest from those chosen so far first, as long as they are ``spacing`` [mm] apart.
    """
    x, t = triangles(shell.refine_to_length(8.0))
    a, b, c = (x[t[:, i]] for i in range(3))
    n = np.cross(b - a, c - a)
    size = np.linalg.norm(n, axis=1)
    middle, n = (a + b + c) / 3.0, n / np.maximum(size, 1e-12)[:, None]
    holes: list[Solid] = []
    places: list[Array] = []
    for k in _spread(middle, spacing / 2.5):
        place, d = middle[k], n[k]
        if any(np.linalg.norm(place - other) < spacing for other in places):
            continue
        drill = cylinder(place + 4.0 * d, place - 9.0 * d, radius)
        wide = cylinder(place + 0.5 * d, place - (THICK + 0.5) * d, radius + 4.0)
        inside = float((shell ^ wide).volume())
        if inside < 0.93 * np.pi * (radius + 4.0) ** 2 * THICK or inside > 1.15 * np.pi * (radius + 4.0) ** 2 * THICK:
            continue
        if any(overlap(wide, other) > 0.01 for other in keep):
            continue
        holes.append(drill)
        places.append(place)
    return holes


def _spread(points: Array, spacing: float) -> list[int]:
    """Numbers of points at least ``spacing`` apart, each the farthest from those before."""
    if not len(points):
        return []
    chosen = [int(np.argmax(points[:, 2]))]
    far = np.linalg.norm(points - points[chosen[0]], axis=1)
    while far.max() > spacing and len(chosen) < 400:
        k = int(np.argmax(far))
        chosen.append(k)
        far = np.minimum(far, np.linalg.norm(points - points[k], axis=1))
    return chosen


def lightened(draft: Draft, holes: list[Solid]) -> Solid:
    """The solid of a draft with lightening holes."""
    return difference(draft.solid(), [union(holes)] if holes else [])
