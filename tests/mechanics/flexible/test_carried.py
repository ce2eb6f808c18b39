"""What parts carry, lumped: against sums by hand."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.character import Body, Joint
from bunraku.mechanics.elastic.part import part_solids
from bunraku.mechanics.flexible.carried import carried_by, lump_of_solid, lumps_of_bodies
from bunraku.mechanics.tree import compile_tree


def lumped(character):
    tree = compile_tree(character)
    solids, lumps = part_solids(character), lumps_of_bodies(character, tree)
    return {name: carried_by(character, tree, made, solids, lumps) for name, made in solids.items()}, solids


def test_a_rod_is_a_rod(one_rod) -> None:
    _, solids = lumped(one_rod(cell=0.01))
    rod = lump_of_solid(solids["rod"])
    mass = 7850 * np.pi * 0.002**2 * 0.5
    assert rod.mass == pytest.approx(mass, rel=2e-3)
    assert rod.center == pytest.approx([0.0, 0.0, 0.25], abs=1e-12)
    across = mass * (0.002**2 / 4 + 0.5**2 / 12)
    np.testing.assert_allclose(rod.inertia, np.diag([across, across, mass * 0.002**2 / 2]), rtol=4e-3, atol=1e-12)


def test_both_legs_carry_the_pelvis_and_the_torso(legs) -> None:
    """The torso hangs by a motor, the right leg reaches both through the joint that closes the loop; neither carries the other."""
    carried, solids = lumped(legs())
    for name, side in (("left-leg", -1.0), ("right-leg", 1.0)):
        (body,) = carried[name]
        assert body.mass == pytest.approx(2.3)
        np.testing.assert_allclose(body.center_of_mass, [0.0, side * 0.08, 0.3 * 0.1 / 2.3], atol=1e-12)
        lever = np.array([0.0, 0.0, 0.1])
        apart = 2.0 * 0.3 / 2.3 * (lever @ lever * np.eye(3) - np.outer(lever, lever))
        np.testing.assert_allclose(body.inertia, np.diag([8e-3, 3e-3, 8e-3]) + np.diag([1e-3, 1e-3, 5e-4]) + apart, atol=1e-12)
    assert solids["left-leg"].solid is solids["right-leg"].solid


def test_a_loop_is_not_followed_beyond_what_the_part_stands_on(four_bar) -> None:
    """On a torso of 5 kg: the coupler stands on pin, crank and torso; beyond it lies the rocker's side, its strip included."""
    character = four_bar()
    moved = {"crank", "foot"}
    character = character.changed(
        bodies=(*character.bodies, Body(name="torso", mass=5.0)),
        joints=(
            *(joint.changed(parent="torso") if joint.name in moved else joint for joint in character.joints),
            Joint(name="waist", kind="hinge", parent="world", child="torso"),
        ),
    )
    carried, solids = lumped(character)
    (coupler,), (rocker,) = carried["coupler"], carried["rocker"]
    own = {name: lump_of_solid(made).mass for name, made in solids.items()}
    assert coupler.mass == pytest.approx(0.05 + 0.02 + 0.01 + own["rocker"])
    assert rocker.mass == pytest.approx(0.02 + 0.05 + 0.01 + 0.03 + own["coupler"])
    np.testing.assert_allclose(solids["coupler"].solid.total_mass, own["coupler"], rtol=1e-12)
