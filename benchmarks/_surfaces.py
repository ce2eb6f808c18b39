"""Surfaces made from formulas: boxes, spheres and tori to compare with closed forms, trees of tubes, and creatures by a seed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.geometry.surfaces.distance import sampled
from bunraku.geometry.surfaces.isosurface import isosurface
from bunraku.geometry.surfaces.surface import Surface

Function = Callable[[Array], Array]


@dataclass(frozen=True)
class RoundLimb:
    """A chain of ``points`` (k, 3) [m] with a ``radii`` (k,) [m] around each: round cones from point to point."""

    points: Array
    radii: Array

    def distance(self, at: Array) -> Array:
        """About the signed distance (n,) of places (n, 3): the least over its cones of |x - c| - r at the closest place c."""
        found = np.full(len(at), np.inf)
        for a, b, ra, rb in zip(self.points[:-1], self.points[1:], self.radii[:-1], self.radii[1:], strict=True):
            s = np.clip((at - a) @ (b - a) / max(float((b - a) @ (b - a)), 1e-30), 0.0, 1.0)
            found = np.minimum(found, np.linalg.norm(at - a - s[:, None] * (b - a), axis=1) - (ra + s * (rb - ra)))
        return found


def box(size: ArrayLike) -> Surface:
    """A box of ``size`` (3,) [m] around the origin: 8 vertices, 12 faces."""
    corners = np.array([[i, j, k] for i in (-0.5, 0.5) for j in (-0.5, 0.5) for k in (-0.5, 0.5)]) * np.asarray(
        size, dtype=np.float64
    )
    sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return Surface(corners, np.array([[a, b, c] for s in sides for a, b, c in ((s[0], s[1], s[2]), (s[0], s[2], s[3]))]))


def sphere(radius: float, divisions: int) -> Surface:
    """A sphere: the 8 sides of an octahedron, each divided into ``divisions``² triangles, all vertices at ``radius`` [m]."""
    n = divisions
    rows = [(i, j) for i in range(n + 1) for j in range(n + 1 - i)]
    number = {row: index for index, row in enumerate(rows)}
    weights = np.array([(i, j, n - i - j) for i, j in rows]) / n
    up = [(number[i, j], number[i + 1, j], number[i, j + 1]) for i, j in rows if i + j < n]
    down = [(number[i + 1, j], number[i + 1, j + 1], number[i, j + 1]) for i, j in rows if i + j < n - 1]
    points, faces = [], []
    for number_of, signs in enumerate(np.array([[x, y, z] for x in (1, -1) for y in (1, -1) for z in (1, -1)])):
        points.append(weights * signs)
        own = np.array(up + down)
        faces.append((own if np.prod(signs) > 0 else own[:, ::-1]) + number_of * len(rows))
    flat, place = np.unique(np.round(np.concatenate(points) * n).astype(np.int64), axis=0, return_inverse=True)
    # Equal angles along the edges instead of equal lengths make the triangles more alike.
    even = np.sin(0.5 * np.pi * flat / n)
    return Surface(radius * even / np.linalg.norm(even, axis=1, keepdims=True), np.asarray(place).ravel()[np.concatenate(faces)])


def torus(large: float, small: float, around: int, across: int) -> Surface:
    """A torus around z: a circle of radius ``small`` carried along one of ``large`` [m]; ``around`` x ``across`` vertices."""
    u, v = np.meshgrid(2 * np.pi * np.arange(around) / around, 2 * np.pi * np.arange(across) / across, indexing="ij")
    ring = large + small * np.cos(v)
    points = np.stack([ring * np.cos(u), ring * np.sin(u), small * np.sin(v)], axis=-1).reshape(-1, 3)
    i, j = (grid.ravel() for grid in np.meshgrid(np.arange(around), np.arange(across), indexing="ij"))
    a, b = i * across + j, (i + 1) % around * across + j
    c, d = (i + 1) % around * across + (j + 1) % across, i * across + (j + 1) % across
    return Surface(points, np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)]))


def limbs_distance(limbs: Sequence[RoundLimb], *, blend: float, ripple: Function | None = None) -> Function:
    """A function that is negative inside limbs grown together, of places (n, 3).

    Two limbs join by the smooth minimum min(d, e) - h² b / 4 with h = max(0, 1 - |d - e| / b), b = ``blend`` [m].
    ``ripple`` is added.
    """

    def distance(at: Array) -> Array:
        found = limbs[0].distance(at)
        for limb in limbs[1:]:
            other = limb.distance(at)
            h = np.maximum(0.0, 1.0 - np.abs(found - other) / blend)
            found = np.minimum(found, other) - 0.25 * blend * h * h
        return found if ripple is None else found + ripple(at)

    return distance


def limb_surface(
    limbs: Sequence[RoundLimb], *, spacing: float, blend: float, ripple: Function | None = None, ground: bool = False
) -> Surface:
    """The surface of limbs grown together, sampled every ``spacing`` [m]; ``ground`` cuts it flat at z = 0."""
    function = limbs_distance(limbs, blend=blend, ripple=ripple)
    points, radii = np.concatenate([limb.points for limb in limbs]), np.concatenate([limb.radii for limb in limbs])
    room = blend + 3.0 * spacing
    low, high = (points - radii[:, None]).min(axis=0) - room, (points + radii[:, None]).max(axis=0) + room
    if ground:
        low[2] = (np.floor(min(low[2], 0.0) / spacing) - 2.5) * spacing
    grid = sampled(
        (lambda at: np.maximum(function(at), -at[:, 2])) if ground else function, low, high, spacing, band=2.0 * spacing, slope=2.0
    )
    return isosurface(grid.values, origin=grid.origin, spacing=spacing)


def quadruped_limbs(seed: int, *, length: float = 0.6) -> dict[str, RoundLimb]:
    """The limbs of a four-legged creature by ``seed``: "torso", "head", "tail", and legs "fl", "fr", "hl", "hr", feet at z = 0.

    ``length`` [m] is that of the torso and head, about. Proportions are drawn at random; left and right legs are alike.
    """
    rng = np.random.default_rng(seed)
    L = length
    torso = L * rng.uniform(0.5, 0.65)
    height = L * rng.uniform(0.38, 0.55)
    thick = L * rng.uniform(0.10, 0.14)
    sag = L * rng.uniform(-0.04, 0.04)
    spine = np.array([[-0.5 * torso, 0, height], [0, 0, height + sag], [0.5 * torso, 0, height + L * rng.uniform(-0.02, 0.06)]])
    limbs = {"torso": RoundLimb(spine, thick * rng.uniform(0.85, 1.15, 3))}
    rise = rng.uniform(0.2, 1.0)
    neck = L * rng.uniform(0.22, 0.32) * np.array([np.cos(rise), 0.0, np.sin(rise)])
    nose = L * rng.uniform(0.10, 0.18) * np.array([1.0, 0.0, rng.uniform(-0.4, 0.1)])
    head = np.stack([spine[2], spine[2] + neck, spine[2] + neck + nose])
    limbs["head"] = RoundLimb(head, thick * np.array([rng.uniform(0.5, 0.65), rng.uniform(0.6, 0.8), rng.uniform(0.35, 0.5)]))
    droop = rng.uniform(-0.7, 0.5)
    reach = L * rng.uniform(0.3, 0.5)
    swing = reach * rng.uniform(-0.2, 0.2)
    tail = spine[0] + np.array(
        [[0, 0, 0], [-0.5 * reach * np.cos(droop), 0, 0.5 * reach * np.sin(droop)], [-reach, swing, 0.8 * reach * np.sin(droop)]]
    )
    limbs["tail"] = RoundLimb(tail, thick * np.array([rng.uniform(0.5, 0.65), rng.uniform(0.35, 0.45), rng.uniform(0.25, 0.35)]))
    for name, at, bend in (("f", spine[2], rng.uniform(-0.06, 0.06)), ("h", spine[0], rng.uniform(-0.06, 0.06))):
        wide, stance = thick * rng.uniform(0.75, 1.0), thick * rng.uniform(1.0, 1.6)
        upper, lower, foot = thick * rng.uniform(0.45, 0.6), thick * rng.uniform(0.33, 0.42), thick * rng.uniform(0.4, 0.5)
        ahead = L * rng.uniform(-0.04, 0.04)
        for side, y in (("l", 1.0), ("r", -1.0)):
            hip = at + np.array([0.0, y * wide, -0.2 * thick])
            ankle = np.array([hip[0] + ahead, y * stance, 0.6 * foot])
            knee = 0.5 * (hip + ankle) + np.array([L * bend, 0.0, 0.0])
            toe = ankle + np.array([0.9 * foot, 0.0, 0.0])
            limbs[name + side] = RoundLimb(np.stack([hip, knee, ankle, toe]), np.array([upper, 0.5 * (upper + lower), lower, foot]))
    return limbs


def random_quadruped(seed: int, *, length: float = 0.6, spacing: float = 0.006) -> Surface:
    """The surface of the creature of `quadruped_limbs`, with random ripples of 1 % of its thickness, soles cut flat at z = 0."""
    limbs: Mapping[str, RoundLimb] = quadruped_limbs(seed, length=length)
    rng = np.random.default_rng([seed, 1])
    waves = rng.normal(size=(6, 3)) * 2.0 * np.pi / (0.25 * length)
    phases = rng.uniform(0.0, 2.0 * np.pi, 6)
    size = 0.004 * length / 6.0

    def ripple(at: Array) -> Array:
        return size * np.sin(at @ waves.T + phases).sum(axis=1)

    return limb_surface(list(limbs.values()), spacing=spacing, blend=0.06 * length, ripple=ripple, ground=True)
