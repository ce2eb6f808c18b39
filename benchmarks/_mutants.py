"""Mutants of a source file: one small change each, made in its text in place of a syntax node, so that lines stay where they are.

Changed are comparisons (threshold and direction), arithmetic, numbers and truth values, conditions (negated), "and" and "or", min
and max, any and all, signs, "not" and abs; returned values become None; calls, raises, attributes set, "break" and "continue" are
left out. Not changed: documentation, annotations, decorators, text and its formatting, what an exception says, lines for a log.
"""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

COMPARED = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
CALCULATED = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
RENAMED = {"min": "max", "minimum": "maximum", "any": "all", "argmin": "argmax"}
RENAMED |= {other: name for name, other in RENAMED.items()}
TINY = 1e-6
"""Smaller numbers stay: they keep a division from zero."""
SAID = {"say", "print", "debug", "info", "warning", "warn"}
"""Calls whose only effect is a line to read."""


@dataclass(frozen=True)
class Mutant:
    """One change of one file."""

    path: Path
    line: int
    """First line of the node that changes."""
    reached: int
    """First line of the statement it is in, which a test must run; 0 outside functions, where importing is running."""
    what: str
    before: str
    after: str
    source: str
    """The whole file, changed."""


def mutants_of(path: Path) -> list[Mutant]:
    """All mutants of a file, in the order of its lines."""
    source = path.read_text(encoding="utf-8")
    drawn: dict[str, Mutant] = {}
    for what, node, new, reached in _block(ast.parse(source).body, inside=False):
        changed = _replaced(source, node, new)
        before, after = source.splitlines(), changed.splitlines()
        at = next((k for k, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1]), None)
        if at is not None:
            drawn.setdefault(changed, Mutant(path, at + 1, reached, what, before[at].strip(), after[at].strip(), changed))
    return sorted(drawn.values(), key=lambda mutant: (mutant.line, mutant.what, mutant.after))


def _replaced(source: str, node: ast.AST, new: str) -> str:
    """The source with a node's text replaced; as many line ends as before."""
    lines = source.encode().splitlines(keepends=True)
    start = sum(map(len, lines[: node.lineno - 1])) + node.col_offset
    end = sum(map(len, lines[: node.end_lineno - 1])) + node.end_col_offset
    lost = source.encode()[start:end].count(b"\n") - new.count("\n")
    text = new[:-1] + "\n" * lost + ")" if new.endswith(")") else new + " \\\n" * lost
    return (source.encode()[:start] + text.encode() + source.encode()[end:]).decode()


Change = tuple[str, ast.AST, str, int]


def _block(body: list[ast.stmt], *, inside: bool) -> Iterator[Change]:
    for statement in body:
        yield from _statement(statement, inside=inside)


def _statement(node: ast.stmt, *, inside: bool) -> Iterator[Change]:
    """Changes of a statement and of those within it."""
    if isinstance(node, (ast.Import, ast.ImportFrom, ast.Assert, ast.Global, ast.Nonlocal)):
        return
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        return
    function = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    line = node.lineno if inside else 0
    for what, changed, new in itertools.chain(_left_out(node), *map(_expression, _own_expressions(node))):
        yield what, changed, new, line
    for block in blocks(node):
        yield from _block(block, inside=function or (inside and not isinstance(node, ast.ClassDef)))


def blocks(node: ast.AST) -> list[list[ast.stmt]]:
    """The blocks of statements that stand in a node."""
    own = [value for _, value in ast.iter_fields(node) if isinstance(value, list) and value and isinstance(value[0], ast.stmt)]
    parts = [*getattr(node, "handlers", []), *getattr(node, "cases", [])]
    return own + [part.body for part in parts]


