"""The verdict on a flexible character's performance: recomputed with the reduced model, replayed by judges of other physics.

The reduced model at 0.5 ms recomputes every number of the certificate. MuJoCo replays the channels with rods as chains of rigid
links, stiff and heavy as the catalogue has them (E, I, A, rho), where all flexible parts are beams; where they are not, with parts
as scikit-fem has them. The full elastic model, which takes minutes, replays them when it is asked to, and is remembered. All but
the first share no physics with the prediction: a verdict with replay needs at least one of them.

What is promised is that vibration is suppressed: of what the wish would have made (peak B) only P is left. Another model of the
same character differs a little in frequency; what was planned to cancel then leaves a part of B that grows with this difference
and with the periods over which it has to cancel. So a judge confirms P when it finds at most P + SHARE max(B, P) + FLOOR size.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, nan
from typing import NamedTuple

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.mechanics.flexible.judge import Judged, judge
from bunraku.mechanics.flexible.measures import measure_flexible
from bunraku.mechanics.flexible.places import tracked_places
from bunraku.mechanics.flexible.system import FlexibleCharacterSystem, flexible_system
from bunraku.mechanics.tree import compile_tree
from bunraku.motion import Check, Performance
from bunraku.optimization.monitor import Event, Monitor
from bunraku.verification.agreement import agreement, common_checks
from bunraku.verification.flexible.beam_section import is_beam
from bunraku.verification.flexible.full_order import FullOrderReplay, found_full_order, replay_full_order
from bunraku.verification.flexible.model import ChainModel
from bunraku.verification.flexible.part_model import PartsModel, parts_model
from bunraku.verification.flexible.part_replay import PartsReplay, play_parts
from bunraku.verification.flexible.replay import ChainReplay, chain_models, play_chains
from bunraku.verification.limits import limit_figures
from bunraku.verification.verifier import Findings, Judge, Picture, Replay

CHAIN, CLOSED_CHAIN = ((10, 20), 1e-4), ((6, 12), 5e-5)
"""Links a rod of the two replays in MuJoCo and their step [s]; of characters with loops, whose chains are stiffer in its solver."""

SHARE, FLOOR = 0.04, 3e-4
"""A judge confirms a predicted error when its own is larger by no more than so much of what the wish would make, and of the size.

