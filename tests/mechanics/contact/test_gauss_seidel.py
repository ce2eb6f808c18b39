"""Projected Gauss-Seidel, the oracle, is itself held against a closed form and the independent check."""

from __future__ import annotations

import numpy as np
from gauss_seidel import solve_by_gauss_seidel

from bunraku.mechanics.contact.check import check_contact
from bunraku.optimization.solution import Status


def test_two_coupled_patches_in_closed_form() -> None:
    """Normal compliances 2 and 2, coupled by 1 [0.1 mm/N], no friction: F_n = W^-1 (1, 1) where both are pressed in by 1."""
    W = 1e-4 * np.kron(np.array([[2.0, 1.0], [1.0, 2.0]]), np.eye(3))
    F, _, status = solve_by_gauss_seidel(W, np.tile([0.0, 0.0, -1e-4], 2), np.zeros(2), np.zeros(2))
    assert status.good
    np.testing.assert_allclose(F, [[0.0, 0.0, 1.0 / 3.0]] * 2, atol=1e-10)


def test_it_obeys_the_law(contact_problem) -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        W, u0, gap, mu = contact_problem(rng)
        F, _, status = solve_by_gauss_seidel(W, u0, gap, mu)
        assert status.good
        assert check_contact(W, u0, gap, mu, F).ok


def test_too_few_sweeps_are_reported(contact_problem) -> None:
    W, u0, gap, mu = contact_problem(np.random.default_rng(2))
    assert solve_by_gauss_seidel(W, u0, gap, mu, sweeps=1)[2] is Status.MAX_ITERATIONS
