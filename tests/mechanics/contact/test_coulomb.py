"""Coulomb contact: closed forms, 1,000 problems against Gauss-Seidel and the independent check, symmetry, derivative."""

from __future__ import annotations

import numpy as np
import pytest
from gauss_seidel import solve_by_gauss_seidel

from bunraku.errors import BadInput
from bunraku.mechanics.contact.check import check_contact
from bunraku.mechanics.contact.coulomb import OPEN, SLIDE, STICK, ContactLaw, solve_contact

C = 1e-4
"""Compliance of the single patches [m/N]."""


@pytest.mark.parametrize(
    ("u0", "gap", "mu", "force", "label"),
    [
        ([0.0, 0.0, -3e-3], 1e-3, 0.5, [0.0, 0.0, 20.0], STICK),
        ([3e-4, -4e-4, -1e-3], 0.0, 0.6, [-3.0, 4.0, 10.0], STICK),
        ([3e-4, -4e-4, -1e-3], 0.0, 0.4, [-2.4, 3.2, 10.0], SLIDE),
        ([3e-4, -4e-4, -1e-3], 0.0, 0.0, [0.0, 0.0, 10.0], SLIDE),
        ([3e-4, -4e-4, -1e-3], 2e-3, 0.4, [0.0, 0.0, 0.0], OPEN),
        ([0.0, 0.0, 0.0], -1e-3, 0.4, [0.0, 0.0, 10.0], STICK),
    ],
)
def test_a_single_patch(u0: list[float], gap: float, mu: float, force: list[float], label: int) -> None:
    found = solve_contact(C * np.eye(3), np.array(u0), np.array([gap]), np.array([mu]))
    assert found.status.good
    np.testing.assert_allclose(found.F[0], force, atol=1e-9)
    assert found.labels[0] == label


def test_a_thousand_problems(contact_problem) -> None:
    rng = np.random.default_rng(0)
    kinds = np.zeros(3)
    for k in range(1000):
        W, u0, gap, mu = contact_problem(rng)
        found = solve_contact(W, u0, gap, mu)
        assert found.status.good, k
        check = check_contact(W, u0, gap, mu, found.F)
        assert check.ok, (k, check)
        oracle, _, status = solve_by_gauss_seidel(W, u0, gap, mu)
        size = max(np.abs(oracle).max(), 1e-3)
        assert status.good, k
        assert np.abs(found.F - oracle).max() <= 1e-6 * size, k
        other = solve_contact(W, u0, gap, mu, 10.0 * rng.normal(size=(20, 3)))
        assert np.abs(found.F - other.F).max() <= 1e-6 * size, k
        kinds += np.bincount(found.labels, minlength=3)
    assert (kinds > 0.1 * kinds.sum()).all(), "open, stick and slide must all be common"


def test_harsh_problems_may_have_several_answers_but_never_none(contact_problem) -> None:
    """Coulomb's law itself has more than one solution where friction is large and pressing is coupled to sliding."""
    rng, several, rescued = np.random.default_rng(4), 0, 0
    for k in range(400):
        W, u0, gap, mu = contact_problem(rng, harsh=True)
        found = solve_contact(W, u0, gap, mu)
        assert found.status.good, k
        assert check_contact(W, u0, gap, mu, found.F).ok, k
        oracle, _, status = solve_by_gauss_seidel(W, u0, gap, mu, sweeps=1000)
        if not status.good or np.abs(found.F - oracle).max() > 1e-6 * max(np.abs(oracle).max(), 1e-3):
            several += 1
            assert not status.good or check_contact(W, u0, gap, mu, oracle).ok, k
        rescued += found.rescues > 0
    assert several <= 8
    assert rescued, "no problem needed the rescue by Gauss-Seidel"


def test_a_warm_start_costs_no_step(contact_problem) -> None:
    W, u0, gap, mu = contact_problem(np.random.default_rng(3))
    found = solve_contact(W, u0, gap, mu)
    again = solve_contact(W, u0, gap, mu, found.F)
    assert found.newton_steps > 0
    assert again.newton_steps == 0
    np.testing.assert_array_equal(again.F, found.F)


