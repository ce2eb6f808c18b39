"""Rotations: matrices, unit quaternions, rotation vectors and Euler angles, vectorised over leading axes.

A matrix R_AB has shape (..., 3, 3) and turns vectors written in B into A. A quaternion (w, x, y, z) has shape (..., 4); q and
-q are the same rotation, and functions that return one return the *canonical* of the two: its first non-zero number is
positive. A rotation vector (..., 3) is the unit axis times the angle [rad].
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.errors import BadInput


def _array(values: ArrayLike, tail: tuple[int, ...], what: str) -> Array:
    """``values`` as floats whose trailing shape is ``tail``."""
    array = np.asarray(values, dtype=np.float64)
    if array.shape[-len(tail) :] != tail:
        raise BadInput(f"{what} has shape {array.shape}; the last axes must be {tail}")
    return array


def cross_matrix(vector: ArrayLike) -> Array:
    """The matrix K of a vector v with K u = v x u; (..., 3) to (..., 3, 3)."""
    v = _array(vector, (3,), "a vector")
    K: Array = np.zeros((*v.shape, 3))
    K[..., 0, 1], K[..., 0, 2] = -v[..., 2], v[..., 1]
    K[..., 1, 0], K[..., 1, 2] = v[..., 2], -v[..., 0]
    K[..., 2, 0], K[..., 2, 1] = -v[..., 1], v[..., 0]
    return K


def canonical(quaternion: ArrayLike) -> Array:
    """The same rotation as a unit quaternion whose first non-zero number is positive."""
    q = _array(quaternion, (4,), "a quaternion")
    norm = np.linalg.norm(q, axis=-1, keepdims=True)
    if not (norm > 0.0).all():
        raise BadInput("a quaternion of length zero is no rotation; write 1, 0, 0, 0 for none")
    first = np.argmax(q != 0.0, axis=-1)
    sign = np.sign(np.take_along_axis(q, np.expand_dims(first, -1), axis=-1))
    return sign * q / norm


def conjugate(quaternion: ArrayLike) -> Array:
    """The inverse of a unit quaternion: (w, -x, -y, -z)."""
    return _array(quaternion, (4,), "a quaternion") * np.array([1.0, -1.0, -1.0, -1.0])


def multiply_quaternions(first: ArrayLike, second: ArrayLike) -> Array:
    """Hamilton's product q_AC = q_AB q_BC, the sign as it falls out (not made canonical)."""
    a, b = _array(first, (4,), "a quaternion"), _array(second, (4,), "a quaternion")
    w = a[..., :1] * b[..., :1] - np.sum(a[..., 1:] * b[..., 1:], axis=-1, keepdims=True)
    v = a[..., :1] * b[..., 1:] + b[..., :1] * a[..., 1:] + np.cross(a[..., 1:], b[..., 1:])
    return np.concatenate([w, v], axis=-1)


def matrix_of_quaternion(quaternion: ArrayLike) -> Array:
    """R = I + 2 w K + 2 K^2 with K the cross matrix of (x, y, z), of the quaternion scaled to unit length."""
    q = _array(quaternion, (4,), "a quaternion")
    norm = np.linalg.norm(q, axis=-1, keepdims=True)
    if not (norm > 0.0).all():
        raise BadInput("a quaternion of length zero is no rotation; write 1, 0, 0, 0 for none")
    q = q / norm
    K = cross_matrix(q[..., 1:])
    return np.eye(3) + 2.0 * q[..., 0, None, None] * K + 2.0 * (K @ K)


def quaternion_of_matrix(matrix: ArrayLike) -> Array:
    """The canonical quaternion of a rotation matrix, accurate for every angle.

    The matrix fixes the products 4 q q^T (4 x 4); the row with the largest diagonal element is divided by its root
    (Shepperd), so that nothing is lost to cancellation near no turn, half a turn, or anywhere between.
    """
    R = _array(matrix, (3, 3), "a rotation matrix")
    d0, d1, d2 = R[..., 0, 0], R[..., 1, 1], R[..., 2, 2]
    Q: Array = np.empty((*R.shape[:-2], 4, 4))
    Q[..., 0, 0], Q[..., 1, 1] = 1.0 + d0 + d1 + d2, 1.0 + d0 - d1 - d2
    Q[..., 2, 2], Q[..., 3, 3] = 1.0 - d0 + d1 - d2, 1.0 - d0 - d1 + d2
    for i, (j, k) in enumerate(((1, 2), (2, 0), (0, 1))):
        Q[..., 0, i + 1] = Q[..., i + 1, 0] = R[..., k, j] - R[..., j, k]
        Q[..., j + 1, k + 1] = Q[..., k + 1, j + 1] = R[..., j, k] + R[..., k, j]
    best = np.argmax(np.diagonal(Q, axis1=-2, axis2=-1), axis=-1)
    return canonical(np.take_along_axis(Q, best[..., None, None], axis=-2)[..., 0, :])


def quaternion_of_vector(vector: ArrayLike) -> Array:
    """The quaternion (cos(a/2), sin(a/2) n) of a rotation vector a n; canonical."""
    v = _array(vector, (3,), "a rotation vector")
    angle = np.linalg.norm(v, axis=-1, keepdims=True)
    half = 0.5 * np.sinc(angle / (2.0 * np.pi))
    return canonical(np.concatenate([np.cos(0.5 * angle), half * v], axis=-1))


