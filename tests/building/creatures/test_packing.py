"""Whether the servos of the built-in creatures leave each other room: their cases apart, space for the yokes between them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from creature_forms import FORMS

from bunraku.building.creatures.embed import embed
from bunraku.building.creatures.mechanism import CreatureHinge, Mechanism, servo_case, template
from bunraku.building.creatures.skeleton import skeleton_character
from bunraku.building.servos import servo

BRIDGE = 3.2e-3
"""The least thickness [m] of a printed bridge between two servos: that of the plates that screws go through."""


def _mechanism(name: str) -> Mechanism:
    form = FORMS[name]()
    return embed(name, template(form.template), form.legs, form.measures)


def _apart(one: CreatureHinge, other: CreatureHinge) -> float:
    """The largest gap [m] along an axis of separation of two boxes (Gottschalk's test); negative when they overlap."""
    a, b = servo_case(one), servo_case(other)
    ha, hb, d = 0.5 * np.array(a.servo.size), 0.5 * np.array(b.servo.size), b.center - a.center
    axes = [*a.axes.T, *b.axes.T, *(np.cross(u, v) for u in a.axes.T for v in b.axes.T)]
    gaps = []
    for n in axes:
        if np.linalg.norm(n) > 1e-6:
            m = n / np.linalg.norm(n)
            gaps.append(abs(d @ m) - np.abs(m @ a.axes) @ ha - np.abs(m @ b.axes) @ hb)
    return float(max(gaps))


@pytest.mark.parametrize("name", ["beetle", "monster", "lizard"])
def test_no_two_cases_overlap(name: str) -> None:
    hinges = _mechanism(name).hinges
    for one, other in combinations(hinges, 2):
        assert _apart(one, other) > 1e-3, (one.name, other.name)


@pytest.mark.parametrize(("name", "upper", "lower"), [("monster", "roll", "hip"), ("lizard", "yaw", "lift")])
def test_a_bridge_goes_between_two_crossed_servos(name: str, upper: str, lower: str) -> None:
    """Both swing their short ends, hypot(l/2 - s, w/2) from the shaft; across both axes there must be a bridge and play between."""
    places = {hinge.name: hinge for hinge in _mechanism(name).hinges}
    for leg in ("LF", "RH"):
        a, b = places[f"{leg}.{upper}"], places[f"{leg}.{lower}"]
        n = np.cross(a.axis, b.axis)
        swings = 0.0
        for hinge in (a, b):
            model = servo(hinge.servo)
            swings += float(np.hypot(model.size[1] / 2.0 - model.shaft_offset, model.size[0] / 2.0)) + 1e-3
        assert abs((a.place - b.place) @ n) / np.linalg.norm(n) - swings > BRIDGE


@pytest.mark.parametrize(("name", "total"), [("beetle", 3.9), ("monster", 11.9), ("lizard", 10.8)])
def test_prints_servos_skin_and_payload_make_the_total(name: str, total: float) -> None:
    mechanism = _mechanism(name)
    skin = 0.3 * total
    character = skeleton_character(mechanism, total=total, skin_mass=skin)
    assert sum(body.mass for body in character.bodies) + skin == pytest.approx(total)
    lighter = skeleton_character(mechanism, total=None, skin_mass=skin, payload=0.4)
    servos = sum(servo(hinge.servo).mass for hinge in mechanism.hinges)
    prints = sum(body.mass for body in lighter.bodies) - servos - 0.4
    assert 0.06 * total < prints < 0.35 * total
    for motor in character.motors:  # every motor is a product that can be bought by its name
        assert not motor.model.startswith("generic")


def test_gains_are_those_of_one_register() -> None:
    """Stiffness = stall x Kp / 128 / 885 x 4096 / 2 pi with Kp = 2,100 for both sizes of servo, within 1 %."""
    for motor in skeleton_character(_mechanism("lizard"), total=10.8, skin_mass=4.0).motors:
        assert motor.stall_torque is not None
        assert motor.stiffness == pytest.approx(motor.stall_torque * 2100.0 / 128.0 / 885.0 * 4096.0 / (2.0 * np.pi), rel=0.01)
