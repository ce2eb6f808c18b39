"""Which parts to treat as flexible: bands of known motions, and parts on either side of them."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.mechanics.flexible.proposal import FACTOR, motion_band, propose_flexible


def test_the_band_of_a_sum_of_sines() -> None:
    """Accelerations weigh by the fourth power of frequency: 1 Hz and a tenth of it at 4 Hz have powers 1 and 2.56."""
    t = np.arange(1002) / 100.0
    slow, fast = np.sin(2 * np.pi * t), 0.1 * np.sin(2 * np.pi * 4 * t)
    assert motion_band(slow[:, None], 100.0) == pytest.approx(1.0, abs=0.11)
    assert motion_band((slow + fast)[:, None], 100.0) == pytest.approx(4.0, abs=0.11)
    assert motion_band(np.column_stack([slow, fast]), 100.0, share=0.2) == pytest.approx(1.0, abs=0.11)
    assert motion_band(np.column_stack([slow, 3.0 + 0.0 * slow]), 100.0) == pytest.approx(1.0, abs=0.11)


def test_what_does_not_move_has_no_band() -> None:
    assert motion_band(np.full((100, 2), 0.3), 100.0) == 0.0
    assert motion_band(np.zeros((2, 2)), 100.0) == 0.0
    with pytest.raises(BadInput, match=r"shape \(5,\)"):
        motion_band(np.zeros(5), 100.0)


def test_parts_below_five_times_the_band_are_flexible(legs) -> None:
    character = legs(cell=0.03)
    f1 = propose_flexible(character, 1.0)[0].frequency
    for band, flexible in ((1.01 * f1 / FACTOR, True), (0.99 * f1 / FACTOR, False)):
        proposals = propose_flexible(character, band)
        assert [proposal.flexible for proposal in proposals] == [flexible, flexible]
        line = proposals[0].reason
        assert "\n" not in line
        assert line.endswith("treat as flexible" if flexible else "may be taken as rigid")
    assert "with 2.3 kg" in proposals[0].reason
    assert f"gives way by {9810 / (2 * np.pi * f1) ** 2:.3g} mm" in proposals[0].reason
