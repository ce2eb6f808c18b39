"""Which combinations are run: a grid, random points, or a Latin hypercube; and what a point of the unit cube means."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bunraku.arrays import Array


@dataclass(frozen=True)
class VariedInput:
    """One thing that varies: the ``values`` it takes, or a range from ``low`` to ``high`` of which a grid takes ``count``.

    ``spacing`` "log": by equal factors. ``whole``: only whole numbers are taken, the nearest ones.
    """

    name: str
    values: tuple[Any, ...] = ()
    low: float = 0.0
    high: float = 1.0
    count: int = 0
    spacing: str = "linear"
    whole: bool = False

    @property
    def varies(self) -> bool:
        """Whether it can take more than one value."""
        return len(self.values) != 1

    def at(self, u: float) -> Any:
        """The value at ``u`` in [0, 1): of a list the one whose equal share of [0, 1) it falls into."""
        if self.values:
            return self.values[min(int(u * len(self.values)), len(self.values) - 1)]
        if self.spacing == "log":
            value = math.exp(math.log(self.low) + u * (math.log(self.high) - math.log(self.low)))
        else:
            value = self.low + u * (self.high - self.low)
        return round(value) if self.whole else value

    def steps(self) -> tuple[Any, ...]:
        """The values a grid takes, both ends exactly."""
        if self.values:
            return self.values
        inner = [self.at(k / (self.count - 1)) for k in range(1, self.count - 1)]
        ends = (round(self.low), round(self.high)) if self.whole else (self.low, self.high)
        return tuple(dict.fromkeys([ends[0], *inner, ends[1]]))


def grid(axes: Sequence[VariedInput]) -> list[tuple[Any, ...]]:
    """Every combination; the last axis goes fastest."""
    return list(itertools.product(*(axis.steps() for axis in axes)))


def sampled(axes: Sequence[VariedInput], points: Array) -> list[tuple[Any, ...]]:
    """The combinations at ``points`` (n, d) of the unit cube, d the number of axes that vary."""
    combinations = []
    for row in points:
        rest = iter(row.tolist())
        combinations.append(tuple(axis.at(next(rest)) if axis.varies else axis.values[0] for axis in axes))
    return combinations


def random_points(runs: int, dimensions: int, seed: int) -> Array:
    """Independent uniform points (runs, dimensions) of [0, 1)."""
    return np.random.default_rng(seed).random((runs, dimensions))


def hypercube_points(runs: int, dimensions: int, seed: int) -> Array:
    """A Latin hypercube (runs, dimensions) of [0, 1): in every dimension each of the n equal strata [k/n, (k+1)/n) holds one point.

    McKay, Beckman and Conover 1979: x_ij = (p_j(i) + u_ij) / n with independent random permutations p_j and uniform u_ij.
    """
    rng = np.random.default_rng(seed)
    strata = np.stack([rng.permutation(runs) for _ in range(dimensions)], axis=1) if dimensions else np.zeros((runs, 0))
    return np.minimum((strata + rng.random((runs, dimensions))) / runs, np.nextafter(1.0, 0.0))
