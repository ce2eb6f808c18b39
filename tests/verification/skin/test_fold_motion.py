"""Bent skins as a performance: the clamped ends go with the links of the ankles, a skin that stalls stays behind the wish."""

from __future__ import annotations

import numpy as np
import pytest

from _tubes import linear_tube
from bunraku.building.servos import servo
from bunraku.geometry.rotations import axis_angle
from bunraku.mechanics.coupled.collisions.surface import surface_triangles
from bunraku.mechanics.coupled.tubes.bending import AXIS, clamps
from bunraku.mechanics.coupled.tubes.mesh import Tube
from bunraku.motion import Certificate
from bunraku.optimization.solution import Status
from bunraku.stage.figure.motion import drawn
from bunraku.verification.plots.folds import BentSkin
from bunraku.verification.skin.fold_motion import bent_performance

REACH = np.radians(70.0)


def skin(name: str, furthest: float) -> BentSkin:
    """A tube whose upper clamp was turned to some angles, the rest left where it was."""
    mesh = linear_tube(Tube(around=8, rows=4))
    held = clamps(mesh)
    angles = np.radians(np.linspace(-furthest, furthest, 9))
    x = np.tile(mesh.nodes, (len(angles), 1, 1))
    for k, angle in enumerate(angles):
        x[k, held.high] = (mesh.nodes[held.high] - held.pivot) @ axis_angle(AXIS, angle).T + held.pivot
    return BentSkin(name, surface_triangles(mesh), x, angles, np.zeros(len(angles)))


def test_clamps_go_with_the_links_and_a_stalled_skin_stays_behind() -> None:
    skins = [skin("smooth", 20.0), skin("folded", 70.0)]
    made = bent_performance(skins, REACH, servo("MG995R").motor("m", "m", None), Certificate(Status.CONVERGED, ()))
    assert made.surface is not None
    most = np.abs(made.motion.values).max(axis=0)
    np.testing.assert_allclose(most, np.radians([20.0, 70.0]), rtol=1e-3)
    assert np.abs(made.wish.values).max(axis=0) == pytest.approx([REACH, REACH], rel=1e-3)
    np.testing.assert_allclose(made.motion.values[[0, -1]], 0.0, atol=1e-12)

    shown = drawn(made)  # bodies by our kinematics, the surface as it was bent
    for k, one in enumerate(skins):
        frame = int(np.argmax(made.motion.values[:, k]))
        at = shown.at(frame / made.rate)
        tube = shown.figure.solids["tube"]
        link = int(np.flatnonzero(tube.body == shown.figure.bodies.index(one.name))[0])
        middle = shown.placed["tube"].positions[at, link]
        half = len(made.surface.points[0]) // 2
        top = made.surface.points[frame, k * half : (k + 1) * half]
        rest = made.surface.points[0, k * half : (k + 1) * half]
        rim = top[rest[:, 2] > 0.99 * rest[:, 2].max()]
        pivot = rest.mean(axis=0)
        along, axis = rim.mean(axis=0) - pivot, middle - pivot
        assert along @ axis / np.linalg.norm(along) / np.linalg.norm(axis) == pytest.approx(1.0, abs=1e-4)
