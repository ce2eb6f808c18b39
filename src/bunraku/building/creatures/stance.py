"""Where a surface nobody described stands: the branches of its skeleton line that are legs, its soles, where limbs begin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array, Indices
from bunraku.building.creatures.embed import LegCurve
from bunraku.building.creatures.mechanism import LEGS
from bunraku.errors import BadInput
from bunraku.geometry.shells.sections import enclosing_loop, section_loops
from bunraku.geometry.surfaces.distance import sampled, signed_distance
from bunraku.geometry.surfaces.isosurface import isosurface
from bunraku.geometry.surfaces.surface import Surface
from bunraku.geometry.surfaces.topology import components

_ACROSS = (np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]))
_DOWN = np.array([0.0, 0.0, 1.0])
FLAT = 1e-6
"""Heights below the ground are multiplied by this."""
SWOLLEN = 1.4
"""Where the cross-section of a leg is this much larger than in its middle, it is foot or torso."""


@dataclass(frozen=True)
class StandingLeg:
    """A leg that stands: its ``curve`` to the middle of the sole, its ``radius`` [m], that of the circle round its ``sole`` [m].

    ``top`` and ``bottom`` are the fractions of the curve between which it is a limb: below the torso, above the foot.
    """

    curve: LegCurve
    radius: float
    sole: float
    top: float
    bottom: float


def flat_footed(surface: Surface, legs: tuple[LegCurve, ...]) -> Surface:
    """The surface standing on z = 0 on flat soles with upright rims and smooth outlines.

    It is cut a little above its lowest place, where flat faces there cover as much as half of the cross-section of each leg, and by
    more than half of a leg's radius where it stands on round feet. Towards the cut a foot's outline goes over to the ellipse of
    the same second moments, which goes straight down below it; the surface is sampled anew so, and what is below the cut pressed
    flat.
    """
    low = float(surface.bounds[0, 2])
    r = min(_radius(surface, leg) for leg in legs)
    down = surface.face_normals()[:, 2] < -0.99
    flat = surface.corners[:, :, 2].max(axis=1) < low + 1e-3 * surface.size
    standing = min(_by_foot(surface, down & flat, legs)) > 0.5 * np.pi * r**2
    step = float(np.clip(surface.size / 220.0, 0.002, 0.01))
    cut = low + (max(0.2 * r, step) if standing else 0.6 * r)
    floor = cut - 2.3 * step
    feet = [_foot_ellipse(surface, leg, cut) for leg in legs]

    def field(points: Array) -> Array:
        lifted = points.copy()
        lifted[:, 2] = np.maximum(points[:, 2], cut)
        values = signed_distance(surface, lifted)
        share = np.clip((cut + 0.9 * r - points[:, 2]) / (0.5 * r), 0.0, 1.0)
        for center, axes, half in feet:
            q = ((points[:, :2] - center) @ axes) / half
            k0, k1 = np.linalg.norm(q, axis=1), np.linalg.norm(q / half, axis=1)
            near = (share > 0.0) & (k0 < 1.5) & (k0 > 1e-6)
            ellipse = k0[near] * (k0[near] - 1.0) / k1[near]
            values[near] = (1.0 - share[near]) * values[near] + share[near] * ellipse
        return np.maximum(values, floor - points[:, 2])

    bounds = surface.bounds
    lower = np.append(bounds[0, :2] - 3.3 * step, floor - 3.3 * step)
    grid = sampled(field, lower, bounds[1] + 3.3 * step, step, band=3.0 * step, slope=2.0)
    mesh = isosurface(grid.values, origin=grid.origin, spacing=step)
    z = mesh.vertices[:, 2] - cut
    return Surface(np.column_stack([mesh.vertices[:, :2], np.where(z < 0.0, FLAT * z, z)]), mesh.faces)


def _foot_ellipse(surface: Surface, leg: LegCurve, height: float) -> tuple[Array, Array, Array]:
    """The ellipse of a foot's cross-section: centre (2,), axes (2, 2) as columns, half axes (2,) [m], by its second moments."""
    loops = section_loops(surface.vertices, surface.faces, np.array([0.0, 0.0, height]), _DOWN)
    if not loops:
        raise BadInput(f"the surface has no cross-section {height:.3f} m above the ground; let it stand on its feet")
    end = leg.at(1.0)[:2]
    loop = min(loops, key=lambda part: float(np.linalg.norm(part.points[:, :2].mean(axis=0) - end))).points[:, :2]
    p, q = loop, np.roll(loop, -1, axis=0)
    cross = p[:, 0] * q[:, 1] - q[:, 0] * p[:, 1]
    area = 0.5 * cross.sum()
    center = ((p + q) * cross[:, None]).sum(axis=0) / (6.0 * area)
    p, q = p - center, q - center
    cross = p[:, 0] * q[:, 1] - q[:, 0] * p[:, 1]
    outer = p[:, :, None] * p[:, None, :] + q[:, :, None] * q[:, None, :]
    outer = outer + 0.5 * (p[:, :, None] * q[:, None, :] + q[:, :, None] * p[:, None, :])
    moments, axes = np.linalg.eigh((outer * cross[:, None, None]).sum(axis=0) / (12.0 * area))
    return center, axes, 2.0 * np.sqrt(np.maximum(moments, 1e-12))


