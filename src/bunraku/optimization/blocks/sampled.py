"""What all problems over samples with rows share: energy, blocks, values of the rows and the change of their shifts.

A problem of T samples with nv unknowns each and nd more has m rows a sample and n rows of its ends. Shifts are packed
(T m + n,): those of the samples, then those of the ends, all of which are equations.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.optimization.blocks.descent import Blocks

Flags: TypeAlias = NDArray[np.int64]


class SampledProblem(ABC):
    """A problem for the augmented Lagrangian whose kernel writes rows and blocks into arrays kept here."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int, int]:
        """The samples T, the unknowns nv of each, the border unknowns nd."""

    @property
    @abstractmethod
    def rows(self) -> tuple[Array, Flags]:
        """Scale and kind (1: inequality) of the m rows of a sample."""

    @property
    @abstractmethod
    def end_rows(self) -> int:
        """Number n of rows of the ends."""

    @abstractmethod
    def _evaluate(self, z: Array, weight: float, shifts: Array, jacobian: bool) -> tuple[float, float]:
        """Energy and objective at ``z``; writes ``_values`` and, with ``jacobian``, ``_blocks``."""

    @property
    def size(self) -> int:
        """Number of unknowns."""
        T, nv, nd = self.shape
        return T * nv + nd

    @cached_property
    def _values(self) -> tuple[Array, Array]:
        """Values (T, m) of the rows of the samples and (n,) of those of the ends, as the last evaluation found them."""
        return np.zeros((self.shape[0], len(self.rows[0]))), np.zeros(self.end_rows)

    @cached_property
    def _blocks(self) -> tuple[Array, Array, Array, Array, Array]:
        """H, B, C, g, gD of the last evaluation with derivatives."""
        T, nv, nd = self.shape
        return np.zeros((T, 3, nv, nv)), np.zeros((T, nd, nv)), np.zeros((nd, nd)), np.zeros((T, nv)), np.zeros(nd)

    def split(self, shifts: Array) -> tuple[Array, Array]:
        """Shifts of the samples (T, m) and of the ends (n,)."""
        T, m = self.shape[0], len(self.rows[0])
        return shifts[: T * m].reshape(T, m), shifts[T * m :]

    def zero_shifts(self) -> Array:
        """Shifts of a first solve: zero for every row."""
        return np.zeros(self.shape[0] * len(self.rows[0]) + self.end_rows)

    def energy(self, z: Array, weight: float, shifts: Array) -> float:
        """Objective and augmented rows at ``z``."""
        return self._evaluate(z, weight, shifts, False)[0]

    def objective(self, z: Array) -> float:
        """The objective alone."""
        return self._evaluate(z, 0.0, self.zero_shifts(), False)[1]

    def assemble(self, z: Array, weight: float, shifts: Array) -> Blocks:
        """The energy, its Gauss-Newton blocks and its gradient, in arrays that the next call overwrites."""
        total, _ = self._evaluate(z, weight, shifts, True)
        return (total, *self._blocks)

    def values(self, z: Array) -> tuple[Array, Array]:
        """Unscaled rows at ``z``: (T, m) of the samples, (n,) of the ends."""
        self._evaluate(z, 0.0, self.zero_shifts(), False)
        samples, ends = self._values
        return samples.copy(), ends.copy()

    def update(self, z: Array, shifts: Array) -> tuple[Array, float]:
        """Shifts after a round, s += r and s = max(0, s + g), and the largest violation (of complementarity too)."""
        samples, ends = self.values(z)
        old, old_ends = self.split(shifts)
        unequal = self.rows[1].astype(bool)
        wrong = np.where(unequal, np.maximum(samples, -old), samples)
        worst = max(float(np.abs(wrong).max(initial=0.0)), float(np.abs(ends).max(initial=0.0)))
        new = np.where(unequal, np.maximum(0.0, old + samples), old + samples)
        return np.concatenate([new.ravel(), old_ends + ends]), worst
