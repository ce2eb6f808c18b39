"""The forward check: a motion made by the servos themselves is found again, and one that asks for other torques is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bunraku.errors import BadInput

STEPS = 20


@pytest.fixture(scope="module")
def forward_check(benchmark_part):
    return benchmark_part("_skin_forward").forward_check


@pytest.fixture(scope="module")
def served(forward_check, beetle, make_skinned, swaying):
    """What servos of 20 N·m/rad made of a sway that begins at rest, as a performance."""
    told = swaying(beetle, 0.003, STEPS - 3)
    told = np.vstack([np.repeat(told[:1], 4, axis=0), told])
    made = forward_check(make_skinned(beetle, told, np.zeros((STEPS + 1, 12))), step=0.005, refine=0)
    assert made.reason == ""
    assert made.complete
    return make_skinned(beetle, made.q, np.vstack([made.torque, made.torque[-1:]])), made


def test_what_servos_did_is_what_they_do_again(forward_check, served) -> None:
    """Told q* + (kd / kp) v* + tau* / kp, a servo at q* gives tau*: the motion comes again, but for where it settles at first."""
    performance, made = served
    again = forward_check(performance, step=0.005, refine=0, feedforward=True)
    assert again.reason == ""
    assert again.complete
    np.testing.assert_allclose(again.q, made.q, atol=2e-4)
    np.testing.assert_allclose(again.torque, made.torque, atol=0.02 * np.abs(made.torque).max())
    assert again.ratio == pytest.approx(1.0, abs=0.01)
    assert again.tracking < 2e-4
    assert all(check.holds for check in again.checks)


def test_torques_twice_as_large_are_not_the_plan_s(served) -> None:
    """With the planned torques doubled the ratio halves; the rest of the check is as before."""
    _, made = served
    doubled = replace(made, planned=2.0 * np.vstack([made.torque, made.torque[-1:]]))
    same = replace(made, planned=made.torque)
    assert same.ratio == pytest.approx(1.0, rel=1e-12)
    np.testing.assert_allclose(same.ratios, 1.0, rtol=1e-12)
    assert doubled.ratio == pytest.approx(0.5, abs=0.02)
    assert not next(check for check in doubled.checks if check.name.startswith("rms torque")).holds


def test_every_motor_needs_its_channels(forward_check, served) -> None:
    performance, _ = served
    kept = tuple(channel for channel in performance.channels if channel.kind != "torque")
    with pytest.raises(BadInput, match="no torque channel"):
        forward_check(replace(performance, channels=kept), refine=0)
    with pytest.raises(BadInput, match="refinements"):
        forward_check(performance, refine=9)
