"""The automatic choice of a basis against states of the whole solid that it has not seen."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.mechanics.elastic.reduction.choice import Setting, choose_reduction, peak_strain
from bunraku.mechanics.elastic.reduction.loaded import load_full, load_reduced


@pytest.fixture(scope="module")
def choice(short_rod):
    return choose_reduction(short_rod.bench)


def test_the_chosen_basis_meets_the_tolerance_with_few_products(choice) -> None:
    assert choice.trials[-1].worst <= 5e-3
    assert choice.trials[-1].shapes == choice.reduction.segment.r
    assert choice.reduction.errors == (choice.trials[-1].position, choice.trials[-1].frequency)
    assert "within 0.50%" in choice.reduction.note
    assert f"position {choice.trials[-1].position:.2%}" in choice.reduction.note
    r = choice.reduction.segment.r
    assert len(choice.reduction.segment.pairs) < r * (r + 1) // 4


def test_a_basis_too_small_is_found_out(short_rod) -> None:
    """Bending in one plane only: neither the states nor, with those added, the frequencies are met, and the note says so."""
    alone = (Setting(bending=1, attach=np.inf),)
    small = choose_reduction(short_rod.bench, settings=alone)
    assert small.trials[0].position > 0.1
    assert small.reduction.errors[1] > 0.05
    assert "NOT within" in small.reduction.note


def test_the_choice_holds_for_a_load_it_has_not_seen(short_rod, choice) -> None:
    """A slanted force at the tip with a pull along the rod, about as strong: position and lowest frequencies."""
    load = short_rod.end.load(np.zeros(short_rod.solid.size), force=[2.0, -1.5, 1.0])
    full = load_full(short_rod.bench, load, count=2)
    reduction = choice.reduction
    found = load_reduced(short_rod.solid, reduction.segment, reduction.shapes, load, short_rod.bench.carried, count=2)
    expected = short_rod.end.position(full.u) - short_rod.end.centroid
    tip = short_rod.end.position(found.u @ reduction.shapes) - short_rod.end.centroid
    assert np.linalg.norm(tip - expected) < 3e-3 * np.linalg.norm(expected)
    np.testing.assert_allclose(found.frequencies, full.frequencies, rtol=3e-3)


def test_peak_strain_of_a_bend(short_rod) -> None:
    """Curvature k bends the outer fibre by k d / 2: Green's strain (1, -nu, -nu) times it."""
    x, y, z = short_rod.solid.mesh.nodes.T
    k, nu = 0.01, 0.3
    field = np.stack([0.5 * k * (z**2 + nu * (x**2 - y**2)), k * nu * x * y, -k * x * z], axis=1)
    assert peak_strain(short_rod.solid, field.ravel()) == pytest.approx(k * 0.002 * np.sqrt(1 + 2 * nu**2), rel=0.25)
