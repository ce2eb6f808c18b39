"""Surfaces to make skins of: a capsule by rows, a torus by rows, and limbs as zero sets of functions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from bunraku.geometry.surfaces.isosurface import isosurface

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
Surface = tuple[Array, Indices]
Limb = tuple[tuple[float, float, float], tuple[float, float, float], float]


def capsule_surface(radius: float, length: float, around: int, rows: int) -> Surface:
    """A cylinder along z with hemispheres at both ends."""
    quarter = np.linspace(0.0, np.pi / 2, rows // 4)
    profile = [(radius * np.cos(a), -length / 2 - radius * np.sin(a)) for a in quarter[-2:0:-1]]
    profile += [(radius, z) for z in np.linspace(-length / 2, length / 2, rows)]
    profile += [(radius * np.cos(a), length / 2 + radius * np.sin(a)) for a in quarter[1:-1]]
    th = 2.0 * np.pi * np.arange(around) / around
    X = [(0.0, 0.0, -length / 2 - radius)]
    X += [(r * np.cos(t), r * np.sin(t), z) for r, z in profile for t in th] + [(0.0, 0.0, length / 2 + radius)]
    k, last = len(profile), len(X) - 1
    F = []
    for j in range(around):
        n = (j + 1) % around
        F += [(0, 1 + n, 1 + j), (last, last - around + j, last - around + n)]
        for i in range(k - 1):
            a, b, c, d = 1 + i * around + j, 1 + i * around + n, 1 + (i + 1) * around + n, 1 + (i + 1) * around + j
            F += [(a, b, c), (a, c, d)]
    return np.array(X), np.array(F)


def zero_surface(function: Callable[[Array], Array], low: tuple[float, ...], high: tuple[float, ...], step: float) -> Surface:
    """The zero set of a function (n, 3) -> (n,), negative inside, by marching cubes on a grid."""
    axes = [np.arange(a, b + step, step) for a, b in zip(low, high, strict=True)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    values = function(points.reshape(-1, 3)).reshape(points.shape[:3])
    surface = isosurface(values, origin=np.array(low), spacing=step)
    return surface.vertices, surface.faces


def limbs(parts: list[Limb], smooth: float) -> Callable[[Array], Array]:
    """Distance to capsules (end, end, radius), joined smoothly over about ``smooth`` [m]."""

    def function(P: Array) -> Array:
        total = np.zeros(len(P))
        for a, b, radius in parts:
            A, e = np.array(a), np.array(b) - np.array(a)
            t = np.clip((P - A) @ e / max(float(e @ e), 1e-12), 0.0, 1.0)
            total += np.exp(-(np.linalg.norm(P - A - t[:, None] * e, axis=1) - radius) / smooth)
        return -smooth * np.log(total)

    return function


@pytest.fixture(scope="session")
def capsule() -> Callable[[float, float, int, int], Surface]:
    """Makes a capsule of radius, length of the cylinder [m], points around and rows."""
    return capsule_surface


@pytest.fixture(scope="session")
def tube() -> Surface:
    """A capsule of radius 38 mm and 0.376 m total length, along z."""
    return capsule_surface(0.038, 0.3, 40, 40)


@pytest.fixture(scope="session")
def torus() -> Surface:
    """A torus of radii 0.1 and 0.04 m."""
    n, m = 60, 30
    a, b = np.meshgrid(2 * np.pi * np.arange(n) / n, 2 * np.pi * np.arange(m) / m, indexing="ij")
    r = 0.1 + 0.04 * np.cos(b)
    X = np.stack([r * np.cos(a), r * np.sin(a), 0.04 * np.sin(b)], axis=-1).reshape(-1, 3)
    i, j = np.meshgrid(np.arange(n), np.arange(m), indexing="ij")
    p, q = i * m + j, (i + 1) % n * m + j
    r1, s1 = (i + 1) % n * m + (j + 1) % m, i * m + (j + 1) % m
    F = np.concatenate([np.stack([p, q, r1], axis=-1).reshape(-1, 3), np.stack([p, r1, s1], axis=-1).reshape(-1, 3)])
    return X, F


@pytest.fixture(scope="session")
def elbow() -> Surface:
    """Two limbs of radius 35 mm that meet at a right angle."""
    corner = (0.0, 0.0, 0.0)
    parts: list[Limb] = [(corner, (0.18, 0.0, 0.0), 0.035), (corner, (0.0, 0.0, -0.18), 0.035)]
    return zero_surface(limbs(parts, 0.006), (-0.061, -0.061, -0.241), (0.24, 0.06, 0.06), 0.0083)


@pytest.fixture(scope="session")
def quadruped() -> Surface:
    """A body of 0.4 m on four legs of radius 34 mm, cut flat at z = 0."""
    parts: list[Limb] = [((-0.12, 0.0, 0.30), (0.12, 0.0, 0.30), 0.075)]
    parts += [((x, y, 0.28), (x, y, 0.0), 0.034) for x in (-0.13, 0.13) for y in (-0.08, 0.08)]
    body = limbs(parts, 0.008)
    return zero_surface(lambda P: np.maximum(body(P), -P[:, 2]), (-0.22, -0.14, -0.012), (0.22, 0.14, 0.40), 0.012)
