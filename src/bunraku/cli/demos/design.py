"""The demos of designs that improve by themselves: the car with two tilted wheels, and the robot that cannot reach its target."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bunraku.assets.examples import Demo
from bunraku.building.robot_design import built_in_design
from bunraku.cli.demos.ground import ground_figures
from bunraku.cli.demos.runner import Addition, DemoTake, Figures, Kind
from bunraku.design.automatic import Energy, Improvement, Misses, improve
from bunraku.design.features import target_misses
from bunraku.design.study import Study, Variant, gait_study, levelled
from bunraku.errors import BadInput
from bunraku.flow.ahead import compile_for
from bunraku.flow.perform import perform
from bunraku.formats.registry import read_character, read_clip
from bunraku.motion import Check, Performance
from bunraku.optimization.monitor import Monitor
from bunraku.verification.plots.design import draw_design
from bunraku.verification.plots.figure import save_figure

FREE = {"tilted-car": ("F.tip z", "H.tip z"), "reacher": ("F.knee z", "F.ankle z", "H.knee z", "H.ankle z")}
"""What may change of each."""


@dataclass(frozen=True)
class _Improved:
    study: Study
    before: Variant
    improvement: Improvement


def improved(example: Demo, quick: bool, monitor: Monitor) -> tuple[Performance, _Improved]:
    """The design improved, and the wish performed with what came out."""
    clip = read_clip(example.clip)
    if clip.gait is None:
        raise BadInput(f"the clip {clip.name!r} has no gait")
    compile_for("locomotion", read_character(example.character), monitor)
    study = gait_study(built_in_design(example.character).only(*FREE[example.character]), clip.gait)
    tilted = example.character == "tilted-car"
    if tilted:
        study = study.softened()  # as it is it cannot roll straight ahead: constraints become wishes
    before = study.solve(study.design.initial, monitor=monitor)
    if tilted:
        improvement = improve(study, Energy(), before, steps=4, monitor=monitor)
    else:
        improvement = improve(study, Misses(), before, steps=3, radius=0.05, monitor=monitor)
    character = levelled(study.design.character(improvement.variant.parameters))
    result = perform(character, clip, example.performer, options=example.options, monitor=monitor).performance
    return result, _Improved(study, before, improvement)


def add(take: DemoTake) -> Addition:
    """What changed of the design, and what that did."""
    extra: _Improved = take.extra
    design, best, steps = extra.study.design, extra.improvement.variant, extra.improvement.steps
    energies = [step.energy for step in steps]
    own, promise = (_lowered if take.example.character == "tilted-car" else _reached)(extra)
    figures = {
        **ground_figures(take),
        "design_steps": len(steps) - 1,
        "energy_before": energies[0],
        "energy_after": energies[-1],
        **own,
    }
    changes = zip(design.names, design.initial, best.parameters, strict=True)
    changed = ", ".join(f"{name} {1e3 * (new - old):+.2f} mm" for name, old, new in changes)
    sentence = f"after {len(steps) - 1} design steps: {changed}; energy {energies[0]:.4g} to {energies[-1]:.4g}"

    def files(folder: Path) -> tuple[Figures, tuple[()]]:
        targets = extra.before.problem.waypoints
        at = targets[0].sample if targets else 0
        pair = [(when, one.problem.model, one.plan.q[at]) for when, one in (("before", extra.before), ("after", best))]
        save_figure(draw_design(pair, energies), folder / "design.png")
        return {}, ()

    most = 4 if take.example.character == "tilted-car" else 3
    return Addition(figures, sentence, [promise, Check("design steps", len(steps) - 1, "", most)], files)


def _lowered(extra: _Improved) -> tuple[Figures, Check]:
    """How much more the front wheels were lowered, against what their tilt asks for."""
    design = extra.study.design
    front, hind = extra.improvement.variant.parameters - design.initial
    lowering = 1e3 * float(hind - front)
    tip = design.character(design.initial).end_effectors[0]
    level = float(np.hypot(tip.axis[0], tip.axis[1]) / np.linalg.norm(tip.axis))
    off = abs(lowering - 1e3 * tip.radius * (1.0 - level))
    return {"relative_lowering_mm": lowering}, Check("lowering against r (1 - cos tilt)", off, "mm", 0.05)


def _reached(extra: _Improved) -> tuple[Figures, Check]:
    """How far the target was missed before and after."""
    variants = (extra.before, extra.improvement.variant)
    first, last = (1e3 * float(np.abs(target_misses(one.problem, one.motion)).max()) for one in variants)
    return {"miss_before_mm": first, "miss_after_mm": last}, Check("miss of the target", last, "mm", 5.0)


KIND = Kind(add, improved)
