"""A Chromium for benchmarks of the studio: BUNRAKU_CHROMIUM, playwright's own, or one of the system."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ARGUMENTS = [
    "--no-sandbox",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--autoplay-policy=no-user-gesture-required",
    "--mute-audio",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
]
NOT_MEASURED = 77
"""Exit code of a benchmark that could not be run here."""


@contextmanager
def chromium() -> Iterator[Any]:
    """A headless browser of playwright, closed at the end."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        given = os.environ.get("BUNRAKU_CHROMIUM")
        names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
        places = [given] if given else [playwright.chromium.executable_path, *(shutil.which(name) for name in names)]
        place = next((place for place in places if place and Path(place).is_file()), None)
        if place is None:
            print("no Chromium found; run: playwright install chromium, or set BUNRAKU_CHROMIUM")
            raise SystemExit(NOT_MEASURED)
        browser = playwright.chromium.launch(executable_path=place, args=ARGUMENTS)
        yield browser
        browser.close()
