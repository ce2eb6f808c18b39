"""Compiling ahead covers what the first performance needs."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import sys
from numba.core.dispatcher import Dispatcher
from bunraku.performers.warm import warm_measures, warm_solvers
warm_measures()
warm_solvers()

def compiled():
    found = {}
    for module in [m for name, m in sys.modules.items() if name.startswith("bunraku") and name.endswith("_kernels")]:
        found.update({(module.__name__, k): len(v.signatures) for k, v in vars(module).items() if isinstance(v, Dispatcher)})
    return found

before = compiled()
from bunraku.formats.registry import read_character, read_clip
from bunraku.performers.performer import make_performer
make_performer("speech", {"acceleration": 80.0}).perform(read_character("nao"), read_clip("not-done-yet"))
print("NEW", sorted(key for key, count in compiled().items() if count > before.get(key, 0)))
"""


def test_a_performance_after_warming_compiles_nothing() -> None:
    answer = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True).stdout
    assert "NEW []" in answer
