"""Stories of flexible characters."""

from __future__ import annotations

from typing import Any


def few_points(story: Any, points: int) -> None:
    """Ask for a coarse answer, in the options of the performer."""
    story.tab("Optimize")
    story.unfold("Options")
    story.ui.fill("points", str(points))
    story.until(lambda: story.session.document.options.get("points") == points)
    story.rest()


def test_from_the_gallery_to_export(story: Any) -> None:
    story.example("Flexible characters", "one-rod")
    few_points(story, 60)
    story.run()
    assert story.session.shown.motion.rods
    assert len(story.export("csv").decode().splitlines()) > 50


def test_from_ones_own_files_to_export(story: Any) -> None:
    story.bring(story.packed(story.own("character", "one-rod", "my-rod"), story.own("clip", "tick", "my-tick")))
    story.tab("Optimize")
    story.choose("Performer", "vibration")
    story.until(lambda: story.session.document.performer == "vibration")
    story.settle()
    few_points(story, 50)
    story.run()
    performance = story.session.result.performance
    assert (performance.character.name, performance.clip_name) == ("my-rod", "my-tick")
    assert b"my-rod" in story.export("json")
