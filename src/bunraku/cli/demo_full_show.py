"""The closing demo: a count, music, and a drummer that bends. Two performers in a chain, and every hit on its beat.

Performed, verified, judged against the beats of the music as they are heard; then filmed with its sound, played on a machine that
is not there, and left as a project that the studio opens.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bunraku.assets.examples import Demo
from bunraku.cli.demo_tail import Stopwatch, finish, leading

if TYPE_CHECKING:
    from bunraku.motion import Check, Clip, Performance
    from bunraku.verification.verify import Verdict

STICKS = {"left hit": "left_hand", "right hit": "right_hand"}
"""Which frame holds the stick of which mark."""

_JUDGED = (
    "hits", "beat_error_ms", "beat_error_before_ms", "beat_error_rms_ms", "beat_error_mujoco_ms", "stick_above_drum_min_mm",
    "stick_above_drum_max_mm", "onset_error_ms",
)  # fmt: skip

ONSET_BAR = 0.005
"""The beats of the clip are where its drums are heard, to this much [s]."""


def run(name: str, example: Demo, folder: Path | None) -> tuple[dict[str, Any], int]:
    """Perform by the chain, verify, judge the hits, film, play, leave a project."""
    from bunraku.cli.console import say, watching
    from bunraku.cli.show_folder import leave_show
    from bunraku.formats.registry import read_character, read_clip
    from bunraku.performers.cast import cast
    from bunraku.performers.choose import choose_performer
    from bunraku.verification.verify import verify

    character, clip = read_character(example.character), read_clip(example.clip)
    choice = choose_performer(character, clip)
    say(f"performer: {choice.name} ({choice.reason})")
    made = cast(character, clip, choice, example.options)
    with watching() as monitor:
        watch = Stopwatch(monitor)
        result = made.noted(made.performer.perform(character, clip, monitor=watch))
        verdict = verify(result, monitor=monitor)
        figures = leading(name, result, watch.seconds, verdict) | _numbers(result, verdict)
        beats, promises = _beats(clip, result, verdict)
        figures |= beats
        say(_sentence(figures))
        if folder is not None:
            more, kept = leave_show(folder, result, example, choice.name, monitor)
            figures |= more
            promises += kept
    return figures, finish(result, verdict, promises, folder)


def _numbers(result: Performance, verdict: Verdict) -> dict[str, Any]:
    """What each performer of the chain did: how far the wish outran the motors, how far places were off before and after."""
    certified = result.certificate.figures
    keys = ("peak_error_before_m", "peak_error_after_m", "rms_error_before_m", "rms_error_after_m", "motor_deviation_rms_deg")
    excess = [check.value for check in result.certificate.checks if check.name.startswith("speech: excess travel")]
    return {
        **{key: verdict.figures.get(key) for key in keys},
        "iterations": int(certified["iterations"]),
        "motors": int(certified["motors"]),
        "velocity_violations_before": int(certified["velocity_violations_before"]),
        "joints_too_fast": len(excess),
    }


def _beats(clip: Clip, result: Performance, verdict: Verdict) -> tuple[dict[str, Any], tuple[Check, ...]]:
    """Beat errors [ms] of the performed motion, of the wish played as it is and of MuJoCo's replay; the promises about them."""
    import numpy as np

    from bunraku.motion import Check
    from bunraku.rhythm.onsets import onsets
    from bunraku.verification.beats import BEAT_BAR, drum_head, find_hits, tip_heights, tip_heights_in_replay
    from bunraku.verification.flexible.judge import FlexibleVerdict

    replay = verdict.replay
    if not isinstance(replay, FlexibleVerdict) or clip.audio is None:
        return dict.fromkeys(_JUDGED), (Check("hits off the beat", math.nan, "s", BEAT_BAR, note="nothing could be judged"),)
    character, judged = result.character, replay.judged
    names, times = judged.after.names, judged.after.times
    after = find_hits(result.phrases, times, tip_heights(character, names, judged.after.seen, STICKS))
    heard = onsets(clip.audio)
    apart = [float(np.abs(heard - beat).min(initial=np.inf)) for beat in after.beats]
    figures: dict[str, Any] = {"hits": len(after.beats), "beat_error_ms": 1e3 * after.worst, "beat_error_before_ms": None}
    figures |= {"beat_error_rms_ms": 1e3 * float(np.sqrt((after.errors**2).mean())), "beat_error_mujoco_ms": None}
    promises = [
        Check("beats off the drums that are heard", max(apart), "s", ONSET_BAR, note="onsets found in the music"),
        Check("hits off the beat", after.worst, "s", BEAT_BAR, note=after.sentence),
    ]
    if judged.before is not None:
        before = find_hits(result.phrases, times, tip_heights(character, names, judged.before.seen, STICKS))
        figures["beat_error_before_ms"] = 1e3 * before.worst if math.isfinite(before.worst) else None
        promises.append(Check("hits off the beat, played as wished", before.worst, "s", note=before.sentence))
    if replay.chains is not None and not replay.chains.lost:
        seen = tip_heights_in_replay(character, replay.chains, STICKS)
        again = find_hits(result.phrases, replay.chains.times, seen)
        figures["beat_error_mujoco_ms"] = 1e3 * again.worst
        promises.append(Check("hits off the beat in MuJoCo", again.worst, "s", BEAT_BAR, note=again.sentence))
    heights = 1e3 * (after.heights - drum_head(character, "stage"))
    figures |= {"stick_above_drum_min_mm": float(heights.min()), "stick_above_drum_max_mm": float(heights.max())}
    figures["onset_error_ms"] = 1e3 * max(apart)
    return {key: value if value is None or math.isfinite(value) else None for key, value in figures.items()}, tuple(promises)


def _sentence(figures: dict[str, Any]) -> str:
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
