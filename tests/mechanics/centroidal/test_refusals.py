"""What planning over the ground does not know is refused by name; what must stay apart or off the ground is measured."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.formats.registry import read_character
from bunraku.mechanics.centroidal.clearance import OVERLAP, clearance_check
from bunraku.mechanics.centroidal.kinematics import kinematics
from bunraku.mechanics.centroidal.model import RANGE_MARGIN, SPEED_MARGIN, centroidal_model
from bunraku.mechanics.centroidal.spots import ground_spots
from bunraku.mechanics.tree import compile_tree


@pytest.fixture(scope="module")
def walker() -> Character:
    return read_character("walker")


def test_a_body_without_mass_is_named(walker: Character) -> None:
    bodies = tuple(body.changed(mass=0.0) if body.name == "LF.knee_link" else body for body in walker.bodies)
    with pytest.raises(BadInput, match=r"'LF\.knee_link' of 'walker' has no mass"):
        centroidal_model(walker.changed(bodies=bodies))


def test_a_joint_that_nothing_drives_is_named_unless_it_is_locked(walker: Character) -> None:
    motors = tuple(motor for motor in walker.motors if motor.coordinate != "LF.knee")
    idle = walker.changed(motors=motors)
    with pytest.raises(BadInput, match=r"no motor drives 'LF\.knee'"):
        centroidal_model(idle)
    model = centroidal_model(idle, locked=("LF.knee",))
    assert model.half[model.names.index("LF.knee")] == 0.0


def test_plans_leave_a_margin_below_speed_and_range(walker: Character) -> None:
    model, motor = centroidal_model(walker), walker.motor_of("LF.knee")
    k = model.names.index("LF.knee")
    axis = next(axis for axis in walker.axes if axis.name == "LF.knee")
    assert axis.range is not None
    assert model.speed[k] == pytest.approx((1.0 - SPEED_MARGIN) * min(motor.velocity, motor.no_load_speed))
    assert model.half[k] == pytest.approx((1.0 - RANGE_MARGIN) * 0.5 * (axis.range[1] - axis.range[0]))


def test_spots_are_off_the_ground_at_home_and_reach_it_when_the_body_sinks(walker: Character) -> None:
    model = centroidal_model(walker)
    node, place, least = ground_spots(walker, model, 0.005)
    assert len(node) >= 8

    def heights(q: np.ndarray) -> np.ndarray:
        R, P = (part[0] for part in kinematics(model, q[None]).arrays[:2])
        return np.array([(P[b] + R[b] @ p)[2] for b, p in zip(node, place, strict=True)])

    assert (heights(model.home) >= least).all()
    sunk = model.home.copy()
    sunk[2] -= model.home[2]
    assert (heights(sunk) < least).any()


def test_legs_that_cross_break_the_clearance_and_home_does_not(walker: Character) -> None:
    tree = compile_tree(walker)
    home = clearance_check(walker, tree, tree.home[None], 100.0)
    assert home.holds
    assert home.value > 0.0
    q = np.tile(tree.home, (3, 1))
    for name, angle in (("LF.hip", 1.2), ("LH.hip", -1.2), ("LF.knee", 0.0), ("LH.knee", 0.0)):
        q[1, tree.index(name)] = angle
    crossed = clearance_check(walker, tree, q, 100.0)
    assert not crossed.holds
    assert crossed.value < -OVERLAP
    assert "at 0.01 s" in crossed.note
