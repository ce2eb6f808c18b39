"""Stories of characters that go: legs and wheels. What is edited is solved again at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest


def test_from_the_gallery_to_export(story: Any) -> None:
    story.example("Legs and wheels", "swizzlebot")
    story.reads("swizzlebot")
    story.run()
    assert story.session.result.performance.certificate.holds
    table = story.export("csv").decode().splitlines()
    assert len(table) > 20
    story.reads("wrote exports/")
    story.reads("promises hold")


def test_from_ones_own_files_to_export(story: Any) -> None:
    story.bring(story.own("character", "swizzlebot", "my-skater"))
    story.bring(story.own("clip", "swizzle", "my-swizzle"))
    story.reads("my-skater")
    story.reads("my-swizzle")
    story.run()
    performance = story.session.result.performance
    assert (performance.character.name, performance.clip_name) == ("my-skater", "my-swizzle")
    assert b"my-skater" in story.export("json")


def test_a_gizmo_that_is_dragged_moves_target_and_motion(story: Any) -> None:
    story.example("Legs and wheels", "agilebot-slalom")
    session = story.session
    story.until(lambda: session.shown.motion is not None and session.shown.live)
    story.settle()
    story.clear_view()
    story.scrub(session.document.clip.gait.targets[0].time)
    assert session.transport.now == pytest.approx(0.4, abs=0.05)
    before, old, steps = session.shown.motion, session.document.clip.gait.targets[0], session.history.at
    story.drag_gizmo("/world/target-0", (0.0, 1.0, 0.0), 0.03)
    story.until(lambda: session.history.at == steps + 1)
    new = session.document.clip.gait.targets[0]
    assert new.place[1] - old.place[1] == pytest.approx(0.03, abs=0.01)  # it goes as far as the hand
    assert (new.place[0], new.place[2]) == (None, None)
    story.until(lambda: session.shown.live and session.shown.key == session.document.key)
    k = before.at(old.time)
    shift = session.shown.motion.com[k, 1] - before.com[k, 1]
    assert shift > 0.002
    assert session.history.at == steps + 1
    story.page.keyboard.press("Control+z")
    story.until(lambda: session.document.clip.gait.targets[0].place == old.place)


def test_a_click_on_a_footfall_bar_solves_again(story: Any) -> None:
    story.example("Legs and wheels", "walker-crawl")
    session = story.session
    story.until(lambda: session.shown.live and session.shown.key == session.document.key)
    before, steps = session.shown.motion, session.history.at
    story.tab("Choreograph")
    cells = story.page.locator('[data-click="gait.toggle"]:not([data-drag])')
    cells.first.wait_for()
    foot = cells.first.get_attribute("data-foot")
    swings = session.document.clip.gait.swings
    cells.nth(12).click()
    story.until(lambda: session.history.at == steps + 1)
    assert session.document.clip.gait.swings != swings
    assert session.document.clip.gait.pattern == "custom"
    story.until(lambda: session.shown.live and session.shown.key == session.document.key)
    assert foot
    assert not np.array_equal(session.shown.motion.com, before.com)
    story.page.locator("svg").get_by_text("custom", exact=True).wait_for()


def test_a_slider_of_a_dimension_is_one_step_and_a_new_motion(story: Any) -> None:
    story.example("Legs and wheels", "swizzlebot")
    session = story.session
    story.until(lambda: session.shown.motion is not None and session.shown.key == session.document.key)
    before, steps = session.shown.motion, session.history.at
    story.tab("Design")
    story.unfold("F.knee")
    story.drag(story.slider("Dimensions"), 14.0)
    story.until(lambda: session.history.at == steps + 1)
    assert len(session.document.dimensions) >= 1
    story.until(lambda: session.shown.live and session.shown.key == session.document.key)
    assert not np.array_equal(session.shown.motion.com, before.com)
    story.rest()
    assert session.history.at == steps + 1
    story.press("Undo")
    story.until(lambda: session.history.at == steps)
    assert session.document.dimensions == {}
