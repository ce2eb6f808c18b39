"""What the variational integrator returns: states, steps, their derivatives, trajectories."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.mechanics.integrators.step_kernels import StepFactors
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
    """First derivatives of a step over w = (q1, p1, u1, k2), and the ``factors`` that second derivatives reuse."""

    step: Step
    factors: StepFactors
    sizes: tuple[int, int, int, int]

    def block(self, what: str, over: str) -> Array:
        """Derivative of "q2" (its dynamic part), "p2" or "lam" by "q1", "p1", "u1" or "k2": (nd or nc, size of what it is over)."""
        which = ("q1", "p1", "u1", "k2").index(over)
        begin, nc = sum(self.sizes[:which]), len(self.factors.Y) - self.sizes[1]
        rows = {"q2": self.factors.Y[nc:], "p2": self.factors.G, "lam": self.factors.Y[:nc]}[what]
        return rows[:, begin : begin + self.sizes[which]]


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
