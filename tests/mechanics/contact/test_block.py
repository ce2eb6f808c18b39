"""A rigid block on five soft patches in time: it sticks below and slides above the friction angle, and slides when pushed hard."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.mechanics.contact.check import check_contact
from bunraku.mechanics.contact.coulomb import SLIDE, STICK, ContactForces, solve_contact

MASS, HEIGHT, GRAVITY, FRAME, SOFT = 4.0, 0.05, 9.80665, 5e-3, 2e-6
CORNERS = 0.15 * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [0.0, 0.0]])
INERTIA = MASS / 12.0 * np.array([0.3**2 + 0.1**2, 0.3**2 + 0.1**2, 2 * 0.3**2])


class Block:
    """Six coordinates (small rotations), implicit Euler; patches move by J dq + C (F - F of the last frame)."""

    def __init__(self, mu: float) -> None:
        J = np.zeros((15, 6))
        for k, (x, y) in enumerate(CORNERS):
            J[3 * k : 3 * k + 3] = [[1, 0, 0, 0, -HEIGHT, -y], [0, 1, 0, HEIGHT, 0, x], [0, 0, 1, y, -x, 0]]
        self.J, self.M = J, np.concatenate([np.full(3, MASS), INERTIA])
        self.W = SOFT * np.eye(15) + FRAME**2 * J @ (J.T / self.M[:, None])
        self.mu, self.v, self.gap, self.F = np.full(5, mu), np.zeros(6), np.zeros(5), np.zeros((5, 3))

    def advance(self, force: np.ndarray) -> ContactForces:
        pushed = np.concatenate([force, np.zeros(3)])
        free = FRAME * (self.v + FRAME * pushed / self.M)
        u0 = self.J @ free - SOFT * self.F.reshape(-1)
        found = solve_contact(self.W, u0, self.gap, self.mu, self.F)
        assert found.status.good
        assert check_contact(self.W, u0, self.gap, self.mu, found.F).ok
        self.v = self.v + FRAME * (pushed + self.J.T @ found.F.reshape(-1)) / self.M
        self.gap, self.F = self.gap + found.u[:, 2], found.F
        return found


def weight(slope: float) -> np.ndarray:
    return MASS * GRAVITY * np.array([np.sin(slope), 0.0, -np.cos(slope)])


@pytest.mark.parametrize("mu", [0.2, 0.6, 1.0])
def test_it_sticks_below_the_friction_angle(mu: float) -> None:
    block = Block(mu)
    for _ in range(200):
        found = block.advance(weight(np.arctan(mu) - 0.01))
    assert (found.labels == STICK).all()
    assert np.abs(block.v).max() < 1e-9
    np.testing.assert_allclose(found.F.sum(axis=0), -weight(np.arctan(mu) - 0.01), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("mu", [0.2, 0.6, 1.0])
@pytest.mark.parametrize("more", [0.02, 0.2])
def test_it_slides_above_the_friction_angle(mu: float, more: float) -> None:
    slope, block, speeds = np.arctan(mu) + more, Block(mu), []
    for _ in range(200):
        found = block.advance(weight(slope))
        speeds.append(block.v[0])
    assert (found.labels == SLIDE).all()
    acceleration = (speeds[-1] - speeds[100]) / (99 * FRAME)
    np.testing.assert_allclose(acceleration, GRAVITY * (np.sin(slope) - mu * np.cos(slope)), rtol=1e-3)


def test_a_push_slides_it_at_the_friction_limit() -> None:
    mu, block, way = 0.5, Block(0.5), np.array([np.cos(0.7), np.sin(0.7), 0.0])
    limit = mu * MASS * GRAVITY
    for _ in range(100):
        block.advance(weight(0.0))
    for push in np.arange(0.0, 1.1, 2e-3) * limit:
        found = block.advance(weight(0.0) + push * way)
        if push < 0.99 * limit:
            assert not (found.labels == SLIDE).all()
            assert np.linalg.norm(block.v[:2]) < 1e-4
    assert (found.labels == SLIDE).all()
    np.testing.assert_allclose(np.hypot(found.F[:, 0], found.F[:, 1]), mu * found.F[:, 2], rtol=1e-9)
    slip, friction = found.u[:, :2], found.F[:, :2]
    cosine = -(slip * friction).sum(axis=1) / np.linalg.norm(slip, axis=1) / np.linalg.norm(friction, axis=1)
    assert cosine.min() > np.cos(np.deg2rad(0.1))
    np.testing.assert_allclose(found.F.sum(axis=0), [-limit * way[0], -limit * way[1], MASS * GRAVITY], rtol=2e-3)
