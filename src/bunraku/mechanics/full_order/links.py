"""Links between rigid bodies as rows of constraints, with exact derivatives.

Bodies i and j with centres of mass c, rotations R. Three kinds of rows, all vectorized over the rows of their kind:

    point       (c_j + R_j s) - (c_i + R_i r) = 0                 three rows in world axes
    plane       (R_i n) . ((c_j + R_j s) - (c_i + R_i r)) = 0
    direction   (R_i n) . (R_j m) - k = 0

A turn of body b by a small world vector phi_b gives d(R a) = phi x R a. :meth:`LinkRows.assemble` returns the values C, the table
C_b of derivatives by (dc, phi) of all bodies, and the derivative of the generalized forces C_b' lam by them (the second derivative
of the constraints, contracted; not symmetric, as torques are taken in world axes).

Which rows a link has: points as many as it has no free slides (in its axes when it has some); turns by how many are free: none,
three direction rows; one, two rows; two (universal), one; three (ball), none. Prescribed turns before the first and after the last
free one turn the frames F and G; one between two free ones changes k.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bunraku.arrays import Array, Indices
from bunraku.geometry.rotations import axis_angle, cross_matrix
from bunraku.mechanics.full_order.description import Freedom, Link


@dataclass(frozen=True)
class Turned:
    """Where a link's rows stand: its bodies, vectors in body axes about the centres of mass, at given values of the motors."""

    points: list[tuple[int, int, Array, Array]]
    planes: list[tuple[int, int, Array, Array, Array]]
    directions: list[tuple[int, int, Array, Array, float]]


def outer_rows(i: int, j: int, link: Link, centers: tuple[Array, Array], motors: Array) -> Turned:
    """The rows of one link between bodies i and j (whose centres of mass are at ``centers`` in their frames)."""
    (R_F, r), (R_G, s) = link.pose, link.child_pose
    slides = [f for f in link.freedoms if f.kind == "slide"]
    turns = [f for f in link.freedoms if f.kind == "hinge"]
    shift = sum((_value(f, motors) * _unit(f.direction) for f in slides if f.motor >= 0), np.zeros(3))
    r, s = r + R_F @ shift - centers[0], s - centers[1]
    result = Turned([], [], [])
    free = [_unit(f.direction) for f in slides if f.motor < 0]
    if not free:
        result.points.append((i, j, r, s))
    elif len(free) < 3:
        held = np.linalg.svd(np.array(free))[2][len(free) :]
        result.planes.extend((i, j, R_F @ n, r, s) for n in held)
    loose = [k for k, f in enumerate(turns) if f.motor < 0]
    if len(loose) == 3:
        return result
    first, last = (loose[0], loose[-1]) if loose else (len(turns), len(turns) - 1)
    R_F, R_G = R_F @ _turn(turns[:first], motors), R_G @ _turn(turns[last + 1 :], motors).T
    if len(loose) == 2:
        between = _turn(turns[first + 1 : last], motors)
        n, m = _unit(turns[first].direction), _unit(turns[last].direction)
        result.directions.append((i, j, R_F @ n, R_G @ m, float(n @ between @ m)))
        return result
    a = _unit(turns[first].direction) if loose else np.array([0.0, 0.0, 1.0])
    b = np.eye(3)[int(np.argmin(np.abs(a)))]
    b = _unit(b - a * (a @ b))
    c = np.cross(a, b)
    pairs = [(b, a), (c, a)] + ([] if loose else [(b, c)])
    result.directions.extend((i, j, R_F @ n, R_G @ m, 0.0) for n, m in pairs)
    return result


