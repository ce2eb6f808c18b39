"""The reduced steel rod (0.7 m, 4 mm, 0.1 kg at the tip) against the values of the study and the whole solid."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.geometry.rotations import exponential
from bunraku.mechanics.dynamics.equilibrium import find_equilibrium
from bunraku.mechanics.dynamics.poses import find_pose
from bunraku.mechanics.elastic.reduction.loaded import load_full


def test_size_and_kinds(study_rod) -> None:
    """Two bending pairs, one twist (95 Hz, above them and above a third pair), and their derivatives: about 19 shapes."""
    labels = study_rod.reduction.labels
    assert labels[:5] == ("bending 1", "bending 2", "bending 3", "bending 4", "torsion 1")
    assert study_rod.reduction.primary == 5
    assert 17 <= len(labels) <= 20


def test_frequencies_without_and_with_gravity(study_rod, two_bodies, frequencies_at) -> None:
    """2.1912, 26.198, torsion 95.15 Hz without, 2.0875 Hz upright, 2.2901 Hz hanging; an axial load does not change the torsion."""
    segment = study_rod.reduction.segment
    for gravity, first in ((0.0, 2.1912), (-9.81, 2.0875), (9.81, 2.2901)):
        system = two_bodies(segment, 0.7, gravity=(0.0, 0.0, gravity))
        rest = find_equilibrium(system, system.home)
        assert rest.status.good
        found = frequencies_at(system, rest.q)
        np.testing.assert_allclose(found[:2], first, rtol=5e-4)
        assert found[4] == pytest.approx(95.15, rel=4e-3)
        if gravity == 0.0:
            np.testing.assert_allclose(found[2:4], 26.198, rtol=5e-4)


def test_horizontal_rest(study_rod, two_bodies) -> None:
    """The tip hangs 55.635 mm down and 2.630 mm nearer."""
    system = two_bodies(study_rod.reduction.segment, 0.7, gravity=(-9.81, 0.0, 0.0))
    rest = find_equilibrium(system, system.home)
    assert rest.status.good
    assert rest.stable
    start, tip = (find_pose(system, q, "tip")[1] for q in (system.home, rest.q))
    np.testing.assert_allclose(1e3 * (tip - start), [-55.635, 0.0, -2.630], rtol=1e-3, atol=0.01)


def test_rest_of_a_turned_rod_is_that_of_the_whole_solid(two_bodies, short_rod) -> None:
    """Heavy loads across the rod at two angles about its axis: tip within 1e-4 of the deflection at both, in the tree."""
    solid, end = short_rod.solid, short_rod.end
    for angle in (0.0, 37.0):
        turn = exponential([0.0, 0.0, np.radians(angle)])
        gravity = np.array([-200.0, 0.0, 0.0])
        system = two_bodies(short_rod.reduction.segment, 0.14, turn, tuple(gravity))
        rest = find_equilibrium(system, system.home)
        assert rest.status.good
        moved = find_pose(system, rest.q, "tip")[1] - find_pose(system, system.home, "tip")[1]
        local = turn.T @ gravity
        load = solid.weight(local) + end.load(np.zeros(solid.size), force=0.1 * local)
        full = load_full(short_rod.bench, load, count=2)
        assert full.share == 1.0
        expected = turn @ (end.position(full.u) - end.centroid)
        assert np.linalg.norm(expected) > 0.05 * 0.14
        np.testing.assert_allclose(moved, expected, atol=1e-4 * float(np.linalg.norm(expected)))
