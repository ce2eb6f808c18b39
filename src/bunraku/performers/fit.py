"""Which performers there are, what each is for and what it needs, said without loading any of them.

Every performer has a `Fit` in the ``fit.py`` of its folder, which imports descriptions only. Choosing, casting and inspecting ask
fits; the one performer that is chosen is loaded then (`performers.performer.performer_class`).
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.motion import Clip, Performance

REGISTRY: dict[str, str] = {
    "speech": "bunraku.performers.speech.fit:SPEECH",
    "marionette": "bunraku.performers.marionette.fit:MARIONETTE",
    "vibration": "bunraku.performers.vibration.fit:VIBRATION",
    "locomotion": "bunraku.performers.locomotion.fit:LOCOMOTION",
    "skin": "bunraku.performers.skin.fit:SKIN",
    "reference": "bunraku.performers.speech.fit:REFERENCE",
    "clamp": "bunraku.performers.speech.fit:CLAMP",
    "stretch": "bunraku.performers.speech.fit:STRETCH",
    "ruckig": "bunraku.performers.speech.fit:RUCKIG",
    "toppra": "bunraku.performers.speech.fit:TOPPRA",
    "zv": "bunraku.performers.vibration.fit:ZV",
    "zv-advanced": "bunraku.performers.vibration.fit:ZV_ADVANCED",
    "zvd": "bunraku.performers.vibration.fit:ZVD",
    "zvd-advanced": "bunraku.performers.vibration.fit:ZVD_ADVANCED",
    "lowpass": "bunraku.performers.vibration.fit:LOW_PASS",
}
"""The name of every performer and where its `Fit` stands, as "module:NAME"."""

CHAINED = "+"
"""Between the names of performers that go on from each other, as in "speech+vibration"; see `performers/chain.py`."""


@dataclass(frozen=True)
class Suitability:
    """Whether a performer fits: ``score`` 0 (cannot) to 1 (made for it), and why, in a sentence."""

    score: float
    reason: str
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Fit:
    """What is known of a performer before it is loaded.

    ``performer``: where its class stands, as "module:Class". ``suits``: whether it is made for a character and a clip, and what is
    missing. ``needs``, ``uses``: what it cannot do without and what it makes use of, "clip.TRACK" and "character.PART".
    ``kernels``: the groups of `performers.warm` that it runs with a character; ``option_kernels``: what else it runs where options
    of these names are not zero. ``baseline``: it stands for what people do otherwise, and is never the best choice. ``chainable``:
    it answers joint curves with positions of the same motors at the same times, so that another performer can go on from there.
    ``remedies``: where its `Remedies` stand, as "module:NAME".
    """

    name: str
    performer: str
    suits: Callable[[Character, Clip], Suitability]
    kernels: Callable[[Character], tuple[str, ...]]
    needs: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    baseline: bool = False
    chainable: bool = False
    remedies: str = ""
    option_kernels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def groups(self, character: Character, options: Mapping[str, Any]) -> tuple[str, ...]:
        """The groups of kernels that it runs with a character and these options."""
        asked = (group for name, groups in self.option_kernels.items() if options.get(name) for group in groups)
        return tuple(dict.fromkeys((*self.kernels(character), *asked)))

    def as_baseline(self, name: str, performer: str, *, chainable: bool = False, kernels: tuple[str, ...] | None = None) -> Fit:
        """The fit of a baseline that can do what this performer can; ``kernels`` where it runs others."""

        def suits(character: Character, clip: Clip) -> Suitability:
            fit = self.suits(character, clip)
            return fit if fit.score <= 0.0 else Suitability(min(fit.score, 0.05), "a baseline to compare with", fit.missing)

        changed: dict[str, Any] = {} if kernels is None else {"kernels": lambda character: kernels, "option_kernels": {}}
        return replace(
            self, name=name, performer=performer, suits=suits, baseline=True, chainable=chainable, remedies="", **changed
        )

    def refuse(self, character: Character, clip: Clip) -> None:
        """Raise BadInput where this performer cannot perform the clip with the character."""
        fit = self.suits(character, clip)
        if "joints" in fit.missing and "clip.joints" in self.needs:
            clip.need_joints(f"the performer {self.name}")
        if fit.score <= 0.0:
            raise BadInput(f"the performer {self.name} cannot move {character.name!r}: {fit.reason}")


@functools.cache
def fit_of(name: str) -> Fit:
    """The fit of the performer of that name, or of a chain of them: "speech+vibration", which "speech,vibration" is as well."""
    if CHAINED in name or "," in name:
        return _chain_fit(tuple(part.strip() for part in name.replace(",", CHAINED).split(CHAINED)), name)
    if name not in REGISTRY:
        chains = f"; several can be chained, as in speech{CHAINED}vibration"
        raise BadInput(f"there is no performer {name!r}; there are {', '.join(REGISTRY)}{chains}")
    module, _, attribute = REGISTRY[name].partition(":")
    fit: Fit = getattr(importlib.import_module(module), attribute)
    return fit


def _chain_fit(members: tuple[str, ...], name: str) -> Fit:
    """As suitable as the member that suits least; it needs and uses what any of them does."""
    fits = [fit_of(member) for member in members]
    stray = next((fit.name for fit in fits if not fit.chainable), None)
    if stray is not None:
        able = ", ".join(one for one in REGISTRY if fit_of(one).chainable)
        raise BadInput(f"the performer {stray!r} cannot be part of the chain {name!r}; these can: {able}")
    if len(set(members)) != len(members):
        raise BadInput(f"the chain {name!r} names a performer twice; each performs once")

    def suits(character: Character, clip: Clip) -> Suitability:
        each = [fit.suits(character, clip) for fit in fits]
        missing = tuple(dict.fromkeys(part for one in each for part in one.missing))
        reason = "; then ".join(f"{member}: {one.reason}" for member, one in zip(members, each, strict=True))
        return Suitability(min(one.score for one in each), reason, missing)

    needs = tuple(dict.fromkeys(need for fit in fits for need in fit.needs))
    return Fit(
        CHAINED.join(members),
        "",
        suits,
        kernels=lambda character: tuple(dict.fromkeys(group for fit in fits for group in fit.kernels(character))),
        needs=needs,
        uses=tuple(dict.fromkeys(use for fit in fits for use in fit.uses if use not in needs)),
        option_kernels={option: groups for fit in fits for option, groups in fit.option_kernels.items()},
    )


def refusal(name: str, character: Character, clip: Clip) -> str:
    """Why the performer of that name cannot perform this; empty when it can."""
    fit = fit_of(name).suits(character, clip)
    return fit.reason if fit.score <= 0.0 else ""


def needs_of(noun: Character | Clip | Performance, name: str) -> str | None:
    """What the performer ``name`` finds and misses in one file, in a sentence; None for a baseline."""
    fit = fit_of(name)
    if fit.baseline:
        return None
    if isinstance(noun, Performance):
        noun = noun.as_clip()
    side = "character" if isinstance(noun, Character) else "clip"
    has = {f"{side}.{part}" for part in (noun.tracks if isinstance(noun, Clip) else _parts(noun))}
    missing = [need for need in fit.needs if need.startswith(side) and need not in has]
    unused = [use for use in fit.uses if use.startswith(side) and use not in has]
    verdict = f"missing {', '.join(missing)}" if missing else f"all it needs of a {side} is there"
    return verdict + (f"; would also use {', '.join(unused)}" if unused else "")


def without_curves(clip: Clip) -> Suitability:
    """Of a performer of joint curves, for a clip that has none: those of a skeleton come after retargeting."""
    reason = "the clip has a skeleton, which must be retargeted first" if clip.skeleton else "the clip has no joint curves"
    return Suitability(0.2 if clip.skeleton else 0.0, reason, ("joints",))


def _parts(character: Character) -> list[str]:
    parts = [
        name
        for name in type(character).model_fields
        if isinstance(getattr(character, name), (tuple, dict)) and getattr(character, name)
    ]
    limited = any(motor.velocity is not None for motor in character.motors)
    return parts + (["velocity limits"] if limited else []) + (["skin"] if character.skin is not None else [])
