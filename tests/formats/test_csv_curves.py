"""CSV: units, times, separators, exact round trips."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku.errors import BadInput
from bunraku.formats.csv_curves import csv_bytes, csv_notes, read_csv
from bunraku.motion import JointCurves


def curves(data: bytes, rate: float | None = None) -> JointCurves:
    joints = read_csv(data, file="f.csv", rate=rate).joints
    assert joints is not None
    return joints


def test_units_in_headers() -> None:
    joints = curves(b"HeadYaw_deg,Slide_mm,HeadPitch\n180,250,0.5\n-90,0,1\n")
    assert joints.names == ("HeadYaw", "Slide", "HeadPitch")
    np.testing.assert_allclose(joints.values, [[pi, 0.25, 0.5], [-pi / 2, 0.0, 1.0]], rtol=1e-15)
    assert joints.rate == 25.0


def test_where_the_rate_comes_from() -> None:
    assert curves(b"a\n1\n2\n").rate == 25.0
    assert curves(b"a\n1\n2\n", rate=40.0).rate == 40.0
    assert curves(b"# rate_hz: 100\na\n1\n2\n", rate=40.0).rate == 100.0
    assert curves(b"time,a\n5.00,1\n5.02,2\n5.04,3\n", rate=40.0).rate == 50.0
    assert curves(b"a,time_ms\n1,0\n2,8.3333\n3,16.6667\n").rate == 120.0
    assert curves(b"t,a\n0,1\n").rate == 25.0
    with pytest.raises(BadInput, match="rate of 0"):
        curves(b"# rate_hz: 0\na\n1\n2\n")


def test_what_was_assumed_is_said() -> None:
    bare = read_csv(b"a\n1\n2\n", file="f.csv")
    (note,) = csv_notes(bare)
    assert "25 Hz is assumed" in note
    assert "time_s" in note
    assert "25 Hz is assumed" in bare.source
    assert "uneven" in csv_notes(read_csv(b"t,a\n0,1\n1,2\n5,3\n", file="f.csv"))[0]
    for data, rate in ((b"t,a\n0,1\n", None), (b"# rate_hz: 25\na\n1\n", None), (b"a\n1\n", 40.0)):
        assert csv_notes(read_csv(data, file="f.csv", rate=rate)) == ()
    assert csv_notes(bare.changed(source="elsewhere")) == ()


@pytest.mark.parametrize(
    ("times", "poses", "said"),
    [
        ((0.0, 1.0, 1.3, 1.6, 1.9, 3.0), (30.0, 60.0, 20.0, 60.0, 20.0, 30.0), "uneven"),
        ((2.0, 2.5, 2.9, 3.3, 3.7, 5.0), (0.0, 60.0, -60.0, 60.0, -60.0, 0.0), "uneven"),
        ((0.0, 1.0, 2.0, 3.0, 4.0, 5.0), (0.0, 0.0, 50.0, 50.0, -38.0, 0.0), "fewer than 10"),
    ],
)
def test_keyframes_are_met_and_nothing_goes_beyond_them(times: Any, poses: Any, said: str) -> None:
    table = "\n".join(["t,a_deg", *(f"{t},{a}" for t, a in zip(times, poses, strict=True))])
    clip = read_csv(table.encode(), file="f.csv")
    assert clip.joints is not None
    assert said in clip.source
    assert clip.joints.duration == pytest.approx(times[-1] - times[0])
    curve = np.degrees(clip.joints.values[:, 0])
    met = np.interp(np.array(times) - times[0], clip.joints.times, curve)
    np.testing.assert_allclose(met, poses, atol=0.6)
    assert curve.min() >= min(poses) - 1e-9
    assert curve.max() <= max(poses) + 1e-9
    still = curve[(clip.joints.times < 1.0) | (clip.joints.times > 99.0)]
    if said != "uneven":
        assert np.ptp(still) < 1e-9, "between two equal poses nothing moves"


@pytest.mark.parametrize(
    "data",
    [
        b"time_s;a;b\r\n0,0;1,5;-2\r\n0,5;2,5;3\r\n",
        b"time_s\ta\tb\n0.0\t1.5\t-2\n0.5\t2.5\t3\n",
        b'# a comment\n"time_s", "a" ,"b"\n\n0.0, 1.5, -2\n# another\n0.5, 25e-1, "3"',
        b"\xef\xbb\xbftime_s,a,b,\n0,1.5,-2,\n.5,2.5,3,\n",
        b"time_s,a,b\r0,1.5,-2\r0.5,2.5,3\r",
    ],
)
def test_dialects_mean_the_same(data: bytes) -> None:
    joints = curves(data)
    assert (joints.names, joints.rate) == (("a", "b"), 2.0)
    np.testing.assert_array_equal(joints.values, [[1.5, -2.0], [2.5, 3.0]])


@given(st.lists(st.lists(st.floats(-1e9, 1e9), min_size=2, max_size=2), min_size=1, max_size=20), st.floats(0.5, 1000.0))
@settings(max_examples=100, deadline=None)
def test_writing_and_reading_gives_back_every_bit(values: list[list[float]], rate: float) -> None:
    joints = JointCurves(("left.x", "right arm"), rate, np.array(values))
    back = curves(csv_bytes(joints))
    assert (back.names, back.rate) == (joints.names, rate)
    np.testing.assert_array_equal(back.values, joints.values)


def test_names_that_would_be_misread_are_not_written() -> None:
    for name in ("x_deg", "a,b", "#a", " a"):
        with pytest.raises(BadInput, match="column"):
            csv_bytes(JointCurves((name,), 10.0, np.zeros((1, 1))))


@pytest.mark.parametrize(
    ("data", "said", "place"),
    [
        (b"", "no line", "line 1"),
        (b"1,2\n3,4\n", "name the coordinate", "line 1"),
        (b"a,b\n", "no sample", "line 1"),
        (b"a,b\n1,2\n3\n", "1 cells where the header has 2", "line 3"),
        (b"a,b\n1,2\n3,x\n", "'x'", "line 3, column 2"),
        (b"a,b\n1,2\n3,nan\n", "not finite", "line 3"),
        (b"a,a\n1,2\n", "twice", "line 1"),
        (b"t,a\n0,1\n1,2\n0.5,3\n", "does not rise", "line 4"),
        (b"t,a\n0,1\n1e-9,2\n2e-9,3\n1e9,4\n", "too uneven", "line 5"),
        (b"t\n1\n", "coordinate", "line 1"),
        (b"a\n\xff\n", "UTF-8", "line 2"),
    ],
)
def test_refusals_name_the_place(data: bytes, said: str, place: str) -> None:
    with pytest.raises(BadInput, match=said) as caught:
        read_csv(data, file="f.csv")
    assert (caught.value.file, caught.value.place) == ("f.csv", place)
