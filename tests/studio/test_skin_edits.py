"""Edits of a skin's recipe: whatever is chosen, undone and chosen again, the recipe is one that can be planned, and plain data."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bunraku.building.creatures.recipe import SkinRecipe
from bunraku.errors import BadInput, BunrakuError
from bunraku.studio.document import EMPTY, Document
from bunraku.studio.edits.registry import Edit, apply, words_of
from bunraku.studio.edits.skins import bodies_of, recipe_of, scale_of
from bunraku.studio.history import History
from bunraku.studio.journal import Journal
from bunraku.studio.project import Project

BEGIN = Edit("skin.begin", {"source": "files/frog.obj", "template": "monster"})


def edited(document: Document, name: str, **arguments: object) -> Document:
    return apply(document, Edit(name, arguments))


@pytest.fixture(scope="module")
def begun() -> Document:
    return apply(EMPTY, BEGIN)


def skinning() -> st.SearchStrategy[Edit]:
    joints = st.sampled_from(["roll", "yaw", "hip", "knee", "ankle", "wing"])
    bodies = st.sampled_from(["body", "LF.hip_link", "RH.yaw_link", "spine_link", "tail"])
    number = st.floats(-0.5, 1.5).map(lambda value: round(value, 3))
    return st.one_of(
        st.just(BEGIN),
        st.just(Edit("skin.begin", {"source": "files/lizard.glb", "scale": 0.001})),
        st.just(Edit("skin.end", {})),
        st.builds(lambda v: Edit("skin.set", {"field": "thickness", "value": v}), st.floats(0.0, 0.03)),
        st.builds(lambda v: Edit("skin.set", {"field": "glue", "value": v}), st.integers(0, 1200)),
        st.builds(lambda v: Edit("skin.set", {"field": "teeth", "value": v}), st.integers(-1, 5)),
        st.builds(
            lambda v: Edit("skin.set", {"field": "template", "value": v}), st.sampled_from(["beetle", "lizard", "monster", "horse"])
        ),
        st.builds(lambda v: Edit("skin.set", {"field": "name", "value": v}), st.text(max_size=12)),
        st.builds(lambda j, on: Edit("skin.fold", {"joint": j, "on": on}), joints, st.booleans()),
        st.builds(lambda j, v: Edit("skin.fold", {"joint": j, "place": v}), joints, number),
        st.builds(lambda j: Edit("skin.fold", {"joint": j, "spread": True}), joints),
        st.builds(lambda b, v: Edit("skin.bond", {"body": b, "share": v}), bodies, st.sampled_from([0.0, 1.0, 2.5, 30.0])),
    )


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.one_of(skinning(), st.sampled_from(["undo", "redo"])), max_size=14))
def test_any_sequence_leaves_a_recipe_that_holds(steps: list[Edit | str], tmp_path_factory: pytest.TempPathFactory) -> None:
    journal = Journal(tmp_path_factory.mktemp("skin") / "journal.jsonl")
    history = History.begin(EMPTY)
    for step in steps:
        if isinstance(step, Edit):
            try:
                history = history.done(step, apply(history.document, step))
            except BunrakuError:
                continue
            journal.append(step.text)
        elif step == "undo" and history.at > 0:
            history = history.undone()
            journal.append("-")
        elif step == "redo" and history.can_redo:
            history = history.redone()
            journal.append("+")
    document = history.document
    if document.recipe:
        recipe = recipe_of(document)
        assert json.loads(json.dumps(dict(document.recipe))) == {
            "source": document.recipe["source"],
            "scale": scale_of(document),
            **recipe.to_json(),
        }
        assert list(recipe.joints.values())[-1]
        assert set(recipe.bonds) <= set(bodies_of(recipe.template))
        assert "/" not in recipe.name
        assert recipe.name
    again = EMPTY
    for one in history.edits[: history.at]:
        again = apply(again, one)
    assert again == document
    assert journal.replay(EMPTY, None).history.document == document
    while history.at > 0:
        history = history.undone()
    assert history.document == EMPTY


def test_the_name_of_the_file_suggests_template_and_name() -> None:
    made = recipe_of(edited(EMPTY, "skin.begin", source="files/ab/My-Lizard.stl"))
    assert (made.template, made.name) == ("lizard", "My-Lizard")
    assert recipe_of(edited(EMPTY, "skin.begin", source="a.ply")).template == "beetle"


def test_a_new_template_drops_what_it_does_not_have(begun: Document) -> None:
    document = edited(begun, "skin.fold", joint="roll", on=True)
    document = edited(document, "skin.fold", joint="knee", place=0.4)
    document = edited(document, "skin.bond", body="LF.roll_link", share=2.0)
    document = edited(document, "skin.bond", body="body", share=3.0)
    document = edited(document, "skin.set", field="template", value="beetle")
    made = recipe_of(document)
    assert made.folds == {}
    assert made.places == {"knee": 0.4}
    assert made.bonds == {"body": 3.0}


def test_what_is_as_the_template_says_is_not_kept(begun: Document) -> None:
    off = edited(edited(begun, "skin.fold", joint="knee", place=0.3), "skin.fold", joint="knee", on=False)
    assert recipe_of(off).folds == {"knee": False}
    assert recipe_of(off).places == {}
    assert edited(off, "skin.fold", joint="knee", on=True) == begun
    assert edited(edited(begun, "skin.bond", body="body", share=2.0), "skin.bond", body="body", share=1.0) == begun
    moved = edited(begun, "skin.fold", joint="hip", place=0.1)
    assert edited(moved, "skin.fold", joint="hip", spread=True) == begun


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("skin.begin", {"source": "frog.txt"}, "is no surface"),
        ("skin.begin", {"source": "../frog.obj"}, "frog.obj"),
        ("skin.begin", {"source": ["frog.obj"]}, "a text is needed"),
        ("skin.begin", {"source": "frog.obj", "template": "horse"}, "horse"),
        ("skin.begin", {"source": "frog.obj", "scale": 0.0}, "millimetres"),
        ("skin.set", {"field": "thickness", "value": 0.5}, "from 0.001 to 0.02 m"),
        ("skin.set", {"field": "thickness", "value": "fat"}, "cannot be 'fat'"),
        ("skin.set", {"field": "colour", "value": 1}, "has no 'colour'"),
        ("skin.set", {"field": ["glue"], "value": 1}, "a text is needed"),
        ("skin.set", {"field": "template", "value": [1]}, "a text is needed"),
        ("skin.set", {"field": "scale", "value": True}, "millimetres"),
        ("skin.fold", {"joint": "wing", "on": True}, "roll, hip, knee, ankle"),
        ("skin.fold", {"joint": "ankle", "on": False}, "needs its fold"),
        ("skin.fold", {"joint": "knee", "on": 1}, "folds of a skin cannot be"),
        ("skin.fold", {"joint": "knee", "place": 1.2}, "from 0 to 1"),
        ("skin.bond", {"body": "tail", "share": 1.0}, "there is no body 'tail'"),
        ("skin.bond", {"body": "body", "share": 21.0}, "from 0 to 20"),
    ],
)
def test_what_cannot_be_is_refused_in_a_line(begun: Document, name: str, arguments: dict[str, object], words: str) -> None:
    with pytest.raises(BadInput, match=words) as refused:
        apply(begun, Edit(name, arguments))
    assert "\n" not in str(refused.value)


def test_without_a_surface_there_is_nothing_to_choose(tmp_path: Path) -> None:
    for name, arguments in (("skin.set", {"field": "glue", "value": 100}), ("skin.end", {}), ("skin.fold", {"joint": "knee"})):
        with pytest.raises(BadInput, match="open a surface"):
            apply(EMPTY, Edit(name, arguments))
    with pytest.raises(BadInput, match="not in the project"):
        apply(EMPTY, BEGIN, folder=tmp_path)


def test_a_recipe_is_saved_with_the_project(begun: Document, tmp_path: Path) -> None:
    document = edited(edited(begun, "skin.fold", joint="knee", place=0.4), "skin.bond", body="body", share=2.5)
    Project(tmp_path).save(document)
    assert Project(tmp_path).load() == document
    assert isinstance(recipe_of(Project(tmp_path).load()), SkinRecipe)


def test_an_opened_character_ends_the_recipe_unless_it_was_made_by_it(begun: Document) -> None:
    assert edited(begun, "open.character", source="tilted-car").recipe == {}
    assert edited(begun, "open.character", source="tilted-car", keep_recipe=True).recipe == begun.recipe


def test_steps_are_told_in_words() -> None:
    assert words_of(BEGIN) == "Began a skin of files/frog.obj"
    assert words_of(Edit("skin.set", {"field": "thickness", "value": 0.006})) == "Skin: thickness 0.006"
