"""What the stories share: a running studio, and the hands of someone who works in it."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bunraku.studio.studio import Studio

if TYPE_CHECKING:
    from playwright.sync_api import Download, Locator, Page

CALM = """
const draw = window.requestAnimationFrame.bind(window);
window.requestAnimationFrame = (act) => window.setTimeout(() => draw(act), 60);
window.cancelAnimationFrame = (id) => window.clearTimeout(id);
"""
"""Draw about ten times a second: drawing in software would take the processor from what is tested."""

ASSETS = Path(str(resources.files("bunraku.assets")))
ARROW = 0.09
"""Where the arrow of a gizmo is taken, from its middle [m]."""

PROJECT = """([name, x, y, z]) => {
    const mutable = window.__viserMutable, object = mutable.nodeRefFromName[name];
    object.updateWorldMatrix(true, false);
    mutable.camera.updateMatrixWorld();
    const point = object.position.clone().set(x, y, z);
    object.localToWorld(point).project(mutable.camera);
    const box = mutable.canvas.getBoundingClientRect();
    return [box.left + (point.x + 1) / 2 * box.width, box.top + (1 - point.y) / 2 * box.height];
}"""
STANDS = """(place) => {
    const world = window.__viserMutable.nodeRefFromName["/world"].position;
    return Math.hypot(world.x - place[0], world.y - place[1], world.z - place[2]) < 1e-3;
}"""
"""Whether the browser has the world where the studio put it."""

FRAMES = """async (count) => {
    for (let k = 0; k < count; k += 1) await new Promise((done) => window.requestAnimationFrame(done));
}"""
"""Let the browser draw some pictures."""

LONG = 300.0
"""The most a computation may take [s] on a machine that others use too; what is waited for is a state, never a time."""


@dataclass
class Story:
    """Someone at work: clicks, drags, types and reads in the page; the session says what became of it."""

    studio: Studio
    page: Page
    ui: Any

    @property
    def session(self) -> Any:
        """The session behind the page."""
        return self.studio.session

    @property
    def said(self) -> list[str]:
        """Everything the studio said so far."""
        return [one.text for one in self.session.messages.all]

    def open(self, page: Page | None = None) -> None:
        """Open the studio in the browser and wait until it can be used."""
        page = page or self.page
        page.goto(self.studio.url)
        page.get_by_role("tab", name="Design", exact=True).wait_for()
        page.wait_for_function("window.__viserMutable && window.__viserMutable.nodeRefFromName['/world']")

    def settle(self) -> None:
        """Wait until the studio has done and shown all that was asked by now; jobs go on."""
        self.page.wait_for_function("window.bunraku.waiting() === 0")
        assert self.studio.page.settle(60.0)

    def until(self, condition: Callable[[], Any], timeout: float = LONG) -> None:
        """Wait for a state of the session."""
        for _ in range(int(timeout / 0.05)):
            if condition():
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(f"it did not come to it; the studio said {self.said[-6:]}")

    def rest(self) -> None:
        """Wait until nothing is computed and all is shown."""
        self.until(lambda: not self.session.busy)
        self.settle()

    def tab(self, name: str) -> None:
        """To another tab of a panel."""
        self.page.get_by_role("tab", name=name, exact=True).click()

    def press(self, name: str) -> None:
        """Press a button, once it can be."""
        self.page.get_by_role("button", name=name, exact=True).click()

    def example(self, folder: str, name: str) -> None:
        """Open a built-in example from the gallery."""
        self.tab("Gallery")
        button = self.page.get_by_role("button", name=name, exact=True)
        if not button.is_visible():
            self.page.get_by_text(folder, exact=True).click()
        button.click()
        self.until(lambda: self.session.history.words[-1:] == (f"Opened the example {name}",))
        self.rest()

    @staticmethod
    def own(kind: str, source: str, name: str) -> dict[str, Any]:
        """A built-in character or clip as someone's own file."""
        return own(kind, source, name)

    @staticmethod
    def packed(*files: dict[str, Any]) -> dict[str, Any]:
        """Several files as one ZIP."""
        return packed(*files)

    @staticmethod
    def asset(folder: str, name: str) -> dict[str, Any]:
        """A built-in file as it is."""
        return {"name": name, "mimeType": "application/octet-stream", "buffer": (ASSETS / folder / name).read_bytes()}

    def bring(self, file: Path | dict[str, Any]) -> None:
        """Open a file of one's own."""
        self.tab("Gallery")
        count = self.session.history.at
        heard = len(self.session.messages.all)
        self.ui.upload("Open a file", file)
        self.until(lambda: self.session.history.at > count or len(self.session.messages.all) > heard)
        self.rest()

    def run(self) -> None:
        """Run the performer to its end."""
        self.tab("Optimize")
        old = self.session.run
        self.press("Run")
        known = self.session.result is not None  # what was performed before is not performed again
        self.until(lambda: known or (self.session.run is not old and self.session.run is not None and not self.session.run.running))
        self.rest()
        assert known or self.session.run.status == "done", self.said
        assert self.session.result is not None, self.said
        assert self.session.shown.key == self.session.document.key
        if not known:
            self.shows('[data-job="done"]')

    def download(self, button: str) -> Download:
        """Press what sends a file, and take it."""
        with self.page.expect_download() as coming:
            self.press(button)
        return coming.value

    def export(self, form: str) -> bytes:
        """Export in a format: what the browser got is what lies in the project's folder."""
        self.tab("Check & export")
        self.choose("Format", form)
        found = self.download("Download")
        file = self.session.project.folder / "exports" / found.suggested_filename
        data = Path(found.path()).read_bytes()
        assert data == file.read_bytes()
        assert len(data) > 100
        return data

    def choose(self, label: str, value: str) -> None:
        """Choose from a dropdown."""
        field = self.ui.field(label)
        if field.input_value() == value:
            return
        field.click()
        self.page.get_by_role("option", name=value, exact=True).click()

    def unfold(self, label: str) -> None:
        """Open a folder of the panel."""
        self.page.get_by_text(label, exact=True).first.click()

    def shows(self, selector: str) -> Locator:
        """Wait until the page shows an element."""
        found = self.page.locator(selector).first
        found.wait_for()
        return found

    def reads(self, text: str) -> Locator:
        """Wait until the page shows a text."""
        found = self.page.get_by_text(text).first
        found.wait_for()
        return found

    def slider(self, folder: str) -> Locator:
        """The handle of the first slider in a folder of the panel."""
        head = self.page.get_by_text(folder, exact=True).first
        head.wait_for()
        return self.page.locator(".mantine-Slider-thumb:visible").first

    def pixel(self, node: str, place: tuple[float, float, float]) -> tuple[float, float]:
        """Where a place [m] in the frame of a scene node is on the page [px]."""
        self.ui.wait_for_node(node)
        x, y = self.page.evaluate(PROJECT, [node, *place])
        return x, y

    def clear_view(self) -> None:
        """Close what lies over the scene."""
        self.page.evaluate("document.querySelectorAll('.mantine-Notification-closeButton').forEach((button) => button.click())")
        self.page.wait_for_function("document.querySelectorAll('.mantine-Notification-closeButton').length === 0")

    def scrub(self, time: float) -> None:
        """Drag the playhead to a time [s]."""
        self.tab("Timeline")
        track = self.shows('rect[data-drag="time.scrub"]').bounding_box()
        assert track is not None
        transport = self.session.transport
        y = track["y"] + 0.5 * track["height"]
        ends = (track["x"] + share * track["width"] for share in (0.3, time / transport.duration))
        self.ui.drag(*((x, y) for x in ends))
        self.settle()

    def drag_gizmo(self, node: str, axis: tuple[float, float, float], way: float) -> None:
        """Take a gizmo by the arrow of an axis and drag it along by ``way`` [m]."""
        self.page.wait_for_function(STANDS, arg=list(self.studio.page.scene.offset))
        self.page.evaluate(FRAMES, 3)
        start, end = (self.pixel(node, (along * axis[0], along * axis[1], along * axis[2])) for along in (ARROW, ARROW + way))
        self.page.mouse.move(*start)
        self.page.evaluate(FRAMES, 3)
        self.page.mouse.down()
        for k in range(1, 7):
            self.page.mouse.move(*(a + k / 6.0 * (b - a) for a, b in zip(start, end, strict=True)))
            self.page.evaluate(FRAMES, 1)
        self.page.mouse.up()
        self.settle()

    def drag(self, locator: Locator, right: float, down: float = 0.0) -> None:
        """Drag an element by some pixels."""
        x, y = self.ui.middle(locator)
        self.ui.drag((x, y), (x + right, y + down))
        self.settle()


