"""The built-in marionette: its home is rest, its masses are wood, and MuJoCo's tendons carry what our strings do."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.character import Character
from bunraku.formats.mjcf_coordinates import coordinates_to_qpos
from bunraku.formats.mjcf_geoms import combined, solid_inertia, volume
from bunraku.formats.mjcf_write import export_mjcf
from bunraku.formats.registry import read_character
from bunraku.formats.urdf_write import write_urdf
from bunraku.geometry.rotations import matrix_of_quaternion
from bunraku.mechanics.systems.carriages import CarriageLimits
from bunraku.mechanics.systems.character_system import character_home
from bunraku.mechanics.systems.marionette import hang
from bunraku.mechanics.systems.strings import home_lengths
from bunraku.mechanics.tree import compile_tree

mujoco = pytest.importorskip("mujoco")

PARTS = ("shoulder", "elbow", "wrist", "hand", "hip", "knee", "foot")
DENSITY = 700.0


@pytest.fixture(scope="module")
def puppet() -> Character:
    return read_character("marionette")


def test_names_that_others_rely_on(puppet) -> None:
    assert len(puppet.bodies) == 10
    assert {frame.name for frame in puppet.frames} >= {"torso", "pelvis", "head"} | {f"{s}_{part}" for s in "lr" for part in PARTS}
    assert set(puppet.groups) == {"legs", "arms", "left_arm", "right_arm", "left_leg", "right_leg"}
    assert [string.name for string in puppet.strings] == [f"{s}_{p}_string" for p in ("shoulder", "hand", "knee") for s in "lr"]
    assert not puppet.motors


def test_home_is_rest_on_taut_strings_within_the_limits(puppet) -> None:
    at = hang(puppet).require()
    home = character_home(puppet, at.system)
    assert at.equilibrium.iterations == 0
    np.testing.assert_allclose(home, at.q, atol=1e-12)
    assert np.abs(at.system.constraint_values(home)).max() <= 1e-12
    assert min(at.tensions.values()) > 0.5
    still = np.tile(home[at.system.kinematic], (3, 1))
    assert CarriageLimits.of(puppet).excess(still, 0.01).kept


def test_masses_are_those_of_its_shapes_in_wood(puppet) -> None:
    for body in puppet.bodies:
        parts = []
        for shape in body.shapes:
            if shape.collides:
                m = DENSITY * volume(shape.kind, shape.size)
                pose = matrix_of_quaternion(shape.pose.quaternion), np.array(shape.pose.position)
                parts.append((m, pose, solid_inertia(shape.kind, shape.size, m)))
        mass, com, inertia = combined(parts)
        assert body.mass == pytest.approx(mass, rel=1e-4), body.name
        np.testing.assert_allclose(body.center_of_mass, com, atol=1e-5)
        np.testing.assert_allclose(body.inertia[:3], np.diag(inertia), rtol=1e-4)
        np.testing.assert_allclose(body.inertia[3:], inertia[[0, 0, 1], [1, 2, 2]], atol=1e-8)
    assert sum(body.mass for body in puppet.bodies) == pytest.approx(3.504, abs=0.001)


def test_left_and_right_are_mirror_images(puppet) -> None:
    tree = compile_tree(puppet)
    at = tree.configuration(tree.home)
    for part in (*PARTS, "shoulder_hook", "wrist_hook", "knee_hook"):
        np.testing.assert_allclose(at.pose(f"l_{part}")[1] * (1, -1, 1), at.pose(f"r_{part}")[1], atol=1e-12)
    homes = {carriage.name: np.array(carriage.home) for carriage in puppet.carriages}
    for name, place in homes.items():
        if name.startswith("l_"):
            np.testing.assert_array_equal(place * (1, -1, 1), homes[f"r_{name[2:]}"])


def test_it_hangs_in_mujoco_as_it_does_here(puppet) -> None:
    """Tendon lengths at home equal ours; after 2 s of foreign physics it has not moved, and the tendons carry our tensions."""
    text, notes = export_mjcf(puppet)
    assert len(notes) == 1
    assert "carriages" in notes[0]
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    assert (model.nv, model.ntendon, model.nmocap) == (22, 6, 6)
    start = coordinates_to_qpos(puppet, model, compile_tree(puppet).home)[0]
    data.qpos[:] = start
    mujoco.mj_forward(model, data)
    np.testing.assert_allclose(data.ten_length, home_lengths(puppet), atol=1e-9)
    assert data.ncon == 0
    for _ in range(int(2.0 / model.opt.timestep)):
        mujoco.mj_step(model, data)
    np.testing.assert_allclose(data.qpos, start, atol=1e-4)
    pull = np.zeros(6)
    limited = data.efc_type == mujoco.mjtConstraint.mjCNSTR_LIMIT_TENDON
    pull[data.efc_id[limited]] = data.efc_force[limited]
    np.testing.assert_allclose(pull, list(hang(puppet).tensions.values()), rtol=1e-4)


def test_what_urdf_cannot_say_of_it_is_noted(puppet) -> None:
    notes = write_urdf(puppet)[1]
    assert {"carriages dropped: URDF has no place for them", "strings dropped: URDF has no place for them"} <= set(notes)
