"""WAV sound: PCM of 8, 16, 24 or 32 bits and floats of 32 or 64, any number of channels (mixed to one), extensible headers.

Unknown chunks are skipped, chunks of odd size may lack their padding byte, and a size field of 0 or 2^32 - 1 in the data chunk, as
streaming writers leave it, means "to the end of the file". Data cut short otherwise is an error.
"""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BadInput
from bunraku.formats.files import MAX_NUMBERS, check_size
from bunraku.motion import Audio, Clip

_PCM, _FLOAT, _EXTENSIBLE = 1, 3, 0xFFFE
_GUID_TAIL = bytes.fromhex("000000001000800000aa00389b71")


def read_wav(data: bytes, *, file: str, folder: Path | None = None) -> Clip:
    """A clip with nothing but the sound of a WAV file."""
    return Clip(Path(file).stem or "wav", audio=audio_from_wav(data, file=file), source=f"WAV file {Path(file).name}")


def audio_from_wav(data: bytes, *, file: str) -> Audio:
    """The sound of a WAV file, mixed to one channel, samples in [-1, 1]."""
    check_size(data, file=file)
    if len(data) < 12 or data[:4] not in (b"RIFF", b"RIFX") or data[8:12] != b"WAVE":
        raise BadInput("is no WAV file: it does not start with RIFF....WAVE", file=file, place="byte 0")
    if data[:4] == b"RIFX":
        raise BadInput("is a big-endian WAV file (RIFX); convert it to an ordinary one", file=file, place="byte 0")
    layout: tuple[int, int, int, int] | None = None
    at = 12
    while at + 8 <= len(data):
        name, size = data[at : at + 4], int(struct.unpack_from("<I", data, at + 4)[0])
        body = at + 8
        if name == b"fmt ":
            layout = _layout(data[body : body + size], file, at)
        elif name == b"data":
            if layout is None:
                raise BadInput("the sound comes before its format (no 'fmt ' chunk before 'data')", file=file, place=f"byte {at}")
            left = len(data) - body
            if size > left and size < 0xFFFFFF00:
                raise BadInput(f"is cut short: {size} bytes of sound are declared and {left} follow", file=file, place=f"byte {at}")
            end = body + (left if size == 0 or size > left else size)
            return _audio(data[body:end], layout, file, at)
        at = body + size
        if size % 2 and data[at : at + 1] in (b"\x00", b""):
            at += 1
    raise BadInput("holds no sound (no 'data' chunk)", file=file, place=f"byte {min(at, len(data))}")


def wav_bytes(audio: Audio, *, exact: bool = False) -> bytes:
    """The bytes of a mono WAV file of 16 bits; samples beyond [-1, 1] are cut off, the rate rounded to whole hertz.

    ``exact``: where 16 bits do not hold every sample as it is, floats of 32 bits, or of 64, that do.
    """
    values = np.asarray(audio.samples)
    kind, sounds = _PCM, np.clip(np.round(values * 32768.0), -32768, 32767).astype("<i2")
    if exact and not np.array_equal(sounds / 32768.0, values):
        short = values.astype("<f4")
        kind, sounds = _FLOAT, short if np.array_equal(short, values) else values.astype("<f8")
    samples, width, rate = sounds.tobytes(), sounds.itemsize, round(audio.rate)
    layout = struct.pack("<HHIIHH", kind, 1, rate, width * rate, width, 8 * width)
    return (
        b"RIFF"
        + struct.pack("<I", 36 + len(samples))
        + b"WAVEfmt "
        + struct.pack("<I", 16)
        + layout
        + (b"data" + struct.pack("<I", len(samples)) + samples)
    )


def write_wav_clip(clip: Clip, name: str) -> dict[str, bytes]:
    """The sound of a clip as a WAV file."""
    if clip.audio is None:
        raise BadInput(f"the clip {clip.name!r} has no sound to write", file=name)
    return {name: wav_bytes(clip.audio)}


def _layout(header: bytes, file: str, at: int) -> tuple[int, int, int, int]:
    """Kind of sample, channels, rate, bits."""
    if len(header) < 16:
        raise BadInput("the format chunk is cut short", file=file, place=f"byte {at}")
    kind, channels, rate, _, block, bits = struct.unpack_from("<HHIIHH", header)
    if kind == _EXTENSIBLE:
        if len(header) < 40 or header[26:40] != _GUID_TAIL:
            raise BadInput("the extensible format is not one of PCM or float", file=file, place=f"byte {at}")
        kind = struct.unpack_from("<H", header, 24)[0]
    known = {_PCM: (8, 16, 24, 32), _FLOAT: (32, 64)}
    if bits not in known.get(kind, ()):
        raise BadInput(
            f"holds samples of format {kind} with {bits} bits; PCM of 8, 16, 24, 32 bits and float of 32, 64 are read",
            file=file,
            place=f"byte {at}",
        )
    if not 1 <= channels <= 256 or not 1 <= rate <= 1_000_000 or block not in (0, channels * bits // 8):
        raise BadInput(f"{channels} channels at {rate} Hz in blocks of {block} bytes make no sense", file=file, place=f"byte {at}")
    return kind, channels, rate, bits


def _audio(raw: bytes, layout: tuple[int, int, int, int], file: str, at: int) -> Audio:
    kind, channels, rate, bits = layout
    width = bits // 8
    frames = len(raw) // (width * channels)
    if frames * channels > MAX_NUMBERS:
        raise BadInput(f"holds {frames * channels} samples; at most {MAX_NUMBERS} are read", file=file, place=f"byte {at}")
    samples = _samples(raw[: frames * width * channels], kind, bits).reshape(frames, channels).mean(axis=1)
    if not np.isfinite(samples).all() or np.abs(samples).max(initial=0.0) > 1e6:
        bad = int(np.argmax(~(np.abs(samples) <= 1e6)))
        raise BadInput(f"sample {bad} is {samples[bad]}, which is no sound", file=file, place=f"byte {at}")
    return Audio(samples, float(rate), file=Path(file).name)


def _samples(raw: bytes, kind: int, bits: int) -> NDArray[np.float64]:
    """All samples as floats, channels interleaved."""
    if kind == _FLOAT:
        with np.errstate(all="ignore"):
            return np.frombuffer(raw, f"<f{bits // 8}").astype(np.float64)
    if bits == 8:
        return (np.frombuffer(raw, np.uint8).astype(np.float64) - 128.0) / 128.0
    if bits == 24:
        parts = np.frombuffer(raw, np.uint8).reshape(-1, 3).astype(np.int32)
        whole = (parts[:, 0] << 8) | (parts[:, 1] << 16) | (parts[:, 2] << 24)
        return whole.astype(np.float64) / 2.0**31
    return np.frombuffer(raw, f"<i{bits // 8}").astype(np.float64) / 2.0 ** (bits - 1)
