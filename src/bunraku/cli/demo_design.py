"""The demos of designs that improve by themselves: the car with two tilted wheels, and the robot that cannot reach its target."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bunraku.assets.examples import Demo
from bunraku.cli.demo_ground import ground_figures
from bunraku.cli.demo_tail import Stopwatch, finish, leading

if TYPE_CHECKING:
    from bunraku.design.automatic import Improvement
    from bunraku.design.study import Study, Variant
    from bunraku.motion import Check
    from bunraku.optimization.monitor import Monitor

FREE = {"tilted-car": ("F.tip z", "H.tip z"), "reacher": ("F.knee z", "F.ankle z", "H.knee z", "H.ankle z")}
"""What may change of each."""


def run(name: str, example: Demo, folder: Path | None) -> tuple[dict[str, Any], int]:
    """Improve the design, then perform and verify with what came out."""
    from bunraku.cli.console import say, watching
    from bunraku.design.study import levelled
    from bunraku.formats.registry import read_clip
    from bunraku.performers.performer import make_performer
    from bunraku.verification.plots.design import draw_design
    from bunraku.verification.plots.figure import save_figure
    from bunraku.verification.verify import verify

    clip = read_clip(example.clip)
    with watching() as monitor:
        study, before, made = _improved(example, clip.gait, monitor)
        character = levelled(study.design.character(made.variant.parameters))
        watch = Stopwatch(monitor)
        result = make_performer("locomotion", example.options).perform(character, clip, monitor=watch)
        verdict = verify(result, monitor=monitor)
    figures = leading(name, result, watch.seconds, verdict) | ground_figures(result, verdict)
    figures |= {"design_steps": len(made.steps) - 1, "energy_before": made.steps[0].energy, "energy_after": made.steps[-1].energy}
    promises = _promises(example.character, study, before, made, figures)
    changed = ", ".join(
        f"{one} {1e3 * (new - old):+.2f} mm"
        for one, old, new in zip(study.design.names, study.design.initial, made.variant.parameters, strict=True)
    )
    energies = [step.energy for step in made.steps]
    say(f"after {figures['design_steps']} design steps: {changed}; energy {energies[0]:.4g} to {energies[-1]:.4g}")
    code = finish(result, verdict, promises, folder)
    if folder is not None:
        at = before.problem.waypoints[0].sample if before.problem.waypoints else 0
        pair = [(when, one.problem.model, one.plan.q[at]) for when, one in (("before", before), ("after", made.variant))]
        save_figure(draw_design(pair, energies), folder / "design.png")
    return figures, code


def _improved(example: Demo, gait: Any, monitor: Monitor) -> tuple[Study, Variant, Improvement]:
    from bunraku.building.robot_design import built_in_design
    from bunraku.design.automatic import Energy, Misses, improve
    from bunraku.design.study import gait_study

    study = gait_study(built_in_design(example.character).only(*FREE[example.character]), gait)
    if example.character == "tilted-car":
        study = study.softened()  # as it is it cannot roll straight ahead: rows become wishes
        before = study.solve(study.design.initial, monitor=monitor)
        return study, before, improve(study, Energy(), before, steps=4, monitor=monitor)
    before = study.solve(study.design.initial, monitor=monitor)
    return study, before, improve(study, Misses(), before, steps=3, radius=0.05, monitor=monitor)


def _promises(who: str, study: Study, before: Variant, made: Improvement, figures: dict[str, Any]) -> tuple[Check, ...]:
    import numpy as np

    from bunraku.design.features import target_misses
    from bunraku.motion import Check

    if who == "tilted-car":
        front, hind = made.variant.parameters - study.design.initial
        figures["relative_lowering_mm"] = 1e3 * float(hind - front)
        tip = study.design.character(study.design.initial).end_effectors[0]
        level = float(np.hypot(tip.axis[0], tip.axis[1]) / np.linalg.norm(tip.axis))
        off = abs(figures["relative_lowering_mm"] - 1e3 * tip.radius * (1.0 - level))
        return (
            Check("lowering against r (1 - cos tilt)", off, "mm", 0.05),
            Check("design steps", figures["design_steps"], "", 4),
        )
    first, last = (float(np.abs(target_misses(one.problem, one.motion)).max()) for one in (before, made.variant))
    figures |= {"miss_before_mm": 1e3 * first, "miss_after_mm": 1e3 * last}
    return (Check("miss of the target", 1e3 * last, "mm", 5.0), Check("design steps", figures["design_steps"], "", 3))
