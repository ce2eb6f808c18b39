"""How long does compiling take? CPU seconds of each group of kernels from an empty cache, and the slowest kernels.

The bars are those of a clone: all groups 150 s, as `compile_ahead` shares them between two processes, a gesture 20 s with its
imports. Names as arguments compile those groups alone. A kernel's seconds are its own, without those it calls; `x 2` says that it
was compiled for two kinds of arguments.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile

from bunraku.formats.registry import read_character
from bunraku.performers.fit import fit_of
from bunraku.performers.warm import GROUPS

BAR_ALL, BAR_GESTURE, SHOWN = 150.0, 20.0, 15

MEASURE = """
import collections, json, sys, time
from numba.core.event import Listener, install_listener
from bunraku.flow.compiling import compile_here
own, stack = collections.defaultdict(list), []
class Listening(Listener):
    def on_start(self, event):
        stack.append([time.process_time(), 0.0])
    def on_end(self, event):
        began, inner = stack.pop()
        whole = time.process_time() - began
        function = event.data["dispatcher"].py_func
        own[f"{function.__module__}.{function.__qualname__}"].append(whole - inner)
        if stack:
            stack[-1][1] += whole
with install_listener("numba:compile", Listening()):
    compile_here(*sys.argv[1:])
print(json.dumps(own))
"""


def compiled(*groups: str) -> tuple[float, dict[str, list[float]]]:
    """CPU time [s] of compiling the groups in one process from an empty cache, and that of each kernel by its name."""
    with tempfile.TemporaryDirectory() as cache:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        words = [sys.executable, "-c", MEASURE, *groups]
        done = subprocess.run(words, check=True, capture_output=True, text=True, env=os.environ | {"NUMBA_CACHE_DIR": cache})
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    kernels: dict[str, list[float]] = json.loads(done.stdout.splitlines()[-1])
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, kernels


def said(words: str, seconds: float, bar: float) -> bool:
    """Whether the bar is met, said in a line."""
    print(f"{words}: {seconds:.1f} s of CPU (bar {bar:.0f} s): {'met' if seconds <= bar else 'NOT MET'}")
    return seconds <= bar


def main() -> int:
    chosen = [name for name in GROUPS if name in sys.argv[1:]] or list(GROUPS)
    slowest: dict[str, list[float]] = {}
    for name in chosen:
        seconds, kernels = compiled(name)
        print(f"{name:<14}{seconds:7.1f} s  {len(kernels):4d} functions, {sum(map(len, kernels.values())):4d} versions", flush=True)
        for kernel, each in kernels.items():
            slowest[kernel] = max(slowest.get(kernel, []), each, key=sum)
    for kernel, each in sorted(slowest.items(), key=lambda item: -sum(item[1]))[:SHOWN]:
        print(f"  {sum(each):6.2f} s  x {len(each)}  {kernel.removeprefix('bunraku.')}")
    if chosen != list(GROUPS):
        return 0
    parts = [[name for name in GROUPS if GROUPS[name].aside is aside] for aside in (False, True)]
    good = said("all kernels, in two processes", sum(compiled(*part)[0] for part in parts), BAR_ALL)
    gesture = fit_of("speech").groups(read_character("nao"), {})
    return 0 if said("a gesture", compiled(*gesture)[0], BAR_GESTURE) and good else 1


EXHAUSTIVE = True  # takes many minutes: `bunraku bench` asks it with --exhaustive, or by name

if __name__ == "__main__":
    sys.exit(main())
