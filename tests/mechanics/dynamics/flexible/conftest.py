"""Segments of point masses, and a tree with two of them in series between hinges."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.mechanics.dynamics.flexible.attach import Flexible
from bunraku.mechanics.dynamics.flexible.segment import segment_from_points
from bunraku.mechanics.dynamics.places import Place
from bunraku.mechanics.dynamics.system import build_system
from bunraku.mechanics.tree import Tree


def turn(rng):
    R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return R * np.linalg.det(R)


@pytest.fixture
def point_segment():
    """Points along a rod with random smooth shapes that vanish at its root; one flat face at the tip, perhaps one in the middle."""

    def make(rng, r=15, faces=1, k=40, beta=0.0, stiffness=3.0, size=0.3):
        n = 40
        X = rng.uniform(-0.05, 0.05, (n, 3))
        X[:, 2] = np.linspace(0.0, 0.5, n)
        X[-6:, 2] = 0.5
        phi = size * rng.normal(size=(n, 3, r)) * (X[:, 2] / 0.5)[:, None, None] ** 2
        weights = np.zeros((faces, n))
        weights[0, -6:] = rng.uniform(0.5, 1.0, 6)
        if faces > 1:
            weights[1, 15:22] = rng.uniform(0.5, 1.0, 7)
        pairs = np.array([(a, b) for a in range(r) for b in range(a, r)]).reshape(-1, 2)
        L1, Q = stiffness * rng.normal(size=(r, k)), rng.normal(size=(len(pairs), k))
        Q[: len(pairs) // 2, k // 2 :] = 0.0
        masses = rng.uniform(0.01, 0.03, n)
        segment = segment_from_points(X, masses, phi, list(weights), L1=L1, pairs=pairs, Qp=Q, beta=beta)
        return segment, X, masses, phi, weights

    return make


@pytest.fixture
def two_rods(point_segment):
    """B0 (hinge) [rod] b1, b2 (hinge), b3 (hinge) [arm] b4, b5 (hinge); with ``faces`` = 2 the rod also carries b6, b7 (hinge).

    34 coordinates at r = 15. ``rigid``: the same tree without the segments.
    """

    def make(seed=0, r=15, faces=1, k=40, beta=0.0, rigid=False, segments=None, stiffness=3.0, size=0.3, **options):
        rng = np.random.default_rng(seed)
        n = 6 + 2 * (faces > 1)
        parent = np.array([-1, 0, 1, 2, 3, 4, 0, 6])[:n]
        kind = np.array([1, 0, 1, 1, 0, 1, 0, 1])[:n]
        coordinate = np.array([0, -1, 1, 2, -1, 3, -1, 4])[:n]
        rotation = np.array([turn(rng) for _ in range(n)])
        axis = rng.normal(size=(n, 3))
        axis /= np.linalg.norm(axis, axis=1)[:, None]
        half = rng.normal(size=(n, 3, 3))
        names = tuple(f"q{i}" for i in range(coordinate.max() + 1))
        tree = Tree(
            names, {f"b{i}": i for i in range(n)}, parent, kind, coordinate, rotation, 0.3 * rng.normal(size=(n, 3)), axis,
            rng.uniform(0.2, 0.5, n), 0.1 * rng.normal(size=(n, 3)), 0.05 * half @ half.transpose(0, 2, 1), {},
            0.1 * np.arange(len(names)), (),
        )  # fmt: skip
        options.setdefault("gravity", (0.5, -1.0, -9.0))
        if rigid:
            return build_system(tree, **options)
        places = [Place(body, tuple(0.1 * rng.normal(size=3)), tuple(map(tuple, turn(rng)))) for body in ("b0", "b3")]
        if segments is None:
            segments = [point_segment(rng, r, count, k, beta, stiffness, size)[0] for count in (faces, 1)]
        parts = (
            Flexible("rod", segments[0], places[0], ("b1", "b6")[:faces]),
            Flexible("arm", segments[1], places[1], ("b4",)),
        )
        return build_system(tree, segments=parts, **options)

    return make


@pytest.fixture
def state():
    """A random configuration and velocity; modes move points by centimetres."""

    def make(system, seed=0, size=0.1):
        rng = np.random.default_rng(seed)
        modal = np.array(["." in name for name in system.names])
        q, v = rng.normal(size=system.nq), rng.normal(size=system.nq)
        return np.where(modal, size * q, q), v

    return make
