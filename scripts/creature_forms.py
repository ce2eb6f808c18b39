"""The three built-in creatures as implicit bodies, with the middle lines of their legs: a beetle, a monster with a tail, a lizard.

Sizes are those of the study they answer to: the monster 0.646 x 0.27 x 0.485 m, the lizard 1.25 x 0.47 x 0.46 m; the beetle about
half a metre. x forward, y left, z up; the soles stand on z = 0. A field is a signed distance, negative inside: points (n, 3) in,
distances (n,) out [m].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.building.creatures.embed import CreatureSizes, LegCurve
from bunraku.building.creatures.stance import FLAT
from bunraku.geometry.surfaces.distance import sampled
from bunraku.geometry.surfaces.isosurface import isosurface
from bunraku.geometry.surfaces.surface import Surface

Field = Callable[[Array], Array]


def round_cone(start: ArrayLike, end: ArrayLike, r1: float, r2: float) -> Field:
    """The hull of a ball of radius r1 at ``start`` and one of radius r2 at ``end``; a capsule where r1 = r2.

    With l the distance of the centres, sin β = (r1 - r2) / l, s the place of a point along the line, h its distance from it: the
    foot of the slanted side is at t = (s - h tan β) / l, cut to [0, 1], the distance √((s - t l)² + h²) - r1 - t (r2 - r1).
    """
    a, b = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    length = max(float(np.linalg.norm(b - a)), 1e-12)
    axis = (b - a) / length
    slope = np.clip((r1 - r2) / length, -0.999, 0.999)
    lean = slope / np.sqrt(1.0 - slope**2)

    def distance(points: Array) -> Array:
        offset = points - a
        s = offset @ axis
        h = np.sqrt(np.maximum((offset * offset).sum(axis=1) - s * s, 0.0))
        t = np.clip((s - h * lean) / length, 0.0, 1.0)
        return np.hypot(s - t * length, h) - (r1 + t * (r2 - r1))

    return distance


def chain(points: ArrayLike, radii: Sequence[float]) -> Field:
    """Round cones from point to point (n, 3), their union."""
    p = np.asarray(points, dtype=float)
    parts = [round_cone(p[k], p[k + 1], radii[k], radii[k + 1]) for k in range(len(p) - 1)]
    return lambda x: np.minimum.reduce([part(x) for part in parts])


def ellipsoid(center: ArrayLike, half: ArrayLike) -> Field:
    """An ellipsoid of half axes a: |q| (|q| - 1) / |q / a|, with q = (x - c) / a; exact on the surface, near it to first order."""
    c, a = np.asarray(center, dtype=float), np.asarray(half, dtype=float)

    def distance(points: Array) -> Array:
        q = (points - c) / a
        k0 = np.linalg.norm(q, axis=1)
        k1 = np.maximum(np.linalg.norm(q / a, axis=1), 1e-9)
        return np.where(k0 > 1e-6, k0 * (k0 - 1.0) / k1, -float(a.min()))

    return distance


def smooth_union(parts: Sequence[Field], blend: float) -> Field:
    """The union with fillets: pairwise min(a, b) - max(k - |a - b|, 0)² / (4 k), less than min where |a - b| < k."""

    def distance(points: Array) -> Array:
        found = parts[0](points)
        for part in parts[1:]:
            other = part(points)
            close = np.maximum(blend - np.abs(found - other), 0.0)
            found = np.minimum(found, other) - close * close / (4.0 * blend)
        return found

    return distance


def above(body: Field, height: float = 0.0) -> Field:
    """What of a body is above z = ``height``: its underside becomes flat."""
    return lambda x: np.maximum(body(x), height - x[:, 2])


@dataclass(frozen=True)
class Form:
    """A creature's outside: its ``field`` (signed distance), the box it lies in (lower and upper corner), its legs and measures."""

    name: str
    template: str
    field: Field
    lower: Array
    upper: Array
    legs: tuple[LegCurve, ...]
    measures: CreatureSizes


