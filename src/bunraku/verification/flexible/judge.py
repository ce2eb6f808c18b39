"""The verdict on a flexible character's performance: recomputed with the reduced model, replayed in MuJoCo and in full order.

Three judges, from near to far: the reduced model at 0.5 ms recomputes every number of the certificate; MuJoCo replays the channels
with rods as chains of rigid links (where all flexible parts are beams); the full elastic model, which takes minutes, replays them
when it is asked to, and is remembered. Only the latter two do not share the physics of the prediction: a verdict with replay needs
at least one of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, nan

import numpy as np

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.mechanics.elastic.part import part_solid
from bunraku.mechanics.flexible.judge import Judged, judge
from bunraku.mechanics.flexible.measures import measure_flexible
from bunraku.mechanics.flexible.places import tracked_places
from bunraku.mechanics.flexible.system import FlexibleCharacterSystem, flexible_system
from bunraku.mechanics.measures.motion import measure_motion, wish_at
from bunraku.mechanics.measures.prediction import predicted_motion
from bunraku.mechanics.tree import compile_tree
from bunraku.motion import Check, JointCurves, Performance
from bunraku.optimization.monitor import SILENT, Event, Monitor
from bunraku.rhythm.timing import timing_checks
from bunraku.verification.agreement import AGREEMENT, certificate_differences, motion_difference
from bunraku.verification.flexible.beam_section import BeamRatio
from bunraku.verification.flexible.full_order import FullOrderReplay, found_full_order, replay_full_order
from bunraku.verification.flexible.mesh_beam import mesh_beam
from bunraku.verification.flexible.replay import FlexibleReplay, replay_flexible
from bunraku.verification.limits import position_curves

CHAIN, CLOSED_CHAIN = ((10, 20), 1e-4), ((6, 12), 5e-5)
"""Links a rod of the two replays in MuJoCo and their step [s]; of characters with loops, whose chains are stiffer in its solver."""

SHARE, SLACK = 0.3, 2e-3
"""A judge confirms a predicted peak error when its own is at most so much larger: relative, and in metres."""

MESH_BAR = 0.1
"""No part's mesh may be stiffer, softer, heavier or lighter than the beam it stands for by more, relative."""

LOOP_GAP = 1e-3
"""No loop may open wider [m] in MuJoCo, whose loops are held by a stiff solver, not exactly."""

FOREIGN = "judges whose physics is not the reduced model's"
"""The check that counts the replays that were made to the end; a verdict with replay needs one."""


@dataclass(frozen=True, eq=False)
class FlexibleVerdict:
    """The checks and figures, the motion judged again, and the replays that were made."""

    checks: tuple[Check, ...]
    figures: dict[str, float]
    judged: Judged
    chains: FlexibleReplay | None
    full: FullOrderReplay | None


def judged_again(performance: Performance) -> tuple[FlexibleCharacterSystem, Judged]:
    """The reduced model of the character, and the performance simulated with it beside its wish."""
    flexible = flexible_system(performance.character)
    names = _tracked(performance)
    return flexible, judge(flexible, performance.wish, performance.positions(), names)


def verify_flexible(
    performance: Performance, *, replay: bool = True, full_order: bool = False, monitor: Monitor = SILENT
) -> FlexibleVerdict:
    """Judge a performance; ``full_order``: compute the full model if it was not computed before.

    With ``replay`` MuJoCo replays it, and at least one judge that does not share the reduced model's physics must have run.
    """
    monitor.report(Event("verify", 0.0, "simulating at 0.5 ms"))
    flexible, judged = judged_again(performance)
    marks = [*performance.words, *performance.phrases]
    measured = measure_flexible(flexible, performance.wish, performance.positions(), judged, marks)
    worst, note = certificate_differences(performance.certificate, measured.checks, measured.figures)
    checks = [Check("reduced model against the certificate", worst, "relative", AGREEMENT, note=note), *measured.checks]
    figures = dict(measured.figures)
    chains = None
    if replay:
        chains, found = _chains(flexible, performance, judged, monitor)
        checks += found
        figures |= chains.figures(target=_sampled(judged, chains, target=True)) if chains is not None else {}
    frames, guide = judged.after.names, (judged.after.times, judged.targets.positions)
    full = found_full_order(performance, frames)
    if full is None and full_order:
        full = replay_full_order(performance, frames, guide=guide, monitor=monitor)
    if full is not None:
        checks += _full_checks(judged, full)
        figures |= {"full_order_peak_error_m": full.peak, "full_order_rms_error_m": full.rms}
    if replay:
        checks.append(_foreign(chains, full))
    return FlexibleVerdict(tuple(checks), figures, judged, chains, full)


def common_agreement(performance: Performance) -> Check:
    """The certificate's common part and the predicted motion against the same recomputed from channels, wish and words.

    The common part: limits, deviation, balance, self-collision, static torque, timing. The lag of the motors is no promise for a
    flexible character: they move ahead so that what they carry is on time. Modal coordinates, which a performance with feedback
    adds to its motion, are not compared: the channels alone do not tell them.
    """
    character, curves = performance.character, position_curves(performance)
    tree = compile_tree(character)
    measured = measure_motion(character, performance.wish, curves, tree)
    wanted = JointCurves(curves.names, curves.rate, wish_at(character, performance.wish, curves))
    timing = timing_checks(wanted, curves, performance.words)
    expected = (*measured.checks, *(replace(check, bar=None) if check.name == "lag" else check for check in timing))
    predicted, carried, feedback = predicted_motion(character, curves, tree), performance.motion, performance.feedback
    kept = len(predicted.names)
    if feedback is not None and set(carried.names[kept:]) <= set(feedback.coordinates):
        carried = JointCurves(carried.names[:kept], carried.rate, carried.values[:, :kept])
    moved = motion_difference(carried, predicted)
    worst, note = certificate_differences(performance.certificate, expected, measured.figures, (moved,))
    return Check("certificate against recomputation", worst, "relative", AGREEMENT, note=note)


