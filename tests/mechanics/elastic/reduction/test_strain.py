"""The reduced strain is exact for St. Venant-Kirchhoff: energy and force of the whole solid."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.mechanics.elastic.reduction.loaded import elastic_terms, load_reduced


def test_energy_at_random_amplitudes(short_rod) -> None:
    """Small random amplitudes of all shapes, and of the primary ones alone (bent, locked: all of it of higher order)."""
    rng = np.random.default_rng(0)
    segment, shapes = short_rod.reduction.segment, short_rod.reduction.shapes
    for size in (1e-9, 1e-7, 1e-6):
        u = size * rng.normal(size=segment.r)
        u[:5] *= 1e3
        s = segment.strain(u)
        assert 0.5 * s @ s == pytest.approx(short_rod.solid.energy(u @ shapes), rel=1e-10)


def test_energy_and_force_where_the_rod_rests(short_rod) -> None:
    """At rest under a load that bends it by a tenth of its length, where stretch and bending cancel in the force."""
    segment, shapes = short_rod.reduction.segment, short_rod.reduction.shapes
    load = short_rod.end.load(np.zeros(short_rod.solid.size), force=[-25.0, 10.0, 0.0])
    rest = load_reduced(short_rod.solid, segment, shapes, load, short_rod.bench.carried)
    assert rest.share == 1.0
    assert np.linalg.norm(short_rod.end.position(rest.u @ shapes) - short_rod.end.centroid) > 0.1 * 0.14 * 0.5
    s = segment.strain(rest.u)
    assert 0.5 * s @ s == pytest.approx(short_rod.solid.energy(rest.u @ shapes), rel=1e-9)
    force = elastic_terms(segment, rest.u)[0]
    np.testing.assert_allclose(force[:5], (shapes @ load)[:5], atol=1e-8 * np.abs(shapes @ load).max())
    full = shapes @ short_rod.solid.force(rest.u @ shapes)
    scale = np.sqrt(np.diag(elastic_terms(segment, np.zeros(segment.r))[1]))
    np.testing.assert_allclose(full / scale, force / scale, atol=1e-7 * np.abs(s).max())


def test_stiffness_is_the_derivative_of_the_force(short_rod) -> None:
    """Central differences; the force is a cubic polynomial."""
    rng = np.random.default_rng(4)
    segment = short_rod.reduction.segment
    u = 1e-5 * rng.normal(size=segment.r)
    u[:5] *= 100.0
    K = elastic_terms(segment, u)[1]
    scale = np.sqrt(np.diag(K))
    for a in range(segment.r):
        step = np.zeros(segment.r)
        step[a] = 1e-4 / scale[a]
        change = (elastic_terms(segment, u + step)[0] - elastic_terms(segment, u - step)[0]) / (2.0 * step[a])
        np.testing.assert_allclose(change / (scale * scale[a]), K[a] / (scale * scale[a]), atol=1e-6)
