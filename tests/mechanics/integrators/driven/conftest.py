"""A tree with two flexible segments in series between hinges, two of them motors; open, or with its tip held on a line (a loop)."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import BSpline

from bunraku.mechanics.dynamics.constraints import PointToPoint
from bunraku.mechanics.dynamics.flexible.attach import Flexible
from bunraku.mechanics.dynamics.flexible.segment import segment_from_points
from bunraku.mechanics.dynamics.places import Place
from bunraku.mechanics.dynamics.system import build_system
from bunraku.mechanics.integrators.driven.curves import make_curves
from bunraku.mechanics.tree import Tree

MODES, ROWS, POINTS = 4, 30, 9


def turn(rng):
    R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return R * np.linalg.det(R)


def rod(rng, beta):
    """Points along a rod with random smooth shapes that vanish at its root."""
    n = 40
    X = rng.uniform(-0.05, 0.05, (n, 3))
    X[:, 2] = np.linspace(0.0, 0.5, n)
    X[-6:, 2] = 0.5
    phi = 0.1 * rng.normal(size=(n, 3, MODES)) * (X[:, 2] / 0.5)[:, None, None] ** 2
    weights = np.zeros(n)
    weights[-6:] = rng.uniform(0.5, 1.0, 6)
    pairs = np.array([(a, b) for a in range(MODES) for b in range(a, MODES)])
    L1, Q = 6.0 * rng.normal(size=(MODES, ROWS)), rng.normal(size=(len(pairs), ROWS))
    return segment_from_points(X, rng.uniform(0.01, 0.03, n), phi, [weights], L1=L1, pairs=pairs, Qp=Q, beta=beta)


@pytest.fixture
def make_system():
    """Of 10 dynamic and 2 kinematic coordinates; ``loop`` adds two constraint rows."""

    def make(loop=False, beta=2e-3, gravity=(0.5, -1.0, -9.0)):
        rng = np.random.default_rng(7)
        n = 6
        rotation = np.array([turn(rng) for _ in range(n)])
        axis = rng.normal(size=(n, 3))
        axis /= np.linalg.norm(axis, axis=1)[:, None]
        half = rng.normal(size=(n, 3, 3))
        tree = Tree(
            ("m0", "j1", "m2", "j3"), {f"b{i}": i for i in range(n)}, np.array([-1, 0, 1, 2, 3, 4]), np.array([1, 0, 1, 1, 0, 1]),
            np.array([0, -1, 1, 2, -1, 3]), rotation, 0.3 * rng.normal(size=(n, 3)), axis, rng.uniform(0.2, 0.5, n),
            0.1 * rng.normal(size=(n, 3)), 0.05 * half @ half.transpose(0, 2, 1), {}, 0.1 * np.arange(4), (),
        )  # fmt: skip
        places = [Place(body, tuple(0.1 * rng.normal(size=3)), tuple(map(tuple, turn(rng)))) for body in ("b0", "b3")]
        parts = (Flexible("rod", rod(rng, beta), places[0], ("b1",)), Flexible("arm", rod(rng, beta), places[1], ("b4",)))
        options = {"kinematic": ["m0", "m2"], "segments": parts, "gravity": gravity}
        if not loop:
            return build_system(tree, **options)
        free = build_system(tree, constraints=[PointToPoint("b5", "world", "xy")], **options)
        where = (*(free.constraint_values(free.home) + np.array([0.02, -0.01])), 0.0)
        return build_system(tree, constraints=[PointToPoint("b5", Place("world", where), "xy", "pin")], **options)

    return make


@pytest.fixture
def make_curve():
    """Motor curves of N steps with 9 control points, and control points for a system: ``size`` [rad] about its home."""

    def make(system, steps, size=0.15, seed=0, free=None):
        x = np.minimum(np.linspace(0.0, POINTS - 3, steps + 1), POINTS - 3 - 1e-12)
        curves = make_curves(BSpline.design_matrix(x, np.arange(-3.0, POINTS + 1), 3), free)
        rng = np.random.default_rng(seed)
        return curves, system.home[system.kinematic] + size * rng.normal(size=(POINTS, system.nk))

    return make
