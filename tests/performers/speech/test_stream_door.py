"""The live door: lines of JSON over files and over a real loopback websocket."""

from __future__ import annotations

import asyncio
import io
import json
import socket as sockets
import threading
import time

import numpy as np
import pytest

from bunraku.errors import BadInput, MissingExtra
from bunraku.motion.limits import MotionLimits
from bunraku.performers.speech.door import MAX_LINE, LineSession, serve_lines, serve_websocket
from bunraku.performers.speech.stream import SpeechStream

TOKEN = "correct horse"


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


class Server:
    """A websocket door in a thread."""

    def __init__(self, **options):
        self.stop, ready, self.frames, self.moments = threading.Event(), threading.Event(), [], []

        def note(port):
            self.port = port
            ready.set()

        def run():
            serve_websocket(
                make_stream, token=TOKEN, port=0, on_ready=note, stop=self.stop,
                sink=self.keep, **options,
            )  # fmt: skip

        self.thread = threading.Thread(target=run, daemon=True)
        self.thread.start()
        assert ready.wait(10.0)

    def keep(self, frame):
        self.moments.append(time.monotonic())
        self.frames.append(frame.copy())

    def close(self):
        self.stop.set()
        self.thread.join(10.0)
        assert not self.thread.is_alive()


async def heard(socket, status, most=100):
    """Whether one of the next replies has that status."""
    for _ in range(most):
        if json.loads(await asyncio.wait_for(socket.recv(), 2.0))["status"] == status:
            return True
    return False


@pytest.fixture
def server():
    pytest.importorskip("websockets")
    door = Server(patience=0.5)
    yield door
    door.close()


def test_websocket_drives_turns_others_away_and_holds_when_lost(server):
    from websockets.asyncio.client import connect
    from websockets.exceptions import ConnectionClosed

    async def scene():
        address = f"ws://127.0.0.1:{server.port}/"
        for attempt in ("", "?token=wrong"):
            async with connect(address + attempt) as socket:
                if not attempt:
                    await socket.send(json.dumps({"token": "wrong"}))
                with pytest.raises(ConnectionClosed) as caught:
                    await socket.recv()
                assert caught.value.rcvd.code == 1008
        async with connect(address + "?token=" + TOKEN.replace(" ", "%20")) as socket:
            for _ in range(12):
                await socket.send("[0.5, 0.1]")
                reply = json.loads(await socket.recv())
            assert reply["status"] == "ok"
            assert reply["joints"] == {"yaw": 0.5, "pitch": 0.1}
            async with connect(address) as second:
                await second.send(json.dumps({"token": TOKEN}))
                with pytest.raises(ConnectionClosed) as caught:
                    await second.recv()
                assert caught.value.rcvd.code == 1013
            await socket.send("not json")
            assert await heard(socket, "rejected")
            assert await heard(socket, "held"), "silence is held by the clock"
            await socket.send("[0.9, 0.1]")
        seen = len(server.frames)
        async with asyncio.timeout(60.0):  # it goes on after the client is lost
            while len(server.frames) <= seen:
                await asyncio.sleep(0.01)
        async with connect(address) as socket:
            await socket.send(json.dumps({"token": TOKEN}))
            await socket.send("[0.9, 0.1]")
            assert json.loads(await socket.recv())["joints"]["yaw"] > 0.49, "the pose is kept for the next client"
        async with connect(address + "?token=" + TOKEN.replace(" ", "%20")) as socket:
            await socket.send("[" + " " * (2 * MAX_LINE) + "0, 0]")
            with pytest.raises(ConnectionClosed) as caught:
                _ = [await socket.recv() for _ in range(1000)]
            assert caught.value.rcvd.code == 1009

    asyncio.run(asyncio.wait_for(scene(), 20.0))
    values = np.array(server.frames)
    assert (np.abs(np.diff(values, axis=0)).max(axis=0) <= np.array([4.0, 3.0]) / 50 + 1e-12).all()
    assert values[:, 0].max() > 0.5


@pytest.fixture
def patient_server():
    pytest.importorskip("websockets")
    door = Server(patience=60.0)
    yield door
    door.close()


@pytest.mark.parametrize("flood", [True, False])
def test_a_sink_is_driven_by_the_clock_however_fast_messages_come(patient_server, flood):
    """Velocity in real time, not in ticks: |x(t1) - x(t0)| <= v |t1 - t0| for all pairs of moments."""
    from websockets.asyncio.client import connect

    async def scene():
        async with connect(f"ws://127.0.0.1:{patient_server.port}/?token=" + TOKEN.replace(" ", "%20")) as socket:
            await socket.send("[-0.9, 0.0]")
            assert await heard(socket, "ok")
            for k in range(400 if flood else 12):
                await socket.send(f"[{0.9 * (-1) ** (k // 40 + 1)}, 0.0]" if flood else "[0.9, 0.0]")
                if not flood:
                    await socket.recv()
            statuses = [json.loads(await asyncio.wait_for(socket.recv(), 2.0))["status"] for _ in range(8)]
            assert set(statuses) <= {"ok", "priming"}, "the last wish is kept while the client is not silent for long"

    asyncio.run(asyncio.wait_for(scene(), 20.0))
    moments, yaw = np.array(patient_server.moments), np.array(patient_server.frames)[:, 0]
    assert len(moments) > 10
    assert np.diff(moments).min() >= 1 / 50.0 - 1e-9, "no tick sooner than the clock allows"
    apart, way = np.abs(moments[:, None] - moments), np.abs(yaw[:, None] - yaw)
    assert (way <= 4.0 * apart + 1e-7).all()


def test_a_port_in_use_is_said_with_its_address():
    pytest.importorskip("websockets")
    with sockets.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(BadInput, match=f"127.0.0.1:{port}.*in use"):
            serve_websocket(make_stream, token=TOKEN, port=port)
    with pytest.raises(BadInput, match="65535"):
        serve_websocket(make_stream, token=TOKEN, port=70000)


def test_a_failing_motor_driver_ends_the_service():
    pytest.importorskip("websockets")
    from websockets.asyncio.client import connect

    def fail(frame):
        raise RuntimeError("no motor")

    def enter(port):
        def drive():
            async def scene():
                async with connect(f"ws://127.0.0.1:{port}/?token=" + TOKEN.replace(" ", "%20")) as socket:
                    await socket.send("[0.0, 0.0]")
                    async for _ in socket:
                        pass

            asyncio.run(asyncio.wait_for(scene(), 5.0))

        threading.Thread(target=drive, daemon=True).start()

    with pytest.raises(RuntimeError, match="no motor"):
        serve_websocket(make_stream, token=TOKEN, port=0, on_ready=enter, sink=fail)


def test_the_door_opens_to_this_machine_only_and_wants_a_token(monkeypatch):
    with pytest.raises(BadInput, match="machine"):
        serve_websocket(make_stream, token=TOKEN, host="0.0.0.0")
    with pytest.raises(BadInput, match="token"):
        serve_websocket(make_stream, token="short")
    monkeypatch.setitem(__import__("sys").modules, "websockets.asyncio.server", None)
    with pytest.raises(MissingExtra, match="live"):
        serve_websocket(make_stream, token=TOKEN)
