"""Compiling ahead, and saying so: kernels compile once on a machine and stay in Numba's cache on disk.

A group of kernels that was compiled leaves a stamp in that cache: what compiled it, and times and sizes of the sources, by which
Numba itself knows them again. So asking costs nothing and loads no Numba, and a copy of the sources with their caches compiles
nothing. What is missing is compiled in two processes at once, after one line on stderr; when nothing is missing nothing is said.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from bunraku.flow.pace import INTERVAL, Pace, heard_compiling, rounded, teller
from bunraku.optimization.monitor import SILENT, Monitor
from bunraku.performers.warm import GROUPS
from bunraku.system.files import replace
from bunraku.system.folders import numba_cache
from bunraku.system.processor import cores, processor_name

ROOT = Path(__file__).resolve().parent.parent


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
    return numba_cache() / below


def missing(*groups: str) -> list[str]:
    """Those of the groups that are not compiled, or older than their sources, in the order of compilation."""
    compiler = _compiler()
    return [name for name in GROUPS if name in groups and not _compiled(name, compiler)]


def compile_ahead(*groups: str, monitor: Monitor = SILENT) -> None:
    """Compile what is missing of the ``groups`` (keys of `GROUPS`); one line on stderr when there is anything to compile.

    How far it is, and how long it still takes, is reported to the monitor.
    """
    cold = missing(*groups)
    if not cold:
        return
    for name in cold:
        _forget_changed(name)
    here = [name for name in cold if not GROUPS[name].aside]
    aside = [name for name in cold if GROUPS[name].aside]
    if not here or cores() < 2:
        here, aside = aside + here, []
    seconds = max(sum(GROUPS[name].seconds for name in part) for part in (here, aside))
    where = os.environ.get("NUMBA_CACHE_DIR") or cache_folder(ROOT / "mechanics")
    print(
        f"compiling the kernels ({', '.join(GROUPS[name].words or name for name in cold)}): about {rounded(seconds)} s, this once; "
        f"they stay in the cache, here {where} (NUMBA_CACHE_DIR moves it)",
        file=sys.stderr,
        flush=True,
    )
    tell = teller(monitor)
    _compile(here, aside, Pace(here, aside, tell))
    tell(1.0, "compiled")


def compile_here(*groups: str, begin: Callable[[str], None] = lambda group: None) -> None:
    """Compile the ``groups`` in this process, and stamp each; ``begin`` hears of each before."""
    for name in groups:
        begin(name)
        GROUPS[name].warm()
        _stamp(name)


def _compile(here: list[str], aside: list[str], pace: Pace) -> None:
    """One part in this process, where it stays at hand, the other in a process that leaves it in the cache."""
    other = None
    if aside:
        words = [sys.executable, "-c", f"from bunraku.flow.compiling import compile_here; compile_here(*{aside!r})"]
        other = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)  # noqa: S603 (our own words)
    try:
        with heard_compiling(pace.look):
            compile_here(*here, begin=pace.begin)
            if other is not None and _ended(other, aside[-1], pace) != 0:
                compile_here(*aside)
    finally:
        if other is not None and other.poll() is None:
            other.kill()


def _ended(other: subprocess.Popen[bytes], last: str, pace: Pace) -> int:
    """How the other process ended, which compiles up to the group ``last``."""
    pace.begin(last)
    while True:
        try:
            return other.wait(INTERVAL)
        except subprocess.TimeoutExpired:
            pace.look()


def _stamp_file(group: str) -> Path:
    return cache_folder(ROOT) / f"{group}.{sys.implementation.cache_tag}.compiled.json"


def _stamp(group: str) -> None:
    """Note that a group was compiled, and from which sources: those of the kernels loaded by now."""
    loaded = sorted(name for name in sys.modules if name.startswith("bunraku.") and name.endswith("_kernels"))
    sources = [name.replace(".", "/").removeprefix("bunraku/") + ".py" for name in loaded]
    stamp = {"compiler": _compiler(), "sources": {source: _state(source) for source in sources}}
    file = _stamp_file(group)
    with contextlib.suppress(OSError):  # where nothing can be kept Numba keeps nothing either
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_name(f"{file.name}.{os.getpid()}")
        part.write_text(json.dumps(stamp), encoding="utf-8")
        replace(part, file)


def _compiled(group: str, compiler: str) -> bool:
    """Whether this compiler compiled the group from the sources as they are."""
    try:
        stamp = json.loads(_stamp_file(group).read_text(encoding="utf-8"))
        return bool(stamp["compiler"] == compiler and all(_state(file) == state for file, state in stamp["sources"].items()))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def _forget_changed(group: str) -> None:
    """Remove what was compiled of a group when one of its sources has changed: Numba looks at a kernel's own file only.

    Kernels hold the code of those they call, so that an old caller would go on with an old callee.
    """
    try:
        sources = json.loads(_stamp_file(group).read_text(encoding="utf-8"))["sources"]
        changed = any(not (ROOT / source).exists() or _state(source) != state for source, state in sources.items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return
    for source in sources if changed else ():
        path = ROOT / source
        for index in cache_folder(path.parent).glob(f"{path.stem}.*.nbi"):
            with contextlib.suppress(OSError):
                index.unlink()


def _state(source: str) -> list[int]:
    """Time and size of a source, by which Numba too knows whether it has changed."""
    stat = (ROOT / source).stat()
    return [stat.st_mtime_ns, stat.st_size]


def _compiler() -> str:
    """The version of Numba, and the processor, whose code another one may not run."""
    try:
        numba = version("numba")
    except PackageNotFoundError:
        numba = "none"
    return f"numba {numba} on {processor_name()}"
