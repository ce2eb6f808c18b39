"""Random contact problems built like four soft soles of five patches on a body."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

FRAME = 5e-3
CORNERS = 0.018 * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [0.0, 0.0]])
CENTRES = np.array([[0.2, 0.12], [0.2, -0.12], [-0.2, 0.12], [-0.2, -0.12]])

Problem = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def rigid_compliance(places: np.ndarray, height: float, mass: float, radius: float) -> np.ndarray:
    """Displacements in a frame by forces at ``places`` (n, 2) on a free rigid body whose centre is ``height`` above them."""
    J = np.zeros((3 * len(places), 6))
    for k, (x, y) in enumerate(places):
        J[3 * k : 3 * k + 3, :3] = np.eye(3)
        J[3 * k : 3 * k + 3, 3:] = np.array([[0.0, -height, -y], [height, 0.0, x], [y, -x, 0.0]])
    mobility = FRAME**2 / mass * np.array([1.0] * 3 + [1.0 / radius**2] * 3)
    return J @ (mobility[:, None] * J.T)


def random_problem(rng: np.random.Generator, harsh: bool = False) -> Problem:
    """W, u0, gap, mu of 20 patches: friction .05 to 1.5, gaps within .2 mm, loads, and slips of up to a millimetre or none.

    ``harsh``: feet of 0.1 kg and more that are taller than wide, on patches whose axes are tilted by tens of degrees. Pressing and
    sliding are then so strongly coupled that a few of the problems have several answers.
    """
    tilt, height, least, radius = (0.3, 0.05, -1.0, 0.05) if harsh else (0.1, 0.02, -0.5, 0.03)
    places = np.concatenate([centre + CORNERS for centre in CENTRES])
    P, soft = len(places), 10 ** rng.uniform(-5.3, -3.7)
    W = rigid_compliance(places, rng.uniform(0.1, 0.4), rng.uniform(2.0, 12.0), 0.15)
    for p in range(P):
        Q = np.linalg.qr(np.eye(3) + tilt * rng.normal(size=(3, 3)))[0]
        W[3 * p : 3 * p + 3, 3 * p : 3 * p + 3] += soft * (Q * (np.array([3.0, 3.0, 1.0]) * rng.uniform(0.5, 1.5, 3))) @ Q.T
    for foot in range(4):
        at = slice(15 * foot, 15 * foot + 15)
        W[at, at] += rigid_compliance(CORNERS, height, 10 ** rng.uniform(least, 1.0), radius)
    gap = rng.uniform(-2e-4, 2e-4, P)
    mu = np.full(P, rng.uniform(0.05, 1.5)) if rng.random() < 0.5 else rng.uniform(0.05, 1.5, P)
    share = rng.uniform(3.0, 12.0) * 9.81 / P
    load = share * np.column_stack([rng.uniform(0.0, 1.0) * rng.normal(size=(P, 2)), rng.uniform(0.0, 2.0, P)])
    u0 = -(W @ load.reshape(-1)).reshape(P, 3)
    u0[:, :2] += rng.normal(size=2) * rng.choice([0.0, 1e-4, 1e-3])
    u0 += rng.normal(size=(P, 3)) * rng.choice([0.0, 3e-5, 3e-4])
    return 0.5 * (W + W.T), u0.reshape(-1), gap, mu


@pytest.fixture(scope="session")
def contact_problem() -> Callable[..., Problem]:
    return random_problem
