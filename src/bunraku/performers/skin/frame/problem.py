"""The problem of one frame: which torques, when the ground answers every choice of them by the law of contact?

Unknown z = (tau, F): torques of the motors (na,) [N m] and forces of the ground on the patches (3 P,) [N]. Minimise
z.H z / 2 + g.z + const subject to lo <= tau <= hi and C z <= d, where F = F(tau) solves Coulomb contact for the displacement
u = u0 + R tau + W F of the patches during the frame. Torque limits hold exactly in every iterate; whether the rows hold is said.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.mechanics.contact.check import ContactCheck, check_contact
from bunraku.optimization.solution import Status

ROW_TOLERANCE = 1e-6
"""How far a row of length one may be overstepped and still hold (in the unit of z: N or N m)."""


@dataclass(frozen=True)
class FrameProblem:
    """All data of a frame, n = na + 3 P.

    ``H`` (n, n) positive semidefinite, ``g`` (n,), ``const``; ``R`` (3 P, na) [m/(N m)], ``W`` (3 P, 3 P) [m/N], ``u0`` (3 P,) [m]
    the displacement without torques and ground forces, ``gap`` (P,) [m], ``mu`` (P,); ``lo`` and ``hi`` (na,) [N m];
    ``C`` (m, n) and ``d`` (m,) of the rows C z <= d, none if not given.
    """

    H: Any
    g: Any
    R: Any
    W: Any
    u0: Any
    gap: Any
    mu: Any
    lo: Any
    hi: Any
    C: Any = None
    d: Any = None
    const: float = 0.0

    def __post_init__(self) -> None:
        R = _floats(self.R)
        if R.ndim != 2 or R.shape[0] % 3 or not R.size:
            raise BadInput(f"R of a frame has shape {R.shape}; (3 patches, torques) is needed")
        na, n = R.shape[1], R.shape[1] + R.shape[0]
        rows = 0 if self.C is None else len(np.asarray(self.C))
        shapes: dict[str, tuple[int, ...]] = {
            "H": (n, n),
            "g": (n,),
            "W": (n - na, n - na),
            "u0": (n - na,),
            "gap": (R.shape[0] // 3,),
        }
        shapes |= {"C": (rows, n), "d": (rows,)}
        values: dict[str, Array] = {"R": R}
        for name, shape in shapes.items():
            given = getattr(self, name)
            value = np.zeros(shape) if given is None and rows == 0 else _floats(given)
            value = value.reshape(-1) if name == "u0" else value
            if value.shape != shape:
                raise BadInput(f"{name} of a frame has shape {value.shape}; {shape} is needed")
            values[name] = value
        for name, size in (("mu", R.shape[0] // 3), ("lo", na), ("hi", na)):
            try:
                values[name] = np.ascontiguousarray(np.broadcast_to(_floats(getattr(self, name)), (size,)))
            except ValueError as error:
                raise BadInput(f"{name} of a frame has shape {np.shape(getattr(self, name))}; ({size},) is needed") from error
        if not all(np.isfinite(value).all() for value in values.values()):
            raise BadInput("the data of a frame holds numbers that are not finite; torque limits must be finite too")
        if (values["lo"] > values["hi"]).any():
            raise BadInput("a lower torque limit of a frame is above the upper one")
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def torques(self) -> int:
        """Number of motors na."""
        return int(self.R.shape[1])

    @property
    def patches(self) -> int:
        """Number of patches P."""
        return len(self.gap)

    def cost(self, tau: Array, F: Array) -> float:
        """The cost at torques (na,) and forces (P, 3) or (3 P,)."""
        z = np.concatenate([tau, np.asarray(F).reshape(-1)])
        return float(0.5 * z @ (self.H @ z) + self.g @ z + self.const)

    def row_violation(self, tau: Array, F: Array) -> float:
        """How far the worst row is overstepped, rows scaled to length one; zero if all hold."""
        if not len(self.C):
            return 0.0
        z = np.concatenate([tau, np.asarray(F).reshape(-1)])
        length = np.linalg.norm(self.C, axis=1)
        return float(np.max((self.C @ z - self.d) / np.where(length > 0.0, length, 1.0), initial=0.0))

    def free(self, tau: Array) -> Array:
        """The displacement (3 P,) [m] of the patches with these torques and without ground forces."""
        return np.asarray(self.u0 + self.R @ tau)

    def check(self, tau: Array, F: Array) -> ContactCheck:
        """The independent check of the law of contact at these torques and forces."""
        return check_contact(self.W, self.free(tau), self.gap, self.mu, F)


@dataclass(frozen=True)
class FrameStep:
    """What a frame does: torques (na,) [N m], ground forces (P, 3) [N], what the patches do (`coulomb.OPEN`, ...).

    ``violation`` is that of the worst row (see `FrameProblem.row_violation`), ``outer`` counts linearizations, ``contact_solves``
    solutions of the contact; ``costs`` are the cost of the start and after each outer step. Of methods that solve the contact the
    forces obey its law whatever the ``status``, so an early stop is a valid answer.
    """

    tau: Array
    F: Array
    labels: NDArray[np.int64]
    cost: float
    violation: float
    status: Status
    outer: int
    contact_solves: int
    costs: tuple[float, ...]

    @property
    def rows_ok(self) -> bool:
        """Whether all rows hold."""
        return self.violation <= ROW_TOLERANCE


def _floats(given: Any) -> Array:
    return np.ascontiguousarray(given, dtype=np.float64)
