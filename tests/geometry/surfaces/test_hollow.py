"""Walls in closed form, the topology of what is hollow, and refusals that say where."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.geometry.surfaces.checks import check_surface
from bunraku.geometry.surfaces.hollow import hollow
from bunraku.geometry.surfaces.shapes import Limb, box, limb_surface, random_quadruped, sphere, torus
from bunraku.geometry.surfaces.surface import Surface

pytest.importorskip("igl")


def test_the_wall_of_a_ball_is_exact_to_the_order_of_the_grid() -> None:
    ball = sphere(0.1, 32)
    errors = []
    for spacing in (0.005, 0.0025):
        found = hollow(ball, 0.01, spacing=spacing)
        # Between its grid points a sphere of radius 0.09 lies at most h² / (4 · 0.09) (three chords of h / √3 ... h) further out.
        assert np.abs(found.wall - 0.01).max() < spacing**2 / (4.0 * 0.09) * 2.0 + 1e-4
        errors.append(float(np.mean(found.wall - 0.01)))
        assert found.thinnest > 0.999
        assert found.solid == 0.0
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.35)


def test_the_shell_is_two_nested_spheres() -> None:
    found = hollow(sphere(0.1, 20), 0.01, spacing=0.004)
    report = check_surface(found.shell)
    assert (report.components, report.genus, report.watertight, report.crossings) == (2, (0, 0), True, 0)
    assert report.volume == pytest.approx(4 / 3 * np.pi * (0.1**3 - 0.09**3), rel=0.02)
    assert set(found.figures()) == {"min", "p5", "median", "max", "share"}
    assert found.figures()["median"] == pytest.approx(0.01, rel=0.01)


def test_the_cavity_of_a_box_is_the_smaller_box() -> None:
    found = hollow(box([0.1, 0.12, 0.08]), 0.01, spacing=0.003)
    np.testing.assert_allclose(found.inner.bounds, [[-0.04, -0.05, -0.03], [0.04, 0.05, 0.03]], atol=4e-6)  # a thousandth of a cell
    assert found.inner.volume() == pytest.approx(0.08 * 0.10 * 0.06, rel=0.01)


def test_a_wall_that_changes_from_place_to_place() -> None:
    found = hollow(sphere(0.1, 40), lambda at: 0.01 + 0.1 * np.maximum(at[:, 2], 0.0), spacing=0.004)
    top, bottom = found.inner.vertices[:, 2].max(), found.inner.vertices[:, 2].min()
    assert bottom == pytest.approx(-0.09, abs=5e-4)
    assert 0.1 - top == pytest.approx(0.01 + 0.1 * top, abs=5e-4)
    np.testing.assert_allclose(found.wall[: len(found.inner.vertices)], found.asked[: len(found.inner.vertices)], rtol=0.04)


def test_a_ring_keeps_its_handle() -> None:
    found = hollow(torus(0.3, 0.08, 60, 24), 0.02, spacing=0.01)
    assert check_surface(found.shell).genus == (1, 1)


def test_a_creature_nobody_tuned_for() -> None:
    creature = random_quadruped(77, spacing=0.016)
    found = hollow(creature, lambda at: np.clip(0.01 - 0.2 * (at[:, 2] - 0.01), 0.008, 0.01), spacing=0.004)
    assert check_surface(found.shell, crossings=False).genus == (0, 0)
    assert found.thinnest > 0.85


def test_thin_parts_are_refused_with_their_place() -> None:
    whip = limb_surface(
        [
            Limb(np.array([[-0.1, 0, 0], [0.0, 0, 0]]), np.array([0.05, 0.05])),
            Limb(np.array([[0.0, 0, 0], [0.2, 0, 0]]), np.array([0.012, 0.008])),
        ],
        spacing=0.006,
        blend=0.01,
    )
    with pytest.raises(
        BadInput, match=r"thinner than two walls of 10 mm on [\d.]+ % of its area, most near \(20\d, .*cavity is 1\d\d mm away"
    ):
        hollow(whip, 0.01, spacing=0.005)
    assert 0.05 < hollow(whip, 0.01, spacing=0.005, solid=0.3).solid < 0.3
    dumbbell = limb_surface(
        [Limb(np.array([[x, 0, 0], [x + 0.01, 0, 0]]), np.array([0.05, 0.05])) for x in (-0.1, 0.1)]
        + [Limb(np.array([[-0.1, 0, 0], [0.1, 0, 0]]), np.array([0.008, 0.008]))],
        spacing=0.006,
        blend=0.01,
    )
    with pytest.raises(BadInput, match="cavity falls into 2 parts"):
        hollow(dumbbell, 0.01, spacing=0.005)
    with pytest.raises(BadInput, match="too thin to be hollow"):
        hollow(box([0.1, 0.1, 0.01]), 0.008, spacing=0.004)


def test_what_cannot_be_asked_for_is_refused() -> None:
    ball = sphere(0.1, 6)
    with pytest.raises(BadInput, match="repair it first"):
        hollow(Surface(ball.vertices, ball.faces[1:]), 0.01, spacing=0.004)
    with pytest.raises(BadInput, match="grid of at most half"):
        hollow(ball, 0.01, spacing=0.006)
