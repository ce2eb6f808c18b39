"""The house rules that a machine can hold: imports go down the ranks, modules stay small, public names are true."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src" / "bunraku"
RANKS = [
    ("arrays", "errors"),
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
        name = ".".join(("bunraku", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")
        module = importlib.import_module(name)
        wrong = [public for public in module.__all__ if not hasattr(module, public) or module.__all__.count(public) > 1]
        untrue |= {name: wrong} if wrong else {}
    assert not untrue


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
