"""Performers in a chain, "speech+vibration": each takes what the one before it made as its clip; the wish stays the artist's.

A chain is itself a performer: its options are those of its members, and one that several have goes to all of them, unless they
differ in what it is by default (the ``method`` of shapers): then each keeps its own. Its certificate covers every member. What the
last one sends to the motors is measured anew against the artist's wish: limits at the motor rate, deviation, timing, and for a
character that bends the motion of what it carries; `bunraku verify` recomputes all of it. What a member promised of its own part
stands beside that under its name.
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.formats.checkpoint import Checkpoint
from bunraku.formats.provenance import content_hash, provenance
from bunraku.mechanics.flexible.judge import judge
from bunraku.mechanics.flexible.places import tracked_places
from bunraku.mechanics.flexible.system import flexible_system
from bunraku.mechanics.measures.motion import wish_at
from bunraku.motion import Certificate, Check, Clip, JointCurves, Performance
from bunraku.optimization.monitor import SILENT, Event, Monitor
from bunraku.optimization.solution import Status, worst
from bunraku.performers.certify import OWN_WORD, certify
from bunraku.performers.certify_flexible import certificate_of
from bunraku.performers.performer import CHAINED, Performer, Suitability, make_performer, performer_class

CHAINABLE = ("speech", "vibration", "clamp", "zv", "zv-advanced", "zvd", "zvd-advanced", "lowpass")
"""Those that answer a wish of joint curves with positions of the same motors at the same times, so that another can go on."""


@dataclass(frozen=True, kw_only=True)
class ChainPerformer(Performer):
    """Performers one after the other; :func:`chain_class` makes the kind for given members, with their options as its fields."""

    members: ClassVar[tuple[str, ...]] = ()

    def performers(self) -> tuple[Performer, ...]:
        """The members with their part of the options."""
        made = []
        for member in self.members:
            own = {field.name for field in dataclasses.fields(performer_class(member))}
            shared = [field.name for field in dataclasses.fields(self) if field.name in own]
            made.append(make_performer(member, {key: getattr(self, key) for key in shared}))
        return tuple(made)

    def suits(self, character: Character, clip: Clip) -> Suitability:
        """As much as the member that suits least."""
        found = [performer.suits(character, clip) for performer in self.performers()]
        missing = tuple(dict.fromkeys(part for fit in found for part in fit.missing))
        reason = "; then ".join(f"{member}: {fit.reason}" for member, fit in zip(self.members, found, strict=True))
        return Suitability(min(fit.score for fit in found), reason, missing)

    def perform(
        self, character: Character, clip: Clip, *, monitor: Monitor = SILENT, checkpoint: Checkpoint | None = None
    ) -> Performance:
        """One member after the other, then the certificate of the whole. The last member, the longest, keeps the checkpoint."""
        watch = _Hours(monitor)
        done: list[Performance] = []
        handed, who = clip, character
        for count, performer in enumerate(self.performers(), 1):
            last = count == len(self.members)
            result = performer.perform(who, handed, monitor=watch, checkpoint=checkpoint if last else None)
            _check_same_time(performer.name, handed, result)
            done.append(result)
            if result.certificate.status is Status.CANCELLED:
                break
            who = result.character
            handed = clip.changed(joints=result.positions(), audio=result.audio, words=result.words, phrases=result.phrases)
        monitor.report(Event("chain", 1.0, "measuring the whole against the wish", {"solve_s": watch.seconds}))
        return self._whole(character, clip, done)

    def _whole(self, character: Character, clip: Clip, done: Sequence[Performance]) -> Performance:
        """What the last member sends to the motors, with the wish as the first one understood it."""
        first, last = done[0], done[-1]
        played = last.positions()
        wish = JointCurves(played.names, played.rate, wish_at(last.character, first.wish, played))
        inputs = {"character": content_hash(character), "clip": content_hash(clip)}
        for member, result in zip(self.members, done[:-1], strict=False):
            inputs[f"after {member}"] = content_hash(result.positions())
        options = {member: result.provenance.options for member, result in zip(self.members, done, strict=False)}
        return last.changed(
            wish=wish,
            certificate=_certificate(wish, played, self.members, done),
            provenance=provenance(self.name, inputs, options),
        )


def chain_class(name: str) -> type[ChainPerformer]:
    """The performer "a+b+..." (or "a,b,...") whose members are a, b, ...: its fields are their options."""
    members = tuple(part.strip() for part in name.replace(",", CHAINED).split(CHAINED))
    fields: dict[str, tuple[str, Any, Any]] = {}
    apart: set[str] = set()
    needs: list[str] = []
    uses: list[str] = []
    for member in members:
        kind = performer_class(member)
        if member not in CHAINABLE:
            raise BadInput(f"the performer {member!r} cannot be part of the chain {name!r}; these can: {', '.join(CHAINABLE)}")
        needs, uses = [*needs, *kind.needs], [*uses, *kind.uses]
        hints = typing.get_type_hints(kind)
        for one in dataclasses.fields(kind):
            meaning = {**one.metadata, "meaning": f"{member}: {one.metadata.get('meaning', '')}"}
            if one.name in fields:
                apart |= {one.name} if fields[one.name][2].default != one.default else set()
                meaning["meaning"] = f"{fields[one.name][2].metadata['meaning']}; {meaning['meaning']}"
            fields.setdefault(one.name, (one.name, hints[one.name], None))
            made = dataclasses.field(default=one.default, metadata=meaning)
            fields[one.name] = (one.name, fields[one.name][1], made)
    if len(set(members)) != len(members):
        raise BadInput(f"the chain {name!r} names a performer twice; each performs once")
    facts = {
        "name": CHAINED.join(members),
        "members": members,
        "needs": tuple(dict.fromkeys(needs)),
        "uses": tuple(dict.fromkeys(use for use in uses if use not in needs)),
        "__doc__": f"{', then '.join(members)}.",
        "__module__": __name__,
    }
    made_of = dataclasses.make_dataclass(
        "Chain",
        [field for name, field in fields.items() if name not in apart],
        bases=(ChainPerformer,),
        namespace=facts,
        frozen=True,
        kw_only=True,
    )
    return typing.cast(type[ChainPerformer], made_of)


def _check_same_time(name: str, given: Clip, result: Performance) -> None:
    """Refuse a member that takes longer or shorter than what it was given: the wish would not be at the same times."""
    asked = given.need_joints(f"the performer {name}")
    slack = 1.5 / min(asked.rate, result.rate)
    if abs(result.duration - asked.duration) > slack:
        raise BadInput(
            f"in a chain nobody changes the time: {name} made {result.duration:.3g} s of {asked.duration:.3g} s; "
            "change the tempo of the clip itself"
        )


def _certificate(wish: JointCurves, played: JointCurves, members: Sequence[str], done: Sequence[Performance]) -> Certificate:
    """The whole measured anew against ``wish``, then what each member promised of its part, under its name."""
    last = done[-1]
    character, certificates = last.character, [result.certificate for result in done]
    status = Status.CANCELLED if len(done) < len(members) else worst(one.status for one in certificates)
    if character.flexibles:
        flexible = flexible_system(character)
        judged = judge(flexible, wish, played, _tracked(last))
        made = certificate_of(
            flexible, wish, played, judged, status=status, words=last.words, phrases=last.phrases, figures=_solved(certificates[-1])
        )
    else:
        made = certify(character, wish, played, words=last.words, status=status, figures=_solved(certificates[-1]))
    own, notes, figures = [], list(made.notes), dict(made.figures)
    for member, certificate in zip(members, certificates, strict=False):
        own += [_named(member, check) for check in certificate.checks if not _alike(check, made.checks)]
        notes += [f"{member}: {note}" for note in certificate.notes if note not in made.notes]
        figures |= {f"{member}: {key}": value for key, value in certificate.figures.items() if made.figures.get(key) != value}
    return replace(made, checks=(*made.checks, *own), notes=tuple(notes), figures=figures)


def _named(member: str, check: Check) -> Check:
    """A member's own promise about what it made of what it was given."""
    said = check.note.removesuffix(f"; {OWN_WORD}").removesuffix(OWN_WORD)
    note = f"{said}; of this part of the chain, {OWN_WORD}" if said else f"of this part of the chain, {OWN_WORD}"
    return replace(check, name=f"{member}: {check.name}", note=note)


