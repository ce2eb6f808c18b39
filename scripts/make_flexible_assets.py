"""Make the seven flexible characters and their animations.

    python scripts/make_flexible_assets.py        # writes src/bunraku/assets/characters and src/bunraku/assets/clips

Dimensions and masses are the paper's where it gives them (rod lengths, brass weights, heights, numbers of motors); everything
else is ours: masses of brackets and shells, ranges, the printed plates, all animations.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from flexible_assets import full_body, full_body_clips, rapper, short_clips, small
from flexible_assets.timeline import SOURCE, Timeline

from bunraku.character import Character
from bunraku.formats.character_yaml import write_character_yaml

ASSETS = Path(__file__).resolve().parents[1] / "src" / "bunraku" / "assets"

CHARACTERS = {
    "one-rod": (
        small.one_rod,
        "A vertical rod of spring steel, 0.7 m long and 4 mm thick, on a motor; a ball of 0.1 kg at its tip.",
    ),
    "two-rods": (
        small.two_rods,
        "A rod of 0.3 m on the ground carries a motor of 0.1 kg, which turns a second such rod with 0.2 kg of brass at its tip.",
    ),
    "dancer": (
        small.dancer,
        "A body rod of 25 cm carries a clavicle of 0.21 kg; two motors a side turn arm rods of 30 cm with hands of\n"
        "0.2 kg of brass. At zero the arms hang. Pitch swings them back (positive) and to the front, roll to the left (positive)\n"
        "and to the right.",
    ),
    "bartender": (
        lambda: small.bartender(short_clips.serve().start),
        "A robot arm of four motors and 45 cm without its base; rods of 20 and 18 cm as upper arm and forearm. It holds a glass\n"
        "of water of 0.31 kg, inner radius 31 mm, filled to 7 mm below the brim: it spills when it is tilted against effective\n"
        "gravity by more than atan(7 / 31) = 12.7 deg. At zero the arm points straight up;\n"
        "with shoulder + elbow + wrist = 0 the glass of a stiff arm is upright.",
    ),
    "rapper": (
        rapper.rapper,
        "An arm of two printed plates that bend out of their plane; three motors at the shoulder, the fourth turns the elbow\n"
        "through a four-bar: crank and coupler are rigid, upper arm and forearm bend; two hinges, a universal joint and a ball.\n"
        "At zero the arm points to the front; the elbow turns as the crank does when nothing bends.",
    ),
    "drummer": (
        lambda: full_body.full_body(
            "drummer",
            (full_body.stick_hand("left"), full_body.stick_hand("right")),
            full_body_clips.DRUMMER_HOME,
            full_body.drums(),
        ),
        "A robot of 80 cm with 13 motors on two rods of 45 cm as legs, welded to the hips in a loop; forearms are rods of 10 cm.\n"
        "Its hands hold drum sticks. At zero it stands straight with hanging arms; all axes are then the world's.",
    ),
    "boxer": (
        lambda: full_body.full_body("boxer", (full_body.glove("left"), full_body.glove("right")), full_body_clips.BOXER_HOME),
        "The robot of the drummer with boxing gloves for hands: 80 cm, 13 motors, rods as legs and forearms.",
    ),
}
CLIPS = (
    (short_clips.tick, "one-rod"),
    (short_clips.tilt, "two-rods"),
    (short_clips.dance, "dancer"),
    (short_clips.serve, "bartender"),
    (short_clips.rap, "rapper"),
    (full_body_clips.drumming, "drummer"),
    (full_body_clips.boxing, "boxer"),
)


def character_text(name: str) -> str:
    """The file of a character."""
    make, comment = CHARACTERS[name]
    made: Character = make().changed(source=SOURCE)
    first, rest = write_character_yaml(made).split("\n", 1)
    return "\n".join([first, *(f"# {line}" for line in comment.split("\n")), "# Made by scripts/make_flexible_assets.py.", rest])


def clip_text(make: Callable[[], Timeline], character: str) -> str:
    """The file of an animation."""
    return make().written(f"For the {character}. {(make.__doc__ or '').strip()}")


def main() -> None:
    """Write all files."""
    for name in CHARACTERS:
        (ASSETS / "characters" / f"{name}.character.yaml").write_text(character_text(name), encoding="utf-8")
    for make, character in CLIPS:
        (ASSETS / "clips" / f"{make().name}.clip.yaml").write_text(clip_text(make, character), encoding="utf-8")


if __name__ == "__main__":
    main()
