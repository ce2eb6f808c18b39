"""End effectors: an axle of their own where they spin, and one number for the drag of a wheel."""

from __future__ import annotations

import pytest

from bunraku.character import EndEffector
from bunraku.errors import BadInput
from bunraku.formats.registry import read_character


def changed_tip(who: str, **fields: object) -> None:
    character = read_character(who)
    first, *others = character.end_effectors
    character.changed(end_effectors=(first.changed(**fields), *others))


def test_rolling_resistance_and_the_damping_of_the_axle_are_one_number() -> None:
    character = read_character("swizzlebot")
    tip = character.end_effectors[0]
    axle = next(joint for joint in character.joints if joint.child == tip.body)
    assert axle.damping == pytest.approx(tip.rolling_resistance * tip.radius**2, rel=1e-9)
    with pytest.raises(BadInput, match="they are the same thing"):
        changed_tip("swizzlebot", rolling_resistance=2.0 * tip.rolling_resistance)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"kind": "active"}, "no motor drives"),
        ({"axis": (1.0, 0.0, 0.0)}, "does not turn about its own axis"),
        ({"body": "nothing"}, "which is no body"),
        ({"center": (0.01, 0.0, 0.0)}, "lies beside its axle"),
    ],
)
def test_wheels_that_contradict_their_axle_are_refused(fields: dict[str, object], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        changed_tip("swizzlebot", **fields)


def test_a_ball_does_not_drag() -> None:
    with pytest.raises(BadInput, match="does not spin"):
        EndEffector(name="foot", kind="ball", body="leg", radius=0.01, rolling_resistance=0.1)
