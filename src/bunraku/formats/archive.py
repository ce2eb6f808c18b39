"""Arrays in a ``.npz`` archive: same arrays, same bytes; nothing is executed on reading; sizes are bounded before unpacking."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from bunraku.errors import BadInput
from bunraku.formats.files import MAX_BYTES, check_size

MAX_UNPACKED = 1024 * 1024 * 1024
_MAX_MEMBERS = 10_000
_KINDS = "fiub"
AGAIN = "copy it again, or make it again"
"""What helps when a file is damaged."""


def pack(arrays: Mapping[str, Any]) -> bytes:
    """The bytes of an archive of ``arrays``: sorted names, fixed times, deflated, so that they depend on the arrays alone."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name in sorted(arrays):
            array = np.ascontiguousarray(arrays[name]).reshape(np.shape(arrays[name]))
            if array.dtype.kind not in _KINDS:
                raise BadInput(f"the array {name!r} has the type {array.dtype}; numbers are kept")
            body = io.BytesIO()
            npy.write_array(body, array.astype(array.dtype.newbyteorder("<")), version=(1, 0), allow_pickle=False)
            entry = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, body.getvalue(), compresslevel=6)
    return target.getvalue()


def unpack(data: bytes, *, file: str) -> dict[str, NDArray[np.generic]]:
    """The arrays of an archive; anything but plain arrays of numbers, and more than 1 GiB of them, is refused."""
    check_size(data, file=file)
    arrays: dict[str, NDArray[np.generic]] = {}
    place = "byte 0"
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            total = sum(entry.file_size for entry in entries)
            if len(entries) > _MAX_MEMBERS or total > MAX_UNPACKED or total > 1100 * len(data) + MAX_BYTES // 256:
                raise BadInput(
                    f"unpacks to {total} bytes in {len(entries)} parts; that is more than is read", file=file, place=place
                )
            for entry in entries:
                place = entry.filename[:80]
                if not entry.filename.endswith(".npy") or entry.filename.removesuffix(".npy") in arrays:
                    raise BadInput("is not an array of its own name", file=file, place=place)
                with archive.open(entry) as stream:
                    body = stream.read(entry.file_size + 1)
                if len(body) != entry.file_size:
                    raise BadInput("is not as long as the archive says", file=file, place=place)
                arrays[entry.filename.removesuffix(".npy")] = _array(body, file, place)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, OSError, EOFError, struct.error) as error:
        what = "is empty" if not data else f"is damaged or no npz archive ({error or type(error).__name__})"[:200]
        raise BadInput(f"{what}; {AGAIN}", file=file, place=place) from error
    except (ValueError, OverflowError, KeyError, IndexError, AttributeError, LookupError) as error:
        raise BadInput(f"is damaged ({error or type(error).__name__})"[:200] + f"; {AGAIN}", file=file, place=place) from error
    return arrays


def _array(body: bytes, file: str, place: str) -> NDArray[np.generic]:
    """One array from the bytes of a ``.npy`` file; its size is checked before memory is taken."""
    stream = io.BytesIO(body)
    if npy.read_magic(stream) != (1, 0):
        raise BadInput("is an array of an unknown version", file=file, place=place)
    shape, fortran, dtype = npy.read_array_header_1_0(stream, max_header_size=2000)
    size = 1
    for length in shape:
        size *= int(length)
    if dtype.kind not in _KINDS or dtype.hasobject or size * dtype.itemsize != len(body) - stream.tell():
        raise BadInput("is not a plain array of numbers of the stated shape", file=file, place=place)
    array = np.frombuffer(body, dtype, count=size, offset=stream.tell())
    return (array.reshape(shape[::-1]).T if fortran else array.reshape(shape)).copy()
