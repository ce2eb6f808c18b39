"""Compiling ahead: said once, in one line, and only when something is missing from Numba's cache."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from bunraku.flow import compiling
from bunraku.flow.compiling import GROUPS, ROOT, cache_folder, compile_ahead, missing

TAG = f"py{sys.version_info.major}{sys.version_info.minor}{sys.abiflags}"
PUPPET = ("retargeting", "control", "collisions", "steps")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    return tmp_path


def fill(*groups: str, numba: str = version("numba")) -> list[Path]:
    """Index files as Numba would leave them; their paths."""
    made = []
    for kernel in (kernel for group in groups for kernel in GROUPS[group].last):
        source, _, function = kernel.partition(":")
        place = cache_folder((ROOT / source).parent)
        place.mkdir(parents=True, exist_ok=True)
        made.append(place / f"{Path(source).name}.{function}-12.{TAG}.nbi")
        made[-1].write_bytes(b"\x80\x04\x95\x0a\x00\x00\x00\x00\x00\x00\x00\x8c\x06" + numba.encode() + b"\x94.")
    return made


def test_a_cold_cache_misses_all_and_a_full_one_nothing(cache: Path) -> None:
    assert missing(*PUPPET) == ["retargeting", "control", "collisions", "steps"]
    fill("control", "steps")
    assert missing(*PUPPET) == ["retargeting", "collisions"]
    fill("retargeting", "collisions")
    assert missing(*PUPPET) == []


def test_what_another_numba_or_an_older_source_left_does_not_count(cache: Path) -> None:
    fill("steps", numba="0.1.0")
    assert missing("steps") == ["steps"]
    made = fill("steps")
    assert missing("steps") == []
    os.utime(made[0], (1.0, 1.0))
    assert missing("steps") == ["steps"]


def test_one_line_when_cold_and_silence_when_warm(
    cache: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    parts: list[list[str]] = []
    monkeypatch.setattr(compiling, "_cores", lambda: 2)
    monkeypatch.setattr(compiling, "_compile", lambda here, aside: parts.extend([g.warm for g in part] for part in (here, aside)))
    compile_ahead(*PUPPET)
    heard = capsys.readouterr()
    assert heard.out == ""
    assert len(heard.err.splitlines()) == 1
    assert all(word in heard.err for word in ("compiling", "once", " s,", str(cache)))
    assert parts == [["warm_steps"], ["warm_retargeting", "warm_control", "warm_collisions"]]
    fill(*PUPPET)
    compile_ahead(*PUPPET)
    assert capsys.readouterr().err == ""
    assert len(parts) == 2


def test_a_source_that_was_only_touched_is_asked_about_once(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in fill("steps"):
        os.utime(path, (1.0, 1.0))
    monkeypatch.setattr(compiling, "_compile", lambda here, aside: None)
    compile_ahead("steps")
    assert missing("steps") == []


def test_numba_keeps_its_cache_where_we_look_and_the_kernels_exist(cache: Path) -> None:
    lines = ["from bunraku.flow.compiling import GROUPS, ROOT, cache_folder", "from importlib import import_module"]
    lines += ["for kernel in {k for g in GROUPS.values() for k in g.last}:", "    source, _, name = kernel.partition(':')"]
    lines += ["    module = import_module('bunraku.' + source.replace('/', '.'))"]
    lines += ["    assert getattr(module, name)._cache.cache_path == str(cache_folder((ROOT / source).parent)), kernel"]
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    alone = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)],
        capture_output=True,
        text=True,
        env={key: value for key, value in os.environ.items() if key != "NUMBA_CACHE_DIR"},
    )
    assert alone.returncode == 0, alone.stderr


def test_importing_bunraku_and_asking_for_help_load_no_numba() -> None:
    words = (
        "import sys, bunraku, bunraku.cli.main as main, bunraku.flow.compiling as c; c.missing(*c.GROUPS); main._run(['--help'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", f"{words}; print('numba' in sys.modules, 'llvmlite' in sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "False False"
