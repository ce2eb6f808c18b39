"""Lines of JSON, one tick a line."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest

from bunraku.live.lines import MAX_LINE, LineSession, serve_lines
from bunraku.motion.limits import MotionLimits
from bunraku.performers.speech.stream import SpeechStream


def make_stream(rate=50.0):
    none = np.full(2, np.inf)
    limits = MotionLimits(("yaw", "pitch"), np.array([-1.0, -0.5]), np.array([1.0, 0.5]), np.array([4.0, 3.0]), none, none)
    return SpeechStream(limits, rate=rate, look_ahead=0.1)


def talk(lines):
    """Replies of a line session to text."""
    out = io.StringIO()
    serve_lines(make_stream(), io.StringIO("".join(line + "\n" for line in lines)), out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_lines_carry_the_same_motion_as_the_stream():
    t = np.arange(60) / 50.0
    frames = np.column_stack([0.9 * np.sin(6 * t), 0.4 * np.cos(9 * t)])
    lines = [json.dumps({"t": 2.0 + s, "joints": {"yaw": a, "pitch": b}}) for s, (a, b) in zip(t, frames, strict=True)]
    replies = talk(lines)
    stream = make_stream()
    expected = []
    for frame in frames:
        stream.push(frame)
        expected.append(stream.out.copy())
    expected = np.concatenate([expected, stream.flush()])
    got = np.array([[reply["joints"]["yaw"], reply["joints"]["pitch"]] for reply in replies])
    assert np.array_equal(got, expected)
    assert [reply["t"] for reply in replies[: stream.latency]] == [None] * stream.latency
    assert [reply["t"] for reply in replies[stream.latency :]] == pytest.approx(2.0 + t)
    assert {reply["status"] for reply in replies} == {"priming", "ok", "draining"}


def test_lists_partial_frames_and_empty_ticks():
    replies = talk(["[0.1, 0.2]", '{"joints": {"pitch": 0.3}}', "{}", "", "[5.0, 0.0]", *["[0.1, 0.3]"] * 10])
    assert [reply["status"] for reply in replies[:4]] == ["priming", "priming", "held", "clamped"]
    assert replies[0]["joints"] == {"yaw": 0.1, "pitch": 0.2}
    assert replies[-1]["joints"]["yaw"] == pytest.approx(0.1, abs=0.02), "a joint left out kept its value"


@pytest.mark.parametrize(
    "bad",
    [
        "nonsense",
        "[1, 2, 3]",
        '[1, "x"]',
        "[true, false]",
        "3",
        '{"joints": {"tail": 1}}',
        '{"joints": [1]}',
        '{"joints": {"yaw": NaN}}',
        '{"joints": {"yaw": null}}',
        '{"t": "soon", "joints": {"yaw": 1}}',
        '{"t": Infinity}',
        "[NaN, 0]",
        "[" * 5000,
        "[1e999, 0]",
        '{"joints": {"yaw": 1' + "0" * 400 + "}}",
        "9" * 6000,
        "[" + " " * (2 * MAX_LINE) + "1, 2]",
        "\ud800",
    ],
)
def test_a_bad_line_is_answered_and_held(bad):
    replies = talk(["[0.1, 0.2]", *["[0.1, 0.2]"] * 8, bad, "[0.1, 0.2]"])
    assert len(replies) >= 11, "one reply a line"
    assert replies[9]["status"] == "rejected"
    assert replies[9]["reason"]
    assert replies[9]["joints"] == {"yaw": 0.1, "pitch": 0.2}
    assert replies[10]["status"] == "ok"


def test_bytes_that_are_no_text_are_answered():
    out = io.StringIO()
    assert serve_lines(make_stream(), io.BytesIO(b"[0.1, 0.2]\n\xff\xfe\x00\n[0.1, 0.2]\n"), out) == 3
    statuses = [json.loads(line)["status"] for line in out.getvalue().splitlines()]
    assert statuses[:3] == ["priming", "rejected", "priming"]


def timed(times, start=True):
    """Replies to frames with these times, None for a frame without one, at 50 Hz."""
    limits = make_stream().limits
    session = LineSession(SpeechStream(limits, rate=50.0, look_ahead=0.1, start=[0.0, 0.0] if start else None))
    lines = [json.dumps({"joints": {"yaw": 0.1, "pitch": 0.2}} | ({} if t is None else {"t": t})) for t in times]
    return [json.loads(session.answer(line)) for line in lines], session.stream.latency


@pytest.mark.parametrize("start", [True, False])
def test_the_times_of_the_sender_come_back_also_from_a_known_pose(start):
    sent = 5.0 + np.arange(30) * 0.02 + 0.004 * np.sin(np.arange(30.0))
    replies, latency = timed(sent.tolist(), start)
    assert [reply["t"] for reply in replies[:latency]] == [None] * latency
    assert [reply["t"] for reply in replies[latency:]] == pytest.approx(sent[:-latency], abs=1e-9)
    assert {reply["status"] for reply in replies} == {"priming", "ok"}


def test_frames_without_times_are_counted_from_the_first():
    replies, latency = timed([None] * 20)
    assert [reply["t"] for reply in replies[latency:]] == pytest.approx(np.arange(20 - latency) / 50.0)


def test_a_gap_is_rejected_once_and_the_clock_follows():
    before, after = (5.0 + np.arange(10) * 0.02).tolist(), (95.0 + np.arange(12) * 0.02).tolist()
    replies, latency = timed(before + after)
    assert [reply["status"] for reply in replies[8:13]] == ["ok", "ok", "rejected", "ok", "ok"]
    assert "gap" in replies[10]["reason"]
    times = [reply["t"] for reply in replies]
    assert times[10 + latency - 1] == pytest.approx(before[-1])
    assert times[10 + latency] == pytest.approx(before[-1] + 0.02), "the pose was held in that tick"
    assert times[11 + latency :] == pytest.approx(after[1 : 1 + len(times) - 11 - latency])


def test_one_stray_or_late_frame_is_rejected_alone():
    sent = (1.0 + np.arange(12) * 0.02).tolist()
    for stray in (0.5, 1e9, sent[7], -3.0):
        replies, _ = timed([*sent[:8], stray, *sent[9:]])
        statuses = [reply["status"] for reply in replies]
        assert statuses[8] == "rejected"
        assert statuses.count("rejected") == 1
    replies, _ = timed([*sent[:8], *sent])
    assert [reply["status"] for reply in replies].count("rejected") == 1, "a sender who begins anew is believed at his second frame"
    assert "back" in replies[8]["reason"]


def test_before_the_first_whole_frame_there_is_no_pose():
    session = LineSession(make_stream())
    reply = json.loads(session.answer('{"joints": {"yaw": 0.1}}'))
    assert reply["status"] == "rejected"
    assert reply["joints"] is None
    assert "pitch" in reply["reason"]
    assert json.loads(session.answer("{}"))["status"] == "waiting"
