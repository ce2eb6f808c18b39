"""Compiling ahead, and saying so: kernels compile once on a machine and stay in Numba's cache on disk.

Whether they are there is seen from the cache's index files alone (``.nbi``), so that asking costs nothing and imports no Numba.
What is missing is compiled in two processes at once, after one line on stderr; when nothing is missing nothing is said.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class KernelGroup:
    """Kernels that are compiled together: ``warm``, the function of `performers.warm` that does it, and how to know that it did.

    ``last``: the kernels compiled last, as "path/of/module:function". ``seconds``: CPU time it took on one core of a server;
    ``aside``: in the second process, in the order of `GROUPS`.
    """

    warm: str
    last: tuple[str, ...]
    seconds: float
    aside: bool


GROUPS = {
    "retargeting": KernelGroup("warm_retargeting", ("retargeting/inverse_kinematics_kernels:solve_frames",), 13.0, aside=True),
    "control": KernelGroup(
        "warm_control",
        (
            "optimization/control/riccati_kernels:add_rows",
            "mechanics/dynamics/points_kernels:jacobians",
            "mechanics/integrators/trajectory_kernels:linearize",
        ),
        15.0,
        aside=True,
    ),
    "collisions": KernelGroup("warm_collisions", ("mechanics/collision/distance_kernels:least_distances",), 8.0, aside=True),
    "steps": KernelGroup(
        "warm_steps",
        ("mechanics/integrators/discrete_dynamics_kernels:rollout", "mechanics/integrators/discrete_dynamics_kernels:solve_steps"),
        32.0,
        aside=False,
    ),
    "curvature": KernelGroup(
        "warm_curvature",
        ("mechanics/integrators/trajectory_kernels:contract", "optimization/control/riccati_kernels:costates"),
        43.0,
        aside=False,
    ),
    "bending": KernelGroup(
        "warm_bending",
        ("mechanics/integrators/driven/simulate_kernels:motor_forces", "mechanics/integrators/driven/linearization_kernels:spread"),
        100.0,
        aside=True,
    ),
    "locomotion": KernelGroup(
        "warm_locomotion",
        (
            "performers/locomotion/energy_kernels:energy",
            "optimization/blocks/cholesky_kernels:solve_one",
            "mechanics/centroidal/torque_kernels:torques",
        ),
        60.0,
        aside=False,
    ),
    "skin": KernelGroup(
        "warm_skin",
        (
            "performers/skin/spacetime/energy_kernels:energy",
            "mechanics/contact/coulomb_kernels:slope",
            "mechanics/coupled/carried_point_kernels:glue",
        ),
        90.0,
        aside=False,
    ),
    "measures": KernelGroup(
        "warm_measures",
        ("mechanics/collision/distance_kernels:least_distances", "mechanics/measures/balance_kernels:margins"),
        20.0,
        aside=True,
    ),
    "solvers": KernelGroup(
        "warm_solvers",
        ("optimization/chain/scale_kernels:scale_segments", "optimization/smooth_chain/smooth_chain_kernels:tighten"),
        20.0,
        aside=False,
    ),
}
"""In the order of compilation."""


def cache_folder(folder: Path) -> Path:
    """Where Numba keeps what it compiled of the modules in ``folder``.

    By its own rules: NUMBA_CACHE_DIR if set, else beside the modules, else (read-only installation) in the user's cache.
    """
    below = f"{folder.name}_{hashlib.sha1(str(folder).encode(), usedforsecurity=False).hexdigest()}"
    if given := os.environ.get("NUMBA_CACHE_DIR"):
        return Path(given) / below
    beside = folder / "__pycache__"
    if os.access(beside if beside.is_dir() else folder, os.W_OK):
        return beside
    if sys.platform == "win32":
        home = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "numba" / "Cache"
    elif sys.platform == "darwin":
        home = Path.home() / "Library" / "Caches" / "numba"
    else:
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "numba"
    return home / below


def _index(kernel: str) -> Path | None:
    """The newest index file of a kernel ("path/of/module:function") that this Python and this Numba wrote."""
    source, _, function = kernel.partition(":")
    module = ROOT / source
    place = cache_folder(module.parent)
    tag = f"py{sys.version_info.major}{sys.version_info.minor}{getattr(sys, 'abiflags', '')}"
    try:
        numba = version("numba").encode()
    except PackageNotFoundError:
        return None
    found = [path for path in place.glob(f"{module.name}.{function}-*.{tag}.nbi") if numba in path.read_bytes()[:64]]
    return max(found, key=lambda path: path.stat().st_mtime, default=None)


def missing(*groups: str) -> list[str]:
    """Those of the groups that are not compiled, or older than their source, in the order of compilation."""

    def fresh(kernel: str) -> bool:
        source, index = ROOT / f"{kernel.partition(':')[0]}.py", _index(kernel)
        return index is not None and index.stat().st_mtime >= source.stat().st_mtime

    return [name for name, group in GROUPS.items() if name in groups and not all(map(fresh, group.last))]


def compile_ahead(*groups: str) -> None:
    """Compile what is missing of the ``groups`` (keys of `GROUPS`); one line on stderr when there is anything to compile."""
    cold = missing(*groups)
    if not cold:
        return
    here = [GROUPS[name] for name in cold if not GROUPS[name].aside]
    aside = [GROUPS[name] for name in cold if GROUPS[name].aside]
    if not here or _cores() < 2:
        here, aside = aside + here, []
    seconds = max(sum(group.seconds for group in part) for part in (here, aside))
    where = os.environ.get("NUMBA_CACHE_DIR") or cache_folder(ROOT / "mechanics")
    print(
        f"compiling the kernels ({', '.join(cold)}): about {5 * max(1, round(seconds / 5))} s, this once; "
        f"they stay in the cache, here {where} (NUMBA_CACHE_DIR moves it)",
        file=sys.stderr,
        flush=True,
    )
    _compile(here, aside)
    for kernel in (kernel for name in cold for kernel in GROUPS[name].last):
        if index := _index(kernel):  # a source that was only touched needs no compilation: do not ask again
            os.utime(index)


def _compile(here: list[KernelGroup], aside: list[KernelGroup]) -> None:
    """One part in this process, where it stays at hand, the other in a process that leaves it in the cache."""
    other = None
    if aside:
        names = ", ".join(group.warm for group in aside)
        calls = "; ".join(f"{group.warm}()" for group in aside)
        words = [sys.executable, "-c", f"from bunraku.performers.warm import {names}; {calls}"]
        other = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)  # noqa: S603 (our own words)
    try:
        from bunraku.performers import warm

        for group in here:
            getattr(warm, group.warm)()
        if other is not None:
            other.wait(timeout=600)
    finally:
        if other is not None and other.poll() is None:
            other.kill()


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
