"""What a long session keeps in memory is bounded: derived characters, curves of old steps, results, drags of what is gone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bunraku.motion import Audio, Clip, JointCurves
from bunraku.studio import history as history_module
from bunraku.studio.document import EMPTY
from bunraku.studio.edits.registry import Edit, apply
from bunraku.studio.history import NEAR, History
from bunraku.studio.page.dragging import Drag
from bunraku.studio.page.ui import Hand, Same
from bunraku.studio.results import KEPT, Recent
from bunraku.studio.session import Session


def test_only_the_newest_results_stay_in_memory() -> None:
    kept: Recent[int] = Recent()
    for k in range(KEPT):
        kept[str(k)] = k
    kept["0"] = 100
    kept["new"] = 1
    assert list(kept) == [*(str(k) for k in range(2, KEPT)), "0", "new"]


def test_documents_far_from_the_present_let_go_of_their_characters() -> None:
    history = History.begin(apply(EMPTY, Edit("open.example", {"name": "swizzlebot"})))
    for k in range(2 * NEAR + 2):
        one = Edit("dimension.set", {"name": "F.hip x", "value": 0.1 + 0.001 * k})
        history = history.done(one, apply(history.document, one))
    before = [document.character for document in history.documents]
    history = history.jumped(NEAR)
    history.slim()
    held = ["character" in document.__dict__ for document in history.documents]
    assert held == [k <= 2 * NEAR for k in range(len(history.documents))]
    assert [document.character for document in history.documents] == before


def test_edits_of_long_curves_drop_the_oldest_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sound that all share counts once, curves that each has of its own count each."""
    monkeypatch.setattr(history_module, "MOST_BYTES", 100_000)
    audio = Audio(np.zeros(5000), 16000.0)

    def document(k: int) -> Any:
        return EMPTY.changed(clip=Clip("long", joints=JointCurves(("a",), 100.0, np.full((1000, 1), float(k))), audio=audio))

    history = History.begin(document(0))
    for k in range(1, 40):
        history = history.done(Edit("design.mirror", {"on": True}), document(k))
    room = (100_000 - audio.samples.nbytes) // 8000
    assert len(history.documents) == room
    assert history.dropped == 40 - room
    assert [float(one.clip.joints.values[0, 0]) for one in history.documents] == [float(k) for k in range(40 - room, 40)]
    monkeypatch.setattr(history_module, "MOST_BYTES", 1)
    history = history.done(Edit("design.mirror", {"on": True}), document(41))
    assert len(history.documents) == NEAR + 1


def test_the_same_is_the_very_same_and_is_kept() -> None:
    things = [Same([1]) for _ in range(100)]
    assert len({hash(one) for one in things}) == 100, "each is kept, so no number is given twice"
    assert things[0] == things[0]
    assert things[0] != things[1]
    one = [1]
    assert Same(one) == Same(one)
    assert Same(None) == Same(None)


class Acting:
    """As much of the page as a drag needs."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.hand = Hand()

    def act(self, function: Any, *, key: str = "") -> None:
        function()


def test_a_drag_of_what_another_browser_took_away_does_nothing(tmp_path: Path) -> None:
    session = Session(tmp_path)
    try:
        session.do("open.example", name="swizzlebot")
        base = session.document.base
        drag = Drag(Acting(session), "k", "dimension.set", valid=lambda: session.document.base is base)  # type: ignore[arg-type]
        drag.move({"name": "F.hip x", "value": 0.111}, rests=False)
        assert session.previewed is not session.document
        motor = session.document.need_character().motors[0].name
        session.do("component.servo", motor=motor, servo="MG995R")
        after = session.document
        drag.move({"name": "F.hip x", "value": 0.112}, rests=False)
        drag.end({"name": "F.hip x", "value": 0.113})
        assert session.document is after
        session.undo()
        drag.end({"name": "F.hip x", "value": 0.113})
        assert session.document.dimensions == {"F.hip x": 0.113}
    finally:
        session.close()
