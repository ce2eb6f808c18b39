"""The Gramian against its definition."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.optimization.control.gramian import controllability_gramian, reachable_dimension


def system(seed=0, N=9, n=5, m=2):
    rng = np.random.default_rng(seed)
    return 0.6 * rng.normal(size=(N, n, n)), rng.normal(size=(N, n, m)), rng.normal(size=(N, m, n))


def reach(A, B):
    """The matrix that takes all inputs, stacked, to the last state."""
    blocks, Phi = [], np.eye(A.shape[1])
    for k in range(len(A) - 1, -1, -1):
        blocks.insert(0, Phi @ B[k])
        Phi = Phi @ A[k]
    return np.hstack(blocks)


def test_it_is_the_square_of_the_reachability_matrix_with_and_without_feedback():
    A, B, K = system()
    np.testing.assert_allclose(controllability_gramian(A, B), reach(A, B) @ reach(A, B).T, rtol=1e-11)
    closed = reach(A - B @ K, B)
    np.testing.assert_allclose(controllability_gramian(A, B, K), closed @ closed.T, rtol=1e-10)


def test_what_the_inputs_do_not_reach_is_counted():
    A = np.tile(np.diag([1.1, 0.9, 1.0]), (6, 1, 1))
    B = np.tile(np.array([[1.0], [1.0], [0.0]]), (6, 1, 1))
    assert reachable_dimension(controllability_gramian(A, B)) == 2
    A[:, 2, 0] = 0.1
    assert reachable_dimension(controllability_gramian(A, B)) == 3


def test_bad_shapes_are_refused():
    A, B, K = system()
    with pytest.raises(BadInput, match="gains"):
        controllability_gramian(A, B, K[:, :1])
