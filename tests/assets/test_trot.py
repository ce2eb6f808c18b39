"""A trot as it looks: feet that stand do not move, flights too short for their leap."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.formats.registry import read_character
from bunraku.mechanics.centroidal.kinematics import kinematics
from bunraku.mechanics.centroidal.model import centroidal_model

SPEC = importlib.util.spec_from_file_location("make_trot", Path(__file__).resolve().parents[2] / "scripts" / "make_trot.py")
make_trot = importlib.util.module_from_spec(SPEC)
sys.modules[SPEC.name] = make_trot  # dataclasses look their module up
SPEC.loader.exec_module(make_trot)
Trot, flight_needed, trot_curves, trot_gait = make_trot.Trot, make_trot.flight_needed, make_trot.trot_curves, make_trot.trot_gait

TROT = Trot(speed=0.3, steps=3)
RATE = 100.0


@pytest.fixture(scope="module")
def monster() -> Character:
    return read_character("monster-quick")


@pytest.fixture(scope="module")
def soles(monster: Character) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times, coordinates and places (n, 4, 3) of the soles."""
    curves = trot_curves(monster, TROT, RATE)
    model = centroidal_model(monster)
    assert curves.names == tuple(model.names)
    return np.arange(len(curves.values)) / RATE, curves.values, kinematics(model, curves.values).contact


def airborne(monster: Character, t: np.ndarray) -> np.ndarray:
    """Whether each sole (n, 4) is in the air, by the gait's swings."""
    names = [tip.name for tip in monster.end_effectors]
    air = np.zeros((len(t), len(names)), dtype=bool)
    for swing in trot_gait(monster, TROT).swings:
        start, end = swing.start * TROT.duration, swing.end * TROT.duration
        air[:, names.index(swing.effector)] |= (t > start + 1e-9) & (t < end - 1e-9)
    return air


def test_feet_that_stand_stay_on_the_ground_and_where_they_are(monster: Character, soles) -> None:
    t, _, places = soles
    air = airborne(monster, t)
    still = ~air[1:] & ~air[:-1]
    assert np.abs(places[~air][:, 2]).max() < 2e-4
    assert np.abs(np.diff(places, axis=0)[still]).max() < 2e-4
    assert places[air][:, 2].max() == pytest.approx(TROT.height, rel=0.02)


def test_all_are_in_the_air_between_stances_and_only_then(monster: Character, soles) -> None:
    t = np.linspace(0.0, TROT.duration, 2001)
    flying = airborne(monster, t).all(axis=1)
    expected = np.zeros_like(flying)
    for start, end in TROT.flights():
        assert end - start == pytest.approx(TROT.flight)
        expected |= (t > start + 1e-9) & (t < end - 1e-9)
    np.testing.assert_array_equal(flying, expected)
    assert len(TROT.flights()) == TROT.steps - 1


def test_the_leap_needs_more_time_than_the_flight_takes(soles) -> None:
    needed = flight_needed(TROT.leap)
    assert 9.81 * needed**2 / 8.0 == pytest.approx(TROT.leap, rel=1e-3)  # h = g T² / 8
    assert needed > 1.5 * TROT.flight
    t, q, _ = soles
    start, end = TROT.flights()[0]
    low = q[np.argmin(np.abs(t - start)), 2]
    assert q[np.argmin(np.abs(t - 0.5 * (start + end))), 2] - low == pytest.approx(TROT.leap, rel=0.02)


def test_it_starts_and_ends_at_home_and_goes_its_way(monster: Character, soles) -> None:
    _, q, _ = soles
    home = centroidal_model(monster).home
    np.testing.assert_allclose(q[0], home, atol=1e-6)
    np.testing.assert_allclose(q[-1, 1:], home[1:], atol=1e-3)
    assert q[-1, 0] == pytest.approx(TROT.distance)
    long = Trot()
    t = np.linspace(0.0, long.duration, 5001)
    assert np.gradient(long.way(t), t).max() == pytest.approx(long.speed, rel=1e-3)


def test_what_cannot_be_is_refused(monster: Character) -> None:
    with pytest.raises(BadInput, match="two steps or more"):
        Trot(steps=1)
    with pytest.raises(BadInput, match="misses its foothold"):
        trot_curves(monster, Trot(speed=1.5, steps=3), 25.0)
