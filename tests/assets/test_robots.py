"""The stored robots are what scripts/make_robots.py makes."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest
import yaml

from bunraku.building.robots.builtin import ROBOTS
from bunraku.formats.registry import built_in

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "make_robots.py"


def same(one: Any, two: Any, place: str) -> None:
    """Equal words and structure, numbers to 1e-9: the last digits are the processor's."""
    if isinstance(one, dict):
        assert list(one) == list(two), place
        for key in one:
            same(one[key], two[key], f"{place}.{key}")
    elif isinstance(one, list):
        assert len(one) == len(two), place
        for index, (a, b) in enumerate(zip(one, two, strict=True)):
            same(a, b, f"{place}[{index}]")
    elif isinstance(one, float):
        assert one == pytest.approx(two, rel=1e-9, abs=1e-12), place
    else:
        assert one == two, place


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    return runpy.run_path(str(SCRIPT))


@pytest.mark.parametrize("name", ROBOTS)
def test_the_file_is_made_by_the_script(script: dict[str, Any], name: str) -> None:
    stored = (script["CHARACTERS"] / f"{name}.character.yaml").read_text(encoding="utf-8")
    fresh = script["text_of"](name)
    assert stored.splitlines()[:3] == fresh.splitlines()[:3]
    same(yaml.safe_load(stored), yaml.safe_load(fresh), name)


def test_all_robots_are_built_in() -> None:
    assert set(ROBOTS) <= set(built_in("character"))
