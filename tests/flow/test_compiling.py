"""Compiling ahead: said once, in one line, and only when something is missing from Numba's cache."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bunraku.flow import compiling
from bunraku.flow.compiling import GROUPS, ROOT, compile_ahead, missing
from bunraku.flow.pace import Pace
from bunraku.formats.registry import read_character
from bunraku.performers.fit import REGISTRY, fit_of
from bunraku.performers.warm import KernelGroup

PUPPET = ("retargeting", "control", "collisions", "steps")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    return tmp_path


def fill(*groups: str) -> None:
    """The stamps of groups that were compiled."""
    for group in groups:
        compiling._stamp(group)


def test_a_cold_cache_misses_all_and_a_full_one_nothing(cache: Path) -> None:
    assert missing(*PUPPET) == ["retargeting", "control", "collisions", "steps"]
    fill("control", "steps")
    assert missing(*PUPPET) == ["retargeting", "collisions"]
    fill("retargeting", "collisions")
    assert missing(*PUPPET) == []


def test_what_another_numba_or_another_source_left_does_not_count(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import bunraku.mechanics.tree.tree_kernels  # noqa: F401 (a source to be stamped)

    fill("steps")
    assert missing("steps") == []
    file = compiling._stamp_file("steps")
    stamp = json.loads(file.read_text())
    stamp["sources"]["mechanics/tree/tree_kernels.py"][0] += 1
    file.write_text(json.dumps(stamp))
    assert missing("steps") == ["steps"]
    fill("steps")
    assert missing("steps") == []
    file.write_text("damaged")
    assert missing("steps") == ["steps"]
    fill("steps")
    monkeypatch.setattr(compiling, "version", lambda _: "0.1.0")
    assert missing("steps") == ["steps"]


def test_kernels_that_call_a_changed_one_are_forgotten(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import bunraku.mechanics.tree.tree_kernels

    caller = compiling.cache_folder(ROOT / "mechanics" / "dynamics") / "equation_kernels.gradient-1.py311.nbi"
    caller.parent.mkdir(parents=True, exist_ok=True)
    caller.touch()
    import bunraku.mechanics.dynamics.equation_kernels  # noqa: F401 (what stands for a caller)

    monkeypatch.setitem(GROUPS, "steps", KernelGroup(lambda: None, 1.0, aside=False))
    fill("steps")
    monkeypatch.setattr(compiling, "version", lambda _: "0.1.0")
    compile_ahead("steps")
    assert caller.exists(), "no source has changed"
    file = compiling._stamp_file("steps")
    stamp = json.loads(file.read_text())
    stamp["sources"]["mechanics/tree/tree_kernels.py"][0] += 1
    file.write_text(json.dumps(stamp))
    compile_ahead("steps")
    assert not caller.exists()


def test_one_line_when_cold_and_silence_when_warm(
    cache: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    parts: list[list[str]] = []
    monkeypatch.setattr(compiling, "cores", lambda: 2)
    monkeypatch.setattr(compiling, "_compile", lambda here, aside, pace: parts.extend((here, aside)))
    compile_ahead(*PUPPET)
    heard = capsys.readouterr()
    assert heard.out == ""
    assert len(heard.err.splitlines()) == 1
    assert all(word in heard.err for word in ("compiling", "once", " s,", str(cache)))
    assert parts == [["steps"], ["retargeting", "control", "collisions"]]
    fill(*PUPPET)
    compile_ahead(*PUPPET)
    assert capsys.readouterr().err == ""
    assert len(parts) == 2


def test_what_is_compiled_here_and_aside_is_stamped(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(GROUPS, "nothing", KernelGroup(lambda: None, 0.0, aside=False))
    begun: list[str] = []
    pace = Pace(["nothing"], [], lambda share, words: begun.append(words))
    compiling._compile(["nothing"], [], pace)
    assert begun == ["about 1 s left: nothing"]
    assert missing("nothing") == []


def test_a_copy_of_the_sources_with_their_caches_compiles_nothing(tmp_path: Path) -> None:
    environment = {key: value for key, value in os.environ.items() if key not in ("NUMBA_CACHE_DIR", "PYTHONPATH")}

    def ask(tree: str, program: str) -> str:
        words = [sys.executable, "-c", f"import bunraku.flow.compiling as c, bunraku.mechanics.tree.tree_kernels; {program}"]
        environment["PYTHONPATH"] = str(tmp_path / tree)
        return subprocess.run(words, capture_output=True, text=True, check=True, env=environment).stdout.strip()

    shutil.copytree(ROOT, tmp_path / "one" / "bunraku", ignore=shutil.ignore_patterns("__pycache__", "assets"))
    assert ask("one", "c._stamp('steps'); print(c.missing('steps', 'skin'))") == "['skin']"
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    assert ask("two", "print(c.missing('steps'))") == "[]"
    (tmp_path / "two" / "bunraku" / "mechanics" / "tree" / "tree_kernels.py").touch()
    assert ask("two", "print(c.missing('steps'))") == "['steps']"


def test_numba_keeps_its_cache_where_we_look(cache: Path) -> None:
    module = "mechanics/tree/tree_kernels"
    lines = ["from bunraku.flow.compiling import ROOT, cache_folder", "from bunraku.mechanics.tree import tree_kernels"]
    lines += ["kernel = next(k for k in vars(tree_kernels).values() if hasattr(k, '_cache'))"]
    lines += [f"assert kernel._cache.cache_path == str(cache_folder((ROOT / {module!r}).parent)), kernel"]
    for unset in ("", "NUMBA_CACHE_DIR"):
        environment = {key: value for key, value in os.environ.items() if key != unset}
        done = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr


def test_performers_name_groups_that_there_are() -> None:
    characters = [read_character(name) for name in ("nao", "marionette", "cart-pendulum")]
    assert {group for name in REGISTRY for who in characters for group in fit_of(name).kernels(who)} <= set(GROUPS)


def test_a_gesture_compiles_what_its_motors_and_options_need() -> None:
    nao, limited = read_character("nao"), read_character("humanoid")
    assert fit_of("speech").groups(nao, {"intensity": 0.8, "acceleration": 0.0}) == ("chain", "measures")
    assert fit_of("speech").groups(nao, {"acceleration": 80.0}) == ("chain", "measures", "smooth chain")
    assert "smooth chain" in fit_of("speech").groups(limited, {})
    assert "smooth chain" in fit_of("speech+vibration").groups(nao, {"jerk": 1e3})
    assert fit_of("clamp").groups(nao, {"acceleration": 80.0}) == ("measures",)


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
