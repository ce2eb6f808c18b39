"""Footing on terrain: standing poses on slopes, footholds away from edges, higher swings over what is not even.

Plans see the ground smoothed: an edge becomes a ramp of `WIDTH` to each side, over which swinging feet pass. No foot stands there,
so where feet stand the smoothed ground is the ground.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.mechanics.centroidal.kinematics import center_of_mass, contact_points, kinematics
from bunraku.mechanics.centroidal.model import CentroidalModel
from bunraku.motion import HeightField
from bunraku.performers.locomotion.plan import MotionPlan
from bunraku.performers.locomotion.problem import MotionProblem, Waypoint

WIDTH = 0.03
"""Edges are smoothed over this length [m] to each side."""

EVEN = 0.001
"""Ground that leaves its plane by less than this [m] under and around a foot is even."""

AROUND = WIDTH + 0.01
"""What lies this far [m] beyond the radius of a foot must be even too: smoothed edges, and what a ball rolls in stance."""

FARTHEST = 0.08
"""A foothold moves at most this far [m]."""

TO_FOOTHOLD = 1000.0
"""Weight [1/m²] of the way to a foothold, along the way; across it feet stand where they like."""


@dataclass(frozen=True)
class Foothold:
    """End effector ``tip`` stands at ``place`` (x, y) [m] from sample ``first`` to ``last``, on flat ground at ``flat``.

    ``way``: the direction (2,) of the motion, along which footholds are moved.
    """

    tip: int
    first: int
    last: int
    flat: tuple[float, float]
    place: tuple[float, float]
    way: tuple[float, float]


def smoothed(terrain: HeightField) -> HeightField:
    """The ground averaged over squares of half the side `WIDTH` [m]; planes stay what they are. Coarser ground is left alone."""
    m = int(WIDTH / terrain.spacing + 1e-9)
    if m < 1:
        return terrain
    heights = np.pad(terrain.heights, 2 * m, mode="edge")
    for axis in (0, 1):
        windows = np.lib.stride_tricks.sliding_window_view(heights, 2 * m + 1, axis=axis)
        heights = windows.mean(axis=-1)
    x, y = terrain.origin
    return HeightField((x - m * terrain.spacing, y - m * terrain.spacing), terrain.spacing, heights)


def standing_pose(model: CentroidalModel, terrain: HeightField, pose: Array) -> Array:
    """A pose (nq,) made on flat ground, turned and lifted as a whole onto the plane under its end effectors.

    The plane z = a + b x + c y fits the ground's heights below them; the base keeps its x, y over the point of the plane that it
    stood over and its heading, its up direction becomes the plane's normal.
    """
    feet = contact_points(model, pose)[:, :2]
    rows = np.column_stack([np.ones(len(feet)), feet - pose[:2]])
    a, b, c = np.linalg.lstsq(rows, terrain.height(feet[:, 0], feet[:, 1]), rcond=None)[0]
    normal = np.array([-b, -c, 1.0]) / np.sqrt(1.0 + b * b + c * c)
    cy, sy = np.cos(pose[3]), np.sin(pose[3])
    ahead, left = cy * normal[0] + sy * normal[1], -sy * normal[0] + cy * normal[1]
    out = np.array(pose)
    out[:3] = np.array([pose[0], pose[1], a]) + pose[2] * normal
    out[4] += np.arctan2(ahead, normal[2])
    out[5] += -np.arcsin(left)
    return out


def moved_standing(model: CentroidalModel, terrain: HeightField, distance: tuple[float, float], turn: float) -> Array:
    """The home pose turned and moved so that, standing on the ground there, its centre of mass is ``distance`` [m] away."""
    pose = model.home.copy()
    start = center_of_mass(model, standing_pose(model, terrain, pose))[:2]
    pose[3] += turn
    for _ in range(30):
        off = start + np.array(distance) - center_of_mass(model, standing_pose(model, terrain, pose))[:2]
        pose[:2] += off
        if np.abs(off).max() < 1e-13:
            break
    return standing_pose(model, terrain, pose)


def unevenness(terrain: HeightField, x: float, y: float, around: float) -> float:
    """How far [m] the ground within ``around`` [m] of a place leaves the plane that fits it best."""
    u = np.linspace(-around, around, 9)
    X, Y = np.meshgrid(u, u, indexing="ij")
    inside = np.hypot(X, Y) <= around + 1e-12
    X, Y = X[inside], Y[inside]
    z = terrain.height(x + X, y + Y)
    rows = np.column_stack([np.ones(len(X)), X, Y])
    return float(np.abs(z - rows @ np.linalg.lstsq(rows, z, rcond=None)[0]).max())


def footholds(flat: MotionPlan, problem: MotionProblem, terrain: HeightField) -> tuple[Foothold, ...]:
    """Where the feet of a plan for flat ground stand, brought to the nearest even ground along the way; numbered as ``problem``."""
    model = problem.model
    seen = kinematics(model, flat.q)
    ratio = (flat.problem.samples - 1) / (problem.samples - 1)
    way = flat.q[-1, :2] - flat.q[0, :2]
    way = way / max(float(np.linalg.norm(way)), 1e-9)
    holds = []
    for j in range(model.n_tips):
        around = float(model.tips.radius[j]) + AROUND
        for first, last in _stances(problem.contacts[:, j]):
            middle = round(0.5 * (first + last) * ratio)
            x, y = (float(part) for part in seen.contact[middle, j, :2])
            best = (x, y)
            for off in sorted(np.arange(-FARTHEST, FARTHEST + 1e-9, 0.0025), key=abs):
                place = (float(x + off * way[0]), float(y + off * way[1]))
                if unevenness(terrain, *place, around) < EVEN:
                    best = place
                    break
            holds.append(Foothold(j, first, last, (x, y), best, (float(way[0]), float(way[1]))))
    return tuple(holds)


def footed(problem: MotionProblem, holds: tuple[Foothold, ...], terrain: HeightField) -> MotionProblem:
    """The problem with waypoints at the footholds near uneven ground, and swings raised by twice what the ground bumps there."""
    waypoints, heights = list(problem.waypoints), problem.heights.copy()
    for hold in holds:
        moved = hold.place != hold.flat
        near = unevenness(terrain, *hold.place, FARTHEST + AROUND) > EVEN
        if (moved or near) and hold.first > 0 and hold.last < problem.samples - 1:
            place = (hold.place[0], hold.place[1], 0.0)
            weight = (TO_FOOTHOLD * abs(hold.way[0]), TO_FOOTHOLD * abs(hold.way[1]), 0.0)
            waypoints.append(Waypoint((hold.first + hold.last) // 2, 0.0, hold.tip, place, weight))
        after = next((other for other in holds if other.tip == hold.tip and other.first > hold.last), None)
        if after is not None:
            rise = _bump(terrain, hold.place, after.place)
            swing = slice(hold.last + 1, after.first)
            top = float(heights[swing, hold.tip].max(initial=0.0))
            if rise > EVEN and top > 0.0:
                heights[swing, hold.tip] *= (top + 2.0 * rise) / top
    return dataclasses.replace(problem, waypoints=tuple(waypoints), heights=heights)


def lifted(problem: MotionProblem, z: Array) -> Array:
    """Unknowns ``z`` of a motion on flat ground with every pose put onto the ground of the problem."""
    out = z.copy()
    if problem.terrain is not None:
        v, nq = out[:-3].reshape(problem.samples, -1), problem.model.nq
        for row in v:
            row[:nq] = standing_pose(problem.model, problem.terrain, row[:nq].copy())
    return out


def _stances(touching: NDArray[np.int64]) -> list[tuple[int, int]]:
    """First and last sample of each time on the ground."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], touching, [0]])))
    return [(int(a), int(b) - 1) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def _bump(terrain: HeightField, start: tuple[float, float], end: tuple[float, float]) -> float:
    """How far [m] the ground below the straight way between two places leaves the straight line between them."""
    u = np.linspace(0.0, 1.0, 41)
    z = terrain.height(start[0] + u * (end[0] - start[0]), start[1] + u * (end[1] - start[1]))
    return float(np.abs(z - (z[0] + u * (z[-1] - z[0]))).max())
