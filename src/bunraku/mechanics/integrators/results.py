"""What the variational integrator returns: states, steps, their derivatives, trajectories."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.optimization.solution import Status


@dataclass(frozen=True)
class State:
    """Configuration q (nq,) and momentum p (nd,) of the dynamic coordinates."""

    q: Array
    p: Array


@dataclass(frozen=True)
class Step:
    """A step: q2 (nq,), p2 (nd,), multipliers lam (nc,) (impulses), Newton iterations, how it ended, and what it started from."""

    q2: Array
    p2: Array
    lam: Array
    iterations: int
    status: Status
    q1: Array
    p1: Array
    u1: Array


@dataclass(frozen=True)
class StepDerivatives:
    """First derivatives of a step over w = (q1, p1, u1, k2): ``Y`` (nc + nd, nw) of (lam, q2_d), ``G`` (nd, nw) of p2.

    The blocks have names: ``q2_dp1`` is the derivative of the dynamic part of q2 with respect to p1, shape (nd, nd), and so on.
    ``J``, ``pivot``, ``Gy`` are the factors that second derivatives reuse.
    """

    step: Step
    Y: Array
    G: Array
    J: Array
    pivot: NDArray[np.int64]
    Gy: Array
    sizes: tuple[int, int, int, int]

    def _block(self, rows: Array, which: int) -> Array:
        begin = sum(self.sizes[:which])
        return rows[:, begin : begin + self.sizes[which]]

    @property
    def _q2(self) -> Array:
        return self.Y[len(self.Y) - self.sizes[1] :]

    @property
    def _lam(self) -> Array:
        return self.Y[: len(self.Y) - self.sizes[1]]

    @property
    def q2_dq1(self) -> Array:
        """(nd, nq)."""
        return self._block(self._q2, 0)

    @property
    def q2_dp1(self) -> Array:
        """(nd, nd)."""
        return self._block(self._q2, 1)

    @property
    def q2_du1(self) -> Array:
        """(nd, nu)."""
        return self._block(self._q2, 2)

    @property
    def q2_dk2(self) -> Array:
        """(nd, nk)."""
        return self._block(self._q2, 3)

    @property
    def p2_dq1(self) -> Array:
        """(nd, nq)."""
        return self._block(self.G, 0)

    @property
    def p2_dp1(self) -> Array:
        """(nd, nd)."""
        return self._block(self.G, 1)

    @property
    def p2_du1(self) -> Array:
        """(nd, nu)."""
        return self._block(self.G, 2)

    @property
    def p2_dk2(self) -> Array:
        """(nd, nk)."""
        return self._block(self.G, 3)

    @property
    def lam_dq1(self) -> Array:
        """(nc, nq)."""
        return self._block(self._lam, 0)

    @property
    def lam_dp1(self) -> Array:
        """(nc, nd)."""
        return self._block(self._lam, 1)

    @property
    def lam_du1(self) -> Array:
        """(nc, nu)."""
        return self._block(self._lam, 2)

    @property
    def lam_dk2(self) -> Array:
        """(nc, nk)."""
        return self._block(self._lam, 3)


@dataclass(frozen=True)
class StepTensor:
    """Second derivatives over w, output first: ``q2`` (nd, nw, nw), ``p2`` (nd, nw, nw), ``lam`` (nc, nw, nw)."""

    q2: Array
    p2: Array
    lam: Array


@dataclass(frozen=True)
class Trajectory:
    """N steps: q (N + 1, nq), p (N + 1, nd), lam (N, nc), the inputs used u (N, nu), k2 (N, nk), Newton iterations (N,).

    ``steps`` of them succeeded; ``status`` says how the last one ended.
    """

    q: Array
    p: Array
    lam: Array
    u: Array
    k2: Array
    iterations: NDArray[np.int64]
    steps: int
    status: Status
    dt: float

    def step(self, k: int) -> Step:
        """Step k, from node k to node k + 1."""
        return Step(
            self.q[k + 1], self.p[k + 1], self.lam[k], int(self.iterations[k]), self.status, self.q[k], self.p[k], self.u[k]
        )

    @property
    def state(self) -> Array:
        """X = (q, p), (N + 1, nq + nd)."""
        return np.hstack([self.q, self.p])

    @property
    def inputs(self) -> Array:
        """U = (u, k2), (N, nu + nk)."""
        return np.hstack([self.u, self.k2])


@dataclass(frozen=True)
class TrajectoryDerivatives:
    """x_{k+1} = f(x_k, U_k), x = (q, p), U = (u, k2): ``A`` (N, nx, nx), ``B`` (N, nx, nU); ``lam`` (N, nc, nx + nU)."""

    A: Array
    B: Array
    lam: Array
