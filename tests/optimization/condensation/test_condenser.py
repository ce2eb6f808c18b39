"""Both condensations against a dense solver, on a skin and on patterns nobody would call a skin."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import block_diag, csr_array, diags_array, eye_array, random_array
from scipy.sparse.linalg import splu

from bunraku.errors import BadInput
from bunraku.optimization.condensation.condenser import condenser
from bunraku.optimization.condensation.mkl_library import mkl_available
from bunraku.optimization.linear import NotFactorizable

needs_mkl = pytest.mark.skipif(not mkl_available(), reason="MKL is not installed")
backends = pytest.mark.parametrize("backend", ["multifrontal", pytest.param("mkl", marks=needs_mkl)])


def error(found, right):
    return np.abs(found - right).max() / np.abs(right).max()


def positive(pattern, seed, shift=0.1):
    """A positive definite matrix with the pattern of the given one: random off the diagonal, dominant on it."""
    rng = np.random.default_rng(seed)
    half = csr_array(pattern).copy()
    half.data = rng.normal(size=half.nnz)
    full = csr_array(half + half.T)
    full.setdiag(np.abs(full).sum(axis=1) + shift)
    full.sum_duplicates()
    return full


@backends
def test_condensed_equals_dense(skin, backend):
    W = skin.reference
    found = condenser(skin.matrix, skin.nodes, backend, free=skin.free)
    for S in (found.factorize_and_condense(skin.matrix.data, skin.border), None):
        if S is None:
            found.factorize(skin.matrix.data)
            S = found.condense(skin.border)
        assert error(S, skin.border[skin.free].T @ W) < 1e-10
        assert (S == S.T).all()
        assert np.linalg.eigvalsh(S).min() > 0.0
        y = np.linspace(-1.0, 2.0, W.shape[1])
        x = found.combine(y)
        assert error(x[skin.free], W @ y) < 1e-10
        assert not x[~skin.free].any()
        assert error(found.solve(skin.border)[skin.free], W) < 1e-10
        assert error(found.solve(skin.border[:, 0])[skin.free], W[:, 0]) < 1e-10
        assert error(found.combine(y)[skin.free], W @ y) < 1e-10, "solving in between must not disturb what was condensed"


@backends
def test_condensed_equals_superlu(skin, backend):
    inner = csr_array(skin.matrix[skin.free][:, skin.free])
    W = splu(inner.tocsc()).solve(skin.border[skin.free])
    S = condenser(skin.matrix, skin.nodes, backend, free=skin.free).factorize_and_condense(skin.matrix.data, skin.border)
    assert error(S, skin.border[skin.free].T @ W) < 1e-10


@backends
def test_new_numbers_on_the_same_pattern(skin, backend):
    found = condenser(skin.matrix, skin.nodes, backend, free=skin.free)
    found.factorize_and_condense(skin.matrix.data, skin.border)
    other = skin.matrix.copy()
    n = other.shape[0]
    rows = np.repeat(np.arange(n), np.diff(other.indptr))
    scale = np.random.default_rng(0).uniform(0.5, 2.0, n)
    other.data = other.data * scale[rows] * scale[other.indices]
    changed = replace(skin, matrix=other, border=skin.border[:, ::-1].copy())
    S = found.factorize_and_condense(other.data, changed.border)
    assert error(S, changed.border[skin.free].T @ changed.reference) < 1e-10
    found.factorize(skin.matrix.data)
    with pytest.raises(BadInput, match="condense"):
        found.combine(np.ones(8))


@backends
def test_a_matrix_that_is_not_positive_definite_is_refused_where_that_shows(skin, backend):
    found = condenser(skin.matrix, skin.nodes, backend, free=skin.free)
    diagonal = skin.matrix.diagonal()
    for row in np.flatnonzero(skin.free)[[0, 200, -1]]:
        wrong = skin.matrix.copy()
        at = wrong.indptr[row] + np.searchsorted(wrong.indices[wrong.indptr[row] : wrong.indptr[row + 1]], row)
        wrong.data[at] = -diagonal[row]
        for call in (lambda w=wrong: found.factorize(w.data), lambda w=wrong: found.factorize_and_condense(w.data, skin.border)):
            with pytest.raises(NotFactorizable, match="positive definite") as caught:
                call()
            assert caught.value.row == row, "all other pivots stay positive, whatever the order"
        with pytest.raises(BadInput, match="factorize"):
            found.solve(diagonal)
    S = found.factorize_and_condense(skin.matrix.data, skin.border)
    assert error(S, skin.border[skin.free].T @ skin.reference) < 1e-10


@backends
def test_borders_of_any_layout_with_zeros_anywhere(skin, backend):
    found = condenser(skin.matrix, skin.nodes, backend, free=skin.free)
    sparse = skin.border * (np.random.default_rng(5).uniform(size=skin.border.shape) < 0.002)
    sparse[:, 2] = 0.0
    for B in (skin.border, np.asfortranarray(skin.border), skin.border[:, ::2], sparse):
        W = np.linalg.solve(skin.matrix.toarray()[np.ix_(skin.free, skin.free)], B[skin.free])
        for S in (found.factorize_and_condense(skin.matrix.data, B), found.condense(B)):
            assert error(S, B[skin.free].T @ W) < 1e-10
        assert error(found.combine(np.ones(B.shape[1]))[skin.free], W.sum(axis=1)) < 1e-10


@backends
@pytest.mark.parametrize(
    "pattern",
    [
        eye_array(7),
        csr_array(np.ones((9, 9))),
        csr_array(np.ones((200, 200))),
        diags_array([np.ones(400)] * 3, offsets=[-1, 0, 1], shape=(400, 400)),
        block_diag([np.ones((3, 3))] * 60),
        random_array((500, 500), density=0.01, rng=np.random.default_rng(1)),
        csr_array(np.eye(300) + np.outer(np.arange(300) == 0, np.ones(300))),
        eye_array(1),
    ],
    ids=["diagonal", "dense", "larger dense", "chain", "islands", "random", "star", "one"],
)
def test_any_pattern(pattern, backend):
    A = positive(pattern, 2)
    rng = np.random.default_rng(4)
    B = rng.normal(size=(A.shape[0], 3))
    free = rng.uniform(size=A.shape[0]) < 0.9
    free[0] = True
    W = np.linalg.solve(A.toarray()[np.ix_(free, free)], B[free])
    found = condenser(A, None, backend, free=free)
    assert error(found.factorize_and_condense(A.data, B), B[free].T @ W) < 1e-10
    assert error(found.combine([1.0, -2.0, 0.5])[free], W @ [1.0, -2.0, 0.5]) < 1e-10
    assert error(found.solve(B)[free], W) < 1e-10


def test_held_unknowns_of_half_held_nodes(skin):
    free = np.random.default_rng(8).uniform(size=len(skin.free)) < 0.7
    part = replace(skin, free=free)
    found = condenser(skin.matrix, skin.nodes, free=free)
    S = found.factorize_and_condense(skin.matrix.data, skin.border)
    assert error(S, skin.border[free].T @ part.reference) < 1e-10


def test_only_one_half_of_the_matrix_is_needed(skin):
    found = condenser(skin.matrix, skin.nodes, free=skin.free)
    S = found.factorize_and_condense(skin.matrix.data, skin.border)
    turned = csr_array(skin.matrix.T)
    turned.sort_indices()
    assert error(found.factorize_and_condense(turned.data, skin.border), S) < 1e-10


def test_memory_is_told(skin):
    found = condenser(skin.matrix, skin.nodes, free=skin.free)
    inner = skin.matrix[skin.free][:, skin.free]
    assert 4 * inner.nnz < found.memory < 8 * inner.shape[0] ** 2, "more than one half of the matrix, less than a dense one"


@backends
def test_bad_input_is_refused(skin, backend):
    found = condenser(skin.matrix, skin.nodes, backend, free=skin.free)
    n = len(skin.free)
    with pytest.raises(BadInput, match="factorize"):
        found.condense(skin.border)
    with pytest.raises(BadInput, match="stores"):
        found.factorize(skin.matrix.data[1:])
    with pytest.raises(BadInput, match="finite"):
        found.factorize(np.where(np.arange(skin.matrix.nnz) == 5, np.nan, skin.matrix.data))
    found.factorize(skin.matrix.data)
    for wrong in (skin.border[1:], skin.border[:, 0], np.zeros((n, 0))):
        with pytest.raises(BadInput, match="border"):
            found.condense(wrong)
    found.condense(skin.border)
    with pytest.raises(BadInput, match="weights"):
        found.combine(np.ones(3))
    with pytest.raises(BadInput, match="right-hand side"):
        found.solve(np.ones(3))


def test_bad_patterns_are_refused(skin):
    one_sided = csr_array(np.triu(np.ones((4, 4))))
    for pattern, free, word in (
        (one_sided, None, "symmetric"),
        (csr_array(np.ones((3, 4))), None, "square"),
        (csr_array(np.eye(3)), [True, False], "free"),
        (csr_array(np.eye(3)), [False, False, False], "held"),
        (csr_array((np.ones(2), np.array([1, 0]), np.array([0, 2, 2])), shape=(2, 2)), None, "unsorted"),
    ):
        with pytest.raises(BadInput, match=word):
            condenser(pattern, free=free)
    with pytest.raises(BadInput, match="coordinates"):
        condenser(skin.matrix, skin.nodes[1:])
    with pytest.raises(BadInput, match="backend"):
        condenser(skin.matrix, backend="magic")
