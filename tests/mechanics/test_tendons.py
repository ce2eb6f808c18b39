"""Holding tensions: a bar on two tendons by hand, and what cannot be held."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.character import Body, Character, Joint, Pose, Tendon
from bunraku.errors import BadInput
from bunraku.mechanics.dynamics.continuous import continuous
from bunraku.mechanics.systems.character_system import character_home, character_system
from bunraku.mechanics.systems.tendons import contact_forces, holding_tensions
from bunraku.optimization.solution import Status

MASS, LENGTH, ARM = 0.4, 0.3, 0.02


def lever(*tendons: Tendon) -> Character:
    body = Body(name="bar", mass=MASS, center_of_mass=(LENGTH / 2, 0.0, 0.0), inertia=(1e-4, 3e-3, 3e-3, 0.0, 0.0, 0.0))
    up = Joint(name="q", kind="hinge", parent="world", child="bar", axis=(0.0, -1.0, 0.0))
    return Character(name="lever", bodies=(body,), joints=(up,), tendons=tendons)


def test_a_level_bar_hangs_on_the_tendon_above_and_the_other_carries_the_least() -> None:
    """Moment arms x tensions = weight x half the length."""
    lift, lower = (Tendon(name=n, moment_arms={"q": s * ARM}, max_tension=100.0) for n, s in (("lift", 1.0), ("lower", -1.0)))
    character = lever(lift, lower)
    system = character_system(character)
    held = holding_tensions(character, system, [0.0], least=2.0)
    assert held.status is Status.CONVERGED
    assert held.tensions == pytest.approx({"lift": MASS * 9.81 * LENGTH / 2 / ARM + 2.0, "lower": 2.0}, abs=1e-8)
    assert np.abs(continuous(system, [0.0], [0.0], held.u)[0]).max() < 1e-8


def test_a_tendon_that_would_have_to_push_cannot_hold() -> None:
    character = lever(Tendon(name="lower", moment_arms={"q": -ARM}, max_tension=100.0))
    held = holding_tensions(character, character_system(character), [0.0])
    assert held.status is Status.INFEASIBLE
    assert held.force_residual > 0.1
    with pytest.raises(BadInput, match="no tensions within"):
        held.require()
    with pytest.raises(BadInput, match="no tendons"):
        holding_tensions(lever(), character_system(lever()), [0.0])


def test_two_levers_push_on_a_block_between_them() -> None:
    """The block's weight is carried by its contacts, each of which pushes as asked and within friction."""
    part = {"mass": 0.1, "center_of_mass": (0.0, 0.0, 0.05), "inertia": (1e-4, 1e-4, 1e-4, 0.0, 0.0, 0.0)}
    bodies, joints, tendons = [Body(name="block", mass=0.2, inertia=(1e-4,) * 3 + (0.0,) * 3)], [], []
    joints.append(Joint(name="block", kind="free", parent="world", child="block", pose=Pose(position=(0.0, 0.0, 0.2))))
    for side, x in (("left", -0.1), ("right", 0.1)):
        bodies += [Body(name=f"{side}_low", **part), Body(name=side, **part)]
        base = Pose(position=(x, 0.0, 0.0))
        joints.append(Joint(name=f"{side}_low", kind="ball", parent="world", child=f"{side}_low", pose=base, sequence="xyz"))
        up = Pose(position=(0.0, 0.0, 0.12))
        joints.append(Joint(name=side, kind="hinge", parent=f"{side}_low", child=side, pose=up, axis=(0.0, 1.0, 0.0)))
        joints.append(
            Joint(
                name=f"{side}_grip",
                kind="ball",
                parent=side,
                child="block",
                pose=Pose(position=(-0.6 * x, 0.0, 0.08)),
                child_pose=Pose(position=(0.4 * x, 0.0, 0.0)),
            )
        )
        for axis in (f"{side}_low.x", f"{side}_low.y", f"{side}_low.z", side):
            for sign in (1.0, -1.0):
                tendons.append(Tendon(name=f"{axis}{sign:+.0f}", moment_arms={axis: sign * ARM}, max_tension=200.0))
    character = Character(name="clamp", bodies=tuple(bodies), joints=tuple(joints), tendons=tuple(tendons))
    system = character_system(character)
    q = character_home(character, system)
    pushes = {"left_grip": (1.0, 0.0, 0.0), "right_grip": (-1.0, 0.0, 0.0)}
    held = holding_tensions(character, system, q, pushes=pushes, least_push=1.5, friction=0.6)
    assert held.status is Status.CONVERGED
    assert min(held.tensions.values()) >= -1e-9
    forces = contact_forces(character, system, q, held.multipliers)
    np.testing.assert_allclose(sum(forces.values()), [0.0, 0.0, 0.2 * 9.81], atol=1e-8)
    for name, push in pushes.items():
        normal = forces[name] @ push
        assert normal >= 1.5 - 1e-8
        assert np.abs(forces[name][1:]).max() <= 0.6 * normal + 1e-8
    with pytest.raises(BadInput, match="no ball joint"):
        holding_tensions(character, system, q, pushes={"left": (1.0, 0.0, 0.0)})
