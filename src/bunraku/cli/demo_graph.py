"""The demo of the motion graph: standing, crawling and turning strung together at random, replayed in one go."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any

from bunraku.assets.examples import Demo
from bunraku.cli.demo_ground import ground_figures
from bunraku.cli.demo_tail import finish, leading

EDGES, SEED = 20, 1
JUMP = 1e-6


def run(name: str, example: Demo, folder: Path | None) -> tuple[dict[str, Any], int]:
    """Build the graph, play a random path, verify."""
    from bunraku.cli.console import say, watching
    from bunraku.formats.registry import read_character
    from bunraku.motion import Check, Gait
    from bunraku.performers.locomotion.path import perform_path
    from bunraku.verification.verify import verify

    gaits = {
        "stand": Gait(0.3, distance=(0.0, 0.0), turn=0.0, friction=0.5),
        "crawl": Gait(1.2, "crawl", distance=(0.12, 0.0), turn=0.0, friction=0.5),
        "turn": Gait(1.2, "crawl", distance=(0.0, 0.0), turn=math.radians(20.0), friction=0.5),
    }
    with watching() as monitor:
        clock = time.thread_time()
        result = perform_path(read_character(example.character), gaits, edges=EDGES, seed=SEED, monitor=monitor)
        result = result.changed(clip_name=example.clip)
        spent = time.thread_time() - clock
        verdict = verify(result, monitor=monitor)
    certified = result.certificate.figures
    figures = leading(name, result, spent, verdict) | ground_figures(result, verdict)
    figures |= {"edges": int(certified["edges"]), "state_jump": certified["jump"]}
    say(
        f"{figures['edges']} transitions in {result.duration:.1f} s of motion; states jump by {figures['state_jump']:.1e} at most; "
        f"built and played in {spent:.1f} s"
    )
    return figures, finish(result, verdict, (Check("state jump", figures["state_jump"], "rad, m or per s", JUMP),), folder)