Our meshes of rods are 0.3 % too stiff: 0.15 % of frequency, 0.3 % of the sag. Of the clips drawn by seeds 201 to 203 chains of the
catalogue's beams then use at most 0.004 of the share, and 0.07 mm of sag; the share is what 2 % of frequency would use.
"""

LOOP_GAP = 1e-3
"""No loop may open wider [m] in MuJoCo, whose loops are held by a stiff solver, not exactly."""

SAME_MODEL = "reduced model against the certificate"

FOREIGN = "judges whose physics is not the reduced model's"
"""The check that counts the replays that were made to the end; a verdict with replay needs one."""


@dataclass(frozen=True, eq=False)
class FlexibleReplay(Replay):
    """The replays that were made: ``chains`` of beams, ``parts`` of any shape, the ``full`` model; ``refused``: why neither."""

    chains: ChainReplay | None
    full: FullOrderReplay | None
    parts: PartsReplay | None = None
    refused: str = ""
    played: bool = True
    motion = None
    rows = ()


class FlexibleJudge(Judge["Chains | PartsModel | str", FlexibleReplay]):
    """The reduced model recomputes, chains or parts replay; ``full_order``: the full model is computed if it was not before.

    With a replay at least one judge that does not share the reduced model's physics must have run.
    """

    recomputed = "Limits and every other number were recomputed from the channels with the reduced model at 0.5 ms."
    replayed = (
        "The channels were replayed in MuJoCo: rods as chains of rigid links of the catalogue's stiffness, or, where a flexible "
        "part is no beam, with elasticity assembled by scikit-fem; and in the full elastic model if it was asked. Motors move "
        "exactly as sent, after the delay they state: how well servos follow is no part of this."
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
        measured = measure_flexible(flexible, performance.wish_or_plan(), performance.sent(), judged, marks)
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
            checks += _full_checks(self.full, self.promise)
            figures |= {"full_order_peak_error_m": self.full.peak, "full_order_rms_error_m": self.full.rms}
        return checks, figures

    def build(self) -> Chains | PartsModel | str:
        """Chains of the catalogue's beams; parts by scikit-fem where one is none, or a motor gives way; or why neither."""
        character, frames = self.performance.character, self.judged.after.names
        links, step = CLOSED_CHAIN if character.loops else CHAIN
        try:
            soft = any(motor.torsional_stiffness is not None for motor in character.motors)
            if not soft and all(is_beam(part) for part in character.flexibles):
                return chain_models(character, frames=frames, links=links, timestep=step)
            return parts_model(character, frames=frames)
        except BadInput as error:
            return str(error)

    def replay(self, foreign: Chains | PartsModel | str, monitor: Monitor) -> FlexibleReplay:
        """The motors along their channels."""
        if isinstance(foreign, str):
            return FlexibleReplay(None, self.full, refused=foreign, played=self.full is not None)
        frames = self.judged.after.names
        if isinstance(foreign, PartsModel):
            guide = self.judged.after.times, self.judged.targets.positions
            parts = play_parts(foreign, self.performance, frames=frames, guide=guide, monitor=monitor)
            return FlexibleReplay(None, self.full, parts)
        return FlexibleReplay(play_chains(foreign, self.performance, frames=frames, monitor=monitor), self.full)

    def judge(self, replay: FlexibleReplay) -> Findings:
        """Every foreign judge confirms the predicted error, and there is one."""
        judged, foreign, promise = self.judged, _foreign(replay), self.promise
        if replay.chains is not None:
            checks = _chain_checks(replay.chains, judged, promise, closed=bool(self.performance.character.loops))
            return [*checks, foreign], replay.chains.figures(target=_sampled(judged, replay.chains, target=True))
        if replay.parts is not None:
            return [*_part_checks(replay.parts, promise), foreign], replay.parts.figures
        note = f"not made: {replay.refused}; the full-order model judges such characters"
        return [Check("replay in MuJoCo", nan, note=note), foreign], {}

    @property
    def promise(self) -> VibrationPromise:
        """What is left of the vibration, and what it is compared with."""
        return vibration_promise(self.performance.character, self.judged)

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


Chains = tuple[ChainModel, ChainModel]


class VibrationPromise(NamedTuple):
    """(peak, RMS) [m] that was predicted ``after`` and ``before``, playing the wish; and the ``size`` [m] of the character."""

    after: tuple[float, float]
    before: tuple[float, float]
    size: float

    def confirmed(self, name: str, found: float, *, rms: bool = False, words: str = "") -> Check:
        """The check that another judge finds no more than was predicted, and a share of what was suppressed."""
        after, before = self.after[rms], max(self.before[rms], self.after[rms])
        note = f"{1e3 * after:.3g} mm were predicted, {1e3 * before:.3g} mm without; at most {SHARE:.0%} of that more"
        threshold = after + SHARE * before + FLOOR * self.size
        return Check(name, found, "m", threshold, note=f"{note}; {words}" if words else note)


def vibration_promise(character: Character, judged: Judged) -> VibrationPromise:
    """The promise of a performance, as the reduced model has it; the size is the longest way between two bodies at home."""
    tree = compile_tree(character)
    at = tree.configuration(tree.home)
    places = np.array([at.pose(name)[1] for name in tree.nodes])
    size = float(np.linalg.norm(places[:, None] - places[None], axis=2).max(initial=0.0))
    after, before = judged.after, judged.before or judged.after
    return VibrationPromise((after.peak, after.rms), (before.peak, before.rms), size)


