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
from typing import Any, ClassVar, TypeAlias

from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.formats.provenance import content_hash
from bunraku.mechanics.measures.motion import wish_at
from bunraku.motion import Certificate, Check, Clip, JointCurves, Performance
from bunraku.optimization.monitor import Event, Monitor
from bunraku.optimization.solution import Status, worst
from bunraku.performers.certify import certify
from bunraku.performers.fit import CHAINED, Fit
from bunraku.performers.performer import Memory, Performer, Task, Uncertified, make_performer, options_of, performer_class

AnyPerformer: TypeAlias = Performer[Any, Any]


@dataclass(frozen=True, kw_only=True)
class ChainPerformer(Performer[tuple[AnyPerformer, ...], tuple[Performance, ...]]):
    """Performers one after the other; :func:`chain_class` makes the kind for given members, with their options as its fields.

    The problem is to run its members; the solution is what each of them made, fewer than there are members when it was cancelled.
    """

    members: ClassVar[tuple[str, ...]] = ()

    def performers(self) -> tuple[AnyPerformer, ...]:
        """The members with their part of the options."""
        return tuple(
            make_performer(member, {key: value for key, value in self.options.items() if key in names})
            for member in self.members
            for names in [{field.name for field in options_of(member)}]
        )

    def state(self, character: Character, clip: Clip, monitor: Monitor) -> Task[tuple[AnyPerformer, ...]]:
        """The members."""
        return Task(character, clip, self.performers())

    def solve(self, task: Task[tuple[AnyPerformer, ...]], monitor: Monitor, memory: Memory) -> tuple[Performance, ...]:
        """One member after the other. The last member, the longest, keeps the checkpoint."""
        performances: list[Performance] = []
        handed, who = task.clip, task.character
        for performer in task.problem:
            kept = memory.checkpoint if performer is task.problem[-1] else None
            result = performer.perform(who, handed, monitor=monitor, checkpoint=kept)
            _check_same_time(performer.name, handed, result)
            performances.append(result)
            if result.certificate.status is Status.CANCELLED:
                break
            who = result.character
            handed = task.clip.changed(joints=result.positions(), audio=result.audio, words=result.words, phrases=result.phrases)
        return tuple(performances)

    def play(self, task: Task[tuple[AnyPerformer, ...]], solution: tuple[Performance, ...]) -> Uncertified:
        """What the last member sends to the motors, with the wish as the first one understood it."""
        last, sent = solution[-1], solution[-1].positions()
        steps = list(zip(self.members, solution, strict=False))
        return Uncertified(
            channels=last.channels,
            wish=JointCurves(sent.names, sent.rate, wish_at(last.character, solution[0].wish_or_plan(), sent)),
            motion=last.motion,
            feedback=last.feedback,
            surface=last.surface,
            character=last.character,
            heard=task.clip.changed(audio=last.audio, words=last.words, phrases=last.phrases),
            inputs={f"after {member}": content_hash(result.positions()) for member, result in steps[: len(solution) - 1]},
            options={member: result.provenance.options for member, result in steps},
        )

    def certify(
        self,
        task: Task[tuple[AnyPerformer, ...]],
        solution: tuple[Performance, ...],
        played: Uncertified,
        monitor: Monitor,
    ) -> Certificate:
        """The whole measured anew against the wish, then what each member promised of its part."""
        monitor.report(Event("chain", 1.0, "measuring the whole against the wish"))
        return _certificate(played.wish, played.positions, self.members, solution)


