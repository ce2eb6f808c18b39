"""Samples at another rate keep range, velocity, acceleration and jerk of those they come from."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.stage.player.samples import samples_at


def rough(n: int = 60) -> np.ndarray:
    return np.random.default_rng(4).uniform(-1.0, 1.0, (n, 3)).cumsum(axis=0)


@pytest.mark.parametrize("wanted", [37.0, 80.0, 125.0, 333.0])
def test_differences_at_the_new_rate_stay_below_those_at_the_old(wanted: float) -> None:
    rate, values = 100.0, rough()
    found = samples_at(values, rate, wanted)
    inner = found[2:-2]
    assert (inner >= values.min(axis=0) - 1e-12).all()
    assert (inner <= values.max(axis=0) + 1e-12).all()
    for order in (1, 2, 3):
        before = np.abs(np.diff(values, order, axis=0)).max(axis=0) * rate**order
        # the last step is shorter where the end falls between two samples
        after = np.abs(np.diff(found[:-1], order, axis=0)).max(axis=0) * wanted**order
        assert (after <= before * (1.0 + 1e-9)).all(), order


def test_the_same_rate_and_whole_divisors_make_nothing_up() -> None:
    values = rough(61)
    np.testing.assert_array_equal(samples_at(values, 100.0, 100.0), values)
    np.testing.assert_array_equal(samples_at(values, 100.0, 50.0), values[::2])


@pytest.mark.parametrize("wanted", [50.0, 70.0, 250.0])
def test_first_and_last_sample_are_kept_and_the_length_too(wanted: float) -> None:
    values = rough(62)
    found = samples_at(values, 100.0, wanted)
    np.testing.assert_allclose(found[0], values[0], atol=1e-12)
    np.testing.assert_allclose(found[-1], values[-1], atol=1e-12)
    assert (len(found) - 1) / wanted == pytest.approx(0.61, abs=1.0 / wanted)


def test_a_smooth_curve_is_off_by_a_sixth_of_the_acceleration_and_not_late() -> None:
    rate, w = 100.0, 6.0
    t = np.arange(101) / rate
    found = samples_at(np.sin(w * t)[:, None], rate, 400.0)[:, 0]
    fine = np.arange(len(found)) / 400.0
    expected = np.sin(w * fine) * (1.0 - (w / rate) ** 2 / 6.0)
    np.testing.assert_allclose(found[8:-8], expected[8:-8], atol=2e-6)


@pytest.mark.parametrize("rate", [1e-7, 1e-300])
def test_a_file_of_a_few_samples_cannot_fill_the_memory(rate: float) -> None:
    with pytest.raises(BadInput, match="too long to be played at once"):
        samples_at(np.zeros((50, 3)), rate, 100.0)