def _four(fore: Array, hind: Array, joints: tuple[tuple[float, ...], tuple[float, ...]]) -> tuple[LegCurve, ...]:
    """The legs LF, RF, LH, RH from the left ones."""
    mirror = np.array([1.0, -1.0, 1.0])
    curves = (("LF", fore, 0), ("RF", fore * mirror, 0), ("LH", hind, 1), ("RH", hind * mirror, 1))
    return tuple(LegCurve(name, points, joints[which]) for name, points, which in curves)


def _marks(points: Array, which: tuple[int, ...]) -> tuple[float, ...]:
    """Fractions of the length at which some corners of a line lie."""
    arc = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    return tuple(float(arc[k] / arc[-1]) for k in which)


def _sprawled(hip: Array, azimuth: float, slope: float, inward: float, upper: float, ankle: float) -> Array:
    """Corners of a sprawled leg: root in the torso, hip, knee, ankle, sole; outward and down by ``slope``, then straight down."""
    outward = np.array([np.cos(azimuth) * np.cos(slope), np.sin(azimuth) * np.cos(slope), -np.sin(slope)])
    knee = hip + upper * outward
    foot = knee * np.array([1.0, 1.0, 0.0])
    return np.array([hip - inward * outward, hip, knee, foot + np.array([0.0, 0.0, ankle]), foot])


def _limb(leg: LegCurve, radius: float, knob: float) -> Field:
    """The flesh of a leg: round, thicker about its joints, where servo and yoke turn; it goes on below the ground.

    ``knob`` is the radius of the balls at the joints that are outside the torso.
    """
    points = leg.points.copy()
    points[-1, 2] -= 0.05
    knobs = [ellipsoid(point, (knob, knob, knob)) for point in leg.points[-4:-1]]
    return smooth_union([chain(points, (radius,) * len(points)), *knobs], 0.008)


def beetle_form() -> Form:
    """A beetle 0.55 m long: a domed back, a head with a stub horn, four sprawled legs."""
    r = 0.033
    fore = _sprawled(np.array([0.140, 0.110, 0.200]), np.radians(48.0), np.radians(35.0), 0.07, 0.095, 0.052)
    hind = fore * np.array([-1.0, 1.0, 1.0])
    legs = _four(fore, hind, (_marks(fore, (1, 2, 3)), _marks(hind, (1, 2, 3))))
    torso = [
        ellipsoid((0.0, 0.0, 0.237), (0.175, 0.097, 0.072)),
        ellipsoid((-0.16, 0.0, 0.240), (0.090, 0.062, 0.056)),
        ellipsoid((0.20, 0.0, 0.232), (0.070, 0.060, 0.050)),
        chain([(0.235, 0.0, 0.250), (0.285, 0.0, 0.290)], (0.026, 0.018)),
    ]
    limbs = [_limb(leg, r, 0.042) for leg in legs]
    field = above(smooth_union([*torso, *limbs], 0.03), -0.006)
    center, size = np.array([0.0, 0.0, 0.235]), np.array([0.25, 0.12, 0.09])
    measures = CreatureSizes(r, r, (center, size), ((center, np.array([0.11, 0.075, 0.05])),), fold_length=0.048)
    return Form("beetle", "beetle", field, np.array([-0.30, -0.26, -0.03]), np.array([0.33, 0.26, 0.34]), legs, measures)


