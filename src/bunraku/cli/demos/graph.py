"""The demo of the motion graph: standing, crawling and turning strung together at random, replayed in one go."""

from __future__ import annotations

import math
import time

from bunraku.assets.examples import Demo
from bunraku.cli.demos.ground import ground_figures
from bunraku.cli.demos.runner import Addition, DemoTake, Kind
from bunraku.flow.ahead import compile_for
from bunraku.formats.registry import read_character
from bunraku.motion import Check, Gait, Performance
from bunraku.optimization.monitor import Event, Monitor
from bunraku.performers.locomotion.path import perform_path

EDGES, SEED = 20, 1
JUMP = 1e-6
GAITS = {
    "stand": Gait(0.3, distance=(0.0, 0.0), turn=0.0, friction=0.5),
    "crawl": Gait(1.2, "crawl", distance=(0.12, 0.0), turn=0.0, friction=0.5),
    "turn": Gait(1.2, "crawl", distance=(0.0, 0.0), turn=math.radians(20.0), friction=0.5),
}


def played(example: Demo, quick: bool, monitor: Monitor) -> tuple[Performance, None]:
    """The graph built, and a random path through it played."""
    character = read_character(example.character)
    compile_for(example.performer, character, monitor)
    clock = time.thread_time()
    result = perform_path(character, GAITS, edges=EDGES, seed=SEED, monitor=monitor).changed(clip_name=example.clip)
    monitor.report(Event("path", 1.0, "", {"solve_s": time.thread_time() - clock}))
    return result, None


def add(take: DemoTake) -> Addition:
    """How many transitions there were, and how smooth."""
    certified = take.performance.certificate.figures
    figures = ground_figures(take) | {"edges": int(certified["edges"]), "state_jump": certified["jump"]}
    sentence = (
        f"{figures['edges']} transitions in {take.performance.duration:.1f} s of motion; states jump by {certified['jump']:.1e} at "
        f"most; built and played in {take.solve_s:.1f} s"
    )
    return Addition(figures, sentence, [Check("state jump", certified["jump"], "rad, m or per s", JUMP)])


KIND = Kind(add, played)
