"""Does BLAS spin beside other work? Process CPU of ``bunraku perform`` with what demos perform, against OMP_NUM_THREADS=1.

A second BLAS thread that waits for a core spins: beside other programs a solve then costs many times its CPU time. Every solve and
every verification holds BLAS to one thread, so both columns should be the same, with the cores free and with a busy loop on each.

Threshold: 15 % in every row.

Run: python benchmarks/does_blas_spin_beside_other_work.py [DEMO ...]
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile

from bunraku.assets.examples import DEMOS

NAMES = ("drummer", "boxer", "marionette", "beetle-lift")
SAME = 0.15
PROGRAM = "from bunraku.cli.main import run; run()"
BUSY = "while True: pass"
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def command(name: str, folder: str) -> list[str]:
    """The words that perform what a demo performs; a creature with a skin as ``demo --quick``."""
    demo = DEMOS[name]
    if demo.performer == "skin":
        return ["demo", name, "--quick", "-o", folder]
    options = [f"--{key.replace('_', '-')}={value}" for key, value in demo.options.items()]
    target = f"{folder}/{name}.performance.npz"
    return ["perform", demo.character, demo.clip, "--performer", demo.performer, "-o", target, *options]


def spent(name: str, one: bool) -> float:
    """User and system CPU [s] of one run, in an environment that says nothing of threads, or one thread."""
    plain = {key: value for key, value in os.environ.items() if key not in THREADS}
    environment = {**plain, "OMP_NUM_THREADS": "1"} if one else plain
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-c", PROGRAM, *command(name, folder)], env=environment, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> int:
    """Print the table; 1 when a row is off by more than the threshold."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", default=list(NAMES))
    names, missed = parser.parse_args().names, 0
    spent(names[0], False)  # compiles, or loads, and remembers parts
    print(f"{'demo':16}{'beside it':16}{'default s':>10}{'one s':>8}{'ratio':>7}")
    for beside in ("nothing", "busy loops"):
        cores = os.cpu_count() or 1
        loops = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(cores if beside == "busy loops" else 0)]
        try:
            for name in names:
                default, one = spent(name, False), spent(name, True)
                met = abs(default / one - 1.0) <= SAME
                missed += not met
                print(f"{name:16}{beside:16}{default:10.1f}{one:8.1f}{default / one:7.2f}{'' if met else '  MISSED'}", flush=True)
        finally:
            for loop in loops:
                loop.kill()
                loop.wait()
    return int(missed > 0)


EXHAUSTIVE = True  # takes many minutes: `bunraku bench` asks it with --exhaustive, or by name

if __name__ == "__main__":
    sys.exit(main())
