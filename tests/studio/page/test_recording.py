"""Recordings without a browser: one at a time, and nothing else moves what is recorded."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from bunraku.errors import BadInput, Cancelled
from bunraku.studio.page.check import CheckTab
from bunraku.studio.page.recording import RATES, Recorder
from bunraku.studio.studio import Studio

START, END = 1.0, 1.4


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    studio = Studio(Path(tmp_path_factory.mktemp("project")), tour=False)
    studio.session.do("open.example", name="speech")
    assert studio.page.settle(60.0)
    studio.session.transport.set_range(START, END)
    yield studio
    studio.close()


def browser(draws: Callable[[], object]) -> Any:
    """A browser that draws black pictures, after doing something else."""

    def get_render(height: int, width: int, **_: Any) -> Any:
        draws()
        return np.zeros((height, width, 3), np.uint8)

    return SimpleNamespace(get_render=get_render)


def test_nothing_else_moves_what_is_filmed(studio: Studio) -> None:
    session, scene = studio.session, studio.page.scene
    layer = scene._layers["performed"]
    seen = []

    def meddle() -> None:
        session.transport.play()
        scene.move(3.0)  # the player
        scene.refresh()  # an edit
        seen.append(layer._frame)

    Recorder(studio.page.ui, scene).film(".gif", browser(meddle))
    assert layer.motion is not None
    count = round((END - START) * RATES[".gif"]) + 1
    assert seen == [layer.motion.at(START + k / RATES[".gif"]) for k in range(count)]
    session.transport.pause()
    scene.move(3.0)
    assert layer._frame == layer.motion.at(3.0)


def test_a_page_is_not_recorded_while_it_plays(studio: Studio) -> None:
    studio.session.transport.play()
    assert b"<html" in Recorder(studio.page.ui, studio.page.scene).page()[:2000].lower()
    assert not studio.session.transport.playing


@pytest.mark.parametrize("suffix", [".mp4", ".gif", ".html"])
def test_a_recording_tells_how_far_it_is_and_can_be_stopped(studio: Studio, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of it is left, others' acts go on meanwhile, and the next recording begins afresh."""
    session, recorder = studio.session, studio.page.recorder
    before = set(session.project.folder.rglob("*"))
    check = next(one for one in studio.page._panels if isinstance(one, CheckTab))
    assert studio.page.settle(60.0)
    assert not check._stop.visible
    seen: list[float | None] = []
    stock = type(studio.page.scene).record

    def record(self: Any, time: float | None) -> None:
        stock(self, time)
        if time is None:
            return
        seen.append(recorder.fraction)
        if len(seen) == 3:
            done = threading.Event()
            studio.page.ui.act(done.set)
            assert done.wait(60.0), "an act waits for the recording"
            assert studio.page.settle(60.0)
            assert check._stop.visible
            assert "recording: " in check._filmed.content
            studio.page._cancel()

    monkeypatch.setattr(type(studio.page.scene), "record", record)
    with pytest.raises(Cancelled, match="stopped at picture 4"):
        recorder.page() if suffix == ".html" else recorder.film(suffix, browser(lambda: None))
    assert len(seen) == 3
    assert None not in seen
    assert seen == sorted(set(seen))  # type: ignore[type-var]
    assert recorder.fraction is None
    assert studio.page.settle(60.0)
    assert not check._stop.visible
    assert set(session.project.folder.rglob("*")) == before
    monkeypatch.undo()
    assert recorder.film(".gif", browser(lambda: None)).startswith(b"GIF8")


def test_one_recording_at_a_time(studio: Studio) -> None:
    recorder = Recorder(studio.page.ui, studio.page.scene)
    drawing, go_on = threading.Event(), threading.Event()

    def slow() -> None:
        drawing.set()
        assert go_on.wait(60.0)

    films: list[bytes] = []
    first = threading.Thread(target=lambda: films.append(recorder.film(".gif", browser(slow))))
    first.start()
    assert drawing.wait(60.0)
    with pytest.raises(BadInput, match="is being made"):
        recorder.film(".gif", browser(lambda: None))
    with pytest.raises(BadInput, match="is being made"):
        recorder.page()
    go_on.set()
    first.join(60.0)
    assert films[0].startswith(b"GIF8")
    assert recorder.film(".gif", browser(lambda: None)).startswith(b"GIF8")
