"""Inverse and forward dynamics against a foreign program: MuJoCo on the built-in NAO, floating base and all, and on a small arm."""

from __future__ import annotations

from importlib import resources

import numpy as np
import pytest
from inverse_dynamics import generalized_forces, prescribed_forces

from bunraku.formats.character_yaml import read_character_yaml
from bunraku.formats.mjcf_write import write_mjcf
from bunraku.mechanics.dynamics.continuous import continuous
from bunraku.mechanics.dynamics.forces import Damping
from bunraku.mechanics.dynamics.system import build_system
from bunraku.mechanics.tree import compile_tree

mujoco = pytest.importorskip("mujoco")


@pytest.fixture(scope="module")
def nao():
    path = resources.files("bunraku.assets") / "characters" / "nao.character.yaml"
    character = read_character_yaml(path.read_bytes(), file="nao").model_copy(update={"couplings": ()})
    text = write_mjcf(character, free_base_as_quaternion=False, floor=False, self_collision=False, actuators=False)
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    tree = compile_tree(character)
    order = np.array([model.joint(name).dofadr[0] for name in tree.names])
    return character, tree, model, order


def system_of(character, tree, kinematic=()):
    owners = {axis.name: joint for joint in character.joints for axis in joint.axes}
    return build_system(
        tree,
        kinematic=kinematic,
        gravity=(0.0, 0.0, -9.81),
        armature={name: joint.armature for name, joint in owners.items()},
        forces=[Damping({name: joint.damping for name, joint in owners.items()})],
    )


def test_inverse_dynamics(nao) -> None:
    character, tree, model, order = nao
    system, data = system_of(character, tree), mujoco.MjData(model)
    rng = np.random.default_rng(0)
    for _ in range(10):
        q, v, a = rng.uniform(-1, 1, tree.nq), rng.uniform(-3, 3, tree.nq), rng.uniform(-20, 20, tree.nq)
        data.qpos[order], data.qvel[order], data.qacc[order] = q, v, a
        mujoco.mj_inverse(model, data)
        expected = data.qfrc_inverse[order]
        np.testing.assert_allclose(generalized_forces(system, q, v, a), expected, atol=1e-10 * np.abs(expected).max())


def test_forward_dynamics(nao) -> None:
    character, tree, model, order = nao
    system, data = system_of(character, tree), mujoco.MjData(model)
    rng = np.random.default_rng(1)
    q, v = rng.uniform(-1, 1, tree.nq), rng.uniform(-3, 3, tree.nq)
    data.qpos[order], data.qvel[order] = q, v
    mujoco.mj_forward(model, data)
    a, _ = continuous(system, q, v)
    np.testing.assert_allclose(a, data.qacc[order], atol=1e-9 * np.abs(a).max())


def test_torques_at_servos_while_the_base_floats(nao) -> None:
    """Joints prescribed, base dynamic: the torques found make MuJoCo's forward dynamics give the prescribed accelerations."""
    character, tree, model, order = nao
    servos = tree.names[6:]
    system, data = system_of(character, tree, servos), mujoco.MjData(model)
    rng = np.random.default_rng(2)
    q, v, ak = rng.uniform(-1, 1, tree.nq), rng.uniform(-3, 3, tree.nq), rng.uniform(-20, 20, len(servos))
    result = prescribed_forces(system, q, v, kinematic_acceleration=ak)
    tau = np.zeros(tree.nq)
    tau[system.kinematic] = result.forces
    data.qpos[order], data.qvel[order], data.qfrc_applied[order] = q, v, tau
    mujoco.mj_forward(model, data)
    np.testing.assert_allclose(data.qacc[order][system.kinematic], ak, atol=1e-8 * np.abs(ak).max())
    np.testing.assert_allclose(data.qacc[order][system.dynamic], result.acceleration, atol=1e-9 * np.abs(result.acceleration).max())
