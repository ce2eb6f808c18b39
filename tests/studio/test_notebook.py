"""Performances in notebooks: one page that needs nothing else and plays every frame."""

from __future__ import annotations

import base64
import dataclasses
import re
import sys
import types
from html import unescape
from typing import Any

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.formats.registry import read_character
from bunraku.motion import Audio, Clip, JointCurves, Performance
from bunraku.performers.performer import make_performer
from bunraku.studio.notebook import page_of

pytest.importorskip("viser")


@pytest.fixture(scope="module")
def performance() -> Performance:
    """A short gesture of the NAO, 21 frames of 30 a second."""
    times = np.arange(0.0, 2.0 / 3.0 + 1e-9, 0.02)
    clip = Clip("nod", joints=JointCurves(("HeadPitch",), 50.0, 0.2 * np.sin(4.0 * times)[:, None]))
    return make_performer("speech", {}).perform(read_character("nao"), clip)


def recording(page: str) -> dict[str, Any]:
    """The recording inside of a page: its length and the messages with their times [s]."""
    import msgspec
    import zstandard

    found = re.search(r'__VISER_EMBED_DATA__="([A-Za-z0-9+/=]+)"', page)
    assert found is not None, "there is no recording in the page"
    content = zstandard.ZstdDecompressor().decompress(base64.b64decode(found[1])[8:], max_output_size=2**28)
    size = int.from_bytes(content[:8], "little")
    made: dict[str, Any] = msgspec.msgpack.decode(content[8 : 8 + size])
    return made


def moved(made: dict[str, Any], layer: str) -> list[float]:
    """When the parts of a layer were moved [s], each time once."""
    return sorted(
        {round(time, 6) for time, one in made["messages"] if one["type"] == "SceneNodeUpdateMessage" and layer in one["name"]}
    )


def test_the_page_plays_every_frame_at_its_time(performance: Performance) -> None:
    made = recording(page_of(performance))
    count = round(30.0 * performance.duration) + 1
    assert count == 21
    assert made["durationSeconds"] == pytest.approx(count / 30.0)
    times = moved(made, "/layer-0/")
    assert times == pytest.approx([k / 30.0 for k in range(count)], abs=1e-5)
    assert moved(made, "/layer-1/") == times


def test_the_page_holds_the_last_pose_until_its_voice_ends(performance: Performance) -> None:
    voiced = performance.changed(audio=Audio(np.zeros(32_000), 16_000.0))
    assert recording(page_of(voiced, wish=False, sound=True))["durationSeconds"] == pytest.approx(61 / 30.0)
    assert recording(page_of(voiced, wish=False))["durationSeconds"] == pytest.approx(21 / 30.0)


def test_the_wish_can_be_left_out(performance: Performance) -> None:
    made = recording(page_of(performance, wish=False))
    assert moved(made, "/layer-0/")
    assert not any("/layer-1" in str(one.get("name", "")) for _, one in made["messages"])


def test_the_page_loads_nothing_from_anywhere(performance: Performance) -> None:
    page = page_of(performance)
    assert page.count("<html") == 1
    assert not re.findall(r"""<(?:script|img|iframe|audio|video|source)[^>]*\ssrc=["\']?(?!data:)""", page)
    assert not [one for one in re.findall(r'<link[^>]*href="([^"]*)"', page) if not one.startswith("data:")]


def test_the_page_is_called_by_what_it_shows(performance: Performance) -> None:
    page = page_of(dataclasses.replace(performance, clip_name="nod & <shake>"), wish=False)
    assert re.findall("<title>(.*?)</title>", page) == ["nod &amp; &lt;shake&gt; performed by nao"]


def test_a_notebook_gets_the_page_in_a_frame(performance: Performance, monkeypatch: pytest.MonkeyPatch) -> None:
    display = types.ModuleType("IPython.display")
    display.HTML = str  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", types.ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    shown = performance.show(height=300, wish=False)
    frame = re.fullmatch(r'<div><iframe srcdoc="([^"]*)" width="100%" height="300" style="border:none"></iframe></div>', shown)
    assert frame is not None
    assert moved(recording(unescape(frame[1])), "/layer-0/")


def test_without_a_notebook_the_extra_is_named(performance: Performance, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "IPython.display", None)
    with pytest.raises(BadInput, match="notebook"):
        performance.show()
