"""The command stack: whatever is done, undone and done again, the document is the one that the edits in force make."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bunraku.errors import BadInput, BunrakuError
from bunraku.studio.document import EMPTY, Document
from bunraku.studio.edits.registry import Edit, apply, known_edits, words_of
from bunraku.studio.history import MOST, History
from bunraku.studio.journal import Journal

WALKER = [Edit("open.example", {"name": "walker-crawl"})]
SPEAKER = [Edit("open.example", {"name": "speech"})]
SHOW = [Edit("open.example", {"name": "marionette-show"})]


def made_by(edits: list[Edit]) -> Document:
    document = EMPTY
    for one in edits:
        document = apply(document, one)
    return document


@pytest.fixture(scope="module")
def walker() -> Document:
    return made_by(WALKER)


@pytest.fixture(scope="module")
def speaker() -> Document:
    return made_by(SPEAKER)


@pytest.fixture(scope="module")
def show() -> Document:
    return made_by(SHOW)


def going() -> st.SearchStrategy[Edit]:
    number = st.floats(-0.2, 0.2).map(lambda value: round(value, 4))
    return st.one_of(
        st.builds(lambda v: Edit("gait.goal", {"forward": v}), number),
        st.builds(lambda v: Edit("gait.goal", {"turn": v}), number),
        st.builds(
            lambda f, c: Edit("gait.toggle", {"foot": f, "cell": c}), st.sampled_from(["LF", "RF", "LH", "RH"]), st.integers(0, 23)
        ),
        st.builds(lambda v: Edit("gait.set", {"field": "duration", "value": v}), st.floats(0.5, 3.0)),
        st.builds(lambda v: Edit("gait.set", {"field": "pattern", "value": v}), st.sampled_from(["trot", "crawl", "roll", "pace"])),
        st.builds(lambda x, z: Edit("target.add", {"what": "com", "time": 0.3, "place": [x, None, z]}), number, number),
        st.builds(lambda k: Edit("target.remove", {"index": k}), st.integers(0, 2)),
        st.builds(lambda k, x: Edit("target.move", {"index": k, "place": [x, 0.0, None]}), st.integers(0, 2), number),
        st.builds(lambda v: Edit("performer.set", {"performer": v}), st.sampled_from(["", "locomotion"])),
        st.builds(lambda m: Edit("design.mode", {"mode": m}), st.sampled_from(["manual", "automatic", "semi-automatic"])),
        st.just(Edit("joint.mute", {"joint": "LF.knee"})),
        st.just(Edit("joint.lock", {"joint": "RF.knee"})),
        st.sampled_from([Edit("clip.begin", {"kind": "gait"}), Edit("clip.begin", {"kind": "curves", "duration": 1.0})]),
        st.builds(
            lambda n, v: Edit("dimension.set", {"name": n, "value": v}),
            st.sampled_from(["F.hip x", "F.knee z"]),
            st.floats(-0.2, 0.13),
        ),
        st.just(Edit("dimension.fix", {})),
    )


def speaking() -> st.SearchStrategy[Edit]:
    joints = st.sampled_from(["LShoulderPitch", "RElbowRoll", "HeadYaw"])
    return st.one_of(
        st.builds(
            lambda j, k, v: Edit("keys.move", {"joint": j, "key": k, "time": 0.6, "value": v}),
            joints,
            st.integers(0, 3),
            st.floats(-0.5, 0.5),
        ),
        st.builds(lambda j, k: Edit("keys.remove", {"joint": j, "key": k}), joints, st.integers(1, 3)),
        st.builds(lambda j: Edit("joint.mute", {"joint": j}), joints),
        st.builds(lambda w: Edit("emphasis.add", {"frame": "l_hand", "weight": w}), st.floats(0.0, 50.0)),
        st.builds(
            lambda e, t: Edit("phrase.border", {"index": 0, "end": e, "time": t}),
            st.sampled_from(["start", "end"]),
            st.floats(0.0, 2.0),
        ),
        st.builds(lambda t: Edit("phrase.add", {"text": "so", "start": t, "end": t + 0.3}), st.floats(0.0, 2.0)),
        st.builds(lambda k: Edit("phrase.rename", {"index": k, "text": "well"}), st.integers(0, 2)),
        st.builds(
            lambda k, t: Edit("phrase.remove", {"index": k, "track": t}), st.integers(0, 2), st.sampled_from(["phrase", "word"])
        ),
        st.sampled_from([Edit("audio.set", {"source": ""}), Edit("audio.set", {"source": "hello-everybody"})]),
        st.builds(lambda v: Edit("option.set", {"name": "acceleration", "value": v}), st.floats(10.0, 100.0)),
        st.just(Edit("option.set", {"name": "acceleration", "value": None})),
    )


def building() -> st.SearchStrategy[Edit]:
    """A character that grows and shrinks, with what it should do."""
    models = st.sampled_from(["Dynamixel XM430-W210", "driven wheel 60 mm", "printed link", "string", "printed disc 30 mm"])
    places = st.sampled_from(["body left front", "body top", "left motor 1 horn", "left motor 1 output right"])
    return st.one_of(
        st.builds(lambda s, c: Edit("component.add", {"socket": s, "component": c, "dimensions": {}}), places, models),
        st.builds(lambda b: Edit("component.remove", {"body": b}), st.sampled_from(["left motor 1 output", "left wheel 1"])),
        st.builds(lambda on: Edit("design.mirror", {"on": on}), st.booleans()),
        st.builds(lambda k: Edit("clip.begin", {"kind": k, "duration": 1.0}), st.sampled_from(["gait", "curves"])),
        st.builds(lambda j: Edit("joint.lock", {"joint": j}), st.sampled_from(["left motor 1", "right motor 1"])),
        st.just(Edit("open.character", {"source": "swizzlebot"})),
        st.just(Edit("open.blank", {})),
    )


def moding() -> st.SearchStrategy[Edit]:
    return st.one_of(
        st.builds(lambda m, t: Edit("mode.border", {"mode": m, "time": t}), st.integers(0, 3), st.floats(0.0, 12.0)),
        st.builds(lambda m: Edit("mode.remove", {"mode": m}), st.integers(0, 3)),
        st.builds(lambda p: Edit("mode.add", {"primitive": p}), st.sampled_from(["walk", "wave", "bow"])),
        st.builds(
            lambda m, p: Edit("mode.replace", {"mode": m, "primitive": p}), st.integers(0, 3), st.sampled_from(["walk", "wave"])
        ),
    )


def stepped(start: Document, steps: list[Edit | str]) -> tuple[History, list[Edit]]:
    """A history after steps, and the edits that a plain list, undone by its end, holds in force."""
    history, force, gone = History.begin(start), [], []
    for step in steps:
        if step == "undo":
            history = history.undone()
            if force:
                gone.append(force.pop())
        elif step == "redo":
            history = history.redone()
            if gone:
                force.append(gone.pop())
        elif isinstance(step, Edit):
            try:
                made = apply(history.document, step)
            except BunrakuError:
                continue
            history = history.done(step, made)
            force.append(step)
            gone = []
    return history, force


def check(start: Document, steps: list[Edit | str], folder: Path) -> None:
    history, force = stepped(start, steps)
    again = start
    for one in force:
        again = apply(again, one)
    assert history.document.key == again.key
    assert history.document == again
    back = history
    while back.at > 0:
        back = back.undone()
    assert back.document is start
    for _ in force:
        back = back.redone()
    assert back.document is history.document
    journal = Journal(folder / "journal.jsonl")
    journal.clear()
    live = History.begin(start)
    for step in steps:
        if step in ("undo", "redo"):
            live = live.undone() if step == "undo" else live.redone()
            journal.append("-" if step == "undo" else "+")
        elif isinstance(step, Edit):
            try:
                live = live.done(step, apply(live.document, step))
            except BunrakuError:
                continue
            journal.append(step.text)
    found = journal.replay(start, folder)
    assert not found.trouble
    assert found.history.document == live.document
    assert found.history.at == live.at


ROUNDS = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


@ROUNDS
@given(data=st.data())
def test_any_sequence_on_a_gait(walker: Document, tmp_path: Path, data: st.DataObject) -> None:
    check(walker, data.draw(st.lists(going() | st.sampled_from(["undo", "redo"]), max_size=12)), tmp_path)


@ROUNDS
@given(data=st.data())
def test_any_sequence_on_curves(speaker: Document, tmp_path: Path, data: st.DataObject) -> None:
    check(speaker, data.draw(st.lists(speaking() | st.sampled_from(["undo", "redo"]), max_size=10)), tmp_path)


@ROUNDS
@given(data=st.data())
def test_any_sequence_on_a_show(show: Document, tmp_path: Path, data: st.DataObject) -> None:
    check(show, data.draw(st.lists(moding() | st.sampled_from(["undo", "redo"]), max_size=10)), tmp_path)


@ROUNDS
@given(data=st.data())
def test_any_sequence_on_a_character(tmp_path: Path, data: st.DataObject) -> None:
    start = apply(EMPTY, Edit("open.blank", {}))
    check(start, data.draw(st.lists(building() | st.sampled_from(["undo", "redo"]), max_size=10)), tmp_path)


def test_edits_survive_their_text() -> None:
    one = Edit("gait.goal", {"forward": 0.1, "turn": None, "list": [1, 2.5, "x"]})
    assert Edit.read(one.text) == one
    assert words_of(one) == "Changed how far it goes and turns"


@pytest.mark.parametrize(
    "text", ["", "{}", "[1]", '{"name": 1}', '{"name": "x", "arguments": [1]}', '{"name":"x","arguments":{"a":NaN}}', "[" * 100000]
)
def test_what_is_no_edit_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        Edit.read(text)


def test_what_is_not_plain_data_is_refused() -> None:
    for bad in (float("nan"), object(), {1, 2}):
        with pytest.raises(BadInput):
            Edit("x", {"a": bad})


def test_unknown_edits_and_arguments_are_named(walker: Document) -> None:
    with pytest.raises(BadInput, match=r"gait\.goal"):
        apply(walker, Edit("gait.gaol", {}))
    with pytest.raises(BadInput, match="forward"):
        apply(walker, Edit("gait.goal", {"froward": 1.0}))


def test_every_edit_says_what_it_did() -> None:
    for name, (function, words) in known_edits().items():
        assert function.__doc__, name
        assert words_of(Edit(name, {})), words


def test_old_steps_are_dropped_not_lost() -> None:
    history = History.begin(EMPTY)
    for k in range(MOST + 20):
        history = history.done(Edit("design.mirror", {"on": bool(k % 2)}), EMPTY.changed(mirror=bool(k % 2)))
    assert len(history.edits) == MOST
    assert history.dropped == 20
    assert history.document.mirror is bool((MOST + 19) % 2)


def test_a_servo_is_changed_on_both_sides_where_the_design_is_mirrored(walker: Document) -> None:
    def changed(document: Document) -> list[str]:
        made = apply(document, Edit("component.servo", {"motor": "LF.knee", "servo": "MG995R"}))
        return [motor.name for motor in made.need_character().motors if motor.model == "MG995R"]

    assert changed(walker) == ["LF.knee", "RF.knee"]
    assert changed(apply(walker, Edit("design.mirror", {"on": False}))) == ["LF.knee"]
