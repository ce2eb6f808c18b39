"""Parts larger than the printer, made in blocks: cut along their own axes, with holes for steel pins across the cuts.

And sections of solids across any direction: turned so that the direction is z, cut flat, and measured.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.arrays import Array
from bunraku.fabrication.checks import fits_printer
from bunraku.fabrication.shaping import Solid, bore, bounds, difference, moved, rod_frame
from bunraku.fabrication.skinned.pieces import Plane
from bunraku.fabrication.skinned.shell import bodies_of, cleaned

Section = Any
"""A manifold3d.CrossSection."""


def lying(solid: Solid, direction: ArrayLike) -> Solid:
    """A solid turned so that ``direction`` is z: x → Fᵀ x with F = rod_frame(direction)."""
    return moved(solid, rod_frame(direction).T, np.zeros(3))


def standing(solid: Solid, direction: ArrayLike) -> Solid:
    """What was turned by :func:`lying`, turned back."""
    return moved(solid, rod_frame(direction), np.zeros(3))


def section(solid: Solid, normal: ArrayLike, offset: float) -> Section:
    """The flat section of a solid with the plane ``normal`` · x = ``offset``, in the first two axes of rod_frame(normal)."""
    return lying(solid, normal).slice(offset)


def prism(flat: Section, normal: ArrayLike, start: float, end: float) -> Solid:
    """A section of that frame extruded from ``start`` to ``end`` along ``normal``."""
    import manifold3d

    low = manifold3d.Manifold.extrude(flat, end - start).translate([0.0, 0.0, start])
    return standing(low, normal)


def outlines(flat: Section) -> list[Array]:
    """The closed lines (k, 2) [mm] that bound a section."""
    return [np.asarray(line, dtype=float) for line in flat.to_polygons() if len(line) >= 3]


def girth(flat: Section) -> float:
    """The length [mm] of a rubber band around a section: the perimeter of its convex hull."""
    lines = outlines(flat.hull()) if not flat.is_empty() else []
    return sum(float(np.linalg.norm(line - np.roll(line, 1, axis=0), axis=1).sum()) for line in lines)


def distance_to_outline(points: Array, flat: Section) -> Array:
    """How far (n,) [mm] points (n, 2) are from the nearest outline of a section; inf when it has none."""
    nearest = np.full(len(points), np.inf)
    for line in outlines(flat):
        a, b = line, np.roll(line, -1, axis=0)
        way = b - a
        square = np.maximum((way * way).sum(axis=1), 1e-18)
        share = np.clip(((points[:, None] - a) * way).sum(axis=2) / square, 0.0, 1.0)
        apart = np.linalg.norm(points[:, None] - a - share[:, :, None] * way, axis=2).min(axis=1)
        nearest = np.minimum(nearest, apart)
    return nearest


def half_width(flat: Section) -> float:
    """The largest r [mm] by which a section can be made smaller all round before nothing is left of it."""
    import manifold3d

    low, high = 0.0, float(np.sqrt(max(flat.area(), 0.0) / np.pi)) + 1e-9
    for _ in range(12):
        middle = 0.5 * (low + high)
        if flat.offset(-middle, manifold3d.JoinType.Miter).area() > 1e-6:
            low = middle
        else:
            high = middle
    return low


def within(points: Array, flat: Section) -> NDArray[np.bool_]:
    """Which points (n, 2) are in a section: an odd number of outlines' edges to their right."""
    inside = np.zeros(len(points), dtype=bool)
    for line in outlines(flat):
        a, b = line, np.roll(line, -1, axis=0)
        y = points[:, 1:2]
        spans = (a[:, 1] > y) != (b[:, 1] > y)
        rise = np.where(np.abs(b[:, 1] - a[:, 1]) > 1e-12, b[:, 1] - a[:, 1], 1.0)
        right = points[:, :1] < a[:, 0] + (y - a[:, 1]) / rise * (b[:, 0] - a[:, 0])
        inside ^= (spans & right).sum(axis=1) % 2 == 1
    return inside


DOWEL = (4.0, 16.0)
"""Diameter and length [mm] of the steel pins across cuts."""
_MARGIN = 1.0


def local_size(solid: Solid, frame: Array) -> tuple[float, float, float]:
    """Lengths [mm] of a solid's box along the columns of ``frame``."""
    x, y, z = np.ptp(bounds(moved(solid, frame.T, np.zeros(3))), axis=0).tolist()
    return (x, y, z)


