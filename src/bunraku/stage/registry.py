"""The export formats by name.

To add one: a function from a performance and keyword options to bytes, one that reads them back, and a line here.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bunraku.errors import BadInput
from bunraku.formats.atomic import write_atomically
from bunraku.formats.files import read_bytes
from bunraku.formats.places import located
from bunraku.motion import Performance
from bunraku.stage.readers.exported import Exported, Reading


@dataclass(frozen=True)
class Exporter:
    """One format: its name, the ending of its files, what it is, and the module of this room with its function ``export_NAME``.

    ``reader``: the module of ``readers`` with its function ``read_NAME``; none where a file holds no commands.
    """

    name: str
    suffix: str
    meaning: str
    module: str
    reader: str = ""

    @property
    def function(self) -> Callable[..., bytes]:
        """The function that makes the bytes, imported when asked for."""
        module = importlib.import_module(f"bunraku.stage.{self.module}")
        function: Callable[..., bytes] = getattr(module, f"export_{self.name.replace('-', '_')}")
        return function

    @property
    def read(self) -> Callable[..., Exported]:
        """The function that reads the bytes back, imported when asked for."""
        if not self.reader:
            known = ", ".join(name for name, one in exporters().items() if one.reader)
            raise BadInput(f"the {self.name} format holds a motion and no commands; export one of {known}")
        module = importlib.import_module(f"bunraku.stage.readers.{self.reader}")
        function: Callable[..., Exported] = getattr(module, f"read_{self.name.replace('-', '_')}")
        return function

    @property
    def options(self) -> tuple[str, ...]:
        """The names of the options that the function takes."""
        return tuple(name for name, one in inspect.signature(self.function).parameters.items() if one.kind is one.KEYWORD_ONLY)


_EXPORTERS = (
    Exporter("csv", ".csv", "a table: time and one column a channel", "csv_export", "tables"),
    Exporter("json", ".json", "channels, marks, certificate, provenance", "json_export", "tables"),
    Exporter(
        "blender-servo", ".servo.json", "integer servo positions, as blender-servo-animation writes them", "blender_servo", "servos"
    ),
    Exporter("blender-servo-h", ".servo.h", "its Arduino header, for its Arduino library", "blender_servo", "servos"),
    Exporter("blender-servo-bin", ".servo.bin", "its binary file, for an SD card or a serial line", "blender_servo", "servos"),
    Exporter("ros", ".ros.json", "ROS JointTrajectory as JSON, with velocities", "ros", "ros"),
    Exporter("mcap", ".mcap", "log for ROS 2 and Foxglove: JointState and the voice", "mcap_export", "mcap"),
    Exporter("naoqi", ".naoqi.py", "Python script for NAO and Pepper: angleInterpolation", "naoqi", "naoqi"),
    Exporter("gltf", ".glb", "the motion as an animation, for Blender and others", "gltf_export"),
    Exporter("artnet", ".artnet.pcap", "DMX over Art-Net, 16 bits a channel, with times", "artnet", "artnet"),
    Exporter("arduino", ".h", "C++ header with 16-bit arrays in program memory", "arduino", "servos"),
    Exporter("arduino-sketch", ".ino", "sketch that plays with Servo.h, in one file", "arduino_sketch", "servos"),
)


def exporters() -> dict[str, Exporter]:
    """All formats, by name."""
    return {exporter.name: exporter for exporter in _EXPORTERS}


def format_of(path: Path) -> str:
    """The format whose suffix the file's name has."""
    names = [name for name, exporter in exporters().items() if path.name.lower().endswith(exporter.suffix)]
    if not names:
        raise BadInput(f"the name fits no format; give one of {', '.join(exporters())}", file=str(path))
    return max(names, key=lambda name: len(exporters()[name].suffix))


def read_exported(path: str | Path, reading: Reading) -> Exported:
    """The channels of an exported file, by its name's ending."""
    with located(str(path)):
        return exporters()[format_of(Path(path))].read(read_bytes(path), file=str(path), reading=reading)


def export(performance: Performance, format: str, path: str | Path, **options: Any) -> Path:
    """Write a performance to ``path`` in a format, whole or not at all; returns the path. ``options`` are the format's own."""
    known = exporters()
    if format not in known:
        raise BadInput(f"there is no export format {format!r}; there are {', '.join(known)}")
    for name in options:
        if name not in known[format].options:
            takes = ", ".join(known[format].options) or "no option"
            raise BadInput(f"the {format} format has no option {name!r}; it takes {takes}")
    data = known[format].function(performance, **options)
    write_atomically(path, data)
    return Path(path)
