"""Make the built-in robots with legs and wheels from their components.

python scripts/make_robots.py        # writes src/bunraku/assets/characters
"""

from __future__ import annotations

from pathlib import Path

from bunraku.building.assemble import assemble
from bunraku.building.robots.builtin import ROBOTS
from bunraku.formats.character_yaml import write_character_yaml

CHARACTERS = Path(__file__).resolve().parents[1] / "src" / "bunraku" / "assets" / "characters"


def text_of(name: str) -> str:
    """The file of a robot: its character, with a line on what it is."""
    make = ROBOTS[name]
    head, rest = write_character_yaml(assemble(make())).split("\n", 1)
    return f"{head}\n# {make.__doc__}\n# Made from components by scripts/make_robots.py.\n{rest}"


def main() -> None:
    """Write all of them."""
    for name in ROBOTS:
        (CHARACTERS / f"{name}.character.yaml").write_text(text_of(name), encoding="utf-8")


if __name__ == "__main__":
    main()