def vector_of_quaternion(quaternion: ArrayLike) -> Array:
    """The rotation vector of a quaternion, with angle in [0, pi]; accurate near both ends."""
    q = canonical(quaternion)
    w, v = q[..., :1], q[..., 1:]
    s = np.linalg.norm(v, axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(s, w)
    safe = np.where(s > 0.0, s, 1.0)
    return np.where(s > 0.0, angle / safe, 2.0) * v


def exponential(vector: ArrayLike) -> Array:
    """R = exp(K): the turn about v / |v| by |v| (Rodrigues), K the cross matrix of v.

    R = I + (sin a / a) K + (1 - cos a) / a^2 K^2 with a = |v|; the second factor as sinc(a/2)^2 / 2, exact near zero.
    """
    v = _array(vector, (3,), "a rotation vector")
    angle = np.linalg.norm(v, axis=-1)[..., None, None]
    K = cross_matrix(v)
    return np.eye(3) + np.sinc(angle / np.pi) * K + 0.5 * np.sinc(angle / (2.0 * np.pi)) ** 2 * (K @ K)


def logarithm(matrix: ArrayLike) -> Array:
    """The rotation vector of a matrix, with angle in [0, pi]: the inverse of :func:`exponential`, accurate near 0 and pi."""
    return vector_of_quaternion(quaternion_of_matrix(matrix))


def left_jacobian(vector: ArrayLike) -> Array:
    """J with exp(v + dv) = exp(J dv) exp(v) to first order: how the rotation vector's change turns the body, in outer axes.

    J = I + (1 - cos a) / a^2 K + (a - sin a) / a^3 K^2, a = |v|, K the cross matrix of v.
    """
    v = _array(vector, (3,), "a rotation vector")
    a = np.linalg.norm(v, axis=-1)[..., None, None]
    K = cross_matrix(v)
    safe = np.where(a > 0.05, a, 1.0)
    second = np.where(a > 0.05, (safe - np.sin(safe)) / safe**3, 1 / 6 - a**2 / 120 + a**4 / 5040 - a**6 / 362880)
    return np.eye(3) + 0.5 * np.sinc(a / (2.0 * np.pi)) ** 2 * K + second * (K @ K)


def axis_angle(axis: ArrayLike, angle: ArrayLike) -> Array:
    """The turn about ``axis`` (..., 3), of any length but zero, by ``angle`` [rad] (...)."""
    n = _array(axis, (3,), "an axis")
    norm = np.linalg.norm(n, axis=-1, keepdims=True)
    if not (norm > 0.0).all():
        raise BadInput("an axis of length zero has no direction")
    return exponential(n / norm * np.asarray(angle, dtype=np.float64)[..., None])


def least_turn(start: ArrayLike, end: ArrayLike) -> Array:
    """The least rotation that turns the direction ``start`` (..., 3) into ``end`` (..., 3), of any length but zero.

    Its axis is start x end. Where they are opposite every half turn about an axis square to them is least; then the axis nearest
    to the coordinate axis farthest from ``start`` is taken.
    """
    a, b = np.broadcast_arrays(_array(start, (3,), "a direction"), _array(end, (3,), "a direction"))
    sizes = [np.linalg.norm(v, axis=-1, keepdims=True) for v in (a, b)]
    if not all((size > 0.0).all() for size in sizes):
        raise BadInput("an axis of length zero has no direction")
    a, b = a / sizes[0], b / sizes[1]
    axis = np.cross(a, b)
    sine, cosine = np.linalg.norm(axis, axis=-1), np.sum(a * b, axis=-1)
    straight = sine < 1e-12
    square = np.eye(3)[np.argmin(np.abs(a), axis=-1)]
    square = square - np.sum(square * a, axis=-1, keepdims=True) * a
    angle = np.where(straight, np.where(cosine > 0.0, 0.0, np.pi), np.arctan2(sine, cosine))
    return axis_angle(np.where(straight[..., None], square, axis), angle)


def angle_between(first: ArrayLike, second: ArrayLike) -> Any:
    """The angle [rad] in [0, pi] of the turn from one rotation matrix to another; leading axes kept."""
    relative = np.swapaxes(_array(first, (3, 3), "a rotation matrix"), -1, -2) @ _array(second, (3, 3), "a rotation matrix")
    return np.linalg.norm(logarithm(relative), axis=-1)


def slerp(first: ArrayLike, second: ArrayLike, share: ArrayLike) -> Array:
    """The rotation a ``share`` (0 to 1) of the way from one quaternion to another: constant speed, the short way round.

    q(s) = q0 exp(s log(q0^-1 q1)); at half a turn apart both ways are equally short and one is taken. Canonical.
    """
    q0, q1 = canonical(first), canonical(second)
    step = vector_of_quaternion(multiply_quaternions(conjugate(q0), q1))
    turned = quaternion_of_vector(np.asarray(share, dtype=np.float64)[..., None] * step)
    return canonical(multiply_quaternions(q0, turned))


def nearest_rotation(matrix: ArrayLike) -> Array:
    """The rotation nearest to a matrix in the Frobenius norm: U V^T of its singular value decomposition, determinant +1."""
    U, _, Vt = np.linalg.svd(_array(matrix, (3, 3), "a matrix"))
    flip = np.ones((*U.shape[:-2], 3))
    flip[..., 2] = np.sign(np.linalg.det(U @ Vt))
    return (U * flip[..., None, :]) @ Vt