@pytest.mark.parametrize("angle", [0.3, 1.0])
def test_the_cone_is_round(contact_problem, angle: float) -> None:
    """Turning the world about the vertical turns the forces with it, which a pyramid of friction would not do."""
    rng = np.random.default_rng(5)
    c, s = np.cos(angle), np.sin(angle)
    turn = np.kron(np.eye(20), np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]))
    for _ in range(10):
        W, u0, gap, mu = contact_problem(rng)
        plain, turned = solve_contact(W, u0, gap, mu), solve_contact(turn @ W @ turn.T, turn @ u0, gap, mu)
        assert (plain.labels == SLIDE).any()
        np.testing.assert_allclose(turned.F.reshape(-1), turn @ plain.F.reshape(-1), atol=1e-8 * np.abs(plain.F).max())


def test_forces_scale_with_the_displacements(contact_problem) -> None:
    W, u0, gap, mu = contact_problem(np.random.default_rng(6))
    plain, scaled = solve_contact(W, u0, gap, mu), solve_contact(W, 30.0 * u0, 30.0 * gap, mu)
    np.testing.assert_allclose(scaled.F, 30.0 * plain.F, atol=1e-7 * np.abs(plain.F).max())


def test_the_derivative_equals_differences(contact_problem) -> None:
    rng, compared, step = np.random.default_rng(8), 0, 1e-5
    for _ in range(20):
        W, u0, gap, mu = contact_problem(rng)
        R = 1e-3 * rng.normal(size=(60, 12))
        found = solve_contact(W, u0, gap, mu)
        S = ContactLaw(W, gap, mu).slope(u0, found.F, R)
        assert S is not None
        way = rng.normal(size=12)
        sides = [solve_contact(W, u0 + sign * step * R @ way, gap, mu, found.F) for sign in (1.0, -1.0)]
        if any((side.labels != found.labels).any() for side in sides):
            continue
        measured = (sides[0].F - sides[1].F).reshape(-1) / (2.0 * step)
        np.testing.assert_allclose(S @ way, measured, atol=2e-4 * np.abs(measured).max())
        compared += 1
    assert compared >= 10


def test_the_derivative_beyond_the_edge_of_a_piece() -> None:
    """A patch on the rim of its cone: sticking, friction answers sideways pushes fully; sliding, only the load changes it."""
    W, gap, mu, R = C * np.eye(3), np.zeros(1), np.array([0.5]), np.eye(3)
    u0 = np.array([5e-4, 0.0, -1e-3])
    found = solve_contact(W, u0, gap, mu)
    np.testing.assert_allclose(found.F[0], [-5.0, 0.0, 10.0], atol=1e-9)
    stick = ContactLaw(W, gap, mu).slope(u0, found.F, R, np.array([STICK]))
    slide = ContactLaw(W, gap, mu).slope(u0, found.F, R, np.array([SLIDE]))
    leave = ContactLaw(W, gap, mu).slope(u0, found.F, R, np.array([OPEN]))
    np.testing.assert_allclose(stick, -np.eye(3) / C, atol=1e-6)
    np.testing.assert_allclose(slide, np.array([[0.0, 0.0, 0.5], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]]) / C, atol=1e-6)
    np.testing.assert_allclose(leave, np.zeros((3, 3)), atol=1e-12)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"W": np.eye(5)}, "do not fit"),
        ({"u0": np.full(3, np.nan)}, "not finite"),
        ({"mu": np.array([-0.1])}, "negative"),
        ({"W": -np.eye(3)}, "positive"),
        ({"F0": np.zeros(2)}, "finite ones are needed"),
    ],
)
def test_refusals(change: dict[str, np.ndarray], words: str) -> None:
    data = {"W": np.eye(3), "u0": np.zeros(3), "gap": np.zeros(1), "mu": np.array([0.5])} | change
    with pytest.raises(BadInput, match=words):
        solve_contact(**data)