def chain_class(fit: Fit) -> type[ChainPerformer]:
    """The performer whose members are those that the name of ``fit`` joins: its fields are their options."""
    members = tuple(fit.name.split(CHAINED))
    fields: dict[str, tuple[str, Any, Any]] = {}
    apart: set[str] = set()
    for member in members:
        kind = performer_class(member)
        hints = typing.get_type_hints(kind)
        for one in dataclasses.fields(kind):
            meaning = {**one.metadata, "meaning": f"{member}: {one.metadata.get('meaning', '')}"}
            hint = hints[one.name]
            if one.name in fields:
                _, hint, other = fields[one.name]
                apart |= {one.name} if other.default != one.default else set()
                meaning["meaning"] = f"{other.metadata['meaning']}; {meaning['meaning']}"
            fields[one.name] = (one.name, hint, dataclasses.field(default=one.default, metadata=meaning))
    kind = dataclasses.make_dataclass(
        "Chain",
        [field for name, field in fields.items() if name not in apart],
        bases=(ChainPerformer,),
        namespace={"fit": fit, "members": members, "__doc__": f"{', then '.join(members)}.", "__module__": __name__},
        frozen=True,
        kw_only=True,
    )
    return typing.cast(type[ChainPerformer], kind)


def _check_same_time(name: str, given: Clip, result: Performance) -> None:
    """Refuse a member that takes longer or shorter than what it was given: the wish would not be at the same times."""
    asked = given.need_joints(f"the performer {name}")
    slack = 1.5 / min(asked.rate, result.rate)
    if abs(result.duration - asked.duration) > slack:
        raise BadInput(
            f"in a chain nobody changes the time: {name} made {result.duration:.3g} s of {asked.duration:.3g} s; "
            "change the tempo of the clip itself"
        )


def _certificate(wish: JointCurves | None, played: JointCurves, members: Sequence[str], done: Sequence[Performance]) -> Certificate:
    """The whole measured anew against ``wish``, then what each member promised of its part, under its name."""
    last = done[-1]
    character, certificates = last.character, [result.certificate for result in done]
    status = Status.CANCELLED if len(done) < len(members) else worst(one.status for one in certificates)
    if character.flexibles:
        from bunraku.mechanics.flexible.judge import judge
        from bunraku.mechanics.flexible.system import flexible_system
        from bunraku.performers.certify_flexible import certificate_of

        flexible = flexible_system(character)
        wish = wish or played
        judged = judge(flexible, wish, played, _tracked(last))
        whole = certificate_of(
            flexible, wish, played, judged, status=status, words=last.words, phrases=last.phrases, figures=_solved(certificates[-1])
        )
    else:
        whole = certify(character, wish, played, words=last.words, status=status, figures=_solved(certificates[-1]))
    own, notes, figures = [], list(whole.notes), dict(whole.figures)
    for member, certificate in zip(members, certificates, strict=False):
        own += [_named(member, check) for check in certificate.checks if not _alike(check, whole.checks)]
        notes += [f"{member}: {note}" for note in certificate.notes if note not in whole.notes]
        figures |= {f"{member}: {key}": value for key, value in certificate.figures.items() if whole.figures.get(key) != value}
    return replace(whole, checks=(*whole.checks, *own), notes=tuple(notes), figures=figures)


def _named(member: str, check: Check) -> Check:
    """What a member measured of what it made of its part: information, for the whole is judged anew."""
    note = f"{check.note}; of this part of the chain" if check.note else "of this part of the chain"
    return replace(check, name=f"{member}: {check.name}", note=note, threshold=None)


def _alike(check: Check, checks: Sequence[Check]) -> bool:
    """Whether the same promise with the same number stands for the whole already."""
    return any((one.name, one.value, one.threshold) == (check.name, check.value, check.threshold) for one in checks)


def _solved(certificate: Certificate) -> dict[str, float]:
    """How the last member solved: sizes and costs, which do not depend on the wish that is measured against."""
    known = ("iterations", "modes", "motors", "parameters", "final cost")
    return {key: value for key, value in certificate.figures.items() if key in known or key.startswith("cost ")}


def _tracked(result: Performance) -> tuple[str, ...]:
    """The places whose errors the last member's certificate states; the character's own if it states none."""
    from bunraku.mechanics.flexible.places import tracked_places

    errors = [key.removeprefix(_ERROR) for key in result.certificate.figures if key.startswith(_ERROR)]
    return tracked_places(result.character, errors)


_ERROR = "rms_error_after_m."
