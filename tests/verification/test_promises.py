"""Promises that must not hold for want of something to compare with."""

from __future__ import annotations

import pytest

from bunraku.formats.registry import read_character
from bunraku.mechanics.systems.carriages import CarriageLimits
from bunraku.verification.promises import imitation_promises, show_promises


def test_a_baseline_that_broke_off_proves_nothing() -> None:
    whole, broken = (imitation_promises(0.02, 0.1, finished=finished)[1] for finished in (True, False))
    assert whole.holds
    assert whole.value == pytest.approx(0.2)
    assert not broken.holds
    assert "broke off" in broken.note


def test_jumps_of_carriages_and_winches_are_judged_each_by_its_own_limit() -> None:
    """Also when one carriage states no acceleration: the others' still bind."""
    puppet = read_character("marionette")
    first = puppet.carriages[0].changed(acceleration=None, winch_acceleration=None)
    loose = puppet.changed(carriages=(first, *puppet.carriages[1:]))
    limits = CarriageLimits.of(puppet)
    for who in (puppet, loose):
        for carriage, winch in ((1.01, 0.5), (0.5, 1.01), (0.99, 0.99)):
            jumps = 0.01 * carriage * limits.acceleration.max(), 0.01 * winch * limits.winch_acceleration.max()
            checks = show_promises(who, 0.5, (1.0,), *jumps, 0.01)
            assert [check.holds for check in checks[2:]] == [carriage < 1.0, winch < 1.0]
    silent = puppet.changed(carriages=tuple(c.changed(acceleration=None, winch_acceleration=None) for c in puppet.carriages))
    assert [check.threshold for check in show_promises(silent, 0.5, (1.0,), 9.0, 9.0, 0.01)[2:]] == [None, None]
