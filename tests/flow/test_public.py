"""What `import bunraku` offers: names that load nothing until they are used, and texts that a person can read."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import bunraku
from bunraku.errors import BadInput


@pytest.fixture(scope="module")
def nod() -> bunraku.Performance:
    return bunraku.perform("nao", "not-done-yet", intensity=0.8)


def test_importing_loads_nothing_and_shows_the_names() -> None:
    code = "import sys, bunraku; print(sorted({'numpy', 'pydantic', 'yaml'} & set(sys.modules)), *dir(bunraku))"
    words = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert words[0] == "[]"
    assert set(words[1:]) == {*bunraku.__all__, "__version__"}


def test_editors_and_type_checkers_see_every_name() -> None:
    """The package says that it is typed, and imports for type checkers alone exactly the public names."""
    source = Path(bunraku.__file__)
    assert source.with_name("py.typed").exists()
    blocks = [node for node in ast.parse(source.read_text()).body if isinstance(node, ast.If)]
    imports = [node for block in blocks for node in block.body if isinstance(node, ast.ImportFrom)]
    assert sorted(alias.name for node in imports for alias in node.names) == bunraku.__all__


def test_every_name_is_there_and_others_are_not() -> None:
    assert all(getattr(bunraku, name).__name__ == name for name in bunraku.__all__)
    with pytest.raises(AttributeError, match="it has BunrakuError, Certificate"):
        bunraku.performer  # noqa: B018


def test_names_paths_and_objects_are_taken(nod: bunraku.Performance, tmp_path: Path) -> None:
    who, wish = bunraku.load_character("nao"), bunraku.load_clip("not-done-yet")
    again = bunraku.perform(who, wish, intensity=0.8)
    assert (again.positions().values == nod.positions().values).all()
    assert bunraku.load_character(who) is who
    assert bunraku.load_clip(nod).joints is not None
    assert bunraku.export(nod, tmp_path / "show.csv").read_text().startswith("# nao: not-done-yet")
    assert bunraku.verify(nod).holds
    with pytest.raises(BadInput, match="no option 'intensty'"):
        bunraku.perform(who, wish, intensty=0.8)


def test_a_rig_map_and_an_overlay_are_read_from_files(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"nowhere\.yaml"):
        bunraku.perform("nao", "not-done-yet", rig=tmp_path / "nowhere.yaml")


def test_nouns_say_in_a_few_lines_what_they_are(nod: bunraku.Performance) -> None:
    verdict = bunraku.verify(nod, replay=False)
    for thing in (nod, nod.character, bunraku.load_clip("not-done-yet"), nod.certificate):
        text = repr(thing)
        assert len(text) < 1000
        assert text.startswith(type(thing).__name__)
    assert repr(verdict).startswith("Proven: ")
    assert f"{len(nod.character.motors)} motors" in repr(nod.character)
    assert "7.8 s" in repr(nod)


def test_a_dictionary_is_no_clip() -> None:
    for load, what in (
        (bunraku.load_clip, "clip"),
        (bunraku.load_character, "character"),
        (bunraku.load_performance, "performance"),
    ):
        with pytest.raises(BadInput, match=f"a {what} is a name, a path or a {what.capitalize()}; a dict arrived"):
            load({"pan": [0.0, 1.0]})
