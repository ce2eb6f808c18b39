"""Continuous dynamics against the golden systems, slope tests, and the equations themselves."""

from __future__ import annotations

import numpy as np
import pytest
from inverse_dynamics import generalized_forces, prescribed_forces

from bunraku.errors import BadInput
from bunraku.mechanics.dynamics.continuous import continuous, continuous_contracted, continuous_first
from bunraku.mechanics.dynamics.initial import make_consistent
from bunraku.optimization.derivative_check import check_jacobian

NAMES = ["pendulum", "spatial_double_pendulum", "cart_pendulum", "fourbar", "spring_damper_wrench", "puppet22_18"]


def close(mine, golden, tolerance) -> None:
    assert np.max(np.abs(mine - golden), initial=0.0) <= tolerance * max(np.max(np.abs(golden), initial=0.0), 1e-3)


@pytest.mark.shared
@pytest.mark.parametrize("name", NAMES)
def test_golden(golden_case, name) -> None:
    system, z = golden_case(name)
    d = continuous_first(system, z["c_q"], z["c_dq"], z["c_u"], z["c_ddqk"])
    f, lam = continuous(system, z["c_q"], z["c_dq"], z["c_u"], z["c_ddqk"])
    close(f, z["c_f"], 1e-10)
    close(lam, z["c_lambda"], 1e-10)
    assert system.lagrangian(z["c_q"], z["c_dq"]) == pytest.approx(float(z["c_L"]), rel=1e-12)
    assert system.energy(z["c_q"], z["c_dq"]) == pytest.approx(float(z["c_energy"]), rel=1e-12)
    columns = dict(zip(("dq", "ddq", "du", "dddk"), d.columns.values(), strict=True))
    for key, part in columns.items():
        close(d.f[:, part], z[f"c_f_{key}"], 1e-10)
        close(d.lam[:, part], z[f"c_lambda_{key}"], 1e-10)
    if "c_f_dqdq" not in z.files:
        return
    tensor = np.stack([continuous_contracted(system, d, z) for z in np.eye(system.nd)], axis=2)
    for first, second in (("dq", "dq"), ("ddq", "dq"), ("ddq", "ddq"), ("dddk", "dq"), ("du", "dq"), ("du", "ddq"), ("du", "du")):
        close(tensor[columns[first], columns[second]], z[f"c_f_{first}{second}"], 1e-9)


@pytest.mark.parametrize("kinematic", [("q1", "l"), ("l",), ("l", "q0", "q4")])
def test_derivatives_of_a_mechanism_with_everything(everything, kinematic) -> None:
    system = everything(3, kinematic)
    system = everything(3, kinematic, constraints=True) if system.nd >= system.nc else everything(3, kinematic, constraints=False)
    n, nu = system.nq, system.nu
    x = np.random.default_rng(1).normal(size=2 * n + nu + system.nk)
    x[system.index("l")] = 1.5

    def split(x):
        return x[:n], x[n : 2 * n], x[2 * n : 2 * n + nu], x[2 * n + nu :]

    def value(x):
        return np.concatenate(continuous(system, *split(x)))

    def jacobian(x):
        d = continuous_first(system, *split(x))
        return np.vstack([d.f, d.lam])

    assert check_jacobian(value, jacobian, x, scale=0.01, noise=1e-11).holds
    z = np.random.default_rng(2).normal(size=system.nd + system.nc)
    d = continuous_first(system, *split(x))
    H = continuous_contracted(system, d, z[: system.nd], z[system.nd :])
    np.testing.assert_allclose(H, H.T, atol=1e-9 * np.abs(H).max())
    assert check_jacobian(lambda x: z @ jacobian(x), lambda x: H, x, scale=0.01, noise=1e-11).holds
    every = [continuous_contracted(system, d, one[: system.nd], one[system.nd :]) for one in np.eye(len(z))]
    np.testing.assert_allclose(H, np.einsum("i,ijk", z, every), atol=1e-10 * np.abs(H).max())


def test_inverse_is_forward(everything) -> None:
    system = everything(5)
    rng = np.random.default_rng(0)
    q, v, u, ak = rng.normal(size=system.nq), rng.normal(size=system.nq), rng.normal(size=3), rng.normal(size=system.nk)
    result = prescribed_forces(system, q, v, u, ak)
    a = np.empty(system.nq)
    a[system.dynamic], a[system.kinematic] = result.acceleration, ak
    tau = generalized_forces(system, q, v, a, u, result.multipliers)
    assert np.abs(tau[system.dynamic]).max() < 1e-10 * max(1.0, np.abs(a).max())
    np.testing.assert_array_equal(tau[system.kinematic], result.forces)
    # what drives the kinematic coordinates, given as forces to the same system with those coordinates free, moves it alike
    free = everything(5, kinematic=("l",))
    moved = free.index("q1")
    matrix = free.lagrangian_derivatives(q, v)
    Dh = free.constraint_jacobian(q)
    drive = tau.copy()
    drive[free.index("l")] = 0.0
    left = matrix.vv @ a + matrix.vq @ v - matrix.q - free.force(q, v, u) - result.multipliers @ Dh
    assert left[moved] == pytest.approx(drive[moved], abs=1e-9 * max(1.0, np.abs(a).max()))


def test_constraints_are_kept_by_the_acceleration(everything) -> None:
    system = everything(5)
    rng = np.random.default_rng(0)
    q, v, ak = rng.normal(size=system.nq), rng.normal(size=system.nq), rng.normal(size=system.nk)
    a = np.empty(system.nq)
    a[system.dynamic], _ = continuous(system, q, v, np.zeros(3), ak)
    a[system.kinematic] = ak

    def h(t):
        return system.constraint_values(q + t * v + 0.5 * t * t * a)

    t = 1e-3
    second = (-h(2 * t) + 16 * h(t) - 30 * h(0) + 16 * h(-t) - h(-2 * t)) / (12 * t * t)
    assert np.abs(second).max() < 1e-7 * max(1.0, np.abs(a).max())


@pytest.mark.shared
def test_pendulum_closed_form(golden_case) -> None:
    """(I + m l^2) a = -m g l sin q."""
    system, _ = golden_case("pendulum")
    a, _ = continuous(system, [0.7], [0.3])
    assert a[0] == pytest.approx(-2.0 * 9.8 * 1.3 * np.sin(0.7) / (0.3 + 2.0 * 1.3**2), rel=1e-13)


def test_singular_equations_are_refused(everything) -> None:
    system = everything(0, kinematic=("l", "q1", "q2", "q3"))
    assert system.nd < system.nc
    with pytest.raises(BadInput, match="singular"):
        continuous(system, np.ones(system.nq), np.zeros(system.nq), np.zeros(3))
    consistent = make_consistent(system, np.ones(system.nq))
    assert not consistent.status.good
