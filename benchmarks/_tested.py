"""Tests run in forked processes: which lines each of them reaches, and which of them fails first when a file is changed.

A process is forked for every question, before anything of Bunraku is imported, so that nothing it changes stays. Lines are seen by
a call that is put before each statement of the files of interest, in this process only: what a test does in another process does
not count. The lines a shared fixture reaches count for every test that uses it. What was seen is kept, by the contents of the test
file and of all modules of Bunraku it loaded. Times are those of the processor, so that another load beside it changes nothing.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import functools
import hashlib
import importlib
import importlib.machinery
import importlib.util
import json
import math
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import pytest

from _mutants import Mutant, blocks

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "src" / "bunraku"
KEPT = ROOT / "build" / "mutants"
WARM = ("numpy", "scipy.signal", "scipy.optimize", "scipy.interpolate", "scipy.sparse.linalg", "scipy.spatial", "numba", "mujoco")
WARM += ("hypothesis", "pydantic", "yaml", "typer", "rich", "_pytest.pytester", "concurrent.futures", "asyncio")
"""What most tests import, so that it is imported once."""
PATIENCE = 8.0
"""A process that waits instead of computing is ended after this many times its seconds."""


def digest(*contents: bytes | str) -> str:
    """Hash of contents."""
    whole = hashlib.sha256()
    for content in contents:
        whole.update(content.encode() if isinstance(content, str) else content)
        whole.update(b"\0")
    return whole.hexdigest()[:24]


def warm() -> None:
    """Import what all children need."""
    for name in WARM:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def forked(work: Callable[[], None], seconds: float) -> tuple[bool, float]:
    """Do something in a process of its own, silently, with some seconds of the processor, and `PATIENCE` times that in all.

    Whether it came to its end, and what it took [s].
    """
    import resource  # not on Windows, where nothing forks either

    child = os.fork()
    if child == 0:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(seconds), math.ceil(seconds)))
        silence = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(silence, descriptor)
        try:
            work()
        finally:
            os._exit(0)
    end = time.monotonic() + PATIENCE * seconds
    ended, status, used = os.wait4(child, os.WNOHANG)
    while not ended and time.monotonic() < end:
        time.sleep(0.02)
        ended, status, used = os.wait4(child, os.WNOHANG)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    if not ended:
        _, _, used = os.wait4(child, 0)
    took = used.ru_utime + used.ru_stime
    return bool(ended) and (status == 0 or took < seconds), took


@contextlib.contextmanager
def own_folder() -> Iterator[Path]:
    """A folder for one child, with a home of its own for pytest."""
    folder = Path(tempfile.mkdtemp(prefix="mutants-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run_pytest(folder: Path, nodes: list[str], plugin: object, *more: str) -> None:
    """Run tests in this process. Of kept results they find reduced flexible parts, and no replays, which a change may touch."""
    shutil.copytree(KEPT / "parts", folder / "cache", dirs_exist_ok=True)
    os.environ["BUNRAKU_CACHE"] = str(folder / "cache")
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT / "src"))
    pytest.main(["-p", "no:cacheprovider", f"--basetemp={folder / 'tests'}", *more, *nodes], plugins=[plugin])


class _Loader(importlib.machinery.SourceFileLoader):
    """Loads a module from other code; kernels in it are left to Python, for a compiled one may be kept from before."""

    def __init__(self, name: str, path: str, code: CodeType, *, compiled: bool) -> None:
        super().__init__(name, path)
        self.code, self.compiled = code, compiled

    def get_code(self, fullname: str) -> CodeType:
        return self.code

    def exec_module(self, module: ModuleType) -> None:
        import numba

        njit = numba.njit
        if not self.compiled:
            numba.njit = lambda *args, **_: args[0] if args and callable(args[0]) else lambda function: function
        try:
            super().exec_module(module)
        finally:
            numba.njit = njit


@dataclass(frozen=True)
class Replaced:
    """Finds modules in other code than that of their files, given by path."""

    codes: dict[str, CodeType]
    compiled: bool = True
    """Whether kernels in them are compiled."""

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> importlib.machinery.ModuleSpec | None:
        if not name.startswith("bunraku."):
            return None
        path = str(SOURCES.joinpath(*name.split(".")[1:])) + ".py"
        if path not in self.codes:
            return None
        return importlib.util.spec_from_file_location(
            name, path, loader=_Loader(name, path, self.codes[path], compiled=self.compiled)
        )


# -- what is reached ---------------------------------------------------------------------------------------------------------------


def watched_code(watched: Collection[Path], entered: Collection[Path]) -> dict[str, CodeType]:
    """Code of files that tells what runs: of ``watched`` files every statement in a function, of ``entered`` the functions (0)."""
    out = {}
    for path in {*watched, *entered}:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        name = str(path.relative_to(ROOT))
        for function in [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]:
            if path.name.endswith("_kernels.py") or any("njit" in ast.unparse(one) for one in function.decorator_list):
                continue  # compiled
            first = 0 if ast.get_docstring(function, clean=False) is None else 1
            documentation, function.body = function.body[:first], function.body[first:]
            for node in [function, *_within(function)] if path in watched else []:
                for block in blocks(node):
                    block[:] = [one for statement in block for one in (_told(name, statement.lineno), statement)]
            function.body = [*documentation, _told(name, 0), *function.body]
        out[str(path)] = compile(ast.fix_missing_locations(tree), str(path), "exec", dont_inherit=True)
    return out


def _within(function: ast.AST) -> Iterator[ast.stmt]:
    """The statements in a function, without those of functions and classes in it."""
    for child in ast.iter_child_nodes(function):
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            if isinstance(child, ast.stmt):
                yield child
            yield from _within(child)


def _told(name: str, line: int) -> ast.stmt:
    place = ast.Tuple([ast.Constant(name), ast.Constant(line)], ast.Load())
    call = ast.Expr(ast.Call(ast.Name("_bunraku_reached", ast.Load()), [place], []))
    return ast.copy_location(call, ast.Pass(lineno=max(line, 1), col_offset=0))


class Reach:
    """A plugin of pytest that writes down which lines of which files each test reaches."""

    def __init__(self, save: Callable[[dict[str, dict[str, Any]]], None]) -> None:
        self.save = save
        self.now: set[tuple[str, int]] = set()
        self.shared: dict[object, set[tuple[str, int]]] = {}
        self.tests: dict[str, dict[str, Any]] = {}
        builtins._bunraku_reached = self.now.add

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Any:
        if fixturedef.scope == "function":
            return (yield)
        before = set(self.now)
        self.now.clear()
        try:
            return (yield)
        finally:
            self.shared[fixturedef] = set(self.now)
            self.now |= before

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Any:
        self.now.clear()
        clock = time.process_time()
        try:
            return (yield)
        finally:
            for fixtures in item._fixtureinfo.name2fixturedefs.values():
                self.now.update(*(self.shared.get(fixture, set()) for fixture in fixtures))
            files: dict[str, list[int]] = {}
            for name, line in sorted(self.now):
                files.setdefault(name, []).append(line)
            entry = self.tests.setdefault(item.nodeid, {"passed": False})
            entry |= {"seconds": time.process_time() - clock, "lines": files}
            self.save(self.tests)

    def pytest_runtest_logreport(self, report: Any) -> None:
        entry = self.tests.setdefault(report.nodeid, {"passed": True})
        entry["passed"] = report.passed and entry["passed"]


def reach(test_file: Path, codes: dict[str, CodeType], *, seconds: float) -> dict[str, Any]:
    """What the tests of a file reach: {tests: {node: {passed, seconds, lines}}, modules: {file: digest}}."""
    place = KEPT / "reach" / (digest(str(test_file.relative_to(ROOT)), *sorted(codes)) + ".json")
    own = digest(test_file.read_bytes(), *(path.read_bytes() for path in _conftests(test_file)))
    if place.exists():
        entry: dict[str, Any] = json.loads(place.read_text())
        if entry["own"] == own and all(_content(name) == content for name, content in entry["modules"].items()):
            return entry

    def save(tests: dict[str, dict[str, Any]]) -> None:
        loaded = [getattr(module, "__file__", None) or "" for module in list(sys.modules.values())]
        ours = sorted(os.path.relpath(name, ROOT) for name in loaded if name.startswith(str(SOURCES)))
        written = {"own": own, "tests": tests, "modules": {name: _content(name) for name in ours}}
        (folder / "reach.json").write_text(json.dumps(written))
        (folder / "reach.json").replace(folder / "whole.json")

    def work() -> None:
        sys.dont_write_bytecode = True
        sys.meta_path.insert(0, Replaced(codes))
        run_pytest(folder, [str(test_file)], Reach(save))

    with own_folder() as folder:
        forked(work, seconds)
        for part in (folder / "cache").glob("part-*.npz"):
            shutil.move(part, KEPT / "parts" / part.name)
        place.parent.mkdir(parents=True, exist_ok=True)
        if (folder / "whole.json").exists():
            shutil.copy(folder / "whole.json", place)
        else:
            place.write_text(json.dumps({"own": own, "tests": {}, "modules": {}}))
    return json.loads(place.read_text())


def _conftests(test_file: Path) -> list[Path]:
    return [folder / "conftest.py" for folder in test_file.parents if ROOT in folder.parents and (folder / "conftest.py").exists()]


@functools.cache
def _content(name: str) -> str:
    path = ROOT / name
    return digest(path.read_bytes()) if path.exists() else ""


# -- what fails --------------------------------------------------------------------------------------------------------------------


class Progress:
    """A plugin of pytest that writes down which test started when, and which failed."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def _write(self, *words: object) -> None:
        with self.place.open("a") as file:
            file.write(json.dumps(words) + "\n")

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._write("start", nodeid, time.process_time())

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self._write("failed", report.nodeid, time.process_time())

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self._write("failed", report.nodeid, time.process_time())

    def pytest_sessionfinish(self) -> None:
        self._write("end", "", time.process_time())


