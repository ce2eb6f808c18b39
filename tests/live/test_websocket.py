"""The live websocket: ticks on a loop whose time is ours, and one scene over a real loopback socket."""

from __future__ import annotations

import asyncio
import contextlib
import json
import selectors
import socket as sockets
import threading

import numpy as np
import pytest

from bunraku.errors import BadInput, MissingExtra
from bunraku.live import websocket
from bunraku.live.lines import MAX_LINE
from bunraku.live.websocket import serve_websocket
from bunraku.motion.limits import MotionLimits
from bunraku.performers.speech.stream import SpeechStream
from bunraku.stage.gate import Gate

pytest.importorskip("websockets")
TOKEN = "correct-horse-battery-staple"
SHOWN = "?token=" + TOKEN
PATIENCE = 0.5


def make_stream(rate=50.0):
    none = np.full(2, np.inf)
    limits = MotionLimits(("yaw", "pitch"), np.array([-1.0, -0.5]), np.array([1.0, 0.5]), np.array([4.0, 3.0]), none, none)
    return SpeechStream(limits, rate=rate, look_ahead=0.1)


class Jump(selectors.DefaultSelector):
    """A wait that takes no time: the clock jumps to its end."""

    now = 0.0

    def select(self, timeout=None):
        ready = super().select(0)
        if not ready and timeout is None:
            raise RuntimeError("everything waits for ever")
        self.now += max(0.0 if ready else timeout, 1e-5)  # a turn of the loop takes a little
        return ready


def in_our_time(scene):
    """Run a scene on a loop whose waits take no time."""
    jump = Jump()
    loop = asyncio.SelectorEventLoop(jump)
    loop.time = lambda: jump.now
    try:
        return loop.run_until_complete(scene())
    finally:
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        loop.close()


class Client:
    """What the door sees of a client, without a network: it sends lines and keeps the replies with the time they came."""

    def __init__(self):
        from websockets.exceptions import ConnectionClosedOK

        self.gone = ConnectionClosedOK(None, None)
        self.lines, self.replies, self.code = asyncio.Queue(), [], None

    async def recv(self):
        line = await self.lines.get()
        if line is None:
            raise self.gone
        return line

    async def send(self, reply):
        self.replies.append(json.loads(reply))

    async def close(self, code, reason):
        self.code = code
        self.lines.put_nowait(None)


class Stage:
    """A door that ticks, with what its sink gets and when."""

    def __init__(self, patience=PATIENCE):
        self.moments, self.frames = [], []
        self.door = websocket._Door(make_stream(), Gate(TOKEN, per_second=1e6), self.keep, patience)
        self.ticking = asyncio.create_task(self.door.tick_by_the_clock())

    def keep(self, frame):
        self.moments.append(asyncio.get_running_loop().time())
        self.frames.append(frame.copy())

    def enter(self, *lines):
        client = Client()
        for line in lines:
            client.lines.put_nowait(line)
        client.task = asyncio.create_task(self.door.client(client))
        return client


def test_one_client_drives_and_silence_is_held():
    async def scene():
        stage = Stage()
        first = stage.enter("[0.5, 0.1]")
        await asyncio.sleep(0.4)
        assert first.replies[-1] == {"t": first.replies[-1]["t"], "joints": {"yaw": 0.5, "pitch": 0.1}, "status": "ok"}
        second = stage.enter()
        await second.task
        assert second.code == 1013
        first.lines.put_nowait("not json")
        await asyncio.sleep(0.05)
        assert "rejected" in [reply["status"] for reply in first.replies]
        await asyncio.sleep(PATIENCE)
        assert first.replies[-1]["status"] == "held", "silence is held by the clock"
        first.lines.put_nowait("[0.9, 0.1]")
        await asyncio.sleep(0.01)
        first.lines.put_nowait(None)
        await first.task
        seen = len(stage.frames)
        await asyncio.sleep(10.0)
        assert len(stage.frames) > seen, "it goes on after the client is lost"
        assert stage.moments[-1] < asyncio.get_running_loop().time() - 5.0, "until it stands still"
        third = stage.enter("[0.9, 0.1]")
        await asyncio.sleep(0.03)
        assert third.replies[0]["joints"]["yaw"] > 0.49, "the pose is kept for the next client"
        return np.array(stage.frames)

    values = in_our_time(scene)
    assert (np.abs(np.diff(values, axis=0)).max(axis=0) <= np.array([4.0, 3.0]) / 50 + 1e-12).all()
    assert values[:, 0].max() > 0.5


def test_a_client_that_sends_too_fast_is_sent_away():
    async def scene():
        stage = Stage()
        stage.door._gate = Gate(TOKEN, per_second=20.0)
        client = stage.enter(*["[0.5, 0.1]"] * 30)
        await client.task
        assert client.code == 1008

    in_our_time(scene)


