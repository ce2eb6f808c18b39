"""Motors that give way, in closed form."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.character import Body, Character, Joint, Motor, Pose
from bunraku.errors import BadInput
from bunraku.mechanics.dynamics.equilibrium import find_equilibrium
from bunraku.mechanics.flexible.compliance import soft_motors, with_deflections
from bunraku.mechanics.flexible.system import flexible_system
from bunraku.mechanics.integrators.variational import VariationalIntegrator
from bunraku.mechanics.tree import compile_tree

MASS, ARM = 0.5, 0.3
INERTIA = 2e-3 + MASS * ARM**2


def pendulum(**motor) -> Character:
    """A mass on an arm on a motor about y, rigid."""
    body = Body(name="arm", mass=MASS, center_of_mass=(0.0, 0.0, ARM), inertia=(2e-3, 2e-3, 1e-4, 0.0, 0.0, 0.0))
    joint = Joint(name="hinge", kind="hinge", parent="world", child="arm", axis=(0.0, 1.0, 0.0))
    return Character(name="arm", bodies=(body,), joints=(joint,), motors=(Motor(name="m", coordinate="hinge", **motor),))


def test_a_soft_motor_vibrates_as_a_spring_and_decays_as_a_damper() -> None:
    """Step the command by 0.1 rad: delta = -0.1 exp(-zeta w t) (cos wd t + ...), period and decrement of a damped oscillator."""
    k, c = 40.0, 0.05
    model = flexible_system(pendulum(torsional_stiffness=k, torsional_damping=c), motor_stiffness=True, gravity=(0.0, 0.0, 0.0))
    system = model.system
    assert system.names == ("hinge", "hinge.deflection")
    assert list(system.kinematic) == [0]
    dt = 2e-4
    integrator = VariationalIntegrator(system, dt)
    state = integrator.initial(np.array([0.0, 0.1]), np.array([0.0, 0.1]))
    t = dt * np.arange(2501)
    motion = integrator.rollout(state.q, state.p, np.zeros((2500, 0)), np.zeros((2500, 1)))
    w, decay = np.sqrt(k / INERTIA), c / (2 * INERTIA)
    wd = np.sqrt(w**2 - decay**2)
    exact = 0.1 * np.exp(-decay * t) * (np.cos(wd * t) + decay / wd * np.sin(wd * t))
    assert np.abs(motion.q[:, 1] - exact).max() < 3e-4  # the start is a step at rest, half a step off


def test_a_soft_motor_sags_by_torque_over_stiffness() -> None:
    model = flexible_system(pendulum(), motor_stiffness=25.0)
    q = np.array([np.pi / 2, 0.0])
    sag = find_equilibrium(model.system, q).q[1]
    assert 25.0 * sag == pytest.approx(MASS * 9.81 * ARM * np.sin(np.pi / 2 + sag), rel=1e-9)


def test_a_soft_motor_with_a_rod_is_softer_than_either(one_rod) -> None:
    """In series: compliances add. Static tip displacement under a side load, rod and motor, against each alone."""
    character = one_rod(torsional_stiffness=30.0)

    def sag(**more):
        model = flexible_system(character, gravity=(0.05, 0.0, 0.0), **more)
        q = find_equilibrium(model.system, model.home).q
        tip = model.parts["rod"].reduction.segment.interfaces[0]
        bend = float((tip.C @ q[model.coordinates("rod")])[0])
        return bend, (float(q[model.system.index("shoulder.deflection")]) if model.soft else 0.0)

    stiff, none = sag(motor_stiffness=False)
    soft, angle = sag()
    assert none == 0.0
    rod_mass = 7850 * np.pi * 0.002**2 * 0.5
    assert soft == pytest.approx(stiff, rel=1e-3)
    assert angle == pytest.approx(0.05 * (0.1 * 0.5 + rod_mass * 0.25) / 30.0, rel=2e-3)


def test_axes_of_a_universal_joint_give_way_one_by_one() -> None:
    """The deflected chain moves as the joint does when every axis is split into two halves of its angle."""
    joint = Joint(
        name="neck", kind="universal", parent="world", child="head", axis=(1.0, 0.0, 0.0), second_axis=(0.0, 0.6, 0.8),
        pose=Pose(position=(0.1, 0.2, 0.3), quaternion=(0.9, 0.1, -0.3, 0.2)), range=None, ranges=((-1.0, 1.0), None),
    )  # fmt: skip
    head = Body(name="head", mass=1.0, inertia=(1e-3,) * 3 + (0.0,) * 3)
    motors = tuple(Motor(name=f"m{i}", coordinate=f"neck.{i}") for i in (1, 2))
    character = Character(name="neck", bodies=(head,), joints=(joint,), motors=motors)
    soft = with_deflections(character, soft_motors(character, {"m2": 5.0}))
    assert soft.coordinates == ("neck.1", "neck.2", "neck.2.deflection")
    assert [axis.range for axis in soft.axes] == [(-1.0, 1.0), None, None]
    R, p = compile_tree(character).configuration(np.array([0.4, -0.7])).pose("head")
    R2, p2 = compile_tree(soft).configuration(np.array([0.4, -0.5, -0.2])).pose("head")
    np.testing.assert_allclose(R2, R, atol=1e-15)
    np.testing.assert_allclose(p2, p, atol=1e-15)


def test_a_spring_at_a_joint_without_motor() -> None:
    """About home, not about zero: at rest there, and w^2 = k / I."""
    base = pendulum()
    joint = base.joints[0].changed(stiffness=9.0)
    model = flexible_system(base.changed(joints=(joint,), motors=(), home={"hinge": 0.3}), gravity=(0.0, 0.0, 0.0))
    rest = find_equilibrium(model.system, np.array([0.9]))
    assert rest.q == pytest.approx([0.3], abs=1e-9)
    assert rest.stiffness == pytest.approx(9.0)


def test_what_is_asked_of_motors_is_checked() -> None:
    with pytest.raises(BadInput, match="no motor of 'arm' states a torsional_stiffness"):
        flexible_system(pendulum(), motor_stiffness=True)
    with pytest.raises(BadInput, match="'x' is no motor of 'arm'; known: m"):
        flexible_system(pendulum(), motor_stiffness={"x": 1.0})
    with pytest.raises(BadInput, match="stiffness of motor 'm' is -1"):
        flexible_system(pendulum(), motor_stiffness=-1.0)
