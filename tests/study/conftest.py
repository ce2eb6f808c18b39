"""A small study, films of half a second, and the browser of the studio's tests on pages from a folder."""

from __future__ import annotations

import asyncio
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np
import pytest

from bunraku.formats.study_yaml import StudyPlan, read_study_yaml
from bunraku.motion import Audio
from bunraku.stage.film import Film, film_bytes
from bunraku.study.design import StudyDesign, study_design

if TYPE_CHECKING:
    from playwright.sync_api import Page

_SPEC = importlib.util.spec_from_file_location("studio_browser", Path(__file__).resolve().parents[1] / "studio" / "conftest.py")
assert _SPEC is not None
assert _SPEC.loader is not None
_STUDIO = importlib.util.module_from_spec(_SPEC)
sys.modules.setdefault("studio_browser", _STUDIO)  # its dataclasses look their module up
_SPEC.loader.exec_module(_STUDIO)
_browser = _STUDIO._browser

PLAN = b"""bunraku: study/1
title: Natural <and> in time
introduction: |
  Two robots. One voice.
clips: [no-problem, not-done-yet]
participants: 5
seed: 3
film: {width: 160, height: 90, fps: 20}
"""


class Watch(_STUDIO.Watch):  # type: ignore[name-defined, misc]
    """As in the studio, but of pages from the disk: files below ``root`` and blobs are fine, everything else is not."""

    root: str = ""

    def look(self, url: str) -> None:
        parts = urlsplit(url)
        fine = parts.scheme in ("data", "about", "blob") or (parts.scheme == "file" and self.root and url.startswith(self.root))
        if not fine:
            self.note(f"request to somewhere else: {url}")


@pytest.fixture
def watch(tmp_path: Path) -> Watch:
    made = Watch()
    made.root = tmp_path.as_uri()
    return made


@pytest.fixture
def viewport() -> dict[str, int]:
    return {"width": 1000, "height": 800}


@pytest.fixture
def page(request: pytest.FixtureRequest, watch: Watch, viewport: dict[str, int]) -> Iterator[Page]:
    """A page in a fresh profile, offline; the test fails on console errors, script errors and requests to elsewhere."""
    browser, loop = request.getfixturevalue("_browser")
    asyncio._set_running_loop(loop)
    try:
        context = browser.new_context(viewport=viewport, offline=True, accept_downloads=True, reduced_motion="reduce")
        context.set_default_timeout(120_000)
        watch.follow(context)
        yield context.new_page()
        context.close()
    finally:
        asyncio._set_running_loop(None)
    assert not watch.faults, "the browser complained:\n" + "\n".join(watch.faults)


@pytest.fixture(scope="session")
def plan() -> StudyPlan:
    return read_study_yaml(PLAN, file="small.study.yaml")


@pytest.fixture(scope="session")
def design(plan: StudyPlan) -> StudyDesign:
    return study_design(plan)


@pytest.fixture(scope="session")
def films(design: StudyDesign) -> dict[str, bytes]:
    """Half a second of a square that wanders, with a hum, for every code."""
    made = {}
    for k, code in enumerate(design.films):
        frames: list[Any] = []
        for step in range(10):
            frame = np.full((90, 160, 3), 40 + 20 * k, dtype=np.uint8)
            frame[30:60, 10 * step : 10 * step + 30] = 230
            frames.append(frame)
        hum = 0.1 * np.sin(2.0 * np.pi * 220.0 * np.arange(8000) / 16000.0)
        made[code] = film_bytes(Film(frames, 20.0, Audio(hum, 16000)), ".mp4")
    return made
