"""The contract of a performer, and the guide for writing one.

A performer turns a character and a clip into a performance. To add one:

1. Make ``performers/NAME/performer.py`` with a frozen dataclass that derives from :class:`Performer`. Its fields are its
   options: keyword-only, typed, each made with :func:`option` so that unit, meaning and range stand at the definition. The
   command line's flags and the studio's widgets are generated from them.
2. State the problem (variables, terms, constraints) in ``performers/NAME/problem.py``; solve it with `bunraku.optimization`.
3. Name in ``needs`` and ``uses`` the tracks of the clip and parts of the character it works with. Implement ``suits``
   (which character and clip it is made for, in a sentence) and ``perform``. Hold nothing between calls; report to the
   monitor; on cancellation return the best so far with ``Status.CANCELLED``.
4. Compute the certificate from the problem, never from what the solver says (`performers/certify.py` has the common checks).
5. Name it in ``REGISTRY`` below. Add its demos, its lesson, its theory page.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import typing
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.formats.checkpoint import Checkpoint
from bunraku.motion import Clip, Performance
from bunraku.optimization.monitor import SILENT, Monitor
from bunraku.optimization.threads import one_thread

REGISTRY: dict[str, str] = {
    "speech": "bunraku.performers.speech.performer:SpeechPerformer",
    "marionette": "bunraku.performers.marionette.performer:MarionettePerformer",
    "vibration": "bunraku.performers.vibration.performer:VibrationPerformer",
    "locomotion": "bunraku.performers.locomotion.performer:LocomotionPerformer",
    "skin": "bunraku.performers.skin.performer:SkinPerformer",
    "reference": "bunraku.performers.speech.baselines:ReferencePerformer",
    "clamp": "bunraku.performers.speech.baselines:ClampPerformer",
    "stretch": "bunraku.performers.speech.baselines:StretchPerformer",
    "ruckig": "bunraku.performers.speech.baselines:RuckigPerformer",
    "toppra": "bunraku.performers.speech.baselines:ToppraPerformer",
    "zv": "bunraku.performers.vibration.compared:ZvPerformer",
    "zv-advanced": "bunraku.performers.vibration.compared:AdvancedZvPerformer",
    "zvd": "bunraku.performers.vibration.compared:ZvdPerformer",
    "zvd-advanced": "bunraku.performers.vibration.compared:AdvancedZvdPerformer",
    "lowpass": "bunraku.performers.vibration.compared:LowPassPerformer",
}

CHAINED = "+"
"""Between the names of performers that go on from each other, as in "speech+vibration"; see `performers/chain.py`."""


@dataclass(frozen=True)
class Suitability:
    """Whether a performer fits: ``score`` 0 (cannot) to 1 (made for it), and why, in a sentence."""

    score: float
    reason: str
    missing: tuple[str, ...] = ()


def option(default: Any, meaning: str, *, unit: str = "", low: float | None = None, high: float | None = None) -> Any:
    """An option of a performer, with its meaning, unit and accepted range."""
    return dataclasses.field(default=default, metadata={"meaning": meaning, "unit": unit, "low": low, "high": high})


@dataclass(frozen=True, kw_only=True)
class Performer(ABC):
    """Turns wishes into motor curves. Subclasses are frozen dataclasses of options."""

    name: ClassVar[str]
    needs: ClassVar[tuple[str, ...]] = ()
    uses: ClassVar[tuple[str, ...]] = ()
    """What it cannot do without and what it makes use of: "clip.TRACK" and "character.PART"; `bunraku inspect` reads them."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Every solve computes with one BLAS thread, whoever asks for it."""
        super().__init_subclass__(**kwargs)
        if "perform" in vars(cls):
            cls.perform = one_thread(cls.perform)  # type: ignore[method-assign]

    def __post_init__(self) -> None:
        hints = typing.get_type_hints(type(self))
        for field in dataclasses.fields(self):
            choices = typing.get_args(hints[field.name]) if typing.get_origin(hints[field.name]) is typing.Literal else ()
            if choices and getattr(self, field.name) not in choices:
                raise BadInput(f"option {field.name} = {getattr(self, field.name)!r} is none of {', '.join(map(str, choices))}")
            value, low, high = getattr(self, field.name), field.metadata.get("low"), field.metadata.get("high")
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                continue
            if value != value or (low is not None and value < low) or (high is not None and value > high):
                span = f"at least {low}" if high is None else f"at most {high}" if low is None else f"from {low} to {high}"
                raise BadInput(f"option {field.name} = {value} must be {span}: {field.metadata.get('meaning')}")

    @abstractmethod
    def suits(self, character: Character, clip: Clip) -> Suitability:
        """Whether this performer is made for that character and clip, and what is missing."""

    @abstractmethod
    def perform(
        self, character: Character, clip: Clip, *, monitor: Monitor = SILENT, checkpoint: Checkpoint | None = None
    ) -> Performance:
        """Solve, and certify. A computation of more than a few seconds saves its state to ``checkpoint`` and starts from it."""


@functools.cache
def performer_class(name: str) -> type[Performer]:
    """The performer of that name, or the chain of several: "speech+vibration", which "speech,vibration" is as well."""
    if CHAINED in name or "," in name:
        chained: type[Performer] = importlib.import_module("bunraku.performers.chain").chain_class(name)
        return chained
    if name not in REGISTRY:
        chains = f"; several can be chained, as in speech{CHAINED}vibration"
        raise BadInput(f"there is no performer {name!r}; there are {', '.join(REGISTRY)}{chains}")
    module, _, attribute = REGISTRY[name].partition(":")
    found: type[Performer] = getattr(importlib.import_module(module), attribute)
    return found


def options_of(name: str) -> tuple[dataclasses.Field[Any], ...]:
    """The options of a performer, as dataclass fields whose metadata hold meaning, unit and range."""
    return dataclasses.fields(performer_class(name))


def make_performer(name: str, options: dict[str, Any] | None = None) -> Performer:
    """A performer with the given options; an unknown option is an error that lists the known ones."""
    kind = performer_class(name)
    known = [field.name for field in dataclasses.fields(kind)]
    for key in options or {}:
        if key not in known:
            raise BadInput(f"performer {name!r} has no option {key!r}; it has {', '.join(known)}")
    return kind(**(options or {}))


def needs_of(found: Character | Clip | Performance, name: str) -> str | None:
    """What the performer ``name`` finds and misses in one file, in a sentence; None for a baseline, which has no needs."""
    kind = performer_class(name)
    if not kind.needs:
        return None
    if isinstance(found, Performance):
        found = found.as_clip()
    side = "character" if isinstance(found, Character) else "clip"
    has = {f"{side}.{part}" for part in (found.tracks if isinstance(found, Clip) else _parts(found))}
    missing = [need for need in kind.needs if need.startswith(side) and need not in has]
    unused = [use for use in kind.uses if use.startswith(side) and use not in has]
    verdict = f"missing {', '.join(missing)}" if missing else f"all it needs of a {side} is there"
    return verdict + (f"; would also use {', '.join(unused)}" if unused else "")


def _parts(character: Character) -> list[str]:
    parts = [
        name
        for name in type(character).model_fields
        if isinstance(getattr(character, name), (tuple, dict)) and getattr(character, name)
    ]
    limited = any(motor.velocity is not None for motor in character.motors)
    return parts + (["velocity limits"] if limited else []) + (["skin"] if character.skin is not None else [])
