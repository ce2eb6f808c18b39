"""Pictures of the studio for the documentation: every tab for every kind of character. And a test of how they look.

Of each picture it asserts: the character covers 25 to 80 % of the free view (between the docks, above the timeline) in its larger
dimension, by the projection of its box and, once a character, by the pixels that change when it is hidden; docks and timeline do
not overlap; no text of the panels is cut. What fails is listed, and the exit code is then 1.

Run: python scripts/make_studio_pictures.py [KIND ...] [--work FOLDER] [--out FOLDER] [--check]
"""

from __future__ import annotations

import argparse
import io
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from _studio_look import LEAST, MOST, apart, coverage, cut_texts, free_view, panels, projected, silhouette

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from bunraku.studio.studio import Studio

OUT = Path(__file__).resolve().parents[1] / "docs" / "static" / "studio"
SIZE, PHONE = {"width": 1400, "height": 850}, {"width": 390, "height": 780}
ARGUMENTS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--mute-audio"]
TABS = {"design": "Design", "choreograph": "Choreograph", "optimize": "Optimize", "check": "Check & export"}
PATIENCE = 240.0
"""How long [s] to wait for a picture that does not change any more; software GL on a busy machine is slow."""
LARGEST = 250_000
QUIET = """async () => {
    const frame = () => new Promise(requestAnimationFrame);
    await frame(); await frame(); await frame();
    await new Promise(done => {
        let end = setTimeout(done, 1000);
        const seen = new MutationObserver(() => { clearTimeout(end); end = setTimeout(done, 1000); });
        seen.observe(document.body, {subtree: true, childList: true, attributes: true});
        setTimeout(done, 15000);
    });
    await frame(); await frame();
}"""
"""Until the panels have been laid out and nothing in them changes for a second."""
FREEZE = """on => {
    const context = WebGL2RenderingContext.prototype;
    const names = ['clear', 'clearBufferfv', 'clearBufferfi', 'drawArrays', 'drawElements', 'drawArraysInstanced',
                   'drawElementsInstanced', 'drawRangeElements', 'blitFramebuffer'];
    window.drawing ??= Object.fromEntries(names.map(name => [name, context[name]]));
    for (const name of names) context[name] = on ? () => {} : window.drawing[name];
}"""
"""Draw the scene no more, so that it stays as it is while panels change: in software it takes all the time; or draw it again."""
SLOW = "const soon = requestAnimationFrame.bind(window); window.requestAnimationFrame = act => setTimeout(() => soon(act), 120);"
"""Few frames a second: drawn in software, more would take all the time."""


@dataclass(frozen=True)
class Kind:
    """One character of the pictures: an example, how it differs from the built-in one, the share of the time that is shown."""

    example: str
    moment: float
    options: dict[str, Any] = field(default_factory=dict)
    verified: bool = True
    left: str = "Outline"


KINDS = {
    "speech": Kind("speech", 0.42),
    "marionette": Kind("marionette-show", 0.55),
    "vibration": Kind("dancer", 0.5, {"points": 80}, verified=False),
    "locomotion": Kind("agilebot-slalom", 0.5),
    "skin": Kind("beetle-lift", 0.5, verified=False),
}


