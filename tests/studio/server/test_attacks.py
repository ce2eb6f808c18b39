"""Every attack on viser that is known, tried on viser as it comes (it works) and on the studio (it fails)."""

from __future__ import annotations

import contextlib
import socket
from typing import Any

import pytest

PART = 512 * 1024


def refused(opening: Any) -> int | None:
    """The HTTP status a handshake was refused with; ``None`` when it was let in."""
    from websockets.exceptions import InvalidStatus

    try:
        with opening:
            return None
    except InvalidStatus as error:
        return error.response.status_code


def upload(
    target: Any, say: Any, client: Any, *, size: int, parts: list[bytes], name: str = "a.csv", key: str = "k", **more: Any
) -> None:
    button = more.pop("button", target.loader._impl.uuid)
    announced = {"part_count": -(-size // PART), "filename": name, "mime_type": "text/csv", "size_bytes": size} | more
    say(client, type="FileTransferStartUpload", source_component_uuid=button, transfer_uuid=key, **announced)
    for index, content in enumerate(parts):
        say(client, type="FileTransferPart", source_component_uuid=button, transfer_uuid=key, part_index=index, content=content)


def held(target: Any) -> int:
    """Bytes and uploads that viser keeps."""
    states = target.viser.gui._current_file_upload_states.values()
    return len(states) + sum(state["transferred_bytes"] for state in states)


# ---- who may connect ----


def test_only_this_machine_is_listened_to(ours: Any) -> None:
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", ours.port), timeout=5)
    assert ours.studio.warning is None


def test_without_the_token_there_is_nothing(ours: Any, stock: Any) -> None:
    assert stock.get("/")[0] == 200
    assert refused(stock.socket("/")) is None
    token = ours.path.strip("/")
    flipped = token[:-1] + ("A" if token[-1] != "A" else "B")
    for path in (
        "/",
        "/index.html",
        "/page.js",
        f"/{flipped}/",
        f"/{token[:-1]}/",
        f"/{token}x/",
        f"/x/{token}/",
        f"/?{token}/",
        "/event/audio.drift",
    ):
        status, headers, body = ours.get(path)
        assert status == 404, path
        assert token.encode() not in body
        assert headers["x-frame-options"] == "DENY"
    for path in ("/", f"/{flipped}", f"/x/{token}", f"/?token={token}"):
        assert refused(ours.socket(path)) == 404, path
    assert ours.get()[0] == 200
    assert refused(ours.socket()) is None


def test_a_page_of_another_origin_cannot_press_a_button(ours: Any, stock: Any) -> None:
    with stock.socket(origin="http://evil.example") as client:
        assert stock.press(client)
    foreign = (
        "http://evil.example",
        "null",
        f"http://localhost:{ours.port}",
        "http://127.0.0.1:1",
        f"https://127.0.0.1:{ours.port}",
        None,
    )
    for origin in foreign:
        assert refused(ours.socket(origin=origin)) == 403, origin
    assert refused(ours.socket(headers={"Sec-Fetch-Site": "cross-site"})) == 403
    with ours.socket() as client:
        assert ours.press(client)


def test_a_name_rebound_to_this_machine_is_not_served(ours: Any, stock: Any) -> None:
    evil = f"evil.example:{ours.port}"
    assert stock.get(headers={"Host": evil})[0] == 200
    assert refused(stock.socket(host=f"evil.example:{stock.port}")) is None
    for name in (
        evil,
        "evil.example",
        "127.0.0.1.evil.example",
        "localhost.evil.example:80",
        "10.0.0.7",
        "",
        "127.0.0.1:80@evil.example",
        "a b",
    ):
        assert ours.get(headers={"Host": name})[0] == 403, name
    assert refused(ours.socket(host=evil)) == 403
    assert ours.get(headers={"Host": f"localhost:{ours.port}"})[0] == 200
    with ours.socket(host=f"localhost:{ours.port}") as client:
        assert ours.press(client)


def test_requests_of_other_sites_are_refused_and_opening_the_page_is_not(ours: Any) -> None:
    event = ours.path + "event/audio.drift"
    page = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert ours.get(event, {"Sec-Fetch-Site": "same-origin"})[0] == 204
    assert ours.get(event, {"Sec-Fetch-Site": "cross-site"})[0] == 403
    assert ours.get(event, {"Sec-Fetch-Site": "cross-site"} | page)[0] == 403
    assert ours.get(event, {"Sec-Fetch-Site": "none"} | page)[0] == 403
    assert ours.get(event, {"Origin": "http://evil.example"})[0] == 403
    assert ours.get(headers={"Sec-Fetch-Site": "cross-site"} | page)[0] == 200
    assert ours.get(headers={"Sec-Fetch-Site": "cross-site"} | page | {"Sec-Fetch-Dest": "iframe"})[0] == 403
    assert ours.get(headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script"})[0] == 403


# ---- what the page may be made to do ----


def test_no_query_can_send_the_page_to_another_server(ours: Any, stock: Any) -> None:
    for query in ("?websocket=ws://evil.example", "?playbackPath=http://evil.example/x", "?%77ebsocket=ws://evil.example"):
        assert stock.get("/" + query)[0] == 200
        assert ours.get(ours.path + query)[0] == 400, query
    policy = ours.get()[1]["content-security-policy"]
    connect = next(rule for rule in policy.split(";") if rule.strip().startswith("connect-src")).split()[1:]
    assert set(connect) == {"'self'", f"ws://{ours.host}", "data:", "blob:"}


def test_the_page_cannot_be_framed_nor_run_foreign_scripts(ours: Any, stock: Any) -> None:
    assert "content-security-policy" not in stock.get()[1]
    assert "x-frame-options" not in stock.get()[1]
    _, headers, _ = ours.get()
    policy = {rule.split()[0]: rule.split()[1:] for rule in headers["content-security-policy"].split(";")}
    assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == policy["form-action"] == ["'none'"]
    assert "'unsafe-inline'" not in policy["script-src"]
    assert not any(":" in source for source in policy["script-src"])
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"


def test_a_client_cannot_open_a_public_tunnel(ours: Any, stock: Any, say: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import threading

    from bunraku.errors import BadInput

    opened = threading.Event()

    class FakeTunnel:
        def __init__(self, domain: str, port: int) -> None:
            opened.set()
            raise ConnectionError("no network in tests")

    monkeypatch.setattr("viser._viser.ViserTunnel", FakeTunnel)
    with stock.socket() as client:
        say(client, type="ShareUrlRequest")
        assert opened.wait(10)
    opened.clear()
    with ours.socket() as client:
        say(client, type="ShareUrlRequest")
        say(client, type="ShareUrlDisconnect")
        assert ours.press(client)
    with pytest.raises(BadInput, match="no public tunnel"):
        ours.viser.request_share_url()
    handled = {kind.__name__ for kind in ours.viser._websock_server._incoming_handlers}
    assert "GuiUpdateMessage" in handled
    assert not {"ShareUrlRequest", "ShareUrlDisconnect"} & handled
    assert not opened.is_set()


# ---- what a client may send ----


def test_an_oversized_upload_is_refused_before_it_is_kept(ours: Any, stock: Any, say: Any) -> None:
    with stock.socket() as client:
        upload(stock, say, client, size=10 * 2**30, parts=[bytes(PART)])
        assert stock.press(client)
        assert held(stock) > PART
    with ours.socket() as client:
        upload(ours, say, client, size=2 * 2**20 + 1, parts=[bytes(PART)], key="too large")
        assert ours.press(client)
        assert not ours.studio.uploads._under_way  # nothing waits for the rest of it
        upload(ours, say, client, size=2 * 2**20 + 1, parts=[bytes(PART)] * 4 + [b"x"])
        assert ours.press(client)
        assert held(ours) == 0
        assert not ours.files
        upload(ours, say, client, size=2 * 2**20, parts=[bytes(PART)] * 4)
        assert ours.loaded.wait(10)
        assert len(ours.files.pop().content) == 2 * 2**20


@pytest.mark.parametrize(
    "lie",
    [
        {"size": 10, "parts": [b"x" * 11]},
        {"size": 10, "parts": [b"x" * 9]},
        {"size": -1, "parts": [b"x"], "part_count": 1},
        {"size": -PART, "parts": [bytes(PART)] * 3},
        {"size": 0, "parts": [b"x" * 100], "part_count": 1},
        {"size": 10, "parts": [b"x" * 10] * 3, "part_count": 3},
        {"size": PART + 1, "parts": [bytes(PART), bytes(PART)]},
        {"size": 10, "parts": [b"x" * 10], "part_count": 10**12},
        {"size": 10.0, "parts": [b"x" * 10]},
        {"size": True, "parts": [b"x"]},
        {"size": 10, "parts": ["x" * 10]},
        {"size": 10, "parts": [b"x" * 10], "key": "k" * 1000},
        {"size": 10, "parts": [b"x" * 10], "button": "no such button"},
    ],
    ids=lambda lie: "-".join(f"{key}" for key in lie) + f"-{lie['size']}",
)
def test_a_lying_upload_leaves_nothing_behind(ours: Any, say: Any, lie: dict[str, Any]) -> None:
    ours.files.clear()
    with ours.socket() as client:
        upload(ours, say, client, **lie)
        assert ours.press(client)
        assert not ours.files
        assert held(ours) == 0
        assert not ours.studio.uploads._under_way


def test_a_file_cannot_become_the_value_of_another_widget(ours: Any, stock: Any, say: Any) -> None:
    from viser import UploadedFile

    for target in (stock, ours):
        with target.socket() as client:
            upload(target, say, client, size=3, parts=[b"abc"], button=target.number._impl.uuid)
            assert target.press(client)
    assert isinstance(stock.number.value, UploadedFile)
    assert ours.number.value == 1.0
    stock.number._impl.value = 1.0


def test_many_small_uploads_at_once_are_bounded(ours: Any, stock: Any, say: Any) -> None:
    for target in (stock, ours):
        with target.socket() as client:
            for index in range(20):
                upload(target, say, client, size=PART + 1, parts=[bytes(PART)], key=f"upload {index}")
            assert target.press(client)
            if target is stock:
                assert held(stock) >= 20 * PART
            else:
                assert len(ours.studio.uploads._under_way) <= 2
                assert ours.studio.uploads.bytes <= 2 * 2**20
    # a client that leaves takes its uploads along
    with ours.socket() as client:
        upload(ours, say, client, size=5, parts=[b"hello"])
        assert ours.loaded.wait(10)
        assert ours.press(client)
    assert not ours.studio.uploads._under_way


def test_names_of_files_lead_nowhere(ours: Any, stock: Any, say: Any) -> None:
    for target in (stock, ours):
        target.files.clear()
        target.loaded.clear()
        with target.socket() as client:
            assert target.press(client)
            upload(target, say, client, size=4, parts=[b"root"], name="../../etc/passwd")
            assert target.loaded.wait(10)
    assert stock.files[0].name == "../../etc/passwd"
    assert "/" not in ours.files[0].name
    assert ".." not in ours.files[0].name
    assert ours.studio.uploads.label(ours.files[0].name) == "passwd"


def test_an_update_may_only_set_a_value(ours: Any, stock: Any, say: Any) -> None:
    for target in (stock, ours):
        with target.socket() as client:
            say(client, type="GuiUpdateMessage", uuid=target.number._impl.uuid, updates={"removed": True})
            assert target.press(client)
    assert stock.number._impl.removed
    assert not ours.number._impl.removed
    stock.number._impl.removed = False


def test_numbers_that_are_none_do_not_arrive(ours: Any, stock: Any, say: Any) -> None:
    import math

    for target in (stock, ours):
        with target.socket() as client:
            say(client, type="GuiUpdateMessage", uuid=target.number._impl.uuid, updates={"value": float("nan")})
            assert target.press(client)
    assert math.isnan(stock.number.value)
    assert ours.number.value == 1.0
    stock.number._impl.value = 1.0


def test_messages_no_page_sends_are_ignored(ours: Any, say: Any) -> None:
    before = ours.viser.gui._gui_input_handle_from_uuid.copy()
    with ours.socket() as client:
        for message in (
            {"type": "RunJavascriptMessage", "source": "alert(1)"},
            {"type": "GuiRemoveMessage", "uuid": ours.button._impl.uuid},
            {"type": "FileTransferStartDownload", "save_immediately": True},
            {"type": "NoSuchMessage"},
            {"type": ["list"]},
            {"no": "type"},
            {"type": "GuiUpdateMessage"},
            {"type": "GuiUpdateMessage", "uuid": 3, "updates": {"value": 1}, "and": "more"},
            {"type": "CommandTriggerMessage", "uuid": "x" * 100_000},
        ):
            say(client, **message)
        client.send(b"\xc1 no msgpack")
        client.send(b"\x91" * 5000)
        client.send("text")
        client.send(b"")
        assert ours.press(client)
    assert ours.viser.gui._gui_input_handle_from_uuid == before


def test_a_message_too_large_ends_the_connection_and_only_it(ours: Any, say: Any) -> None:
    from websockets.exceptions import ConnectionClosed

    with ours.socket() as other:
        with ours.socket() as client, contextlib.suppress(ConnectionClosed):
            client.send(bytes(17 * 2**20))
            while True:
                client.recv(timeout=10)
        assert client.protocol.close_code == 1009
        assert ours.press(other)


# ---- how many ----


def test_connections_are_bounded(ours: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bunraku.stage.gate.OPEN", 2)
    with ours.socket(), ours.socket() as second:
        assert refused(ours.socket()) == 503
        assert ours.press(second)
    assert ours.get()[0] == 200


def test_what_is_no_get_request_is_refused(ours: Any) -> None:
    import http.client

    for method in ("POST", "PUT", "DELETE"):
        try:
            status = ours.get(method=method)[0]
        except (http.client.HTTPException, ConnectionError):
            status = 400
        assert status >= 400
    assert refused(ours.socket(protocol="viser-v0.0.1")) == 400
    assert ours.get(ours.path + "../../etc/passwd")[0] == 404
    assert ours.get(ours.path + "files/../page.js")[0] == 404
    assert ours.get()[0] == 200


def test_a_pickle_in_a_performance_is_never_run(tmp_path: Any) -> None:
    """A ``.performance.npz`` that a browser brings: objects in it are refused, by one line, and nothing of it is run."""
    import io

    import numpy as np

    from bunraku.errors import BunrakuError
    from bunraku.studio.session import Session

    mark = tmp_path / "run"

    class Bomb:
        def __reduce__(self) -> Any:
            return (mark.write_text, ("boom",))

    file = io.BytesIO()
    np.savez(file, meta=np.array([Bomb()], dtype=object), values=np.array([Bomb()], dtype=object))
    file.seek(0)
    np.load(file, allow_pickle=True)["meta"]
    assert mark.read_text() == "boom", "the attack works on who allows it"
    mark.unlink()
    session = Session(tmp_path / "project")
    try:
        before = session.document
        with pytest.raises(BunrakuError) as refusal:
            session.bring("evil.performance.npz", file.getvalue())
        assert "\n" not in str(refusal.value)
        assert session.document is before
        assert not mark.exists()
    finally:
        session.close()