class LinkRows:
    """The rows of all links of a model with ``bodies`` moving bodies (index ``bodies``: the ground) at given motor values."""

    def __init__(self, rows: list[Turned], bodies: int) -> None:
        self._bodies = bodies
        points = [row for turned in rows for row in turned.points]
        planes = [row for turned in rows for row in turned.planes]
        directions = [row for turned in rows for row in turned.directions]
        self._points = _stack(points, 2)
        self._planes = _stack(planes, 3)
        self._directions = _stack([row[:4] for row in directions], 2)
        self._cosines = np.array([row[4] for row in directions])
        self.count = 3 * len(points) + len(planes) + len(directions)

    @staticmethod
    def owners(rows: list[Turned]) -> Indices:
        """Which link each row belongs to, in the order of the rows."""
        by_kind = [[k] * 3 * len(t.points) for k, t in enumerate(rows)] + [[k] * len(t.planes) for k, t in enumerate(rows)]
        by_kind += [[k] * len(t.directions) for k, t in enumerate(rows)]
        return np.array([k for part in by_kind for k in part], dtype=np.int64)

    def values(self, c: Array, R: Array) -> Array:
        """C (count,) at centres c (bodies + 1, 3) and rotations R (bodies + 1, 3, 3), the ground last."""
        i, j, r, s = self._points
        point = c[j] + _turned(R[j], s) - c[i] - _turned(R[i], r)
        i, j, n, r, s = self._planes
        apart = c[j] + _turned(R[j], s) - c[i] - _turned(R[i], r)
        plane = np.sum(_turned(R[i], n) * apart, axis=1)
        i, j, n, m = self._directions
        direction = np.sum(_turned(R[i], n) * _turned(R[j], m), axis=1) - self._cosines
        return np.concatenate([point.ravel(), plane, direction])

    def assemble(self, c: Array, R: Array, lam: Array) -> tuple[Array, Array, Array]:
        """C (count,), C_b (count, 6 bodies) and the derivative (6 bodies, 6 bodies) of C_b' lam."""
        B = self._bodies + 1
        C, J, H = np.zeros(self.count), np.zeros((self.count, B, 2, 3)), np.zeros((B, 2, 3, B, 2, 3))
        self._assemble_points(c, R, lam, C, J, H)
        self._assemble_planes(c, R, lam, C, J, H)
        self._assemble_directions(R, lam, C, J, H)
        n = 6 * self._bodies
        return C, J.reshape(self.count, 6 * B)[:, :n], H.reshape(6 * B, 6 * B)[:n, :n]

    def _assemble_points(self, c: Array, R: Array, lam: Array, C: Array, J: Array, H: Array) -> None:
        i, j, r, s = self._points
        k = len(i)
        a, b = _turned(R[i], r), _turned(R[j], s)
        C[: 3 * k] = (c[j] + b - c[i] - a).ravel()
        rows = np.arange(3 * k).reshape(k, 3)
        unit, A, Bx = np.eye(3), cross_matrix(a), cross_matrix(b)
        for p in range(3):
            J[rows[:, p], i, 0] -= unit[p]
            J[rows[:, p], j, 0] += unit[p]
            J[rows[:, p], i, 1] += A[:, p]
            J[rows[:, p], j, 1] -= Bx[:, p]
        f = lam[: 3 * k].reshape(k, 3)
        for e in range(k):  # torque b x f on j, -a x f on i
            H[j[e], 1, :, j[e], 1, :] += np.outer(b[e], f[e]) - (b[e] @ f[e]) * unit
            H[i[e], 1, :, i[e], 1, :] -= np.outer(a[e], f[e]) - (a[e] @ f[e]) * unit

    def _assemble_planes(self, c: Array, R: Array, lam: Array, C: Array, J: Array, H: Array) -> None:
        i, j, n, r, s = self._planes
        first = 3 * len(self._points[0])
        for e in range(len(i)):
            a, b, N = R[i[e]] @ r[e], R[j[e]] @ s[e], R[i[e]] @ n[e]
            d, row, f = c[j[e]] + b - c[i[e]] - a, first + e, lam[first + e]
            arm = d + a  # from the centre of i to the point of j
            C[row] = N @ d
            J[row, i[e], 0] -= N
            J[row, j[e], 0] += N
            J[row, i[e], 1] += np.cross(N, arm)
            J[row, j[e], 1] += np.cross(b, N)
            Nx, bx, armx = cross_matrix(N), cross_matrix(b), cross_matrix(arm)
            # N turns with i; arm moves with c_j - c_i and b, not with phi_i
            H[i[e], 0, :, i[e], 1, :] += f * Nx
            H[j[e], 0, :, i[e], 1, :] -= f * Nx
            H[i[e], 1, :, i[e], 1, :] += f * (armx @ Nx)
            H[i[e], 1, :, j[e], 0, :] += f * Nx
            H[i[e], 1, :, i[e], 0, :] -= f * Nx
            H[i[e], 1, :, j[e], 1, :] -= f * (Nx @ bx)
            H[j[e], 1, :, i[e], 1, :] -= f * (bx @ Nx)
            H[j[e], 1, :, j[e], 1, :] += f * (Nx @ bx)

    def _assemble_directions(self, R: Array, lam: Array, C: Array, J: Array, H: Array) -> None:
        i, j, n, m = self._directions
        first = self.count - len(i)
        a, b = _turned(R[i], n), _turned(R[j], m)
        rows = first + np.arange(len(i))
        C[first:] = np.sum(a * b, axis=1) - self._cosines
        across = np.cross(a, b)
        J[rows, i, 1] += across
        J[rows, j, 1] -= across
        A, B = cross_matrix(a), cross_matrix(b)
        for e in range(len(i)):  # torque f a x b on i, the opposite on j
            f = lam[first + e]
            by_i, by_j = f * (B[e] @ A[e]), -f * (A[e] @ B[e])
            H[i[e], 1, :, i[e], 1, :] += by_i
            H[i[e], 1, :, j[e], 1, :] += by_j
            H[j[e], 1, :, i[e], 1, :] -= by_i
            H[j[e], 1, :, j[e], 1, :] -= by_j


def _value(freedom: Freedom, motors: Array) -> float:
    return freedom.ratio * float(motors[freedom.motor]) + freedom.offset


def _turn(freedoms: list[Freedom], motors: Array) -> Array:
    R: Array = np.eye(3)
    for freedom in freedoms:
        R = R @ axis_angle(freedom.direction, _value(freedom, motors))
    return R


def _unit(vector: object) -> Array:
    values = np.asarray(vector, dtype=np.float64)
    unit: Array = values / np.linalg.norm(values)
    return unit


def _turned(R: Array, vectors: Array) -> Array:
    return np.einsum("kij,kj->ki", R, vectors)


def _stack(rows: Sequence[tuple[Any, ...]], vectors: int) -> tuple[Any, ...]:
    i = np.array([row[0] for row in rows], dtype=np.int64)
    j = np.array([row[1] for row in rows], dtype=np.int64)
    rest = (np.array([row[2 + k] for row in rows]).reshape(len(rows), 3) for k in range(vectors))
    return i, j, *rest