def leg_stance(surface: Surface, leg: LegCurve) -> StandingLeg:
    """How a leg of a flat-footed surface stands on z = 0."""
    center, sole = _sole(surface, leg)
    r = _radius(surface, leg)
    heights = np.linspace(0.02, 0.95, 40) * float(leg.points[0, 2])
    places, areas = [], []
    for z in heights:
        place = np.array([np.interp(z, leg.points[::-1, 2], leg.points[::-1, k]) for k in range(2)] + [z])
        loops = section_loops(surface.vertices, surface.faces, place, _DOWN)
        loop = enclosing_loop(loops, place, *_ACROSS)
        areas.append(np.nan if loop is None else _area(loop.points))
        places.append(place if loop is None else loop.points.mean(axis=0))
    size = np.array(areas)
    middle = float(np.nanmedian(size[8:24]))
    swollen = ~(size < SWOLLEN * middle)
    foot = [k for k in range(16) if swollen[k]]
    bottom = (foot[-1] + 1) if foot else 0
    trunk = [k for k in range(max(bottom + 1, 12), 40) if swollen[k]]
    top = trunk[0] - 1 if trunk else 39
    if heights[top] - heights[bottom] < 3.0 * r:
        raise BadInput(
            f"leg {leg.name} is a limb for {heights[top] - heights[bottom]:.3f} m only, with a radius of {r:.3f} m; three joints "
            "need longer or thinner legs"
        )
    above = leg.points[leg.points[:, 2] > heights[top] + 0.5 * r]
    line = np.vstack([above, np.array(places)[bottom : top + 1][::-1], center])
    curve = LegCurve(leg.name, _smooth(line))
    arc = np.linspace(0.0, 1.0, 400)
    z = np.array([curve.at(s)[2] for s in arc])
    start = float(arc[int(np.argmax(z <= heights[top]))])
    end = float(arc[int(np.argmax(z <= heights[bottom]))])
    return StandingLeg(curve, r, sole, start, end)


def _smooth(line: Array) -> Array:
    x = line.copy()
    for _ in range(2):
        x[1:-1] = 0.5 * x[1:-1] + 0.25 * (x[:-2] + x[2:])
    return x


def _radius(surface: Surface, leg: LegCurve) -> float:
    """The radius of a leg: median distance of the surface from the lower part of its middle line, the foot left out."""
    points = np.array([leg.at(s) for s in np.linspace(0.45, 0.8, 12)])
    return float(np.median(-signed_distance(surface, points)))


def _by_foot(surface: Surface, chosen: NDArray[np.bool_], legs: tuple[LegCurve, ...]) -> list[float]:
    middle, area = surface.corners.mean(axis=1)[chosen], surface.face_areas()[chosen]
    ends = np.array([leg.at(1.0) for leg in legs])
    if not len(middle):
        return [0.0] * len(legs)
    nearest = np.linalg.norm(middle[:, None, :2] - ends[:, :2], axis=2).argmin(axis=1)
    return [float(area[nearest == k].sum()) for k in range(len(legs))]


def _sole(surface: Surface, leg: LegCurve) -> tuple[Array, float]:
    """The middle of the flat underside of a foot and the distance of the farthest of its vertices."""
    flat = (surface.face_normals()[:, 2] < -0.9) & (surface.corners[:, :, 2].max(axis=1) < 1e-4 * surface.size)
    if not flat.any():
        raise BadInput(f"leg {leg.name} has no flat sole on the ground; cut the feet flat")
    piece = components(surface.faces[flat])
    area, middle = surface.face_areas()[flat], surface.corners.mean(axis=1)[flat]
    whole = np.bincount(piece, weights=area)
    centers = np.column_stack([np.bincount(piece, weights=area * middle[:, k]) / whole for k in range(2)])
    away = np.linalg.norm(centers - leg.at(1.0)[:2], axis=1)
    k = int(np.argmin(np.where(whole > 0.3 * whole.max(), away, np.inf)))
    far = np.linalg.norm(surface.vertices[np.unique(surface.faces[flat][piece == k])][:, :2] - centers[k], axis=1).max()
    return np.append(centers[k], 0.0), float(far)


