"""The demos of skinned characters: planned with the skin, proved frame by frame, replayed in MuJoCo, drawn as in the paper."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bunraku.assets.examples import Demo
from bunraku.cli.demo_tail import finish, leading

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bunraku.motion import Check, Performance
    from bunraku.performers.skin.alternate import Alternated
    from bunraku.verification.verify import Verdict

SPEEDS = {"monster-walk": 0.11, "monster-walk-high": 0.06, "monster-trot": 0.45}
"""The paper's speeds [m/s], to be reached in the steady part of the motion within `SPEED_BAR`."""

SPEED_BAR = 0.15

COMPARED = ("beetle-walk",)
"""Demos that are also planned without dynamics, to see how much more that rolls (Fig. 12)."""

ROLLS = 1.5
"""How many times more the body must roll after kinematic planning than after ours."""

QUICK: dict[str, Any] = {"frame": 0.01, "passes": 2, "collisions": False}
"""Options of the quick variants, which take the coarse skin and the short clip of the same names with "-quick"."""

KEYS = (
    "skin_vertices", "glue_vertices", "joints", "mass_kg", "frames", "frame_s", "spacetime_s", "max_torque_nm", "torque_limit_nm",
    "cop_violation_m", "complementarity_residual", "speed_m_s", "foot_clearance_m", "slip_per_step_m", "alternations",
    "support_force_error", "distance_m", "agreement_deg", "contact_s",
)  # fmt: skip
WHOLE = ("skin_vertices", "glue_vertices", "joints", "frames", "alternations")


@dataclass
class Film:
    """Every so many states of each pass: times [s] and places (n, 3) of the skin's nodes, a list a pass."""

    step: float
    every: int = 20
    passes: list[tuple[list[float], list[NDArray[np.float64]]]] = field(default_factory=list)

    def show(self, number: int, state: Any) -> None:
        """Keep a state; the first of a pass begins a list."""
        if number == 1:
            self.passes.append(([], []))
        if number % self.every == 1:
            times, x = self.passes[-1]
            times.append(number * self.step)
            x.append(state.x.copy())


def run(name: str, example: Demo, folder: Path | None) -> tuple[dict[str, Any], int]:
    """Plan, prove, verify, draw; without a folder with the coarse skin and a shorter clip."""
    from bunraku.cli.console import say, watching
    from bunraku.cli.demo_skin_pictures import draw_all
    from bunraku.formats.registry import read_character, read_clip
    from bunraku.motion import Check
    from bunraku.performers.skin.performer import SkinPerformer
    from bunraku.verification.verify import verify

    quick = folder is None
    ending = "-quick" if quick else ""
    character, clip = read_character(example.character + ending), read_clip(example.clip + ending)
    artist = SkinPerformer(**(example.options | (QUICK if quick else {})))
    film = Film(artist.frame)
    with watching() as monitor:
        began = time.thread_time()
        found = artist.alternate(character, clip, show=None if quick else film.show, monitor=monitor)
        seconds = time.thread_time() - began
        result = artist.assemble(character, clip, found)
        verdict = verify(result, monitor=monitor)
    figures = leading(name, result, seconds, verdict) | skin_figures(found, result, verdict)
    promises = _speed_promise(name, figures, quick)
    if folder is not None:
        drawn, ratio = draw_all(folder, artist, found, film, clip, compare=name in COMPARED)
        figures |= drawn
        promises += (
            () if ratio is None else (Check("roll of kinematic planning against ours", ratio, "times", ROLLS, at_least=True),)
        )
    say(_words(result, figures))
    return figures, finish(result, verdict, promises, folder)


def skin_figures(found: Alternated, result: Performance, verdict: Verdict) -> dict[str, Any]:
    """What the demos of skins add to the figures of all demos."""
    certified, replayed = result.certificate.figures, verdict.figures
    figures: dict[str, Any] = {key: int(certified[key]) if key in WHOLE else certified[key] for key in KEYS}
    last = found.passes[-1].tracked
    figures["speed_m_s"] = steady_speed(last.com, last.stands, found.puppet.h)
    if figures["foot_clearance_m"] != figures["foot_clearance_m"]:
        figures["foot_clearance_m"] = None
    figures["replay_distance_error"] = replayed.get("replay_distance_error")
    figures["fell"] = bool(replayed["fell"]) if "fell" in replayed else None
    return figures


def steady_speed(com: NDArray[np.float64], stands: NDArray[np.bool_], h: float) -> float:
    """Mean speed [m/s] over the ground in the middle half of the time between the first lift-off and the last touch-down.

    ``com`` (N + 1, 3) at frames of ``h`` [s], ``stands`` (N, s).
    """
    import numpy as np

    air = np.flatnonzero(~stands.all(axis=1))
    if len(air) < 4:
        return 0.0
    first, last = int(air[0]), int(air[-1]) + 1
    quarter = (last - first) // 4
    a, b = first + quarter, last - quarter
    return float(np.hypot(*(com[b] - com[a])[:2]) / (h * (b - a)))


def _speed_promise(name: str, figures: dict[str, Any], quick: bool) -> tuple[Check, ...]:
    from bunraku.motion import Check

    if quick or name not in SPEEDS:
        return ()
    off = abs(figures["speed_m_s"] / SPEEDS[name] - 1.0)
    return (Check(f"speed against {SPEEDS[name]:g} m/s", off, "", SPEED_BAR),)


def _words(result: Performance, figures: dict[str, Any]) -> str:
    words = (
        f"{result.clip_name}: {figures['distance_m']:.3f} m, {figures['speed_m_s']:.3f} m/s in the middle, "
        f"{figures['frames']} frames of {figures['frame_s']:.3f} s after a plan of {figures['spacetime_s']:.2f} s; "
        f"torques up to {figures['max_torque_nm']:.2f} of {figures['torque_limit_nm']:.2f} N·m; "
        f"{figures['alternations']} pass{'es' if figures['alternations'] > 1 else ''}"
    )
    if figures["fell"] is None:
        return words
    return f"{words}; in the replay {'it fell' if figures['fell'] else 'it did not fall'}"