def own(kind: str, source: str, name: str) -> dict[str, Any]:
    """A built-in character or clip as someone's own file: another name inside and outside."""
    data = (ASSETS / f"{kind}s" / f"{source}.{kind}.yaml").read_text(encoding="utf-8")
    mine = re.sub(rf"^name: {source}$", f"name: {name}", data, count=1, flags=re.M)
    assert mine != data, "the asset has another name than its file"
    return {"name": f"{name}.{kind}.yaml", "mimeType": "application/yaml", "buffer": mine.encode()}


def packed(*files: dict[str, Any]) -> dict[str, Any]:
    """Several files as one ZIP."""
    box = io.BytesIO()
    with zipfile.ZipFile(box, "w", zipfile.ZIP_DEFLATED) as out:
        for file in files:
            out.writestr(file["name"], file["buffer"])
    return {"name": "mine.zip", "mimeType": "application/zip", "buffer": box.getvalue()}


def _studio(folder: Path) -> Studio:
    made = Studio(folder, tour=False)
    scene = made.server.viser.scene
    scene.configure_default_lights(cast_shadow=False)  # shadows drawn in software cost a second a frame
    scene.configure_environment_map(None)
    return made


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    """A studio for all stories of a file: its solver stays warm. Each story opens what it needs."""
    made = _studio(tmp_path_factory.mktemp("project"))
    yield made
    made.close()


@pytest.fixture
def story(studio: Studio, page: Page, ui: Any) -> Iterator[Story]:
    """The studio open in a fresh browser page. At the end nothing is left running, and nothing went wrong unsaid."""
    heard = len(studio.session.messages.all)
    page.context.set_default_timeout(1e3 * LONG)
    page.context.add_init_script(CALM)
    told = Story(studio, page, ui)
    told.open()
    yield told
    studio.session.cancel()
    told.until(lambda: not studio.session.busy)
    assert studio.page.settle(60.0)
    wrong = [one.text for one in studio.session.messages.all[heard:] if "could not show" in one.text or "did not work" in one.text]
    assert not wrong, wrong


@pytest.fixture
def viewport() -> dict[str, int]:
    """Small: drawing in software costs by the pixel."""
    return {"width": 1000, "height": 640}
