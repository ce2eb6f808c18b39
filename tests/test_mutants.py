"""The mutants that benchmarks/do_the_tests_kill_mutants.py draws: which changes, where, and what is left alone."""

from __future__ import annotations

from pathlib import Path

from _mutants import mutants_of

SOURCE = '''"""A module: 1 < 2."""
from __future__ import annotations

LIMIT = 0.5
"""A limit of 3."""


@cache(7)
def clipped(value: Range[1] = -2, *, log: bool = False) -> float:
    """Return 4."""
    if value < LIMIT and not log:
        say(f"{value:.3f} is below {LIMIT + 1}")
        raise BadInput("less than", 8)
    tried.append(max(
        value,
        abs(value - 1e-9),
    ))
    return value
'''

EXPECTED = {
    ("LIMIT = 0.5", "LIMIT = 1.0", 0),
    ("-2", "-3", 0),
    ("-2", "(2)", 0),
    ("log: bool = False", "log: bool = True", 0),
    ("value < LIMIT", "(value <= LIMIT)", 11),
    ("value < LIMIT", "(value >= LIMIT)", 11),
    ("value < LIMIT and not log", "(value < LIMIT or not log)", 11),
    ("value < LIMIT and not log", "(not (value < LIMIT and (not log)))", 11),
    ("not log", "(log)", 11),
    ('raise BadInput("less than", 8)', "pass", 13),
    ("abs(value - 1e-9)", "(value - 1e-09)", 14),
    ("value - 1e-9", "(value + 1e-09)", 14),
    ("return value", "return None", 18),
}


def test_each_change_is_one_of_the_code_and_lines_stay(tmp_path: Path) -> None:
    path = tmp_path / "one.py"
    path.write_text(SOURCE)
    mutants = mutants_of(path)
    one_line = {(mutant.source, mutant.reached) for mutant in mutants if mutant.line != 14}
    assert one_line == {(SOURCE.replace(old, new), reached) for old, new, reached in EXPECTED}
    whole = [mutant for mutant in mutants if mutant.line == 14]
    assert {mutant.what for mutant in whole} == {"left out", "min, max"}
    for mutant in mutants:
        compile(mutant.source, "one.py", "exec")
        assert mutant.source.count("\n") == SOURCE.count("\n")
        assert mutant.source.splitlines()[-1].startswith("    return")
