"""A first gait goes forward, at a pace that the motors allow, with every character that can go."""

from __future__ import annotations

import pytest

from bunraku.errors import BadInput
from bunraku.formats.registry import read_character
from bunraku.gait.commands import fastest, first_gait
from bunraku.gait.patterns import footfalls


@pytest.mark.parametrize(
    ("name", "leg"), [("swizzlebot", 0.185), ("agilebot", 0.21), ("creature3", 0.2), ("brainbot", 0.185), ("beetle-quick", 0.241)]
)
def test_it_goes_forward_at_equal_froude_numbers(name: str, leg: float) -> None:
    character = read_character(name)
    gait = first_gait(character)
    assert gait.distance is not None
    x, y = gait.distance
    assert y == 0.0
    assert gait.turn == 0.0
    footfalls(character, gait)  # the pattern fits its feet
    if character.skin is None:
        assert x / gait.duration == pytest.approx(0.1 * (9.81 * leg) ** 0.5, rel=0.01)
    else:
        assert 0.0 < x < 0.6 * leg * gait.cycles


def test_slow_motors_set_the_pace() -> None:
    quick = read_character("creature3")
    slow = quick.changed(motors=tuple(motor.changed(velocity=0.1) for motor in quick.motors))
    gait = first_gait(slow)
    assert gait.distance is not None
    assert gait.distance[0] / gait.duration == pytest.approx(0.5 * fastest(slow, "crawl"))


def test_what_cannot_go_is_refused_in_words() -> None:
    for name in ("nao", "dancer"):
        with pytest.raises(BadInput, match="feet or wheels"):
            first_gait(read_character(name))
