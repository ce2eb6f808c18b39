"""What tells whether a character has flexible parts costs a rigid robot nothing."""

from __future__ import annotations

import subprocess
import sys


def test_the_note_on_rigid_parts_loads_neither_meshes_nor_sparse_matrices() -> None:
    program = (
        "import sys; import bunraku.mechanics.flexible.rigid; print([m for m in sys.modules if m in "
        "('scipy', 'numba') or m.startswith(('bunraku.geometry.tet', 'bunraku.mechanics.elastic'))])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
