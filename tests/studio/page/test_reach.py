"""A hand is grabbed and dragged: the wish follows, letting go is one edit, and what was put too far snaps back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bunraku.retargeting.reach import path_of
from bunraku.studio.page.reach import GIZMO
from bunraku.studio.studio import Studio


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    studio = Studio(Path(tmp_path_factory.mktemp("project")), tour=False)
    yield studio
    studio.close()


@pytest.fixture
def studio(opened: Studio) -> Studio:
    opened.session.do("open.example", name="speech")
    opened.page.reach.let_go()
    opened.session.transport.scrub(2.0)
    assert opened.page.settle(60.0)
    return opened


def where(studio: Studio) -> Any:
    """Where what is held is at its time, in the document."""
    held = studio.page.reach.held
    assert held is not None
    curves = studio.session.document.need_clip().need_joints("a test")
    return path_of(studio.session.document.need_character(), curves, held[0])[round(held[1] * curves.rate)]


def node(studio: Studio, name: str = "") -> Any:
    assert studio.page.settle(60.0)
    return studio.server.viser.scene.get_handle_by_name(f"{GIZMO}{name}")


def put(studio: Studio, place: Any, *phases: str) -> None:
    """Drag the gizmo as a browser does: it says where it is, then that it moved or was let go."""
    node(studio).position = tuple(place)
    for phase in phases:
        studio.page.reach.dragged(phase)
    assert studio.page.settle(60.0)


def test_a_hand_is_dragged_and_let_go(studio: Studio) -> None:
    session, reach = studio.session, studio.page.reach
    session.transport.play()
    session.transport.scrub(2.0)
    reach.grab("r_hand")
    assert not session.transport.playing
    assert reach.held == ("r_hand", pytest.approx(session.transport.now))
    start, steps = where(studio), session.history.at
    assert np.array(node(studio).position) == pytest.approx(start, abs=1e-6)
    assert node(studio, "-before") is not None
    assert node(studio, "-now") is None
    put(studio, start + np.array([0.0, 0.02, 0.03]), "start", "update")
    assert session.history.at == steps
    wish = session.shown.wish
    assert wish is not None
    seen = wish.frames[wish.at(session.transport.now), wish.names.index("r_hand")]
    assert seen == pytest.approx(start + np.array([0.0, 0.02, 0.03]), abs=1e-2)
    assert node(studio, "-now") is not None
    put(studio, start + np.array([0.0, 0.02, 0.04]), "update", "end")
    assert session.history.at == steps + 1
    assert session.history.edits[steps].name == "pose.reach"
    assert where(studio) == pytest.approx(start + np.array([0.0, 0.02, 0.04]), abs=1e-4)
    session.undo()
    assert np.array(node(studio).position) == pytest.approx(start, abs=1e-6)
    assert node(studio, "-now") is None


def test_what_cannot_be_reached_snaps_back_and_is_told(studio: Studio) -> None:
    studio.page.reach.grab("r_hand")
    far = where(studio) + np.array([0.0, 0.0, 1.0])
    put(studio, far, "start", "update", "end")
    there = where(studio)
    assert np.linalg.norm(far - there) > 0.5
    assert np.array(node(studio).position) == pytest.approx(there, abs=1e-6)
    assert "comes no nearer than" in studio.session.messages.all[-1].text


def test_a_click_that_moves_nothing_is_no_edit(studio: Studio) -> None:
    studio.page.reach.grab("com")
    steps = studio.session.history.at
    put(studio, where(studio), "start", "end")
    assert studio.session.history.at == steps


def test_another_clip_lets_go(studio: Studio) -> None:
    studio.page.reach.grab("l_hand")
    assert node(studio) is not None
    studio.session.do("open.example", name="walker-crawl")
    assert node(studio) is None
    assert studio.page.reach.held is None
