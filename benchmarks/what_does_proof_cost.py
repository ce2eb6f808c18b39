"""What does proof cost? CPU seconds of `perform`, with its proof and with --once, of every built-in clip of three performers.

Each in a process of its own, with kernels that are compiled. Thresholds: with proof at most twice the time without, and 3 s; where
the first attempt does not converge, so that remedies are tried, ten times the first attempt.

Run: python benchmarks/what_does_proof_cost.py [WORD ...]     # those whose character or clip is one of the words
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import bunraku.assets
from bunraku.assets.examples import DEMOS

PERFORMERS = ("speech", "marionette", "locomotion")
SPEAKERS = ("nao", "humanoid")
TIMES, MORE, REMEDIES = 2.0, 3.0, 10.0
BAD_INPUT = 2
PROGRAM = "from bunraku.cli.main import run; run()"
EXHAUSTIVE = True  # half an hour: `bunraku bench` asks it with --exhaustive, or by name


def pairs() -> list[tuple[str, str]]:
    """Who performs what: the demos, and every spoken clip on both speakers."""
    clips = Path(bunraku.assets.__file__).parent / "clips"
    spoken = [(who, file.stem) for who in SPEAKERS for file in sorted(clips.glob("*.wav"))]
    demos = [(demo.character, demo.clip) for demo in DEMOS.values() if demo.performer in PERFORMERS]
    there = [(who, clip) for who, clip in demos if (clips / f"{clip}.clip.yaml").exists()]
    return list(dict.fromkeys(pair for pair in [*spoken, *there] if pair[1] != "full-show"))


def seconds(who: str, clip: str, *more: str) -> tuple[float, int]:
    """User and system time [s] of one run, and its exit code."""
    with tempfile.TemporaryDirectory() as folder:
        words = [sys.executable, "-c", PROGRAM, "perform", who, clip, "-o", str(Path(folder) / "it.performance.npz"), *more]
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime, process.returncode


def main(words: list[str]) -> int:
    """A row a clip; 1 if any costs more than it may."""
    dear = 0
    print(f"{'character':16}{'clip':22}{'once':>8}{'proven':>8}  exit codes")
    for who, clip in pairs():
        if words and not {who, clip} & set(words):
            continue
        once, first = seconds(who, clip, "--once")
        if first == BAD_INPUT:
            continue  # a clip of the other speaker
        proven, second = seconds(who, clip)
        over = proven > (REMEDIES * once if first else TIMES * once + MORE)
        dear += over
        words_more = "  with remedies" * bool(first) + "  TOO DEAR" * over
        print(f"{who:16}{clip:22}{once:7.1f}s{proven:7.1f}s  {first} {second}{words_more}", flush=True)
    print(f"{dear} cost more than they may")
    return int(dear > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
