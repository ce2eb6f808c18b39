"""How a surface stands: the ellipse of a foot, soles cut flat, the limb between torso and foot."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("igl")

from creature_forms import chain, ellipsoid, smooth_union

from bunraku.building.creatures.embed import LegCurve
from bunraku.building.creatures.stance import _foot_ellipse, flat_footed, leg_stance
from bunraku.geometry.surfaces.distance import sampled
from bunraku.geometry.surfaces.isosurface import isosurface
from bunraku.geometry.surfaces.surface import Surface


def _four_legged():
    legs = {f"{'L' if y > 0 else 'R'}{'F' if x > 0 else 'H'}": (x, y) for x in (0.2, -0.2) for y in (0.12, -0.12)}
    limbs = [chain([(x, y, 0.3), (x, y, 0.04)], (0.04, 0.04)) for x, y in legs.values()]
    field = smooth_union([ellipsoid((0, 0, 0.32), (0.3, 0.16, 0.1)), *limbs], 0.02)
    grid = sampled(field, (-0.36, -0.24, -0.05), (0.36, 0.24, 0.48), 0.01, band=0.04)
    curves = [
        LegCurve(name, np.array([[x, 0.5 * y, 0.32], [x, y, 0.2], [x, y, 0.03], [x, y, 0.0]])) for name, (x, y) in legs.items()
    ]
    return isosurface(grid.values, origin=grid.origin, spacing=0.01), tuple(curves)


def test_the_ellipse_of_an_elliptic_cylinder_is_its_own():
    angle = np.linspace(0.0, 2.0 * np.pi, 200, endpoint=False)
    turn = np.array([[np.cos(0.4), -np.sin(0.4)], [np.sin(0.4), np.cos(0.4)]])
    ring = np.column_stack([0.06 * np.cos(angle), 0.03 * np.sin(angle)]) @ turn.T + (0.1, -0.2)
    n = len(ring)
    vertices = np.vstack([np.column_stack([ring, np.zeros(n)]), np.column_stack([ring, np.ones(n)])])
    k = np.arange(n)
    following = (k + 1) % n
    faces = np.vstack([np.column_stack([k, following, n + k]), np.column_stack([following, n + following, n + k])])
    center, axes, half = _foot_ellipse(
        Surface(vertices, faces), LegCurve("LF", np.array([[0.1, -0.2, 1.0], [0.1, -0.2, 0.0]])), 0.5
    )
    assert center == pytest.approx((0.1, -0.2), abs=1e-9)
    assert np.sort(half) == pytest.approx((0.03, 0.06), rel=1e-3)
    assert abs(axes[:, int(np.argmax(half))] @ turn[:, 0]) == pytest.approx(1.0, abs=1e-9)


def test_round_feet_are_cut_flat_and_the_limb_is_found_between_torso_and_foot():
    surface, legs = _four_legged()
    standing = flat_footed(surface, legs)
    assert standing.vertices[:, 2].min() == pytest.approx(0.0, abs=1e-6)
    flat = (standing.face_normals()[:, 2] < -0.99) & (standing.corners[:, :, 2].max(axis=1) < 1e-4)
    lowest, cut = surface.bounds[0, 2], surface.vertices[:, 2].max() - standing.vertices[:, 2].max()
    depth = cut - lowest
    assert depth == pytest.approx(0.6 * 0.04, rel=0.1)
    area = np.pi * (0.04**2 - (0.04 - depth) ** 2)
    assert standing.face_areas()[flat].sum() == pytest.approx(4.0 * area, rel=0.1)
    lowered = LegCurve("LF", legs[0].points - np.array([0.0, 0.0, cut]))
    stance = leg_stance(standing, lowered)
    assert stance.radius == pytest.approx(0.04, rel=0.1)
    assert stance.curve.at(1.0) == pytest.approx((*legs[0].points[-1, :2], 0.0), abs=0.003)
    assert 0.1 < stance.curve.at(stance.top)[2] < 0.25
    assert stance.curve.at(stance.bottom)[2] < 0.06
