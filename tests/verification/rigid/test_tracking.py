"""The delay between curves and the error once it is removed, on curves whose delay is known."""

from __future__ import annotations

import numpy as np

from bunraku.verification.rigid.tracking import measured_delays, shifted, tracking_errors

TIMES = np.arange(0, 4, 0.001)
AT = np.arange(0, 3, 0.01)


def wanted(t: np.ndarray) -> np.ndarray:
    return np.column_stack([np.sin(3 * t), 0.5 * np.cos(5 * t), 0.0 * t])


def test_a_known_delay_is_found_despite_an_offset() -> None:
    delays = np.array([0.0437, 0.1212, 0.05])
    late = np.column_stack([wanted(TIMES - delay)[:, j] for j, delay in enumerate(delays)]) + np.array([0.1, -0.2, 0.0])
    found = measured_delays(TIMES, late, AT, wanted(AT))
    np.testing.assert_allclose(found[:2], delays[:2], atol=1e-4)
    assert np.isnan(found[2]), "a curve that does not move has no delay"


def test_errors_vanish_when_the_delay_is_removed() -> None:
    delays = np.array([0.04, 0.1, 0.0])
    late = np.column_stack([wanted(TIMES - delay)[:, j] for j, delay in enumerate(delays)])
    rms, most = tracking_errors(TIMES, late, AT, wanted(AT), delays)
    assert most.max() < 1e-5
    rms, most = tracking_errors(TIMES, late + 0.03, AT, wanted(AT), delays)
    np.testing.assert_allclose(rms, 0.03, atol=1e-5)
    np.testing.assert_allclose(shifted(TIMES, late, AT, delays), wanted(AT), atol=1e-5)
