"""Replays in several worlds: which is the worst, and which fell."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from bunraku.verification.replays import worst_replay


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
def test_a_figure_that_is_no_number_is_the_worst(order: tuple[int, ...]) -> None:
    sizes = (1.0, float("nan"), 5.0)
    replays = [SimpleNamespace(number=k, figures={"slip_m": sizes[k]}) for k in order]
    assert worst_replay(replays, "slip_m").number == 1
    assert worst_replay([one for one in replays if one.number != 1], "slip_m").number == 2
