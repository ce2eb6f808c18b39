"""The page's script in a real browser: clicks, drags and sound reach the server, and nothing else runs."""

from __future__ import annotations

import io
import wave
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from bunraku.studio.server.server import StudioServer

WIDGET = """<svg viewBox="0 0 100 50" width="300" height="150">
  <rect data-click="cell.toggle" data-foot="LF &amp; co" data-cell="3" x="0" y="0" width="20" height="20" fill="red"/>
  <circle data-drag="key.move" data-joint="knee" data-key="2" cx="50" cy="25" r="5" fill="blue"/>
  <circle data-drag="key.move" data-click="key.pick" data-key="7" cx="80" cy="25" r="5" fill="blue"/>
</svg>"""


@pytest.fixture
def viewport() -> dict[str, int]:
    return {"width": 640, "height": 400}


def note(server: StudioServer, *names: str) -> list[tuple[str, dict[str, str]]]:
    """Events as they come, in order."""
    events: list[tuple[str, dict[str, str]]] = []
    for name in names:
        server.on_event(name, lambda fields, name=name: events.append((name, fields)))
    return events


def tone(seconds: float) -> bytes:
    """A WAV file of 440 Hz, 16 bit, 8 kHz."""
    t = np.arange(int(seconds * 8000)) / 8000
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(8000)
        out.writeframes((8000 * np.sin(2 * np.pi * 440 * t)).astype("<i2").tobytes())
    return file.getvalue()


def player(url: str, playing: int, time: float, stamp: int, speed: float = 1.0) -> str:
    return f'<div data-audio="{url}" data-playing="{playing}" data-time="{time}" data-speed="{speed}" data-stamp="{stamp}"></div>'


def test_a_click_and_a_drag_arrive(server: StudioServer, ui: Any, page: Page) -> None:
    events = note(server, "cell.toggle", "key.move", "key.pick")
    widget = server.viser.gui.add_html(WIDGET)
    server.viser.gui.add_button("Ready")
    ui.open(server.url, ready="Ready")
    assert page.title() == "Bunraku studio"
    assert page.url == server.url

    page.locator("[data-click='cell.toggle']").click()
    ui.until(lambda: len(events) == 1)
    assert events.pop() == ("cell.toggle", {"foot": "LF & co", "cell": "3"})

    # 300 px show 100 units: 60 px to the right are 20 units; the element is replaced halfway
    x, y = ui.middle(page.locator("[data-key='2']"))
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 30, y, steps=3)
    widget.content = WIDGET.replace("blue", "green")
    page.locator("circle[fill='green']").first.wait_for()
    page.mouse.move(x + 60, y + 15, steps=3)
    page.mouse.up()
    ui.until(lambda: events and events[-1][1]["phase"] == "end")
    phases = [fields["phase"] for _, fields in events]
    assert phases[0] == "start"
    assert phases[-1] == "end"
    assert set(phases[1:-1]) == {"move"}
    assert all(fields["joint"] == "knee" and fields["key"] == "2" for _, fields in events)
    places = np.array([[float(fields["x"]), float(fields["y"])] for _, fields in events])
    assert places[0] == pytest.approx([50, 25], abs=0.5)
    assert places[-1] - places[0] == pytest.approx([20, 5], abs=0.01)
    assert np.all(np.diff(places[:, 0]) >= 0)

    # pressed and let go at one place: a drag that is also a click
    events.clear()
    page.locator("[data-key='7']").click()
    ui.until(lambda: len(events) == 3)
    assert [(name, fields.get("phase")) for name, fields in events] == [
        ("key.move", "start"),
        ("key.move", "end"),
        ("key.pick", None),
    ]
    assert events[-1][1]["key"] == "7"


def test_moves_do_not_pile_up_while_a_request_is_under_way(server: StudioServer, ui: Any, page: Page) -> None:
    events = note(server, "key.move", "key.pick")
    server.viser.gui.add_html(WIDGET)
    ui.open(server.url)
    held: list[Any] = []
    page.route("**/event/**", lambda route: held.append(route) if not held else route.continue_())
    x, y = ui.middle(page.locator("[data-key='7']"))
    ui.drag((x, y), (x - 90, y), steps=30)
    ui.until(lambda: held)
    held[0].continue_()
    ui.until(lambda: events and events[-1][1]["phase"] == "end")
    page.wait_for_function("bunraku.waiting() === 0")
    # the press was under way, so all moves became one; the element also knows clicks, and this was none
    assert [(name, fields["phase"]) for name, fields in events] == [("key.move", phase) for phase in ("start", "move", "end")]
    places = [float(fields["x"]) for _, fields in events]
    assert places[1] == places[2] == pytest.approx(places[0] - 30, abs=0.01)