def judged_again(performance: Performance) -> tuple[FlexibleCharacterSystem, Judged]:
    """The reduced model of the character, and the performance simulated with it beside its wish."""
    flexible = flexible_system(performance.character)
    names = _tracked(performance)
    return flexible, judge(flexible, performance.wish_or_plan(), performance.sent(), names)


def _foreign(replay: FlexibleReplay) -> Check:
    """How many judges with other physics ran to the end; not checked where there was none to run."""
    judges = {
        name: run
        for name, run in (("MuJoCo", replay.chains), ("scikit-fem in MuJoCo", replay.parts), ("full order", replay.full))
        if run is not None
    }
    ran = [name for name, run in judges.items() if not run.lost]
    note = ", ".join(ran) or "`bunraku verify FILE --full-order` computes the full elastic model, which is then remembered"
    return Check(FOREIGN, len(ran) if judges else nan, threshold=1, at_least=True, note=note)


def _tracked(performance: Performance) -> tuple[str, ...]:
    """The places the performer tracked: those whose errors its certificate states; the character's own if there are none."""
    prefix, figures = "rms_error_after_m.", performance.certificate.figures
    stated = [name.removeprefix(prefix) for name in figures if name.startswith(prefix)]
    known = {*(frame.name for frame in performance.character.frames), *(body.name for body in performance.character.bodies)}
    return tracked_places(performance.character, [name for name in stated if name in known])


def _chain_checks(chains: ChainReplay, judged: Judged, promise: VibrationPromise, *, closed: bool) -> list[Check]:
    """What MuJoCo's replay of beams says of loops and errors."""
    if chains.lost:
        return [Check("replay in MuJoCo", inf, threshold=0.0, note=chains.lost)]
    gap = max(run.gap for run in chains.runs)
    off = chains.deviation(_sampled(judged, chains, target=True))
    apart = float(np.sqrt(np.mean(chains.deviation(_sampled(judged, chains, target=False)) ** 2)))
    coarse, fine = (run.links for run in chains.runs)
    words = f"rods as chains of {coarse} and {fine} links, extrapolated, stiff and heavy as the catalogue has them"
    return [
        *([Check("loops open in MuJoCo", gap, "m", LOOP_GAP)] if closed else []),
        promise.confirmed("peak error in MuJoCo", float(off.max())),
        promise.confirmed("RMS error in MuJoCo", float(np.sqrt(np.mean(off**2))), rms=True),
        Check("MuJoCo against the prediction, RMS", apart, "m", note=words),
    ]


def _part_checks(parts: PartsReplay, promise: VibrationPromise) -> list[Check]:
    """What MuJoCo's replay with parts by scikit-fem says of errors."""
    if parts.lost:
        return [Check("replay by scikit-fem", inf, threshold=0.0, note=parts.lost)]
    words = f"{parts.size} coordinates, against poses at rest of the same model"
    return [
        promise.confirmed("peak error by scikit-fem", float(parts.error.max()), words=words),
        promise.confirmed("RMS error by scikit-fem", float(np.sqrt(np.mean(parts.error**2))), rms=True),
    ]


def _sampled(judged: Judged, chains: ChainReplay, *, target: bool) -> Array:
    """Target or prediction (n, frames, 3) at the times of a replay."""
    path = judged.targets.positions if target else judged.after.seen.positions
    flat = path.reshape(len(path), -1)
    sampled = np.column_stack([np.interp(chains.times, judged.after.times, column) for column in flat.T])
    return sampled.reshape(len(chains.times), *path.shape[1:])


def _full_checks(full: FullOrderReplay, promise: VibrationPromise) -> list[Check]:
    words = f"{full.unknowns} unknowns (slender rods of long cells, rescaled), {full.steps_per_s:.2g} steps a second"
    if full.lost:
        return [Check("full-order model", inf, threshold=0.0, note=full.lost)]
    return [
        promise.confirmed("peak error in full order", full.peak, words=words),
        promise.confirmed("RMS error in full order", full.rms, rms=True),
        Check("constraint drift in full order", full.drift, note="the worst of all its constraints [m, or 1 for turns]"),
    ]
