"""Check & export without a browser: files made beside others' acts, parts for one's own printer, the full model on demand."""

from __future__ import annotations

import asyncio
import io
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bunraku.motion import Audio
from bunraku.studio.page.check import CheckTab
from bunraku.studio.page.design import DesignTab
from bunraku.studio.page.recording import Recorder
from bunraku.studio.studio import Studio


class Browser:
    """As much of a browser as takes files."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.came = threading.Event()

    def send_file_download(self, name: str, data: bytes, **_: Any) -> None:
        self.files[name] = data
        self.came.set()


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    studio = Studio(Path(tmp_path_factory.mktemp("project")), tour=False)
    yield studio
    studio.close()


def panel(studio: Studio, kind: type) -> Any:
    assert studio.page.settle(60.0)
    return next(one for one in studio.page._panels if isinstance(one, kind))


def widget(section: Any, label: str) -> Any:
    return next(one for one in section._folder._children.values() if getattr(one, "label", "") == label)


def press(studio: Studio, button: Any, client: Any = None) -> None:
    """What viser does when a browser presses a button."""
    loop = studio.server.viser._websock_server._background_event_loop
    for act in button._impl.update_cb:
        asyncio.run_coroutine_threadsafe(act(SimpleNamespace(client=client, target=button)), loop).result(60.0)


def test_a_page_is_recorded_beside_the_acts_of_others(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    studio.session.do("open.example", name="speech")
    check = panel(studio, CheckTab)
    recording, go_on, browser = threading.Event(), threading.Event(), Browser()

    def page(self: Recorder) -> bytes:
        recording.set()
        assert go_on.wait(60.0)
        return b"<html>"

    monkeypatch.setattr(Recorder, "page", page)
    try:
        press(studio, widget(check._record, "Page that plays it (HTML)"), browser)
        assert recording.wait(60.0)
        done = threading.Event()
        studio.page.ui.act(done.set)
        assert done.wait(10.0), "another's act waits for the recording"
        assert not browser.files
    finally:
        go_on.set()
    assert browser.came.wait(60.0)
    assert list(browser.files.values()) == [b"<html>"]


def test_a_recorded_page_has_the_voice_from_where_it_starts(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    from bunraku.studio.page import recording

    studio.session.do("open.example", name="speech")
    assert studio.page.settle(60.0)
    clip = studio.session.document.need_clip()
    assert clip.audio is not None
    given: list[Audio] = []
    stock = recording.with_voice
    monkeypatch.setattr(recording, "with_voice", lambda page, audio: given.append(audio) or stock(page, audio))
    studio.session.transport.set_range(0.5, 0.7)
    page = Recorder(studio.page.ui, studio.page.scene).page()
    assert b'<audio id="bunraku-voice"' in page
    assert given[0].duration == pytest.approx(clip.audio.duration - 0.5, abs=1e-3)


def test_parts_are_warned_of_and_made_for_ones_own_printer(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    session = studio.session
    session.do("open.example", name="swizzlebot")
    check, design = panel(studio, CheckTab), panel(studio, DesignTab)
    asked: list[tuple[str, dict[str, Any]]] = []
    monkeypatch.setattr(session.queue, "ask", lambda verb, arguments, then: asked.append((verb, arguments)))
    fields = [widget(check._parts, label) for label in ("Bed x [mm]", "Bed y [mm]", "Height [mm]")]
    assert [one.value for one in fields] == [220.0, 220.0, 250.0]
    assert "the printer prints 40 x" not in design._warnings.content
    heard = len(session.messages.all)
    for field in fields:
        for typed in (4.0, 40.0):  # the first key alone is too small, and no edit
            field._impl.value = typed
            press(studio, field, Browser())
    assert studio.page.settle(60.0)
    studio.page.ui.hand.finish()
    assert studio.page.settle(60.0)
    assert len(session.messages.all) == heard
    assert "the printer prints 40 x 40 x 40 mm" in design._warnings.content
    press(studio, widget(check._parts, "Make the parts"))
    assert studio.page.settle(60.0)
    verb, arguments = asked[-1]
    assert (verb, arguments["printer"]) == ("fabricate", pytest.approx([40.0, 40.0, 40.0]))


def test_the_parts_come_as_one_zip(studio: Studio) -> None:
    session, browser = studio.session, Browser()
    session.do("open.blank")
    check = panel(studio, CheckTab)
    heard = len(session.messages.all)
    press(studio, widget(check._parts, "Download the parts (ZIP)"), browser)
    assert studio.page.settle(60.0)
    assert "press Make the parts first" in session.messages.all[heard].text
    folder = session.project.place("parts")
    (folder / "print").mkdir(parents=True, exist_ok=True)
    (folder / "print" / "a.stl").write_bytes(b"solid")
    (folder / "notes.md").write_bytes(b"notes")
    secret = folder.parent.parent / "secret"
    secret.mkdir()
    (secret / "key").write_bytes(b"precious")
    (folder / "link").symlink_to(secret / "key")  # in a project from a stranger: what lies outside does not leave with the parts
    (folder / "more").symlink_to(secret)
    press(studio, widget(check._parts, "Download the parts (ZIP)"), browser)
    assert browser.came.wait(60.0)
    ((name, data),) = browser.files.items()
    assert name.endswith("-parts.zip")
    with zipfile.ZipFile(io.BytesIO(data)) as found:
        assert {one: found.read(one) for one in found.namelist()} == {"notes.md": b"notes", "print/a.stl": b"solid"}


def test_the_full_model_is_asked_for_where_parts_bend(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    from bunraku.studio.jobs.state import JobState
    from bunraku.studio.session import Session

    session = studio.session
    session.do("open.blank")
    check = panel(studio, CheckTab)
    assert not check._full.visible
    character = SimpleNamespace(flexibles=("rod",))
    certificate = SimpleNamespace(holds=True, status=SimpleNamespace(sentence="It converged."))
    found = SimpleNamespace(
        performance=SimpleNamespace(character=character, certificate=certificate), verdict=None, path="x", key="k"
    )
    asked: list[tuple[str, dict[str, Any]]] = []
    cancelled: list[bool] = []
    monkeypatch.setattr(check, "_fill", lambda found: None)
    monkeypatch.setattr(Session, "result", property(lambda self: found))
    monkeypatch.setattr(session.queue, "ask", lambda verb, arguments, then: asked.append((verb, arguments)))
    monkeypatch.setattr(session.queue, "cancel", lambda: cancelled.append(True))
    check.refresh("result")
    assert check._full.visible
    assert "not drawn" in check._progress.content
    press(studio, check._full)
    assert studio.page.intents.wait_idle(60.0)
    assert asked == [("verify", {"performance": "x", "full_order": True})]
    session.queue.run = JobState(1, "verify", status="running", stage="full-order", fraction=0.25)
    check.refresh("job")
    assert check._cancel.visible
    assert "25 % full-order" in check._progress.content
    press(studio, check._cancel)
    assert studio.page.intents.wait_idle(60.0)
    assert cancelled == [True]
    session.queue.run = None
