"""Compiled kernels stay readable: a few named arguments, facts by name and not by position, beside their user."""

from __future__ import annotations

import ast
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src" / "bunraku"
MODULES = {path.relative_to(SOURCE): ast.parse(path.read_text()) for path in sorted(SOURCE.rglob("*.py"))}
DECORATORS = {"njit", "jit"} | {
    node.targets[0].id
    for tree in MODULES.values()
    for node in tree.body
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and isinstance(node.value, ast.Call)
    if isinstance(node.value.func, ast.Name) and node.value.func.id == "njit"
}
ARGUMENTS = 12
WAITING = {"mechanics/coupled/collisions/surface_kernels.py nearest", "mechanics/coupled/collisions/bodies_kernels.py near_pairs"}


def decorators(function: ast.FunctionDef) -> set[str]:
    calls = [one.func if isinstance(one, ast.Call) else one for one in function.decorator_list]
    return {one.id if isinstance(one, ast.Name) else one.attr for one in calls if isinstance(one, (ast.Name, ast.Attribute))}


def kernels(tree: ast.Module) -> list[ast.FunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and decorators(node) & DECORATORS]


def constant(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int)


def positions(function: ast.AST) -> list[str]:
    """Subscripts such as model[3][6]: a place in a tuple of tuples, which a field would name."""
    pairs = [node for node in ast.walk(function) if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Subscript)]
    return [ast.unparse(node) for node in pairs if constant(node.slice) and constant(node.value.slice)]


def test_kernels_take_a_few_arguments() -> None:
    seen, many = 0, {}
    for path, tree in MODULES.items():
        for function in kernels(tree):
            count = len([*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs])
            seen, name = seen + 1, f"{path.as_posix()} {function.name}"
            many |= {name: count} if count > ARGUMENTS and name not in WAITING else {}
    assert seen > 300
    assert not many


def test_kernels_name_their_facts() -> None:
    assert not {f"{path}": found for path, tree in MODULES.items() for f in kernels(tree) if (found := positions(f))}


def test_kernels_stand_beside_their_user() -> None:
    folders = {path.parent for path in MODULES}
    files = {folder: [path.stem for path in MODULES if path.parent == folder and path.stem != "__init__"] for folder in folders}
    assert not [folder for folder, names in files.items() if names and all(name.endswith("_kernels") for name in names)]
    named = [path for path, tree in MODULES.items() if kernels(tree) and not path.stem.endswith("_kernels")]
    assert not named


def test_the_checks_can_fail() -> None:
    tree = ast.parse("@njit(cache=True)\ndef f(" + ", ".join("abcdefghijklm") + "):\n    return a[3][6]")
    (function,) = kernels(tree)
    assert len(function.args.args) > ARGUMENTS
    assert positions(function) == ["a[3][6]"]
