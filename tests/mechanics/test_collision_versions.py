"""Each kernel of distances is compiled for one kind of arguments: whole numbers written into a call would be kinds of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import json
import numpy as np
from numba.core.dispatcher import Dispatcher
from bunraku.mechanics.collision import distance_kernels, penetration_kernels, support_kernels
y, room = np.ones((4, 3)), np.ones(4)
distance_kernels.reduce_simplex(y, 4, room, room.copy(), np.ones(3))
kernels = [k for module in (distance_kernels, penetration_kernels, support_kernels) for k in vars(module).values()]
compiled = [kernel for kernel in kernels if isinstance(kernel, Dispatcher) and kernel.signatures]
print(json.dumps({kernel.py_func.__name__: len(kernel.signatures) for kernel in compiled}))
"""


def test_no_kernel_of_distances_is_compiled_twice(tmp_path: Path) -> None:
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, env=environment)
    versions = json.loads(done.stdout)
    assert versions["nearest_on_segment"] == 1
    assert set(versions.values()) == {1}, versions
