"""Hanging still: closed forms, the marionette's weight in its strings, and what cannot hang."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.mechanics.dynamics.constraints import Distance
from bunraku.mechanics.dynamics.equilibrium import find_equilibrium
from bunraku.mechanics.dynamics.initial import check_independent, make_consistent
from bunraku.mechanics.dynamics.places import Place
from bunraku.mechanics.dynamics.system import build_system
from bunraku.mechanics.tree import Tree
from bunraku.optimization.solution import Status


def mass_point() -> Tree:
    """One mass of 2 kg that slides along x, y and z."""
    parent, kind = np.array([-1, 0, 1]), np.array([2, 2, 2])
    mass = np.array([0.0, 0.0, 2.0])
    return Tree(
        ("x", "y", "z"), {"m": 2}, parent, kind, np.arange(3), np.tile(np.eye(3), (3, 1, 1)), np.zeros((3, 3)), np.eye(3), mass,
        np.zeros((3, 3)), np.zeros((3, 3, 3)), {}, np.zeros(3), (),
    )  # fmt: skip


def test_two_strings_carry_a_weight() -> None:
    """Symmetric strings of 1 m from points 1.2 m apart: height -0.8 m, tension m g / (2 cos) = m g / 1.6."""
    ends = [Place("world", (-0.6, 0.0, 0.0)), Place("world", (0.6, 0.0, 0.0))]
    system = build_system(mass_point(), constraints=[Distance(end, "m", 1.0) for end in ends])
    result = find_equilibrium(system, [0.1, 0.3, -0.5])
    assert result.status is Status.CONVERGED
    np.testing.assert_allclose(result.q, [0.0, 0.0, -0.8], atol=1e-9)
    np.testing.assert_allclose(-2.0 * 1.0 * result.multipliers, 2.0 * 9.81 / 1.6, rtol=1e-9)
    assert result.stable


@pytest.mark.shared
def test_the_marionette_hangs_on_its_strings(golden_case) -> None:
    system, z = golden_case("puppet22_18")
    result = find_equilibrium(system, z["q"][0])
    assert result.status is Status.CONVERGED
    assert result.violation < 1e-9
    lengths = result.q[[system.names.index(name) for name in system.names if name.endswith("length")]]
    tension = -2.0 * lengths * result.multipliers
    assert tension.min() > 0.1
    # vertical parts of the tensions sum to the weight, 18.75 kg: the derivative of h by the height of everything is 2 (dz)
    vertical = -(result.multipliers @ system.constraint_jacobian(result.q))[system.index("torso_tz")]
    assert vertical == pytest.approx(-18.75 * 9.8, rel=1e-6)


def test_a_string_too_short_to_hang_says_so() -> None:
    ends = [Place("world", (-0.6, 0.0, 0.0)), Place("world", (0.6, 0.0, 0.0))]
    system = build_system(mass_point(), constraints=[Distance(end, "m", 0.5) for end in ends])
    result = find_equilibrium(system, [0.0, 0.1, -0.5])
    assert result.status is Status.INFEASIBLE
    consistent = make_consistent(system, [0.0, 0.1, -0.5])
    assert consistent.status is Status.INFEASIBLE
    assert consistent.violation > 0.05


def test_a_falling_mass_finds_no_rest() -> None:
    result = find_equilibrium(build_system(mass_point()), [0.0, 0.0, 0.0], max_iterations=20)
    assert result.status is Status.MAX_ITERATIONS


def test_redundant_constraints_are_named() -> None:
    end = Place("world", (-0.6, 0.0, 0.0))
    system = build_system(mass_point(), constraints=[Distance(end, "m", 1.0, "one"), Distance(end, "m", 1.0, "two")])
    with pytest.raises(BadInput, match="'two' repeats"):
        check_independent(system, np.array([0.1, 0.2, -0.5]))
    with pytest.raises(BadInput, match="repeats"):
        find_equilibrium(system, [0.1, 0.2, -0.5])


def test_consistent_velocities(everything) -> None:
    system = everything(6)
    rng = np.random.default_rng(3)
    q = rng.normal(size=system.nq)
    q[system.index("l")] = 1.2
    result = make_consistent(system, q, rng.normal(size=system.nq))
    if result.status is Status.CONVERGED:
        assert result.violation <= 1e-10
    v = result.v
    assert np.abs(system.constraint_jacobian(result.q) @ v).max() < 1e-9
    np.testing.assert_array_equal(result.q[system.kinematic], q[system.kinematic])
