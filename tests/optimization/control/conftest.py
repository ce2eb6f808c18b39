"""Small systems to control: a linear one and a cart with a pendulum, exactly differentiated."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.optimization.control.dynamics import DiscreteDynamics, Rollout


class Closed(DiscreteDynamics):
    """Dynamics from a step function written for arrays of any dtype, derivatives by complex steps."""

    def __init__(self, nx, nu, step):
        super().__init__(nx, nu)
        self.step = step

    def rollout(self, x0, xb, ub, K):
        N = len(ub)
        x, u = np.empty((N + 1, self.nx)), np.empty((N, self.nu))
        x[0] = x0
        for k in range(N):
            u[k] = ub[k] - K[k] @ (x[k] - xb[k])
            with np.errstate(all="ignore"):
                x[k + 1] = self.step(x[k][None], u[k][None])[0]
            if not np.abs(x[k + 1]).max() < 1e8:
                return Rollout(x, u, k)
        return Rollout(x, u)

    def jacobian(self, w):
        """(N, nx, nx + nu) at w (N, nx + nu), complex steps; w itself may be complex (used by the curvature)."""
        out = np.empty((len(w), self.nx, w.shape[1]))
        for j in range(w.shape[1]):
            moved = w.astype(complex)
            moved[:, j] += 1e-40j
            out[:, :, j] = self.step(moved[:, : self.nx], moved[:, self.nx :]).imag / 1e-40
        return out

    def linearize(self, x, u):
        J = self.jacobian(np.hstack([x[: len(u)], u]))
        return np.ascontiguousarray(J[:, :, : self.nx]), np.ascontiguousarray(J[:, :, self.nx :])

    def curvature(self, x, u, costates):
        """Central differences, eighth order, of the complex-step Jacobian: about 1e-12 of its size."""
        w = np.hstack([x[: len(u)], u])
        out = np.zeros((len(w), w.shape[1], w.shape[1]))
        h = 2e-2
        for j in range(w.shape[1]):
            d = np.zeros_like(w)
            d[:, j] = h
            for i, c in enumerate((4 / 5, -1 / 5, 4 / 105, -1 / 280), start=1):
                out[:, j] += c / h * np.einsum("ki,kij->kj", costates, self.jacobian(w + i * d) - self.jacobian(w - i * d))
        return 0.5 * (out + out.transpose(0, 2, 1))


def cart_pendulum(dt, *, inputs=1):
    """RK4 of a cart (10 kg) with a pendulum (1 kg, 1 m), state (x, theta, v, omega); theta = 0 hangs."""

    def f(x, u):
        s, c = np.sin(x[:, 1]), np.cos(x[:, 1])
        force = u[:, 0] - 0.01 * x[:, 2] + s * x[:, 3] ** 2
        torque = -9.8 * s - 0.01 * x[:, 3] + (u[:, 1] if inputs == 2 else 0.0)
        det = 11.0 - c * c
        return np.stack([x[:, 2], x[:, 3], (force - c * torque) / det, (11.0 * torque - c * force) / det], axis=1)

    def step(x, u):
        a = f(x, u)
        b = f(x + 0.5 * dt * a, u)
        c = f(x + 0.5 * dt * b, u)
        return x + dt / 6 * (a + 2 * b + 2 * c + f(x + dt * c, u))

    return Closed(4, inputs, step)


def linear(A, B):
    A, B = np.asarray(A, dtype=float), np.asarray(B, dtype=float)
    return Closed(A.shape[0], B.shape[1], lambda x, u: x @ A.T + u @ B.T)


@pytest.fixture(scope="session")
def systems():
    """The builders: ``cart_pendulum(dt, inputs=1)``, ``linear(A, B)``, ``closed(nx, nu, step)``."""

    class Builders:
        pass

    Builders.cart_pendulum, Builders.linear, Builders.closed = staticmethod(cart_pendulum), staticmethod(linear), Closed
    return Builders
