"""The verdict on a flexible character's performance: recomputed with the reduced model, replayed in MuJoCo and in full order.

Three judges, from near to far: the reduced model at 0.5 ms recomputes every number of the certificate; MuJoCo replays the channels
with rods as chains of rigid links (where all flexible parts are beams); the full elastic model, which takes minutes, replays them
when it is asked to, and is remembered. Only the latter two do not share the physics of the prediction: a verdict with replay needs
at least one of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf, nan
from typing import NamedTuple

import numpy as np

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.mechanics.elastic.part import part_solid
from bunraku.mechanics.flexible.judge import Judged, judge
from bunraku.mechanics.flexible.measures import measure_flexible
from bunraku.mechanics.flexible.places import tracked_places
from bunraku.mechanics.flexible.system import FlexibleCharacterSystem, flexible_system
from bunraku.motion import Check, Performance
from bunraku.optimization.monitor import Event, Monitor
from bunraku.verification.agreement import agreement, common_checks
from bunraku.verification.flexible.beam_section import BeamRatio
from bunraku.verification.flexible.full_order import FullOrderReplay, found_full_order, replay_full_order
from bunraku.verification.flexible.mesh_beam import mesh_beam
from bunraku.verification.flexible.model import ChainModel
from bunraku.verification.flexible.replay import ChainReplay, chain_models, play_chains
from bunraku.verification.limits import limit_figures
from bunraku.verification.verifier import Findings, Judge, Picture, Replay

CHAIN, CLOSED_CHAIN = ((10, 20), 1e-4), ((6, 12), 5e-5)
"""Links a rod of the two replays in MuJoCo and their step [s]; of characters with loops, whose chains are stiffer in its solver."""

SHARE, SLACK = 0.3, 2e-3
"""A judge confirms a predicted peak error when its own is at most so much larger: relative, and in metres."""

MESH_THRESHOLD = 0.1
"""No part's mesh may be stiffer, softer, heavier or lighter than the beam it stands for by more, relative."""

LOOP_GAP = 1e-3
"""No loop may open wider [m] in MuJoCo, whose loops are held by a stiff solver, not exactly."""

SAME_MODEL = "reduced model against the certificate"

FOREIGN = "judges whose physics is not the reduced model's"
"""The check that counts the replays that were made to the end; a verdict with replay needs one."""


@dataclass(frozen=True, eq=False)
class FlexibleReplay(Replay):
    """The replays that were made. ``ratios``: of the meshes to the beams of the chains; ``refused``: why there are no chains."""

    chains: ChainReplay | None
    full: FullOrderReplay | None
    ratios: dict[str, BeamRatio] = field(default_factory=dict)
    refused: str = ""
    played: bool = True
    motion = None
    rows = ()


class FlexibleJudge(Judge["ChainModels | str", FlexibleReplay]):
    """The reduced model recomputes, chains replay; ``full_order``: the full model is computed if it was not before.

    With a replay at least one judge that does not share the reduced model's physics must have run.
    """

    recomputed = "Limits and every other number were recomputed from the channels with the reduced model at 0.5 ms."
    replayed = (
        "The channels were replayed in MuJoCo with rods as chains of rigid links, if all flexible parts are beams, and in the full "
        "elastic model if it was asked."
    )
    full: FullOrderReplay | None = None

    @cached_property
    def simulated(self) -> tuple[FlexibleCharacterSystem, Judged]:
        """The reduced model, and the performance simulated with it beside its wish."""
        return judged_again(self.performance)

    @property
    def judged(self) -> Judged:
        """The performance simulated with the reduced model, beside its wish."""
        return self.simulated[1]

    def recompute(self, monitor: Monitor) -> Findings:
        """Limits, the certificate, every number of the reduced model; the full model where it is known or asked for."""
        performance = self.performance
        monitor.report(Event("verify", 0.0, "simulating at 0.5 ms"))
        flexible, judged = self.simulated
        marks = [*performance.words, *performance.phrases]
        measured = measure_flexible(flexible, performance.wish, performance.sent(), judged, marks)
        same = replace(agreement(performance.certificate, measured.checks, measured.figures)[0], name=SAME_MODEL)
        measured_names = {check.name for check in measured.checks}
        checks = [*(check for check in common_checks(performance) if check.name not in measured_names), same, *measured.checks]
        figures = limit_figures(checks) | measured.figures
        frames, guide = judged.after.names, (judged.after.times, judged.targets.positions)
        self.full = found_full_order(performance, frames)
        if self.full is None and self.full_order:
            self.full = replay_full_order(performance, frames, guide=guide, monitor=monitor)
        if self.full is not None:
            self.kept = FlexibleReplay(None, self.full)
            checks += _full_checks(judged, self.full)
            figures |= {"full_order_peak_error_m": self.full.peak, "full_order_rms_error_m": self.full.rms}
        return checks, figures

    def build(self) -> ChainModels | str:
        """Chains at two resolutions, with the stiffness and mass of the meshes; or why a part is none."""
        character = self.performance.character
        try:
            ratios = _ratios(self.simulated[0])
            links, step = CLOSED_CHAIN if character.loops else CHAIN
            models = chain_models(character, frames=self.judged.after.names, links=links, timestep=step, ratios=ratios)
        except BadInput as error:
            return str(error)
        return ChainModels(models, ratios)

    def replay(self, foreign: ChainModels | str, monitor: Monitor) -> FlexibleReplay:
        """The motors along their channels in both chains."""
        if isinstance(foreign, str):
            return FlexibleReplay(None, self.full, refused=foreign, played=self.full is not None)
        chains = play_chains(foreign.models, self.performance, frames=self.judged.after.names, monitor=monitor)
        return FlexibleReplay(chains, self.full, foreign.ratios)

    def judge(self, replay: FlexibleReplay) -> Findings:
        """Every foreign judge confirms the predicted error, and there is one."""
        chains, judged, foreign = replay.chains, self.judged, _foreign(replay)
        if chains is None:
            note = f"not made: {replay.refused}; the full-order model judges such characters"
            return [Check("replay in MuJoCo", nan, note=note), foreign], {}
        checks = _chain_checks(chains, replay.ratios, judged, closed=bool(self.performance.character.loops))
        return [*checks, foreign], chains.figures(target=_sampled(judged, chains, target=True))

    def pictures(self, replay: Replay | None) -> Iterator[Picture]:
        """Frames, errors, motors and the search for them."""
        from bunraku.verification.plots.flexible import cost_history, draw_cost, draw_errors, draw_frames, draw_profiles
        from bunraku.verification.plots.joints import draw_joints

        performance, judged = self.performance, self.judged
        words = "Where the tracked frames go: target (grey), wish played as it is (blue), performance (red)"
        yield Picture("frames", draw_frames(judged), words)
        yield Picture("errors", draw_errors(judged), "How far they are from the target")
        yield Picture("motors", draw_profiles(performance), "The motors: wish (grey) and what is played instead")
        if costs := cost_history(performance):
            yield Picture("objective", draw_cost(costs), "The objective by iteration")
        words = "Wish and performance; dashed: limits; shaded: phrases"
        yield Picture("joints", draw_joints(performance), words, last=True)


