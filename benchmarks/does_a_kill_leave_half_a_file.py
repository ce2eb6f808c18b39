"""Does killing `bunraku perform` at random moments ever leave half a file, and does --resume give the same result?

Kills a real process group with SIGKILL at uniformly random moments of its life, 100 times; after each kill the output
must be absent or whole and identical, no temporary file may look like an output, and the resumed run must end with the
same bytes.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

WRITTEN = (0, 1)
"""Exit codes after which the output is there: with waves in the legs the robot would tip, which is a check that fails."""


def make_clip(folder: Path, seconds: float = 60.0) -> Path:
    """A minute of gestures for all driven joints of the NAO, much of it too fast, as CSV."""
    from bunraku.formats.registry import read_character, write_clip
    from bunraku.motion import Clip, JointCurves, MotionLimits

    limits = MotionLimits.of(read_character("nao"))
    t = np.arange(int(seconds * 100)) / 100.0
    rng = np.random.default_rng(3)
    middle, half = (limits.lower + limits.upper) / 2, (limits.upper - limits.lower) / 2
    waves = sum(np.sin(2 * np.pi * rng.uniform(0.1, 1.5, half.size) * t[:, None] + rng.uniform(0, 6, half.size)) for _ in range(4))
    path = folder / "long.csv"
    write_clip(path, Clip("long", joints=JointCurves(limits.names, 100.0, middle + 0.3 * half * waves)))
    return path


def command(clip: Path, output: Path, *more: str) -> list[str]:
    return [sys.executable, "-m", "bunraku.cli.main", "perform", "nao", str(clip), "-o", str(output), *more]


def perform(clip: Path, output: Path, *more: str) -> None:
    """Run to the end."""
    code = subprocess.run(command(clip, output, *more), check=False, stderr=subprocess.DEVNULL).returncode
    if code not in WRITTEN:
        raise SystemExit(f"bunraku perform ended with {code}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    kills = parser.parse_args().kills
    rng = random.Random(7)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        clip, whole = make_clip(folder), folder / "whole.performance.npz"
        for _ in range(2):
            clock = time.monotonic()
            perform(clip, whole)
            lasted = time.monotonic() - clock
        expected = whole.read_bytes()
        halves = different = finished = resumed = 0
        for _ in range(kills):
            output = folder / "out.performance.npz"
            process = subprocess.Popen(command(clip, output), stderr=subprocess.DEVNULL, start_new_session=True)
            time.sleep(rng.uniform(0.0, 1.05 * lasted))
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            finished += process.wait() in WRITTEN
            halves += output.exists() and output.read_bytes() != expected
            resumed += (folder / "out.performance.npz.checkpoint").exists()
            perform(clip, output, "--resume")
            different += output.read_bytes() != expected
            for left in folder.glob("out.*"):
                left.unlink()
        print(
            f"a run lasts {lasted:.2f} s; killed {kills - finished} of {kills} before the end, {resumed} of them left a checkpoint"
        )
        print(f"half-written outputs: {halves}; different after --resume: {different}")
    return 1 if halves or different or resumed == 0 else 0


EXHAUSTIVE = True  # takes many minutes: `bunraku bench` asks it with --exhaustive, or by name

if __name__ == "__main__":
    sys.exit(main())
