"""Motors that move no mass are named, and nothing is said of their torque."""

from __future__ import annotations

import pytest

from bunraku.character import Body, Character, Coupling, Foot, Joint, Motor
from bunraku.motion import Check
from bunraku.verification.rigid.weightless import idle_motors, weighed

CHECKS = [
    Check("fell", 0.0, threshold=0.0),
    Check("tracking rms", 0.0, "rad", 0.05),
    Check("winding heat", 0.0, threshold=1.0),
    Check("range excess", 0.0, "rad", 0.0),
    Check.not_applicable("tracking rms of slides", "none slides"),
]


def chain(masses: tuple[float, float, float], kind: str = "fixed", **more: object) -> Character:
    """Base, upper and lower link in a row; a motor at each of the two hinges."""
    bodies = tuple(Body(name=name, mass=mass) for name, mass in zip(("base", "upper", "lower"), masses, strict=True))
    joints = (
        Joint(name="root", kind=kind, parent="world", child="base"),
        Joint(name="hip", kind="hinge", parent="base", child="upper", axis=(0, 1, 0)),
        Joint(name="knee", kind="hinge", parent="upper", child="lower", axis=(0, 1, 0)),
    )
    motors = tuple(Motor(name=f"m {name}", coordinate=name) for name in ("hip", "knee"))
    return Character(name="chain", bodies=bodies, joints=joints, motors=motors, **more)


@pytest.mark.parametrize(
    ("masses", "idle"),
    [
        ((1.0, 1.0, 1.0), ()),
        ((0.0, 0.0, 1.0), ()),
        ((1.0, 1.0, 0.0), ("m knee",)),
        ((1.0, 0.0, 0.0), ("m hip", "m knee")),
    ],
)
def test_what_hangs_on_a_motor_is_what_it_moves(masses: tuple[float, float, float], idle: tuple[str, ...]) -> None:
    assert idle_motors(chain(masses)) == idle


@pytest.mark.parametrize("more", [{"kind": "free"}, {"feet": (Foot(name="sole", body="base", points=((0, 0, 0),)),)}])
def test_who_stands_or_is_free_moves_all_of_itself(more: dict[str, object]) -> None:
    assert idle_motors(chain((1.0, 0.0, 0.0), **more)) == ()
    assert idle_motors(chain((0.0, 0.0, 0.0), **more)) == ("m hip", "m knee")


def test_a_follower_counts_with_its_driver() -> None:
    split = Character(
        name="gripper",
        bodies=(Body(name="base", mass=1.0), Body(name="left"), Body(name="right", mass=0.1)),
        joints=(
            Joint(name="root", kind="fixed", parent="world", child="base"),
            Joint(name="l", kind="hinge", parent="base", child="left", axis=(0, 1, 0)),
            Joint(name="r", kind="hinge", parent="base", child="right", axis=(0, 1, 0)),
        ),
        motors=(Motor(name="m", coordinate="l"),),
        couplings=(Coupling(driver="l", follower="r"),),
    )
    assert idle_motors(split) == ()
    assert idle_motors(split.changed(couplings=())) == ("m",)


def test_only_what_needs_weight_is_left_unchecked() -> None:
    assert weighed(chain((1.0, 1.0, 1.0)), CHECKS) == CHECKS
    some = weighed(chain((1.0, 1.0, 0.0)), CHECKS)
    assert some[:-1] == CHECKS
    assert some[-1].state == "not checked"
    assert "m knee moves" in some[-1].missing
    none = weighed(chain((1.0, 0.0, 0.0)), CHECKS)
    assert [check.state for check in none] == ["not checked", "not checked", "not checked", "holds", "does not apply"]
    assert "m hip, m knee move " in none[0].missing
