"""The creatures on disk: joints, masses, sizes and glue of the study's table within a tenth, flat soles, glue where bracing is."""

from __future__ import annotations

import numpy as np
import pytest
from creature_forms import FORMS

from bunraku.building.creatures.embed import embed
from bunraku.building.creatures.mechanism import collisions, template
from bunraku.building.creatures.skins import skin_mass
from bunraku.building.mirror import mirror_map
from bunraku.geometry.shells.quality import dihedral_angles
from bunraku.mechanics.tree import compile_tree

TABLE = {
    "beetle": (12, 14_000, 140, 3.9, None),
    "monster": (16, 16_000, 301, 11.9, (0.646, 0.27, 0.485)),
    "lizard": (17, 18_000, 176, 10.8, (1.25, 0.47, 0.46)),
}
NAMES = [*TABLE, *(f"{name}-quick" for name in TABLE)]
FINE = list(TABLE)


def _base(name):
    return name.removesuffix("-quick")


def _materials(character):
    known = {material.name: material for material in character.materials}
    return {r: known[name] for r, name in enumerate(character.skin.materials)}


@pytest.mark.parametrize("name", NAMES)
def test_it_has_the_joints_mass_and_glue_of_the_table(creature, name):
    character, mesh = creature(name)
    joints, nodes, glue, mass, _ = TABLE[_base(name)]
    total = sum(body.mass for body in character.bodies) + skin_mass(mesh, _materials(character))
    assert len(character.motors) == joints
    assert total == pytest.approx(mass, rel=1e-6)
    assert len(mesh.glue_node) == pytest.approx(glue, rel=0.1)
    assert len(mesh.nodes) >= nodes if name in FINE else 1_500 <= len(mesh.nodes) <= 4_500


@pytest.mark.parametrize("name", ["monster", "lizard"])
def test_it_has_the_size_of_the_table(creature, name):
    _, mesh = creature(name)
    assert np.ptp(mesh.nodes, axis=0) == pytest.approx(TABLE[name][4], rel=0.1)


def test_the_beetle_is_about_half_a_metre_long(creature):
    _, mesh = creature("beetle")
    assert 0.5 <= np.ptp(mesh.nodes[:, 0]) <= 0.6


@pytest.mark.parametrize("name", NAMES)
def test_soles_are_flat_on_the_ground_and_have_five_patches(creature, name):
    character, mesh = creature(name)
    assert np.abs(mesh.nodes[mesh.sole_node, 2]).max() < 1e-12
    assert np.bincount(mesh.sole_patch, minlength=20).min() >= 3
    assert len(np.bincount(mesh.sole_patch)) == 20
    assert mesh.nodes[:, 2].min() > -1e-12
    tree = compile_tree(character)
    at = tree.configuration(tree.home)
    for k, tip in enumerate(character.end_effectors):
        center = at.position[tree.nodes[tip.body]] + np.array(tip.center)
        under = mesh.nodes[mesh.sole_node[mesh.sole_patch // 5 == k]]
        assert tip.kind == "sole"
        assert abs(center[2]) < 1e-12
        assert np.linalg.norm(under.mean(axis=0) - center) < 0.1 * tip.radius
        assert np.linalg.norm(under - center, axis=1).max() == pytest.approx(tip.radius, rel=0.03)


@pytest.mark.parametrize("name", NAMES)
def test_its_skeleton_is_symmetric(creature, name):
    character, _ = creature(name)
    mirror = mirror_map(character)
    assert mirror.end_effectors == {"LF": "RF", "RF": "LF", "LH": "RH", "RH": "LH"}


@pytest.mark.parametrize("name", FINE)
def test_the_quick_one_has_the_same_skeleton(creature, name):
    fine, quick = creature(name)[0], creature(f"{name}-quick")[0]
    assert [joint.pose for joint in fine.joints] == [joint.pose for joint in quick.joints]
    assert fine.motors == quick.motors
    for a, b in zip(fine.bodies, quick.bodies, strict=True):
        assert a.mass == pytest.approx(b.mass, rel=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_glue_is_on_the_inside_beside_its_own_body_and_out_of_folds_and_soles(creature, name):
    _, mesh = creature(name)
    form = FORMS[_base(name)]()
    mechanism = embed(name, template(form.template), form.legs, form.measures)
    assert mesh.bodies == mechanism.bodies
    glue = mesh.nodes[mesh.glue_node]
    assert glue[:, 2].min() > 0.004
    length = form.measures.fold_length
    for hinge in mechanism.hinges:
        if hinge.limb is None:
            continue
        offset = glue - hinge.place
        along = offset @ hinge.limb
        near = np.linalg.norm(offset - np.outer(along, hinge.limb), axis=1) < (0.06 if "." in hinge.name else 0.11)
        assert not (near & (np.abs(along) < 0.45 * length)).any()
        below = np.array([mesh.bodies[k] for k in mesh.glue_body]) == hinge.child
        assert below.any()
        assert (along[below & near] > 0.0).all()
    if name in FINE:
        assert np.bincount(mesh.glue_body, minlength=len(mesh.bodies)).max() <= 0.75 * len(glue)


@pytest.mark.parametrize("name", FINE)
def test_joints_and_links_are_inside_the_skin(name):
    form = FORMS[name]()
    mechanism = embed(name, template(form.template), form.legs, form.measures)
    places = np.array([hinge.place for hinge in mechanism.hinges])
    assert form.field(places).max() < -0.02
    assert collisions(mechanism, form.field, 0.004) == ()


@pytest.mark.parametrize("name", FINE)
def test_the_cells_are_sound(creature, name):
    _, mesh = creature(name)
    X = mesh.nodes[mesh.cells[:, :4]]
    volume = np.einsum("ij,ij->i", np.cross(X[:, 1] - X[:, 0], X[:, 2] - X[:, 0]), X[:, 3] - X[:, 0]) / 6.0
    assert volume.min() > 0.0
    assert np.degrees(dihedral_angles(X).min()) >= 8.0


def test_tail_and_belly_of_the_monster_are_85_percent_softer(creature):
    character, mesh = creature("monster")
    materials = _materials(character)
    assert materials[1].young == pytest.approx(0.15 * materials[0].young)
    middle = mesh.nodes[mesh.cells[:, :4]].mean(axis=1)
    assert (mesh.region[middle[:, 0] < -0.21] == 1).all()
    assert (mesh.region[(np.abs(middle[:, 0]) < 0.07) & (np.abs(middle[:, 1]) < 0.05) & (middle[:, 2] < 0.29)] == 1).all()


@pytest.mark.parametrize("name", FINE)
def test_a_leg_that_carries_a_third_of_the_weight_asks_less_than_60_percent_of_its_motors(creature, name):
    """Statics by hand: the torque of a force F at the sole's middle about a hinge at o along a is a . ((p - o) x F)."""
    character, _ = creature(name)
    tree = compile_tree(character)
    at = tree.configuration(tree.home)
    force = np.array([0.0, 0.0, TABLE[name][3] * 9.81 / 3.0])
    joints = {joint.child: joint for joint in character.joints}
    motors = {motor.coordinate: motor for motor in character.motors}
    for tip in character.end_effectors:
        point = at.position[tree.nodes[tip.body]] + np.array(tip.center)
        body = tip.body
        while joints[body].kind == "hinge":
            joint = joints[body]
            arm = point - at.position[tree.nodes[body]]
            torque = abs(float(np.dot(joint.axis, np.cross(arm, force))))
            assert torque <= 0.6 * motors[joint.name].stall_torque
            body = joint.parent
