"""Forces that are no potentials: damping, motors, wrenches, and forces of your own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.mechanics.dynamics.places import Where
from bunraku.optimization.derivative_check import SlopeReport, check_jacobian

Entry = float | str


@dataclass(frozen=True)
class Damping:
    """Viscous damping at coordinates: F_i = -c_i v_i, ``coefficients`` by coordinate [N·m·s/rad or N·s/m]."""

    coefficients: Mapping[str, float]


@dataclass(frozen=True)
class PointDamper:
    """A damper between two places: F = -c l' dl/dq, l = |p1 - p2|, ``damping`` c [N·s/m]."""

    first: Where
    second: Where
    damping: float


@dataclass(frozen=True)
class CoordinateForce:
    """An input acting on a coordinate (a motor's torque, a slider's force): F_coordinate += gain u_input."""

    coordinate: str
    input: str
    gain: float = 1.0


@dataclass(frozen=True)
class Wrench:
    """A force [N] and torque [N·m] on a place; each entry is a number or the name of an input.

    ``axes``: ``body`` in the axes of the place, acting at its origin; ``hybrid`` in world axes, acting at its origin; ``world``
    in world axes, about the world origin.
    """

    place: Where
    force: tuple[Entry, Entry, Entry] = (0.0, 0.0, 0.0)
    torque: tuple[Entry, Entry, Entry] = (0.0, 0.0, 0.0)
    axes: Literal["body", "hybrid", "world"] = "body"


class UserForce(ABC):
    """A force of your own, in Python. Steps with one run their Newton loop in Python: correct, about five times slower.

    1. ``force(q, v, u)``: generalized force (nq,) at configuration q (nq,), velocity v (nq,), inputs u (nu,).
    2. ``derivatives(q, v, u)``: dF/dq (nq, nq), dF/dv (nq, nq), dF/du (nq, nu).
    3. ``curvature(q, v, u, mu)``: Hessian (2 nq + nu, 2 nq + nu) of mu.F over (q, v, u); only second derivatives of the dynamics
       ask for it. The base differentiates ``derivatives`` by central differences (about 1e-9 relative).
    4. Run ``check(q, v, u)``: the report says whether 2 is the derivative of 1.
    """

    @abstractmethod
    def force(self, q: Array, v: Array, u: Array) -> ArrayLike:
        """Generalized force (nq,)."""

    @abstractmethod
    def derivatives(self, q: Array, v: Array, u: Array) -> tuple[ArrayLike, ArrayLike, ArrayLike]:
        """dF/dq (nq, nq), dF/dv (nq, nq), dF/du (nq, nu)."""

    def curvature(self, q: Array, v: Array, u: Array, mu: Array) -> Array:
        """Hessian (2 nq + nu, 2 nq + nu) of mu.F over (q, v, u)."""
        n, x = len(q), np.concatenate([q, v, u])
        result = np.empty((len(x), len(x)))

        def gradient(at: Array) -> Array:
            parts = self.derivatives(at[:n], at[n : 2 * n], at[2 * n :])
            return np.concatenate([mu @ np.asarray(part, dtype=np.float64).reshape(n, -1) for part in parts])

        for j in range(len(x)):
            step = 6e-6 * max(1.0, abs(x[j]))
            ahead, behind = x.copy(), x.copy()
            ahead[j] += step
            behind[j] -= step
            result[j] = (gradient(ahead) - gradient(behind)) / (ahead[j] - behind[j])
        return 0.5 * (result + result.T)

    def check(self, q: ArrayLike, v: ArrayLike, u: ArrayLike = (), *, seed: int = 0) -> SlopeReport:
        """Whether ``derivatives`` are those of ``force`` at a point: the slope test over (q, v, u)."""
        q, v, u = (np.asarray(part, dtype=np.float64) for part in (q, v, u))
        n = len(q)

        def jacobian(x: Array) -> Array:
            parts = self.derivatives(x[:n], x[n : 2 * n], x[2 * n :])
            return np.hstack([np.asarray(part, dtype=np.float64).reshape(n, -1) for part in parts])

        return check_jacobian(lambda x: self.force(x[:n], x[n : 2 * n], x[2 * n :]), jacobian, np.concatenate([q, v, u]), seed=seed)


Force = Damping | PointDamper | CoordinateForce | Wrench | UserForce
