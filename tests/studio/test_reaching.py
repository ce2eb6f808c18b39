"""Hands and feet dragged: any sequence of edits undoes and replays, held joints stay, the wish follows at once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bunraku.errors import BadInput, BunrakuError
from bunraku.retargeting.reach import path_of
from bunraku.studio.document import EMPTY, Document
from bunraku.studio.edits.registry import Edit, apply, words_of
from bunraku.studio.history import History
from bunraku.studio.journal import Journal
from bunraku.studio.session import Session

ROUNDS = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


@pytest.fixture(scope="module")
def speaker() -> Document:
    return apply(EMPTY, Edit("open.example", {"name": "speech"}))


def curves_of(document: Document) -> np.ndarray:
    joints = document.need_clip().joints
    assert joints is not None
    return joints.values


def where(document: Document, frame: str, time: float) -> np.ndarray:
    wish = document.wish
    assert wish is not None
    assert wish.joints is not None
    return path_of(document.need_character(), wish.joints, frame)[round(time * wish.joints.rate)]


def edits() -> st.SearchStrategy[Edit]:
    part = st.none() | st.floats(-0.2, 0.5).map(lambda value: round(value, 3))
    return st.one_of(
        st.builds(
            lambda f, t, p, w: Edit("pose.reach", {"frame": f, "time": t, "place": p, "width": w}),
            st.sampled_from(["r_hand", "l_hand", "head", "com", "r_foot", "nothing"]),
            st.floats(-1.0, 10.0),
            st.lists(part, min_size=3, max_size=3),
            st.sampled_from([0.0, 0.1, 0.3, 2.0]),
        ),
        st.builds(lambda j: Edit("joint.mute", {"joint": j}), st.sampled_from(["RShoulderPitch", "RElbowRoll", "HeadYaw"])),
        st.builds(lambda j: Edit("joint.lock", {"joint": j}), st.sampled_from(["RShoulderRoll", "LElbowRoll"])),
        st.builds(lambda v: Edit("keys.move", {"joint": "RElbowRoll", "key": 1, "time": 1.0, "value": v}), st.floats(0.1, 1.0)),
    )


@ROUNDS
@given(steps=st.lists(edits() | st.sampled_from(["undo", "redo"]), max_size=8))
def test_any_sequence_undoes_and_replays(speaker: Document, tmp_path: Path, steps: list[Edit | str]) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    journal.clear()
    history, force, gone = History.begin(speaker), [], []
    for step in steps:
        if isinstance(step, str):
            history = history.undone() if step == "undo" else history.redone()
            here, there = (force, gone) if step == "undo" else (gone, force)
            if here:
                there.append(here.pop())
            journal.append("-" if step == "undo" else "+")
            continue
        try:
            made = apply(history.document, step)
        except BunrakuError:
            continue
        history, gone = history.done(step, made), []
        force.append(step)
        journal.append(step.text)
    again = speaker
    for one in force:
        again = apply(again, one)
    assert history.document == again
    found = journal.replay(speaker, tmp_path)
    assert not found.trouble
    assert found.history.document == history.document
    while history.at > 0:
        history = history.undone()
    assert history.document is speaker


def test_the_hand_goes_where_it_is_asked(speaker: Document) -> None:
    goal = where(speaker, "r_hand", 2.0) + np.array([0.0, 0.03, 0.02])
    made = apply(speaker, Edit("pose.reach", {"frame": "r_hand", "time": 2.0, "place": goal.tolist(), "width": 0.2}))
    assert where(made, "r_hand", 2.0) == pytest.approx(goal, abs=1e-4)
    changed = (curves_of(made) != curves_of(speaker)).any(axis=1)
    times = np.flatnonzero(changed) / 50.0
    assert times.min() > 1.8
    assert times.max() < 2.2
    assert "clip" not in made.sources
    assert words_of(Edit("pose.reach", {"frame": "r_hand", "time": 2.0, "place": [0, 0, 0]})) == "Moved r_hand at 2 s"


def test_held_and_muted_joints_stay(speaker: Document) -> None:
    still = apply(speaker, Edit("joint.mute", {"joint": "RShoulderPitch"}))
    still = apply(still, Edit("joint.lock", {"joint": "RElbowRoll"}))
    names = list(still.need_clip().need_joints("a test").names)
    goal = where(still, "r_hand", 2.0) + np.array([0.0, -0.02, 0.0])
    made = apply(still, Edit("pose.reach", {"frame": "r_hand", "time": 2.0, "place": [None, float(goal[1]), None]}))
    assert where(made, "r_hand", 2.0)[1] == pytest.approx(goal[1], abs=1e-4)
    for name in ("RShoulderPitch", "RElbowRoll"):
        assert np.array_equal(curves_of(made)[:, names.index(name)], curves_of(speaker)[:, names.index(name)])
    for name in ("HeadYaw", "HeadPitch"):
        still = apply(still, Edit("joint.lock", {"joint": name}))
    with pytest.raises(BadInput, match="held or muted"):
        apply(still, Edit("pose.reach", {"frame": "head", "time": 2.0, "place": [0.0, 0.0, 0.5]}))


@pytest.mark.parametrize("place", [[0.0, 0.0], [], [0.0, 0.0, 0.0, 0.0]])
def test_a_place_has_three_numbers(speaker: Document, place: list[float]) -> None:
    with pytest.raises(BadInput, match="x, y, z"):
        apply(speaker, Edit("pose.reach", {"frame": "r_hand", "time": 1.0, "place": place}))


def test_the_wish_follows_the_hand_at_once(tmp_path: Path) -> None:
    session = Session(tmp_path)
    try:
        session.do("open.example", name="speech")
        start = session.shown.wish
        assert start is not None
        hand = start.names.index("r_hand")
        k = start.at(2.0)
        goal = start.frames[k, hand] + np.array([0.0, 0.03, 0.02])
        session.preview("pose.reach", frame="r_hand", time=2.0, place=goal.tolist())
        dragged = session.shown.wish
        assert dragged is not None
        assert dragged.frames[k, hand] == pytest.approx(goal, abs=1e-4)
        assert dragged.figure is start.figure
        assert not session.busy
        session.drop_preview()
        back = session.shown.wish
        assert back is not None
        assert np.array_equal(back.frames, start.frames)
        session.do("open.example", name="puppet-arm")
        assert session.shown.wish is not None
        assert session.shown.wish.figure.character.name == "puppet-arm"
    finally:
        session.close()
