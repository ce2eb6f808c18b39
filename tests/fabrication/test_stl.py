"""Binary STL: the layout, what comes back, what is refused."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.fabrication.mesh import TriangleMesh, read_stl, stl_bytes, write_stl

CORNERS = np.array([[[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 3.0, 0.0]], [[1.0, 1.0, 1.0], [1.0, 2.0, 1.0], [1.0, 1.0, 4.0]]])


def test_layout_is_that_of_the_format() -> None:
    data = stl_bytes(TriangleMesh(CORNERS), "two triangles")
    assert len(data) == 84 + 2 * 50
    assert struct.unpack("<I", data[80:84])[0] == 2
    assert not data.startswith(b"solid")  # what some readers take for the text form
    first = struct.unpack("<12fH", data[84:134])
    assert first[:3] == (0.0, 0.0, 1.0)
    np.testing.assert_array_equal(first[3:12], CORNERS[0].ravel())
    assert struct.unpack("<3f", data[134:146]) == (1.0, 0.0, 0.0)


def test_what_is_written_comes_back(tmp_path: Path) -> None:
    corners = np.random.default_rng(3).normal(size=(7, 3, 3)).astype(np.float32).astype(float)
    write_stl(tmp_path / "a.stl", TriangleMesh(corners))
    np.testing.assert_array_equal(read_stl(tmp_path / "a.stl").corners, corners)
    assert [path.name for path in tmp_path.iterdir()] == ["a.stl"]


def test_a_cut_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "cut.stl").write_bytes(stl_bytes(TriangleMesh(CORNERS))[:-3])
    with pytest.raises(BadInput, match=r"cut\.stl.*no binary STL"):
        read_stl(tmp_path / "cut.stl")
