"""The Arduino sketch: compiled against a stub of Servo.h and run; its pulses and their times are those of the performance."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.motion import Channel, JointCurves
from bunraku.stage.arduino_sketch import export_arduino_sketch
from bunraku.stage.blender_servo import export_blender_servo_bin, export_blender_servo_h

STUB = Path(__file__).parent / "arduino_stub"
FLAGS = ["-std=c++11", "-Wall", "-Wextra", "-Werror", "-pedantic"]


def compiled(folder: Path, sketch: bytes) -> Path:
    if shutil.which("g++") is None:
        pytest.skip("NO G++: THE ARDUINO SKETCH IS NOT TESTED HERE; install g++")
    (folder / "sketch.ino").write_bytes(sketch)
    words = ["g++", *FLAGS, f"-I{folder}", f"-I{STUB}", str(STUB / "player.cpp"), "-o", str(folder / "player")]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / "player"


def run(player: Path, *, start: int = 0, loop: int = 50, write: int = 3, end: int = 4_000_000) -> tuple[dict, dict, int]:
    """Attached pulses by pin, pulses (time since the start [us], pulse) by pin after the start, when the start was."""
    said = subprocess.run([str(player), *map(str, (start, loop, write, end))], check=True, capture_output=True, text=True).stdout
    attached, pulses, begun = {}, {}, None
    for line in said.splitlines():
        word, *numbers = line.split()
        if word == "start":
            begun = int(numbers[0])
        elif word == "attach":
            attached[int(numbers[0])] = int(numbers[1])
        elif begun is not None:
            pulses.setdefault(int(numbers[0]), []).append((int(numbers[2]) - begun, int(numbers[1])))
    return attached, {pin: np.array(rows) for pin, rows in pulses.items()}, begun


def expected(values: np.ndarray) -> np.ndarray:
    """Pulses [us] by Servo.h's own line, 544 at 0 and 2400 at 180 degrees, 90 degrees at home, turned like the add-on's."""
    return np.rint(544.0 + (90.0 - np.degrees(values)) / 180.0 * (2400.0 - 544.0))


def test_pulses_and_times_are_those_of_the_performance(performance, tmp_path):
    player = compiled(tmp_path, export_arduino_sketch(performance, settle_s=0.5))
    attached, pulses, begun = run(player)
    wanted = expected(performance.motion.values)
    assert list(attached) == list(pulses) == [2, 3, 4]
    assert begun >= 500_000
    for j, pin in enumerate((2, 3, 4)):
        assert attached[pin] == wanted[0, j], "a servo starts in the first pose, not in the middle"
        assert len(pulses[pin]) == 76
        np.testing.assert_array_equal(pulses[pin][:, 1], wanted[:, j])
        late = pulses[pin][:, 0] - np.arange(76) * 20_000
        assert late.min() >= 0
        assert late.max() <= 50 + 3 * 3


def test_the_clock_of_the_board_may_run_over(performance, tmp_path):
    player = compiled(tmp_path, export_arduino_sketch(performance, settle_s=0.0))
    plain = run(player)[1]
    over = run(player, start=2**32 - 700_000)[1]
    for pin, rows in plain.items():
        np.testing.assert_array_equal(over[pin], rows)


def test_a_rate_that_is_no_whole_number_of_microseconds_does_not_drift(performance, tmp_path):
    rate, frames = 120.0, 1201
    values = 0.5 * np.sin(np.arange(frames) / 50.0)
    curves = JointCurves(("HeadYaw",), rate, values[:, None])
    long = performance.changed(
        channels=(Channel("HeadYaw", "position", "rad", rate, values),), wish=curves, motion=_whole(performance, rate, frames)
    )
    _, pulses, _ = run(compiled(tmp_path, export_arduino_sketch(long, settle_s=0.0)), loop=7, write=0, end=10_100_000)
    late = pulses[2][:, 0] - np.floor(np.arange(frames) * 1e6 / rate)
    assert len(late) == frames
    assert late.min() >= 0
    assert late.max() <= 7


def _whole(performance, rate, frames):
    return JointCurves(performance.motion.names, rate, np.zeros((frames, 3)))


def test_a_slow_loop_plays_the_newest_frame_that_is_due(performance, tmp_path):
    player = compiled(tmp_path, export_arduino_sketch(performance, settle_s=0.0))
    _, pulses, _ = run(player, loop=47_000, write=0)
    wanted = expected(performance.motion.values)
    assert len(pulses[2]) < 40
    for time, pulse in pulses[2]:
        assert pulse == wanted[min(int(time // 20_000), 75), 0]
    assert pulses[2][-1, 1] == wanted[-1, 0]


def test_repeating_goes_on_at_the_same_pace(performance, tmp_path):
    _, pulses, _ = run(compiled(tmp_path, export_arduino_sketch(performance, settle_s=0.0, repeat=True)), end=3_600_000)
    wanted = expected(performance.motion.values)[:, 0]
    times = pulses[2][:, 0]
    assert len(times) > 160
    np.testing.assert_array_equal(pulses[2][:, 1], wanted[np.arange(len(times)) % 76])
    assert np.abs(times - np.arange(len(times)) * 20_000).max() <= 60


def test_pins_and_wide_pulses_come_from_the_calibration(performance, tmp_path):
    wide = {"HeadYaw": {"id": 9, "position_min": 400, "position_max": 2600, "range_deg": 180.0}}
    _, pulses, _ = run(compiled(tmp_path, export_arduino_sketch(performance, servos=wide, rate=25.0)))
    values = performance.motion.values[::2]
    assert sorted(pulses) == [3, 4, 9]
    np.testing.assert_array_equal(pulses[9][:, 1], np.rint(400 + (90 - np.degrees(values[:, 0])) / 180 * 2200))
    np.testing.assert_array_equal(pulses[4][:, 1], expected(values[:, 2]))


def test_the_header_of_the_addon_compiles_and_its_bytes_are_the_binary_file(performance, tmp_path):
    header = export_blender_servo_h(performance.changed(clip_name='9 */ ??/\n"lives"'), namespace=True)
    found = f"_9{'_' * 9}lives_"
    assert f"\nnamespace {found} {{\n" in header.decode()
    show = (
        f'#include "sketch.h"\nvoid setup() {{ for (int i = 0; i < {found}::LENGTH; ++i) '
        f'printf("%02x", pgm_read_byte({found}::ANIMATION_DATA + i)); printf("\\n%d %d\\n", {found}::FPS, {found}::FRAMES); }}\n'
        "void loop() {}\n"
    )
    (tmp_path / "sketch.h").write_bytes(header)
    player = compiled(tmp_path, show.encode())
    said = subprocess.run([str(player), "0", "1000", "0", "1"], check=True, capture_output=True, text=True).stdout.splitlines()
    assert bytes.fromhex(said[0]) == export_blender_servo_bin(performance)
    assert said[1] == "50 76"


def test_hostile_names_still_compile(performance, tmp_path):
    names = ['a"b\\', "a b", "while", "9é??/", "*/ int main\n#error"]
    channels = tuple(Channel(name, "position", "rad", 50.0, np.full(3, 0.1 * j)) for j, name in enumerate(names))
    curves = JointCurves(tuple(names), 50.0, np.tile(0.1 * np.arange(5), (3, 1)))
    hostile = performance.changed(channels=channels, wish=curves, motion=curves, clip_name="\\\n*/ int\nmain ??/")
    _, pulses, _ = run(compiled(tmp_path, export_arduino_sketch(hostile)))
    assert [int(rows[0, 1]) for rows in pulses.values()] == expected(0.1 * np.arange(5)).tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"servos": {"HeadYaw": {"position_max": 3000}}},
            "'HeadYaw' takes pulses of 544 to 3000; Servo.h makes .* 36 to 2908",
        ),
        ({"servos": {"Nose": {}}}, "'Nose', which is no channel"),
        ({"servos": {"HeadYaw": {"id": 3}}}, "share the servo id 3"),
        ({"servos": 5}, "servos is '5'"),
        ({"rate": 7.0}, "7 Hz does not divide"),
        ({"first_pin": -1}, "first pin of -1"),
    ],
)
def test_what_cannot_be_played_is_refused(performance, options, message):
    with pytest.raises(BadInput, match=message) as caught:
        export_arduino_sketch(performance, **options)
    assert "\n" not in str(caught.value)
