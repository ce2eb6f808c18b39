"""What commands load: choosing a performer reads fits, and performing loads the one that was chosen."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("mujoco", "matplotlib", "viser", "scipy.signal", "scipy.interpolate", "scipy.optimize", "bunraku.mechanics.flexible")
"""What neither command needs for a rigid robot with a voice."""

OTHERS = (
    "bunraku.performers.vibration.performer",
    "bunraku.performers.marionette.performer",
    "bunraku.performers.locomotion.performer",
    "bunraku.performers.skin.performer",
    "bunraku.performers.speech.baselines",
    "bunraku.performers.chain",
    "bunraku.retargeting.retarget",
)
"""Performers and solvers that were not chosen."""

SOLVERS = ("numba", "llvmlite", "scipy", "bunraku.performers.speech.performer", "bunraku.mechanics.tree")
"""What is loaded only where something is solved."""

PROGRAM = """
import sys
from bunraku.cli.main import _run
code = _run(sys.argv[2:])
print("LOADED", code, *sorted(name for name in sys.argv[1].split(",") if name in sys.modules))
"""


@pytest.mark.parametrize(
    ("words", "unwanted"),
    [
        (("inspect", "nao"), HEAVY + OTHERS + SOLVERS),
        (("perform", "nao", "not-done-yet", "--once", "-o", "{folder}/out.performance.npz"), HEAVY + OTHERS),
    ],
    ids=["inspect", "perform"],
)
def test_what_is_not_needed_is_not_loaded(words: tuple[str, ...], unwanted: tuple[str, ...], tmp_path: Path) -> None:
    words = tuple(word.format(folder=tmp_path) for word in words)
    done = subprocess.run([sys.executable, "-c", PROGRAM, ",".join(unwanted), *words], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1:] == ["LOADED 0"], done.stdout + done.stderr
