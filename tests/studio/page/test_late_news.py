"""News of a motion that come before those of its document draw nothing into sections that were taken away."""

from __future__ import annotations

from pathlib import Path

import pytest

from bunraku.studio.page.choreograph import ChoreographTab
from bunraku.studio.studio import Studio


def test_a_picture_that_was_taken_away_is_not_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    studio = Studio(tmp_path, tour=False)
    try:
        session = studio.session
        tab = next(one for one in studio.page._panels if isinstance(one, ChoreographTab))
        for name in ("speech", "tilted-car"):
            session.do("open.example", name=name)
            assert studio.page.settle(60.0)
        gone = tab._pictures["curves"]
        assert not tab._curves.shown
        before = gone.content
        monkeypatch.setattr(session, "tell", lambda what: None)  # the document has changed, nobody knows yet
        session.do("open.example", name="one-rod")
        tab.refresh("shown")
        assert gone.content == before
        tab.refresh("document")
        assert tab._curves.shown
        assert tab._pictures["curves"] is not gone
    finally:
        studio.close()
