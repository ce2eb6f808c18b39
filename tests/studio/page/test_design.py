"""The design tab without a browser: what a warning picks, and how often the dimensions are counted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bunraku.building.components.attach import attached
from bunraku.building.components.piece import blank_character
from bunraku.building.servos import SERVOS
from bunraku.formats.character_yaml import write_character_yaml
from bunraku.studio.page import design
from bunraku.studio.page.design import DesignTab
from bunraku.studio.studio import Studio


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Studio]:
    studio = Studio(tmp_path / "project", tour=False)
    yield studio
    studio.close()


def tab_of(studio: Studio) -> DesignTab:
    assert studio.page.settle(60.0)
    return next(one for one in studio.page._panels if isinstance(one, DesignTab))


def click(studio: Studio, row: str) -> None:
    """Send what a row of the warnings sends."""
    fields = dict(re.findall(r'data-(\w+)="([^"]*)"', row))
    studio.server._events.put(fields.pop("click"), fields)
    assert studio.server.wait_idle(60.0)
    assert studio.page.settle(60.0)


def test_a_warning_picks_the_part_it_is_about(studio: Studio) -> None:
    made = attached(blank_character("weak", base="fixed"), "body left", "MG995R", {"shaft": "across"}, name="arm")
    made = attached(made, "arm horn", "printed link", {"length": 0.2}, name="beam")
    motor = made.motors[0].changed(velocity=None)
    made = made.changed(motors=(motor,))
    assert motor.name not in {body.name for body in made.bodies}
    studio.session.bring("weak.character.yaml", write_character_yaml(made).encode())
    rows = re.findall(r"<div [^>]*><b>\w+</b>", tab_of(studio)._warnings.content)
    about_motor = next(row for row in rows if "<b>figures</b>" in row)
    click(studio, about_motor)
    output = next(joint.child for joint in made.joints if joint.name == motor.coordinate)
    assert (studio.session.selection.body, studio.session.selection.joint) == (output, motor.coordinate)
    whole = next(row for row in rows if "<b>mass</b>" in row)
    assert "data-click" not in whole  # nothing to pick


def test_dimensions_are_counted_once_for_all_sliders(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    studio.session.do("open.example", name="walker-crawl")
    tab = tab_of(studio)
    assert len(tab._sliders) > 5
    name, slider = next(iter(tab._sliders.items()))
    before = slider.value
    studio.session.do("dimension.set", name=name, value=1e-3 * (before + 1.0))
    assert studio.page.settle(60.0)
    assert slider.value == pytest.approx(before + 1.0, abs=0.05)
    counted: list[Any] = []
    made = design.dimensions
    monkeypatch.setattr(design, "dimensions", lambda base: counted.append(base) or made(base))
    studio.session.undo()
    assert studio.page.settle(60.0)
    assert slider.value == pytest.approx(before, abs=0.05)
    assert len(counted) == 1


def test_a_motor_of_another_make_can_be_replaced_by_any_servo(studio: Studio) -> None:
    made = attached(blank_character("strange", base="fixed"), "body left", "MG995R", {"shaft": "across"}, name="arm")
    made = made.changed(motors=(made.motors[0].changed(model=""),))
    studio.session.bring("strange.character.yaml", write_character_yaml(made).encode())
    output = next(joint.child for joint in made.joints if joint.name == made.motors[0].coordinate)
    studio.session.select(body=output)
    tab = tab_of(studio)
    field = next(one for one in tab._part._folder._children.values() if getattr(one, "label", "") == "Motor")
    assert field.value == "unnamed", "what is there, not the first servo of the list"
    first = next(iter(SERVOS))
    assert first in field.options
    tab._choose_servo(made.motors[0].name, "unnamed")
    assert studio.session.document.need_character().motors[0].model == ""
    tab._choose_servo(made.motors[0].name, first)
    assert studio.session.document.need_character().motors[0].model == first
    assert studio.page.settle(60.0)
    field = next(one for one in tab._part._folder._children.values() if getattr(one, "label", "") == "Motor")
    assert (field.value, tuple(field.options)) == (first, tuple(SERVOS))


def test_several_features_are_kept_and_the_last_one_stays(studio: Studio) -> None:
    session = studio.session
    session.do("open.example", name="walker-crawl")
    session.do("design.mode", mode="semi-automatic")
    tab = tab_of(studio)
    box: Any = SimpleNamespace(value=True)
    tab._keep(box, "com", True)
    assert session.document.kept == "feet+com"
    tab._keep(box, "feet", False)
    assert session.document.kept == "com"
    box.value = False
    tab._keep(box, "com", False)
    assert session.document.kept == "com"
    assert box.value
