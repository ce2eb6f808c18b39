"""Published files: bounded, replaced by name, asked for by ranges."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bunraku.errors import BadInput
from bunraku.studio.server.blobs import Blobs, byte_range


def test_all_files_together_are_bounded_and_replacing_frees() -> None:
    blobs = Blobs(limit=100)
    first = blobs.publish("a", bytes(60), "audio/wav")
    with pytest.raises(BadInput, match="does not fit"):
        blobs.publish("b", bytes(41), "audio/wav")
    assert blobs.get(first) is not None
    second = blobs.publish("a", bytes(100), "audio/wav")
    assert second != first
    assert blobs.get(first) is None
    with pytest.raises(BadInput, match="does not fit"):
        blobs.publish("a", bytes(101), "audio/wav")
    assert blobs.get(second) is not None
    blobs.withdraw("a")
    blobs.publish("b", bytes(100), "audio/wav")


@given(st.text(max_size=200))
def test_any_name_gives_a_plain_path(name: str) -> None:
    blobs = Blobs()
    path = blobs.publish(name, b"x", "text/csv")
    folder, key, shown = path.split("/")
    assert folder == "files"
    assert len(key) >= 12
    assert shown
    assert not shown.startswith(".")
    assert all(letter.isascii() and (letter.isalnum() or letter in "._-") for letter in shown)


def test_a_type_with_a_line_break_is_refused() -> None:
    with pytest.raises(BadInput, match="content type"):
        Blobs().publish("a", b"", "text/csv\r\nX-Evil: 1")


@given(st.binary(max_size=30), st.integers(0, 40), st.integers(0, 40))
def test_ranges_are_those_of_the_standard(data: bytes, first: int, last: int) -> None:
    size = len(data)
    span = byte_range(f"bytes={first}-{last}", size)
    assert span is not None
    assert data[slice(*span)] == (data[first : last + 1] if first <= last else b"")
    span = byte_range(f"bytes=-{last}", size)
    assert span is not None
    assert data[slice(*span)] == (data[-last:] if last else b"")
    assert data[slice(*(byte_range(f"bytes={first}-", size) or (0, 0)))] == data[first:]


@pytest.mark.parametrize(
    "header", [None, "", "bytes=-", "bytes=0-1,3-4", "lines=1-2", "bytes=a-b", "bytes=1-2-3", "bytes=" + "9" * 400 + "-"]
)
def test_ranges_not_understood_mean_the_whole_file(header: str | None) -> None:
    assert byte_range(header, 10) is None
