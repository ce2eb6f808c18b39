"""What problems of motions over the ground share: samples, the shift of their end, ends, and the names of what is violated.

Unknowns z: for each of T samples nv numbers, the coordinates q first, then vectors of the ground on the end effectors; then the
shift D = (dx, dy, dyaw) that carries the start of a cycle to its end, or the last pose to where it is reached.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.mechanics.centroidal.arrays import EndConstraints, Neighbours
from bunraku.mechanics.centroidal.cycle_kernels import OPEN, PERIODIC, wrap
from bunraku.mechanics.centroidal.model import CentroidalModel
from bunraku.optimization.augmented_lagrangian import AugmentedSolution
from bunraku.optimization.blocks.sampled import SampledProblem

Flags = NDArray[np.int64]


@dataclass(frozen=True)
class GroundProblem(SampledProblem):
    """``contacts`` and ``heights`` (T, n_e), ``step`` h [s], ``travel`` (x, y [m], yaw [rad]) of the motion, NaN where free."""

    model: CentroidalModel
    contacts: Flags
    heights: Array
    step: float
    periodic: bool
    travel: tuple[float, float, float]

    def __post_init__(self) -> None:
        if self.samples < 5:
            raise BadInput(f"a plan of {self.samples} samples arrived; at least 5 are needed")

    @property
    def samples(self) -> int:
        """Number of samples T."""
        return len(self.contacts)

    @property
    def intervals(self) -> int:
        """Number of steps, T of a cycle, T - 1 of a motion that happens once."""
        return self.samples if self.periodic else self.samples - 1

    @property
    def nv(self) -> int:
        """Unknowns of a sample."""
        return self.model.nv

    @property
    def mirror(self) -> tuple[Flags, Array]:
        """Permutation and sign (nv,) of what half a cycle does to the unknowns of a sample."""
        return np.arange(self.nv), np.ones(self.nv)

    @property
    def cyclic(self) -> bool:
        """Whether the last sample is coupled with the first."""
        return self.periodic

    @property
    def shape(self) -> tuple[int, int, int]:
        """The blocks T, the unknowns nv of each, the three unknowns of the shift."""
        return self.samples, self.nv, 3

    @property
    def end_rows(self) -> int:
        """Constraints of pins (2 nq), gauge and travel (3 each)."""
        return 2 * self.model.nq + 6

    def extended(self, before: Flags, after: Flags) -> Flags:
        """Contacts (T + 2, n_e) with those of the samples beyond the ends."""
        return np.vstack([before[None], self.contacts, after[None]])

    def neighbours(self, before: Array | None, after: Array | None) -> Neighbours:
        """The samples beyond the ends of a motion that happens once, if there are any."""
        nothing = np.zeros(self.nv)
        return Neighbours(
            PERIODIC if self.periodic else OPEN, *self.mirror,
            int(before is not None), nothing if before is None else before,
            int(after is not None), nothing if after is None else after,
        )  # fmt: skip

    def ended(
        self, scale: float, start: Array | None, end: Array | None, gauge: bool, mirrored: bool, origin: Array
    ) -> EndConstraints:
        """The constraints at the ends: ``start`` and ``end`` are pinned poses; ``origin`` (3,) of the travel of a motion."""
        none, travel = np.zeros(self.model.nq), np.array(self.travel, dtype=np.float64)
        return EndConstraints(
            scale,
            int(start is not None), none if start is None else start,
            int(end is not None), none if end is None else end,
            int(gauge), int(mirrored), np.nan_to_num(travel), np.isfinite(travel).astype(np.float64), origin,
        )  # fmt: skip

    def carried(self, v: Array, shift: Array, cycles: int) -> Array:
        """The unknowns (nv,) of a sample as they are so many cycles (or halves of a mirrored one) later."""
        nq, nv, mirror = self.model.nq, self.nv, self.mirror
        out, M, N = np.empty(nv), np.empty((nv, nv)), np.empty((nv, 3))
        for _ in range(abs(cycles)):
            wrap(np.ascontiguousarray(v), nq, np.ascontiguousarray(shift), cycles < 0, *mirror, out, M, N)
            v = out.copy()
        return np.array(v)

    @abstractmethod
    def _worst(self, worst: Array) -> dict[str, float]:
        """The largest violation of each kind, from those (m - 6,) of all constraints of a sample but Newton's and Euler's."""

    def violations(self, z: Array) -> dict[str, float]:
        """The largest violation of each kind of constraint, in its own unit."""
        samples, ends = self.values(z)
        worst = np.where(self.rows[1].astype(bool), np.maximum(samples, 0.0), np.abs(samples)).max(axis=0)
        nq, ends = self.model.nq, np.abs(ends)
        return {
            "newton [N]": most(worst[:3]),
            "euler [N·m]": most(worst[3:6]),
            **self._worst(worst[6:]),
            "start pose": most(ends[:nq]),
            "end pose": most(ends[nq : 2 * nq]),
            "gauge": most(ends[2 * nq : 2 * nq + 3]),
            "goal distance [m]": most(ends[2 * nq + 3 : 2 * nq + 5]),
            "goal turn [rad]": float(ends[2 * nq + 5]),
        }


def most(part: Array) -> float:
    """The largest of numbers that are not negative; 0 if there are none."""
    return float(part.max(initial=0.0))


class GroundSolution:
    """What plans share: the samples that solve a problem of a motion over the ground."""

    problem: GroundProblem
    solution: AugmentedSolution

    @property
    def unknowns(self) -> Array:
        """The unknowns (T, nv) of the samples."""
        T, nv, _ = self.problem.shape
        return self.solution.z[: T * nv].reshape(T, nv)

    @property
    def q(self) -> Array:
        """Coordinates (T, nq) of the samples."""
        return self.unknowns[:, : self.problem.model.nq]

    @property
    def shift(self) -> Array:
        """D = (dx, dy, dyaw) [m, rad]."""
        return self.solution.z[-3:]