def _own_expressions(node: ast.stmt) -> list[ast.expr]:
    """The expressions of a statement that are computed: neither annotations nor decorators, nor what an exception says."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return [*node.args.defaults, *(default for default in node.args.kw_defaults if default is not None)]
    if isinstance(node, (ast.ClassDef, ast.Raise)):
        return []
    if isinstance(node, (ast.With, ast.AsyncWith)):
        return [item.context_expr for item in node.items]
    fields = [value for name, value in ast.iter_fields(node) if name != "annotation"]
    parts = [part for value in fields for part in (value if isinstance(value, list) else [value])]
    return [part for part in parts if isinstance(part, ast.expr)]


def _left_out(node: ast.stmt) -> Iterator[tuple[str, ast.AST, str]]:
    """Statements that can be left out, values that are not returned, conditions that are negated."""
    if (
        isinstance(node, (ast.Raise, ast.Break, ast.Continue, ast.AugAssign))
        or (isinstance(node, ast.Assign) and all(isinstance(t, (ast.Attribute, ast.Subscript)) for t in node.targets))
        or (isinstance(node, ast.Expr) and isinstance(node.value, (ast.Call, ast.Await)) and _name(node.value) not in SAID)
    ):
        yield "left out", node, "pass"
    elif isinstance(node, ast.Return) and node.value is not None and not (_constant(node.value) and node.value.value is None):
        yield "returned", node, "return None"
    if isinstance(node, (ast.If, ast.While)) and not isinstance(node.test, ast.Constant):
        yield "negated", node.test, f"(not ({ast.unparse(node.test)}))"


def _constant(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant)


def _name(node: ast.expr) -> str:
    """Name of what is called."""
    if isinstance(node, ast.Await):
        return _name(node.value)
    called = node.func if isinstance(node, ast.Call) else node
    return called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""


def _text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)))


def _expression(node: ast.expr) -> Iterator[tuple[str, ast.AST, str]]:
    """Changes of an expression and of those within it."""
    if _text(node) or (isinstance(node, ast.Call) and _name(node) in SAID):
        return
    yield from _changed(node)
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            yield from _expression(child)
        elif isinstance(child, ast.keyword):
            yield from _expression(child.value)
        elif isinstance(child, ast.comprehension):
            yield from _expression(child.iter)
            for test in child.ifs:
                yield "negated", test, f"(not ({ast.unparse(test)}))"
                yield from _expression(test)


def _changed(node: ast.expr) -> Iterator[tuple[str, ast.AST, str]]:
    """Changes of one node."""
    if isinstance(node, ast.Compare):
        for k, operator in enumerate(node.ops):
            for other in COMPARED[type(operator)]:
                yield "comparison", node, _with(node, ops=[*node.ops[:k], other(), *node.ops[k + 1 :]])
    elif isinstance(node, ast.BinOp) and type(node.op) in CALCULATED and not _text(node.left) and not _text(node.right):
        yield "arithmetic", node, _with(node, op=CALCULATED[type(node.op)]())
    elif isinstance(node, ast.BoolOp):
        yield "and, or", node, _with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub, ast.Invert)):
        yield "sign or not", node, f"({ast.unparse(node.operand)})"
    elif isinstance(node, ast.IfExp):
        yield "negated", node, _with(node, test=ast.UnaryOp(ast.Not(), node.test))
    elif isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float)) and not 0.0 < node.value < TINY:
        other = (
            not node.value if isinstance(node.value, bool) else node.value + 1 if isinstance(node.value, int) else 2.0 * node.value
        )
        yield "constant", node, repr(other or (1.0 if isinstance(node.value, float) else other))
    elif isinstance(node, ast.Call) and _name(node) in RENAMED:
        func = copy.copy(node.func)
        setattr(func, "attr" if isinstance(func, ast.Attribute) else "id", RENAMED[_name(node)])
        yield "min, max", node, _with(node, func=func)
    elif isinstance(node, ast.Call) and _name(node) in ("abs", "fabs") and len(node.args) == 1:
        yield "absolute", node, f"({ast.unparse(node.args[0])})"


def _with(node: ast.expr, **fields: object) -> str:
    """Text of a node with some fields changed, in parentheses."""
    other = copy.copy(node)
    for name, value in fields.items():
        setattr(other, name, value)
    return f"({ast.unparse(other)})"
