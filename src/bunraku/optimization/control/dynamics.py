"""Discrete-time dynamics x_{k+1} = f_k(x_k, u_k) as trajectory optimization sees them: roll out, linearize, bend."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from bunraku.arrays import Array
from bunraku.errors import BadInput


class Rollout(NamedTuple):
    """States ``x`` (N + 1, nx), inputs ``u`` (N, nu), and the step that failed, -1 when all N succeeded."""

    x: Array
    u: Array
    failed_at: int = -1

    @property
    def good(self) -> bool:
        """Whether the whole horizon was reached."""
        return self.failed_at < 0


class DiscreteDynamics(ABC):
    """A system x_{k+1} = f_k(x_k, u_k), k = 0 .. N - 1; x has ``nx`` numbers, u has ``nu``.

    Author's guide. Pass ``nx`` and ``nu`` to the constructor of this base and write three methods, each over the whole
    horizon, so that an implementation in Numba pays the price of a Python call once:

    1. :meth:`rollout` runs the closed loop u_k = ub_k - K_k (x_k - xb_k). A step that cannot be made (a solver that fails,
       a number that is not finite) ends the roll-out: return its index as ``failed_at``; what x and u hold from there on is
       never read. Never raise for it: the line search takes a failed roll-out as a step too long.
    2. :meth:`linearize` gives the derivatives of f_k at (x_k, u_k). The points need not form a trajectory; x_{k+1} is there
       as a hint for implicit steps.
    3. :meth:`curvature` gives second derivatives contracted with a costate; only Newton's method asks for it.

    ``bunraku.optimization.derivative_check`` tells whether 2 and 3 are right.
    """

    def __init__(self, nx: int, nu: int) -> None:
        if nx < 1 or nu < 1:
            raise BadInput(f"a system with {nx} states and {nu} inputs arrived; at least one of each is needed")
        self.nx = nx
        self.nu = nu

    @abstractmethod
    def rollout(self, x0: Array, xb: Array, ub: Array, K: Array) -> Rollout:
        """Simulate from ``x0`` (nx,) with u_k = ub_k - K_k (x_k - xb_k).

        ``xb`` (N + 1, nx), ``ub`` (N, nu), ``K`` (N, nu, nx).
        """

    @abstractmethod
    def linearize(self, x: Array, u: Array) -> tuple[Array, Array]:
        """A_k = df_k/dx (N, nx, nx) and B_k = df_k/du (N, nx, nu) at ``x`` (N + 1, nx), ``u`` (N, nu)."""

    @abstractmethod
    def curvature(self, x: Array, u: Array, costates: Array) -> Array:
        """Sum over i of costates[k, i] d2 f_k^i / d(x, u)^2, shape (N, nx + nu, nx + nu); ``costates`` (N, nx).

        ``costates[k]`` belongs to the arrival x_{k+1}.
        """

    def project(self, xb: Array, ub: Array, K: Array) -> Rollout:
        """The projection operator P(xb, ub): any curve (N + 1, nx), (N, nu) becomes a trajectory by following it with feedback.

        x_0 = xb_0, u_k = ub_k - K_k (x_k - xb_k), x_{k+1} = f_k(x_k, u_k), the gains K (N, nu, nx) held fixed (eq. 12 of Murphey
        and Johnson, "Control aesthetics in software architecture for robotic marionettes"). P(P(xi)) = P(xi). Check ``good``.
        """
        return self.rollout(xb[0], xb, ub, K)

    def simulate(self, x0: Array, u: Array) -> Rollout:
        """Roll out with the inputs ``u`` (N, nu) as they are, without feedback."""
        N = len(u)
        return self.rollout(x0, np.tile(x0, (N + 1, 1)), u, np.zeros((N, self.nu, self.nx)))
