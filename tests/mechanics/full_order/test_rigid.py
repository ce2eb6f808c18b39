"""Rigid bodies alone: closed forms, invariants, measured order, and the generalized coordinates of `mechanics.dynamics`."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.special import ellipk

from bunraku.errors import BadInput
from bunraku.formats.registry import read_character
from bunraku.geometry.rotations import axis_angle
from bunraku.mechanics.full_order.description import GROUND, Freedom, Link, RigidBody
from bunraku.mechanics.full_order.from_character import full_model
from bunraku.mechanics.full_order.model import FullOrderModel
from bunraku.mechanics.full_order.motion import FullState
from bunraku.mechanics.integrators.variational import VariationalIntegrator
from bunraku.mechanics.systems.character_system import character_system

HINGE = (Freedom("hinge", (0.0, 1.0, 0.0)),)
HALF = np.array([0.0, 0.0, -0.15])


def pendulum(angle: float) -> FullOrderModel:
    """A rod of 0.3 m, 0.2 kg, on a hinge, turned by ``angle`` from hanging."""
    rod = RigidBody("rod", 0.2, np.diag([0.2 * 0.3**2 / 12] * 2 + [1e-6]), HALF, (axis_angle([0.0, 1.0, 0.0], angle), np.zeros(3)))
    return FullOrderModel([rod], [Link("hinge", GROUND, "rod", HINGE)])


def nodes(count: int) -> np.ndarray:
    return np.zeros((count + 1, 0))


@pytest.mark.parametrize("method", ["bdf2", "generalized-alpha"])
def test_period_of_a_pendulum(method: str) -> None:
    """T = 4 sqrt(2 L / 3 g) K(sin(a/2)) for a rod; the speed changes sign after half of it."""
    model, angle = pendulum(1.2), 1.2
    period = 4.0 * np.sqrt(2.0 * 0.3 / (3.0 * 9.81)) * ellipk(np.sin(angle / 2.0) ** 2)
    h = period / 400.0
    motion = model.simulate(nodes(200), h, start=model.unbent(), method=method)
    turned = np.arctan2(motion.rotations[:, 0, 0, 2], motion.rotations[:, 0, 2, 2])
    assert turned[100] == pytest.approx(0.0, abs=1e-3)
    assert turned[200] == pytest.approx(-angle, abs=1e-3)
    assert motion.drift.max() < 1e-11


@pytest.mark.parametrize("method", ["bdf2", "generalized-alpha"])
def test_order_two(method: str) -> None:
    """A body on a ball joint, spinning: errors fall by four when the step is halved."""
    body = RigidBody("body", 0.4, np.diag([1e-3, 2e-3, 3e-3]), (0.05, 0.0, -0.2))
    ball = (Freedom("hinge", (0.0, 0.0, 1.0)), Freedom("hinge", (0.0, 1.0, 0.0)), Freedom("hinge", (1.0, 0.0, 0.0)))
    model = FullOrderModel([body], [Link("ball", GROUND, "body", ball)])
    at = model.unbent()
    w = np.array([[1.0, 2.0, 5.0]])
    start = FullState(at.c, at.q, (), np.cross(w, at.c), w, (), at.multipliers, at.motors)
    ends = [model.simulate(nodes(n), 0.4 / n, start=start, method=method).last.c for n in (50, 100, 200, 400)]
    errors = [float(np.abs(a - b).max()) for a, b in pairwise(ends)]
    order = np.log2([errors[0] / errors[1], errors[1] / errors[2]])
    assert np.all((order > 1.8) & (order < 2.2))


def test_a_top_keeps_momentum_and_energy() -> None:
    body = RigidBody("body", 1.0, np.diag([1e-3, 2e-3, 2.8e-3]))
    model = FullOrderModel([body], gravity=(0.0, 0.0, 0.0))
    at = model.unbent()
    w, v = np.array([[6.0, 0.1, 0.2]]), np.array([[0.3, -0.1, 0.2]])
    start = FullState(at.c, at.q, (), v, w, (), at.multipliers, at.motors)
    moved = [model.simulate(nodes(n), 1.0 / n, start=start) for n in (200, 400)]
    L0 = np.diag([1e-3, 2e-3, 2.8e-3]) @ w[0]

    def lost(motion) -> float:  # type: ignore[no-untyped-def]
        R = motion.last.rotations[0]
        return float(np.abs(R @ np.diag([1e-3, 2e-3, 2.8e-3]) @ R.T @ motion.last.w[0] - L0).max())

    assert lost(moved[0]) < 5e-3 * np.abs(L0).max()
    assert lost(moved[0]) / lost(moved[1]) == pytest.approx(4.0, rel=0.2)
    np.testing.assert_allclose(moved[0].last.c, v, atol=1e-12)


def four_bar(turn: float) -> FullOrderModel:
    """A parallelogram of three rods of 0.2 m on the ground, its cranks turned by ``turn``; hinges about y all round."""
    R = axis_angle([0.0, 1.0, 0.0], turn)
    up, along = np.array([0.0, 0.0, 0.2]), np.array([0.3, 0.0, 0.0])
    inertia = np.diag([1e-4, 1e-4, 1e-4])
    crank = RigidBody("crank", 0.1, inertia, 0.5 * up, (R, np.zeros(3)))
    rocker = RigidBody("rocker", 0.1, inertia, 0.5 * up, (R, along))
    coupler = RigidBody("coupler", 0.2, inertia, 0.5 * along, (np.eye(3), R @ up))
    links = [
        Link("a", GROUND, "crank", HINGE),
        Link("b", "crank", "coupler", HINGE, (np.eye(3), up)),
        Link("c", "coupler", "rocker", HINGE, (np.eye(3), along), (np.eye(3), up)),
        Link("d", GROUND, "rocker", HINGE, (np.eye(3), along), closing=True),
    ]
    return FullOrderModel([crank, rocker, coupler], links)


def test_a_four_bar_swings_as_one_pendulum() -> None:
    """A parallelogram has one freedom t with T = 1/2 J t'^2, V = G cos t; the loop stays closed and energy is kept."""
    model = four_bar(2.0)
    assert len(model.redundant) == 3
    motion = model.simulate(nodes(300), 1e-3, start=model.unbent(), method="generalized-alpha")
    t = np.unwrap(np.arctan2(motion.rotations[:, 0, 0, 2], motion.rotations[:, 0, 2, 2]))
    J, G = 2 * (1e-4 + 0.1 * 0.1**2) + 0.2 * 0.2**2, 9.81 * (2 * 0.1 * 0.1 + 0.2 * 0.2)
    speed = np.gradient(t, 1e-3)
    np.testing.assert_allclose(0.5 * J * speed[5:-5] ** 2, G * (np.cos(2.0) - np.cos(t[5:-5])), atol=2e-4 * G)
    assert motion.drift.max() < 1e-10
    assert np.ptp(motion.energies.total) < 1e-4 * np.ptp(motion.energies.weight)


