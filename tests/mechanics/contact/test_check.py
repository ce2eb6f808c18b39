"""The check of contact finds each offence alone, with its size."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.mechanics.contact.check import check_contact

W, C = 1e-4 * np.eye(6), 1e-4
GAP, MU = np.zeros(2), np.array([0.5, 0.5])
RIGHT = np.array([[-3.0, 4.0, 20.0], [-5.0, 0.0, 10.0]])
U0 = np.concatenate([-C * RIGHT[0], [7e-4, 0.0, -1e-3]])
"""The first patch sticks, the second slides by 0.2 mm along x."""


def test_a_right_answer_passes() -> None:
    check = check_contact(W, U0, GAP, MU, RIGHT)
    assert check.ok
    assert (check.loaded, check.sliding) == (2, 1)
    assert max(check.penetration, check.cone, check.slip, check.floating, check.complementarity) < 1e-12


@pytest.mark.parametrize(
    ("field", "amount", "patch", "force"),
    [
        ("penetration", 1e-6, 0, [0.0, 0.0, -0.01]),
        ("floating", 1e-6, 0, [0.0, 0.0, 0.01]),
        ("slip", 1e-6, 0, [0.01, 0.0, 0.0]),
        ("cone", 0.01, 1, [-0.01, 0.0, 0.0]),
    ],
)
def test_each_offence_is_measured(field: str, amount: float, patch: int, force: list[float]) -> None:
    wrong = RIGHT.copy()
    wrong[patch] += force
    check = check_contact(W, U0, GAP, MU, wrong)
    assert not check.ok
    np.testing.assert_allclose(getattr(check, field), amount, rtol=1e-6)


def test_friction_in_a_wrong_direction_is_found() -> None:
    wrong = RIGHT.copy()
    wrong[1, :2] = 5.0 * np.array([-np.cos(0.01), np.sin(0.01)])
    u0 = U0.copy()
    u0[3:5] -= C * (wrong[1, :2] - RIGHT[1, :2])
    check = check_contact(W, u0, GAP, MU, wrong)
    assert not check.ok
    np.testing.assert_allclose(check.direction, 0.01, rtol=1e-6)
    assert max(check.penetration, check.pull, check.cone, check.slip) < 1e-9


def test_friction_along_the_slip_is_found() -> None:
    wrong, u0 = RIGHT.copy(), U0.copy()
    wrong[1, 0] = 5.0
    assert check_contact(W, u0, GAP, MU, wrong).direction == pytest.approx(np.pi)


def test_a_pull_is_found() -> None:
    wrong, u0 = RIGHT.copy(), U0.copy()
    wrong[0], u0[:3] = [0.0, 0.0, -1.0], [0.0, 0.0, C]
    check = check_contact(W, u0, GAP, MU, wrong)
    assert check.pull == 1.0
    assert not check.ok


def test_numbers_that_are_not_finite_do_not_pass() -> None:
    wrong = RIGHT.copy()
    wrong[0, 0] = np.nan
    assert not check_contact(W, U0, GAP, MU, wrong).ok
