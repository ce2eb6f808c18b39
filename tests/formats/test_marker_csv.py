import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.formats.marker_csv import read_marker


def table(header, rows=30, comment="", separator=",", row=lambda k: (k / 60, k, 2 * k)):
    lines = [separator.join(f"{value:.6f}" for value in row(k)) for k in range(rows)]
    return (comment + header + "\n" + "\n".join(lines) + "\n").encode()


@pytest.mark.parametrize(("unit", "factor"), [("m", 1.0), ("cm", 0.01), ("mm", 1e-3), ("in", 0.0254)])
def test_units_are_endings_of_names(unit, factor):
    record = read_marker(table(f"time_s,tip_x_{unit},tip_y_{unit}"), file="a.csv")
    assert record.scaled
    assert record.rate == pytest.approx(60.0, rel=1e-3)
    np.testing.assert_allclose(record.points, factor * np.outer(np.arange(30), [1.0, 2.0]), atol=1e-12)


def test_pixels_have_a_scale_or_none():
    bare = read_marker(table("t,x_px,y_px"), file="a.csv")
    assert not bare.scaled
    assert bare.points[3, 1] == 6.0
    for known in (
        read_marker(table("t,x_px,y_px"), file="a.csv", mm_per_px=0.5),
        read_marker(table("t,x_px,y_px", comment="# mm_per_px: 0.5\n"), file="a.csv"),
    ):
        assert known.scaled
        assert known.points[3, 1] == pytest.approx(3e-3)


def test_frames_and_counted_lines_take_the_rate():
    by_frame = read_marker(table("Frame;Y;X", separator=";", row=lambda k: (10 + 2 * k, k, 3 * k)), file="a", unit="mm", rate=120.0)
    np.testing.assert_allclose(by_frame.times[:2], [10 / 120, 12 / 120])
    assert by_frame.points[1, 0] == pytest.approx(3e-3)
    counted = read_marker(table("x_mm,y_mm,z_mm", comment="# rate_hz: 50\n"), file="a")
    assert counted.times[5] == pytest.approx(0.1)
    assert counted.dimensions == 3


def test_hidden_samples_are_left_out_and_decimal_commas_read():
    text = "time_ms\tx_mm\ty_mm\n" + "\n".join(f"{20 * k}\t{k},5\t{'' if k == 4 else 'nan' if k == 7 else k}" for k in range(30))
    record = read_marker(text.encode(), file="a.csv")
    assert len(record.times) == 28
    assert record.points[4, 0] == pytest.approx(5.5e-3)
    assert record.times[4] == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "holds no sample"),
        (table("time_s,speed,force"), "two or three of x_mm"),
        (table("time_s,x,y"), "gives no unit"),
        (table("time_s,x_mm,y_cm"), "mixes units"),
        (table("time_s,a_x_mm,b_x_mm"), "two columns for x"),
        (table("x_mm,y_mm,z_mm"), "no column time_s"),
        (table("time_s,x_mm,y_mm", rows=6), "seen 6 times"),
        (table("time_s,x_mm,y_mm", row=lambda k: (-k, k, k)), "a.csv, line 3: time does not rise"),
        (table("time_s,x_mm,y_mm") + b"1,2\n", "has 2 cells"),
        (table("time_s,x_mm,y_mm") + b"9,two,3\n", "'two' stands where a number"),
        (table("time_s,x_mm,y_mm") + b"9,inf,3\n", "not finite"),
        (table("time_s,x_px,y_px", comment="# mm_per_px: -1\n"), "positive number"),
    ],
)
def test_bad_tables_are_named_in_one_line(data, words):
    with pytest.raises(BadInput) as caught:
        read_marker(data, file="a.csv")
    assert words in str(caught.value)
    assert "a.csv" in str(caught.value)
    assert "\n" not in str(caught.value)
