"""The fixed worlds, by hand: which stiffnesses, floors and rates a performance is replayed in."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from bunraku.verification.worlds import World, fixed_worlds, still_worlds

BANK = SimpleNamespace(gains=SimpleNamespace(stated=np.array([True, False])))
SOFT, SAME, STIFF = [0.8, 0.5], [1.0, 1.0], [1.25, 2.0]


def listed(worlds: tuple[World, ...]) -> list[tuple[list[float], float | None, float | None]]:
    return [(np.asarray(world.gain).tolist(), world.friction, world.rate) for world in worlds]


def test_the_usual_world_comes_first_then_one_change_at_a_time_then_the_worse_together() -> None:
    assert listed(fixed_worlds(BANK, 100.0)) == [
        (SAME, 0.8, 100.0),
        (SOFT, 0.8, 100.0),
        (STIFF, 0.8, 100.0),
        (SAME, 0.6, 100.0),
        (SAME, 0.8, 50.0),
        (SOFT, 0.6, 50.0),
        (STIFF, 0.6, 50.0),
    ]
    assert listed(still_worlds(BANK)) == [(SAME, None, None), (SOFT, None, None), (STIFF, None, None)]


@pytest.mark.parametrize(("planned", "frictions"), [(0.7, {0.8, 0.6}), (0.8, {0.8, 0.6}), (1.0, {1.0})])
def test_a_plan_that_needs_more_friction_gets_just_that(planned: float, frictions: set[float]) -> None:
    worlds = fixed_worlds(BANK, 100.0, planned)
    assert {world.friction for world in worlds} == frictions
    assert len(worlds) == (7 if len(frictions) == 2 else 6)
    assert len(set(map(str, listed(worlds)))) == len(worlds), "no world comes twice"


def test_worlds_are_described() -> None:
    assert World(np.array(SAME), 0.8, 100.0).described == "servos of their own stiffness, friction 0.8, commands at 100 Hz"
    assert World(np.array(SOFT)).described == "servos 0.8 or 0.5 times as stiff"
    assert World(2.0, rate=50.0).described == "servos 2 times as stiff, commands at 50 Hz"
    assert World(2.0, 0.8, name="trial 3").described == "trial 3"
