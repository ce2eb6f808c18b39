"""Worst moments: when a performance comes nearest to its limits."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.character import Body, Character, Joint, Motor
from bunraku.motion import Certificate, Channel, Check, JointCurves, Performance, Provenance
from bunraku.optimization.solution import Status
from bunraku.verification.moments import WorstMoment, moment_of, violated_times, worst_moments

RATE = 100.0
T = np.arange(401) / RATE


def performance(values: np.ndarray, torque: np.ndarray | None = None, checks: tuple[Check, ...] = ()) -> Performance:
    names = ("a", "b")
    robot = Character(
        name="arm",
        bodies=(Body(name="upper", mass=1.0), Body(name="lower", mass=1.0)),
        joints=(
            Joint(name="a", kind="hinge", parent="world", child="upper", range=(-1.0, 1.0)),
            Joint(name="b", kind="hinge", parent="upper", child="lower", range=(-2.0, 2.0)),
        ),
        motors=(
            Motor(name="ma", coordinate="a", velocity=2.0, acceleration=50.0, stall_torque=2.0, no_load_speed=4.0),
            Motor(name="mb", coordinate="b", velocity=3.0),
        ),
    )
    channels = [Channel(name, "position", "rad", RATE, values[:, j]) for j, name in enumerate(names)]
    if torque is not None:
        channels.append(Channel("a", "torque", "N·m", RATE, torque))
    curves = JointCurves(names, RATE, values)
    promised = Certificate(Status.CONVERGED, checks)
    return Performance(robot, "clip", tuple(channels), curves, curves, promised, Provenance("test", {}, {}, {}))


def by_name(made: Performance) -> dict[str, WorstMoment]:
    return {moment.name: moment for moment in worst_moments(made)}


def test_range_velocity_and_acceleration_are_worst_where_they_are():
    step = 0.4 * np.exp(-(((T - 2.0) / 0.3) ** 2))
    moments = by_name(performance(np.column_stack([step, np.zeros(401)])))
    assert set(moments) == {"range margin", "velocity", "acceleration"}
    assert moments["range margin"].time == pytest.approx(2.0)
    assert moments["range margin"].value == pytest.approx(0.6)
    steepest = 0.3 / np.sqrt(2.0)
    assert abs(moments["velocity"].time - 2.0) == pytest.approx(steepest, abs=0.01)
    assert moments["velocity"].value == pytest.approx(0.4 * np.sqrt(2.0 / np.e) / 0.3, rel=1e-3)
    assert moments["acceleration"].time == pytest.approx(2.0, abs=0.011)
    assert moments["acceleration"].value == pytest.approx(2.0 * 0.4 / 0.09, rel=1e-2)
    assert all(moment.holds for moment in moments.values())


def test_what_is_worst_is_worst_against_its_own_limit():
    values = np.column_stack([0.5 * T, -0.6 * T])
    moments = by_name(performance(values))
    assert moments["velocity"].what == "ma".removeprefix("m")
    assert moments["velocity"].value == pytest.approx(0.5)
    assert moments["range margin"].what == "a"
    assert moments["range margin"].value == pytest.approx(-1.0)
    assert not moments["range margin"].holds


def test_torque_counts_against_the_line_only_when_it_drives():
    values = np.column_stack([np.sin(T), np.zeros(401)])
    drives = by_name(performance(values, 0.8 * np.cos(T)))["peak torque"]
    brakes = by_name(performance(values, -0.8 * np.cos(T)))["peak torque"]
    assert drives.value == pytest.approx(0.4 + 0.25, rel=1e-3)
    assert brakes.value == pytest.approx(0.4, rel=1e-3)
    assert drives.what == "ma"


def test_times_in_the_words_of_the_certificate_are_taken_over_once():
    checks = (
        Check("least tension", 0.15, "N", 0.1, at_least=True, note="left wrist at 0.99 s"),
        Check("velocity excess", 1.0, "rad/s", 1e-9, note="a at 1.000 s"),
        Check("largest residual", 1e-8, "N", 1e-6, note="newton [N]"),
        Check("late", 1.0, "", 0.0, note="x at 99.0 s"),
    )
    moments = by_name(performance(np.zeros((401, 2)), checks=checks))
    assert moments["least tension"] == WorstMoment("least tension", "left wrist", 0.99, 0.15, "N", 0.1, at_least=True)
    assert "velocity excess" not in moments
    assert "largest residual" not in moments
    assert "late" not in moments


@pytest.mark.parametrize(
    ("note", "time"),
    [
        ("LKnee at 1.230 s", 1.23),
        ("at worst 1.9 cm at 4.90 s", 4.9),
        ("shoulder at 2 s, -1.27 N·m", 2.0),
        ("lifts at 0.3", None),
        ("", None),
        ("whats at 3 sides", None),
    ],
)
def test_a_note_says_when(note, time):
    assert moment_of(Check("x", 1.0, note=note)) == time


def test_every_stretch_of_excess_is_marked_once():
    values = np.zeros((401, 2))
    values[100:151, 0] = 1.5
    values[300:311, 0] = -1.5
    marks = violated_times(performance(values, checks=(Check("fell", 1.0, "", 0.0, note="it fell at 3.500 s"),)))
    ranges = [time for time, said in marks if said == "range of a"]
    assert ranges == pytest.approx([1.25, 3.05])
    speeds = [time for time, said in marks if said == "velocity of a"]
    assert speeds == pytest.approx([0.995, 1.505, 2.995, 3.105])
    assert (3.5, "fell") in marks
    assert list(marks) == sorted(marks)
    assert violated_times(performance(np.zeros((401, 2)))) == ()
