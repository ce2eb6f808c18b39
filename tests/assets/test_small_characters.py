"""The small characters: masses of their shapes, homes at rest, and the same mechanics as foreign physics."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.character import Character
from bunraku.formats.mjcf_coordinates import coordinates_to_qpos
from bunraku.formats.mjcf_geoms import combined, solid_inertia, volume
from bunraku.formats.mjcf_write import export_mjcf
from bunraku.formats.registry import read_character, read_clip
from bunraku.geometry.rotations import matrix_of_quaternion
from bunraku.mechanics.collision import self_collisions
from bunraku.mechanics.systems.carriages import CarriageLimits
from bunraku.mechanics.systems.character_system import character_home
from bunraku.mechanics.systems.marionette import hang
from bunraku.mechanics.tree import compile_tree
from bunraku.performers.marionette.actuated import actuated_system

mujoco = pytest.importorskip("mujoco")

BEECH, ALUMINIUM, STEEL = 700.0, 2700.0, 7850.0
DENSITY = {
    "rail": STEEL,
    "bracket": STEEL,
    "cart": ALUMINIUM,
    "pendulum": ALUMINIUM,
    "upper_link": ALUMINIUM,
    "lower_link": ALUMINIUM,
}
CLIPS = {"cart-pendulum": "stand-up", "double-pendulum": "wide-swing", "puppet-arm": "arm-wave"}


@pytest.fixture(scope="module", params=list(CLIPS))
def character(request) -> Character:
    return read_character(request.param)


def test_masses_are_those_of_the_shapes(character):
    """Spheres are the steel bobs."""
    for body in character.bodies:
        parts = []
        for shape in body.shapes:
            m = (STEEL if shape.kind == "sphere" else DENSITY.get(body.name, BEECH)) * volume(shape.kind, shape.size)
            pose = matrix_of_quaternion(shape.pose.quaternion), np.array(shape.pose.position)
            parts.append((m, pose, solid_inertia(shape.kind, shape.size, m)))
        mass, com, inertia = combined(parts)
        assert body.mass == pytest.approx(mass, rel=1e-4), body.name
        np.testing.assert_allclose(body.center_of_mass, com, atol=1e-5)
        np.testing.assert_allclose(body.inertia[:3], np.diag(inertia), rtol=1e-4)
        np.testing.assert_allclose(body.inertia[3:], inertia[[0, 0, 1], [1, 2, 2]], atol=1e-8)


def test_inertia_and_gravity_are_those_of_foreign_physics(character):
    model = mujoco.MjModel.from_xml_string(export_mjcf(character)[0])
    data, tree = mujoco.MjData(model), compile_tree(character)
    system = hang(character).system if character.strings else actuated_system(character)
    rng, n = np.random.default_rng(1), len(character.coordinates)
    for _ in range(3):
        q = system.home.copy()
        q[:n] = rng.uniform(-1.0, 1.0, n)
        data.qpos[:] = coordinates_to_qpos(character, model, q[: tree.nq])[0]
        data.qvel[:] = 0.0
        mujoco.mj_forward(model, data)
        M = np.zeros((n, n))
        for column in range(n):
            mujoco.mj_mulM(model, data, M[column], np.eye(n)[column])
        M -= np.diag(model.dof_armature)
        L = system.lagrangian_derivatives(q, 0.0 * q)
        np.testing.assert_allclose(L.vv[:n, :n], M, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(-L.q[:n], data.qfrc_bias, atol=1e-6)


def test_motors_leave_someone_free():
    for name, driven in (("cart-pendulum", ("x",)), ("double-pendulum", ("shoulder",))):
        character = read_character(name)
        assert character.driven == driven
        assert len(character.coordinates) == 2
        assert character.motors[0].stall_torque is not None


def test_the_arm_rests_on_a_taut_string_within_its_limits():
    arm = read_character("puppet-arm")
    at = hang(arm).require()
    home = character_home(arm, at.system)
    np.testing.assert_allclose(home, at.q, atol=1e-12)
    assert at.equilibrium.iterations == 0
    assert at.tensions["string"] == pytest.approx(0.611, abs=0.001)
    assert CarriageLimits.of(arm).excess(np.tile(home[at.system.kinematic], (3, 1)), 0.01).kept


@pytest.mark.parametrize("name", CLIPS)
def test_the_wish_is_about_its_coordinates_and_starts_at_home_and_at_rest(name):
    character, curves = read_character(name), read_clip(CLIPS[name]).need_joints("the test")
    tree = compile_tree(character)
    assert set(curves.names) <= set(character.coordinates)
    home = np.array([tree.home[tree.index(coordinate)] for coordinate in curves.names])
    np.testing.assert_allclose(curves.values[[0, -1]], [home, home], atol=np.radians(0.05))
    assert np.abs(curves.values[1] - curves.values[0]).max() * curves.rate < 0.05


@pytest.mark.parametrize("name", CLIPS)
def test_nothing_runs_into_anything_where_the_wish_leads(name):
    character, curves = read_character(name), read_clip(CLIPS[name]).need_joints("the test")
    tree = compile_tree(character)
    assert self_collisions(character, tree, tree.expand(curves.names, curves.values)).least_distance > 0.0