@pytest.mark.parametrize("flood", [True, False])
def test_a_sink_is_driven_by_the_clock_however_fast_messages_come(flood):
    """Velocity in real time, not in ticks: |x(t1) - x(t0)| <= v |t1 - t0| for all pairs of moments."""

    async def scene():
        stage = Stage(patience=60.0)
        client = stage.enter("[-0.9, 0.0]")
        await asyncio.sleep(0.3)
        assert client.replies[-1]["status"] == "ok"
        before = len(client.replies)
        for k in range(400 if flood else 12):
            client.lines.put_nowait(f"[{0.9 * (-1) ** (k // 40 + 1)}, 0.0]" if flood else "[0.9, 0.0]")
            await asyncio.sleep(0.0005 if flood else 0.03)
        assert {reply["status"] for reply in client.replies[before:]} <= {"ok", "priming"}, "the last wish is kept"
        return np.array(stage.moments), np.array(stage.frames)[:, 0]

    moments, yaw = in_our_time(scene)
    assert len(moments) > 10
    assert np.diff(moments).min() >= 1 / 50.0 - 1e-9, "no tick sooner than the clock allows"
    apart, way = np.abs(moments[:, None] - moments), np.abs(yaw[:, None] - yaw)
    assert (way <= 4.0 * apart + 1e-7).all()


def test_a_fault_of_ours_is_a_line_and_the_clock_ticks_on(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    async def scene():
        stage = Stage()
        with monkeypatch.context() as broken:
            broken.setattr(stage.door._session, "receive", lambda line: 1 / 0)
            client = stage.enter("[0.5, 0.1]")
            await client.task
        assert client.code == 1011
        other = stage.enter("[0.5, 0.1]")
        await asyncio.sleep(0.4)
        assert other.replies[-1]["status"] == "ok"

    in_our_time(scene)
    (line,) = capsys.readouterr().err.splitlines()
    assert "unexpected ZeroDivisionError" in line


def test_after_a_stall_ticks_are_not_made_up_for():
    async def scene():
        stage = Stage(patience=60.0)
        stage.enter("[0.5, 0.0]")
        await asyncio.sleep(0.3)
        asyncio.get_running_loop()._selector.now += 1.0  # this computer was busy
        await asyncio.sleep(0.2)
        return np.array(stage.moments)

    moments = in_our_time(scene)
    assert np.diff(moments).max() > 1.0
    assert np.diff(moments).min() >= 1 / 50.0 - 1e-9


def test_a_real_socket_lets_in_whoever_has_the_token_and_comes_from_here():
    from websockets.asyncio.client import connect
    from websockets.exceptions import ConnectionClosed, InvalidStatus

    stop, ports, frames = threading.Event(), [], []

    async def scene(port):
        address = f"ws://127.0.0.1:{port}/"
        for attempt in ("", "?token=wrong"):
            with pytest.raises(InvalidStatus, match="403"):
                await connect(address + attempt)
        for wrong in ({"origin": "http://evil.example"}, {"additional_headers": {"Host": "evil.example"}}):
            with pytest.raises(InvalidStatus, match="403"):
                await connect(address + SHOWN, **wrong)
        async with connect(address + SHOWN) as socket:
            await socket.send("[0.5, 0.1]")
            while (joints := json.loads(await socket.recv())["joints"]) is None:  # it ticked before the first wish came
                pass
            assert joints == {"yaw": 0.5, "pitch": 0.1}
            await socket.send("[" + " " * (2 * MAX_LINE) + "0, 0]")
            with pytest.raises(ConnectionClosed) as caught:
                [None async for _ in socket]
            assert caught.value.rcvd.code == 1009

    def drive(port):
        def run():
            try:
                asyncio.run(scene(port))
                ports.append(port)
            finally:
                stop.set()

        threading.Thread(target=run, daemon=True).start()

    serve_websocket(make_stream, token=TOKEN, port=0, sink=frames.append, on_ready=drive, stop=stop)
    assert ports, "the scene came to its end"
    assert frames


def test_a_port_in_use_is_said():
    with sockets.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(BadInput, match=f"port {port} is in use"):
            serve_websocket(make_stream, token=TOKEN, port=port)
    with pytest.raises(BadInput, match="port 70000"):
        serve_websocket(make_stream, token=TOKEN, port=70000)


def test_a_failing_motor_driver_ends_the_service():
    from websockets.exceptions import ConnectionClosed
    from websockets.sync.client import connect

    def fail(frame):
        raise RuntimeError("no motor")

    def enter(port):
        def drive():
            with connect(f"ws://127.0.0.1:{port}/" + SHOWN, proxy=None) as socket:
                socket.send("[0.0, 0.0]")
                with contextlib.suppress(ConnectionClosed):
                    while True:
                        socket.recv()

        threading.Thread(target=drive, daemon=True).start()

    with pytest.raises(RuntimeError, match="no motor"):
        serve_websocket(make_stream, token=TOKEN, port=0, on_ready=enter, sink=fail)


def test_the_door_opens_to_this_machine_only_and_wants_a_token(monkeypatch):
    with pytest.raises(BadInput, match="machine"):
        serve_websocket(make_stream, token=TOKEN, host="0.0.0.0")
    for weak in ("short", TOKEN[:21], "ab" * 20, "correct horse battery staple", "x" * 200):
        with pytest.raises(BadInput, match="token"):
            serve_websocket(make_stream, token=weak)
    monkeypatch.setitem(__import__("sys").modules, "websockets.asyncio.server", None)
    with pytest.raises(MissingExtra, match="live"):
        serve_websocket(make_stream, token=TOKEN)
