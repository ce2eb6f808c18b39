"""The error of a motion once its delay is removed, on curves whose delay is known."""

from __future__ import annotations

import numpy as np

from bunraku.verification.rigid.replay import late_by

TIMES = np.arange(0, 4, 0.001)
AT = np.arange(0, 3, 0.01)


def wanted(t: np.ndarray) -> np.ndarray:
    return np.column_stack([np.sin(3 * t), 0.5 * np.cos(5 * t), 0.0 * t])


def test_errors_vanish_when_the_delay_is_removed() -> None:
    delays = np.array([0.04, 0.1, 0.0])
    late = np.column_stack([wanted(TIMES - delay)[:, j] for j, delay in enumerate(delays)])
    np.testing.assert_allclose(late_by(TIMES, late, AT, delays), wanted(AT), atol=1e-5)
    assert np.abs(late_by(TIMES, late, AT, 0.0 * delays) - wanted(AT))[:, :2].max() > 0.1
