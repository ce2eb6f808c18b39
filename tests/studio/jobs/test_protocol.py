"""Lines between worker and studio: bounded, and whatever is no message is no message."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest

from bunraku.studio.jobs.protocol import MAX_LINE, decode, encode, read_line


def test_a_message_comes_back_as_plain_values():
    message = {"id": 3, "figures": {"a": np.float64(0.5), "b": float("nan")}, "values": np.arange(3), "pair": (1, None)}
    line = encode(message)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert decode(line) == {"id": 3, "figures": {"a": 0.5, "b": None}, "values": [0, 1, 2], "pair": [1, None]}


def test_text_with_line_breaks_stays_on_one_line():
    assert encode({"error": "one\ntwo\r\n"}).count(b"\n") == 1


@pytest.mark.parametrize("line", [b"garbage\n", b"[1, 2]\n", b"\xff\xfe\n", b"", b"[" * 100_000 + b"\n", b'{"open": \n'])
def test_what_is_no_object_is_no_message(line):
    assert decode(line) is None


def test_lines_beyond_the_bound_are_read_over():
    long = b"x" * (3 * MAX_LINE) + b"\n"
    stream = io.BytesIO(b'{"a": 1}\n' + long + b'{"b": 2}\n')
    found = list(iter(lambda: read_line(stream), None))
    assert [decode(line) for line in found] == [{"a": 1}, None, {"b": 2}]
    assert found[1] == b""


def test_a_message_beyond_the_bound_is_not_sent():
    with pytest.raises(ValueError, match="at most"):
        encode({"text": "x" * MAX_LINE})
    assert len(encode({"text": "x" * (MAX_LINE - 100)})) <= MAX_LINE


def test_a_cut_off_line_is_none():
    stream = io.BytesIO(json.dumps({"a": 1}).encode())
    assert decode(read_line(stream) or b"") is None
    assert read_line(stream) is None
