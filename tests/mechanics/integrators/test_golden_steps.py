"""Steps, multipliers, first and second derivatives of every golden system."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.mechanics.integrators.variational import VariationalIntegrator

NAMES = ["pendulum", "spatial_double_pendulum", "cart_pendulum", "fourbar", "spring_damper_wrench", "puppet22_18"]


def close(mine, golden, tolerance) -> None:
    assert np.max(np.abs(mine - golden), initial=0.0) <= tolerance * max(np.max(np.abs(golden), initial=0.0), 1e-3)


@pytest.mark.shared
@pytest.mark.parametrize("name", NAMES)
def test_trajectory(golden_case, name) -> None:
    system, z = golden_case(name)
    integrator = VariationalIntegrator(system, float(z["dt"]), tolerance=1e-11)
    start = integrator.initial(z["q"][0], z["q_prev"])
    np.testing.assert_allclose(start.p, z["p"][0], rtol=1e-12, atol=1e-12)
    N = len(z["u"])
    run = integrator.rollout(z["q"][0], z["p"][0], z["u"], z["k2"])
    assert run.status.good
    M = min(100, N)
    np.testing.assert_allclose(run.q[: M + 1], z["q"][: M + 1], rtol=0, atol=1e-9)
    np.testing.assert_allclose(run.p[: M + 1], z["p"][: M + 1], rtol=0, atol=1e-9)
    np.testing.assert_allclose(run.lam[:M], z["lam"][:M], rtol=0, atol=1e-9)
    assert max(np.abs(system.constraint_values(q)).max(initial=0.0) for q in run.q) <= 1e-10
    for k in range(0, N, 7):
        step = integrator.step(z["q"][k], z["p"][k], z["u"][k], z["k2"][k])
        np.testing.assert_allclose(step.q2, z["q"][k + 1], rtol=0, atol=1e-9)
        np.testing.assert_allclose(step.p2, z["p"][k + 1], rtol=0, atol=1e-9)
        np.testing.assert_allclose(step.lam, z["lam"][k], rtol=0, atol=1e-9)


@pytest.mark.shared
@pytest.mark.parametrize("name", NAMES)
def test_derivatives(golden_case, name) -> None:
    system, z = golden_case(name)
    integrator = VariationalIntegrator(system, float(z["dt"]), tolerance=1e-12)
    ends = np.cumsum([0, system.nq, system.nd, system.nu, system.nk])
    parts = {key: slice(a, b) for key, a, b in zip(("dq1", "dp1", "du1", "dk2"), ends[:-1], ends[1:], strict=True)}
    for k in z["deriv_steps"]:
        d = integrator.first(integrator.step(z["q"][k], z["p"][k], z["u"][k], z["k2"][k]))
        for out in ("q2", "p2", "lam"):
            for key in parts:
                close(d.block(out, key[1:]), z[f"d1_{k}_{out.replace('lam', 'lambda1')}_{key}"], 1e-10)
    for k in z["second_steps"]:
        tensor = integrator.second(integrator.step(z["q"][k], z["p"][k], z["u"][k], z["k2"][k]))
        for out in ("q2", "p2", "lam"):
            full = np.moveaxis(getattr(tensor, out), 0, 2)
            for i, first in enumerate(parts):
                for second in list(parts)[i:]:
                    close(full[parts[first], parts[second]], z[f"d2_{k}_{out.replace('lam', 'lambda1')}_{first}{second}"], 1e-9)
