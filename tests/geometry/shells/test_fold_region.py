"""The profile of a fold: gear teeth whose wall is the same inside and outside."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.geometry.shells.fold_region import FoldRegion, fold_frame, fold_profile

CENTER, AXIS = (0.0, 0.0, 0.1), (0.0, 3.0, 4.0)


def fold(**changes: object) -> FoldRegion:
    values: dict[str, object] = {"length": 0.08, "teeth": 3, "depth": 0.010, "wall": 0.0025, "around": 16, **changes}
    return FoldRegion(CENTER, AXIS, **values)  # type: ignore[arg-type]


def test_a_trapezoid_has_four_corners_a_tooth_and_uncut_ends() -> None:
    s, cut = fold_profile(fold())
    assert len(s) == 14
    assert cut[[0, 1, -2, -1]].tolist() == [0.0] * 4
    assert np.count_nonzero(cut == 0.010) == 6
    np.testing.assert_allclose([s[0], s[-1]], [-0.04, 0.04])
    assert (np.diff(s) > 0.0).all()
    np.testing.assert_allclose(s, -s[::-1], atol=1e-15)


def test_crests_inside_are_as_wide_as_valleys_outside() -> None:
    f = fold()
    s, _ = fold_profile(f)
    run = f.length / 3 / 4
    shift = f.wall * np.tan(0.5 * np.arctan2(f.depth, run))
    crest, valley, flank = s[5] - s[4], s[3] - s[2], s[2] - s[1]
    np.testing.assert_allclose(flank, run)
    np.testing.assert_allclose(crest - 2 * shift, valley)
    np.testing.assert_allclose(crest + valley + 2 * flank, f.length / 3)


def test_rows_divide_flanks_and_flats_along_straight_lines() -> None:
    coarse, fine = fold_profile(fold(teeth=2)), fold_profile(fold(teeth=2, flank_rows=3, flat_rows=2))
    assert len(coarse[0]) == 10
    assert len(fine[0]) == 1 + 2 + 4 * 3 + 3 * 2
    np.testing.assert_allclose(np.interp(fine[0], *coarse), fine[1], atol=1e-15)
    assert set(coarse[0]) <= set(fine[0])


@pytest.mark.parametrize("teeth", [1, 2])
def test_bare_teeth_begin_and_end_with_a_flank(teeth: int) -> None:
    """4 n - 1 pieces fill the length; crests inside stay as wide as valleys outside, so that the wall is the same on both."""
    f = fold(teeth=teeth, bare=True)
    s, cut = fold_profile(f)
    assert len(s) == 4 * teeth
    assert (cut[0], cut[1], cut[-2], cut[-1]) == (0.0, 0.010, 0.010, 0.0)
    np.testing.assert_allclose(s, -s[::-1], atol=1e-12)
    flank, valley = s[1] - s[0], s[2] - s[1]
    np.testing.assert_allclose(np.diff(s)[::2], flank, rtol=1e-9)
    np.testing.assert_allclose(valley, flank - f.wall * np.tan(0.5 * np.arctan2(f.depth, flank)), rtol=1e-9)
    if teeth == 2:
        np.testing.assert_allclose(s[4] - s[3] + valley, 2.0 * flank, rtol=1e-9)
    np.testing.assert_allclose([s[0], s[-1]], [-0.04, 0.04], atol=1e-15)


def test_a_triangle_has_two_rings_a_tooth() -> None:
    s, cut = fold_profile(fold(profile="triangle"))
    np.testing.assert_allclose(np.diff(s), 0.08 / 6)
    np.testing.assert_allclose(cut, [0.0, 0.01, 0.0, 0.01, 0.0, 0.01, 0.0])


def test_a_region_without_teeth_has_square_cells_or_the_rows_asked_for() -> None:
    s, cut = fold_profile(fold(teeth=0), radius=16 * 0.02 / (2 * np.pi))
    assert len(s) == 5
    assert not cut.any()
    assert len(fold_profile(fold(teeth=0, rows=3))[0]) == 4


def test_the_frame_is_right_handed_across_the_axis() -> None:
    u, v = fold_frame(fold())
    np.testing.assert_allclose(np.cross(u, v), np.array(AXIS) / 5.0, atol=1e-15)
    np.testing.assert_allclose([u @ u, v @ v, u @ v], [1.0, 1.0, 0.0], atol=1e-15)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"length": 0.0}, "length of a fold is 0"),
        ({"wall": -1.0}, "wall of a fold"),
        ({"teeth": -1}, "-1 teeth"),
        ({"around": 4}, "4 points a ring"),
        ({"flank_rows": 0}, "0 a flank"),
        ({"depth": 0.0}, "depth of a fold with 3 teeth"),
        ({"profile": "cosine"}, "cosine"),
        ({"teeth": 6, "wall": 0.004}, "inner crests would close"),
    ],
)
def test_what_cannot_be_folded_is_refused(changes: dict[str, object], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        fold(**changes)


def test_an_axis_without_direction_is_refused() -> None:
    with pytest.raises(BadInput, match="axis"):
        FoldRegion(CENTER, (0.0, 0.0, 0.0), 0.1, 0, 0.0, 0.003, 12)
