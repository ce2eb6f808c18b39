"""Reading back a log for ROS 2 and Foxglove (MCAP): the JointState messages that the channels were written as."""

from __future__ import annotations

import io
import json
import struct
from typing import Any

import numpy as np

from bunraku.arrays import Array
from bunraku.errors import BadInput, MissingExtra
from bunraku.formats.files import MAX_NUMBERS, check_size
from bunraku.formats.places import located
from bunraku.stage.manifest import KEY, Manifest, from_data
from bunraku.stage.readers.exported import MAX_FILE_BYTES, Exported, Reading, channel_of, rate_of
from bunraku.stage.readers.ros import NANOSECOND

MAX_UNPACKED_BYTES = 512 * 1024 * 1024
SCHEMA = "sensor_msgs/msg/JointState"
_FIELDS = {"position": 0, "length": 0, "velocity": 1, "torque": 2}


class CdrFields:
    """The fields of a little-endian CDR message, one after the other."""

    def __init__(self, data: bytes) -> None:
        if data[:4] != b"\x00\x01\x00\x00":
            raise BadInput("holds a message that is no little-endian CDR")
        self._data, self._at = data[4:], 0

    def number(self, form: str) -> int:
        """A number of a format of ``struct``."""
        size = struct.calcsize(form)
        self._at += -self._at % size
        return int(struct.unpack_from(form, self._taken(size))[0])

    def text(self) -> str:
        """A string, without its closing zero."""
        return self._taken(self.number("<I")).rstrip(b"\0").decode("utf-8", "replace")

    def texts(self) -> list[str]:
        """A sequence of strings."""
        count = self.number("<I")
        if count > 10_000:
            raise BadInput(f"holds a message of {count} joints; that is more than can be read")
        return [self.text() for _ in range(count)]

    def float64s(self) -> Array:
        """A sequence of numbers of eight bytes."""
        count = self.number("<I")
        if count:
            self._at += -self._at % 8
        return np.frombuffer(self._taken(8 * count), dtype="<f8").astype(np.float64)

    def _taken(self, size: int) -> bytes:
        part = self._data[self._at : self._at + size]
        if len(part) < size:
            raise BadInput("holds a message that was cut off")
        self._at += size
        return part


def read_mcap(data: bytes, *, file: str, reading: Reading) -> Exported:
    """The joint states of the one topic that has them."""
    check_size(data, file=file, limit=MAX_FILE_BYTES)
    with located(file):
        messages, said = _messages(data, file)
        names, stamps, fields = _states(messages)
        first = stamps[0]
        times = np.array([1e-9 * (stamp - first) for stamp in stamps])
        rate = rate_of(times, NANOSECOND, known=said.rate_hz if said else reading.channels[0].rate if reading.channels else None)
        kinds = _kinds(names, fields, said, reading)
        channels = []
        for name, kind, unit in kinds:
            if name not in names:
                raise BadInput(f"announces the channel {name[:60]!r} and has no state of it")
            channels.append(channel_of(name, kind, unit, rate, fields[_FIELDS[kind]][:, names.index(name)]))
    return Exported("mcap", tuple(channels), rate_error=0.0 if said else 1e-9)


def _kinds(names: list[str], fields: list[Array], said: Manifest | None, reading: Reading) -> list[tuple[str, Any, str]]:
    if said is not None:
        return [(one.name, one.kind, one.unit) for one in said.channels]
    only_torques = np.isnan(fields[0]).all() and np.isnan(fields[1]).all()
    return [(name, *reading.kind_of(name, torque=bool(only_torques))) for name in names]


def _messages(data: bytes, file: str) -> tuple[list[bytes], Manifest | None]:
    """The joint states in the order of their times, and what the log says of its channels."""
    make_reader, McapError = _library()
    try:
        reader = make_reader(io.BytesIO(data), validate_crcs=True)
        summary = reader.get_summary()
        if summary is None or not summary.statistics:
            raise BadInput("has no summary; it was cut off")
        if sum(index.uncompressed_size for index in summary.chunk_indexes) > MAX_UNPACKED_BYTES:
            raise BadInput(f"unpacks to more than {MAX_UNPACKED_BYTES} bytes, which is more than can be read")
        schemas = {number for number, schema in summary.schemas.items() if schema.name == SCHEMA}
        chosen = [channel for channel in summary.channels.values() if channel.schema_id in schemas]
        if len(chosen) != 1:
            raise BadInput(f"has {len(chosen)} topics of {SCHEMA}; one is needed")
        messages = [message.data for _, _, message in reader.iter_messages(topics=[chosen[0].topic])]
    except BadInput:
        raise
    except (McapError, ValueError, KeyError, EOFError, RuntimeError, struct.error, AssertionError) as error:
        raise BadInput(f"is no MCAP log, or is damaged: {type(error).__name__} {error}"[:200]) from error
    if not messages:
        raise BadInput("holds no joint state")
    text = chosen[0].metadata.get(KEY)
    try:
        return messages, None if text is None else from_data(json.loads(text), file=file)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"what it says of its channels is damaged: {error}"[:200]) from error


def _states(messages: list[bytes]) -> tuple[list[str], list[int], list[Array]]:
    """Names, stamps [ns], and positions, velocities and efforts (samples, names), NaN where there are none."""
    names: list[str] = []
    stamps: list[int] = []
    rows: list[Array] = []
    for data in messages:
        message = CdrFields(data)
        stamps.append(message.number("<i") * 1_000_000_000 + message.number("<I"))
        message.text()
        now = message.texts()
        names = names or now
        if now != names or not now or len(set(now)) < len(now) or len(now) * len(messages) > MAX_NUMBERS:
            raise BadInput("holds joint states of different joints, of none, or of too many")
        parts = [message.float64s() for _ in range(3)]
        if any(len(part) not in (0, len(names)) for part in parts):
            raise BadInput("holds a joint state with another number of values than of names")
        rows.append(np.array([part if len(part) else np.full(len(names), np.nan) for part in parts]))
    whole = np.array(rows)
    return names, stamps, [whole[:, k] for k in range(3)]


def _library() -> tuple[Any, Any]:
    try:
        from mcap.exceptions import McapError
        from mcap.reader import make_reader
    except ImportError as error:
        raise MissingExtra("mcap", "stage", "the mcap format") from error
    return make_reader, McapError