def test_the_page_reloads_and_keeps_its_address(server: StudioServer, ui: Any, page: Page) -> None:
    server.viser.gui.add_button("Ready")
    ui.open(server.url + "#part", ready="Ready")
    page.reload()
    page.get_by_role("button", name="Ready", exact=True).wait_for()
    assert page.url == server.url


def test_html_in_a_panel_runs_no_script(server: StudioServer, ui: Any, page: Page, watch: Any) -> None:
    watch.allow("Content Security Policy")
    server.viser.gui.add_html(
        "<img src=\"data:,\" onerror=\"document.title='stolen'\"><svg><script>document.title='stolen'</script></svg>"
        "<a href=\"javascript:document.title='stolen'\">press</a><p>end</p>"
    )
    ui.open(server.url)
    page.get_by_text("end", exact=True).wait_for()
    page.get_by_text("press").click()
    page.evaluate("new Promise((done) => setTimeout(done, 50))")
    assert page.title() == "Bunraku studio"


def test_a_result_is_saved_by_a_link(server: StudioServer, ui: Any, page: Page) -> None:
    url = server.publish("motion.csv", b"time,knee\n0,1\n", "text/csv")
    server.viser.gui.add_html(f'<a href="{url}">save the motion</a>')
    ui.open(server.url)
    with page.expect_download() as download:
        page.get_by_text("save the motion").click()
    assert download.value.suggested_filename == "motion.csv"
    assert download.value.path().read_bytes() == b"time,knee\n0,1\n"
    assert page.url == server.url


def test_the_watch_sees_errors_and_requests_that_leave(server: StudioServer, ui: Any, page: Page, watch: Any) -> None:
    ui.open(server.url)
    assert watch.faults == []
    second = page.context.new_page()
    second.evaluate("console.error('a'); setTimeout(() => { throw new Error('b'); })")
    second.evaluate("fetch('http://other.example/c').catch(() => 0)")
    second.evaluate("new Promise((done) => { new WebSocket('ws://other.example/d').onerror = done; })")
    ui.until(lambda: len(watch.faults) >= 6)
    text = "\n".join(watch.faults)
    for part in ("console: a", "script: b", "machine: http://other.example/c", "machine: ws://other.example/d"):
        assert part in text
    watch.faults.clear()


def test_a_button_and_an_upload_work_behind_the_filter(server: StudioServer, ui: Any, page: Page) -> None:
    gui = server.viser.gui
    pressed: list[bool] = []
    files: list[Any] = []
    gui.add_button("Press").on_click(lambda event: pressed.append(True))
    number = gui.add_number("Speed", 1.0, step=0.1)
    button = gui.add_upload_button("Load")
    button.on_upload(lambda event: files.append(event.target.value))
    ui.open(server.url, ready="Press")
    page.get_by_role("button", name="Press", exact=True).click()
    ui.until(lambda: pressed)
    ui.fill("Speed", "2.5")
    ui.until(lambda: number.value == 2.5)
    content = np.random.default_rng(0).integers(0, 256, 1_300_000, dtype=np.uint8).tobytes()
    ui.upload("Load", {"name": "my dog.character.yaml", "mimeType": "text/plain", "buffer": content})
    ui.until(lambda: files)
    assert files[0].content == content
    assert files[0].name.endswith(".character.yaml")
    assert " " not in files[0].name
    assert server.uploads.label(files[0].name) == "my dog.character.yaml"


def test_a_file_too_large_is_refused_in_words(ui: Any, page: Page) -> None:
    from bunraku.studio.server.server import StudioServer

    server = StudioServer(upload_limit=100_000)
    try:
        refused = note(server, "upload.refused")
        files: list[Any] = []
        server.viser.gui.add_upload_button("Load").on_upload(lambda event: files.append(event.target.value))
        ui.open(server.url, ready="Load")
        ui.upload("Load", {"name": "big.wav", "mimeType": "audio/wav", "buffer": bytes(200_000)})
        page.get_by_role("alert").filter(has_text="big.wav has 0.2 MB").wait_for()
        ui.until(lambda: refused)
        assert refused == [("upload.refused", {"name": "big.wav", "size": "200000"})]
        ui.upload("Load", {"name": "small.wav", "mimeType": "audio/wav", "buffer": bytes(1000)})
        ui.until(lambda: files)
        assert len(files[0].content) == 1000
        page.close()
    finally:
        server.stop()


