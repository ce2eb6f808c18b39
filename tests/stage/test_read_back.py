"""Every exporter's file, read back by a reader that shares no code with it, gives the performance to one count of its resolution.

Over real performances: a robot that speaks, a marionette on strings, skates that swizzle, a car on driven wheels, a rod that bends.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.stage.registry import exporters

PERFORMANCES = ("nao", "marionette", "swizzlebot", "car", "one-rod")
ANGLES_ONLY = ("blender-servo", "blender-servo-h", "blender-servo-bin", "naoqi", "arduino-sketch")
REFUSED = {
    **{(form, "marionette"): r"channel '\w+\.(x|y|length)' is (a length|in m)" for form in ANGLES_ONLY},
    **{("naoqi", name): "is no joint of NAO or Pepper" for name in ("swizzlebot", "one-rod")},
    **{(form, "car"): "is a velocity, which the .* format cannot express" for form in (*ANGLES_ONLY, "arduino")},
}
"""What cannot be told in a format, and how it says so."""
TORQUES = ("csv", "json", "mcap", "gltf")
"""The formats that hold torques which are the proof, not the command."""
LATE = {"arduino-sketch": 21e-6}
"""Times are right to a microsecond, those of a sketch to one loop of 20 microseconds [s]."""


def test_every_exporter_has_a_reader(readers):
    assert list(readers.READERS) == list(exporters())


@pytest.mark.parametrize("name", PERFORMANCES)
@pytest.mark.parametrize("form", list(exporters()))
def test_what_is_read_back_is_the_performance(form, name, real, readers, tmp_path):
    performance = real(name)
    function, options = exporters()[form].function, readers.options(form, performance)
    if (form, name) in REFUSED:
        with pytest.raises(BadInput, match=REFUSED[form, name]):
            function(performance, **options)
        return
    found = readers.READERS[form](function(performance, **options), performance, tmp_path)
    wanted = {(c.name, c.kind): c.values for c in performance.channels if c.kind != "torque" or form in TORQUES}
    if form == "gltf":  # it shows the plan, not the commands
        wanted |= {key: performance.motion.column(key[0]) for key in wanted if key[1] == "position"}
    assert set(found) == set(wanted)
    for key, (times, values, count) in found.items():
        frames = np.rint(times * performance.rate).astype(int)
        np.testing.assert_allclose(times, frames / performance.rate, rtol=0, atol=LATE.get(form, 1.1e-6), err_msg=str(key))
        steps = set(np.diff(frames).tolist())
        assert frames[0] == 0
        assert len(steps) == 1
        assert frames[-1] + steps.pop() > len(wanted[key]) - 1
        assert np.abs(values - wanted[key][frames]).max() <= 0.5 * count + 1e-9 * (count > 0.0), key


def test_a_wrong_sign_would_be_seen(readers, performance, tmp_path):
    """The comparison itself can fail."""
    turned = performance.changed(channels=tuple(_negated(channel) for channel in performance.channels))
    for form, read in readers.READERS.items():
        if form == "naoqi":  # these are no joints of its robots
            continue
        options = readers.options(form, performance)
        for _, (times, values, count) in read(exporters()[form].function(turned, **options), performance, tmp_path).items():
            if form != "gltf":  # it shows the motion, which was not turned
                frames = np.rint(times * performance.rate).astype(int)
                best = min(np.abs(values - c.values[frames]).max() for c in performance.channels)
                assert best > count, form


def _negated(channel):
    return replace(channel, values=-channel.values)