class Camera:
    """Takes the pictures, and notes what is wrong with them."""

    def __init__(self, out: Path, *, keep: bool) -> None:
        self.out, self.keep = out, keep
        self.faults: list[str] = []
        self.frozen: Page | None = None
        self.figures: list[tuple[str, float, float | None, int]] = []

    def take(self, name: str, page: Page, studio: Studio, *, character: bool = True) -> None:
        """One picture, with its checks."""
        data, pixels = taken(page) if self.frozen is page else steady(page)[::-1]
        if empty(page, pixels):  # a frozen scene is lost when the browser lays the page out anew
            data, pixels = steady(page)[::-1]
        if character and empty(page, pixels):
            self.faults.append(f"{name}: nothing is drawn in the view")
        self.frozen = page
        found = panels(page)
        view = free_view(found)
        covered = float("nan")
        if character:
            covered = self._covered(name, page, studio, view)
        self.faults += [f"{name}: {one}" for one in (*apart(found), *cut_texts(page))]
        size = self._write(name, data)
        self.figures.append((name, covered, None, size))
        print(f"{name:32} covers {100 * covered:5.1f} %  {size / 1e3:4.0f} kB", flush=True)

    def pixels(self, name: str, page: Page, studio: Studio) -> None:
        """The same of what is really drawn: the pixels that change when the character is hidden."""
        scene, found = studio.page.scene, panels(page)
        view = free_view(found)
        shown = {layer: scene.asked[layer] for layer in scene.asked}
        for layer in shown:
            scene.want(layer, layer == "performed" and shown[layer])
        with_it, _ = steady(page)
        scene.want("performed", False)
        without, _ = steady(page)
        for layer, on in shown.items():
            scene.want(layer, on)
        steady(page)
        box = silhouette(with_it, without, view)
        if box is None:
            self.faults.append(f"{name}: nothing of the character is drawn")
            return
        covered = coverage(box, view)
        print(f"{name:32} pixels {100 * covered:5.1f} %", flush=True)
        self.figures.append((f"{name} (pixels)", covered, None, 0))
        if not LEAST <= covered <= MOST:
            self.faults.append(f"{name}: the pixels of the character cover {100 * covered:.0f} % of the view")

    def _covered(self, name: str, page: Page, studio: Studio, view: Any) -> float:
        box = projected(page, studio)
        covered = coverage(box, view)
        if not LEAST <= covered <= MOST:
            self.faults.append(f"{name}: the character covers {100 * covered:.0f} % of the view")
        if not box.within(view):
            self.faults.append(f"{name}: the character {box} is not within the free view {view}")
        return covered

    def _write(self, name: str, data: bytes) -> int:
        from PIL import Image

        picture = Image.open(io.BytesIO(data)).convert("RGB")
        small = io.BytesIO()
        picture.quantize(256, method=Image.Quantize.MAXCOVERAGE, kmeans=2, dither=Image.Dither.NONE).save(
            small, "PNG", optimize=True
        )
        if len(small.getvalue()) > LARGEST:
            self.faults.append(f"{name}: {len(small.getvalue())} bytes are too many for a picture of the documentation")
        if self.keep:
            (self.out / f"{name}.png").write_bytes(small.getvalue())
        return len(small.getvalue())


def empty(page: Page, pixels: Any) -> bool:
    """Whether nearly all of the free view has one colour; borders of panels may reach into it."""
    view = free_view(panels(page))
    part = pixels[round(view.top) : round(view.bottom), round(view.left) : round(view.right)].astype(int)
    other = np.abs(part - np.median(part, axis=(0, 1))).max(axis=2) > 8
    return bool(other.mean() < 0.01)


def steady(page: Page) -> tuple[Any, bytes]:
    """Pixels (h, w, 3) and PNG of the page once the scene does not change any more; scenes of viser fade in. Then it is frozen."""
    page.evaluate(FREEZE, False)
    last: Any = None
    end = time.monotonic() + PATIENCE
    while True:
        data, now = taken(page)
        view = free_view(panels(page))
        part = (slice(round(view.top), round(view.bottom)), slice(round(view.left), round(view.right)))
        alike = last is not None and last.shape == now.shape
        if alike and (np.abs(now[part].astype(int) - last[part]).max(axis=2) > 12).mean() < 2e-5:
            break
        if time.monotonic() > end:
            print("  (the picture did not come to rest)")
            break
        last = now
        page.wait_for_timeout(400)
    page.evaluate(FREEZE, True)
    return now, data


def taken(page: Page) -> tuple[bytes, Any]:
    """A picture as PNG and as pixels, once the panels are laid out."""
    from PIL import Image

    page.mouse.move(700, 4)
    page.evaluate(QUIET)
    data = page.screenshot(timeout=1e3 * PATIENCE)
    return data, np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))


def wait(studio: Studio, what: str, done: Callable[[], bool], patience: float = 1800.0) -> None:
    """Wait for a computation."""
    begun = time.monotonic()
    while studio.session.busy or not done():
        if time.monotonic() - begun > patience:
            raise SystemExit(f"{what} did not end within {patience:.0f} s: {studio.session.run}")
        if studio.session.run is not None and studio.session.run.status in ("failed", "lost"):
            raise SystemExit(f"{what}: {studio.session.run.error}")
        time.sleep(0.2)
    studio.page.settle()
    print(f"  {what}: {time.monotonic() - begun:.0f} s", flush=True)


def opened(browser: Browser, studio: Studio, size: dict[str, int]) -> Page:
    """A page on the studio, without the notice about software rendering, which may come late on a busy machine."""
    page = browser.new_page(viewport=size, reduced_motion="reduce")
    page.set_default_timeout(1e3 * PATIENCE)
    page.add_init_script(SLOW)
    page.goto(studio.url)
    page.wait_for_function("window.__viserSceneTree !== undefined && window.__viserMutable.camera !== null")
    page.add_style_tag(content="#webgl-software-rendering { display: none !important; }")
    return page