def test_the_voice_follows_the_motion(server: StudioServer, ui: Any, page: Page) -> None:
    drifts = note(server, "audio.drift")
    url = server.publish("voice.wav", tone(90.0), "audio/wav")
    sound = server.viser.gui.add_html(player(url, 0, 3.0, 0))
    ui.open(server.url)
    page.wait_for_function("Math.abs(bunraku.audio.currentTime - 3) < 0.01 && bunraku.audio.paused")
    sound.content = player(url, 1, 5.0, 1)
    ui.until(lambda: drifts, timeout=30)
    assert float(drifts[0][1]["time"]) > 6.5
    assert page.evaluate("bunraku.audio.paused") is False
    # a jump: the same file, a new stamp
    sound.content = player(url, 1, 20.0, 2, speed=0.5)
    page.wait_for_function("bunraku.audio.currentTime >= 20")
    assert page.evaluate("Math.abs(bunraku.audio.playbackRate / 0.5 - 1) <= 0.0201")
    assert page.evaluate("bunraku.audio.currentTime") < 60
    # the end of the motion, and a panel that goes away
    sound.content = player(url, 0, 21.5, 3)
    page.wait_for_function("bunraku.audio.paused && Math.abs(bunraku.audio.currentTime - 21.5) < 0.01")
    sound.content = player(url, 1, 1.0, 4)
    page.wait_for_function("!bunraku.audio.paused")
    sound.remove()
    page.wait_for_function("bunraku.audio.paused")


HOLD = """() => { window.__viserMutable.getRenderRequestState = "held"; }"""
"""Let messages wait, as they do on a page that is busy."""
LET = """() => {
    window.__viserMutable.getRenderRequestState = "ready";
    window.__viserMutable.requestRender();
}"""
WAITS = """([kind, uuid]) => window.__viserMutable.messageQueue.some((one) => one.type === kind && one.uuid === uuid)"""


def test_news_of_a_component_that_is_gone_is_dropped(server: StudioServer, ui: Any, page: Page) -> None:
    """A slow page gets an update and the removal after it in one batch, and an update that was late: no complaint."""
    from viser import _messages

    gui = server.viser.gui
    folder = gui.add_folder("Folder")
    with folder:
        piece = gui.add_html("<p>before</p>")
    other = gui.add_html("<p>other</p>")
    ui.open(server.url)
    page.get_by_text("before", exact=True).wait_for()
    page.evaluate(HOLD)
    piece.content = "<p>after</p>"
    page.wait_for_function(WAITS, arg=["GuiUpdateMessage", piece._impl.uuid])
    folder.remove()
    other.content = "<p>still here</p>"
    page.wait_for_function(WAITS, arg=["GuiUpdateMessage", other._impl.uuid])
    assert page.evaluate(WAITS, ["GuiRemoveMessage", piece._impl.uuid])
    page.evaluate(LET)
    page.get_by_text("still here", exact=True).wait_for()
    assert not page.get_by_text("before", exact=True).count()
    server.viser._websock_server.queue_message(_messages.GuiUpdateMessage(piece._impl.uuid, {"content": "<p>late</p>"}))
    other.content = "<p>and later</p>"
    page.get_by_text("and later", exact=True).wait_for()


def test_news_of_what_never_was_is_told(server: StudioServer, ui: Any, page: Page, watch: Any) -> None:
    """What is dropped is only what the server took away: a mistake is not hidden."""
    from viser import _messages

    watch.allow("Tried to update non-existent component 'nobody'")
    piece = server.viser.gui.add_html("<p>before</p>")
    ui.open(server.url)
    page.get_by_text("before", exact=True).wait_for()
    with page.expect_console_message(lambda message: "non-existent component 'nobody'" in message.text):
        server.viser._websock_server.queue_message(_messages.GuiUpdateMessage("nobody", {"content": ""}))
    piece.content = "<p>after</p>"
    page.get_by_text("after", exact=True).wait_for()
