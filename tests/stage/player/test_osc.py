"""OSC datagrams: those of another program are read, garbage is refused and nothing else."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.stage.player.conftest import write_osc

from bunraku.stage.player.osc import OscError, OscMessage, read_osc


def built(address: str, *values: object) -> bytes:
    from pythonosc.osc_message_builder import OscMessageBuilder

    builder = OscMessageBuilder(address)
    for value in values:
        builder.add_arg(value)
    return builder.build().dgram


def test_messages_of_python_osc_are_read() -> None:
    found = read_osc(built("/bunraku/cue", "wave", 7, 0.5, b"xyz", True, False, None))
    assert found == [OscMessage("/bunraku/cue", ("wave", 7, 0.5, b"xyz", True, False, None))]
    assert read_osc(built("/bunraku/start")) == [OscMessage("/bunraku/start")]


@given(st.text(st.characters(min_codepoint=33, max_codepoint=0x2FF), min_size=1, max_size=40), st.integers(-(2**31), 2**31 - 1))
def test_what_we_write_python_osc_reads(text: str, number: int) -> None:
    from pythonosc import osc_message

    message = osc_message.OscMessage(write_osc("/bunraku/cue", text, number, 0.25))
    assert (message.address, message.params) == ("/bunraku/cue", [text, number, 0.25])
    assert read_osc(write_osc("/bunraku/cue", text, number)) == [OscMessage("/bunraku/cue", (text, number))]


def test_bundles_within_bundles_come_in_order() -> None:
    from pythonosc.osc_bundle_builder import IMMEDIATELY, OscBundleBuilder
    from pythonosc.osc_message_builder import OscMessageBuilder

    inner = OscBundleBuilder(IMMEDIATELY)
    inner.add_content(OscMessageBuilder("/b").build())
    outer = OscBundleBuilder(IMMEDIATELY)
    outer.add_content(OscMessageBuilder("/a").build())
    outer.add_content(inner.build())
    assert [message.address for message in read_osc(outer.build().dgram)] == ["/a", "/b"]


def bundle(*parts: bytes) -> bytes:
    return b"#bundle\x00" + bytes(8) + b"".join(struct.pack(">i", len(part)) + part for part in parts)


def nested(depth: int) -> bytes:
    data = write_osc("/x")
    for _ in range(depth):
        data = bundle(data)
    return data


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"abc\x00",
        b"/a",
        b"/a\x00\x01,\x00\x00\x00",
        b"/a\x00\x00,i\x00\x00\x00\x00",
        b"/a\x00\x00,Z\x00\x00",
        b"/a\x00\x00,b\x00\x00\x7f\xff\xff\xff",
        b"/a\x00\x00xyz\x00",
        b"/\xff\x00\x00,\x00\x00\x00",
        b"#bundle\x00" + bytes(4),
        bundle(b""),
        bundle(write_osc("/a"))[:-2],
        nested(5),
        write_osc("/a") + bytes(4),
        b"/" + b"a" * 300 + bytes(3),
        bytes(1473),
        bundle(*[write_osc("/a")] * 65),
    ],
)
def test_what_is_no_osc_is_refused(data: bytes) -> None:
    with pytest.raises(OscError):
        read_osc(data)
    assert len(read_osc(nested(4))) == 1


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200))
def test_no_datagram_does_anything_else(data: bytes) -> None:
    for packet in (data, b"/a\x00\x00," + data, bundle(data)):
        try:
            found = read_osc(packet)
        except OscError:
            continue
        assert all(message.address.startswith("/") for message in found)
