"""The block factorization against dense linear algebra, and what it says of matrices that are not positive definite."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.optimization.blocks.blocks import factor


def random_system(seed, T, nv, nd, cyclic, shift=0.1):
    """Blocks of sum_i |J_i (v_i, v_{i+1}, v_{i+2}, D)|^2 + shift |.|^2: positive definite. Returns them and the full matrix."""
    rng = np.random.default_rng(seed)
    n = T * nv + nd
    A = shift * np.eye(n)
    for i in range(T):
        J = np.zeros((nv + 1, n))
        for d in range(3):
            if i + d < T or cyclic:
                J[:, (i + d) % T * nv : ((i + d) % T + 1) * nv] = rng.normal(size=(nv + 1, nv))
        J[:, T * nv :] = rng.normal(size=(nv + 1, nd))
        A += J.T @ J
    H, B = np.full((T, 3, nv, nv), np.nan), np.empty((T, nd, nv))
    for i in range(T):
        for d in range(3):
            if i + d < T or cyclic:
                j = (i + d) % T
                H[i, d] = A[j * nv : (j + 1) * nv, i * nv : (i + 1) * nv]
        H[i, 0][np.triu_indices(nv, 1)] = np.nan  # only the lower triangle is promised
        B[i] = A[T * nv :, i * nv : (i + 1) * nv]
    C = np.ascontiguousarray(A[T * nv :, T * nv :])
    C[np.triu_indices(nd, 1)] = np.nan
    return H, B, C, A


SIZES = [(T, nv, nd, True) for T in range(5, 13) for nv, nd in ((1, 3), (4, 0), (7, 2))]
SIZES += [(T, nv, nd, False) for T in (1, 2, 3, 5, 8, 12) for nv, nd in ((1, 1), (5, 0), (6, 3))]


@pytest.mark.parametrize(("T", "nv", "nd", "cyclic"), SIZES)
def test_solutions_are_those_of_dense_algebra(T, nv, nd, cyclic):
    """One and many right-hand sides; blocks beyond an open end and upper triangles hold NaN and are not read."""
    H, B, C, A = random_system(T + 100 * nv, T, nv, nd, cyclic)
    rng = np.random.default_rng(1)
    factors = factor(H, B, C, cyclic=cyclic)
    assert factors.definite
    one, many = rng.normal(size=len(A)), rng.normal(size=(len(A), 61))
    scale = np.linalg.cond(A)
    np.testing.assert_allclose(factors.solve_packed(one), np.linalg.solve(A, one), rtol=1e-9, atol=1e-14 * scale)
    np.testing.assert_allclose(factors.solve_packed(many), np.linalg.solve(A, many), rtol=1e-9, atol=1e-14 * scale)


@pytest.mark.parametrize("cyclic", [True, False])
def test_damping_is_added_to_the_diagonal(cyclic):
    H, B, C, A = random_system(3, 8, 3, 2, cyclic)
    damping = np.random.default_rng(4).uniform(0.0, 10.0, len(A))
    right = np.random.default_rng(5).normal(size=len(A))
    expected = np.linalg.solve(A + np.diag(damping), right)
    earlier = factor(H, B, C, 1.0, cyclic=cyclic)
    np.testing.assert_allclose(factor(H, B, C, damping, cyclic=cyclic, into=earlier).solve_packed(right), expected, rtol=1e-10)


@pytest.mark.parametrize("cyclic", [True, False])
@pytest.mark.parametrize("where", ["first", "middle", "last", "border"])
def test_the_least_eigenvalue_decides(cyclic, where):
    """Cholesky succeeds just when the least eigenvalue is positive, wherever in the motion the bad direction lies."""
    H, B, C, A = random_system(7, 9, 4, 2, cyclic)
    at = {"first": 1, "middle": 17, "last": 34, "border": 37}[where]
    bad = np.zeros(len(A))
    e = np.zeros(len(A))
    e[at] = 1.0
    bad[at] = -1.0 / (e @ np.linalg.solve(A, e))  # with this on the diagonal A is just singular
    assert factor(H, B, C, 0.999 * bad, cyclic=cyclic).definite
    refused = factor(H, B, C, 1.001 * bad, cyclic=cyclic)
    assert not refused.definite
    with pytest.raises(BadInput, match="not positive definite"):
        refused.solve_packed(e)
    again = factor(H, B, C, cyclic=cyclic, into=refused)
    np.testing.assert_allclose(again.solve_packed(e), np.linalg.solve(A, e), rtol=1e-9, atol=1e-12)


def test_stiff_rows_keep_their_accuracy():
    """Rows 1e9 times stiffer than the rest, as late in a penalty method: the relative residual stays at rounding."""
    H, B, C, A = random_system(11, 12, 6, 3, True, shift=1e-3)
    H[:, :, :3, :3] *= 1e9
    H[:, :, 3:, :3] *= np.sqrt(1e9)
    H[:, :, :3, 3:] *= np.sqrt(1e9)
    B[:, :, :3] *= np.sqrt(1e9)
    s = np.concatenate([np.tile(np.repeat([np.sqrt(1e9), 1.0], 3), 12), np.ones(3)])
    A = s[:, None] * A * s
    right = s * np.random.default_rng(2).normal(size=len(A))
    x = factor(H, B, C, cyclic=True).solve_packed(right)
    np.testing.assert_allclose(A @ x, right, rtol=1e-8, atol=1e-8 * np.abs(right).max())


def test_wrong_shapes_are_refused():
    H, B, C, _ = random_system(0, 5, 2, 1, True)
    with pytest.raises(BadInput, match="at least 5"):
        factor(np.ascontiguousarray(H[:4]), np.ascontiguousarray(B[:4]), C, cyclic=True)
    with pytest.raises(BadInput, match="fit together"):
        factor(H, B[:4], C, cyclic=True)
    with pytest.raises(BadInput, match="C order"):
        factor(H[:, ::-1], B, C, cyclic=True)
    with pytest.raises(BadInput, match="right-hand side"):
        factor(H, B, C, cyclic=True).solve_packed(np.zeros(12))
