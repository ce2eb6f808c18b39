"""Beginning a clip: a gait or joint curves for a character that has none, or another."""

from __future__ import annotations

from bunraku.character import Character
from bunraku.studio.page.ui import Ui

DURATION = 4.0
"""Of joint curves, unless another is asked for [s]."""


def fill_beginning(ui: Ui, character: Character) -> None:
    """Buttons for what this character could do: go, if it has feet or wheels; move its joints, if it has some."""
    session = ui.session
    if character.end_effectors:
        ui.button(
            "Begin a gait",
            lambda: session.do("clip.begin", kind="gait"),
            hint="Straight ahead at an easy pace, to be changed from there",
        )
    if character.driven or character.coordinates:
        duration = ui.gui.add_number("Length [s]", DURATION, min=0.1, max=600.0, step=0.5)
        ui.button(
            "Begin joint curves",
            lambda: session.do("clip.begin", kind="curves", duration=float(duration.value)),
            hint="Every joint at home; then add keys and drag them, or grab a hand",
        )
    if not (character.end_effectors or character.driven or character.coordinates):
        ui.words("Nothing of this character moves yet: add a motor, a wheel or a foot in Design.")
