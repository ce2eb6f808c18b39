"""The page: viser's packed scripts are read right, so that their hashes let them and nothing else run."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bunraku.errors import BadInput
from bunraku.studio.server.page import _ALPHABET, decode_base88, read_page


def encode(data: bytes) -> str:
    """The packing of viser's build, group by group."""
    out = ""
    for start in range(0, len(data), 4):
        group = data[start : start + 4]
        value, letters = int.from_bytes(group, "big"), ""
        for _ in range(len(group) + 1):
            value, digit = divmod(value, 88)
            letters = _ALPHABET[digit] + letters
        out += letters
    return out


@given(st.binary(max_size=40))
def test_packed_text_comes_back(data: bytes) -> None:
    assert decode_base88(encode(data)) == data


def test_a_letter_outside_the_alphabet_is_an_error() -> None:
    assert len(set(_ALPHABET)) == 88
    with pytest.raises(ValueError, match="alphabet"):
        decode_base88("!!!!&")


def test_both_inline_scripts_have_their_hash() -> None:
    page = read_page(12345)
    assert len(page.hashes) == 2
    assert all(re.fullmatch(r"sha256-[A-Za-z0-9+/]{43}=", value) for value in page.hashes)
    assert page.hashes[0] != page.hashes[1]
    assert b'content="12345"' in page.html
    assert page.html.count(b"<script") == 2


def test_a_page_built_otherwise_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from pathlib import Path

    html = Path.read_text
    monkeypatch.setattr(Path, "read_text", lambda self, **options: html(self, **options).replace("data-p=", "data-q="))
    with pytest.raises(BadInput, match="not built as expected"):
        read_page(1)
    rng = np.random.default_rng(0)
    noise = encode(rng.bytes(1000))
    monkeypatch.setattr(
        Path, "read_text", lambda self, **options: re.sub('data-p="[^"]*"', lambda _: f'data-p="{noise}"', html(self, **options))
    )
    with pytest.raises(BadInput, match="not built as expected"):
        read_page(1)
