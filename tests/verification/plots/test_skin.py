"""Pictures of skinned characters: what they show is what they were given."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.verification.plots.skin import draw_angles, draw_convergence, draw_pressure, draw_roll, draw_skin, draw_torques

pyplot = pytest.importorskip("matplotlib.pyplot")
T = np.linspace(0.0, 1.0, 11)


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


def test_costs_are_drawn_relative_to_the_one_found() -> None:
    figure = draw_convergence([("leaves", (8.0, 4.0, 2.0)), ("lands", (3.0, 3.0))])
    lines = [axis.lines[0].get_ydata() for axis in figure.axes]
    np.testing.assert_allclose(lines[0], [4.0, 2.0, 1.0])
    np.testing.assert_allclose(lines[1], [1.0, 1.0])


def test_limits_of_torques_stand_on_both_sides() -> None:
    figure = draw_torques(T, {"a.knee": T, "a.hip": -T}, 1.96)
    levels = sorted(line.get_ydata()[0] for line in figure.axes[0].lines if line.get_linestyle() == "--")
    assert levels == [-1.96, 1.96]


def test_angles_are_in_degrees_and_places_in_millimetres() -> None:
    q = np.radians(np.column_stack([30.0 * T, 10.0 * T]))
    figure = draw_angles(T, q, 2.0 * q, ["knee", "hip"], (0.01 * T, 0.02 * T))
    assert [axis.lines[1].get_ydata()[-1] for axis in figure.axes] == pytest.approx([60.0, 20.0, 20.0])
    figure = draw_roll(T, {"ours": q[:, 0]}, "knee", {"ours": q[:, 1]})
    assert [axis.lines[0].get_ydata()[-1] for axis in figure.axes] == pytest.approx([30.0, 10.0])


def test_a_polygon_is_closed_and_the_pressure_lies_in_it() -> None:
    square = np.array([[0.0, 0.0], [0.1, 0.0], [0.1, 0.1], [0.0, 0.1]])
    figure = draw_pressure({"plan": (T, 0.01 * T)}, [(0.5, square, {"plan": np.array([0.05, 0.02])})])
    axis = figure.axes[1]
    outline, point = axis.lines[0].get_xydata(), axis.lines[1].get_xydata()
    np.testing.assert_allclose(outline[0], outline[-1])
    np.testing.assert_allclose(point, [[50.0, 20.0]])


def test_only_faces_turned_to_the_viewer_are_drawn_the_nearest_last() -> None:
    x = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    outside = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    seen = draw_skin(outside, [x], [0.0]).axes[0].collections[0].get_paths()
    inside_out = draw_skin(outside[:, ::-1], [x], [0.0]).axes[0].collections[0].get_paths()
    assert len(seen) + len(inside_out) == 4
    assert len(seen) >= 1
