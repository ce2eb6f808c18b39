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


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def begun(shared: Uploads, size: int, key: str = "k") -> UploadDesk:
    """A browser with an upload of which one part has come."""
    desk = UploadDesk(shared)
    desk.announce(start(size, key))
    desk.part(part(0, bytes(min(PART, size)), key))
    return desk


def sends(shared: Uploads, size: int = 10) -> bool:
    """Whether another browser can send a small file now."""
    desk = UploadDesk(shared)
    desk.announce(start(size))
    passed = desk.part(part(0, bytes(size)))
    desk.close()
    return bool(passed)


def test_one_browser_has_its_share_and_others_have_theirs(clock: Clock) -> None:
    shared = Uploads(limit=10 * PART, clock=clock)
    told: list[tuple[str, str]] = []
    shared.refused = lambda label, why: told.append((label, why))
    one = begun(shared, 4 * PART, "a")
    one.announce(start(7 * PART, "too many bytes", "b.csv"))
    one.announce(start(5 * PART, "b"))
    one.announce(start(10, "too many files", "c.csv"))
    assert [label for label, _ in told] == ["b.csv", "c.csv"]
    assert not one.part(part(0, bytes(10), "too many files"))
    assert one.held == PART
    assert sends(shared), "what one browser does is none of the others' concern"
    one.close()
    assert (one.held, shared.bytes) == (0, 0)
    one.announce(start(10, "c"))
    assert len(one.part(part(0, bytes(10), "c"))) == 2


def test_unfinished_uploads_give_way_to_others(clock: Clock) -> None:
    """As many browsers as there are, each with as much as it may have under way, of which nothing more comes."""
    shared = Uploads(limit=10 * PART, clock=clock)
    stalled = [begun(shared, size, key) for size, key in [(10 * PART, "a")] * 20]
    assert shared.bytes <= 4 * shared.limit
    clock.now += 0.6  # a moment later a file of another user passes
    assert sends(shared, PART)
    assert sends(shared, PART)
    for desk in stalled:
        desk.sweep()
    assert sum(desk.held for desk in stalled) <= 4 * shared.limit


@pytest.mark.parametrize("pause", [0.7, 5.0, 9.9])
def test_an_upload_that_stands_still_is_given_up(clock: Clock, pause: float) -> None:
    shared = Uploads(limit=10 * PART, clock=clock)
    desk = begun(shared, 4 * PART)
    clock.now += pause
    desk.sweep()
    assert desk.held == PART, "nobody needs its place"
    clock.now += 10.1 - pause
    assert desk.patience is not None
    desk.sweep()
    assert (desk.held, shared.bytes, desk.patience) == (0, 0, None)
    assert not desk.part(part(1, bytes(PART)))


def test_an_upload_that_trickles_is_given_up(clock: Clock) -> None:
    """A part now and then, always in time: all of it together takes too long."""
    shared = Uploads(limit=100 * PART, clock=clock)
    desk = begun(shared, 50 * PART)
    came = 1
    while desk.held:
        clock.now += 9.0
        assert not desk.part(part(came, bytes(PART))), "it is never whole"
        came += 1
        assert came < 60
    assert 9.0 * came > 400.0, "a slow line has its time: 64 KiB a second and 20 s"
    assert shared.bytes == 0


@pytest.mark.parametrize("wrong", [(0, PART + 1), (0, PART - 1), (1, PART), (2, 7), (-1, PART)])
def test_a_part_of_another_length_or_place_ends_the_upload(wrong: tuple[int, int]) -> None:
    shared = Uploads(limit=10 * PART)
    desk = UploadDesk(shared)
    desk.announce(start(PART + 7))
    desk.part(part(wrong[0], bytes(wrong[1])))
    assert desk.held == 0
    assert shared.bytes == 0
    assert not desk.part(part(0, bytes(PART)))
    assert not desk.part(part(1, bytes(7)))


@pytest.mark.parametrize("size", [-1, -PART, -10 * PART, 2**60])
def test_sizes_that_cannot_be_claim_nothing(size: int) -> None:
    shared = Uploads(limit=2**62)
    assert UploadDesk(shared).announce(start(size)) == []
    assert shared.bytes == 0


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
