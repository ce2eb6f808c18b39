"""The arrays a compiled loop works in, made once: allocating them anew in every iteration costs more than the arithmetic."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.mechanics.dynamics.lagrangian_layout import WORK
from bunraku.mechanics.dynamics.system import System

Indices = NDArray[np.int64]


class Work(NamedTuple):
    """Work arrays of the kernels of this room; their meaning is that of the kernels' local names."""

    W: Array
    W2: Array
    slots: Array
    where: Indices
    vectors: Array
    H: Array
    mixed: Array
    Fq: Array
    Fv: Array
    Fu: Array
    u: Array
    J: Array
    pivot: Indices
    r: Array
    change: Array
    h: Array
    Dh: Array
    Dh1: Array
    none: Array


def make_work(system: System) -> Work:
    """Work arrays for a system; its inputs u are zero."""
    model, n, nc, size = system.model, system.nq, system.nc, system.nd + system.nc
    rows, longest = int(model.sizes[4]), int(model.sizes[3])
    return Work(
        W=np.zeros((rows, WORK)),
        W2=np.zeros((rows, WORK)),
        slots=np.zeros((longest, 6)),
        where=np.zeros(longest, dtype=np.int64),
        vectors=np.zeros((8, n)),
        H=np.zeros((3, n, n)),
        mixed=np.zeros((n, n)),
        Fq=np.zeros((n, n)),
        Fv=np.zeros((n, n)),
        Fu=np.zeros((n, system.nu)),
        u=np.zeros(system.nu),
        J=np.zeros((size, size)),
        pivot=np.zeros(size, dtype=np.int64),
        r=np.zeros(size),
        change=np.zeros(size),
        h=np.zeros(nc),
        Dh=np.zeros((nc, n)),
        Dh1=np.zeros((nc, n)),
        none=np.zeros((0, 0)),
    )
