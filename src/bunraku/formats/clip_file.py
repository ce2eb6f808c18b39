"""The fields of a clip file, as checked models. Units stand in the keys of the file (`units`); here everything is SI."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from bunraku.character.description import Description, Name, quantity

Interpolation = Literal["smooth", "monotone", "linear"]
FileName = Annotated[str, Field(min_length=1, max_length=1000)]


class JointsTrack(Description):
    """Curves of the character's coordinates, given in one of three ways.

    ``keys``: per coordinate a list of [time in s, value], interpolated ``smooth`` (C2 cubic, at rest at both ends), ``monotone``
    (C1, no overshoot) or ``linear``, held before the first key and after the last until ``duration``; ``samples_si``: per
    coordinate its values at the clip's rate, in rad or m; ``file``: a CSV file in the same folder.
    """

    keys: dict[str, tuple[tuple[float, float], ...]] = quantity("keys", default_factory=dict, max_length=10_000)
    samples_si: dict[str, tuple[float, ...]] = Field(default_factory=dict, max_length=10_000)
    file: FileName | None = None
    interpolation: Interpolation = "smooth"
    duration: float | None = quantity("time", None, ge=0.0, le=1e6)

    @model_validator(mode="after")
    def _check(self) -> JointsTrack:
        given = [name for name, value in (("keys", self.keys), ("samples_si", self.samples_si), ("file", self.file)) if value]
        if len(given) != 1:
            raise ValueError(f"joints take one of keys, samples_si or file; {' and '.join(given) or 'none'} arrived")
        for name, keys in self.keys.items():
            if not keys:
                raise ValueError(f"{name!r} has no key; give at least one [time, value]")
            if keys[0][0] < 0.0 or keys[-1][0] > 1e6:
                raise ValueError(f"the keys of {name!r} must lie between 0 and 1e6 s")
            if any(b[0] - a[0] < 1e-6 for a, b in pairwise(keys)):
                raise ValueError(f"the key times of {name!r} must rise by at least 1e-6 s")
            if any(abs(value) > 1e6 for _, value in keys):
                raise ValueError(f"a key of {name!r} lies beyond 1e6; check its unit")
        lengths = {len(values) for values in self.samples_si.values()}
        if len(lengths) > 1 or lengths == {0}:
            raise ValueError("all coordinates must have the same number of samples, at least one")
        if self.duration is not None and not self.keys:
            raise ValueError("duration goes with keys; a file or samples have their own length")
        return self


class SkeletonTrack(Description):
    """A captured skeleton: a BVH or glTF file in the same folder; ``metres_per_unit`` [m] when the file does not say."""

    file: FileName
    metres_per_unit: float | None = Field(None, gt=1e-6, le=1e3)


class AudioTrack(Description):
    """The voice: a WAV file in the same folder."""

    file: FileName


class MarkEntry(Description):
    """A word or a phrase at its time; ``stroke`` is the time of the gesture that belongs to it."""

    text: str
    start: float = quantity("time", ge=0.0, lt=1e7)
    end: float = quantity("time", ge=0.0, lt=1e7)
    stroke: float | None = quantity("time", None, ge=0.0, lt=1e7)

    @model_validator(mode="after")
    def _check(self) -> MarkEntry:
        if self.end < self.start:
            raise ValueError(f"{self.text[:40]!r} ends at {self.end} s, before it starts at {self.start} s")
        return self


class EmphasisEntry(Description):
    """How much a body counts, and when: see `bunraku.motion.emphasis.Emphasis`."""

    frame: Name
    weight: float = Field(ge=0.0, le=1e9)
    start: float = quantity("time", 0.0, ge=0.0, lt=1e7)
    end: float | None = quantity("time", None, ge=0.0, lt=1e7)
    kind: Literal["position", "orientation"] = "position"

    @model_validator(mode="after")
    def _check(self) -> EmphasisEntry:
        if self.end is not None and not self.end > self.start:
            raise ValueError(f"the emphasis of {self.frame[:40]!r} ends at {self.end} s, not after its start at {self.start} s")
        return self


class ModeEntry(Description):
    """One motion of a choreography: the name of its primitive and when it begins."""

    primitive: Name
    start: float = quantity("time", ge=0.0, le=1e5)


class PrimitiveEntry(Description):
    """A primitive of the choreography's own: a clip ``file`` in the same folder, or ``joints`` at a ``rate``.

    ``stroke`` is the time of its most telling pose; of a file the stroke of its first phrase if left out.
    """

    name: Name
    file: FileName | None = None
    rate: float = quantity("frequency", 100.0, gt=0.0, le=100_000.0)
    joints: JointsTrack | None = None
    stroke: float | None = quantity("time", None, ge=0.0, le=1e5)

    @model_validator(mode="after")
    def _check(self) -> PrimitiveEntry:
        if (self.file is None) == (self.joints is None):
            raise ValueError(f"the primitive {self.name!r} takes either a file or joints")
        return self


class AccentEntry(Description):
    """What the score asks: at ``time`` the pose that ``primitive`` has at its own ``moment`` (its stroke if left out).

    ``width`` of the window around that time in which the distance counts, ``weight`` how much; ``coordinates``: all if empty.
    """

    time: float = quantity("time", ge=0.0, le=1e5)
    primitive: Name
    moment: float | None = quantity("time", None, ge=0.0, le=1e5)
    width: float = quantity("time", 0.15, gt=0.0, le=1e3)
    weight: float = Field(1.0, ge=0.0, le=1e6)
    coordinates: tuple[Name, ...] = ()


class ModesTrack(Description):
    """A choreography: its ``duration``, the ``sequence`` of primitives, ``primitives`` of its own, the ``accents`` of the score."""

    duration: float = quantity("time", gt=0.0, le=1e5)
    sequence: tuple[ModeEntry, ...] = Field(max_length=200, json_schema_extra={"minItems": 1})
    primitives: tuple[PrimitiveEntry, ...] = Field((), max_length=200)
    accents: tuple[AccentEntry, ...] = Field((), max_length=200)

    @field_validator("sequence")
    @classmethod
    def _not_empty(cls, sequence: tuple[ModeEntry, ...]) -> tuple[ModeEntry, ...]:
        if not sequence:
            raise ValueError("the sequence is empty; list at least one primitive with its start, the first at 0 s")
        return sequence


class TargetEntry(Description):
    """Where something should be at a time: "com" (the centre of mass), "base" (the base body) or an end effector.

    ``place`` x, y, z in the world, where the motion starts above the origin heading along x; null leaves one free.
    """

    time: float = quantity("time", ge=0.0, le=3600.0)
    what: Name
    place: tuple[float | None, float | None, float | None] = quantity("length")
    weight: float = Field(50.0, ge=0.0, le=1e9)


class TerrainTrack(Description):
    """The ground, by ``kind``.

    "slope": level until ``start`` along x, rising at ``angle`` for ``length``, then level; "step": ``height`` up at ``at``, down
    again after ``length`` if given; "grid": ``heights`` in rows along x, each along y, ``spacing`` apart, the first at ``origin``.
    """

    kind: Literal["slope", "step", "grid"]
    angle: float | None = quantity("angle", None, gt=-1.5, lt=1.5)
    start: float = quantity("length", 0.0, ge=-1e4, le=1e4)
    length: float | None = quantity("length", None, gt=0.0, le=1e4)
    height: float | None = quantity("length", None, ge=-100.0, le=100.0)
    at: float | None = quantity("length", None, ge=-1e4, le=1e4)
    spacing: float | None = quantity("length", None, gt=0.0, le=100.0)
    origin: tuple[float, float] = quantity("length", (0.0, 0.0))
    heights: tuple[tuple[float, ...], ...] = quantity("length", (), max_length=10_000)

    @model_validator(mode="after")
    def _check(self) -> TerrainTrack:
        uses = {"slope": ("angle", "start", "length"), "step": ("height", "at", "length"), "grid": ("origin", "heights")}
        needs = {"slope": ("angle", "length"), "step": ("height", "at"), "grid": ("spacing", "heights")}[self.kind]
        for name in needs:
            if not self.__dict__[name] and self.__dict__[name] != 0.0:
                raise ValueError(f"a {self.kind} needs {' and '.join(needs)}; {name} is missing")
        known = (*uses[self.kind], "spacing", "kind")
        foreign = [name for name in sorted(self.model_fields_set) if name not in known]
        if foreign:
            raise ValueError(f"a {self.kind} has no {foreign[0]}; it takes {', '.join(uses[self.kind])} and spacing")
        if len({len(row) for row in self.heights}) > 1:
            raise ValueError("the rows of heights have different lengths; give each the same number of columns")
        return self


class GaitTrack(Description):
    """How to go: see `bunraku.motion.Gait`. ``distance``: [x, y], null leaves one free; a number goes that far straight on.

    ``swings``: of an end effector, or of a foot by the body that carries it, [start, end] as shares of the duration, or several.
    """

    duration: float = quantity("time", gt=0.0, le=3600.0)
    pattern: Name = "roll"
    periodic: bool = True
    cycles: int = Field(3, ge=1, le=10_000)
    distance: tuple[float | None, float | None] | float | None = quantity("length", None)
    turn: float | None = quantity("angle", None, ge=-1e3, le=1e3)
    swings: dict[str, tuple[float, float] | tuple[tuple[float, float], ...]] = Field(default_factory=dict, max_length=1000)
    swing_height: float = quantity("length", 0.02, gt=0.0, le=1.0)
    air: float | None = Field(None, gt=0.0, lt=1.0)
    start: Literal["rest", "free"] = "rest"
    end: Literal["rest", "free"] = "rest"
    symmetric: bool = False
    samples: int = Field(0, ge=0, le=20_000)
    friction: float | None = Field(None, gt=0.0, le=10.0)
    locked: tuple[Name, ...] = ()
    targets: tuple[TargetEntry, ...] = Field((), max_length=10_000)
    terrain: TerrainTrack | None = None


class ClipFile(Description):
    """A clip file (``bunraku: clip/1``): what is wanted of a character, as tracks."""

    name: Name
    mood: str = ""
    rate: float = quantity("frequency", 50.0, gt=0.0, le=100_000.0)
    joints: JointsTrack | None = None
    skeleton: SkeletonTrack | None = None
    audio: AudioTrack | None = None
    words: tuple[MarkEntry, ...] = ()
    phrases: tuple[MarkEntry, ...] = ()
    held: tuple[Name, ...] = ()
    modes: ModesTrack | None = None
    emphasis: tuple[EmphasisEntry, ...] = Field((), max_length=1000)
    gait: GaitTrack | None = None
    only: tuple[Name, ...] = Field((), max_length=20)
    source: str = ""
