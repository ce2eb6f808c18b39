"""The guide to the studio says what is true: its table of keys is that of the page, its pictures exist."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("viser")

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "studio.md"
KEYS = {"space": "Space", "arrowright": "→", "arrowleft": "←", "home": "Home", "enter": "Enter", "escape": "Esc"}
HELD = {None: "", "shift": "Shift+", "cmd/ctrl": "Ctrl+", "cmd/ctrl+shift": "Ctrl+Shift+"}


def test_the_table_of_keys_is_that_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from bunraku.studio.page import page
    from bunraku.studio.studio import Studio

    told: dict[str, tuple[Any, str | None, str | None]] = {}
    monkeypatch.setattr(page, "add_commands", lambda ui, acts: told.update(acts))
    Studio(tmp_path / "project", tour=False).close()
    wanted = {label: "" if key is None else HELD[held] + KEYS.get(key, key) for label, (_, key, held) in told.items()}
    section = GUIDE.read_text().partition("## Keys")[2].partition("\n## ")[0]
    rows = dict(re.findall(r"^\| ([^|]+?) \| ?([^|]*?) ?\|$", section, re.MULTILINE))
    assert rows.pop("Command") == "Key"
    assert rows == wanted


def test_every_picture_is_there_and_says_what_it_shows() -> None:
    pictures = re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", GUIDE.read_text())
    assert len(pictures) > 30
    assert all(words.strip() for words, _ in pictures)
    missing = [place for _, place in pictures if not (GUIDE.parent / place).is_file()]
    assert not missing


def test_pictures_are_small() -> None:
    files = list((GUIDE.parents[1] / "static" / "studio").glob("*.png"))
    assert max(one.stat().st_size for one in files) < 250_000
    assert sum(one.stat().st_size for one in files) < 4_000_000
