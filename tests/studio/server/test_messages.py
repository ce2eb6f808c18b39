"""The filter of messages: what viser's page sends passes unchanged, every other kind does not."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bunraku.stage.gate import Gate, Intake
from bunraku.studio.server.messages import ALLOWED, LARGEST, FilteredConnection, MessageFilter
from bunraku.studio.server.uploads import PART, UploadDesk, Uploads

VALUES = {"Dict": {"value": 1.0}, "str": "x", "int": 3, "float": 0.5, "bool": True, "bytes": b"abc"}


class AnyWidget:
    """A number of every name, a text named "text", a button for files named "b", and gizmos."""

    def input(self, uuid: str) -> Any:
        import viser

        facts = {"value": 1.0, "disabled": False, "min": 0.0, "max": 2.0, "precision": 1}
        kind: Any = {"text": viser.GuiTextHandle, "b": viser.GuiUploadButtonHandle}.get(uuid, viser.GuiNumberHandle)
        return object.__new__(type("Widget", (kind,), facts))

    def gizmo(self, name: str) -> Any:
        return SimpleNamespace(translation_limits=((-1.0, 1.0),) * 3)


def sieve() -> MessageFilter:
    return MessageFilter(Uploads(limit=100), AnyWidget())  # type: ignore[arg-type]


def filled(kind: Any) -> dict[str, Any]:
    """A message of a kind with a plausible value in every field."""
    from viser.infra._messages import get_type_hints_cached, wire_field_names

    hints = get_type_hints_cached(kind)
    fields = {
        name: next((value for word, value in VALUES.items() if word in str(hints[name])), None) for name in wire_field_names(kind)
    }
    return fields | {"type": kind.__name__}


def test_a_browser_that_sends_too_fast_is_sent_away() -> None:
    class Gone(Exception):
        pass

    async def scene() -> None:
        press = msgspec.msgpack.encode({"type": "GuiUpdateMessage", "uuid": "x", "updates": {"value": 1.0}})
        left, closed = [press] * 9, []

        async def recv() -> bytes:
            if not left:
                raise Gone
            return left.pop()

        async def close(code: int, reason: str) -> None:
            closed.append((code, reason))

        intake = Intake(Gate("a token", per_second=3.0), clock=lambda: 0.0)
        connection = FilteredConnection(SimpleNamespace(recv=recv, close=close), sieve(), intake)
        assert [await connection.recv() for _ in range(3)] == [press] * 3
        with pytest.raises(Gone):
            await connection.recv()
        assert closed[0] == (1008, "more than 3 messages a second")

    asyncio.run(scene())


def test_what_is_left_of_an_upload_goes_though_nothing_more_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """The browser that stopped in the middle stays connected and says nothing: its parts are not kept."""
    monkeypatch.setattr("bunraku.studio.server.uploads.STILL", 0.1)
    now = [0.0]

    async def scene() -> None:
        one = sieve()
        one.desk = UploadDesk(Uploads(limit=10 * PART, clock=lambda: now[0]))
        facts = {"source_component_uuid": "b", "transfer_uuid": "k"}
        about = {"part_count": 2, "filename": "a.csv", "mime_type": "", "size_bytes": 2 * PART}
        left = [facts | about | {"type": "FileTransferStartUpload"}]
        left += [facts | {"type": "FileTransferPart", "part_index": 0, "content": bytes(PART)}]
        silence = asyncio.Event()

        async def recv() -> bytes:
            if left:
                return msgspec.msgpack.encode(left.pop(0))
            now[0] = 1.0
            silence.set()
            await asyncio.Event().wait()
            raise AssertionError

        connection = FilteredConnection(SimpleNamespace(recv=recv), one, Intake(Gate("a token", largest=LARGEST)))
        waiting = asyncio.create_task(connection.recv())
        await silence.wait()
        assert one.desk.held == PART
        while one.desk.held:
            await asyncio.sleep(0.01)
        assert not waiting.done()
        waiting.cancel()

    asyncio.run(asyncio.wait_for(scene(), 20.0))


def test_only_the_kinds_a_page_sends_pass() -> None:
    from viser._messages import Message

    kinds = Message._subclass_from_type_string()
    assert set(ALLOWED) <= set(kinds)
    passed = set()
    for name, kind in kinds.items():
        try:
            raw = msgspec.msgpack.encode(filled(kind))
            Message.deserialize(raw)
        except (TypeError, ValueError):
            continue
        if sieve().take(raw):
            passed.add(name)
    assert passed <= set(ALLOWED)
    assert {"GuiUpdateMessage", "CommandTriggerMessage", "GetRenderResponseMessage", "GuiFormSubmitMessage"} <= passed
    assert not {"ShareUrlRequest", "RunJavascriptMessage", "GuiRemoveMessage", "ResetGuiMessage"} & passed


def test_a_message_that_passes_is_not_changed() -> None:
    raw = msgspec.msgpack.encode({"type": "GuiUpdateMessage", "uuid": "u", "updates": {"value": 2.0}})
    assert sieve().take(raw) == [raw]


def test_each_kind_has_its_size() -> None:
    def render(size: int) -> bytes:
        return msgspec.msgpack.encode({"type": "GetRenderResponseMessage", "payload": bytes(size), "render_uuid": "u"})

    def text(size: int) -> bytes:
        return msgspec.msgpack.encode({"type": "GuiUpdateMessage", "uuid": "text", "updates": {"value": "x" * size}})

    assert sieve().take(render(4 * 2**20))
    assert not sieve().take(render(LARGEST))
    assert sieve().take(text(2**19))
    assert not sieve().take(text(2**20))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [1.0, float("-inf")], {"a": [float("nan")]}])
def test_numbers_must_be_numbers(value: Any) -> None:
    assert not sieve().take(msgspec.msgpack.encode({"type": "GuiUpdateMessage", "uuid": "u", "updates": {"value": value}}))


@given(st.binary(max_size=200) | st.text(max_size=50))
def test_noise_raises_nothing(raw: bytes | str) -> None:
    assert sieve().take(raw) == []


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3),
    )
)
def test_wrong_types_in_uploads_raise_nothing(value: Any) -> None:
    one = sieve()
    for field in ("transfer_uuid", "part_count", "size_bytes", "filename", "mime_type", "source_component_uuid"):
        start = {
            "transfer_uuid": "k",
            "part_count": 1,
            "size_bytes": 5,
            "filename": "a",
            "mime_type": "",
            "source_component_uuid": "b",
        }
        one.take(msgspec.msgpack.encode(start | {"type": "FileTransferStartUpload", field: value}))
    for field in ("transfer_uuid", "part_index", "content", "source_component_uuid"):
        part = {"transfer_uuid": "k", "part_index": 0, "content": b"12345", "source_component_uuid": "b"}
        one.take(msgspec.msgpack.encode(part | {"type": "FileTransferPart", field: value}))
    assert one.desk.held <= 100
