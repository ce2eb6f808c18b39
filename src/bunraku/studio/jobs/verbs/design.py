"""Designing: dimensions set by hand, with a feature kept, or improved by themselves; the motion follows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bunraku.building.design import Design
from bunraku.building.robots.builtin import ROBOTS
from bunraku.design.features import feature
from bunraku.design.manual import edit
from bunraku.design.redesign import AIMS, chosen_names, family_of, first_variant, improved
from bunraku.design.semi_automatic import keep as keeping
from bunraku.design.study import Study, Variant, gait_study
from bunraku.errors import BadInput
from bunraku.formats.registry import read_clip, write_character
from bunraku.optimization.monitor import Event, Monitor
from bunraku.studio.jobs.exchange import read_who
from bunraku.studio.jobs.verbs.arguments import Arguments


def design(arguments: dict[str, Any], folder: Path, monitor: Monitor) -> tuple[dict[str, Any], bool]:
    """{character, clip, start, changes, keep, aim, free, steps} -> the new character's file, its parameters, energies.

    ``start``: {name: m} as they were before ``changes``: {name: m} set by hand; ``keep``: a feature, or some joined by "+", that
    stays while the ``free`` parameters follow; ``aim``: energy, target or torque is improved by the ``free`` ones (all if none are
    named) in at most ``steps`` steps.
    """
    given = Arguments(arguments, "design")
    source, wish = given.text("character"), read_clip(given.text("clip"))
    start, changes = ({name: float(v) for name, v in given.mapping(key).items()} for key in ("start", "changes"))
    keep, aim, steps = given.text("keep", ""), given.text("aim", ""), given.count("steps", 10)
    names, samples = [str(name) for name in given.sequence("free")], given.count("samples", 0)
    target = given.path("target", folder / "result.character.yaml")
    given.finish()
    if wish.gait is None:
        raise BadInput(f"the clip {wish.name!r} has no gait; design needs to know how the character should go")
    if aim and aim not in AIMS:
        raise BadInput(f"a design improves one of {', '.join(AIMS)}; {aim!r} arrived")
    if keep:
        feature(keep)
    family = family_of(source if source in ROBOTS else read_who(source, folder))
    asked = gait_study(family, wish.gait, samples=samples)
    begun = asked.edited(family.initial, start)
    asked.edited(begun, changes)
    free = [name for name in chosen_names(asked, names) if name not in changes]
    if (aim or keep) and not free:
        raise BadInput("nothing is left to change by itself: all that may is set by hand; allow more, or set less")
    monitor.report(Event("design", None, "the motion of the design as it is"))
    study, before, _ = first_variant(asked, begun, monitor=monitor)
    after = before
    facts: dict[str, Any] = {"energy_before": before.energy}
    if changes:
        after, more = _changed(study, before, changes, keep, free, monitor)
        facts |= more
    if aim:
        study, after, improvement = improved(study, family, after, aim, free, steps=steps, monitor=monitor)
        rows = [{"objective": one.value, "energy": one.energy, "parameters": one.parameters} for one in improvement.steps]
        facts |= {"design_status": improvement.status.value, "steps": rows, "notes": list(improvement.notes)}
    write_character(target, family.character(after.parameters))
    return facts | _summary(family, after) | {"path": str(target)}, monitor.cancelled


def _changed(
    study: Study, before: Variant, changes: dict[str, float], keep: str, free: list[str], monitor: Monitor
) -> tuple[Variant, dict[str, Any]]:
    if keep:
        kept = keeping(study, before, changes, keep, free=free, monitor=monitor)
        return kept.variant, {"kept": keep, "drift": kept.drift, "drift_unit": _unit(keep)}
    edited = edit(study, before, changes, monitor=monitor)
    return edited.variant, {"energy_start": edited.plain, "energy_predicted": edited.predicted, "iterations": edited.iterations}


def _unit(keep: str) -> str:
    units = {"m" if one in ("feet", "com", "position") else "rad" for one in keep.split("+")}
    return " or ".join(sorted(units))


def _summary(family: Design, after: Variant) -> dict[str, Any]:
    name, amount = after.worst
    feasible = not after.soft and after.solution.status.good
    return {
        "parameters": dict(zip(family.names, map(float, after.parameters), strict=True)),
        "energy_after": after.energy,
        "status": after.solution.status.value,
        "feasible": feasible,
        "violated": "" if feasible else name,
        "violated_by": 0.0 if feasible else amount,
    }
