"""Films: pictures at a rate, with the voice where there is one, as MP4 or GIF."""

from __future__ import annotations

import contextlib
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BadInput, MissingExtra
from bunraku.formats.wav import wav_bytes
from bunraku.motion import Audio

SUFFIXES = (".mp4", ".gif")


@dataclass(frozen=True, eq=False)
class Film:
    """Pictures (height, width, 3) uint8, all alike, ``rate`` of them a second, which may be drawn as they are asked for.

    ``audio`` is heard from its time ``start`` [s] on.
    """

    frames: Iterable[NDArray[np.uint8]]
    rate: float
    audio: Audio | None = None
    start: float = 0.0

    def __post_init__(self) -> None:
        if not 0.0 < self.rate <= 240.0:
            raise BadInput(f"{self.rate} pictures a second arrived; give at most 240")

    def pictures(self) -> Iterator[NDArray[np.uint8]]:
        """The pictures one by one, checked: nothing but the one at hand is kept."""
        shape: tuple[int, ...] | None = None
        for frame in self.frames:
            if frame.ndim != 3 or frame.shape[2] < 3 or (shape is not None and frame.shape != shape):
                raise BadInput(f"a picture of shape {frame.shape} arrived; all alike, height x width x 3, are needed")
            shape = frame.shape
            yield frame[..., :3]
        if shape is None:
            raise BadInput("a film without a picture arrived; give at least one")


def film_bytes(film: Film, suffix: str) -> bytes:
    """The film as the bytes of a file: ".mp4" (H.264, and AAC where there is a voice) or ".gif" (silent)."""
    if suffix not in SUFFIXES:
        raise BadInput(f"a film cannot be written as {suffix!r}; these can: {', '.join(SUFFIXES)}")
    return _gif(film) if suffix == ".gif" else _mp4(film)


def need_ffmpeg() -> str:
    """The path of ffmpeg, which makes MP4; what to install where there is none."""
    try:
        from imageio_ffmpeg import get_ffmpeg_exe

        return str(get_ffmpeg_exe())
    except ImportError as error:
        raise MissingExtra("imageio[ffmpeg]", "stage", "a film as MP4 (GIF and PNG are made without)") from error
    except RuntimeError as error:  # the package is there, the program is not
        raise BadInput("a film as MP4 needs the program ffmpeg, which was not found; install it, or make a GIF") from error


def _gif(film: Film) -> bytes:
    from PIL import Image

    pictures = [Image.fromarray(frame).quantize(128) for frame in film.pictures()]
    stream = BytesIO()
    ends = np.round(100.0 * np.arange(len(pictures) + 1) / film.rate)  # a GIF counts hundredths of a second
    times = [int(10 * max(step, 1)) for step in np.diff(ends)]
    pictures[0].save(stream, format="GIF", save_all=True, append_images=pictures[1:], duration=times, loop=0, optimize=False)
    return stream.getvalue()


def _mp4(film: Film) -> bytes:
    """By ffmpeg: pictures to its standard input, the voice from a file; both start together and end with the picture."""
    ffmpeg_exe = need_ffmpeg()
    pictures = film.pictures()
    first = next(pictures)
    height, width = (2 * (size // 2) for size in first.shape[:2])
    with tempfile.TemporaryDirectory() as folder:
        silent, target = Path(folder) / "silent.mp4", Path(folder) / "film.mp4"
        head = [ffmpeg_exe, "-y", "-loglevel", "error"]
        command = [*head, "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", f"{film.rate:g}", "-i", "pipe:0"]
        command += ["-c:v", "libx264", "-pix_fmt", "yuv420p", "-preset", "veryfast", "-crf", "20", "-movflags", "+faststart"]
        command.append(str(silent))
        count = 0
        with _piped(command) as ffmpeg:
            assert ffmpeg.stdin is not None  # noqa: S101 - a pipe was asked for
            with contextlib.suppress(BrokenPipeError):  # it has ended, and says why
                for frame in chain([first], pictures):
                    ffmpeg.stdin.write(np.ascontiguousarray(frame[:height, :width]).tobytes())
                    count += 1
            _, said = ffmpeg.communicate()
        _check(silent, ffmpeg.returncode, said)
        if film.audio is None:
            return silent.read_bytes()
        voice = Path(folder) / "voice.wav"
        voice.write_bytes(wav_bytes(_cut(film.audio, film.start, count / film.rate)))
        command = [*head, "-nostdin", "-i", str(silent), "-i", str(voice), "-c:v", "copy", "-c:a", "aac", "-b:a", "160k"]
        done = subprocess.run([*command, "-movflags", "+faststart", str(target)], capture_output=True, check=False)  # noqa: S603
        _check(target, done.returncode, done.stderr)
        return target.read_bytes()


@contextlib.contextmanager
def _piped(command: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    """A program that is written to; Ctrl-C is not for it, but it ends when whoever writes does."""
    with subprocess.Popen(  # noqa: S603 - words of our own
        command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    ) as program:
        try:
            yield program
        except BaseException:
            program.kill()
            raise


def _check(target: Path, code: int, said: bytes) -> None:
    if code != 0 or not target.is_file():
        raise BadInput(f"the film could not be made: {said.decode(errors='replace').strip()[-200:]}")


def _cut(audio: Audio, start: float, duration: float) -> Audio:
    """The sound from ``start`` on, exactly ``duration`` long, silence where it has ended."""
    first, count = round(start * audio.rate), round(duration * audio.rate)
    samples = np.zeros(count)
    part = audio.samples[first : first + count]
    samples[: len(part)] = part
    return Audio(samples, audio.rate, audio.file)
