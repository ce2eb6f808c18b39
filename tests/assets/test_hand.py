"""The built-in hand: its loops are found, its masses are those of its shapes, and its tendons hold, reach and return."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from bunraku.character import Character
from bunraku.formats.mjcf_geoms import solid_inertia, volume
from bunraku.formats.registry import read_character
from bunraku.geometry.rotations import matrix_of_quaternion
from bunraku.mechanics.systems.character_system import character_home, character_system
from bunraku.mechanics.systems.loops import close_loops, mobility
from bunraku.mechanics.systems.tendons import contact_forces, holding_tensions
from bunraku.mechanics.tree import compile_tree

DIGITS = ("thumb", "index", "middle", "ring", "little")


@pytest.fixture(scope="module")
def hand() -> Character:
    return read_character("hand")


@pytest.fixture(scope="module")
def lesson():
    path = Path(__file__).resolve().parents[2] / "examples" / "13_hand.py"
    spec = importlib.util.spec_from_file_location("hand_lesson", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_its_loops_are_found_and_close_at_home(hand) -> None:
    assert [loop.name for loop in hand.loops] == [f"{digit}_grip" for digit in DIGITS]
    assert all(loop.kind == "ball" and loop.child == "ball" for loop in hand.loops)
    closure = close_loops(hand, compile_tree(hand))
    assert closure.redundant == ()
    assert closure.gap < 1e-7
    system = character_system(hand)
    q = character_home(hand, system)
    assert (system.nd, system.nc, system.nu, mobility(system, q)) == (26, 15, 25, 11)
    for axis, value in zip(hand.axes, q, strict=True):
        assert axis.range is None or axis.range[0] < value < axis.range[1]


def test_fingertips_stand_on_the_ball(hand) -> None:
    radius = next(body for body in hand.bodies if body.name == "ball").shapes[0].size[0]
    for loop in hand.loops:
        assert np.linalg.norm(loop.child_pose.position) == pytest.approx(radius, abs=1e-5)


def test_masses_are_those_of_its_shapes(hand) -> None:
    for body in hand.bodies:
        (shape,) = body.shapes
        mass = (700.0 if body.name == "ball" else 1100.0) * volume(shape.kind, shape.size)
        R = matrix_of_quaternion(shape.pose.quaternion)
        inertia = R @ np.diag(solid_inertia(shape.kind, shape.size, mass)) @ R.T
        assert body.mass == pytest.approx(mass, rel=1e-5), body.name
        np.testing.assert_allclose(body.center_of_mass, shape.pose.position, atol=1e-9)
        np.testing.assert_allclose(body.inertia[:3], np.diag(inertia), rtol=1e-5)
    assert 0.4 < sum(body.mass for body in hand.bodies) < 0.7


def test_every_finger_can_be_tightened_without_moving(hand) -> None:
    """Five tendons over four joints have one combination of tensions without torque; all of it pulls."""
    for digit in DIGITS:
        tendons = [tendon for tendon in hand.tendons if tendon.name.startswith(f"{digit}_")]
        arms = np.array([[tendon.moment_arms.get(name, 0.0) for tendon in tendons] for name in hand.groups[digit]])
        assert arms.shape == (4, 5)
        idle = np.linalg.svd(arms)[2][-1]
        assert (idle / idle[0]).min() > 0.1


def test_tensions_that_hold_are_no_pushes_and_the_fingers_press(hand, lesson) -> None:
    system = character_system(hand)
    q, _, u = lesson.hold(system)
    assert u.min() >= 3.0 - 1e-9
    at = system.tree.configuration(q)
    inward = {loop.name: at.pose("ball")[1] - at.pose(loop.name.replace("grip", "tip"))[1] for loop in hand.loops}
    held = holding_tensions(hand, system, q, least=3.0, pushes=inward, least_push=0.5, friction=0.5)
    assert held.force_residual < 1e-10
    forces = contact_forces(hand, system, q, held.multipliers)
    weight = next(body.mass for body in hand.bodies if body.name == "ball") * 9.81
    np.testing.assert_allclose(sum(forces.values()), [0.0, 0.0, weight], atol=1e-9)
    for name, direction in inward.items():
        normal = forces[name] @ direction / np.linalg.norm(direction)
        assert normal >= 0.5 - 1e-9
        assert np.sqrt(forces[name] @ forces[name] - normal**2) <= 0.5 * np.sqrt(2.0) * normal + 1e-9


def test_from_twenty_nudges_feedback_returns_and_no_tendon_pushes(hand, lesson) -> None:
    system = character_system(hand)
    q, x, u = lesson.hold(system)
    gain, _ = lesson.feedback(system, x, u)
    for seed in range(20):
        start = lesson.nudged(system, q, seed)
        assert np.abs(start - q)[:20].max() == pytest.approx(0.05, rel=0.1)
        at, pulls = lesson.simulate(system, start, x, u, gain, seconds=1.0)
        assert np.abs(at[-1] - q).max() < 1e-4, seed
        assert pulls.min() > 0.0, seed


def test_without_feedback_it_falls_in_mujoco_too(hand, lesson) -> None:
    pytest.importorskip("mujoco")
    system = character_system(hand)
    q, x, u = lesson.hold(system)
    at, _ = lesson.replay(system, lesson.nudged(system, q, 1), x, u, np.zeros((system.nu, 2 * system.nq)), seconds=0.3)
    assert np.abs(at[-1] - q)[:20].max() > 0.5
