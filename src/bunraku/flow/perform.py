"""The one pipeline from a wish to a performance: prepare, choose, perform, annotate.

Command line, studio, batches, studies and Python call `perform`; none of them knows of kernels or notes, so that the same wish
through any door gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.flow import compiling
from bunraku.formats.checkpoint import Checkpoint
from bunraku.formats.provenance import content_hash
from bunraku.motion import Clip, Performance
from bunraku.optimization.monitor import SILENT, Event, Monitor
from bunraku.performers.choose import Choice, choose_performer, taken_as_rigid
from bunraku.performers.fit import fit_of
from bunraku.performers.performer import make_performer
from bunraku.performers.prepare import Prepared, prepare
from bunraku.retargeting.rig_map import RigMap

Options = Mapping[str, Any] | Callable[[str], Mapping[str, Any]]
"""Options of a performer, or a function that gives them once the performer is chosen, by its name."""


@dataclass(frozen=True)
class Performed:
    """A performance, who made it and why, how the clip was prepared, and the notes on both."""

    performance: Performance
    choice: Choice
    prepared: Prepared
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Checkpoints:
    """What a long run leaves beside its result, so that it can be taken up again: of the retargeting, and of the solution."""

    retargeted: Checkpoint
    solution: Checkpoint

    @classmethod
    def beside(cls, target: Path, *inputs: object) -> Checkpoints:
        """Files named after ``target``, good for these inputs alone."""
        key = content_hash([*inputs])
        return cls(*(Checkpoint(target.with_name(f"{target.name}.{end}"), key) for end in ("retargeted", "checkpoint")))

    def discard(self) -> None:
        """Remove the files: a new run begins, or this one is over."""
        self.retargeted.discard()
        self.solution.discard()


def perform(
    character: Character,
    clip: Clip,
    performer: str = "",
    *,
    options: Options | None = None,
    rig: RigMap | None = None,
    checkpoints: Checkpoints | None = None,
    monitor: Monitor = SILENT,
) -> Performed:
    """Turn a wish into a performance with its certificate.

    ``performer``: its name, or "" for the one that suits best; ``rig`` maps a captured skeleton, and is guessed if not given. Notes
    are reported to the monitor when they arise. What ``checkpoints`` saved is gone on from; who writes the result discards them.
    """
    retargeted, solution = (None, None) if checkpoints is None else (checkpoints.retargeted, checkpoints.solution)
    compiling.compile_ahead(*(("retargeting",) if clip.joints is None and clip.skeleton is not None else ()), monitor=monitor)
    try:
        prepared = prepare(character, clip, rig=rig, checkpoint=retargeted, monitor=monitor)
        _note(monitor, "prepared", *prepared.notes)
        choice = choose_performer(character, prepared.clip, performer)
        _note(monitor, "chosen", f"performer: {choice.name} ({choice.reason})")
        given = options(choice.name) if callable(options) else options
        return attempt(character, prepared, choice, given or {}, checkpoint=solution, monitor=monitor)
    except BadInput:  # the same input will be refused again: there is nothing to go on from
        if checkpoints is not None:
            checkpoints.discard()
        raise


def attempt(
    character: Character,
    prepared: Prepared,
    choice: Choice,
    options: Mapping[str, Any],
    *,
    checkpoint: Checkpoint | None = None,
    monitor: Monitor = SILENT,
) -> Performed:
    """The chosen performer, once, with these options; whoever proves the result may attempt it again with others."""
    fit, notes = fit_of(choice.name), taken_as_rigid(character, choice.name)
    fit.refuse(character, prepared.clip)
    performer = make_performer(choice.name, dict(options))
    _note(monitor, "chosen", *notes)
    compiling.compile_ahead(*fit.groups(character, options), monitor=monitor)
    result = prepared.marked(performer.perform(character, prepared.clip, monitor=monitor, checkpoint=checkpoint))
    certificate = replace(result.certificate, notes=(*result.certificate.notes, *notes))
    return Performed(replace(result, certificate=certificate), choice, prepared, (*prepared.notes, *notes))


def _note(monitor: Monitor, stage: str, *sentences: str) -> None:
    for sentence in sentences:
        monitor.report(Event(stage, None, sentence, note=True))
