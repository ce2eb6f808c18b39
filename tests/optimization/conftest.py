"""Small constrained problems whose unknowns are samples, differentiated exactly by complex steps."""

from __future__ import annotations

import numpy as np
import pytest


def complex_jacobian(function, z):
    """Jacobian of a function written for complex arrays."""
    columns = []
    for k in range(len(z)):
        moved = z.astype(complex)
        moved[k] += 1e-30j
        columns.append(function(moved).imag / 1e-30)
    return np.array(columns).T


def to_blocks(A, shape, cyclic):
    """H, B, C of a full matrix; fails when it is not block-pentadiagonal."""
    T, nv, nd = shape
    H, seen = np.zeros((T, 3, nv, nv)), np.zeros(A.shape, dtype=bool)
    for i in range(T):
        for d in range(3):
            if i + d < T or cyclic:
                rows, columns = slice((i + d) % T * nv, ((i + d) % T + 1) * nv), slice(i * nv, (i + 1) * nv)
                H[i, d] = A[rows, columns]
                seen[rows, columns] = seen[columns, rows] = True
    seen[T * nv :], seen[:, T * nv :] = True, True
    assert not A[~seen].any()
    B = np.ascontiguousarray(A[T * nv :, : T * nv].reshape(nd, T, nv).transpose(1, 0, 2))
    return H, B, np.ascontiguousarray(A[T * nv :, T * nv :])


class ShiftedLeastSquares:
    """Minimise |f(z)|^2 subject to r(z) = 0 and g(z) <= 0, as :class:`AugmentedProblem` asks; ``scales`` of rows r and g."""

    def __init__(self, shape, cyclic, objective, equations=None, inequalities=None, scales=(1.0, 1.0)):
        self.shape, self.cyclic = shape, cyclic
        nothing = lambda z: z[:0]  # noqa: E731
        self.f, self.r, self.g = objective, equations or nothing, inequalities or nothing
        z = np.ones(shape[0] * shape[1] + shape[2])
        self.size, self.equal, self.unequal = len(z), len(self.r(z)), len(self.g(z))
        self.scale = np.repeat(scales, [self.equal, self.unequal])

    def zero_shifts(self):
        return np.zeros(self.equal + self.unequal)

    def rows(self, z):
        return np.concatenate([self.r(z), self.g(z)])

    def residual(self, z, weight, shifts):
        rows = self.scale * (self.rows(z) + shifts)
        rows[self.equal :] = np.where(rows[self.equal :].real > 0.0, rows[self.equal :], 0.0)
        return np.concatenate([self.f(z), np.sqrt(weight) * rows])

    def energy(self, z, weight, shifts):
        r = self.residual(z, weight, shifts)
        return float(r @ r)

    def gradient(self, z, weight, shifts):
        J = complex_jacobian(lambda x: self.residual(x, weight, shifts), z)
        return 2.0 * J.T @ self.residual(z, weight, shifts)

    def assemble(self, z, weight, shifts):
        T, nv, _ = self.shape
        J = complex_jacobian(lambda x: self.residual(x, weight, shifts), z)
        g = self.gradient(z, weight, shifts)
        blocks = to_blocks(2.0 * J.T @ J, self.shape, self.cyclic)
        return (self.energy(z, weight, shifts), *blocks, g[: T * nv].reshape(T, nv), g[T * nv :])

    def hessian(self, z, weight, shifts):
        """Second derivatives by central differences of the exact gradient."""
        h, full = 1e-6, []
        for e in np.eye(self.size):
            full.append((self.gradient(z + h * e, weight, shifts) - self.gradient(z - h * e, weight, shifts)) / (2 * h))
        A = np.array(full)
        A = 0.5 * (A + A.T)
        return to_blocks(np.where(np.abs(A) > 1e-6 * np.abs(A).max(), A, 0.0), self.shape, self.cyclic)

    def update(self, z, shifts):
        new = shifts + self.rows(z)
        new[self.equal :] = np.maximum(0.0, new[self.equal :])
        return new, float(np.abs(new - shifts).max(initial=0.0))


@pytest.fixture(scope="session")
def shifted_least_squares():
    """The class :class:`ShiftedLeastSquares`."""
    return ShiftedLeastSquares


@pytest.fixture(scope="session")
def exact_jacobian():
    """The function :func:`complex_jacobian`."""
    return complex_jacobian
