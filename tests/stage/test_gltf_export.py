"""glTF out: what pygltflib reads, what our own reader reads, and what the format asks for."""

from __future__ import annotations

import json
import struct

import numpy as np
import pytest

from bunraku.character import Body, Character, Joint, Pose, Shape
from bunraku.errors import BadInput
from bunraku.formats.gltf import read_gltf
from bunraku.formats.gltf_animation import MovingNode, animation_glb
from bunraku.formats.poses import rotations_y_up, rotations_z_up, vectors_y_up, vectors_z_up
from bunraku.formats.surface_gltf import read_gltf_surface
from bunraku.mechanics.tree import compile_tree
from bunraku.motion import Channel, JointCurves
from bunraku.stage.gltf_export import export_gltf

TURN = (0.5, 0.5, 0.5, 0.5)


@pytest.fixture
def walker(performance):
    """A free base that turns and goes, a hinge on a tilted axis in a turned frame, a slide."""
    who = Character(
        name="walker",
        bodies=(
            Body(name="trunk", mass=1.0, shapes=(Shape(kind="box", size=(0.05, 0.1, 0.15)),)),
            Body(name="arm", mass=0.1, shapes=(Shape(kind="sphere", size=(0.05,)),)),
            Body(name="rod", mass=0.1),
        ),
        joints=(
            Joint(name="base", kind="free", parent="world", child="trunk"),
            Joint(
                name="shoulder",
                kind="hinge",
                parent="trunk",
                child="arm",
                pose=Pose(position=(0.1, 0.2, 0.3), quaternion=TURN),
                axis=(0.6, 0.0, 0.8),
            ),
            Joint(name="push", kind="slide", parent="arm", child="rod", pose=Pose(position=(0.0, 0.0, 0.2)), axis=(0.0, 1.0, 0.0)),
        ),
    )
    t = np.arange(76) / 50.0
    base = [0.3 * t, 0.1 * t**2, 0.4 + 0.0 * t, 0.2 * t, -0.1 * t, 3.0 * t]
    values = np.column_stack([*base, 4.0 * np.sin(3.0 * t), 0.1 * np.cos(t)])
    motion = JointCurves(who.coordinates, 50.0, values)
    wish = JointCurves(("shoulder", "push"), 50.0, values[:, 6:])
    channels = (
        Channel("shoulder", "position", "rad", 50.0, values[:, 6]),
        Channel("push", "position", "m", 50.0, values[:, 7]),
    )
    return performance.changed(character=who, motion=motion, wish=wish, channels=channels)


def world(skeleton) -> tuple[np.ndarray, np.ndarray]:
    """World rotations (n, b, 3, 3) and places (n, b, 3) of bones, parents first."""
    R, p = np.array(skeleton.rotations), np.array(skeleton.translations)
    for bone, parent in enumerate(skeleton.parents):
        if parent >= 0:
            p[:, bone] = p[:, parent] + np.einsum("nij,nj->ni", R[:, parent], p[:, bone])
            R[:, bone] = R[:, parent] @ R[:, bone]
    return R, p


def test_our_own_reader_replays_it_in_the_world(walker):
    skeleton = read_gltf(export_gltf(walker), file="x.glb", rate=50.0).skeleton
    assert skeleton.names == ("trunk", "arm", "rod")
    assert skeleton.parents == (-1, 0, 1)
    R, p = world(skeleton)
    tree = compile_tree(walker.character)
    R_true, p_true = tree.poses(walker.motion.values)
    nodes = [tree.nodes[name] for name in skeleton.names]
    np.testing.assert_allclose(p, p_true[:, nodes], rtol=0, atol=1e-6)
    np.testing.assert_allclose(R, R_true[:, nodes], rtol=0, atol=1e-6)


def test_pygltflib_reads_the_angles_and_ways_of_joints(walker, readers, tmp_path):
    found = readers.read_gltf(export_gltf(walker), walker, tmp_path)
    times, angles, _ = found["shoulder", "position"]
    np.testing.assert_allclose(times, walker.motion.times, rtol=0, atol=1e-6)
    assert np.ptp(angles) > np.pi, "signs of quaternions matter beyond half a turn"
    np.testing.assert_allclose(angles, walker.motion.column("shoulder"), rtol=0, atol=1e-6)
    np.testing.assert_allclose(found["push", "position"][1], walker.motion.column("push"), rtol=0, atol=1e-6)


def document(data: bytes) -> dict:
    mark, version, whole = struct.unpack_from("<4sII", data)
    assert (mark, version, whole) == (b"glTF", 2, len(data))
    size, kind = struct.unpack_from("<I4s", data, 12)
    assert (kind, size % 4) == (b"JSON", 0)
    return json.loads(data[20 : 20 + size])


