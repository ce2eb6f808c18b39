"""Stories of working: undo, reload, the palette, playing and scrubbing, going to where a promise is nearest to break, two pages."""

from __future__ import annotations

from typing import Any

import pytest


def test_undo_by_keyboard_button_and_history(story: Any) -> None:
    story.example("Legs and wheels", "swizzlebot")
    session = story.session
    story.tab("Optimize")
    first, steps = session.document, session.history.at
    story.until(lambda: story.ui.field("Performer").input_value() == "locomotion")
    story.choose("Performer", "the one that suits best")
    story.until(lambda: session.history.at == steps + 1)
    second = session.document
    story.settle()
    story.page.keyboard.press("Control+z")
    story.until(lambda: session.document is first)
    story.page.keyboard.press("Control+Shift+z")
    story.until(lambda: session.document is second)
    story.press("Undo")
    story.until(lambda: session.document is first)
    story.settle()
    story.until(lambda: story.ui.field("Performer").input_value() == "locomotion")
    story.tab("History")
    story.shows(f'[data-click="history.jump"][data-index="{steps + 1}"]').click()
    story.until(lambda: session.document is second)
    story.shows(f'[data-click="history.jump"][data-index="{steps}"]').click()
    story.until(lambda: session.document is first)


def test_a_reload_loses_nothing(story: Any) -> None:
    story.example("Speech and gestures", "speech")
    session = story.session
    story.run()
    document, motion = session.document, session.shown.motion
    story.page.reload()
    story.open()
    assert session.document is document
    assert session.shown.motion is motion
    story.reads("not-done-yet")
    story.tab("Optimize")
    story.shows('[data-job="done"]')
    story.ui.wait_for_node("/world/performed")
    story.tab("History")
    assert story.page.locator('[data-click="history.jump"]').count() == len(session.history.words) + 1
    story.tab("Check & export")
    story.reads("promises hold")
    other = story.page.context.new_page()
    story.open(other)
    other.get_by_text("not-done-yet").first.wait_for()
    other.get_by_role("tab", name="Check & export", exact=True).click()
    other.get_by_text("promises hold").first.wait_for()
    session.do("option.set", name="acceleration", value=60.0)
    for page in (story.page, other):
        page.get_by_text("out of date").first.wait_for()
    session.undo()
    other.close()


def test_playing_scrubbing_and_going_to_a_moment(story: Any) -> None:
    story.example("Speech and gestures", "speech")
    session = story.session
    story.run()
    transport = session.transport
    transport.pause()
    story.page.keyboard.press("Space")
    story.until(lambda: transport.playing)
    story.page.keyboard.press("Space")
    story.until(lambda: not transport.playing)
    story.scrub(0.75 * transport.duration)
    assert transport.now == pytest.approx(0.75 * transport.duration, abs=0.03 * transport.duration)
    story.page.wait_for_function(
        "said => document.querySelector('[data-clocktext]').textContent === said", arg=f"{transport.now:.2f} s"
    )
    story.tab("Check & export")
    names = ("Design", "Choreograph", "Optimize", "Check & export")
    boxes = [story.page.get_by_role("tab", name=name, exact=True).bounding_box() for name in names]
    assert len({round(box["y"]) for box in boxes}) == 1, boxes  # all in one row, the chosen one in bold letters too
    row = story.shows('tr[data-click="time.jump"]')
    row.click()
    story.until(lambda: transport.now == pytest.approx(float(row.get_attribute("data-t")), abs=1e-3))


def test_the_palette_runs_a_command(story: Any) -> None:
    story.example("Legs and wheels", "swizzlebot")
    ui = story.studio.page.ui
    dark = ui.dark
    for _ in range(2):
        story.page.keyboard.press("Control+k")
        story.page.get_by_placeholder("Search commands...").fill("Dark or light")
        story.page.get_by_role("button", name="Dark or light").first.click()
        dark = not dark
        story.until(lambda wanted=dark: ui.dark is wanted)
        scheme = "dark" if dark else "light"
        story.page.wait_for_function("wanted => document.documentElement.dataset.mantineColorScheme === wanted", arg=scheme)


def test_a_number_is_typed_key_by_key_into_an_option(story: Any) -> None:
    story.example("Legs and wheels", "swizzlebot")
    session = story.session
    story.tab("Optimize")
    story.unfold("Options")
    field = story.ui.field("rate [Hz]")
    field.click()
    steps, old = session.history.at, field.input_value()
    story.page.keyboard.press("Control+a")
    story.page.keyboard.type("60", delay=120.0)
    story.until(lambda: session.document.options.get("rate") == 60)
    story.rest()
    assert field.input_value() == "60", "the field is still there, and open"
    assert field.evaluate("element => element === document.activeElement")
    assert session.history.at == steps + 1, "one step, not one for every key"
    story.press("Undo")
    story.until(lambda: "rate" not in session.document.options)
    story.until(lambda: field.input_value() == old)
