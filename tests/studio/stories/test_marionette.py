"""Stories of puppets on strings and carts: long computations, cancelled or not, and shows of several primitives."""

from __future__ import annotations

from typing import Any

import pytest

from bunraku.optimization.solution import Status


def test_from_the_gallery_to_export(story: Any) -> None:
    story.example("Marionettes", "cart-pendulum")
    story.run()
    assert story.session.result.performance.certificate.holds
    story.shows(".uplot")
    assert len(story.export("csv").decode().splitlines()) > 100


def test_from_ones_own_files_to_export(story: Any) -> None:
    story.bring(story.own("character", "cart-pendulum", "my-cart"))
    story.bring(story.own("clip", "stand-up", "my-stand"))
    story.run()
    performance = story.session.result.performance
    assert performance.provenance.performer == "marionette"
    assert (performance.character.name, performance.clip_name) == ("my-cart", "my-stand")
    assert b"my-cart" in story.export("json")


def test_a_run_that_is_cancelled_keeps_its_best(story: Any) -> None:
    story.example("Marionettes", "marionette")
    session = story.session
    story.tab("Optimize")
    story.press("Run")
    story.until(lambda: session.run is not None and session.run.running and len(session.run.history) > 2)
    story.shows('[data-job="running"]')
    story.press("Cancel")
    story.until(lambda: not session.run.running)
    story.rest()
    assert session.run.status == "cancelled"
    story.shows('[data-job="cancelled"]')
    assert session.result is not None
    assert session.shown.key == session.document.key
    assert "cancelled; this is the best so far" in story.said
    assert session.result.performance.certificate.status is Status.CANCELLED
    assert not session.result.performance.certificate.holds


def test_the_border_of_a_primitive_is_dragged(story: Any) -> None:
    story.example("Marionettes", "marionette-show")
    session = story.session
    steps, old = session.history.at, session.document.clip.modes.modes[1].start
    story.tab("Choreograph")
    story.drag(story.shows('[data-drag="mode.border"][data-mode="1"]'), 20.0)
    story.until(lambda: session.history.at == steps + 1)
    assert session.document.clip.modes.modes[1].start > old + 0.1
    story.press("Undo")
    story.until(lambda: session.document.clip.modes.modes[1].start == pytest.approx(old))
