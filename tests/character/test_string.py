"""Strings and carriages: what fits a character, what is refused in words, and the coordinates they bring."""

from __future__ import annotations

import pytest

from bunraku.character import Body, Carriage, Character, Frame, Joint, String
from bunraku.errors import BadInput

BODY = Body(name="body", mass=1.0)
BASE = Joint(name="base", kind="free", parent="world", child="body")
TIP = Frame(name="tip", body="body")
GROUND = Frame(name="ground", body="world")
LEFT = Carriage(name="left", home=(0.1, 0.2, 2.0), winch_range=(0.5, 1.5))
RIGHT = Carriage(name="right", home=(0.1, -0.2, 2.0))
ONE = String(name="one", carriage="left", hook="tip", length=1.0)
TWO = String(name="two", carriage="right", hook="body", point=(0.0, 0.0, 0.1))


def build(**parts: object) -> Character:
    given = {"name": "p", "bodies": (BODY,), "joints": (BASE,), "frames": (TIP, GROUND), "carriages": (LEFT, RIGHT)}
    return Character(**(given | {"strings": (ONE, TWO)} | parts))


def test_prescribed_coordinates_stand_beside_those_of_the_joints() -> None:
    character = build()
    assert character.prescribed == ("left.x", "left.y", "right.x", "right.y", "one.length", "two.length")
    assert character.coordinates == build(carriages=(), strings=()).coordinates == tuple(axis.name for axis in BASE.axes)
    assert build(carriages=(), strings=()).prescribed == ()


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"strings": (ONE, TWO, ONE)}, "two strings share the name 'one'"),
        ({"carriages": (LEFT, RIGHT, LEFT)}, "two carriages share the name 'left'"),
        ({"strings": (ONE, TWO.changed(carriage="middle"))}, "'two' hangs on 'middle', which is no carriage; known: left, right"),
        ({"strings": (ONE, TWO.changed(hook="nose"))}, "'two' is hooked to 'nose'"),
        ({"strings": (ONE, TWO.changed(hook="world"))}, "hooked to 'world'"),
        ({"strings": (ONE, TWO.changed(hook="ground"))}, "hooked to 'ground'"),
        ({"strings": (ONE,)}, "'right' holds no string"),
        ({"strings": (ONE.changed(length=1.6), TWO)}, "outside its winch_range"),
        ({"frames": (TIP, Frame(name="left", body="body"))}, "'left' has the name of a body or frame"),
        ({"home": {"left.x": 0.0}}, "'left.x', which no joint has"),
        ({"joints": (BASE.changed(name="left", kind="slide"),), "bodies": (BODY,), "home": {"left.x": 0.0}}, "no joint has"),
        ({"joints": (BASE.changed(name="left.x", kind="slide"),)}, "'left.x' is a coordinate of a joint and of a"),
    ],
)
def test_strings_that_do_not_fit_are_refused(parts: dict[str, object], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        build(**parts)


@pytest.mark.parametrize(
    "make",
    [
        lambda: String(name="s", carriage="c", hook="h", length=0.0),
        lambda: String(name="s", carriage="c", hook="h", length=-1.0),
        lambda: String(name="s", carriage="c", hook="h", length=float("nan")),
        lambda: Carriage(name="c", home=(0.0, 0.0, 2.0), x_range=(1.0, -1.0)),
        lambda: Carriage(name="c", home=(0.0, 0.0, 2.0), winch_range=(0.0, 1.0)),
        lambda: Carriage(name="c", home=(0.0, 0.0, 2.0), velocity=0.0),
        lambda: Carriage(name="c", home=(0.0, 0.0, 2.0), separation=-0.1),
        lambda: Carriage(name="c"),
    ],
)
def test_impossible_strings_and_carriages_are_refused(make: object) -> None:
    with pytest.raises(BadInput):
        make()
