"""The flexible characters of the benchmarks: who moves how, timed and judged alike. No question of its own."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from bunraku.assets.examples import DEMOS
from bunraku.character import Character
from bunraku.cli.demos.runner import Stopwatch
from bunraku.formats.registry import read_character, read_clip
from bunraku.mechanics.flexible.judge import Judged, TrackedError, judge
from bunraku.mechanics.flexible.places import tracked_places
from bunraku.mechanics.flexible.system import FlexibleCharacterSystem, flexible_system
from bunraku.mechanics.integrators.driven.simulate import simulate
from bunraku.motion import Clip, JointCurves, Performance
from bunraku.optimization.monitor import SILENT
from bunraku.performers.vibration.performer import VibrationPerformer
from bunraku.performers.vibration.problem import VibrationProblem

NAMES = ("one-rod", "two-rods", "dancer", "bartender", "rapper", "drummer", "boxer")


@dataclass(frozen=True)
class Case:
    """A built-in character with its clip and the options of its demo."""

    name: str
    character: Character
    clip: Clip
    options: dict[str, Any]

    @property
    def wish(self) -> JointCurves:
        """The curves of the clip."""
        return self.clip.need_joints("a benchmark")

    def performer(self, **more: Any) -> VibrationPerformer:
        """The performer with the options of the demo, some of them replaced."""
        return VibrationPerformer(**{**self.options, **more})

    def problem(self, **more: Any) -> VibrationProblem:
        """What the performer solves."""
        return self.performer(**more).problem(self.character, self.clip, self.wish)

    def perform(self, **more: Any) -> tuple[Performance, float]:
        """The performance and the thread CPU time [s] of its solution, without modelling before and judging after it."""
        watch = Stopwatch(SILENT)
        return self.performer(**more).perform(self.character, self.clip, monitor=watch), watch.seconds

    def part(self, start: float, seconds: float) -> Case:
        """The same with ``seconds`` of the clip from ``start`` on, as many control points a second, emphasis moved along."""
        wish = self.wish
        first, count = round(start * wish.rate), round(seconds * wish.rate) + 1
        joints = JointCurves(wish.names, wish.rate, wish.values[first : first + count])
        emphasis = []
        for mark in self.clip.emphasis:
            begin, end = max(mark.start - start, 0.0), None if mark.end is None else mark.end - start
            if begin < seconds and (end is None or end > begin):
                emphasis.append(replace(mark, start=begin, end=end))
        points = max(8, round((self.options["points"] - 3) * seconds / wish.duration) + 3)
        clip = self.clip.changed(joints=joints, emphasis=tuple(emphasis), phrases=(), words=(), audio=None)
        return replace(self, clip=clip, options={**self.options, "points": points})


@cache
def case(name: str) -> Case:
    """The character called ``name`` as its demo has it."""
    demo = DEMOS[name]
    return Case(name, read_character(demo.character), read_clip(demo.clip), dict(demo.options))


def warm_up() -> None:
    """Compile, or load, all kernels of a retargeting: half a second of the one-rod."""
    case("one-rod").part(0.0, 0.5).perform(max_iterations=3)


def judged(performance: Performance, flexible: FlexibleCharacterSystem | None = None) -> Judged:
    """The performance and its wish at 0.5 ms beside the targets, also with another model of the character."""
    character = performance.character
    model = flexible or flexible_system(character)
    return judge(model, performance.wish, performance.positions(), tracked_places(character))


def steps_per_s(error: TrackedError, times: int = 2) -> float:
    """Steps a second [of thread CPU] of the same motion simulated again."""
    motion = error.motion
    return (len(motion.q) - 1) / spent(lambda: simulate(motion.system, motion.motors, motion.dt, start=motion.q[0]), times)


def spent(run: Any, times: int = 2) -> float:
    """Least thread CPU time [s] of a call."""
    found = []
    for _ in range(times):
        begin = time.thread_time()
        run()
        found.append(time.thread_time() - begin)
    return min(found)


def rms(values: np.ndarray) -> float:
    """Root of the mean square."""
    return float(np.sqrt(np.mean(np.asarray(values) ** 2)))
