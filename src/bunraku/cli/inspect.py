"""``bunraku inspect``: what a file holds, and what is missing for each performer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bunraku.cli.console import emit_json, say
from bunraku.errors import BadInput

if TYPE_CHECKING:
    from bunraku.character import Character
    from bunraku.motion import Clip, Gait, Performance


def inspect(
    file: Annotated[str, typer.Argument(help="Any character, clip or performance: a file or a built-in name")],
    overlay: Annotated[Path | None, typer.Option(help="YAML with limits, feet and groups for a URDF or MJCF character")] = None,
    json: Annotated[bool, typer.Option("--json", help="As JSON on stdout")] = False,
) -> int:
    """Say what a file holds and what each performer would still need."""
    from bunraku.character import Character
    from bunraku.formats.csv_curves import csv_notes
    from bunraku.formats.registry import read_any
    from bunraku.motion import Clip

    noun, notes = read_any(file, overlay=overlay)
    facts: dict[str, Any]
    if isinstance(noun, Character):
        facts = _character(noun)
    elif isinstance(noun, Clip):
        facts = _clip(noun)
    else:
        facts = _performance(noun)
    if isinstance(noun, Character):
        try:
            facts["joints"] = _joints(noun)
        except BadInput as error:  # limits that leave nothing: the rest is shown all the same
            notes = (*notes, str(error))
    facts["performers"] = _needs(noun)
    facts["notes"] = [*notes, *(csv_notes(noun) if isinstance(noun, Clip) else ())]
    if json:
        emit_json(facts)
        return 0
    for name, value in facts.items():
        if isinstance(value, (list, tuple)):
            say(f"{name}:" + ("" if value else " none"))
            for line in _table([*value]) if name == "joints" else [f"- {item}" for item in value]:
                say(f"  {line}")
        else:
            say(f"{name}: {value}")
    return 0


def _character(character: Character) -> dict[str, Any]:
    stated = {
        field: sum(getattr(m, field) is not None for m in character.motors)
        for field in ("velocity", "acceleration", "jerk", "stall_torque")
    }
    facts: dict[str, Any] = {
        "kind": "character",
        "name": character.name,
        "mass_kg": sum(body.mass for body in character.bodies),
        "bodies": len(character.bodies),
        "coordinates": len(character.coordinates),
        "motors": len(character.motors),
        "driven": ", ".join(character.driven),
        "limits stated": ", ".join(f"{field} {count}/{len(character.motors)}" for field, count in stated.items()),
        "couplings": len(character.couplings),
        "dependent ranges": len(character.dependent_ranges),
        "feet": len(character.feet),
        "end effectors": ", ".join(f"{tip.name} ({tip.kind})" for tip in character.end_effectors),
        "strings": ", ".join(string.name for string in character.strings),
        "frames": ", ".join(frame.name for frame in character.frames),
        "groups": ", ".join(character.groups),
        "source": character.source,
    }
    if character.flexibles:
        facts["flexible parts"], own = _flexibles(character)
        facts["mass_kg"] = sum(body.mass for body in character.bodies) + own
    return facts


def _joints(character: Character) -> list[dict[str, Any]]:
    """Range and speed of each joint in deg or mm, as motors may use them; of joints without motor those that state a range."""
    from math import degrees, isfinite

    from bunraku.motion import MotionLimits

    limits = MotionLimits.of(character)
    rows = list(zip(limits.names, limits.lower, limits.upper, limits.velocity, strict=True))
    rows += [(axis.name, *axis.range, None) for axis in character.axes if axis.range and axis.name not in limits.names]
    hinges = {axis.name for axis in character.axes if axis.kind == "hinge"}
    drivers = {name: name for name in limits.names} | {one.follower: one.driver for one in character.couplings}
    joints = []
    for name, *values in rows:
        unit, scale = ("deg", degrees(1.0)) if name in hinges else ("mm", 1e3)
        low, high, speed = (None if one is None or not isfinite(one) else scale * float(one) for one in values)
        figures = {f"low_{unit}": low, f"high_{unit}": high, f"speed_{unit}_s": speed}
        joints.append({"name": name, "driven_by": drivers.get(name, ""), **figures})
    return joints


def _table(joints: list[dict[str, Any]]) -> list[str]:
    """Joints as lines in columns."""
    wide = max((len(joint["name"]) for joint in joints), default=0)
    lines = []
    for joint in joints:
        name, driver, low, high, speed = joint.values()
        unit = "deg" if "low_deg" in joint else "mm"
        ends = f"{'any' if low is None else f'{low:.1f}':>7} to {'any' if high is None else f'{high:.1f}':>6} {unit:3}"
        rate = "no speed stated" if speed is None else f"{speed:6.1f} {unit}/s"
        lines.append(f"{name:{wide}}  {ends}  {rate if driver == name else f'follows {driver}' if driver else 'no motor'}")
    return lines


def _flexibles(character: Character) -> tuple[list[str], float]:
    """A line for each flexible part (what it is, how it vibrates, which motions bend it), and what all of them weigh [kg]."""
    from bunraku.mechanics.flexible.reduced_parts import QUASI_STATIC, reduce_parts
    from bunraku.mechanics.tree import compile_tree

    lines, whole = [], 0.0
    for name, reduced in reduce_parts(character, compile_tree(character)).items():
        part, f1 = reduced.part, reduced.frequency
        mass = reduced.reduction.segment.mass
        whole += mass
        load = sum(body.mass for body in reduced.carried)
        lines.append(
            f"{name}: {part.shape.kind} of {part.material}, {reduced.length:.3g} m, {mass:.3g} kg, from {part.base} to "
            f"{', '.join(child.body for child in part.children)} ({load:.3g} kg beyond); first frequency {f1:.3g} Hz, "
            f"{reduced.reduction.segment.r} modes; bends visibly in motions above {f1 / QUASI_STATIC:.2g} Hz"
        )
    return lines, whole


def _clip(clip: Clip) -> dict[str, Any]:
    facts: dict[str, Any] = {"kind": "clip", "name": clip.name, "tracks": ", ".join(clip.tracks), "duration_s": clip.duration}
    if clip.joints is not None:
        facts["joints"] = f"{len(clip.joints.names)} at {clip.joints.rate:g} Hz, {len(clip.joints.values)} samples"
    if clip.skeleton is not None:
        facts["skeleton"] = (
            f"{len(clip.skeleton.names)} bones at {clip.skeleton.rate:.4g} Hz, {len(clip.skeleton.translations)} frames"
        )
    if clip.audio is not None:
        facts["audio"] = f"{clip.audio.duration:.2f} s at {clip.audio.rate:g} Hz"
    if clip.gait is not None:
        facts["gait"] = _gait(clip.gait)
    facts |= {"words": len(clip.words), "phrases": len(clip.phrases), "held": ", ".join(clip.held), "source": clip.source}
    return facts


def _gait(gait: Gait) -> list[str]:
    """Lines that say how a gait goes."""
    from math import degrees

    often = f"{gait.cycles} cycles of {gait.duration:g} s" if gait.periodic else f"once in {gait.duration:g} s"
    if not gait.periodic and gait.pattern not in ("roll", "custom"):
        often += f" with {gait.cycles} cycles of footfalls"
    targets = [
        f"{name} {part:g} m" for name, part in zip(("x", "y"), gait.distance or (None, None), strict=True) if part is not None
    ]
    targets += [] if gait.turn is None else [f"turn {degrees(gait.turn):g} deg"]
    lines = [
        f"{gait.pattern}, {often}" + (f" from {gait.start} to {gait.end}" if not gait.periodic else ""),
        f"goal: {', '.join(targets) or 'none'}" + (" per cycle" if targets and gait.periodic else ""),
    ]
    lines += [f"swing of {swing.effector}: {swing.start:.3g} to {swing.end:.3g}" for swing in gait.swings]
    for target in gait.targets:
        place = ", ".join(f"{name} {part:g}" for name, part in zip("xyz", target.place, strict=True) if part is not None)
        lines.append(f"target of {target.what} at {target.time:g} s: {place} m, weight {target.weight:g}")
    if gait.terrain is not None:
        low, high = float(gait.terrain.heights.min()), float(gait.terrain.heights.max())
        lines.append(f"terrain: heights from {low:.3g} to {high:.3g} m, {gait.terrain.spacing:g} m apart")
    extras = {
        "friction": "" if gait.friction is None else f"{gait.friction:g}",
        "locked": ", ".join(gait.locked),
        "symmetric": "yes" if gait.symmetric else "",
        "samples": str(gait.samples or ""),
    }
    return lines + [f"{name}: {value}" for name, value in extras.items() if value]


def _performance(performance: Performance) -> dict[str, Any]:
    certificate, feedback = performance.certificate, performance.feedback
    kinds = [channel.kind for channel in performance.channels]
    return {
        "kind": "performance",
        "character": performance.character.name,
        "clip": performance.clip_name,
        "performer": performance.provenance.performer,
        "duration_s": performance.duration,
        "channels": ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds)),
        "feedback": "none" if feedback is None else f"{len(feedback.inputs)} inputs by {feedback.states.shape[1]} states",
        "rate_hz": performance.rate,
        "status": certificate.status.sentence,
        "certificate": [check.sentence for check in certificate.checks],
    }


def _needs(noun: Character | Clip | Performance) -> list[str]:
    """For each performer that is no baseline: what of its needs this file meets or misses, or why it would refuse the character."""
    from bunraku.performers.fit import REGISTRY, needs_of, refusal

    pair = _pair(noun)
    lines = []
    for name in REGISTRY:
        needs = needs_of(noun, name)
        if needs is None:
            continue
        why = refusal(name, *pair) if pair is not None and not needs.startswith("missing") else ""
        lines.append(f"{name}: would refuse: {why}" if why else f"{name}: {needs}")
    return lines


def _pair(noun: Character | Clip | Performance) -> tuple[Character, Clip] | None:
    """A character and a clip to ask performers about: of a performance its own, of a character one with all that it could want."""
    import numpy as np

    from bunraku.motion import Clip, Gait, JointCurves, Performance

    if isinstance(noun, Clip):
        return None
    if isinstance(noun, Performance):
        return noun.character, noun.as_clip()
    curves = JointCurves(noun.coordinates, 1.0, np.zeros((1, len(noun.coordinates))))
    return noun, Clip("any", joints=curves, gait=Gait(duration=1.0))
