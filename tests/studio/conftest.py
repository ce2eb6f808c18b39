"""A real browser for the studio's tests: found, shared, and watched for errors and for requests that leave the machine."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Locator, Page, Playwright

    from bunraku.studio.server.server import StudioServer

VIEWPORT = {"width": 1000, "height": 640}
ARGUMENTS = [
    "--no-sandbox",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--autoplay-policy=no-user-gesture-required",
    "--mute-audio",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
]
STANDS_STILL = """element => new Promise((done, failed) => {
    let at = [NaN, NaN], still = 0, looks = 0;
    const look = () => {
        if (!element.isConnected) { failed(new Error("drawn anew")); return; }
        const box = element.getBoundingClientRect(), now = [box.left + box.width / 2, box.top + box.height / 2];
        const hit = document.elementFromPoint(...now), free = hit && (element.contains(hit) || hit.contains(element));
        still = free && Math.hypot(now[0] - at[0], now[1] - at[1]) < 0.01 ? still + 1 : 0;
        at = now;
        if (still >= 3 || ++looks >= 50) done(at); else setTimeout(look, 40);
    };
    look();
})"""
"""The middle of an element [px], after four looks within which it did not move; after two seconds as it is."""
LOCAL = {"127.0.0.1", "localhost", "::1"}


def find_chromium(playwright: Playwright) -> str | None:
    """BUNRAKU_CHROMIUM, then playwright's own browser, then one of the system."""
    given = os.environ.get("BUNRAKU_CHROMIUM")
    if given:
        return given
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    places = [playwright.chromium.executable_path, "/usr/bin/chromium", *(shutil.which(name) for name in names)]
    return next((place for place in places if place and Path(place).is_file()), None)


def skip_loudly(why: str) -> None:
    """Skip, and say so among the warnings at the end of the run."""
    text = f"NO BROWSER TESTS: {why}"
    warnings.warn(text, stacklevel=2)
    pytest.skip(text)


@dataclass
class Watch:
    """What went wrong in the browser: errors on the console, exceptions of scripts, requests to other machines.

    A test that provokes an error on purpose says so first: ``watch.allow(r"404")``.
    """

    faults: list[str] = field(default_factory=list)
    allowed: list[str] = field(default_factory=list)

    def allow(self, pattern: str) -> None:
        """Errors that match this regular expression are meant to happen in this test."""
        self.allowed.append(pattern)

    def follow(self, context: BrowserContext) -> None:
        """Watch every page of a context."""
        context.on("console", lambda message: self.note(f"console: {message.text}") if message.type == "error" else None)
        context.on("weberror", lambda error: self.note(f"script: {error.error}"))
        context.on("request", lambda request: self.look(request.url))
        context.on("page", lambda page: page.on("websocket", lambda socket: self.look(socket.url)))

    def look(self, url: str) -> None:
        parts = urlsplit(url.removeprefix("blob:"))
        if parts.scheme not in ("data", "about") and parts.hostname not in LOCAL:
            self.note(f"request to another machine: {url}")

    def note(self, fault: str) -> None:
        if not any(re.search(pattern, fault) for pattern in self.allowed):
            self.faults.append(fault)


