"""Films: what is seen and heard at one time in the making is so in the file."""

from __future__ import annotations

import io
import subprocess
from pathlib import Path

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.motion import Audio
from bunraku.stage.film import Film, film_bytes

RATE = 30.0


def flash(at: int, count: int = 45) -> tuple[np.ndarray, ...]:
    frames = [np.zeros((64, 96, 3), dtype=np.uint8) for _ in range(count)]
    for k in range(at, min(at + 3, count)):
        frames[k][:] = 255
    return tuple(frames)


def click(at: float, duration: float = 1.5, rate: float = 16000.0) -> Audio:
    samples = np.zeros(round(duration * rate))
    first = round(at * rate)
    samples[first : first + 400] = 0.8 * np.sign(np.sin(2 * np.pi * 800.0 * np.arange(400) / rate))
    return Audio(samples, rate)


def decoded(data: bytes, folder: Path, *words: str) -> bytes:
    from imageio_ffmpeg import get_ffmpeg_exe

    path = folder / "film.mp4"
    path.write_bytes(data)
    return subprocess.run(
        [get_ffmpeg_exe(), "-loglevel", "error", "-i", str(path), *words, "-"], capture_output=True, check=True
    ).stdout


@pytest.mark.parametrize("start", [0.0, 0.4])
def test_sound_and_picture_are_within_20_ms(tmp_path: Path, start: float) -> None:
    pytest.importorskip("imageio_ffmpeg")
    data = film_bytes(Film(flash(18), RATE, click(start + 18 / RATE, 3.0), start), ".mp4")
    video = np.frombuffer(decoded(data, tmp_path, "-f", "rawvideo", "-pix_fmt", "gray"), dtype=np.uint8).reshape(-1, 64, 96)
    sound = np.frombuffer(decoded(data, tmp_path, "-f", "s16le", "-ac", "1", "-ar", "16000"), dtype=np.int16) / 32768.0
    assert len(video) == 45
    seen = int(np.argmax(video.mean(axis=(1, 2)) > 128)) / RATE
    heard = int(np.argmax(np.abs(sound) > 0.3)) / 16000.0
    assert seen == pytest.approx(18 / RATE)
    assert abs(heard - seen) <= 0.020


def test_a_film_without_a_voice_has_no_sound(tmp_path: Path) -> None:
    pytest.importorskip("imageio_ffmpeg")
    data = film_bytes(Film(flash(3, 10), RATE), ".mp4")
    assert decoded(data, tmp_path, "-f", "rawvideo", "-pix_fmt", "gray")
    with pytest.raises(subprocess.CalledProcessError):
        decoded(data, tmp_path, "-f", "s16le", "-vn")


def test_a_gif_keeps_its_pictures_and_their_time() -> None:
    from PIL import Image

    with Image.open(io.BytesIO(film_bytes(Film(flash(5, 12), 20.0), ".gif"))) as picture:
        bright, times, now = [], [], 0
        for k in range(picture.n_frames):
            picture.seek(k)
            bright.append(float(np.asarray(picture.convert("L")).mean()))
            times.append(now)
            now += picture.info["duration"]
    assert now == 12 * 50
    assert times[int(np.argmax(np.array(bright) > 128))] == 5 * 50


@pytest.mark.parametrize(
    "film",
    [
        lambda: Film((), 30.0),
        lambda: Film((np.zeros((4, 4, 3), np.uint8), np.zeros((6, 4, 3), np.uint8)), 30.0),
        lambda: Film((np.zeros((4, 4), np.uint8),), 30.0),
        lambda: Film((np.zeros((4, 4, 3), np.uint8),), 0.0),
    ],
)
def test_what_is_no_film_is_refused(film) -> None:
    with pytest.raises(BadInput):
        film_bytes(film(), ".gif")


def test_other_endings_are_refused() -> None:
    with pytest.raises(BadInput, match="mp4"):
        film_bytes(Film(flash(0, 2), 30.0), ".avi")
