"""Loops through parts that bend: all rows count, they stay closed, and a frame of two legs sways as frames do."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy.linalg import eigh, null_space

from bunraku.character import Pose
from bunraku.errors import BadInput
from bunraku.mechanics.dynamics.equilibrium import find_equilibrium
from bunraku.mechanics.dynamics.poses import find_jacobian
from bunraku.mechanics.flexible.system import flexible_system
from bunraku.mechanics.integrators.variational import VariationalIntegrator
from bunraku.mechanics.systems.character_system import character_home, character_system
from bunraku.mechanics.systems.loops import mobility, system_gaps


def swing(model, amplitude, seconds=0.4, dt=0.001):
    """A rollout with the first motor swung at 3 Hz from rest."""
    rest = find_equilibrium(model.system, model.home)
    assert rest.status.good
    integrator = VariationalIntegrator(model.system, dt)
    state = integrator.initial(rest.q, rest.q)
    t = dt * np.arange(1, round(seconds / dt) + 1)
    command = amplitude * np.sin(6 * np.pi * t)[:, None] * np.minimum(t / 0.1, 1.0)[:, None]
    return integrator.rollout(state.q, state.p, np.zeros((len(t), 0)), command)


@pytest.mark.parametrize("name", ["legs", "four_bar"])
def test_loops_stay_closed_over_a_motion(name, request) -> None:
    character = request.getfixturevalue(name)()
    model = flexible_system(character)
    motion = swing(model, 0.6)
    assert motion.status.good
    modes = np.concatenate([model.coordinates(part) for part in model.parts])
    assert np.ptp(motion.q[:, modes], axis=0).max() > 1e-4
    gaps = [system_gaps(character, model.system, q) for q in motion.q[::10]]
    assert max(far for gap in gaps for far, _ in gap.values()) <= 1e-12
    assert max(angle for gap in gaps for _, angle in gap.values()) <= 1e-9


def test_two_legs_need_all_six_rows_and_when_rigid_none(legs) -> None:
    character = legs()
    model = flexible_system(character)
    assert model.system.nc == 6
    assert model.closure.redundant == ()
    assert mobility(model.system, model.home) == model.system.nd - 6
    rigid = character_system(character)
    assert rigid.nc == 0
    assert character_home(character, rigid) == pytest.approx(np.zeros(1))


def test_two_legs_sway_as_a_frame(legs) -> None:
    """Legs clamped below and guided above: 24 EI / L^3 less 6/5 of the weight over L, on the pelvis and 13/35 of each leg."""
    model = flexible_system(legs(cell=0.00525))
    rest = find_equilibrium(model.system, model.home)
    own = 7850 * np.pi * 0.003**2 * 0.25
    k = 24 * 200e9 * np.pi * 0.006**4 / 64 / 0.25**3 - 1.2 * 9.81 * (2.3 + own) / 0.25
    frame = np.sqrt(k / (2.3 + 2 * 13 / 35 * own)) / (2 * np.pi)
    system, d = model.system, model.system.dynamic
    L = system.lagrangian_derivatives(rest.q, np.zeros(system.nq))
    Z = null_space(system.constraint_jacobian(rest.q)[:, d])
    K = -L.qq - system.constraint_curvature(rest.q, rest.multipliers)
    squares, shapes = eigh(Z.T @ K[np.ix_(d, d)] @ Z, Z.T @ L.vv[np.ix_(d, d)] @ Z)
    linear = find_jacobian(system, rest.q, "pelvis")[0][:, d] @ Z @ shapes
    sway = int(np.argmax(np.abs(linear[1, :6])))
    assert np.sqrt(squares[sway]) / (2 * np.pi) == pytest.approx(frame, rel=3e-3)


def test_the_joint_a_part_replaces_is_never_cut(legs) -> None:
    """In whatever order the joints are written; before, the fixed joints were equals and the last one into a body was cut."""
    for order in permutations(range(4)):
        assert [loop.name for loop in legs(order=order).loops] == ["hip"]


def test_legs_that_do_not_meet_the_pelvis_are_refused(legs) -> None:
    character = legs()
    apart = character.changed(loops=tuple(loop.changed(pose=Pose(position=(0.0, -0.15, 0.0))) for loop in character.loops))
    with pytest.raises(BadInput, match="'hip' does not close: at home its ends are 10 mm"):
        flexible_system(apart)