@dataclass
class Ui:
    """Hands and eyes for viser's page, where plain locators do not do.

    Notes: find buttons and tabs with ``page.get_by_role(..., exact=True)``; wait with ``expect(...)`` on what is shown or with
    :meth:`until` on the state in Python, never by sleeping.
    """

    page: Page

    def open(self, url: str, ready: str | None = None, node: str | None = None) -> None:
        """Open the studio and wait until it shows: a button named ``ready``, a scene node such as ``/robot``."""
        self.page.goto(url)
        self.page.wait_for_function("window.__viserSceneTree !== undefined && window.__viserMutable.camera !== null")
        if ready is not None:
            self.page.get_by_role("button", name=ready, exact=True).first.wait_for()
        if node is not None:
            self.wait_for_node(node)

    def wait_for_node(self, name: str) -> None:
        """Wait until a node of the scene is drawn."""
        self.page.wait_for_function("name => !!window.__viserMutable.nodeRefFromName[name]", arg=name)

    def field(self, label: str) -> Locator:
        """The input beside a label: text, number, slider, dropdown."""
        name = self.page.locator("label").filter(has_text=re.compile(rf"^{re.escape(label)}$"))
        row = name.locator("xpath=ancestor::*[contains(concat(' ', @class, ' '), ' mantine-Flex-root ')][1]")
        return row.locator("input:visible, textarea:visible").first

    def fill(self, label: str, value: str) -> None:
        """Write into the input beside a label, and leave it."""
        box = self.field(label)
        box.fill(value)
        box.press("Enter")

    def upload(self, button: str, file: str | Path | dict[str, Any]) -> None:
        """Give a file to an upload button, as a person who presses it does."""
        with self.page.expect_file_chooser() as chooser:
            self.page.get_by_role("button", name=button, exact=True).click()
        chooser.value.set_files(file)  # type: ignore[arg-type]

    def pixel(self, node: str) -> tuple[float, float]:
        """Where the origin of a scene node is on the page [px]."""
        self.wait_for_node(node)
        script = """name => {
            const mutable = window.__viserMutable, object = mutable.nodeRefFromName[name];
            object.updateWorldMatrix(true, false);
            mutable.camera.updateMatrixWorld();
            const point = object.getWorldPosition(object.position.clone()).project(mutable.camera);
            const box = mutable.canvas.getBoundingClientRect();
            return [box.left + (point.x + 1) / 2 * box.width, box.top + (1 - point.y) / 2 * box.height];
        }"""
        x, y = self.page.evaluate(script, node)
        return x, y

    def drag(self, start: tuple[float, float], end: tuple[float, float], steps: int = 8) -> None:
        """Press at a pixel, move in steps, let go."""
        self.page.mouse.move(*start)
        self.page.mouse.down()
        self.page.mouse.move(*end, steps=steps)
        self.page.mouse.up()

    def middle(self, locator: Locator) -> tuple[float, float]:
        """The pixel in the middle of an element, once it stands still, uncovered; one drawn anew meanwhile is found again."""
        from playwright.sync_api import Error

        for last in (False, False, False, False, True):
            try:
                locator.scroll_into_view_if_needed()
                x, y = locator.evaluate(STANDS_STILL)
            except Error:
                if last:
                    raise
                continue
            return x, y
        raise AssertionError("the element is not shown")

    def until(self, condition: Any, timeout: float = 20.0) -> None:
        """Wait until a condition on the Python side holds (the browser goes on meanwhile)."""
        for _ in range(int(timeout / 0.02)):
            if condition():
                return
            self.page.wait_for_timeout(20)
        raise AssertionError(f"not so after {timeout} s")


@pytest.fixture(scope="session")
def _browser() -> Iterator[tuple[Browser, asyncio.AbstractEventLoop]]:
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError:
        skip_loudly('playwright is not installed; pip install "bunraku[test]"')
    playwright = sync_playwright().start()
    loop = asyncio.get_running_loop()
    # playwright leaves its loop marked as running between calls; other tests of this process run loops of their own
    asyncio._set_running_loop(None)
    try:
        place = find_chromium(playwright)
        if place is None:
            skip_loudly("no Chromium; run: playwright install chromium, or set BUNRAKU_CHROMIUM")
        asyncio._set_running_loop(loop)
        try:
            browser = playwright.chromium.launch(executable_path=place, args=ARGUMENTS)
        except Error as error:
            skip_loudly(f"{place} does not start ({str(error).splitlines()[0]}); set BUNRAKU_CHROMIUM")
        asyncio._set_running_loop(None)
        yield browser, loop
        asyncio._set_running_loop(loop)
        browser.close()
    finally:
        asyncio._set_running_loop(loop)
        playwright.stop()
        asyncio._set_running_loop(None)


@pytest.fixture
def server() -> Iterator[StudioServer]:
    """A bare studio server on a free port; stopped after the test, after its pages are closed."""
    from bunraku.studio.server.server import StudioServer

    server = StudioServer()
    yield server
    server.stop()


@pytest.fixture
def watch() -> Watch:
    """What went wrong in the browser so far; ``watch.allow(pattern)`` for errors that are meant."""
    return Watch()


@pytest.fixture
def viewport() -> dict[str, int]:
    """Size of the page [px]; a test file that needs no more room gives a smaller one: drawing in software costs by the pixel."""
    return VIEWPORT


@pytest.fixture
def page(request: pytest.FixtureRequest, watch: Watch, viewport: dict[str, int]) -> Iterator[Page]:
    """A fresh page in a fresh profile. The test fails on console errors, script errors and requests to other machines.

    Other pages of the same test (``page.context.new_page()``) are watched too. Fixtures named ``server`` or ``studio`` are
    set up first, so that they stop after the page is closed.
    """
    for name in ("server", "studio"):
        if name in request.fixturenames:
            request.getfixturevalue(name)
    browser, loop = request.getfixturevalue("_browser")
    asyncio._set_running_loop(loop)
    try:
        context = browser.new_context(viewport=viewport, reduced_motion="reduce", accept_downloads=True)
        context.set_default_timeout(30_000)
        watch.follow(context)
        yield context.new_page()
        context.close()
    finally:
        asyncio._set_running_loop(None)
    assert not watch.faults, "the browser complained:\n" + "\n".join(watch.faults)


@pytest.fixture
def ui(page: Page) -> Ui:
    """Hands and eyes for viser's page."""
    return Ui(page)
