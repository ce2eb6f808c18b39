"""Thickness of a layer: parallel planes, a thin place found and mended."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from bunraku.geometry.shells.offset import inner_surface
from bunraku.geometry.shells.thickness import thicken, thickness_ratios

Surface = tuple[NDArray[np.float64], NDArray[np.int64]]


def test_a_mitred_layer_has_its_thickness_on_both_sides(capsule: Callable[..., Surface]) -> None:
    X, F = capsule(0.04, 0.1, 18, 12)
    t = np.full(len(X), 0.004)
    inner = inner_surface(X, F, t, np.full(len(X), 1e-3))
    ratios, places = thickness_ratios(X, inner, F, t)
    assert ratios.shape == (2, len(F), 7)
    assert places.shape == (2, len(F), 7, 3)
    assert ratios.min() > 0.99
    side = np.abs(places[..., 2]) < 0.02
    np.testing.assert_allclose(ratios[0, :, 0][side[0, :, 0]], 1.0, atol=0.01)


def test_a_dent_is_measured_where_it_is_and_mended(capsule: Callable[..., Surface]) -> None:
    X, F = capsule(0.04, 0.1, 18, 12)
    t = np.full(len(X), 0.004)
    inner = inner_surface(X, F, t, np.full(len(X), 1e-3))
    dent = int(np.argmin(np.linalg.norm(X - [0.04, 0.0, 0.0], axis=1)))
    inner[dent] = X[dent] + 0.6 * (inner[dent] - X[dent])
    ratios, places = thickness_ratios(X, inner, F, t)
    np.testing.assert_allclose(ratios.min(), 0.6, atol=0.02)
    worst = places.reshape(-1, 3)[int(np.argmin(ratios))]
    assert np.linalg.norm(worst - X[dent]) < 0.005
    for _ in range(8):
        inner, thin = thicken(X, inner, F, t, 0.9)
        if not thin:
            break
    assert not thin
    assert thickness_ratios(X, inner, F, t)[0].min() > 0.9
    far = np.linalg.norm(X - X[dent], axis=1) > 0.03
    np.testing.assert_array_equal(thicken(X, inner, F, t, 0.9)[0][far], inner[far])
