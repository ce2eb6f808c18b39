"""Condition numbers against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.formats.registry import read_character
from bunraku.mechanics.systems.character_system import character_home, character_system
from bunraku.mechanics.systems.conditioning import point_condition, step_condition


def test_the_step_of_a_cart_pendulum_divides_by_its_mass_matrix() -> None:
    character = read_character("cart-pendulum")
    system = character_system(character)
    cart, pole = (next(body for body in character.bodies if body.name == name) for name in ("cart", "pendulum"))
    length = -pole.center_of_mass[2]
    angles = np.array([0.0, 0.7, np.pi / 2])
    q = np.zeros((3, 2))
    q[:, system.index("theta")] = angles
    for found, angle in zip(step_condition(system, q), angles, strict=True):
        mixed = pole.mass * length * np.cos(angle)
        M = np.array([[cart.mass + pole.mass, mixed], [mixed, pole.inertia[1] + pole.mass * length**2]])
        mean, spread = 0.5 * np.trace(M), np.sqrt(0.25 * (M[0, 0] - M[1, 1]) ** 2 + mixed**2)
        assert found == pytest.approx((mean + spread) / (mean - spread), rel=1e-6)


def test_a_straight_arm_is_singular_for_its_hand_but_not_for_a_step() -> None:
    arm = read_character("puppet-arm")
    system = character_system(arm)
    bent, straight = character_home(arm, system), character_home(arm, system)
    straight[system.index("elbow")] = 0.0
    near = straight.copy()
    near[system.index("elbow")] = 1e-3
    hand = point_condition(system, "hand", np.array([bent, near, straight]))
    assert hand[0] < 20.0
    assert 1e3 < hand[1] < 1e5
    assert hand[2] > 1e12
    assert step_condition(system, straight[None])[0] < 1e4
