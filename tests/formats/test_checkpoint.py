"""Checkpoints and archives: the same arrays give the same bytes; damage and foreign keys are noticed."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.formats import archive
from bunraku.formats.archive import pack, unpack
from bunraku.formats.checkpoint import Checkpoint

ARRAYS = {"x": np.arange(12.0).reshape(3, 4), "count": np.array(7), "flags": np.array([True, False]), "empty": np.zeros((0, 3))}


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path / "run.checkpoint", "key-1")
    assert checkpoint.load() is None
    checkpoint.save(ARRAYS)
    loaded = checkpoint.load()
    assert loaded is not None
    assert set(loaded) == set(ARRAYS)
    for name, array in ARRAYS.items():
        assert loaded[name].dtype == array.dtype
        np.testing.assert_array_equal(loaded[name], array)
    assert Checkpoint(checkpoint.path, "key-2").load() is None, "another problem's checkpoint is not taken"
    checkpoint.save({"x": np.zeros(2)})
    assert set(checkpoint.load() or {}) == {"x"}
    checkpoint.discard()
    checkpoint.discard()
    assert checkpoint.load() is None


def test_every_truncation_and_byte_change_is_noticed(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path / "c", "key")
    checkpoint.save({"x": np.arange(3.0)})
    data = checkpoint.path.read_bytes()
    for length in range(0, len(data), 3):
        checkpoint.path.write_bytes(data[:length])
        assert checkpoint.load() is None
    for place in range(0, len(data), 3):
        damaged = bytearray(data)
        damaged[place] ^= 0x55
        checkpoint.path.write_bytes(bytes(damaged))
        loaded = checkpoint.load()
        assert loaded is None or all(np.array_equal(array, np.arange(3.0)) for array in loaded.values()), place


def test_bytes_depend_on_the_arrays_alone() -> None:
    assert pack(ARRAYS) == pack(dict(reversed(list(ARRAYS.items()))))
    assert pack({"x": np.arange(6.0).reshape(2, 3).T}) == pack({"x": np.ascontiguousarray(np.arange(6.0).reshape(2, 3).T)})
    assert pack({"x": np.arange(3, dtype=">f8")}) == pack({"x": np.arange(3, dtype="<f8")})


def test_numpy_reads_our_archives_and_we_read_numpys(tmp_path: Path) -> None:
    with np.load(io.BytesIO(pack(ARRAYS)), allow_pickle=False) as loaded:
        for name, array in ARRAYS.items():
            np.testing.assert_array_equal(loaded[name], array)
    stream = io.BytesIO()
    fortran = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    np.savez_compressed(stream, f=fortran)
    np.testing.assert_array_equal(unpack(stream.getvalue(), file="f")["f"], fortran)


def test_pickles_bombs_and_liars_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.BytesIO()
    np.savez(stream, x=np.array([{"a": 1}], dtype=object))
    with pytest.raises(BadInput):
        unpack(stream.getvalue(), file="f")
    monkeypatch.setattr(archive, "MAX_UNPACKED", 10 * 1024 * 1024)
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as zipped, zipped.open("x.npy", "w", force_zip64=True) as member:
        for _ in range(20):
            member.write(b"\0" * 1024 * 1024)
    with pytest.raises(BadInput, match="unpacks to"):
        unpack(bomb.getvalue(), file="f")
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**12,)})
    liar = io.BytesIO()
    with zipfile.ZipFile(liar, "w") as zipped:
        zipped.writestr("x.npy", header.getvalue())
    with pytest.raises(BadInput, match="stated shape") as caught:
        unpack(liar.getvalue(), file="f")
    assert (caught.value.file, caught.value.place) == ("f", "x.npy")