def numbers_of_blocks(size: tuple[float, float, float], printer: tuple[float, float, float]) -> tuple[int, int, int]:
    """Into how many blocks each length is cut: the longest length is laid along the printer's longest, and so on."""
    if fits_printer(size, printer):
        return (1, 1, 1)
    room = sorted(printer, reverse=True)
    numbers = [1, 1, 1]
    for rank, k in enumerate(np.argsort([-length for length in size])):
        numbers[int(k)] = int(np.ceil(size[int(k)] / (room[rank] - 2.0 * _MARGIN)))
    return (numbers[0], numbers[1], numbers[2])


def divided(solid: Solid, frame: Array, printer: tuple[float, float, float]) -> tuple[list[Solid], int]:
    """A part as blocks that fit the printer, and the number of pins between them."""
    size = local_size(solid, frame)
    counts = numbers_of_blocks(size, printer)
    if counts == (1, 1, 1):
        return [solid], 0
    blocks, pins = [solid], 0
    extent = bounds(moved(solid, frame.T, np.zeros(3)))
    room = sorted(printer, reverse=True)
    rank = {int(k): r for r, k in enumerate(np.argsort([-length for length in size]))}
    for k, count in enumerate(counts):
        levels = np.linspace(extent[0, k], extent[1, k], count + 1)[1:-1]
        slack = (room[rank[k]] - 2.0 * _MARGIN - size[k] / count) / 2.0
        planes = [_best(solid, Plane(frame[:, k], float(level)), slack) for level in levels]
        for plane in planes:
            drilled = []
            for block in blocks:
                drills = [bore(a, b, DOWEL[0] / 2.0 + 0.1) for a, b in _pins(block, plane)]
                pins += len(drills)
                drilled.append(difference(block, drills))
            blocks = drilled
        edges = [None, *planes, None]
        blocks = [piece for block in blocks for low, high in pairwise(edges) for piece in _between(block, low, high)]
    return blocks, pins


def _between(block: Solid, low: Plane | None, high: Plane | None) -> list[Solid]:
    if low is not None:
        block = low.above(block)
    if high is not None:
        block = high.flipped().above(block)
    if block.is_empty():
        return []
    block = cleaned(block, 5.0)
    whole = [part for part in block.decompose() if float(part.volume()) > 5.0]
    return [block] if len(whole) == 1 else whole


def _best(solid: Solid, plane: Plane, slack: float) -> Plane:
    """Of planes near to one, that which leaves the fewest parts."""
    tries = [plane] + [
        Plane(plane.normal, plane.offset + share * slack) for share in (0.3, -0.3, 0.6, -0.6, 0.9, -0.9) if slack > 1.0
    ]
    return min(tries, key=lambda each: sum(len(bodies_of(side.above(solid))) for side in (each, each.flipped())))


def _pins(block: Solid, plane: Plane) -> list[tuple[Array, Array]]:
    """Ends of pins across a plane, where there is material about them on both sides."""
    n, reach = plane.normal, DOWEL[1] / 2.0 + 0.5
    flats = [section(block, n, plane.offset + shift) for shift in (-reach, 0.0, reach)]
    if any(flat.is_empty() for flat in flats):
        return []
    spots = spots_in(flats[1], DOWEL[0] / 2.0 + 3.0, 30.0, 6)
    frame = rod_frame(n)
    pins = []
    for spot in spots:
        if all(within(spot[None], flat)[0] and distance_to_outline(spot[None], flat)[0] > DOWEL[0] / 2.0 + 1.5 for flat in flats):
            middle = frame @ np.array([*spot, plane.offset])
            pins.append((middle - reach * n, middle + reach * n))
    return pins[:4]


def spots_in(flat: Section, margin: float, spacing: float, count: int, step: float = 2.0) -> list[Array]:
    """Up to ``count`` places (2,) in a section, ``margin`` from its outlines, as far apart as can be and at least ``spacing``."""
    lines = outlines(flat)
    if not lines:
        return []
    corners = np.concatenate(lines)
    low, high = corners.min(axis=0), corners.max(axis=0)
    step = max(step, float(np.sqrt(np.prod(high - low) / 6000.0)))
    grid = np.stack(np.meshgrid(*(np.arange(a, b, step) for a, b in zip(low, high, strict=True))), axis=-1).reshape(-1, 2)
    grid = grid[within(grid, flat)] if len(grid) else grid
    spots = grid[distance_to_outline(grid, flat) > margin] if len(grid) else grid
    if not len(spots):
        return []
    chosen = [spots[int(np.argmax(np.linalg.norm(spots - spots.mean(axis=0), axis=1)))]]
    while len(chosen) < count:
        far = np.minimum.reduce([np.linalg.norm(spots - other, axis=1) for other in chosen])
        if far.max() < spacing:
            break
        chosen.append(spots[int(np.argmax(far))])
    return chosen
