"""The guide's table of formats is what the registry has and what the tests hold of every kind."""

from __future__ import annotations

import re
from pathlib import Path

from bunraku.stage.registry import exporters

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "export.md"


def rows() -> dict[str, list[str]]:
    found = (line.strip("|\n ").split("|") for line in GUIDE.read_text().splitlines() if line.startswith("| `"))
    return {cells[0].strip(" `"): [cell.strip() for cell in cells[1:]] for cells in found}


def test_the_table_names_every_format_with_its_ending():
    assert {name: cells[0].strip("`") for name, cells in rows().items()} == {n: e.suffix for n, e in exporters().items()}
    assert list(rows()) == list(exporters())


def test_the_table_says_which_kinds_a_format_takes(readers):
    for name, cells in rows().items():
        kinds = dict(zip(("position", "length", "velocity", "torque"), cells[1:5], strict=True))
        assert {kind for kind, word in kinds.items() if word != "-"} == set(readers.TAKES[name]), name


def test_options_in_the_text_exist():
    known = {option.replace("_", "-") for exporter in exporters().values() for option in exporter.options}
    own = {"list", "ip", "voice", "ramp", "against", "character"}
    assert set(re.findall(r"--([a-z][a-z-]+)", GUIDE.read_text())) <= known | own