def _alike(check: Check, checks: Sequence[Check]) -> bool:
    """Whether the same promise with the same number stands for the whole already."""
    return any((one.name, one.value, one.bar) == (check.name, check.value, check.bar) for one in checks)


def _solved(certificate: Certificate) -> dict[str, float]:
    """How the last member solved: sizes and costs, which do not depend on the wish that is measured against."""
    known = ("iterations", "modes", "motors", "parameters", "final cost")
    return {key: value for key, value in certificate.figures.items() if key in known or key.startswith("cost ")}


def _tracked(result: Performance) -> tuple[str, ...]:
    """The places whose errors the last member's certificate states; the character's own if it states none."""
    found = [key.removeprefix(_ERROR) for key in result.certificate.figures if key.startswith(_ERROR)]
    return tracked_places(result.character, found)


_ERROR = "rms_error_after_m."


class _Hours(Monitor):
    """Passes everything on and adds up the solve times that the members report [s]."""

    def __init__(self, inner: Monitor) -> None:
        self._inner = inner
        self.seconds = 0.0

    def report(self, event: Event) -> None:
        """Add the solve time, pass on."""
        self.seconds += event.figures.get("solve_s", 0.0)
        self._inner.report(event)

    @property
    def cancelled(self) -> bool:
        """As the other monitor says."""
        return self._inner.cancelled
