"""A quadruped of 12 hinges on soft soles, linear about its standing pose, that makes the problems of its frames."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from bunraku.performers.skin.frame.problem import FrameProblem, FrameStep

FRAME, GRAVITY, HEIGHT = 5e-3, 9.80665, 0.16
CORNERS = 0.012 * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [0.0, 0.0]])
HIPS = np.array([[0.1, 0.08], [0.1, -0.08], [-0.1, 0.08], [-0.1, -0.08]])


class Quadruped:
    """Base (3 slides, 3 small rotations) and 4 legs of 3 hinges; five patches a sole, each on a spring without mass.

    Implicit Euler: A dq = M v / h + gravity + push + B tau + J^T F, A = M / h^2 + damping / h; patches move by
    J dq + C (F - F of the last frame). The cost follows a target for q and weighs torques a little.
    """

    def __init__(self, mu: float, mass: float = 3.9, soft: float = 2e-5) -> None:
        self.mass, self.mu = mass, np.full(20, mu)
        self.axes = []
        for x, y in HIPS:
            side = np.sign(y)
            hip = np.array([x, y, 0.0])
            knee = hip + np.array([0.0, 0.05 * side, -0.04])
            ankle = knee + np.array([0.01, 0.02 * side, -0.1])
            self.axes.append(
                [(np.array([0.0, 1.0, 0.0]), hip), (np.array([1.0, 0.0, 0.0]), knee), (np.array([1.0, 0.0, 0.0]), ankle)]
            )
        self.M, self.weight = np.zeros((18, 18)), np.zeros(18)
        self._add(np.zeros(3), 0.6 * mass, 0, 0, 0.1)
        for leg, ((_, hip), (_, knee), (_, ankle)) in enumerate(self.axes):
            self._add(0.5 * (hip + knee), 0.04 * mass, leg, 1, 0.02)
            self._add(0.5 * (knee + ankle), 0.04 * mass, leg, 2, 0.02)
            self._add(ankle, 0.02 * mass, leg, 3, 0.02)
        places = [np.append(self.axes[k // 5][2][1][:2] + CORNERS[k % 5], -HEIGHT) for k in range(20)]
        self.J = np.vstack([self._jacobian(place, k // 5, 3) for k, place in enumerate(places)])
        self.x = np.array(places) + np.array([0.0, 0.0, HEIGHT])
        self.spring = np.kron(np.eye(20), np.diag([3.0 * soft, 3.0 * soft, soft]))
        self.inverse = np.linalg.inv(self.M / FRAME**2 + np.diag(np.append(np.zeros(6), np.full(12, 0.02 / FRAME))))
        self.G = self.inverse @ np.hstack([np.vstack([np.zeros((6, 12)), np.eye(12)]), self.J.T])
        moved = self.J @ self.G
        self.R, self.W = moved[:, :12], self.spring + 0.5 * (moved[:, 12:] + moved[:, 12:].T)
        self.q, self.v, self.F = np.zeros(18), np.zeros(18), np.zeros((20, 3))

    def _jacobian(self, point: np.ndarray, leg: int, links: int) -> np.ndarray:
        J = np.zeros((3, 18))
        J[:, :3] = np.eye(3)
        for k, axis in enumerate(np.eye(3)):
            J[:, 3 + k] = np.cross(axis, point)
        for j, (axis, origin) in enumerate(self.axes[leg][:links]):
            J[:, 6 + 3 * leg + j] = np.cross(axis, point - origin)
        return J

    def _add(self, point: np.ndarray, mass: float, leg: int, links: int, spread: float) -> None:
        for offset in spread * np.vstack([np.eye(3), -np.eye(3)]):
            J = self._jacobian(point + offset, leg, links)
            self.M += mass / 6.0 * J.T @ J
            self.weight -= mass / 6.0 * GRAVITY * J[2]

    def free(self, push: np.ndarray) -> np.ndarray:
        """The step dq (18,) without torques and ground forces."""
        return self.inverse @ (self.M @ self.v / FRAME + self.weight + np.append(push, np.zeros(15)))

    def problem(self, target: np.ndarray, push: np.ndarray, **more: Any) -> FrameProblem:
        dq, weight = self.free(push), np.array([1e4] * 3 + [1e3] * 3 + [1e2] * 12)
        error = self.q + dq - target
        H = self.G.T @ (weight[:, None] * self.G)
        H[:12, :12] += 1e-3 * np.eye(12)
        data = {"lo": -1.96, "hi": 1.96, "const": 0.5 * float(error @ (weight * error)), "g": self.G.T @ (weight * error)} | more
        u0 = self.J @ dq - self.spring @ self.F.reshape(-1)
        return FrameProblem(H=0.5 * (H + H.T), R=self.R, W=self.W, u0=u0, gap=self.x[:, 2], mu=self.mu, **data)

    def advance(self, push: np.ndarray, problem: FrameProblem, step: FrameStep) -> None:
        dq = self.free(push) + self.G @ np.append(step.tau, step.F.reshape(-1))
        self.x = self.x + (problem.free(step.tau) + self.W @ step.F.reshape(-1)).reshape(-1, 3)
        self.q, self.v, self.F = self.q + dq, dq / FRAME, step.F

    def pressure_rows(self, standing: np.ndarray, margin: float) -> np.ndarray:
        """Rows C z <= 0: the centre of pressure lies ``margin`` [m] inside the hull of the patches ``standing``."""
        edges = ConvexHull(self.x[standing, :2]).equations
        C = np.zeros((len(edges), 72))
        C[:, 14::3] = edges[:, :2] @ self.x[:, :2].T + edges[:, 2:] + margin
        return C


@pytest.fixture(scope="session")
def quadruped() -> Callable[..., Quadruped]:
    return Quadruped
