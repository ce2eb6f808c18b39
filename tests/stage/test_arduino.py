"""The Arduino header: compiled, run, and read back."""

from __future__ import annotations

import re
import shutil
import subprocess

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.motion import Channel, JointCurves
from bunraku.stage.arduino import export_arduino
from bunraku.stage.servos import ServoCalibration

STUB = """#pragma once
#include <stdint.h>
#define PROGMEM
static inline uint16_t pgm_read_word(const void* place) { return *(const uint16_t*)place; }
"""
MAIN = """#include <cstdio>
#include "performance.h"
#include "performance.h"
using namespace %s;
int main() {
    std::printf("%%u %%u %%.9g\\n", (unsigned)CHANNELS, (unsigned)FRAMES, RATE_HZ);
    for (uint16_t c = 0; c < CHANNELS; ++c) std::printf("%%s\\n", NAMES[c]);
    for (uint32_t k = 0; k < FRAMES; ++k)
        for (uint16_t c = 0; c < CHANNELS; ++c) std::printf("%%d %%.9g\\n", (int)raw(c, k), value(c, k));
}
"""


def run(tmp_path, header: bytes) -> tuple[list[str], np.ndarray]:
    """Compile the header against a stub of avr/pgmspace.h, strictly, and print what it holds."""
    if shutil.which("g++") is None:
        pytest.skip("no g++ to compile the header with")
    space = re.search(r"namespace (\w+) \{", header.decode()).group(1)
    (tmp_path / "avr").mkdir()
    (tmp_path / "avr" / "pgmspace.h").write_text(STUB)
    (tmp_path / "performance.h").write_bytes(header)
    (tmp_path / "main.cpp").write_text(MAIN % space)
    flags = ["-std=c++11", "-Wall", "-Wextra", "-Werror", "-Wno-unused-variable", "-pedantic", f"-I{tmp_path}"]
    subprocess.run(["g++", *flags, str(tmp_path / "main.cpp"), "-o", str(tmp_path / "main")], check=True, capture_output=True)
    lines = subprocess.run([str(tmp_path / "main")], check=True, capture_output=True, text=True).stdout.splitlines()
    channels = int(lines[0].split()[0])
    numbers = np.array([line.split() for line in lines[1 + channels :]], dtype=float)
    return lines[: 1 + channels], numbers.reshape(-1, channels, 2)


def test_compiled_values_are_the_performance_to_half_the_resolution(performance, tmp_path):
    head, numbers = run(tmp_path, export_arduino(performance))
    assert head == ["3 76 50", "HeadYaw", "Head Pitch/1", "class"]
    np.testing.assert_array_equal(numbers[..., 0], np.rint(performance.motion.values / 1e-4))
    assert np.abs(numbers[..., 1] - performance.motion.values).max() <= 0.5e-4 + 1e-6


def test_compiled_servo_positions_give_the_angles_back(performance, tmp_path):
    servo = ServoCalibration(position_min=500, position_max=2500, neutral_deg=90.0, reverse=True)
    servos = dict.fromkeys(performance.motion.names, servo.changed(id=None))
    _, numbers = run(tmp_path, export_arduino(performance, servos=servos, rate=25.0))
    values = performance.motion.values[::2]
    np.testing.assert_array_equal(numbers[..., 0], np.rint(servo.at_zero + servo.per_radian * values))
    assert np.abs(numbers[..., 1] - values).max() <= 0.5 / abs(servo.per_radian) + 1e-5


def test_hostile_names_still_compile(performance, tmp_path):
    names = ['a"b\\', "a b", "a-b", "while", "9é??/"]
    channels = tuple(Channel(name, "position", "rad", 50.0, np.full(3, 0.1 * j)) for j, name in enumerate(names))
    curves = JointCurves(tuple(names), 50.0, np.tile(0.1 * np.arange(5), (3, 1)))
    header = export_arduino(performance.changed(channels=channels, wish=curves, motion=curves, clip_name="*/ int\nmain ??/"))
    _, numbers = run(tmp_path, header)
    np.testing.assert_array_equal(numbers[0, :, 0], 1000.0 * np.arange(5))


def test_what_does_not_fit_is_refused_by_name(performance):
    torque = Channel("motor", "torque", "N·m", 50.0, np.zeros(76))
    with pytest.raises(BadInput, match="'motor' is a torque, which the arduino format cannot express"):
        export_arduino(performance.changed(channels=(*performance.channels, torque)))
    wheel = Channel("wheel", "position", "rad", 50.0, np.linspace(0.0, 40.0, 76))
    rolling = performance.changed(channels=(wheel,), wish=JointCurves(("wheel",), 50.0, wheel.values[:, None]))
    with pytest.raises(BadInput, match=r"'wheel' reaches 40 rad, beyond 16 bits .* at least 0.0012"):
        export_arduino(rolling)
    assert b"FRAMES = 76" in export_arduino(rolling, resolution=0.00125)
