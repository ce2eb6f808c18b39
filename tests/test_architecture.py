"""The house rules that a machine can hold: imports go down the ranks, modules stay small, public names are true."""

from __future__ import annotations

import ast
import functools
import importlib
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "bunraku"
RANKS = [
    ("arrays", "errors"),
    ("system",),
    ("geometry", "optimization", "statistics"),
    ("character", "motion"),
    ("formats", "mechanics", "retargeting", "rhythm", "gait", "building", "editing"),
    ("performers",),
    ("verification", "stage", "fabrication", "design"),
    ("assets",),
    ("flow",),
    ("studio", "study", "batch", "live"),
    ("cli",),
]
RANK = {room: rank for rank, rooms in enumerate(RANKS) for room in rooms}
ONE_WAY = {("motion", "character"), ("optimization", "geometry"), ("retargeting", "formats"), ("retargeting", "mechanics")}
ONE_WAY |= {("formats", "mechanics"), ("retargeting", "rhythm"), ("gait", "mechanics")}
FORBIDDEN = {("verification", "performers"), ("stage", "performers"), ("fabrication", "performers")}
MODULES = sorted(SOURCE.rglob("*.py"))


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_rooms(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("bunraku"):
            names = [node.module] if node.module != "bunraku" else [f"bunraku.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names if alias.name.startswith("bunraku")]
        else:
            continue
        found |= {name.split(".")[1] for name in names if "." in name}
    return found - {"__version__"}


def allowed(room: str, other: str) -> bool:
    return room == other or ((room, other) not in FORBIDDEN and (RANK[other] < RANK[room] or (room, other) in ONE_WAY))


def test_imports_go_down_the_ranks() -> None:
    upward = {}
    for path in MODULES:
        room = room_of(path)
        if room == "__init__":
            continue
        assert room in RANK, f"{room} is no room; see DESIGN"
        wrong = {other for other in imported_rooms(path) if not allowed(room, other)}
        upward |= {str(path.relative_to(SOURCE)): sorted(wrong)} if wrong else {}
    assert not upward


def test_the_import_rule_can_fail() -> None:
    assert not allowed("character", "formats")
    assert not allowed("verification", "performers")
    assert allowed("performers", "mechanics")


def test_performers_do_not_import_each_other() -> None:
    families = [folder for folder in (SOURCE / "performers").iterdir() if folder.is_dir() and folder.name != "__pycache__"]
    for folder in families:
        others = {f"bunraku.performers.{other.name}" for other in families if other != folder}
        for path in folder.rglob("*.py"):
            text = path.read_text()
            assert not any(other in text for other in others), path


def test_modules_stay_small() -> None:
    assert not [str(path.relative_to(SOURCE)) for path in MODULES if path.read_text().count("\n") > 600]


def test_public_names_are_true() -> None:
    untrue = {}
    for path in MODULES:
        if "__all__" not in path.read_text():
            continue
        name = name_of(path)
        module = importlib.import_module(name)
        wrong = [public for public in module.__all__ if not hasattr(module, public) or module.__all__.count(public) > 1]
        untrue |= {name: wrong} if wrong else {}
    assert not untrue


@functools.cache
def syntax(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def name_of(path: Path) -> str:
    return ".".join(("bunraku", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")


def start_of(text: ast.JoinedStr) -> str:
    return str(getattr(text.values[0], "value", ""))


def words_for_modules(path: Path) -> set[str]:
    """Whatever in a file may name a module: imports, strings such as "stage.ros:export_ros", f"bunraku.cli.demos.{kind}"."""
    names: set[str] = set()
    package = name_of(path).split(".") if SOURCE in path.parents else ["bunraku"]
    for node in ast.walk(syntax(path)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names} | {str(node.module)}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            word = node.value.partition(":")[0].replace("-", "_")
            if re.fullmatch(r"[\w.]+", word):
                names |= {word} | {".".join([*package[:depth], word]) for depth in range(1, len(package) + 1)}
        elif isinstance(node, ast.JoinedStr) and re.fullmatch(r"bunraku\.[\w.]+\.", text := start_of(node)):
            names |= {name_of(other) for other in MODULES if name_of(other).rpartition(".")[0] == text.rstrip(".")}
    return names


def unreached(graph: dict[str, set[str]], roots: set[str]) -> set[str]:
    """Modules that no path of names leads to from the roots; who reaches a module reaches its packages."""
    reached, waiting = set(), sorted(roots)
    while waiting:
        if (module := waiting.pop()) in graph and module not in reached:
            reached.add(module)
            waiting += [*graph[module], module.rpartition(".")[0]]
    return set(graph) - reached


def test_a_door_a_lesson_or_a_benchmark_reaches_every_module() -> None:
    graph = {name_of(path): words_for_modules(path) for path in MODULES}
    users = [path for folder in ("examples", "benchmarks", "scripts") for path in (ROOT / folder).rglob("*.py")]
    guides = "\n".join(page.read_text() for page in (ROOT / "docs" / "guide").glob("*.md"))
    documented = re.findall(r"from (bunraku[.\w]+) import", guides)
    roots = {"bunraku", "bunraku.cli.main", *documented}.union(*map(words_for_modules, users))
    assert not unreached(graph, roots)
    assert unreached(graph | {"bunraku.reached_by_nobody": set()}, roots) == {"bunraku.reached_by_nobody"}


def kernels_of(path: Path) -> list[ast.FunctionDef]:
    functions = [node for node in ast.walk(syntax(path)) if isinstance(node, ast.FunctionDef)]
    return [
        function for function in functions if any(re.search("njit|kernel", ast.unparse(mark)) for mark in function.decorator_list)
    ]


def test_kernels_take_at_most_twelve_arguments_and_live_beside_their_user() -> None:
    kernels = {f"{path.relative_to(SOURCE)}:{kernel.name}": kernel for path in MODULES for kernel in kernels_of(path)}
    assert len(kernels) > 300
    assert not {name: len(kernel.args.args) for name, kernel in kernels.items() if len(kernel.args.args) > 12}
    assert not [name for name in kernels if not name.partition(":")[0].endswith("_kernels.py")]
    for folder in {path.parent for path in MODULES}:
        files = [path.name for path in folder.glob("*.py") if path.name != "__init__.py"]
        assert not files or not all(name.endswith("_kernels.py") for name in files), folder


def positions(function: ast.AST) -> list[str]:
    """Subscripts such as model[3][6]: a place in a tuple of tuples, which a field would name."""
    pairs = [node for node in ast.walk(function) if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Subscript)]
    places = [(node, (node.slice, node.value.slice)) for node in pairs]
    return [ast.unparse(node) for node, both in places if all(isinstance(getattr(one, "value", None), int) for one in both)]


def test_kernels_name_their_facts() -> None:
    assert not {str(path): places for path in MODULES for kernel in kernels_of(path) if (places := positions(kernel))}
    assert positions(ast.parse("a[3][6] + b[i][2] + c[0].d[1]")) == ["a[3][6]"]


def test_a_class_name_means_one_thing() -> None:
    places = defaultdict(list)
    for path in MODULES:
        for node in syntax(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(path.relative_to(SOURCE)))
    assert not {name: files for name, files in places.items() if len(files) > 1}


SYSTEM_MODULES = {"curses", "fcntl", "grp", "msvcrt", "posix", "pty", "pwd", "resource", "select", "termios", "tty", "winreg"}
SYSTEM_NAMES = {
    "os": "O_[A-Z]{5,}|sched_.*|[gs]et(uid|euid|gid|egid|pgid|pgrp|sid|priority|loadavg)|fork.*|kill|killpg|mkfifo|mknod|name|nice|"
    "openpty|pipe2?|rename|replace|[fl]?chown|set_blocking|startfile|symlink|link|ttyname|uname|wait|waitpid|cpu_count",
    "signal": "SIG(?!_IGN|_DFL|INT)[A-Z0-9]+|alarm|pause|pthread_.*|set_wakeup_fd|setitimer|sigwait.*",
    "sys": "platform|getwindowsversion",
    "platform": "system|uname|win32_.*|mac_ver|libc_ver",
    "ctypes": "windll|oledll|WinDLL|OleDLL",
    "subprocess": "STARTUPINFO|CREATE_.*",
}
"""What a system has of its own, by module: a pattern for the whole name."""
OPENED_ANYWHERE = {"O_RDONLY", "O_WRONLY", "O_RDWR", "O_CREAT", "O_EXCL", "O_APPEND", "O_TRUNC"}


def of_one_system(tree: ast.AST) -> set[str]:
    """What a module does in a way that not every system knows: modules, names, places in the file system, renamings."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names} & SYSTEM_MODULES
        elif isinstance(node, ast.ImportFrom):
            found |= {str(node.module)} & SYSTEM_MODULES
            names = {alias.name for alias in node.names if re.fullmatch(SYSTEM_NAMES.get(str(node.module), "-"), alias.name)}
            found |= {f"{node.module}.{name}" for name in names - OPENED_ANYWHERE}
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if re.fullmatch(SYSTEM_NAMES.get(node.value.id, "-"), node.attr) and node.attr not in OPENED_ANYWHERE:
                found.add(f"{node.value.id}.{node.attr}")
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found |= (
                {node.value} if re.fullmatch(r"/(dev|etc|proc|sys|tmp|usr|var)(/\S*)?|[A-Za-z]:[/\\\\]\S*", node.value) else set()
            )
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            words, method = len(node.args), node.func.attr
            if (method == "replace" and words == 1 and not node.keywords) or method == "rename":
                found.add(f"{ast.unparse(node.func)}()")
    return found


def test_one_room_knows_the_operating_system() -> None:
    assert not {
        str(path.relative_to(SOURCE)): sorted(found)
        for path in MODULES
        if room_of(path) != "system" and (found := of_one_system(syntax(path)))
    }


@pytest.mark.parametrize(
    "line",
    [
        "import fcntl", "from select import select", "import termios as t", "os.fork()", "os.killpg(1, 2)", "f = os.O_NOFOLLOW",
        "from os import replace", "os.rename(a, b)", "path.replace(other)", "path.rename(other)", "signal.SIGKILL", "signal.SIGHUP",
        "if sys.platform == 'win32': pass", "os.name", "os.getuid()", "os.sched_getaffinity(0)", "os.cpu_count()",
        "open('/proc/meminfo')", "Path('/tmp')", "Path('C:/Windows')", "import resource",
    ],
)  # fmt: skip
def test_the_rule_of_the_one_room_can_fail(line: str) -> None:
    assert of_one_system(ast.parse(line))


def test_what_every_system_does_may_be_done_anywhere() -> None:
    text = (
        "os.open(p, os.O_RDONLY | os.O_CREAT); 'a'.replace('b', 'c'); replace(path, other); signal.signal(signal.SIGINT, f); os.sep"
    )
    assert not of_one_system(ast.parse(text))


def without_encoding(tree: ast.AST) -> list[str]:
    """Calls that read or write text in whatever encoding the system takes for the usual one."""
    found = []
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        words = {word.arg for word in call.keywords}
        name = getattr(call.func, "attr", getattr(call.func, "id", ""))
        modes = [one.value for one in call.args if isinstance(one, ast.Constant) and re.fullmatch("[rwax+bt]{1,3}", str(one.value))]
        opened = (
            name == "open" and (isinstance(call.func, ast.Name) or "mode" in words or modes) and not any("b" in m for m in modes)
        )
        texts = name in ("read_text", "write_text", "TextIOWrapper", "FileHandler") or opened
        piped = name in ("run", "Popen", "check_output") and words & {"text", "universal_newlines"}
        if (texts or piped) and "encoding" not in words:
            found.append(ast.unparse(call))
    return found


def test_text_has_an_encoding() -> None:
    assert not {str(path.relative_to(SOURCE)): calls for path in MODULES if (calls := without_encoding(syntax(path)))}
    lines = ["p.read_text()", "f(x).write_text(y)", "open(p)", "open(p, 'w')", "run(words, text=True)", "p.open(mode='r')"]
    assert all(without_encoding(ast.parse(line)) for line in lines)
    assert not without_encoding(ast.parse("open(p, 'rb'); p.read_text(encoding='utf-8'); os.open(p, f); running.open()"))


def glossary() -> tuple[set[str], set[str]]:
    """What the glossary excludes: identifiers (in code style), and phrases of the docs."""
    rows = [
        line.strip("| ").split(" | ")
        for line in (ROOT / "docs" / "glossary.md").read_text().splitlines()
        if line.startswith("| **")
    ]
    words = {word.strip() for row in rows for word in row[2].split(",")} - {"–"}
    return {word.strip("`") for word in words if word.startswith("`")}, {word for word in words if not word.startswith("`")}


def test_the_glossary_holds() -> None:
    identifiers, phrases = glossary()
    assert {"wanted", "goal"} <= identifiers
    for path in MODULES:
        names = {getattr(node, key, None) for node in ast.walk(syntax(path)) for key in ("id", "attr", "arg", "name")}
        assert not names & identifiers, path
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        if page.name != "glossary.md" and "_build" not in page.parts:
            text = " ".join(page.read_text().lower().split())
            assert not [phrase for phrase in phrases if re.search(rf"\b{re.escape(phrase)}\b", text)], page


def test_help_imports_nothing_heavy() -> None:
    script = (
        "import sys; sys.argv = ['bunraku', '--help']\n"
        "from bunraku.cli.main import run\n"
        "try: run()\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'scipy', 'numba', 'mujoco', 'matplotlib', 'pydantic', 'yaml'} & set(sys.modules)\n"
        "print('HEAVY', sorted(heavy))"
    )
    output = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert "HEAVY []" in output
