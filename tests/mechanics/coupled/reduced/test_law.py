"""Curves of folds: through what was sampled, smooth, straight beyond."""

import numpy as np
import pytest

from bunraku.mechanics.coupled.reduced.law import fit_law

KNOTS = np.linspace(-1.0, 1.0, 9)


def cubic(t):
    return np.stack([1.2 * t - 0.3 * t**2 + 0.5 * t**3, -0.4 * t**3], axis=-1)


@pytest.fixture(scope="module")
def law():
    return fit_law(KNOTS, np.stack([cubic(KNOTS), 2.0 * cubic(KNOTS)], axis=1))


def test_a_cubic_is_met_between_the_knots(law):
    for t in (-0.93, -0.2, 0.0, 0.41, 1.0):
        values, slopes = law.at(np.array([t, -t]))
        assert values[0] == pytest.approx(cubic(t), abs=1e-12)
        assert values[1] == pytest.approx(2.0 * cubic(-t), abs=1e-12)
        assert slopes[0] == pytest.approx([1.2 - 0.6 * t + 1.5 * t**2, -1.2 * t**2], abs=1e-11)


def test_it_goes_on_straight(law):
    edge, slope = law.at(np.array([1.0, -1.0]))
    beyond, same = law.at(np.array([1.5, -1.5]))
    assert beyond == pytest.approx(edge + np.array([[0.5], [-0.5]]) * slope, abs=1e-12)
    assert same == pytest.approx(slope, abs=1e-12)
