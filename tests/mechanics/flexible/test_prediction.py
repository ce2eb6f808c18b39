"""Motor curves at fine steps, frames at rest and in motion, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from _frames import predict_frames, rest_frames
from bunraku.character import Body, Character, Joint, Motor
from bunraku.errors import BadInput
from bunraku.mechanics.flexible.prediction import motor_nodes
from bunraku.mechanics.flexible.system import flexible_system
from bunraku.motion import JointCurves

LENGTH, MASS, STEEL = 0.5, 0.1, 7850 * np.pi * 0.002**2 * 0.5


@pytest.fixture
def model(one_rod):
    return flexible_system(one_rod())


def test_nodes_pass_through_the_samples_and_are_exact_for_cubics(model) -> None:
    t = np.arange(31) / 50.0
    values = np.column_stack([np.cos(t), 0.1 - t + 2 * t**2 - 0.7 * t**3])
    curves = JointCurves(("other", "shoulder"), 50.0, values)
    nodes = motor_nodes(model, curves, 1e-3)
    fine = np.arange(601) * 1e-3
    np.testing.assert_allclose(nodes[:, 0], 0.1 - fine + 2 * fine**2 - 0.7 * fine**3, atol=1e-13)
    np.testing.assert_allclose(nodes[::20, 0], values[:, 1], atol=1e-14)


def test_commands_are_followed_late_by_each_motors_own_delay() -> None:
    """Two cubics, two delays: theta(t - delay), which the spline holds exactly; before that each motor stands at its first."""
    delays = {"b": 0.0137, "a": 0.05}
    bodies = tuple(Body(name=name, mass=0.1, inertia=(1e-4, 1e-4, 1e-4, 0.0, 0.0, 0.0)) for name in "ab")
    joints = (
        Joint(name="a", kind="hinge", parent="world", child="a", axis=(0.0, 1.0, 0.0)),
        Joint(name="b", kind="hinge", parent="a", child="b", axis=(1.0, 0.0, 0.0)),
    )
    motors = tuple(Motor(name=f"of-{name}", coordinate=name, delay=delay) for name, delay in delays.items())
    model = flexible_system(Character(name="two", bodies=bodies, joints=joints, motors=motors))
    cubic = {"a": lambda t: 0.1 - t + 2 * t**2 - 0.7 * t**3, "b": lambda t: 0.3 + 2 * t - t**2 + t**3}
    t, fine = np.arange(31) / 50.0, np.arange(601) * 1e-3
    curves = JointCurves(("b", "a"), 50.0, np.column_stack([cubic["b"](t), cubic["a"](t)]))
    late, told = motor_nodes(model, curves, 1e-3, late=True), motor_nodes(model, curves, 1e-3)
    names = [model.system.names[i] for i in model.system.kinematic]
    assert sorted(names) == ["a", "b"]
    for k, name in enumerate(names):
        np.testing.assert_allclose(late[:, k], cubic[name](np.maximum(fine - delays[name], 0.0)), atol=1e-13)
        np.testing.assert_allclose(told[:, k], cubic[name](fine), atol=1e-13)


def test_curves_that_do_not_fit_are_refused(model) -> None:
    with pytest.raises(BadInput, match="no curve for the motor coordinate 'shoulder'; curves are elbow"):
        motor_nodes(model, JointCurves(("elbow",), 50.0, np.zeros((9, 1))), 1e-3)
    with pytest.raises(BadInput, match="3 samples; at least 4 are needed"):
        motor_nodes(model, JointCurves(("shoulder",), 50.0, np.zeros((3, 1))), 1e-3)


def test_a_leaning_rod_sags_by_the_load_over_the_stiffness_that_gravity_leaves(model) -> None:
    """Small lean: weights across / (stiffness - 6/5 weight / length); the rod's own weight counts 3/8 at its end.

    The stiffness is that of the mesh, from the first frequency without gravity and 33/140 of the rod's mass at the tip.
    """
    lean = 0.05
    weight = 9.81 * (MASS + 0.375 * STEEL)
    stiffness = (2 * np.pi * model.parts["rod"].frequency) ** 2 * (MASS + 33 / 140 * STEEL)
    expected = weight * np.sin(lean) / (stiffness - 1.2 * weight / LENGTH)
    rest = rest_frames(model, ("tip",), np.full((5, 1), lean), 1e-3)
    x, _, z = rest.positions[2, 0]
    assert x * np.cos(lean) - z * np.sin(lean) == pytest.approx(expected, rel=0.02)
    assert rest.deflection["rod"] == pytest.approx(expected / LENGTH, rel=0.02)
    assert rest.closure == 0.0
    held = predict_frames(model, ("tip",), np.full((21, 1), lean), 1e-3, every=5)
    np.testing.assert_allclose(held.distance(rest), 0.0, atol=1e-9)
    np.testing.assert_allclose(held.times, 5e-3 * np.arange(5), atol=1e-15)


def test_a_closed_loop_stays_closed_at_rest_and_in_motion(legs) -> None:
    model = flexible_system(legs(cell=0.05))
    K = 0.2 * np.sin(2 * np.pi * 2.0 * 1e-3 * np.arange(101))[:, None]
    for path in (rest_frames(model, ("torso",), K, 1e-3, every=10), predict_frames(model, ("torso",), K, 1e-3)):
        assert 0.0 < path.closure < 1e-9
        assert np.ptp(path.rotations[:, 0, 1, 2]) > 0.15


def test_a_motion_that_cannot_be_simulated_says_when_where_and_why(model) -> None:
    K = np.zeros((12, 1))
    K[8:] = 40.0
    with pytest.raises(BadInput, match=r"t = 0\.0[01]\d+ s, worst at .*'rod'.*: .*motors"):
        predict_frames(model, ("tip",), K, 2e-3)
