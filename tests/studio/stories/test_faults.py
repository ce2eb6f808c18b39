"""Stories in which something breaks: the browser goes away in the middle of a run, the solver dies."""

from __future__ import annotations

import os
import signal
from typing import Any


def begin(story: Any) -> None:
    """Start a long run, and wait until it is at work."""
    story.example("Marionettes", "marionette")
    story.tab("Optimize")
    story.press("Run")
    story.until(lambda: story.session.run is not None and story.session.run.running and len(story.session.run.history) > 0)


def test_the_browser_is_closed_in_the_middle_of_a_run(story: Any) -> None:
    story.example("Speech and gestures", "speech")
    session = story.session
    story.tab("Optimize")
    story.press("Run")
    story.until(lambda: session.run is not None)
    other = story.page.context.new_page()
    story.page.close()
    story.page, story.ui.page = other, other
    story.until(lambda: not session.busy)
    assert session.result is not None
    story.open()
    story.tab("Optimize")
    story.shows('[data-job="done"]')
    story.tab("Check & export")
    story.reads("promises hold")


def test_the_solver_dies_and_the_next_run_works(story: Any) -> None:
    begin(story)
    session = story.session
    os.kill(session.queue.jobs.worker_pid, signal.SIGKILL)
    story.until(lambda: session.run.status == "lost")
    story.rest()
    story.shows('[data-job="lost"]')
    story.page.locator(".bunraku-messages").get_by_text("the solver process died").first.wait_for()
    document = session.document
    story.example("Speech and gestures", "speech")
    story.run()
    story.press("Undo")
    story.until(lambda: session.document is document)