def _area(points: Array) -> float:
    x, y = points[:, 0], points[:, 1]
    return 0.5 * abs(float((x * np.roll(y, -1) - np.roll(x, -1) * y).sum()))


FOOT = 0.35
"""A foot is lower than this part of the height at which its leg leaves the trunk."""


def find_legs(nodes: Array, edges: Indices, *, ground: float, resample: int = 24) -> tuple[LegCurve, ...]:
    """The legs LF, RF, LH, RH of a skeleton line: ``nodes`` (k, 3) [m] joined by ``edges`` (e, 2), z up.

    The four lowest ends are feet; refused when one hangs in the air, as a tail does. A leg's curve is the way from its foot to the
    next branching point, smoothed, from the trunk downward, and goes straight down from its end to the ``ground`` [m]. Fore and
    hind are told by the long horizontal direction of the feet, which must be nearer to x than to y.
    """
    paths = leg_paths(nodes, edges)
    ends = np.array([nodes[path[0]] for path in paths])
    hips = np.array([nodes[path[-1]] for path in paths])
    standing = ends[:, 2] - ground < FOOT * (hips[:, 2] - ground)
    if not standing.all():
        x, y, z = ends[int(np.argmin(standing))] - np.array([0.0, 0.0, ground])
        raise BadInput(
            f"the surface has {int(standing.sum())} legs that reach the ground, the next limb ends {z:.3f} m above it at "
            f"({x:.2f}, {y:.2f}) m; a creature stands on four, z up"
        )
    middle = ends[:, :2].mean(axis=0)
    fore, left = ends[:, 0] >= middle[0], ends[:, 1] >= middle[1]
    names = [f"{'L' if is_left else 'R'}{'F' if is_fore else 'H'}" for is_fore, is_left in zip(fore, left, strict=True)]
    if set(names) != set(LEGS):
        where = ", ".join(f"({x:.2f}, {y:.2f})" for x, y in ends[:, :2])
        raise BadInput(f"the feet at {where} m are not one in each quarter about their middle; turn the surface so that it faces x")
    curves = {}
    for name, path in zip(names, paths, strict=True):
        line = _smoothed(nodes[path[::-1]], resample)
        foot = line[-1] * np.array([1.0, 1.0, 0.0]) + np.array([0.0, 0.0, ground])
        curves[name] = LegCurve(name, np.vstack([line, foot]) if line[-1, 2] - ground > 1e-6 else line)
    return tuple(curves[name] for name in LEGS)


def leg_paths(nodes: Array, edges: Indices) -> list[list[int]]:
    """The node numbers from each of the four lowest ends of a line up to its next branching point."""
    near: list[list[int]] = [[] for _ in range(len(nodes))]
    for a, b in np.asarray(edges).tolist():
        near[a].append(b)
        near[b].append(a)
    leaves = [k for k, others in enumerate(near) if len(others) == 1]
    if len(leaves) < 4:
        raise BadInput(
            f"the skeleton line has {len(leaves)} ends; a creature with four legs has at least 4: use a surface with four feet"
        )
    feet = sorted(leaves, key=lambda k: float(nodes[k, 2]))[:4]
    return [_to_branch(near, foot) for foot in feet]


def _to_branch(near: Sequence[Sequence[int]], foot: int) -> list[int]:
    path, before, here = [foot], -1, foot
    while len(near[here]) <= 2:
        onward = [k for k in near[here] if k != before]
        if not onward:
            break
        before, here = here, onward[0]
        path.append(here)
    return path


def _smoothed(line: Array, count: int) -> Array:
    """A line resampled at equal steps, and smoothed three times by halves with its ends kept."""
    arc = np.concatenate([[0.0], np.cumsum([float(np.linalg.norm(q - p)) for p, q in pairwise(line)])])
    if arc[-1] <= 0.0:
        raise BadInput("a leg of the skeleton line has no length; contract the surface less")
    s = np.linspace(0.0, arc[-1], count)
    x = np.column_stack([np.interp(s, arc, line[:, k]) for k in range(3)])
    for _ in range(3):
        x[1:-1] = 0.5 * x[1:-1] + 0.25 * (x[:-2] + x[2:])
    return x
