"""The closing demo: a count, music, and a drummer that bends. Two performers in a chain, and every hit on its beat.

Performed, verified, judged against the beats of the music as they are heard; then filmed with its sound, played on a machine that
is not there, and left as a project that the studio opens.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from bunraku.assets.examples import Demo
from bunraku.cli.demos.flexible import ERRORS
from bunraku.cli.demos.runner import Addition, DemoTake, Figures, Kind, perform_example, picked
from bunraku.motion import Audio, Check, Performance
from bunraku.optimization.monitor import Monitor
from bunraku.rhythm.onsets import onsets
from bunraku.verification.beats import BEAT_THRESHOLD, drum_head, find_hits, tip_heights, tip_heights_in_replay
from bunraku.verification.flexible.judge import FlexibleJudge, FlexibleReplay
from bunraku.verification.verifier import Verdict

STICKS = {"left hit": "left_hand", "right hit": "right_hand"}
"""Which frame holds the stick of which mark."""

BEATS = (
    "hits", "beat_error_ms", "beat_error_before_ms", "beat_error_rms_ms", "beat_error_mujoco_ms", "stick_above_drum_min_mm",
    "stick_above_drum_max_mm", "onset_error_ms",
)  # fmt: skip
"""Figures of the hits."""

ONSET_TOLERANCE = 0.005
"""The beats of the clip are where its drums are heard, to this much [s]."""


def chosen(example: Demo, quick: bool, monitor: Monitor) -> tuple[Performance, None]:
    """The performer is not named: the chain is what suits best."""
    return perform_example(replace(example, performer=""), quick, monitor)


def add(take: DemoTake) -> Addition:
    """What each performer of the chain did, and the hits against the beats; then the film, the dry run, the project."""
    from bunraku.cli.demos.show_folder import leave_show

    result, seen, certified = take.performance, take.verdict.figures, take.performance.certificate.figures
    beats, promises = _beats(result, take.verdict)
    figures = {
        **picked(seen, *ERRORS, "motor_deviation_rms_deg"),
        "iterations": int(certified["iterations"]),
        "motors": int(certified["motors"]),
        "velocity_violations_before": int(certified["velocity_violations_before"]),
        "joints_too_fast": int(certified["joints_too_fast"]),
        **beats,
    }
    return Addition(figures, _sentence(figures), promises, lambda folder: leave_show(folder, result, take.example, take.monitor))


def _beats(result: Performance, verdict: Verdict) -> tuple[Figures, list[Check]]:
    """Beat errors [ms] of the performed motion, of the wish played as it is and of MuJoCo's replay; the promises about them."""
    if not isinstance(verdict.judge, FlexibleJudge) or not isinstance(result.audio, Audio):
        return dict.fromkeys(BEATS), [Check("hits off the beat", math.nan, "s", BEAT_THRESHOLD, note="nothing could be judged")]
    character, judged = result.character, verdict.judge.judged
    names, times = judged.after.names, judged.after.times
    after = find_hits(result.phrases, times, tip_heights(character, names, judged.after.seen, STICKS))
    heard = onsets(result.audio)
    apart = max(float(np.abs(heard - beat).min(initial=np.inf)) for beat in after.beats)
    figures: Figures = {"hits": len(after.beats), "beat_error_ms": 1e3 * after.worst, "beat_error_before_ms": None}
    figures |= {"beat_error_rms_ms": 1e3 * float(np.sqrt((after.errors**2).mean())), "beat_error_mujoco_ms": None}
    promises = [
        Check("beats off the drums that are heard", apart, "s", ONSET_TOLERANCE, note="onsets found in the music"),
        Check("hits off the beat", after.worst, "s", BEAT_THRESHOLD, note=after.sentence),
    ]
    if judged.before is not None:
        before = find_hits(result.phrases, times, tip_heights(character, names, judged.before.seen, STICKS))
        figures["beat_error_before_ms"] = 1e3 * before.worst
        promises.append(Check("hits off the beat, played as wished", before.worst, "s", note=before.sentence))
    chains = verdict.replay.chains if isinstance(verdict.replay, FlexibleReplay) else None
    if chains is not None and not chains.lost:
        again = find_hits(result.phrases, chains.times, tip_heights_in_replay(character, chains, STICKS))
        figures["beat_error_mujoco_ms"] = 1e3 * again.worst
        promises.append(Check("hits off the beat in MuJoCo", again.worst, "s", BEAT_THRESHOLD, note=again.sentence))
    heights = 1e3 * (after.heights - drum_head(character, "stage"))
    figures |= {"stick_above_drum_min_mm": float(heights.min()), "stick_above_drum_max_mm": float(heights.max())}
    figures["onset_error_ms"] = 1e3 * apart
    return {key: value if value is None or math.isfinite(value) else None for key, value in figures.items()}, promises


def _sentence(figures: Figures) -> str:
    """The show in a sentence."""
    worst, before, foreign = (figures[f"beat_error_{which}ms"] for which in ("", "before_", "mujoco_"))
    wished = "" if before is None else f", {before:.1f} ms as wished"
    again = "" if foreign is None else f", {foreign:.1f} ms in MuJoCo"
    if figures["hits"] is None:
        return "the hits could not be judged"
    hits = f"{figures['hits']} hits, " + ("some missed" if worst is None else f"the worst {worst:.1f} ms off its beat")
    off = figures["rms_error_after_m"]
    places = "" if off is None else f"; places off by {1e3 * off:.1f} mm RMS"
    return f"{hits}{wished}{again}{places}; {figures['joints_too_fast']} joints were wished faster than they can go"


KIND = Kind(add, chosen)
