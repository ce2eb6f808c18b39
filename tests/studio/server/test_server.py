"""The server from the inside: addresses, events over HTTP, published files, starting and stopping."""

from __future__ import annotations

import socket
import threading
from types import SimpleNamespace
from typing import Any

import pytest

from bunraku.errors import BadInput
from bunraku.studio.server.server import StudioServer


def test_the_address_holds_a_long_secret(ours: Any) -> None:
    server = ours.studio
    assert server.url == f"http://127.0.0.1:{server.port}/{server.token}/"
    assert len(server.token) >= 32
    other = StudioServer()
    other.stop()
    assert other.token != server.token
    assert ours.get(ours.path.rstrip("/"))[0] == 308
    assert ours.get(ours.path.rstrip("/"))[1]["location"] == ours.path


def test_the_page_is_ours_and_packed_when_wished(ours: Any) -> None:
    import gzip

    _, headers, body = ours.get()
    assert b"<title>Bunraku studio</title>" in body
    assert body.index(b'src="page.js"') < body.index(b"<script data-p=")
    assert b'name="bunraku-upload-limit" content="2097152"' in body
    assert headers["content-type"] == "text/html; charset=utf-8"
    _, headers, packed = ours.get(headers={"Accept-Encoding": "gzip, br"})
    assert headers["content-encoding"] == "gzip"
    assert gzip.decompress(packed) == body
    assert ours.get(ours.path + "page.js")[1]["content-type"].startswith("text/javascript")
    assert b"data-drag" in ours.get(ours.path + "page.css")[2]


def test_events_arrive_with_their_fields(ours: Any) -> None:
    seen: list[dict[str, str]] = []
    threads: set[str] = set()
    ours.studio.on_event("gait.toggle", lambda fields: (seen.append(fields), threads.add(threading.current_thread().name)))
    assert ours.get(ours.path + "event/gait.toggle?foot=L%26F&cell=3&empty=")[0] == 204
    assert ours.get(ours.path + "event/gait.toggle")[0] == 204
    assert ours.studio.wait_idle(10)
    assert seen == [{"foot": "L&F", "cell": "3", "empty": ""}, {}]
    assert threads == {"bunraku-studio-events"}
    assert ours.get(ours.path + "event/no.such")[0] == 404
    assert ours.get(ours.path + "event/gait.toggle?a=1&a=2")[0] == 400
    assert ours.get(ours.path + "event/gait.toggle?" + "&".join(f"f{i}=1" for i in range(65)))[0] == 400
    assert ours.get(ours.path + "event/gait.toggle/../x")[0] == 404
    assert len(seen) == 2


def test_files_are_served_whole_in_part_and_no_longer(ours: Any) -> None:
    data = bytes(range(256)) * 10
    path = ours.path + ours.studio.publish("voice.wav", data, "audio/wav")
    status, headers, body = ours.get(path)
    assert (status, body, headers["content-type"]) == (200, data, "audio/wav")
    assert "content-disposition" not in headers
    assert "sandbox" in headers["content-security-policy"]
    status, headers, body = ours.get(path, {"Range": "bytes=100-199"})
    assert (status, body, headers["content-range"]) == (206, data[100:200], f"bytes 100-199/{len(data)}")
    assert ours.get(path, {"Range": "bytes=2500-"})[2] == data[2500:]
    assert ours.get(path, {"Range": f"bytes={len(data)}-"})[0] == 416
    again = ours.path + ours.studio.publish("voice.wav", b"other", "audio/wav")
    assert ours.get(path)[0] == 404
    assert ours.get(again)[2] == b"other"
    ours.studio.withdraw("voice.wav")
    assert ours.get(again)[0] == 404
    ours.studio.withdraw("voice.wav")


def test_a_page_among_the_files_is_saved_and_never_shown(ours: Any) -> None:
    path = ours.studio.publish('../"show".html', b"<script>alert(1)</script>", "text/html")
    _, headers, _ = ours.get(ours.path + path)
    assert headers["content-disposition"] == 'attachment; filename="__show_.html"'
    ours.studio.withdraw('../"show".html')


def test_a_busy_port_is_an_error_and_not_another_port() -> None:
    import viser

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(BadInput, match=f"port {port} is in use"):
            StudioServer(port=port)
        stock = viser.ViserServer(host="127.0.0.1", port=port, verbose=False)
        assert stock.get_port() != port
        stock.stop()
    server = StudioServer(port=port)
    assert server.port == port
    server.stop()
    server.stop()


def test_wrong_places_to_listen_are_errors() -> None:
    with pytest.raises(BadInput, match="port 70000"):
        StudioServer(port=70000)
    with pytest.raises(BadInput, match=r"cannot listen on 192\.0\.2\.1"):
        StudioServer(host="192.0.2.1")
    with pytest.raises(BadInput, match="token"):
        StudioServer(token="short")
    with pytest.raises(BadInput, match="token"):
        StudioServer(token="a/../../../../../../../b")


def test_another_host_is_served_with_a_warning() -> None:
    server = StudioServer(host="127.0.0.1", token="a-token_of-22-letters0")
    assert server.warning is None
    assert server.token == "a-token_of-22-letters0"
    server.stop()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bunraku.studio.server.server.is_loopback", lambda host: False)
        server = StudioServer()
    assert "not encrypted" in str(server.warning)
    server.stop()


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str], say: Any) -> None:
    import rich

    server = StudioServer()
    rich.print("ours")
    server.stop()
    rich.print("and after")
    out, err = capfd.readouterr()
    assert out == "ours\nand after\n"
    assert err == ""


def test_another_version_of_viser_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("viser.__version__", "1.2.0")
    with pytest.raises(BadInput, match=r"viser 1\.2\.0 .* pip install"):
        StudioServer()


def test_a_start_that_does_not_pass_the_patch_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    import websockets
    from viser.infra import _infra

    stock = websockets.asyncio.server.serve
    ports: list[int] = []

    def other_way(handler: Any, host: str, port: int, **options: Any) -> Any:
        ports.append(port)
        return stock(handler, host, port, **options)

    around = SimpleNamespace(asyncio=SimpleNamespace(server=SimpleNamespace(serve=other_way)), exceptions=websockets.exceptions)
    monkeypatch.setattr(_infra, "websockets", around)
    with pytest.raises(BadInput, match="could not be put behind"):
        StudioServer()
    monkeypatch.undo()
    assert websockets.asyncio.server.serve is stock
    for port in ports:
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port), timeout=5)


def test_a_server_that_cannot_open_is_an_error_and_no_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> Any:
        raise RuntimeError("no such thing")

    monkeypatch.setattr("bunraku.stage.gate._bounded_connection", broken)
    with pytest.raises(BadInput, match="no such thing"):
        StudioServer()


def test_viser_of_others_is_left_alone() -> None:
    import viser
    import websockets.asyncio.server as module

    stock = module.serve
    server = StudioServer()
    assert module.serve is stock
    other = viser.ViserServer(host="127.0.0.1", port=server.port + 1, verbose=False)
    assert other.request_share_url.__qualname__ == "ViserServer.request_share_url"
    other.stop()
    server.stop()
