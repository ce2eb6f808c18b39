"""Draft and undercuts of shapes whose figures are known, and the way a mould is parted."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.fabrication.shaping import ball, box, cylinder, union
from bunraku.fabrication.skinned.moulds import parting_plane, pull_directions
from bunraku.fabrication.skinned.pieces import Plane
from bunraku.fabrication.skinned.undercut import draw_figures, path_stretch, undercut

UP = np.array([0.0, 0.0, 1.0])


def test_half_a_ball_has_no_undercut_a_lower_cut_has_one() -> None:
    assert undercut(ball((0, 0, 0), 30.0), UP, 0.0) == (0.0, 0.0)
    depth, strain = undercut(ball((0, 0, 0), 30.0), UP, -15.0)
    assert depth == pytest.approx(30.0 - np.sqrt(30.0**2 - 15.0**2), abs=0.5)  # slices of 1.6 mm
    assert strain == pytest.approx(depth / np.sqrt(30.0**2 - 15.0**2), rel=0.05)


def test_a_mushroom_hooks_by_its_brim() -> None:
    mushroom = union([cylinder((0, 0, 0), (0, 0, 10), 10.0), cylinder((0, 0, 9), (0, 0, 30), 16.0)])
    assert undercut(mushroom, UP, 0.0)[0] == pytest.approx(6.0, abs=0.05)
    found = draw_figures(mushroom, UP, 0.0)
    brim = np.pi * (16.0**2 - 10.0**2)
    assert found.hooked * found.area == pytest.approx(brim, rel=0.01)
    walls = 2.0 * np.pi * (10.0 * 9.0 + 16.0 * 21.0)
    assert found.steep * found.area == pytest.approx(walls, rel=0.01)


def test_draft_of_a_cone_is_its_slope() -> None:
    for slope, steep in ((0.5, True), (2.0, False)):
        top = 20.0 - 40.0 * np.tan(np.radians(slope))
        cone = cylinder((0, 0, 0), (0, 0, 40), 20.0, float(top))
        found = draw_figures(cone, UP, 0.1)
        assert (found.steep > 0.5) == steep
        assert found.hooked == 0.0


def test_faces_formed_by_the_core_do_not_count() -> None:
    part = box((0, 0, 5), (10, 10, 10))
    with_side = draw_figures(part, UP, 0.0)
    without = draw_figures(part, UP, 0.0, [(np.array([1.0, 0.0, 0.0]), 5.0)])
    assert with_side.area - without.area == pytest.approx(100.0)


def test_a_lying_rod_parts_through_its_middle() -> None:
    rod = cylinder((-50, 0, 7), (50, 0, 7), 10.0)
    ends = [Plane(np.array([1.0, 0.0, 0.0]), 50.0), Plane(np.array([1.0, 0.0, 0.0]), -50.0)]
    plane = parting_plane(rod, [UP], ends)
    assert plane.offset == pytest.approx(7.0, abs=0.3)


def test_directions_run_across_the_opening() -> None:
    points = np.random.default_rng(3).normal(size=(200, 3)) * np.array([30.0, 20.0, 5.0])
    found = pull_directions(points, np.array([1.0, 0.0, 0.0]), [UP])
    assert found[0] == pytest.approx(UP)
    assert all(abs(d[0]) < 0.75 for d in found)
    assert np.linalg.norm(found, axis=1) == pytest.approx(np.ones(len(found)))


def test_a_bulb_behind_a_neck_stretches_the_rubber_by_their_girths() -> None:
    core = union([cylinder((0, 0, 0), (0, 0, 60), 10.0), cylinder((0, 0, 60), (0, 0, 100), 15.0)])
    assert path_stretch(core, np.array([[0, 0, 0], [0, 0, 100.0]])) == pytest.approx(0.5, abs=0.01)
    assert path_stretch(core, np.array([[0, 0, 100.0], [0, 0, 0]])) < 1e-9
    elbow = union([cylinder((0, 0, 0), (0, 0, 100), 10.0), cylinder((0, 0, 100), (100, 0, 100), 10.0), ball((0, 0, 100), 10.0)])
    assert path_stretch(elbow, np.array([[0, 0, 0], [0, 0, 100.0], [100.0, 0, 100.0]])) < 0.3
