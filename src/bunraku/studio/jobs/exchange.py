"""Nouns and arrays as files in the private folder of a job: the formats that exist, nothing that could be executed."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.formats.archive import pack, unpack
from bunraku.formats.atomic import refusal_of, write_atomically
from bunraku.formats.character_yaml import read_character_yaml
from bunraku.formats.files import read_bytes
from bunraku.formats.registry import read_character, write_character, write_clip, write_performance
from bunraku.motion import Clip, JointCurves, Performance

_NAMES = "names"


def written(name: str, value: Any, folder: Path) -> Any:
    """An argument as it is sent: the path of a character, clip or performance, written to ``folder``; others as they are.

    Skins and meshes of flexible parts are not copied: the worker finds them on disk by the digests that the character carries.
    """
    if isinstance(value, Character):
        target = folder / f"{name}.character.yaml"
        write_character(target, value)
    elif isinstance(value, Clip):
        target = folder / f"{name}.clip.yaml"
        write_clip(target, value)
    elif isinstance(value, Performance):
        target = folder / f"{name}.performance.npz"
        write_performance(target, value)
    else:
        return value
    return str(target)


def read_who(source: str, folder: Path) -> Character:
    """The character of an argument: one that was :func:`written` to ``folder``, or any file or built-in name."""
    path = Path(source)
    if path.parent == folder and path.is_file():
        return read_character_yaml(read_bytes(path), file=source)
    return read_character(source)


def write_arrays(path: Path, arrays: Mapping[str, Any], *, lasting: bool = True, compressed: bool = True) -> None:
    """Arrays of numbers in an archive.

    Not ``lasting``: at once, without waiting for the disk, for what is read soon by who is told then. Not ``compressed``: for large
    arrays of floats, which hardly shrink.
    """
    if compressed:
        data = pack(arrays)
    else:
        target = io.BytesIO()
        np.savez(target, **arrays, allow_pickle=False)
        data = target.getvalue()
    if lasting:
        write_atomically(path, data)
        return
    with refusal_of(path):
        path.write_bytes(data)


def read_arrays(path: Path) -> dict[str, NDArray[np.generic]]:
    """The arrays of an archive; anything but arrays of numbers is refused."""
    return unpack(read_bytes(path), file=str(path))


def write_curves(path: Path, curves: JointCurves, *, lasting: bool = True) -> None:
    """Joint curves as an archive: names as :func:`bytes_of` them; rate [Hz]; values (n, k)."""
    arrays = {_NAMES: bytes_of(curves.names), "rate": np.array(curves.rate), "values": curves.values}
    write_arrays(path, arrays, lasting=lasting)


def read_curves(path: Path) -> JointCurves:
    """Joint curves of an archive."""
    arrays = read_arrays(path)
    if not {_NAMES, "rate", "values"} <= set(arrays) or arrays[_NAMES].dtype != np.uint8:
        raise BadInput("holds no joint curves (names, rate, values)", file=str(path))
    return JointCurves(texts_of(arrays[_NAMES]), float(arrays["rate"]), np.asarray(arrays["values"], dtype=np.float64))


def bytes_of(texts: Iterable[str]) -> NDArray[np.uint8]:
    """Texts as bytes of UTF-8, one a line."""
    return np.frombuffer("\n".join(texts).encode(), np.uint8)


def texts_of(array: NDArray[Any]) -> tuple[str, ...]:
    """The texts of such bytes."""
    text = array.tobytes().decode(errors="replace")
    return tuple(text.split("\n")) if text else ()
