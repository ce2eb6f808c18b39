"""WAV: every sample format in closed form, odd chunks, honest refusals, 16 bits back exactly."""

from __future__ import annotations

import io
import struct
import wave
from pathlib import Path

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.formats.wav import audio_from_wav, read_wav, wav_bytes
from bunraku.motion import Audio

GUID = bytes.fromhex("000000001000800000aa00389b71")


def wav(
    kind: int, bits: int, samples: bytes, *, channels: int = 1, rate: int = 8000, extensible: bool = False, before: bytes = b""
) -> bytes:
    block = channels * bits // 8
    head = struct.pack("<HHIIHH", 0xFFFE if extensible else kind, channels, rate, rate * block, block, bits)
    if extensible:
        head += struct.pack("<HHI", 22, bits, 0) + struct.pack("<H", kind) + GUID
    body = b"fmt " + struct.pack("<I", len(head)) + head + before + b"data" + struct.pack("<I", len(samples)) + samples
    return b"RIFF" + struct.pack("<I", 4 + len(body)) + b"WAVE" + body


@pytest.mark.parametrize("extensible", [False, True])
@pytest.mark.parametrize(
    ("kind", "bits", "samples"),
    [
        (1, 8, bytes([0, 64, 128, 192, 255])),
        (1, 16, np.array([-32768, -16384, 0, 16384, 32767], "<i2").tobytes()),
        (1, 24, b"".join(int(v).to_bytes(3, "little", signed=True) for v in (-(2**23), -(2**22), 0, 2**22, 2**23 - 1))),
        (1, 32, np.array([-(2**31), -(2**30), 0, 2**30, 2**31 - 1], "<i4").tobytes()),
        (3, 32, np.array([-1, -0.5, 0, 0.5, 1], "<f4").tobytes()),
        (3, 64, np.array([-1, -0.5, 0, 0.5, 1], "<f8").tobytes()),
    ],
)
def test_every_format_means_the_same_sound(kind: int, bits: int, samples: bytes, extensible: bool) -> None:
    audio = audio_from_wav(wav(kind, bits, samples, extensible=extensible), file="f.wav")
    assert audio.rate == 8000.0
    np.testing.assert_allclose(audio.samples, [-1.0, -0.5, 0.0, 0.5, 1.0], atol=1.0 / 2 ** (min(bits, 32) - 1) if kind == 1 else 0)


def test_channels_are_mixed_to_their_mean() -> None:
    both = np.array([[0.5, -0.5], [1.0, 0.0], [0.25, 0.75]], "<f4")
    np.testing.assert_array_equal(audio_from_wav(wav(3, 32, both.tobytes(), channels=2), file="f").samples, [0.0, 0.5, 0.5])


@pytest.mark.parametrize(
    "before", [b"LIST\x04\x00\x00\x00abcd", b"LIST\x03\x00\x00\x00abc\x00", b"LIST\x03\x00\x00\x00abc", b"junk\x00\x00\x00\x00"]
)
def test_other_chunks_are_skipped_even_when_padding_is_missing(before: bytes) -> None:
    samples = np.array([1000, -1000, 7], "<i2").tobytes()
    np.testing.assert_array_equal(
        audio_from_wav(wav(1, 16, samples, before=before), file="f").samples, audio_from_wav(wav(1, 16, samples), file="f").samples
    )


def test_sixteen_bits_survive_reading_and_writing_and_other_programs_agree() -> None:
    values = np.concatenate([np.arange(-32768, 32768, 37), [32767]]).astype("<i2")
    audio = audio_from_wav(wav(1, 16, values.tobytes(), rate=16000), file="f")
    written = wav_bytes(audio)
    with wave.open(io.BytesIO(written)) as other:
        assert (other.getframerate(), other.getnchannels(), other.getsampwidth()) == (16000, 1, 2)
        np.testing.assert_array_equal(np.frombuffer(other.readframes(10**6), "<i2"), values)
    loud = wav_bytes(Audio(np.array([2.0, -2.0]), 8000.0))
    np.testing.assert_array_equal(np.frombuffer(loud[-4:], "<i2"), [32767, -32768])


@pytest.mark.parametrize(
    ("samples", "width"),
    [
        (np.arange(-4.0, 4.0) / 32768.0, 2),  # 16 bits hold these
        (np.arange(-4.0, 4.0) / 65536.0, 4),  # two channels of 16 bits, mixed
        (np.array([1.5, -3.0]), 4),
        (np.array([0.1, 1.0 / 3.0]), 8),
    ],
)
def test_exact_sound_is_read_again_to_the_last_bit(samples: np.ndarray, width: int) -> None:
    written = wav_bytes(Audio(samples, 8000.0), exact=True)
    assert len(written) == 44 + width * len(samples)
    again = audio_from_wav(written, file="f")
    np.testing.assert_array_equal(again.samples, samples)
    assert again.rate == 8000.0


@pytest.mark.shared
def test_a_real_recording(data: Path) -> None:
    raw = (data / "jfk.wav").read_bytes()
    clip = read_wav(raw, file="jfk.wav")
    assert clip.audio is not None
    with wave.open(io.BytesIO(raw)) as other:
        expected = np.frombuffer(other.readframes(10**8), "<i2") / 32768.0
    np.testing.assert_array_equal(clip.audio.samples, expected)
    assert clip.duration == pytest.approx(11.0, abs=0.01)


@pytest.mark.parametrize("size", [0, 0xFFFFFFFF])
def test_sizes_left_open_by_streaming_writers(size: int) -> None:
    data = wav(1, 16, b"\x01\x00" * 5)
    open_ended = data[:-14] + struct.pack("<I", size) + data[-10:]
    assert len(audio_from_wav(open_ended, file="f").samples) == 5


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "no WAV"),
        (b"RIFX" + wav(1, 16, b"")[4:], "big-endian"),
        (wav(1, 16, b"\x00" * 40)[:-10], "cut short: 40 bytes of sound are declared and 30 follow"),
        (wav(1, 12, b""), "12 bits"),
        (wav(2, 16, b""), "format 2"),
        (wav(1, 16, b"", channels=0), "channels"),
        (wav(1, 16, b"", rate=0), "0 Hz"),
        (wav(3, 32, np.array([0.0, np.nan], "<f4").tobytes()), "sample 1"),
        (wav(1, 16, b"")[:36], "no 'data' chunk"),
    ],
)
def test_refusals(data: bytes, said: str) -> None:
    with pytest.raises(BadInput, match=said) as caught:
        audio_from_wav(data, file="f.wav")
    assert caught.value.file == "f.wav"
    assert (caught.value.place or "").startswith("byte")