def test_the_file_keeps_the_rules_of_the_format(walker):
    data = export_gltf(walker)
    content = document(data)
    assert content["buffers"][0]["byteLength"] % 4 == 0
    views, accessors = content["bufferViews"], content["accessors"]
    assert all(view["byteOffset"] % 4 == 0 for view in views)
    assert sum(view["byteLength"] for view in views) == content["buffers"][0]["byteLength"]
    samplers = content["animations"][0]["samplers"]
    for sampler in samplers:
        clock = accessors[sampler["input"]]
        assert (clock["min"], clock["max"]) == ([0.0], [pytest.approx(1.5)])
        assert clock["count"] == accessors[sampler["output"]]["count"] == 76
    paths = {(c["target"]["node"], c["target"]["path"]) for c in content["animations"][0]["channels"]}
    assert paths == {(0, "translation"), (0, "rotation"), (1, "rotation"), (2, "translation")}, "what stands still has no key"
    assert all(abs(np.linalg.norm(node["rotation"]) - 1.0) < 1e-9 for node in content["nodes"])


def test_meshes_are_the_shapes_where_the_bodies_are(walker):
    surface = read_gltf_surface(export_gltf(walker), file="x.glb")
    tree = compile_tree(walker.character)
    R, p = tree.poses(walker.motion.values[:1])
    corners = np.array([[x, y, z] for x in (-0.05, 0.05) for y in (-0.1, 0.1) for z in (-0.15, 0.15)])
    trunk, arm = tree.nodes["trunk"], tree.nodes["arm"]
    for corner in corners @ R[0, trunk].T + p[0, trunk]:
        assert np.linalg.norm(surface.vertices - corner, axis=1).min() < 1e-6
    ball = np.linalg.norm(surface.vertices - p[0, arm], axis=1)
    assert np.count_nonzero(np.abs(ball - 0.05) < 1e-6) > 100
    assert "meshes" not in document(export_gltf(walker, meshes=False))
    assert len(export_gltf(walker, meshes=False)) < len(export_gltf(walker))


def test_blender_sees_what_we_see():
    """Blender takes (x, y, z) of a file to (x, -z, y): our forward becomes its front (-y), our up its up, our left its x."""

    def blender(vector):
        x, y, z = vectors_y_up(np.array(vector))
        return x, -z, y

    assert blender((1.0, 0.0, 0.0)) == (0.0, -1.0, 0.0)
    assert blender((0.0, 1.0, 0.0)) == (1.0, 0.0, 0.0)
    assert blender((0.0, 0.0, 1.0)) == (0.0, 0.0, 1.0)


def test_axes_there_and_back():
    rng = np.random.default_rng(1)
    v, R = rng.normal(size=(4, 3)), np.linalg.qr(rng.normal(size=(4, 3, 3)))[0]
    np.testing.assert_array_equal(vectors_z_up(vectors_y_up(v)), v)
    np.testing.assert_array_equal(rotations_z_up(rotations_y_up(R)), R)
    np.testing.assert_allclose(
        vectors_y_up(np.einsum("nij,nj->ni", R, v)), np.einsum("nij,nj->ni", rotations_y_up(R), vectors_y_up(v)), atol=1e-15
    )


def test_thinning_extras_and_names(walker):
    torque = Channel("shoulder", "torque", "N·m", 50.0, np.linspace(0.0, 1.0, 76))
    body = walker.character.bodies[0].changed(name='tr"unk <☃')
    joints = (walker.character.joints[0].changed(child=body.name), walker.character.joints[1].changed(parent=body.name))
    who = walker.character.changed(bodies=(body, *walker.character.bodies[1:]), joints=(*joints, walker.character.joints[2]))
    content = document(export_gltf(walker.changed(channels=(*walker.channels, torque), character=who), rate=25.0))
    assert content["nodes"][0]["name"] == body.name
    assert content["accessors"][0]["count"] == 38
    listed = content["animations"][0]["extras"]["channels"]
    assert [(c["name"], c["kind"]) for c in listed] == [("shoulder", "torque")]
    assert listed[0]["values"] == torque.values.tolist()
    with pytest.raises(BadInput, match="does not divide"):
        export_gltf(walker, rate=30.0)


def test_a_character_that_stands_still_has_an_animation_all_the_same():
    still = MovingNode("b", -1, np.zeros((3, 3)), np.tile(np.eye(3), (3, 1, 1)))
    clip = read_gltf(animation_glb([still], 10.0, name="still"), file="x.glb", rate=10.0)
    assert len(clip.skeleton.translations) == 3
    with pytest.raises(BadInput, match="no body to move"):
        animation_glb([], 10.0, name="none")
