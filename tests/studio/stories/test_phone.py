"""A story on a phone: everything is within reach of a finger."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture
def viewport() -> dict[str, int]:
    return {"width": 390, "height": 780}


def test_a_phone_reaches_all_tabs_and_runs(story: Any) -> None:
    session = story.session
    session.do("open.example", name="swizzlebot")
    story.rest()
    for name in ("Design", "Choreograph", "Check & export", "Optimize"):
        story.tab(name)
        story.page.get_by_role("tab", name=name, exact=True, selected=True).wait_for()
    story.run()
    run = story.page.get_by_role("button", name="Run", exact=True)
    box = run.bounding_box()
    assert box is not None
    assert box["x"] >= 0.0
    assert box["x"] + box["width"] <= 390.0
    middle = [box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"]]
    assert run.evaluate("(button, [x, y]) => button.contains(document.elementFromPoint(x, y))", middle)
    story.export("csv")
