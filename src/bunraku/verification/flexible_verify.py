"""The verdict on a flexible character's performance: recomputed with the reduced model, replayed in MuJoCo and in full order.

Three judges, from near to far: the reduced model at 0.5 ms recomputes every number of the certificate; MuJoCo replays the channels
with rods as chains of rigid links (where all flexible parts are beams); the full elastic model, which takes minutes, replays them
when it is asked to, and is remembered.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.errors import BadInput
from bunraku.mechanics.elastic.part import part_solid
from bunraku.mechanics.flexible.judge import Judged, judge
from bunraku.mechanics.flexible.measures import measure_flexible
from bunraku.mechanics.flexible.places import tracked_places
from bunraku.mechanics.flexible.system import FlexibleCharacterSystem, flexible_system
from bunraku.motion import Check, Performance
from bunraku.optimization.monitor import SILENT, Event, Monitor
from bunraku.verification.agreement import AGREEMENT, certificate_differences
from bunraku.verification.beam_section import BeamRatio
from bunraku.verification.flexible_replay import FlexibleReplay, replay_flexible
from bunraku.verification.full_order import FullOrderReplay, found_full_order, replay_full_order
from bunraku.verification.mesh_beam import mesh_beam

__all__ = ["SHARE", "SLACK", "FlexibleVerdict", "judged_again", "verify_flexible"]

CHAIN, CLOSED_CHAIN = ((10, 20), 1e-4), ((6, 12), 5e-5)
"""Links a rod of the two replays in MuJoCo and their step [s]; of characters with loops, whose chains are stiffer in its solver."""

SHARE, SLACK = 0.3, 2e-3
"""A judge confirms a predicted peak error when its own is at most so much larger: relative, and in metres."""


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
    """Judge a performance; ``full_order``: compute the full model if it was not computed before."""
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
    frames = judged.after.names
    full = replay_full_order(performance, frames, monitor=monitor) if full_order else found_full_order(performance, frames)
    if full is not None:
        checks += _full_checks(judged, full)
        figures["full_order_peak_error_m"] = full.peak
    return FlexibleVerdict(tuple(checks), figures, judged, chains, full)


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
    """MuJoCo's replay and what it says; information where the character has parts that are no beams."""
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
        return None, [Check("replay in MuJoCo", np.nan, note=f"not made: {error}; the full-order model judges such parts")]
    if made.lost:
        return made, [Check("replay in MuJoCo", np.nan, bar=0.0, note=made.lost)]
    peak = float(made.deviation(_sampled(judged, made, target=True)).max())
    apart = float(np.sqrt(np.mean(made.deviation(_sampled(judged, made, target=False)) ** 2)))
    return made, [
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


def _sampled(judged: Judged, made: FlexibleReplay, *, target: bool) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Target or prediction (n, frames, 3) at the times of a replay."""
    path = judged.targets.positions if target else judged.after.seen.positions
    flat = path.reshape(len(path), -1)
    found = np.column_stack([np.interp(made.times, judged.after.times, column) for column in flat.T])
    return found.reshape(len(made.times), *path.shape[1:])


def _full_checks(judged: Judged, full: FullOrderReplay) -> list[Check]:
    words = f"{full.unknowns} unknowns (slender rods of long cells, rescaled), {full.steps_per_s:.2g} steps a second"
    if full.lost:
        return [Check("full-order model", np.nan, bar=0.0, note=full.lost)]
    return [
        _confirmed("peak error in full order", full.peak, judged.after.peak, words),
        Check("constraint drift in full order", full.drift, note="the worst of all its constraints [m, or 1 for turns]"),
    ]


def _confirmed(name: str, peak: float, predicted: float, words: str = "") -> Check:
    note = f"{1e3 * predicted:.2f} mm were predicted; at most {SHARE:.0%} + {1e3 * SLACK:g} mm more" + (
        f"; {words}" if words else ""
    )
    return Check(name, peak, "m", (1.0 + SHARE) * predicted + SLACK, note=note)