@dataclass(frozen=True)
class Run:
    """What became of a run of tests."""

    failed: str
    """The first test that failed; empty when none did."""
    finished: bool
    ran: int
    unfinished: str
    """The test that ran when time was up."""
    unfinished_seconds: float


def first_failure(nodes: list[str], change: Mutant | None, *, seconds: float) -> Run:
    """Run tests in order, with one file changed, until one fails."""

    def work() -> None:
        sys.dont_write_bytecode = True
        if change:
            code = compile(change.source, str(change.path), "exec", dont_inherit=True)
            sys.meta_path.insert(0, Replaced({str(change.path): code}, compiled=False))
        run_pytest(folder, nodes, Progress(folder / "progress"), "-x")

    with own_folder() as folder:
        finished, took = forked(work, seconds)
        place = folder / "progress"
        lines = [json.loads(line) for line in place.read_text().splitlines()] if place.exists() else []
    started = [(node, at) for word, node, at in lines if word == "start"]
    failed = next((node for word, node, _ in lines if word == "failed"), "")
    if not failed and finished and not any(word == "end" for word, _, _ in lines):
        failed = started[-1][0] if started else "(before any test)"  # the process ended in the middle of it
    unfinished, at = started[-1] if started and not finished and not failed else ("", took)
    return Run(failed, finished, len(started), unfinished, took - at)
