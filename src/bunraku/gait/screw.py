"""The rigid shift of a cycle: how far a periodic motion goes and turns, all at once or a share of it."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.errors import BadInput

__all__ = ["base_columns", "part_of_shift", "rotated_forces", "screw_velocity", "shifted", "unroll"]

Array = NDArray[np.float64]
Columns = tuple[int, int, int]
BASE: Columns = (0, 1, 3)


def base_columns(names: tuple[str, ...]) -> Columns:
    """Where x, y and the outermost turn of the base (``*.tx``, ``*.ty``, ``*.rz``) stand among coordinates."""
    found = []
    for end in (".tx", ".ty", ".rz"):
        places = [i for i, name in enumerate(names) if name.endswith(end)]
        if not places:
            raise BadInput(f"no coordinate ends in {end}; a character that goes has a free base")
        found.append(places[0])
    return found[0], found[1], found[2]


def screw_velocity(shift: ArrayLike) -> Array:
    """The constant velocity u (2,) [m per cycle], in the frame that it carries, of the screw that makes the shift in one cycle."""
    D = np.asarray(shift, dtype=np.float64)
    if D.shape != (3,) or not np.isfinite(D).all():
        raise BadInput(f"a shift of {D} arrived; it takes three finite numbers: x, y and the turn")
    if abs(D[2]) > 1.9 * math.pi:
        raise BadInput(f"a turn of {math.degrees(D[2]):g} deg per cycle arrived; split cycles that turn nearly once around or more")
    return np.asarray(np.linalg.solve(_V(D[2]), D[:2]), dtype=np.float64)


def part_of_shift(shift: ArrayLike, share: ArrayLike) -> tuple[Array, Array]:
    """Translation (..., 2) [m] and turn (...) [rad] after a ``share`` of the shift D = (Dx, Dy, Dyaw), along one screw.

    The screw is the motion with constant velocity u in the frame that it carries and constant turning which makes D at share 1:
    exp(s (u, Dyaw)), translation s V(s Dyaw) u with V(a) = [[sin a, cos a - 1], [1 - cos a, sin a]] / a and
    u = V(Dyaw)^-1 (Dx, Dy). Shares beyond 1 go on: share 2 is the shift twice.
    """
    u = screw_velocity(shift)
    s, turn = np.asarray(share, dtype=np.float64), float(np.asarray(shift, dtype=np.float64)[2])
    return s[..., None] * (_V(s * turn) @ u), s * turn


def shifted(q: ArrayLike, shift: ArrayLike, share: ArrayLike = 1.0, base: Columns = BASE) -> Array:
    """Coordinates (..., nq) moved by a ``share`` (...) of the shift, negative: back. Columns ``base``: x, y and yaw.

    (x, y) becomes Rz(turn) (x, y) + translation and yaw becomes yaw + turn; everything else stays.
    """
    moved = np.array(q, dtype=np.float64)
    move, turn = part_of_shift(shift, np.broadcast_to(np.asarray(share, dtype=np.float64), moved.shape[:-1]))
    x, y, yaw = base
    c, s = np.cos(turn), np.sin(turn)
    px, py = moved[..., x].copy(), moved[..., y].copy()
    moved[..., x] = c * px - s * py + move[..., 0]
    moved[..., y] = s * px + c * py + move[..., 1]
    moved[..., yaw] += turn
    return moved


def rotated_forces(forces: ArrayLike, turn: ArrayLike) -> Array:
    """Forces (..., n_e, 3) turned about z by angles (...) [rad]."""
    f = np.array(forces, dtype=np.float64)
    angle = np.asarray(turn, dtype=np.float64)[..., None]
    c, s = np.cos(angle), np.sin(angle)
    x, y = f[..., 0].copy(), f[..., 1].copy()
    f[..., 0], f[..., 1] = c * x - s * y, s * x + c * y
    return f


def unroll(q: ArrayLike, shift: ArrayLike, cycles: int, base: Columns = BASE) -> Array:
    """The samples (T, nq) of one cycle gone through ``cycles`` times: (cycles T + 1, nq), the last the first of the next cycle."""
    one = np.asarray(q, dtype=np.float64)
    T = len(one)
    k = np.arange(cycles * T + 1)
    return shifted(one[k % T], shift, k // T, base)


def _V(angle: ArrayLike) -> Array:
    """(..., 2, 2): the mean of Rz over the turns from 0 to ``angle``."""
    a = np.asarray(angle, dtype=np.float64)
    along = np.sinc(a / math.pi)
    aside = 0.5 * a * np.sinc(0.5 * a / math.pi) ** 2
    return np.stack([np.stack([along, -aside], axis=-1), np.stack([aside, along], axis=-1)], axis=-2)
