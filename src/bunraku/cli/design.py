"""``bunraku design``: change the dimensions of a character with its motion in view: by hand, with something kept, or by itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bunraku.cli.console import emit_json, exit_code, say, watching
from bunraku.cli.files import PICTURES, cancelled_name, check_target
from bunraku.errors import BadInput

if TYPE_CHECKING:
    from bunraku.building.design import Design
    from bunraku.design.automatic import Improvement
    from bunraku.design.study import Study, Variant
    from bunraku.optimization.monitor import Monitor


def design(
    character: Annotated[str, typer.Argument(help="A built-in robot, .character.yaml, .urdf or MJCF .xml with wheels or feet")],
    clip: Annotated[str, typer.Argument(help="A clip with a gait: how it should go")],
    change: Annotated[
        list[str] | None, typer.Option("--set", help='NAME=VALUE in m, or mm with the unit: "F.tip z=-35mm"; repeat for more')
    ] = None,
    keep: Annotated[
        str, typer.Option(help="What stays as it was while others follow --set: orientation, position, joints, feet or com")
    ] = "",
    optimize: Annotated[
        str,
        typer.Option(help="Let the design improve by itself: energy (of the motion), target (reach it) or torque (of the joints)"),
    ] = "",
    only: Annotated[str, typer.Option(help="Parameters that may change by themselves, comma-separated; all if not given")] = "",
    steps: Annotated[int, typer.Option(min=1, max=100, help="Most design steps of --optimize")] = 10,
    samples: Annotated[int, typer.Option(min=0, max=2000, help="Samples of the plan; 0: as a first coarse plan has")] = 0,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="The new character: .character.yaml")] = None,
    plot: Annotated[Path | None, typer.Option(help="Before and after, and the design steps, as .png, .svg or .pdf")] = None,
    json: Annotated[bool, typer.Option("--json", help="The report as JSON on stdout")] = False,
) -> int:
    """Edit the dimensions of a robot and see its motion follow; without --set and --optimize: list them, and what they matter."""
    check_target(output, ".character.yaml")
    check_target(plot, *PICTURES)
    from bunraku.design.features import feature
    from bunraku.design.redesign import AIMS, family_of, improved
    from bunraku.design.study import gait_study
    from bunraku.formats.registry import read_clip, write_character

    if optimize and optimize not in AIMS:
        raise BadInput(f"--optimize is one of {', '.join(AIMS)}; {optimize!r} arrived")
    if keep and not change:
        raise BadInput("--keep says what stays while something is changed; add --set NAME=VALUE")
    wish = read_clip(clip)
    if wish.gait is None:
        raise BadInput(f"the clip {wish.name!r} has no gait; design needs to know how the character should go", file=clip)
    family = family_of(character)
    changes = _changes(family, change or [])
    asked = gait_study(family, wish.gait, samples=samples)
    asked.edited(family.initial, changes)
    _names(asked, only)
    if keep:
        feature(keep)
    with watching() as monitor:
        study, before = _first(asked, monitor)
        facts: dict[str, Any] = {"character": character, "clip": wish.name, "energy_before": before.energy}
        if not changes and not optimize:
            facts |= _listed(study, before)
        after, improvement = before, None
        if changes:
            study, after, more = _changed(study, before, changes, keep, only, monitor)
            facts |= more
        if optimize:
            free = [name for name in _names(study, only) if name not in changes]
            if not free:
                raise BadInput("nothing is left to improve: --set fixes all that --only allows; allow more, or set less")
            study, after, improvement = improved(study, family, after, optimize, free, steps=steps, monitor=monitor)
            facts |= _told(improvement)
    facts |= _summary(study, family, before, after)
    if output is not None:
        output = cancelled_name(output) if monitor.cancelled else output
        for note in write_character(output, family.character(after.parameters)):
            say(note)
        say(f"wrote {output}")
        facts["output"] = str(output)
    if plot is not None:
        _draw(plot, before, after, improvement)
        say(f"wrote {plot}")
    if json:
        emit_json(facts)
    return exit_code(after.solution.status) if not after.soft else 3


def _changes(family: Design, words: list[str]) -> dict[str, float]:
    """NAME=VALUE words as parameters and metres."""
    changes: dict[str, float] = {}
    if words and not family.names:
        raise BadInput(f"the design of {family.name!r} has no parameter that could be set")
    for word in words:
        name, sign, text = word.rpartition("=")
        name = name.strip()
        name = name if name in family.names else name.replace("_", " ")
        if not sign:
            raise BadInput(f"--set takes NAME=VALUE, such as {family.names[0]!r}=0.05; {word!r} arrived")
        family.index(name)
        number, unit = (text[:-2], 1e-3) if text.endswith("mm") else (text.removesuffix("m"), 1.0)
        try:
            changes[name] = unit * float(number)
        except ValueError:
            raise BadInput(f"--set {name}: {text!r} is no length; give metres, or mm with the unit") from None
    return changes


def _names(study: Study, only: str) -> list[str]:
    from bunraku.design.redesign import chosen_names

    return chosen_names(study, [name.strip() for name in only.split(",") if name.strip()])


def _first(study: Study, monitor: Monitor) -> tuple[Study, Variant]:
    """The motion of the design as it is; where there is none, the study goes on with rows that are only wished."""
    from bunraku.design.redesign import first_variant

    solvable, variant, refused = first_variant(study, monitor=monitor)
    if refused is not None:
        name, amount = refused.worst
        say(f"the design as it is cannot move as asked: {name} stays violated by {amount:.2g}; looking for what comes nearest")
    return solvable, variant


def _listed(study: Study, variant: Variant) -> dict[str, Any]:
    """All parameters with bounds and what a millimetre of each does to the energy."""
    from bunraku.design.sensitivity import sensitivity

    slope = sensitivity(study, variant).energy_gradient
    say(f"energy {variant.energy:.4g}; parameters [mm], their bounds, and what 1 mm of each changes of the energy:")
    design, table = study.design, {}
    for k in sorted(range(len(slope)), key=lambda k: -abs(slope[k])):
        p, low, high = (1e3 * float(values[k]) for values in (variant.parameters, design.lower, design.upper))
        say(f"  {design.names[k]:18} {p:8.2f}  ({low:.1f} to {high:.1f})  {1e-3 * slope[k]:+.3g}")
        table[design.names[k]] = {"value_m": p / 1e3, "low_m": low / 1e3, "high_m": high / 1e3, "energy_per_m": float(slope[k])}
    return {"parameters": table}


def _changed(
    study: Study, before: Variant, changes: dict[str, float], keep: str, only: str, monitor: Monitor
) -> tuple[Study, Variant, dict[str, Any]]:
    """The design after --set, with or without --keep."""
    import numpy as np

    from bunraku.design.manual import edit
    from bunraku.design.semi_automatic import keep as keeping

    if keep:
        kept = keeping(study, before, changes, keep, free=_names(study, only), monitor=monitor)
        unit = "m" if keep in ("feet", "com", "position") else "rad"
        say(f"{keep} kept within {kept.drift:.2g} {unit}; others follow by up to {1e3 * np.abs(kept.followed).max():.2g} mm")
        return study, kept.variant, {"kept": keep, f"drift_{unit}": kept.drift}
    edited = edit(study, before, changes, monitor=monitor)
    say(f"energy at the start {edited.plain:.4g}, with the predicted motion {edited.predicted:.4g}, solved {edited.final:.4g}")
    return (
        study,
        edited.variant,
        {"start_energy": edited.plain, "predicted_start_energy": edited.predicted, "iterations": edited.iterations},
    )


def _told(improvement: Improvement) -> dict[str, Any]:
    for k, step in enumerate(improvement.steps):
        say(f"  step {k}: objective {step.value:.4g}, energy {step.energy:.4g}")
    for note in improvement.notes:
        say(f"    note: {note}")
    rows = [{"objective": step.value, "energy": step.energy, "parameters": step.parameters.tolist()} for step in improvement.steps]
    return {
        "design_status": improvement.status.value,
        "design_steps": len(improvement.steps) - 1,
        "steps": rows,
        "notes": list(improvement.notes),
    }


def _summary(study: Study, family: Design, before: Variant, after: Variant) -> dict[str, Any]:
    """What changed, and whether the motion is there."""
    from bunraku.design.features import target_misses

    moved = {
        name: {"before_m": float(old), "after_m": float(new)}
        for name, old, new in zip(family.names, family.initial, after.parameters, strict=True)
        if abs(new - old) > 1e-7
    }
    for name, pair in moved.items():
        say(f"  {name:18} {1e3 * pair['before_m']:8.2f} -> {1e3 * pair['after_m']:8.2f} mm")
    name, amount = after.worst
    facts: dict[str, Any] = {"changed": moved, "energy_after": after.energy, "status": after.solution.status.value}
    facts |= {"feasible": not after.soft and after.solution.status.good, "max_residual": after.solution.residual}
    if not facts["feasible"]:
        say(f"it still cannot move as asked: {name} stays violated by {amount:.2g}; change what matters most, or ask for less")
        facts |= {"violated": name, "violated_by": amount}
    if after.problem.waypoints:
        missed = [float(value) for value in target_misses(after.problem, after.motion)]
        facts["targets_missed_m"] = missed
        say(f"targets missed by up to {1e3 * max(map(abs, missed)):.2g} mm")
    say(f"energy {before.energy:.4g} -> {after.energy:.4g}")
    return facts


def _draw(path: Path, before: Variant, after: Variant, improvement: Improvement | None) -> None:
    from bunraku.verification.plots.design import draw_design
    from bunraku.verification.plots.figure import save_figure

    at = before.problem.waypoints[0].sample if before.problem.waypoints else 0
    pair = [(name, one.problem.model, one.plan.q[at]) for name, one in (("before", before), ("after", after))]
    save_figure(draw_design(pair, [] if improvement is None else [step.energy for step in improvement.steps]), path)
