"""Plans of perceptual studies: ``NAME.study.yaml``.

Who performs what under which two conditions, what people are asked about it, and for how many people orders and sides are balanced.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

from bunraku.formats.units import build
from bunraku.formats.yaml_file import read_yaml

Key = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,39}$")]
Words = Annotated[str, Field(min_length=1, max_length=300)]
Long = Annotated[str, Field(max_length=5000)]
Source = Annotated[str, Field(min_length=1, max_length=300)]
Plain = bool | int | float | str | None
Option = Plain | tuple[Plain, ...]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class ShownCondition(_Part):
    """How one of the two conditions performs a clip: a performer and its options."""

    performer: Annotated[str, Field(pattern=r"^[a-z][a-z0-9+-]{0,79}$")]
    options: dict[str, Option] = Field(default_factory=dict)


class Conditions(_Part):
    """The two conditions that are compared; the paper's: the wish slowed where it is too fast, and the optimized motion."""

    control: ShownCondition = ShownCondition(performer="stretch")
    optimized: ShownCondition = ShownCondition(performer="speech")


class ShownPerformances(_Part):
    """A behaviour that was performed before: a performance file, beside the plan, for each condition."""

    name: Key
    control: Source
    optimized: Source


class PairQuestion(_Part):
    """A question about two films side by side, answered by one of them, or by ``equal``."""

    name: Key
    text: Words
    equal: Words = "Both the same"


class RatingScale(_Part):
    """A scale between two words, from 1 (``low``) to the plan's ``points`` (``high``)."""

    name: Key
    low: Words
    high: Words


class AboutQuestion(_Part):
    """A question about the participant, which may be left out: one of ``choices``, or free text when there are none."""

    name: Key
    text: Words
    choices: tuple[Words, ...] = Field((), max_length=20)


class ShownFilm(_Part):
    """How films are made: size [pixels] and pictures a second."""

    width: int = Field(640, ge=64, le=3840, multiple_of=2)
    height: int = Field(360, ge=64, le=2160, multiple_of=2)
    fps: float = Field(30.0, ge=1.0, le=120.0)


_PAIRS = (
    PairQuestion(
        name="naturalness",
        text="In which video does the movement of the robot seem more natural?",
        equal="They seem equally natural",
    ),
    PairQuestion(
        name="synchrony",
        text="In which video do the voice and the movement of the robot seem more in sync?",
        equal="They seem equally in sync",
    ),
)
_RATINGS = (
    RatingScale(name="elegance", low="rigid", high="elegant"),
    RatingScale(name="lifelikeness", low="artificial", high="lifelike"),
    RatingScale(name="intensity", low="neutral", high="intense"),
)
_ABOUT = (
    AboutQuestion(name="age", text="Your age", choices=("18 to 29", "30 to 44", "45 to 59", "60 or older")),
    AboutQuestion(name="gender", text="Your gender"),
)


class StudyPlan(_Part):
    """A study: ``clips`` (built-in names, or files beside the plan) performed by ``character`` under both ``conditions``.

    ``performances`` are shown besides them, or instead. What is asked, unless the plan says otherwise, is what the paper asked: two
    questions about pairs, then three scales of ten points about each film alone. ``minutes`` is the least a whole
    survey must take for its answers to count; the paper left nobody out, which is 0.
    """

    title: Words
    introduction: Long = ""
    character: Source = "nao"
    clips: tuple[Source, ...] = Field((), max_length=24)
    performances: tuple[ShownPerformances, ...] = Field((), max_length=24)
    conditions: Conditions = Conditions()
    pairs: tuple[PairQuestion, ...] = Field(_PAIRS, max_length=10)
    ratings: tuple[RatingScale, ...] = Field(_RATINGS, max_length=10)
    points: int = Field(10, ge=2, le=11)
    about: tuple[AboutQuestion, ...] = Field(_ABOUT, max_length=10)
    participants: int = Field(38, ge=2, le=1000)
    seed: int = Field(1, ge=0, le=2**53)
    minutes: float = Field(0.0, ge=0.0, le=600.0)
    film: ShownFilm = ShownFilm()

    @property
    def behaviours(self) -> tuple[str, ...]:
        """The names of what is shown: of clips without folder and suffix, then of performances."""
        names = (source.replace("\\", "/").rsplit("/", 1)[-1].removesuffix(".clip.yaml") for source in self.clips)
        return (*names, *(one.name for one in self.performances))

    @model_validator(mode="after")
    def _whole(self) -> StudyPlan:
        shown = self.behaviours
        asked = (*(one.name for one in self.pairs), *(one.name for one in self.ratings), *(one.name for one in self.about))
        if not shown:
            raise ValueError("nothing is shown; list clips or performances")
        for names, what in ((shown, "clips and performances"), (asked, "pairs, ratings and about")):
            twice = sorted({name for name in names if names.count(name) > 1})
            if twice:
                raise ValueError(f"{what} name {twice[0]!r} twice; each name once")
        if not (self.pairs or self.ratings):
            raise ValueError("nothing is asked; give pairs or ratings")
        return self


def read_study_yaml(data: bytes, *, file: str) -> StudyPlan:
    """The plan in the bytes of a file."""
    content = read_yaml(data, file=file, kind="study")
    return build(StudyPlan, content.data, file=file, lines=content.lines)
