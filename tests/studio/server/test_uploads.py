"""Uploads: names of our own, exact parts, shared limits."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku.studio.server.uploads import PART, UploadDesk, Uploads, generated_name


def start(size: int, key: str = "k", name: str = "a.csv") -> dict[str, Any]:
    return {
        "type": "FileTransferStartUpload",
        "source_component_uuid": "button",
        "transfer_uuid": key,
        "filename": name,
        "mime_type": "text/csv",
        "part_count": -(-size // PART),
        "size_bytes": size,
    }


def part(index: int, content: bytes, key: str = "k") -> dict[str, Any]:
    return {
        "type": "FileTransferPart",
        "source_component_uuid": "button",
        "transfer_uuid": key,
        "part_index": index,
        "content": content,
    }


@given(st.text(max_size=100))
def test_any_name_gives_a_name_of_our_own(name: str) -> None:
    own = generated_name(name)
    assert re.fullmatch(r"upload-[0-9a-f]{16}(\.[a-z0-9]{1,12}){0,2}", own)
    assert own != generated_name(name)


def test_the_suffixes_say_what_kind_of_file_it_is() -> None:
    assert generated_name("../My dog.character.YAML").endswith(".character.yaml")
    assert generated_name("C:\\walk.bvh").endswith(".bvh")
    assert generated_name("a.b.c.tar.gz").endswith(".tar.gz")
    assert re.fullmatch(r"upload-[0-9a-f]{16}", generated_name("no suffix. "))
    assert re.fullmatch(r"upload-[0-9a-f]{16}", generated_name(".."))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 3 * PART + 5), st.integers(0, 2**32 - 1))
def test_a_file_in_parts_of_any_order_comes_out_whole(size: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    desk = UploadDesk(Uploads(limit=4 * PART))
    content = rng.bytes(size)
    parts = [part(index, content[index * PART : (index + 1) * PART]) for index in range(-(-size // PART))]
    rng.shuffle(parts)  # type: ignore[arg-type]
    passed = desk.announce(start(size))
    for message in parts:
        assert not passed
        passed = desk.part(message)
    assert passed[0]["type"] == "FileTransferStartUpload"
    assert passed[0]["filename"].startswith("upload-")
    assert b"".join(message["content"] for message in passed[1:]) == content
    assert [message["part_index"] for message in passed[1:]] == list(range(len(parts)))
    assert desk.held == 0


def test_limits_are_shared_by_all_connections_and_given_back() -> None:
    shared = Uploads(limit=10 * PART, at_once=2)
    first, second = UploadDesk(shared), UploadDesk(shared)
    first.announce(start(2 * PART, "a"))
    second.announce(start(9 * PART, "too many bytes"))
    second.part(part(0, bytes(PART), "too many bytes"))
    assert second.held == 0
    second.announce(start(7 * PART, "b"))
    second.part(part(0, bytes(PART), "b"))
    assert second.held == PART
    first.announce(start(10, "too many files"))
    assert not first.part(part(0, bytes(10), "too many files"))
    second.close()
    assert second.held == 0
    first.announce(start(10, "c"))
    assert len(first.part(part(0, bytes(10), "c"))) == 2


@pytest.mark.parametrize("wrong", [(0, PART + 1), (0, PART - 1), (1, PART), (2, 7), (-1, PART)])
def test_a_part_of_another_length_or_place_ends_the_upload(wrong: tuple[int, int]) -> None:
    shared = Uploads(limit=10 * PART)
    desk = UploadDesk(shared)
    desk.announce(start(PART + 7))
    desk.part(part(wrong[0], bytes(wrong[1])))
    assert desk.held == 0
    assert shared._under_way == {}
    assert not desk.part(part(0, bytes(PART)))
    assert not desk.part(part(1, bytes(7)))


@pytest.mark.parametrize("size", [-1, -PART, -10 * PART, 2**60])
def test_sizes_that_cannot_be_claim_nothing(size: int) -> None:
    shared = Uploads(limit=2**62)
    assert UploadDesk(shared).announce(start(size)) == []
    assert shared._under_way == {}


def test_what_users_called_their_files_is_remembered_for_a_while() -> None:
    shared = Uploads(limit=100)
    desk = UploadDesk(shared)
    [message] = desk.announce(start(0, name="/tmp/evil\n\x1b[31m dog.csv"))
    assert shared.label(message["filename"]) == "evil[31m dog.csv"
    assert shared.label("unknown") == "unknown"
    for _ in range(1100):
        desk.announce(start(0))
    assert shared.label(message["filename"]) == message["filename"]
    assert len(shared._labels) == 1000
