"""Numbers for plots: few points, no peak lost, no empty series."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.character import Body, Character, DependentRange, Joint, Motor
from bunraku.motion import Certificate, Channel, JointCurves, Performance, Provenance
from bunraku.optimization.solution import Status
from bunraku.studio.widgets.plots import MOST_POINTS, convergence, errors, motor_names, motors
from bunraku.verification.body_errors import body_errors

RATE, N = 100.0, 6001
T = np.arange(N) / RATE


def performance() -> Performance:
    """Two hinges of arms of 0.5 m; the second is never quite where it was wished, for one sample by far."""
    robot = Character(
        name="arm",
        bodies=(Body(name="upper", mass=1.0), Body(name="lower", mass=1.0)),
        joints=(
            Joint(name="a", kind="hinge", parent="world", child="upper", range=(-1.0, 1.0)),
            Joint(name="b", kind="hinge", parent="upper", child="lower", pose={"position": (0.5, 0.0, 0.0)}),
        ),
        motors=(Motor(name="ma", coordinate="a", range=(-0.8, 2.0)), Motor(name="mb", coordinate="b")),
        frames=({"name": "tip", "body": "lower", "pose": {"position": (0.5, 0.0, 0.0)}},),
        dependent_ranges=(DependentRange(coordinate="a", on="b", knots=((-1.0, -0.7, 0.7), (1.0, -0.5, 0.5))),),
    )
    wish = np.column_stack([0.4 * np.sin(T), 0.3 * np.cos(T)])
    done = wish.copy()
    done[:, 1] *= 0.9
    done[4321, 1] = 0.9
    names = ("a", "b")
    curves = JointCurves(names, RATE, done)
    return Performance(
        robot,
        "clip",
        tuple(Channel(name, "position", "rad", RATE, done[:, j]) for j, name in enumerate(names)),
        JointCurves(names, RATE, wish),
        curves,
        Certificate(Status.CONVERGED, ()),
        Provenance("test", {}, {}, {}),
    )


def test_motors_show_wish_and_performance_with_their_limits():
    plot = motors(performance(), ("a", "b"))
    roles = {(one.belongs, one.role) for one in plot.series}
    assert roles == {("a", "before"), ("a", "after"), ("a", "lower"), ("a", "upper"), ("b", "before"), ("b", "after")}
    assert len(plot.x) <= MOST_POINTS
    assert all(len(one) == len(plot.x) for one in plot.arrays)
    assert all(np.isfinite(one.values).any() for one in plot.series)
    assert (np.diff(plot.x) >= 0.0).all()
    assert plot.unit == "rad"


def test_a_peak_of_one_sample_is_seen():
    after = next(one for one in motors(performance(), ("b",)).series if one.role == "after")
    assert after.values.max() == 0.9


def test_limits_that_depend_on_another_joint_follow_it():
    plot = motors(performance(), ("a",))
    upper = next(one.values for one in plot.series if one.role == "upper")
    b = np.interp(plot.x, T, performance().positions().column("b"))
    away = np.abs(plot.x - 43.21) > 0.5
    np.testing.assert_allclose(upper[away], (0.6 - 0.1 * b)[away], atol=0.01)


def test_the_motors_that_differ_most_come_first():
    assert motor_names(performance(), 1) == ("b",)
    assert {one.belongs for one in motors(performance()).series} == {"a", "b"}


def test_errors_are_distances_of_the_tracked_frames():
    plot = errors(body_errors(performance()))
    (tip,) = plot.series
    assert (tip.belongs, tip.role) == ("tip", "after")
    apart = 2.0 * 0.5 * np.sin(0.5 * abs(0.9 - 0.3 * np.cos(43.21)))
    assert tip.values.max() == pytest.approx(apart, rel=1e-9)
    assert "wished pose" in plot.note
    assert errors(body_errors(performance()), ("nose",)).series == ()


def test_convergence_shows_what_was_reported_more_than_once():
    history = [{"cost": 10.0 / (k + 1), "step": float("nan"), **({"once": 1.0} if k == 3 else {})} for k in range(4000)]
    plot = convergence(history)
    assert [one.label for one in plot.series] == ["cost"]
    assert len(plot.x) <= MOST_POINTS
    assert (plot.series[0].values[0], plot.series[0].values[-1]) == (10.0, 10.0 / 4000)
    assert convergence([]).series == ()
    late = convergence([{}, {"cost": 3.0}, {"other": 1.0}, {"cost": float("nan")}, {"cost": 2.0}, {"told": 1.0}])
    np.testing.assert_array_equal(late.series[0].values, [3.0, 3.0, 3.0, 3.0, 2.0, 2.0])
    assert "nothing to plot" in convergence([{"cost": float("inf")}]).note
