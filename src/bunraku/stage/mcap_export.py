"""A log for ROS 2 and Foxglove (MCAP): sensor_msgs/JointState at the motor rate and the voice, both on one clock.

The profile is ros2: messages are CDR, schemas are message definitions. ``/joint_states`` has name, position, velocity and effort of
every channel, not a number where there is none, as joint_state_broadcaster does it; a field that no joint has is empty. ``/audio``
has the voice as foxglove_msgs/RawAudio, 16 bits, in blocks of a twentieth of a second. The metadata ``bunraku`` of the states says
of each channel which kind and unit it has, and the exact rate.

CDR: four bytes say little-endian (0x00 0x01 0x00 0x00); after them every number stands at a multiple of its own size, counted from
there. A string is its length with the closing zero (uint32), its bytes, the zero; a sequence its count (uint32) and its elements.
OMG DDSI-RTPS, chapter 10.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BadInput, MissingExtra
from bunraku.motion import Audio, Performance
from bunraku.stage.channels import joint_states, need_kinds
from bunraku.stage.manifest import KEY, as_text, manifest


class CdrMessage:
    """A message under construction: fields are added in the order of its definition."""

    def __init__(self) -> None:
        self._body = bytearray()

    def int32(self, value: int) -> CdrMessage:
        """A signed integer of four bytes."""
        return self._number("<i", value)

    def uint32(self, value: int) -> CdrMessage:
        """An unsigned integer of four bytes."""
        return self._number("<I", value)

    def string(self, text: str) -> CdrMessage:
        """Text in UTF-8; a zero within would end it early, so none is kept."""
        data = text.replace("\0", "").encode() + b"\0"
        self.uint32(len(data))
        self._body += data
        return self

    def strings(self, texts: Sequence[str]) -> CdrMessage:
        """A sequence of texts."""
        self.uint32(len(texts))
        for text in texts:
            self.string(text)
        return self

    def float64s(self, values: NDArray[np.float64] | Sequence[float]) -> CdrMessage:
        """A sequence of numbers of eight bytes."""
        self.uint32(len(values))
        if len(values):
            self._align(8)
            self._body += np.asarray(values, dtype="<f8").tobytes()
        return self

    def octets(self, data: bytes) -> CdrMessage:
        """A sequence of bytes."""
        self.uint32(len(data))
        self._body += data
        return self

    def time(self, nanoseconds: int) -> CdrMessage:
        """builtin_interfaces/Time: seconds and the nanoseconds beyond them."""
        return self.int32(nanoseconds // 1_000_000_000).uint32(nanoseconds % 1_000_000_000)

    def bytes(self) -> bytes:
        """The whole message, with the four bytes in front."""
        return b"\x00\x01\x00\x00" + bytes(self._body)

    def _number(self, form: str, value: int) -> CdrMessage:
        self._align(struct.calcsize(form))
        self._body += struct.pack(form, value)
        return self

    def _align(self, size: int) -> None:
        self._body += bytes(-len(self._body) % size)


BLOCK_S = 0.05
_RULE = "=" * 80
_TIME = f"{_RULE}\nMSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n"
_STATE = (
    "std_msgs/Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity\nfloat64[] effort\n"
    f"{_RULE}\nMSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n{_TIME}"
)
_SOUND = f"builtin_interfaces/Time timestamp\nuint8[] data\nstring format\nuint32 sample_rate\nuint32 number_of_channels\n{_TIME}"
Message = tuple[int, int, bytes]


def export_mcap(
    performance: Performance,
    *,
    rate: float | None = None,
    audio: bool = True,
    start_s: float = 0.0,
    frame_id: str = "",
    topic: str = "/joint_states",
) -> bytes:
    """The bytes of the log; every kind of channel is in it.

    ``rate`` [Hz] thins the states; it must divide the motor rate. ``audio``: the voice too, where there is one. ``start_s``: the
    time stamp of the first sample [s since 1970]. Velocities of positions are central differences; torques are efforts.
    """
    if not 0.0 <= start_s < 2**31:
        raise BadInput(f"a start of {start_s:g} s cannot be stamped; give seconds since 1970, at least 0 and below 2147483648")
    channels = need_kinds(performance, ("position", "velocity", "torque", "length"), "mcap")
    states = joint_states(performance, channels, "mcap", rate)
    known = (states.positions, states.velocities, states.efforts)
    fields = [None if np.isnan(values).all() else values for values in known]
    start = round(start_s * 1e9)
    messages: list[Message] = []
    for k in range(len(states.positions)):
        now = start + round(k * 1_000_000_000 / states.rate)
        message = CdrMessage().time(now).string(frame_id).strings(states.names)
        for field in fields:
            message.float64s(() if field is None else field[k])
        messages.append((now, 0, message.bytes()))
    if audio and performance.audio is not None:
        messages += _sound(performance.audio, start)
    said = as_text(manifest(states.rate, channels))
    return _written(sorted(messages, key=lambda one: one[:2]), topic, said)


def _sound(audio: Audio, start: int) -> list[Message]:
    """The voice in blocks; the time of each is that of its first sample."""
    if abs(audio.rate - round(audio.rate)) > 1e-9:
        raise BadInput(
            f"the voice has {audio.rate:g} samples a second and the mcap format counts whole ones; export with --audio no"
        )
    samples = np.clip(np.round(audio.samples * 32768.0), -32768, 32767).astype("<i2")
    size = max(1, round(BLOCK_S * audio.rate))
    messages = []
    for first in range(0, len(samples), size):
        now = start + round(first * 1_000_000_000 / audio.rate)
        message = CdrMessage().time(now).octets(samples[first : first + size].tobytes())
        messages.append((now, 1, message.string("pcm-s16").uint32(round(audio.rate)).uint32(1).bytes()))
    return messages


def _written(messages: list[Message], topic: str, said: str) -> bytes:
    Writer, compression = _library()
    stream = io.BytesIO()
    writer = Writer(stream, compression=compression)
    writer.start(profile="ros2", library="bunraku")
    known = (("sensor_msgs/msg/JointState", _STATE, topic), ("foxglove_msgs/msg/RawAudio", _SOUND, "/audio"))
    ids, sequence = {}, [0, 0]
    for kind in sorted({kind for _, kind, _ in messages}):
        name, text, where = known[kind]
        schema = writer.register_schema(name=name, encoding="ros2msg", data=text.encode())
        metadata = {KEY: said} if kind == 0 else {}
        ids[kind] = writer.register_channel(topic=where, message_encoding="cdr", schema_id=schema, metadata=metadata)
    for now, kind, data in messages:
        writer.add_message(channel_id=ids[kind], log_time=now, publish_time=now, data=data, sequence=sequence[kind])
        sequence[kind] += 1
    writer.finish()
    return stream.getvalue()


def _library() -> tuple[Any, Any]:
    try:
        from mcap.writer import CompressionType, Writer
    except ImportError as error:
        raise MissingExtra("mcap", "stage", "the mcap format") from error
    return Writer, CompressionType.LZ4
