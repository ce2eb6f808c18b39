"""Euler angles: three turns about the axes of the moving frame, in any of the six orders, with the distance to the singularity.

R = R_i(a) R_j(b) R_k(c) for the sequence "ijk", outermost first (intrinsic). When cos b = 0 the first and last axis coincide
and only a + c or a - c is determined: the singularity. Its distance is pi/2 - |b| [rad], folded into [0, pi/2].
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.errors import BadInput

SEQUENCES = ("xyz", "xzy", "yxz", "yzx", "zxy", "zyx")


def turn_about(letter: str, angle: ArrayLike) -> Array:
    """The turn about the axis x, y or z by ``angle`` [rad]; (...) to (..., 3, 3)."""
    i = "xyz".index(letter)
    j, k = (i + 1) % 3, (i + 2) % 3
    a = np.asarray(angle, dtype=np.float64)
    R: Array = np.zeros((*a.shape, 3, 3))
    R[..., i, i] = 1.0
    R[..., j, j] = R[..., k, k] = np.cos(a)
    R[..., k, j] = np.sin(a)
    R[..., j, k] = -R[..., k, j]
    return R


def _places(sequence: str) -> tuple[int, int, int, float]:
    """The axes i, j, k of a sequence and its sign: +1 when they are a cyclic permutation of x, y, z."""
    if sequence not in SEQUENCES:
        raise BadInput(f"{sequence!r} is no sequence of turns; choose one of {', '.join(SEQUENCES)}")
    i, j, k = ("xyz".index(letter) for letter in sequence)
    return i, j, k, 1.0 if (i + 1) % 3 == j else -1.0


def euler_matrix(angles: ArrayLike, sequence: str) -> Array:
    """R = R_i(a) R_j(b) R_k(c) from angles (..., 3) [rad], in the order of the sequence, outermost first."""
    _places(sequence)
    given = np.asarray(angles, dtype=np.float64)
    if given.shape[-1:] != (3,):
        raise BadInput(f"Euler angles have shape {given.shape}; the last axis must be 3")
    first, second, third = (turn_about(letter, given[..., n]) for n, letter in enumerate(sequence))
    return first @ second @ third


def euler_angles(matrix: ArrayLike, sequence: str) -> tuple[Array, Array]:
    """Angles (..., 3) of a rotation matrix, the middle one in [-pi/2, pi/2], and the distance (...) to the singularity.

    The last angle is computed after the first turn is taken off, so that the three angles give the matrix back to rounding
    even at the singularity, where one of infinitely many answers is chosen.
    """
    i, j, k, s = _places(sequence)
    R = np.asarray(matrix, dtype=np.float64)
    if R.shape[-2:] != (3, 3):
        raise BadInput(f"a rotation matrix has shape {R.shape}; the last axes must be (3, 3)")
    sine, cosine = s * R[..., i, k], np.hypot(R[..., i, i], R[..., i, j])
    a = np.arctan2(-s * R[..., j, k], R[..., k, k])
    b = np.arctan2(sine, cosine)
    sa, ca = s * np.sin(a), np.cos(a)
    c = np.arctan2(s * (ca * R[..., j, i] + sa * R[..., k, i]), ca * R[..., j, j] + sa * R[..., k, j])
    return np.stack([a, b, c], axis=-1), np.arctan2(cosine, np.abs(sine))


def euler_curve(matrices: ArrayLike, sequence: str, start: ArrayLike | None = None) -> tuple[Array, Array]:
    """Euler angles (n, 3) of a sampled rotation (n, 3, 3) without jumps, and the distance (n,) to the singularity.

    (a, b, c) and (a + pi, pi - b, c + pi) are the same rotation, and so are full turns more or less: each sample takes the
    one nearest to the sample before, the first the one nearest to ``start`` (zero). At the singularity itself, the last
    angle is kept.
    """
    R = np.asarray(matrices, dtype=np.float64)
    if R.ndim != 3:
        raise BadInput(f"a curve of rotations has shape {R.shape}; (samples, 3, 3) is needed")
    principal, distance = euler_angles(R, sequence)
    _, _, _, s = _places(sequence)
    other = np.stack([principal[:, 0] + np.pi, np.pi - principal[:, 1], principal[:, 2] + np.pi], axis=-1)
    out: Array = np.empty_like(principal)
    before = (0.0, 0.0, 0.0) if start is None else tuple(np.asarray(start, dtype=np.float64).tolist())
    for n, (one, two, far) in enumerate(zip(principal.tolist(), other.tolist(), distance.tolist(), strict=True)):
        if far < 1e-9:
            shift = before[2] - one[2]
            one = two = [one[0] - s * math.copysign(1.0, one[1]) * shift, one[1], before[2]]
        near = [
            tuple(x - math.tau * round((x - y) / math.tau) for x, y in zip(angles, before, strict=True)) for angles in (one, two)
        ]
        away = [sum(abs(x - y) for x, y in zip(angles, before, strict=True)) for angles in near]
        before = out[n] = near[0] if away[0] <= away[1] else near[1]
    return out, distance


def roll_pitch_yaw_matrix(angles: ArrayLike) -> Array:
    """The matrix of URDF's roll, pitch, yaw (..., 3) [rad]: R_z(yaw) R_y(pitch) R_x(roll)."""
    return euler_matrix(np.asarray(angles, dtype=np.float64)[..., ::-1], "zyx")


def roll_pitch_yaw(matrix: ArrayLike) -> Array:
    """URDF's roll, pitch, yaw (..., 3) [rad] of a rotation matrix."""
    angles, _ = euler_angles(matrix, "zyx")
    return angles[..., ::-1].copy()