def monster_form() -> Form:
    """A monster 0.65 m long and 0.49 m high on four bent legs below its body, with a tail and a belly."""
    r = 0.040
    corners = [(0.115, 0.31), (0.115, 0.270), (0.115, 0.218), (0.087, 0.14), (0.115, 0.057), (0.115, 0.0)]
    fore = np.array([(x, 0.09, z) for x, z in corners])
    hind = fore * np.array([-1.0, 1.0, 1.0])
    legs = _four(fore, hind, (_marks(fore, (1, 2, 3, 4)), _marks(hind, (1, 2, 3, 4))))
    torso = [
        ellipsoid((-0.01, 0.0, 0.352), (0.205, 0.112, 0.094)),
        ellipsoid((0.185, 0.0, 0.405), (0.092, 0.075, 0.080)),
        chain([(-0.150, 0.0, 0.345), (-0.270, 0.0, 0.300), (-0.342, 0.0, 0.285)], (0.070, 0.042, 0.028)),
    ]
    limbs = [_limb(leg, r, 0.047) for leg in legs]
    field = above(smooth_union([*torso, *limbs], 0.03), -0.006)
    center, size = np.array([0.0, 0.0, 0.345]), np.array([0.27, 0.15, 0.11])
    measures = CreatureSizes(r, r, (center, size), ((center, np.array([0.20, 0.10, 0.09])),), fold_length=0.048)
    return Form("monster", "monster", field, np.array([-0.40, -0.18, -0.03]), np.array([0.31, 0.18, 0.52]), legs, measures)


def lizard_form() -> Form:
    """A lizard 1.25 m long, its head raised and its tail trailing, on four sprawled legs."""
    r = 0.040
    fore = _sprawled(np.array([0.190, 0.134, 0.202]), np.radians(75.0), np.radians(30.0), 0.085, 0.090, 0.060)
    fore = np.insert(fore, 1, fore[1] + 0.62 * (fore[0] - fore[1]), axis=0)
    hind = fore * np.array([-1.0, 1.0, 1.0])
    legs = _four(fore, hind, (_marks(fore, (1, 2, 3, 4)), _marks(hind, (1, 2, 3, 4))))
    torso = [
        chain([(0.23, 0.0, 0.235), (0.0, 0.0, 0.230), (-0.23, 0.0, 0.235)], (0.086, 0.086, 0.086)),
        chain([(0.22, 0.0, 0.240), (0.33, 0.0, 0.300), (0.40, 0.0, 0.375)], (0.080, 0.062, 0.055)),
        ellipsoid((0.445, 0.0, 0.400), (0.105, 0.066, 0.060)),
        chain([(-0.23, 0.0, 0.235), (-0.42, 0.0, 0.185), (-0.56, 0.0, 0.150), (-0.672, 0.0, 0.165)], (0.082, 0.060, 0.042, 0.028)),
    ]
    limbs = [_limb(leg, r, 0.047) for leg in legs]
    field = above(smooth_union([*torso, *limbs], 0.03), -0.006)
    center, size = np.array([0.0, 0.0, 0.235]), np.array([0.46, 0.11, 0.11])
    spine = np.array([0.0, 0.0, 0.230])
    bay = np.array([0.125, 0.08, 0.08])
    bays = ((np.array([0.122, 0.0, 0.235]), bay), (np.array([-0.122, 0.0, 0.235]), bay))
    measures = CreatureSizes(r, r, (center, size), bays, fold_length=0.048, spine=spine)
    return Form("lizard", "lizard", field, np.array([-0.74, -0.29, -0.03]), np.array([0.60, 0.29, 0.49]), legs, measures)


FORMS = {"beetle": beetle_form, "monster": monster_form, "lizard": lizard_form}
"""The forms of the built-in creatures by name."""


def form_surface(form: Form, spacing: float = 0.005) -> Surface:
    """The surface of a form on a grid of ``spacing`` [m].

    A grid rounds the rim of a sole by one cell. So a form is cut a little more than that below the ground, and what is below it is
    pressed flat into its plane: the rim is then as sharp as the leg is straight there.
    """
    grid = sampled(form.field, form.lower, form.upper, spacing, band=3.0 * spacing)
    found = isosurface(grid.values, origin=grid.origin, spacing=grid.spacing)
    vertices = found.vertices.copy()
    vertices[:, 2] = np.where(vertices[:, 2] < 0.0, FLAT * vertices[:, 2], vertices[:, 2])
    return Surface(vertices, found.faces)
