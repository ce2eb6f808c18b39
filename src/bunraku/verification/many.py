"""Many replays at once, on all cores: each is a simulation of its own, so that their number of threads changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event as Flag
from typing import TypeVar

from bunraku.optimization.monitor import SILENT, Event, Monitor
from bunraku.system.processor import cores
from bunraku.verification.worlds import World

R = TypeVar("R")


def replay_many(
    replay: Callable[[World], R], worlds: Sequence[World], *, threads: int | None = None, monitor: Monitor = SILENT
) -> tuple[R, ...]:
    """The replay of each world, in their order; fewer when the monitor cancels. ``threads`` None: one for each core.

    MuJoCo steps without Python's lock, in every version; each replay has a model and a state of its own.
    """
    threads = cores() if threads is None else threads
    stop = Flag()

    def one(world: World) -> R | None:
        return None if stop.is_set() else replay(world)

    out: list[R] = []
    with ThreadPoolExecutor(max(1, min(threads, len(worlds)))) as pool:
        for i, result in enumerate(pool.map(one, worlds)):
            if result is not None:
                out.append(result)
            monitor.report(Event("replay", (i + 1) / len(worlds), str(getattr(result, "reason", ""))))
            if monitor.cancelled:
                stop.set()
                break
    return tuple(out)