def _foreign(chains: FlexibleReplay | None, full: FullOrderReplay | None) -> Check:
    """How many judges with other physics ran to the end; not checked where there was none to run."""
    judges = {name: made for name, made in (("MuJoCo", chains), ("full order", full)) if made is not None}
    ran = [name for name, made in judges.items() if not made.lost]
    note = ", ".join(ran) or "`bunraku verify FILE --full-order` computes the full elastic model, which is then remembered"
    return Check(FOREIGN, len(ran) if judges else nan, bar=1, at_least=True, note=note)


def _tracked(performance: Performance) -> tuple[str, ...]:
    """The places the performer tracked: those whose errors its certificate states; the character's own if there are none."""
    found = [
        name.removeprefix("rms_error_after_m.") for name in performance.certificate.figures if name.startswith("rms_error_after_m.")
    ]
    known = {*(frame.name for frame in performance.character.frames), *(body.name for body in performance.character.bodies)}
    return tracked_places(performance.character, [name for name in found if name in known])


def _chains(
    flexible: FlexibleCharacterSystem, performance: Performance, judged: Judged, monitor: Monitor
) -> tuple[FlexibleReplay | None, list[Check]]:
    """MuJoCo's replay and what it says; why there is none, where a part is no beam or MuJoCo cannot simulate it."""
    try:
        ratios = _ratios(flexible)
        links, step = CLOSED_CHAIN if performance.character.loops else CHAIN
        made = replay_flexible(
            performance.character,
            performance,
            frames=judged.after.names,
            links=links,
            timestep=step,
            ratios=ratios,
            monitor=monitor,
        )
    except BadInput as error:
        return None, [Check("replay in MuJoCo", np.nan, note=f"not made: {error}; the full-order model judges such characters")]
    meshed = _mesh_check(ratios)
    if made.lost:
        return made, [meshed, Check("replay in MuJoCo", inf, bar=0.0, note=made.lost)]
    gap = max(run.gap for run in made.runs)
    peak = float(made.deviation(_sampled(judged, made, target=True)).max())
    apart = float(np.sqrt(np.mean(made.deviation(_sampled(judged, made, target=False)) ** 2)))
    return made, [
        meshed,
        *([Check("loops open in MuJoCo", gap, "m", LOOP_GAP)] if performance.character.loops else []),
        _confirmed("peak error in MuJoCo", peak, judged.after.peak),
        Check(
            "MuJoCo against the prediction, RMS",
            apart,
            "m",
            note=f"rods as chains of {links[0]} and {links[1]} links, extrapolated",
        ),
    ]


def _ratios(flexible: FlexibleCharacterSystem) -> dict[str, BeamRatio]:
    """Stiffness and mass of each part as its mesh has them, so that the replay judges the dynamics and not the mesh."""
    character = flexible.character
    materials = {material.name: material for material in character.materials}
    return {part.name: mesh_beam(part_solid(character, part), materials[part.material]) for part in character.flexibles}


def _mesh_check(ratios: dict[str, BeamRatio]) -> Check:
    """How far the meshes are from the beams: the chains take over their stiffness and mass, so they cannot judge them."""
    off = {f"{part}, {kind}": abs(value - 1.0) for part, ratio in ratios.items() for kind, value in ratio._asdict().items()}
    worst = max(off, key=lambda key: off[key])
    return Check("mesh against the beam", off[worst], "relative", MESH_BAR, note=f"most: {worst}")


def _sampled(judged: Judged, made: FlexibleReplay, *, target: bool) -> Array:
    """Target or prediction (n, frames, 3) at the times of a replay."""
    path = judged.targets.positions if target else judged.after.seen.positions
    flat = path.reshape(len(path), -1)
    found = np.column_stack([np.interp(made.times, judged.after.times, column) for column in flat.T])
    return found.reshape(len(made.times), *path.shape[1:])


def _full_checks(judged: Judged, full: FullOrderReplay) -> list[Check]:
    words = f"{full.unknowns} unknowns (slender rods of long cells, rescaled), {full.steps_per_s:.2g} steps a second"
    if full.lost:
        return [Check("full-order model", inf, bar=0.0, note=full.lost)]
    return [
        _confirmed("peak error in full order", full.peak, judged.after.peak, words),
        _confirmed("RMS error in full order", full.rms, judged.after.rms),
        Check("constraint drift in full order", full.drift, note="the worst of all its constraints [m, or 1 for turns]"),
    ]


def _confirmed(name: str, peak: float, predicted: float, words: str = "") -> Check:
    note = f"{1e3 * predicted:.2f} mm were predicted; at most {SHARE:.0%} + {1e3 * SLACK:g} mm more" + (
        f"; {words}" if words else ""
    )
    return Check(name, peak, "m", (1.0 + SHARE) * predicted + SLACK, note=note)