class ChainModels(NamedTuple):
    """The coarser and the finer chains, and what each mesh has more or less than its beam."""

    models: tuple[ChainModel, ChainModel]
    ratios: dict[str, BeamRatio]


def judged_again(performance: Performance) -> tuple[FlexibleCharacterSystem, Judged]:
    """The reduced model of the character, and the performance simulated with it beside its wish."""
    flexible = flexible_system(performance.character)
    names = _tracked(performance)
    return flexible, judge(flexible, performance.wish, performance.sent(), names)


def _foreign(replay: FlexibleReplay) -> Check:
    """How many judges with other physics ran to the end; not checked where there was none to run."""
    judges = {name: run for name, run in (("MuJoCo", replay.chains), ("full order", replay.full)) if run is not None}
    ran = [name for name, run in judges.items() if not run.lost]
    note = ", ".join(ran) or "`bunraku verify FILE --full-order` computes the full elastic model, which is then remembered"
    return Check(FOREIGN, len(ran) if judges else nan, threshold=1, at_least=True, note=note)


def _tracked(performance: Performance) -> tuple[str, ...]:
    """The places the performer tracked: those whose errors its certificate states; the character's own if there are none."""
    prefix, figures = "rms_error_after_m.", performance.certificate.figures
    stated = [name.removeprefix(prefix) for name in figures if name.startswith(prefix)]
    known = {*(frame.name for frame in performance.character.frames), *(body.name for body in performance.character.bodies)}
    return tracked_places(performance.character, [name for name in stated if name in known])


def _chain_checks(chains: ChainReplay, ratios: dict[str, BeamRatio], judged: Judged, *, closed: bool) -> list[Check]:
    """What MuJoCo's replay says of meshes, loops and errors."""
    meshed = _mesh_check(ratios)
    if chains.lost:
        return [meshed, Check("replay in MuJoCo", inf, threshold=0.0, note=chains.lost)]
    gap = max(run.gap for run in chains.runs)
    peak = float(chains.deviation(_sampled(judged, chains, target=True)).max())
    apart = float(np.sqrt(np.mean(chains.deviation(_sampled(judged, chains, target=False)) ** 2)))
    coarse, fine = (run.links for run in chains.runs)
    words = f"rods as chains of {coarse} and {fine} links, extrapolated"
    return [
        meshed,
        *([Check("loops open in MuJoCo", gap, "m", LOOP_GAP)] if closed else []),
        _confirmed("peak error in MuJoCo", peak, judged.after.peak),
        Check("MuJoCo against the prediction, RMS", apart, "m", note=words),
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
    return Check("mesh against the beam", off[worst], "relative", MESH_THRESHOLD, note=f"most: {worst}")


def _sampled(judged: Judged, chains: ChainReplay, *, target: bool) -> Array:
    """Target or prediction (n, frames, 3) at the times of a replay."""
    path = judged.targets.positions if target else judged.after.seen.positions
    flat = path.reshape(len(path), -1)
    sampled = np.column_stack([np.interp(chains.times, judged.after.times, column) for column in flat.T])
    return sampled.reshape(len(chains.times), *path.shape[1:])


def _full_checks(judged: Judged, full: FullOrderReplay) -> list[Check]:
    words = f"{full.unknowns} unknowns (slender rods of long cells, rescaled), {full.steps_per_s:.2g} steps a second"
    if full.lost:
        return [Check("full-order model", inf, threshold=0.0, note=full.lost)]
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
