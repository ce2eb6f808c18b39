"""Soft parts get the cubature of their material by themselves, stiff ones keep their strains; both against the whole solid."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bunraku.geometry.meshing.shapes import box
from bunraku.mechanics.elastic.interface import make_interface
from bunraku.mechanics.elastic.material import Material
from bunraku.mechanics.elastic.modes import CarriedBody
from bunraku.mechanics.elastic.reduction.basis import Workbench, make_basis
from bunraku.mechanics.elastic.reduction.choice import SETTINGS, choose_reduction, soften
from bunraku.mechanics.elastic.reduction.loaded import elastic_terms, load_full, load_reduced
from bunraku.mechanics.elastic.reduction.reduce import reduce_to
from bunraku.mechanics.elastic.solid import ElasticSolid


def bench_of(material: Material, width: float = 0.02) -> Workbench:
    mesh = box((width, 0.015, 0.1), (2, 1, 8))
    base, end = make_interface(mesh, "start"), make_interface(mesh, "end")
    return Workbench(ElasticSolid(mesh, material), base, [end], [CarriedBody(end, 0.05, 5e-6)])


@pytest.fixture(scope="module")
def rubber():
    bench = bench_of(Material(young=1e6, poisson=0.4, density=1100.0))
    reduction = reduce_to(bench, make_basis(bench, bending=4, release=1e-3))
    return bench, reduction, soften(bench, reduction)


def test_a_soft_part_gets_cubature_and_says_so(rubber) -> None:
    bench, reduction, found = rubber
    assert reduction.segment.points is None
    assert found.segment.points is not None
    assert len(found.segment.points.weights) % bench.solid.weights.shape[1] == 0
    assert "cubature of" in found.note
    assert "strain up to" in found.note
    np.testing.assert_array_equal(found.segment.L1, reduction.segment.L1)
    assert soften(bench, found) is found


def test_stiff_parts_and_other_materials_keep_their_strains() -> None:
    for material in (
        Material(young=1e9, poisson=0.4, density=1100.0),
        Material(young=1e6, poisson=0.4, density=1100.0, model="st-venant-kirchhoff"),
    ):
        bench = bench_of(material)
        reduction = reduce_to(bench, make_basis(bench, bending=2))
        assert soften(bench, reduction) is reduction


def test_cubature_is_nearer_to_the_whole_solid_than_the_strains(rubber) -> None:
    """A load not trained on, with a pull along the strip: position and frequencies, within 1 %, and better than the polynomial."""
    bench, reduction, found = rubber
    end = bench.children[0]
    load = end.load(np.zeros(bench.solid.size), force=[0.5, 0.2, 15.0])
    full = load_full(bench, load, count=3)
    assert full.share == 1.0
    tip = end.position(full.u) - end.centroid
    errors = []
    for each in (reduction, found):
        state = load_reduced(bench.solid, each.segment, each.shapes, load, bench.carried, count=3)
        position = np.linalg.norm(end.position(state.u @ each.shapes) - end.centroid - tip) / np.linalg.norm(tip)
        errors.append(max(position, np.abs(state.frequencies / full.frequencies - 1.0).max()))
    assert errors[1] < 0.01
    assert errors[1] < 0.2 * errors[0]


def test_elastic_terms_of_points_are_slope_and_curvature(rubber) -> None:
    bench, _, found = rubber
    u = load_reduced(bench.solid, found.segment, found.shapes, 0.1 * bench.gravity_loads[0], (), count=1).u
    f, K = elastic_terms(found.segment, u)
    np.testing.assert_allclose(K, K.T, rtol=0, atol=1e-12 * np.abs(K).max())
    root = np.linalg.cholesky(K)
    step = 1e-6 * np.linalg.solve(root.T, np.ones(len(u)))
    slope = (elastic_terms(found.segment, u + step)[0] - elastic_terms(found.segment, u - step)[0]) / 2.0
    np.testing.assert_allclose(np.linalg.solve(root, slope), np.linalg.solve(root, K @ step), rtol=0, atol=1e-6 * 1e-6 * len(u))
    twice = replace(found.segment, points=found.segment.points.scaled(2.0))
    np.testing.assert_allclose(elastic_terms(twice, u)[0], 2.0 * f, rtol=1e-12)


def test_the_choice_takes_cubature_too(rubber) -> None:
    """One setting only: what is compared with the whole solid is the part with its points, within 1 %, and the note says so."""
    bench, _, _ = rubber
    found = choose_reduction(bench, settings=SETTINGS[-1:], tolerance=0.01)
    assert found.strain > 0.02
    assert found.reduction.segment.points is not None
    assert found.trials[0].worst < 0.01
    assert "cubature of" in found.reduction.note
    assert "strain up to" in found.reduction.note
