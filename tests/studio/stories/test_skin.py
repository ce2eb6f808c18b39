"""Stories of soft skins."""

from __future__ import annotations

from typing import Any

import pytest

from bunraku.optimization.solution import Status


def test_a_skin_is_drawn_and_a_run_can_be_cancelled(story: Any) -> None:
    story.example("Soft skins", "beetle-lift")
    session = story.session
    story.page.wait_for_function(
        "Object.keys(window.__viserMutable.nodeRefFromName).some(name => name.startsWith('/world/performed/surface-'))"
    )
    assert session.document.base.skin is not None
    story.tab("Optimize")
    story.press("Run")
    story.until(lambda: session.run is not None and session.run.running and len(session.run.history) > 1)
    story.press("Cancel")
    story.until(lambda: not session.run.running)
    story.rest()
    assert session.run.status == "cancelled"
    story.shows('[data-job="cancelled"]')
    assert "cancelled; this is the best so far" in story.said
    assert session.result is not None
    assert session.result.performance.certificate.status is Status.CANCELLED
    assert session.shown.key == session.document.key
    assert session.shown.motion.skin is not None


@pytest.mark.exhaustive
def test_from_the_gallery_to_export(story: Any) -> None:
    story.example("Soft skins", "beetle-lift")
    story.run()
    assert story.session.shown.motion.skin is not None
    assert len(story.export("csv").decode().splitlines()) > 20


@pytest.mark.exhaustive
def test_from_ones_own_files_to_export(story: Any) -> None:
    character = story.own("character", "beetle-quick", "my-beetle")
    clip = story.own("clip", "beetle-lift-quick", "my-lift")
    story.bring(story.packed(character, story.asset("characters", "beetle-quick.skin.npz"), clip))
    assert story.session.document.base.skin is not None
    story.run()
    performance = story.session.result.performance
    assert (performance.character.name, performance.clip_name) == ("my-beetle", "my-lift")
    assert b"my-beetle" in story.export("json")
