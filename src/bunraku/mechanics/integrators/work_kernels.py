"""What the kernels of steps take and work in. Allocating arrays anew in every iteration costs more than the arithmetic."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.mechanics.dynamics.compiled import kernel
from bunraku.mechanics.dynamics.element_kernels import make_room
from bunraku.mechanics.dynamics.model import Room

AGE, FACTORS, FALLS = 0, 1, 2


class Newton(NamedTuple):
    """How a step is solved: its length ``dt`` [s], the ``tolerance`` of balance and constraints, and the most iterations."""

    dt: float
    tolerance: float
    iterations: int


class Pull(NamedTuple):
    """An observer's pull towards the references (nq,) at both ends of a step, with ``rate`` [rad/s]; none where that is 0."""

    start: Array
    end: Array
    rate: float


class Work(NamedTuple):
    """Work arrays; their meaning is that of the kernels' local names.

    ``mark``: AGE steps since the matrix was made (-1: none), FACTORS how many were made, FALLS the residual's fall per step of age.
    """

    room: Room
    arrived: Room
    q: Array
    v: Array
    Lv: Array
    Lq: Array
    F: Array
    pull: Array
    a: Array
    spare: Array
    H: Array
    mixed: Array
    Fq: Array
    Fv: Array
    Fu: Array
    u: Array
    J: Array
    pivot: NDArray[np.int64]
    r: Array
    change: Array
    h: Array
    Dh: Array
    Dh1: Array
    mark: Array
    none: Array


@kernel
def make_work(model, nu):
    """Work arrays for a model with ``nu`` inputs, which are zero."""
    n, nc = model.coordinate_f.shape[0], model.constraint_i.shape[0]
    size, q = model.dynamic.shape[0] + nc, np.empty(n)
    vectors, squares = np.empty((7, n)), np.empty((3, n, n))
    return Work(
        make_room(model, q),
        make_room(model, q),
        q,
        vectors[0],
        vectors[1],
        vectors[2],
        vectors[3],
        vectors[4],
        vectors[5],
        vectors[6],
        np.empty((3, n, n)),
        squares[0],
        squares[1],
        squares[2],
        np.empty((n, nu)),
        np.zeros(nu),
        np.empty((size, size)),
        np.empty(size, np.int64),
        np.empty(size),
        np.empty(size),
        np.empty(nc),
        np.empty((nc, n)),
        np.empty((nc, n)),
        np.zeros(3),
        np.empty((0, 0)),
    )
