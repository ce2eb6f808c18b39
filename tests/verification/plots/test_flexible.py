"""The pictures show the numbers they are of."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from bunraku.motion import Channel, JointCurves
from bunraku.verification.flexible.judge import judged_again
from bunraku.verification.plots.flexible import cost_history, draw_cost, draw_errors, draw_frames, draw_profiles


@pytest.fixture(scope="module")
def judged(quiet_turn):
    return judged_again(quiet_turn)[1]


@pytest.fixture(autouse=True)
def closed():
    from matplotlib import pyplot

    yield
    pyplot.close("all")


def lines(axis) -> dict[str, np.ndarray]:
    return {line.get_label(): np.asarray(line.get_ydata()) for line in axis.get_lines()}


def test_frames_in_centimetres_along_the_axis_that_moves(judged) -> None:
    """The rod turns about y: x moves by centimetres, z by a millimetre, y not at all."""
    (axis,) = draw_frames(judged).axes
    assert axis.get_ylabel() == "tip x [cm]"
    drawn = lines(axis)
    for label, path in (("target", judged.targets), ("before", judged.before.seen), ("after", judged.after.seen)):
        np.testing.assert_array_equal(drawn[label], 100 * path.positions[:, 0, 0])
    only = dataclasses.replace(judged, before=None)
    assert set(lines(draw_frames(only).axes[0])) == {"target", "after"}


def test_errors_in_millimetres_with_their_peaks(judged) -> None:
    (axis,) = draw_errors(judged).axes
    drawn = lines(axis)
    for label, error in (("before", judged.before), ("after", judged.after)):
        (words,) = [name for name in drawn if name.startswith(label)]
        np.testing.assert_array_equal(drawn[words], 1e3 * error.distance[:, 0])
        assert words == f"{label}: peak {1e3 * error.peak:.1f} mm, RMS {1e3 * error.rms:.2f} mm"
    assert axis.get_ylim()[0] == 0.0
    assert len(lines(draw_errors(dataclasses.replace(judged, before=None)).axes[0])) == 1


def test_motors_in_degrees(quiet_turn) -> None:
    (axis,) = draw_profiles(quiet_turn).axes
    assert axis.get_ylabel() == "shoulder [deg]"
    drawn = lines(axis)
    np.testing.assert_allclose(drawn["wish"], np.degrees(quiet_turn.wish.values[:, 0]), rtol=1e-14)
    np.testing.assert_allclose(drawn["played"], np.degrees(quiet_turn.channels[0].values), rtol=1e-14)


def test_many_motors_stand_in_two_columns(quiet_turn) -> None:
    names = tuple(f"m{i}" for i in range(5))
    wish = JointCurves(names, 100.0, np.arange(50.0).reshape(10, 5))
    channels = tuple(Channel(name, "position", "rad", 100.0, wish.column(name) + 1.0) for name in names)
    motion = JointCurves((*names,), 100.0, wish.values)
    character = quiet_turn.character
    joints = tuple(character.joints[0].changed(name=name, child=f"b{i}", range=None) for i, name in enumerate(names))
    bodies = tuple(character.bodies[0].changed(name=f"b{i}") for i in range(5))
    motors = tuple(character.motors[0].changed(name=name, coordinate=name) for name in names)
    many = character.changed(bodies=bodies, joints=joints, motors=motors, materials=(), flexibles=())
    figure = draw_profiles(quiet_turn.changed(character=many, channels=channels, wish=wish, motion=motion, phrases=()))
    shown = [axis.get_ylabel() for axis in figure.axes if axis.axison]
    assert sorted(shown) == [f"{name} [deg]" for name in names]


def test_the_objective_by_iteration(quiet_turn) -> None:
    assert cost_history(quiet_turn) == []
    figures = {**quiet_turn.certificate.figures, "cost 0": 3.0, "cost 1": 1.0, "cost 2": 0.5, "cost 4": 9.0}
    told = quiet_turn.changed(certificate=dataclasses.replace(quiet_turn.certificate, figures=figures))
    assert cost_history(told) == [3.0, 1.0, 0.5]
    (axis,) = draw_cost(cost_history(told)).axes
    (line,) = axis.get_lines()
    assert list(line.get_xdata()) == [0, 1, 2]
    assert list(line.get_ydata()) == [3.0, 1.0, 0.5]
    assert axis.get_yscale() == "log"
