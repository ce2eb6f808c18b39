from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array, diags_array, eye_array, kron, random_array

from bunraku.errors import BadInput
from bunraku.optimization import linear
from bunraku.optimization.linear import NotFactorizable, analyse, factorize


def laplacian(n: int, m: int) -> csr_array:
    """A definite matrix of a grid of n x m points, bandwidth min(n, m)."""

    def line(count: int) -> csr_array:
        return diags_array([-1.0, 2.1, -1.0], offsets=[-1, 0, 1], shape=(count, count))

    return csr_array(kron(line(n), eye_array(m)) + kron(eye_array(n), line(m)))


def shuffled(A: csr_array, seed: int) -> csr_array:
    order = np.random.default_rng(seed).permutation(A.shape[0])
    return csr_array(A[order][:, order])


@pytest.mark.parametrize(("cholesky", "lu"), [(700, 250), (0, 0)], ids=["band", "SuperLU"])
@pytest.mark.parametrize("definite", [True, False])
def test_solutions_solve(monkeypatch: pytest.MonkeyPatch, cholesky: int, lu: int, definite: bool) -> None:
    monkeypatch.setattr(linear, "CHOLESKY_BAND", cholesky)
    monkeypatch.setattr(linear, "LU_BAND", lu)
    A = shuffled(laplacian(40, 5), 0)
    if not definite:
        A = csr_array(A + 0.5 * random_array(A.shape, density=0.0, rng=1))
        A.data = A.data * (1 + 0.3 * np.random.default_rng(2).normal(size=A.nnz))
    rng = np.random.default_rng(3)
    free = rng.random(A.shape[0]) < 0.9
    factor = factorize(A, definite=definite, free=free)
    assert factor.method == {(True, True): "band Cholesky", (True, False): "band LU"}.get((cholesky > 0, definite), "SuperLU")
    for shape in ((200,), (200, 3)):
        b = rng.normal(size=shape)
        x = factor.solve(b)
        np.testing.assert_allclose((A @ x)[free], b[free], atol=1e-12)
        assert not x[~free].any()


def test_a_shuffled_band_is_found_again() -> None:
    assert analyse(shuffled(laplacian(60, 4), 1)).bandwidth <= 8
    assert analyse(laplacian(60, 4)).bandwidth <= 4


def test_a_plan_serves_all_matrices_of_its_pattern() -> None:
    A = shuffled(laplacian(30, 4), 2)
    plan = analyse(A)
    b = np.arange(120.0)
    for factor in (1.0, 3.0):
        B = csr_array((factor * A.data, A.indices, A.indptr), shape=A.shape)
        np.testing.assert_allclose(factor * (A @ plan.factorize(B, definite=True).solve(b)), b, atol=1e-10)
    with pytest.raises(BadInput, match="analysed pattern"):
        plan.factorize(csr_array(eye_array(120)))


@pytest.mark.parametrize("limit", [700, 0])
def test_indefinite_matrices_are_not_taken_for_definite(monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    monkeypatch.setattr(linear, "CHOLESKY_BAND", limit)
    A = laplacian(20, 3).toarray()
    A[17, 17] = -1.0
    with pytest.raises(NotFactorizable, match="not positive definite") as caught:
        factorize(A, definite=True)
    assert 0 <= caught.value.row < 60
    x = factorize(A).solve(np.ones(60))
    np.testing.assert_allclose(A @ x, 1.0, atol=1e-12)


@pytest.mark.parametrize("limit", [250, 0])
def test_singular_matrices_are_refused(monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    monkeypatch.setattr(linear, "LU_BAND", limit)
    stored = laplacian(10, 2)
    rows = np.repeat(np.arange(20), np.diff(stored.indptr))
    stored.data[(rows == 5) | (stored.indices == 5)] = 0.0
    with pytest.raises(NotFactorizable, match="singular"):
        analyse(stored).factorize(stored)


def test_wrong_arguments_are_named() -> None:
    A = laplacian(5, 2)
    with pytest.raises(BadInput, match="square"):
        factorize(np.ones((2, 3)))
    with pytest.raises(BadInput, match="booleans"):
        factorize(A, free=[True])
    with pytest.raises(BadInput, match="right-hand side"):
        factorize(A).solve(np.ones(3))
    A.data[0] = np.nan
    with pytest.raises(BadInput, match="not finite"):
        factorize(A)
    assert not factorize(laplacian(2, 2), free=np.zeros(4, bool)).solve(np.ones(4)).any()
