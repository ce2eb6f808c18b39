"""Nothing that was not judged is shown as holding: limits nobody states, bodies without shapes or mass, bases that cannot fall."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from bunraku.character import Body, Character, Foot, Joint, Motor, Pose, Shape
from bunraku.errors import BadInput
from bunraku.mechanics.measures.motion import measure_motion
from bunraku.motion import Check, Clip, JointCurves

RATE = 50.0
T = np.arange(100) / RATE


def arm(*, shapes: bool = True, mesh: bool = False, masses: bool = True, free: bool = False, **motor: object) -> Character:
    """Three links in a row on the ground; ``motor``: what the motors state."""
    links = ("foot", "upper", "middle", "lower")
    link = Shape(kind="capsule", size=(0.02, 0.1), pose=Pose(position=(0, 0, 0.15)))
    drawn = Shape(kind="mesh", size=(1.0, 1.0, 1.0), file="link.stl")
    own = (drawn,) if mesh else (link,) if shapes else ()
    joints = [Joint(name="base", kind="free" if free else "fixed", parent="world", child="foot")]
    joints += [
        Joint(name=f"j{i}", kind="hinge", parent=a, child=b, axis=(0, 1, 0), pose=Pose(position=(0, 0, 0.3)))
        for i, (a, b) in enumerate(itertools.pairwise(links))
    ]
    stated = {"range": (-2.0, 2.0), "velocity": 5.0, "stall_torque": 3.0} | motor
    return Character(
        name="arm",
        bodies=tuple(Body(name=name, mass=0.4 if masses else 0.0, shapes=own) for name in links),
        joints=tuple(joints),
        motors=tuple(
            Motor(name=f"m{i}", coordinate=f"j{i}", **{k: v for k, v in stated.items() if v is not None}) for i in range(3)
        ),
    )


def checks_of(character: Character, wish: bool = True) -> dict[str, Check]:
    curves = JointCurves(("j0", "j1", "j2"), RATE, 0.3 * np.sin(np.outer(T, [1.0, 2.0, 3.0])))
    return {check.name: check for check in measure_motion(character, curves if wish else None, curves).checks}


def test_a_motor_that_states_no_velocity_is_named() -> None:
    check = checks_of(arm(velocity=None))["velocity excess"]
    assert check.state == "not checked"
    assert "velocity" in check.missing
    assert "j0, j1, j2" in check.missing
    assert checks_of(arm(velocity=None))["velocity violations"].state == "not checked"


def test_motors_of_which_some_state_a_limit_are_judged_apart() -> None:
    character = arm()
    silent = character.motors[2].changed(velocity=None)
    checks = checks_of(character.changed(motors=(*character.motors[:2], silent)))
    assert checks["velocity excess"].holds
    missing = checks["velocity excess of motors without a limit"].missing
    assert "j2" in missing
    assert "j0" not in missing


def test_a_range_nobody_states_is_not_checked_and_accelerations_do_not_apply() -> None:
    checks = checks_of(arm(range=None))
    assert checks["range excess"].state == "not checked"
    for kind in ("acceleration", "jerk"):
        assert checks[f"{kind} excess"].state == "does not apply"
        assert "nothing was promised" in checks[f"{kind} excess"].note
    assert checks_of(arm(acceleration=100.0))["acceleration excess"].holds


@pytest.mark.parametrize("given", [{"shapes": False}, {"mesh": True}])
def test_bodies_without_primitive_shapes_are_not_checked_for_collision(given: dict[str, bool]) -> None:
    check = checks_of(arm(**given))["self-collision clearance"]
    assert check.state == "not checked"
    assert "foot" in check.missing
    assert checks_of(arm())["self-collision clearance"].holds


def test_one_body_that_lost_its_shape_is_named_beside_the_others() -> None:
    character = arm()
    bare = tuple(body.changed(shapes=()) if body.name == "lower" else body for body in character.bodies)
    checks = checks_of(character.changed(bodies=bare))
    assert checks["self-collision clearance"].holds
    assert "lower" in checks["self-collision clearance of bodies without shapes"].missing


def test_what_weighs_nothing_or_states_no_stall_torque_has_no_torque_to_judge() -> None:
    assert checks_of(arm(masses=False))["static torque share"].state == "not checked"
    assert checks_of(arm(stall_torque=None))["static torque share"].state == "not checked"
    light = arm()
    bodies = tuple(body.changed(mass=0.0) if body.name == "lower" else body for body in light.bodies)
    assert "lower" in checks_of(light.changed(bodies=bodies))["static torque share with bodies that weigh nothing"].missing


def test_what_is_bolted_down_cannot_fall_and_what_has_no_feet_is_not_judged() -> None:
    assert checks_of(arm())["balance margin"].state == "does not apply"
    assert checks_of(arm(free=True))["balance margin"].state == "not checked"


def test_without_a_wish_nothing_is_followed() -> None:
    checks = checks_of(arm(), wish=False)
    for name in ("largest deviation from the wish", "motion followed"):
        assert checks[name].state == "does not apply"
    assert checks["reversals"].threshold is None


def test_a_table_of_one_row_is_a_pose() -> None:
    with pytest.raises(BadInput, match="a single sample"):
        Clip("pose", joints=JointCurves(("j0",), RATE, np.zeros((1, 1)))).need_joints("the test")


def test_feet_that_carry_nothing_known_are_not_judged_for_balance() -> None:
    standing = arm(masses=False).changed(feet=(Foot(name="sole", body="foot", points=((0, 0, 0), (0.1, 0, 0), (0, 0.1, 0))),))
    check = checks_of(standing)["balance margin"]
    assert check.state == "not checked"
    assert "masses" in check.missing


def test_the_torque_that_holds_is_the_same_to_either_side() -> None:
    shares = []
    for lean in (0.4, -0.4):
        curves = JointCurves(("j0", "j1", "j2"), RATE, np.full((20, 3), lean))
        checks = {check.name: check for check in measure_motion(arm(), None, curves).checks}
        shares.append(checks["static torque share"].value)
    assert shares[0] == pytest.approx(shares[1])
    assert shares[0] > 0.1


def test_shapes_that_overlap_at_home_are_noted() -> None:
    character = arm()
    wide = Shape(kind="sphere", size=(0.35,), pose=Pose(position=(0, 0, 0.15)))
    bodies = tuple(body.changed(shapes=(wide,)) if body.name in ("foot", "middle") else body for body in character.bodies)
    curves = JointCurves(("j0", "j1", "j2"), RATE, np.zeros((20, 3)))
    notes = measure_motion(character.changed(bodies=bodies), curves, curves).notes
    assert any("foot" in note and "middle" in note and "home" in note for note in notes)