def test_prescribed_turns_and_torque() -> None:
    """A motor that turns as it is told: the pose follows, and the torque is that of the closed form."""
    rod = RigidBody("rod", 0.2, np.diag([1.5e-3] * 2 + [1e-6]), HALF)
    motor = (Freedom("hinge", (0.0, 1.0, 0.0), motor=0),)
    model = FullOrderModel([rod], [Link("motor", GROUND, "rod", motor)], motors=["motor"])
    h, t = 1e-3, np.arange(301) * 1e-3
    angle = 0.8 * (1 - np.cos(6.0 * t)) ** 2
    motion = model.simulate(angle[:, None], h, method="generalized-alpha")
    second = np.gradient(np.gradient(angle, h), h)
    torque = (1.5e-3 + 0.2 * 0.15**2) * second + 0.2 * 9.81 * 0.15 * np.sin(angle)
    np.testing.assert_allclose(motion.torques[5:-5, 0], torque[5:-5], atol=3e-3 * np.abs(torque).max())
    np.testing.assert_allclose(np.arctan2(motion.rotations[:, 0, 0, 2], motion.rotations[:, 0, 2, 2]), angle, atol=1e-11)


def test_double_pendulum_as_in_generalized_coordinates() -> None:
    """The shoulder moves as told, the elbow swings: maximal coordinates here, the tree's Lagrangian there, no equation shared."""
    character = read_character("double-pendulum")
    model = full_model(character)
    h, n = 2e-3, 250
    t = np.arange(n + 1) * h
    shoulder = model.home[0] + 0.5 * (1.0 - np.cos(4.0 * t)) ** 2
    system = character_system(character, kinematic=character.driven)
    assert character.driven == ("shoulder",)
    q = np.tile(system.home, (n + 1, 1))
    integrator = VariationalIntegrator(system, h)
    start = integrator.initial(q[0], q[0])
    tree = integrator.rollout(start.q, start.p, np.zeros((n, len(system.inputs))), shoulder[1:, None])
    motion = model.simulate(shoulder[:, None], h, start=model.unbent(), method="generalized-alpha")
    assert motion.status.good
    names = [body.name for body in character.bodies]
    wanted = np.array(
        [[system.tree.configuration(system.tree_configuration(row)).pose(name)[0] for name in names] for row in tree.q]
    )
    found = np.stack([motion.pose(name)[0] for name in names], axis=1)
    assert np.abs(found - wanted).max() < 2e-3
    assert np.ptp(wanted[:, -1], axis=0).max() > 0.4


def test_bad_input() -> None:
    body = RigidBody("a", 1.0, 1e-3)
    with pytest.raises(BadInput, match="'b', which is not described"):
        FullOrderModel([body], [Link("x", GROUND, "b")])
    with pytest.raises(BadInput, match="used twice"):
        FullOrderModel([body, body])
    with pytest.raises(BadInput, match=r"\(N \+ 1, 0\)"):
        FullOrderModel([body]).simulate(np.zeros((3, 1)), 1e-3)
    with pytest.raises(BadInput, match="there are bdf2"):
        FullOrderModel([body]).simulate(nodes(3), 1e-3, start=FullOrderModel([body]).unbent(), method="rk4")