def perform(kind: Kind, studio: Studio) -> None:
    """Open the example, run what is needed to perform it, verify it; before a browser is there, which would slow it down."""
    session = studio.session
    if session.document.base is None:
        session.do("open.example", name=kind.example)
        for name, value in kind.options.items():
            session.do("option.set", name=name, value=value)
    clip = session.document.need_clip()
    if clip.modes is not None and clip.joints is None:
        session.make.time_modes()
        wait(studio, "timing", lambda: session.document.need_clip().joints is not None)
    if session.result is None or session.run is None:
        session.make.perform()
        wait(studio, "performing", lambda: session.result is not None)
    session.save()
    wait(studio, "drawing", lambda: session.shown.motion is not None)
    if kind.verified:
        session.make.verify()
        wait(studio, "verifying", lambda: session.result is not None and session.result.verdict is not None)


def look(kind: Kind, studio: Studio) -> None:
    """Go to the moment of the picture, and look at the character."""
    session = studio.session
    session.transport.scrub(kind.moment * session.transport.duration)
    studio.page.player.wake()
    studio.page.scene.look()


def one_kind(name: str, browser: Browser, work: Path, camera: Camera, tabs: Sequence[str]) -> None:
    """All tabs of one character, or some."""
    from bunraku.studio.studio import Studio

    kind = KINDS[name]
    os.chdir(work)
    studio = Studio(Path(name), tour=False)
    try:
        perform(kind, studio)
        page = opened(browser, studio, SIZE)
        look(kind, studio)
        tab(page, kind.left)
        for short, label in TABS.items():
            if short in tabs:
                tab(page, label)
                camera.take(f"{name}-{short}", page, studio)
        if "rest" not in tabs:
            return
        camera.pixels(name, page, studio)
        tab(page, "Design")
        for label in ("Motors", "Errors"):
            tab(page, label)
            camera.take(f"{name}-{label.lower()}", page, studio)
        if name == "locomotion":
            others(browser, studio, page, camera)
    finally:
        studio.close()


def others(browser: Browser, studio: Studio, page: Page, camera: Camera) -> None:
    """The gallery, dark mode and a phone, with what is open."""
    tab(page, "Timeline")
    tab(page, "Gallery")
    page.get_by_text("Legs and wheels", exact=True).click()
    camera.take("gallery", page, studio)
    studio.page._darken()
    tab(page, "Choreograph")
    camera.frozen = None
    camera.take("dark", page, studio)
    studio.page._darken()
    page.close()
    phone = opened(browser, studio, PHONE)
    studio.page.scene.look()
    camera.take("phone", phone, studio)
    phone.close()


def tour(browser: Browser, work: Path, camera: Camera) -> None:
    """The first start: the tour over the empty studio."""
    from bunraku.studio.studio import Studio

    os.chdir(work)
    shutil.rmtree("tour", ignore_errors=True)
    studio = Studio(Path("tour"), tour=True)
    try:
        page = opened(browser, studio, SIZE)
        page.get_by_role("button", name="Skip the tour", exact=True).wait_for()
        camera.take("tour", page, studio, character=False)
        page.close()
    finally:
        studio.close()


def tab(page: Page, label: str) -> None:
    """Open a tab of a panel."""
    page.get_by_role("tab", name=label, exact=True).first.click()


def chromium() -> str | None:
    """BUNRAKU_CHROMIUM, or one of the system; None: playwright's own."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return os.environ.get("BUNRAKU_CHROMIUM") or next((place for place in map(shutil.which, names) if place), None)


def main() -> int:
    """Take them all, or those of the kinds that are named."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"{', '.join(KINDS)}, tour; all if none is named")
    parser.add_argument("--work", type=Path, help="folder of the projects, kept for the next time; a temporary one if not given")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--tabs", nargs="+", choices=(*TABS, "rest"), default=(*TABS, "rest"), help="only these pictures")
    parser.add_argument("--check", action="store_true", help="assert, but write no picture")
    given = parser.parse_args()
    work = given.work or Path(tempfile.mkdtemp())
    work.mkdir(parents=True, exist_ok=True)
    given.out = given.out.resolve()
    given.out.mkdir(parents=True, exist_ok=True)
    camera = Camera(given.out, keep=not given.check)
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
            for name in given.kinds or [*KINDS, "tour"]:
                if name == "tour":
                    tour(browser, work, camera)
                else:
                    one_kind(name, browser, work, camera, given.tabs)
            browser.close()
    finally:
        if given.work is None:
            shutil.rmtree(work, ignore_errors=True)
    for fault in camera.faults:
        print(f"FAULT {fault}")
    print(f"{len(camera.figures)} pictures, {len(camera.faults)} faults")
    return 1 if camera.faults else 0


if __name__ == "__main__":
    sys.exit(main())
