"""Stories of what leaves the studio: the replay beside the plan, a page that plays offline, films with and without sound."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np

LONG = 300.0
"""The most a page of its own may take to be drawn in software [s]."""


def test_the_replay_stands_beside_the_plan_and_a_page_plays_offline(story: Any, tmp_path: Path) -> None:
    story.example("Legs and wheels", "swizzlebot")
    session = story.session
    story.run()
    story.tab("Check & export")
    story.press("Verify in MuJoCo")
    story.until(lambda: session.result is not None and session.result.verdict is not None)
    story.rest()
    story.reads("MuJoCo replay:")
    assert session.result.verdict["holds"]
    assert session.shown.replay is not None
    story.ui.wait_for_node("/world/replay/box")
    aside = "([name, low]) => window.__viserMutable.nodeRefFromName[name].position.y > low"
    wide = float(np.ptp([session.shown.motion.lower[:, 1].min(), session.shown.motion.upper[:, 1].max()]))
    story.page.wait_for_function(aside, arg=["/world/replay", 0.9 * wide])
    story.tab("View")
    story.page.get_by_role("checkbox", name="Replay beside the plan").click()
    story.page.wait_for_function("name => window.__viserMutable.nodeRefFromName[name].position.y === 0", arg="/world/replay")
    story.page.get_by_role("checkbox", name="Replay beside the plan").click()
    story.tab("Timeline")
    found = story.download("Page that plays it (HTML)")
    file = tmp_path / "plays.html"
    found.save_as(file)
    alone = story.page.context.browser.new_context(offline=True, viewport={"width": 400, "height": 300})
    asked: list[str] = []
    try:
        page = alone.new_page()
        page.set_default_timeout(1e3 * LONG)
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: asked.append(str(error)))
        page.goto(file.as_uri())
        page.wait_for_function("window.__viserMutable && window.__viserMutable.nodeRefFromName['/world/performed/box']")
    finally:
        alone.close()
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []


def test_films_reach_the_browser_and_have_the_voice(story: Any, tmp_path: Path) -> None:
    import imageio_ffmpeg

    story.example("Speech and gestures", "speech")
    session = story.session
    session.transport.set_range(1.0, 1.1)
    story.tab("Check & export")
    for button, name, frames in (("Film with sound (MP4)", "film.mp4", 4), ("Film (GIF)", "film.gif", 2)):
        found = story.download(button)
        file = tmp_path / name
        found.save_as(file)
        assert file.read_bytes() == (session.project.folder / "exports" / found.suggested_filename).read_bytes()
        reader = imageio_ffmpeg.read_frames(str(file))
        facts = next(reader)
        pictures = [np.frombuffer(one, dtype=np.uint8) for one in reader]
        assert abs(len(pictures) - frames) <= 1
        assert facts["size"] == ((960, 540) if name.endswith("mp4") else (480, 270))
        assert all(np.ptp(one) > 50 for one in pictures)  # something is drawn
        if name.endswith("mp4"):
            told = subprocess.run(
                [imageio_ffmpeg.get_ffmpeg_exe(), "-i", str(file)], capture_output=True, text=True, check=False
            ).stderr
            assert "Audio:" in told
    session.transport.set_range(0.0, session.transport.duration)
