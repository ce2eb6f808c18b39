"""Remeshing: edges of the size asked for, on the surface, closed, of the same genus, borders through their fixed points."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from bunraku.geometry.shells.closest import ClosestPoints
from bunraku.geometry.shells.quality import check_closed
from bunraku.geometry.shells.remeshing import remesh
from bunraku.geometry.surfaces.topology import genus

Array = NDArray[np.float64]
Surface = tuple[Array, NDArray[np.int64]]
NONE = np.empty(0, dtype=np.int64)


def lengths(X: Array, F: NDArray[np.int64]) -> tuple[Array, Array]:
    edges = np.unique(np.sort(F[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1), axis=0)
    return np.linalg.norm(X[edges[:, 0]] - X[edges[:, 1]], axis=1), X[edges].mean(axis=1)


def angles(X: Array, F: NDArray[np.int64]) -> Array:
    T = X[F]
    p, q = np.roll(T, -1, axis=1) - T, np.roll(T, 1, axis=1) - T
    return np.asarray(np.arccos((p * q).sum(axis=2) / (np.linalg.norm(p, axis=2) * np.linalg.norm(q, axis=2))))


@pytest.mark.parametrize("size", [0.016, 0.03])
def test_a_torus_is_remeshed_finer_and_coarser(torus: Surface, size: float) -> None:
    onto = ClosestPoints(*torus)
    X, F, _ = remesh(*torus, NONE, lambda P: np.full(len(P), size), onto)
    check_closed(F, "torus")
    assert genus(F) == 1
    np.testing.assert_allclose(onto.query(X)[0], 0.0, atol=1e-12)
    edge, _ = lengths(X, F)
    assert abs(np.median(edge) / size - 1.0) < 0.15
    assert (edge < 1.7 * size).all()
    assert (edge > 0.5 * size).all()
    assert np.degrees(angles(X, F).min()) > 25.0
    assert np.mean(np.bincount(F.ravel()) == 6) > 0.5
    T = X[F]
    volume = np.einsum("ij,ij->i", T[:, 0], np.cross(T[:, 1], T[:, 2])).sum() / 6.0
    assert 0.0 < 1.0 - volume / (2 * np.pi**2 * 0.1 * 0.04**2) < 1.2 * (size / 0.04) ** 2


def test_edges_follow_a_graded_size(capsule: Callable[..., Surface]) -> None:
    X, F = capsule(0.04, 0.3, 40, 50)
    X, F, _ = remesh(X, F, NONE, lambda P: 0.01 + 0.06 * np.maximum(P[:, 2], 0.0), ClosestPoints(X, F))
    edge, middle = lengths(X, F)
    ratio = edge / (0.01 + 0.06 * np.maximum(middle[:, 2], 0.0))
    assert abs(np.median(ratio) - 1.0) < 0.15
    assert np.quantile(ratio, 0.02) > 0.6
    assert np.quantile(ratio, 0.98) < 1.4


def test_a_border_becomes_the_polygon_of_its_fixed_points() -> None:
    n, rows = 48, 20
    th = 2 * np.pi * np.arange(n) / n
    X = np.array([(np.cos(t), np.sin(t), z) for z in np.linspace(0.0, 3.0, rows) for t in th])
    F = []
    for i in range(rows - 1):
        for j in range(n):
            a, b, c, d = i * n + j, i * n + (j + 1) % n, (i + 1) * n + (j + 1) % n, (i + 1) * n + j
            F += [(a, b, c), (a, c, d)]
    faces = np.array(F)
    fixed = np.concatenate([np.arange(0, n, 4), (rows - 1) * n + np.arange(0, n, 6)])
    Y, G, number = remesh(X, faces, fixed, lambda P: np.full(len(P), 0.5), ClosestPoints(X, faces))
    np.testing.assert_array_equal(Y[number], X[fixed])
    directed = {(a, b) for face in G.tolist() for a, b in zip(face, face[1:] + face[:1], strict=True)}
    border = {(a, b) for a, b in directed if (b, a) not in directed}
    low, high = number[:12].tolist(), number[12:].tolist()
    assert border == set(zip(low, low[1:] + low[:1], strict=True)) | set(zip(high[1:] + high[:1], high, strict=True))
    chords = {frozenset((a, b)) for a, b in directed if a in set(number.tolist()) and b in set(number.tolist())}
    assert chords == {frozenset(pair) for pair in border}
