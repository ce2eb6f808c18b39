"""The rod of the paper, its interfaces, invariants and measured order; what happens when it breaks."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from clamped_solid import find_modes

from bunraku.mechanics.elastic.modes import CarriedBody
from bunraku.mechanics.full_order.model import FullOrderModel
from bunraku.mechanics.full_order.motion import FullState
from bunraku.optimization.solution import Status

MakeRod = Callable[..., FullOrderModel]


def smooth(t: np.ndarray, end: float) -> np.ndarray:
    """From 0 to 1 in ``end`` seconds, twice differentiable."""
    s = np.clip(t / end, 0.0, 1.0)
    return 10 * s**3 - 15 * s**4 + 6 * s**5


def test_static_tip_of_the_papers_rod(make_rod: MakeRod) -> None:
    """26,466 unknowns: 55.636 mm down within 0.2 %, 2.63 mm shorter within 1 %."""
    rest = make_rod(200, horizontal=True).rest()
    assert rest.status.good
    assert -rest.state.c[1, 2] == pytest.approx(0.055636, rel=2e-3)
    assert 0.7 - rest.state.c[1, 0] == pytest.approx(0.00263, rel=1e-2)


def test_rest_balances_and_warm_start(make_rod: MakeRod) -> None:
    """The motor of a rod at rest holds the weight of it all; a warm start ends in the same place in few steps."""
    model = make_rod(20)
    first = model.rest([0.5])
    again = model.rest([0.6], start=first.state)
    cold = model.rest([0.6])
    assert again.status.good
    np.testing.assert_allclose(again.state.c, cold.state.c, atol=1e-9)
    motion = model.simulate(np.full((3, 1), 0.6), 1e-3, start=cold.state)
    rod = model.assembly.pieces[0]
    weight = 9.81 * (0.1 * cold.state.c[1, 0] + float((rod.mass @ cold.state.x[0])[:, 0].sum()))
    assert motion.torques[0, 0] == pytest.approx(-weight, rel=1e-6)
    np.testing.assert_allclose(motion.last.c, cold.state.c, atol=1e-10)


def test_frequency_of_any_mesh_is_that_of_the_eigenproblem(make_rod: MakeRod) -> None:
    """Damped and driven by nothing, the rod swings with the frequency that the eigenproblem of the same mesh has."""
    model = make_rod(20, gravity=(0.0, 0.0, 0.0), beta=0.0, clamped=True)
    part = model.assembly.pieces[0]
    held, carried = part.piece.held[0].interface.nodes, CarriedBody(part.piece.held[1].interface, 0.1, 7.84e-6)
    wanted = find_modes(part.solid, 1, held, [carried])[0][0]
    bent = make_rod(20, gravity=(0.02, 0.0, 0.0), beta=0.0, clamped=True).rest().state
    h = 1.0 / wanted / 200.0
    motion = model.simulate(np.zeros((101, 0)), h, start=bent, method="generalized-alpha")
    x = motion.tracked(["tip"])[:, 0, 0]
    assert x[50] == pytest.approx(0.0, abs=0.02 * x[0])
    assert x[100] == pytest.approx(-x[0], rel=5e-3)


def test_energy_is_lost_by_damping_only(make_rod: MakeRod) -> None:
    """Plucked and let go, the total energy falls with damping and (generalized alpha) stays without."""
    bent = make_rod(20, gravity=(3.0, 0.0, 0.0), clamped=True).rest().state
    kept = {}
    for beta in (0.0, 5e-3):
        model = make_rod(20, gravity=(0.0, 0.0, 0.0), clamped=True, beta=beta)
        kept[beta] = model.simulate(np.zeros((41, 0)), 2e-3, start=bent, method="generalized-alpha").energies.total
    assert np.ptp(kept[0.0]) < 2e-3 * kept[0.0][0]
    assert np.all(np.diff(kept[5e-3])[3:] < 0.0)
    assert kept[5e-3][-1] < 0.95 * kept[5e-3][0]


def test_a_thrown_rod_keeps_its_momentum(make_rod: MakeRod) -> None:
    """Hub, rod and tip fly, spin and bend: linear momentum to rounding, angular momentum to the order of the scheme."""
    model = make_rod(12, free=True, gravity=(0.0, 0.0, 0.0), beta=1e-4)
    at = model.unbent()
    w, v0 = np.array([0.5, 3.0, 0.3]), np.array([0.2, -0.3, 0.1])
    start = FullState(
        at.c, at.q, at.x, v0 + np.cross(w, at.c), np.tile(w, (2, 1)), (v0 + np.cross(w, at.x[0]),), at.multipliers, at.motors
    )

    def momenta(state: FullState) -> tuple[np.ndarray, np.ndarray]:
        A = model.assembly
        R, rod = state.rotations, A.pieces[0]
        p = rod.mass @ state.xv[0]
        linear = A.mass @ state.v + p.sum(axis=0)
        spin = np.einsum("bij,bjk,blk,bl->i", R, A.inertia, R, state.w)
        return linear, (A.mass[:, None] * np.cross(state.c, state.v)).sum(axis=0) + spin + np.cross(state.x[0], p).sum(axis=0)

    P, L = momenta(start)
    lost = []
    for n in (30, 60):
        motion = model.simulate(np.zeros((n + 1, 0)), 0.06 / n, start=start)
        assert motion.status.good
        P1, L1 = momenta(motion.last)
        np.testing.assert_allclose(P1, P, atol=1e-8 * np.abs(P).max())
        lost.append(float(np.abs(L1 - L).max()))
        assert motion.drift.max() < 1e-9
    assert lost[0] < 1e-3 * np.abs(L).max()
    assert lost[1] < 0.4 * lost[0]


@pytest.mark.parametrize("method", ["bdf2", "generalized-alpha"])
def test_order_two_with_a_motor(make_rod: MakeRod, method: str) -> None:
    model = make_rod(16)
    rest = model.rest().state
    ends = []
    for n in (20, 40, 80):
        t = np.linspace(0.0, 0.08, n + 1)
        motion = model.simulate(0.1 * smooth(t, 0.08)[:, None], 0.08 / n, start=rest, method=method, every=8)
        assert motion.status.good
        assert motion.drift.max() <= 1e-9
        ends.append(motion.tracked(["tip"])[-1, 0])
    errors = [float(np.abs(a - b).max()) for a, b in pairwise(ends)]
    assert 1.7 < np.log2(errors[0] / errors[1]) < 2.4


def test_snapshots_are_taken_on_the_base(make_rod: MakeRod) -> None:
    """In the floating frame the base interface does not move, whatever the motor does, and the tip follows its body."""
    model = make_rod(16)
    t = np.arange(41) * 2e-3
    motion = model.simulate(0.3 * smooth(t, 0.08)[:, None], 2e-3, every=5, snapshots=["rod"])
    u = motion.snapshots["rod"]
    part = model.assembly.pieces[0]
    base, end = (held.interface for held in part.piece.held)
    assert len(u) == len(motion.times) == 9
    for k in range(9):
        np.testing.assert_allclose(base.position(u[k].ravel()), base.centroid, atol=1e-11)
        np.testing.assert_allclose(base.rotation(u[k].ravel()), np.eye(3), atol=1e-10)
        R, p = motion.pose("hub")
        np.testing.assert_allclose(R[k] @ end.position(u[k].ravel()) + p[k], motion.tracked(["tip"])[k, 0], atol=1e-10)
    assert np.abs(u[-1]).max() > 5e-3


def test_a_broken_motion_says_when_where_and_why(make_rod: MakeRod) -> None:
    """A rubbery rod is thrown about by a motor that jumps: it stops, names the time, and keeps what came before."""
    model = make_rod(12, young=2e5, beta=0.0)
    curve = np.zeros((12, 1))
    curve[6:, 0] = 2.5
    curve[8:, 0] = -2.5
    motion = model.simulate(curve, 2e-2, start=model.unbent())
    assert motion.status is Status.STALLED
    assert "'rod'" in motion.note
    assert motion.note.startswith("at 0.")
    assert 1 <= len(motion.times) < 12
