"""Does a casting come out of its mould: draft of the surfaces, depth of undercuts, and how far the rubber must stretch over them.

A mould half that is drawn in the direction d slides off a surface of the casting of outward normal n where n · d > 0; where
n · d < 0 it is hooked. Rubber gives way: the core is drawn first, then the hollow skin is pressed inwards past what hooks it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.fabrication.shaping import Solid, rod_frame, triangles
from bunraku.fabrication.skinned.blocks import distance_to_outline, girth, half_width, lying, outlines, section

DRAFT = 1.0
"""The least draft [deg] that a rigid mould half should have."""
PEEL_STRAIN = 1.0
"""How far soft rubber may be stretched when it is peeled off a core or out of a half: to twice its length. Ours: casting rubbers of
this stiffness are sold with an elongation at break of 300 % and more."""
_SLICES = 28


@dataclass(frozen=True)
class Draw:
    """The figures of one mould half: drawn along ``direction`` (3,), the ``area`` [mm²] of the casting's surface in it.

    ``hooked`` and ``steep`` are the shares of it with negative draft and with less than DRAFT degrees (hooked not counted);
    ``depth`` [mm] is how far across the pull the rubber must give way, and ``strain`` that depth over half the width there.
    """

    direction: Array
    area: float
    hooked: float
    steep: float
    depth: float
    strain: float


def draw_figures(solid: Solid, direction: ArrayLike, level: float, formed_by_others: Sequence[tuple[Array, float]] = ()) -> Draw:
    """The figures of the half above ``direction`` · x = ``level`` that forms the casting ``solid`` (outer shape, no hollow).

    Faces in the planes ``formed_by_others`` (normal, offset), where the core or the other half is, do not count as surface.
    """
    d = np.asarray(direction, dtype=float)
    x, t = triangles(solid)
    a, b, c = (x[t[:, i]] for i in range(3))
    vector, middle = np.cross(b - a, c - a) / 2.0, (a + b + c) / 3.0
    area = np.linalg.norm(vector, axis=1)
    counts = (middle @ d > level) & (area > 1e-9)
    for normal, offset in formed_by_others:
        flat = np.stack([np.abs(p @ normal - offset) < 1e-3 for p in (a, b, c)]).all(axis=0)
        counts &= ~flat
    slope = np.divide(vector @ d, area, out=np.zeros_like(area), where=area > 0.0)
    total = float(area[counts].sum())
    hooked = float(area[counts & (slope < -1e-6)].sum())
    steep = float(area[counts & (slope >= -1e-6) & (slope < np.sin(np.radians(DRAFT)))].sum())
    depth, strain = undercut(solid, d, level)
    whole = max(total, 1e-9)
    return Draw(d, total, hooked / whole, steep / whole, depth, strain)


def undercut(solid: Solid, direction: ArrayLike, level: float) -> tuple[float, float]:
    """Depth [mm] and strain of the undercuts above ``direction`` · x = ``level`` when a half is drawn along ``direction``.

    P(h) being the section at height h and U(h) all that is above it, seen from above, mould material at h is hooked where U(h) is
    and P(h) is not. The depth is the largest distance of a point of U(h) from P(h): so far must the casting give way at h.
    """
    turned = lying(solid, direction)
    top = turned.bounding_box()[5]
    if top - level < 1e-3:
        return 0.0, 0.0
    heights = level + (top - level) * (np.arange(_SLICES) + 0.5) / _SLICES
    above, depth, strain = None, 0.0, 0.0
    for h in heights[::-1]:
        here = turned.slice(float(h))
        if above is not None and not above.is_empty() and not here.is_empty():
            beyond = above - here
            corners = outlines(beyond) if beyond.area() > 0.5 else []
            if corners:
                d = float(distance_to_outline(np.concatenate(corners), here).max())
                if d > depth:
                    depth, strain = d, d / max(half_width(here), 0.5)
        above = here if above is None else above + here
    return depth, strain


def path_stretch(core: Solid, path: Array, step: float = 4.0) -> float:
    """How far a skin is stretched when it is drawn off its core along ``path`` (k, 3) [mm], which starts at the opening.

    g(s) being the girth of the core at the length s, the core's part at s' > s comes out through the rubber that formed at s: the
    largest g(s') / g(s) - 1, not below 0. At a bend the shortest way round counts, over planes across the path from 40 mm before to
    40 mm after.
    """
    arc = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))])
    girths = []
    for s in np.arange(0.5 * step, arc[-1], step):
        place = _at(path, arc, float(s))
        ways = [
            _at(path, arc, float(s) + reach) - _at(path, arc, float(s) - 40.0 + reach) for reach in (0.0, 10.0, 20.0, 30.0, 40.0)
        ]
        around = [length for length in (_girth_at(core, place, way) for way in ways) if length > 0.0]
        if around:
            girths.append(min(around))
    if len(girths) < 2:
        return 0.0
    deepest = np.maximum.accumulate(np.array(girths)[::-1])[::-1]
    return float(max(0.0, (deepest / np.array(girths)).max() - 1.0))


def _at(path: Array, arc: Array, s: float) -> Array:
    return np.array([np.interp(s, arc, path[:, k]) for k in range(3)])


def _girth_at(core: Solid, place: Array, way: Array) -> float:
    """The girth of a solid about a place, across a way; 0 where it has nothing there."""
    length = float(np.linalg.norm(way))
    if length < 1.0:
        return 0.0
    w = way / length
    mark = (rod_frame(w).T @ place)[:2]
    parts = [part for part in section(core, w, float(place @ w)).decompose() if part.area() > 20.0]
    near = [(float(np.linalg.norm(np.concatenate(outlines(part)).mean(axis=0) - mark)), girth(part)) for part in parts]
    return min(near, default=(0.0, 0.0))[1]
