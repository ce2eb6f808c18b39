"""Are all demos as good as before? Records what each prints with --json, and compares two such records.

Every demo runs by itself, so that its figures do not depend on the others, without reports and plots; creatures with skins are the
coarse ones, and with ``--full`` the whole ones too. Recorded are the figures, the exit code, the verdict (proven, NOT proven,
refused or crashed) with its sentence, and the wall time; what a file has already is not run again.
To record another version, let PYTHONPATH name its sources. The comparison has one row a demo: exit codes, verdicts, seconds of the
solve, and every other figure that changed by more than one percent. A row is worse when its exit code was 0 and is not, or when it
was verified and is not.

Run: python scripts/compare_demos.py record AFTER.jsonl [DEMO ...] [--full]
     python scripts/compare_demos.py compare BEFORE.jsonl AFTER.jsonl
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

SKINS = ("beetle", "monster", "lizard")
PROGRAM = "from bunraku.cli.main import run; run()"
COMMON = ("demo", "performer", "status", "duration_s", "solve_s", "verified", "exit", "error", "verdict", "said", "wall_s")
CHANGED = 0.01


def bunraku(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command line of whichever sources are found first."""
    words = [sys.executable, "-c", PROGRAM, *arguments]
    return subprocess.run(words, capture_output=True, text=True, check=False)  # noqa: S603 (our own words)


def record(file: Path, names: list[str], full: bool) -> int:
    """Append one line of figures for each demo that the file has not; 1 if any of them did not exit with 0."""
    known = [line.split()[0] for line in bunraku("demo", "--list").stderr.splitlines() if line.strip()]
    chosen = names or known
    wanted = [(name, name.startswith(SKINS)) for name in chosen]
    wanted += [(name, False) for name, skin in wanted if skin and full]
    rows = {row["demo"]: row for row in map(json.loads, file.read_text().splitlines())} if file.exists() else {}
    for name, coarse in wanted:
        title = f"{name} --quick" if coarse else name
        if title not in rows:
            rows[title] = run(name, coarse or not name.startswith(SKINS)) | {"demo": title}
            with file.open("a") as out:
                out.write(json.dumps(rows[title]) + "\n")
        row = rows[title]
        seconds = f"solve {row.get('solve_s') or float('nan'):.3g} s, in all {row.get('wall_s', float('nan')):.0f} s"
        print(f"{title:26}exit {row['exit']}  {row['verdict']:12}{seconds}  {row['said'] if row['exit'] else ''}", flush=True)
    titles = [f"{name} --quick" if coarse else name for name, coarse in wanted]
    proven = sum(rows[title]["exit"] == 0 and rows[title]["verdict"] == "proven" for title in titles)
    print(f"{proven} of {len(titles)} proven")
    return int(proven < len(titles))


def run(name: str, quick: bool) -> dict[str, Any]:
    """One demo: its figures, exit code, verdict and wall time [s]."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        ran = bunraku("demo", name, *["--quick"] * quick, "--json", "-o", folder)
    wall = time.monotonic() - began
    lines = [line.strip() for line in ran.stderr.splitlines() if line.strip()] or [""]
    said = next((line for line in reversed(lines) if line.lower().startswith(("proved", "not proved", "bunraku: "))), lines[-1])
    try:
        figures = json.loads(ran.stdout)
    except json.JSONDecodeError:
        figures = {"error": ran.stderr.strip()[-300:]}
    crashed = "Traceback (most recent call last)" in ran.stderr or ran.returncode < 0 or ran.returncode == 70
    proven = figures.get("verified") is True and ran.returncode == 0
    verdict = "crashed" if crashed else "refused" if ran.returncode == 2 else "proven" if proven else "NOT proven"
    return figures | {"exit": ran.returncode, "verdict": verdict, "said": said[:300], "wall_s": round(wall, 1)}


def compare(before: Path, after: Path) -> int:
    """Print the table; 1 if any demo is worse."""
    old, new = ({row["demo"]: row for row in map(json.loads, file.read_text().splitlines())} for file in (before, after))
    print(f"{'demo':26}{'exit':>10}{'verdict':>26}{'solve s':>22}  other figures, before -> after")
    worse = []
    for name in [*old, *(name for name in new if name not in old)]:
        a, b = old.get(name, {}), new.get(name, {})
        bad = (a.get("exit") == 0 and b.get("exit") != 0) or (a.get("verified") is True and b.get("verified") is not True)
        worse += [name] * bad
        exits, seconds = _pair(a, b, "exit"), _pair(a, b, "solve_s")
        others = [f"{key} {_pair(a, b, key)}" for key in b if key not in COMMON and _changed(a.get(key), b[key])]
        print(f"{name:26}{exits:>10}{_pair(a, b, 'verdict'):>26}{seconds:>22}  {'WORSE  ' if bad else ''}{'; '.join(others)}")
    print(f"worse: {', '.join(worse) or 'none'}")
    return int(bool(worse))


def _pair(a: dict[str, object], b: dict[str, object], key: str) -> str:
    return " -> ".join(f"{x[key]:.4g}" if isinstance(x.get(key), float) else str(x.get(key, "-")) for x in (a, b))


def _changed(a: object, b: object) -> bool:
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return abs(b - a) > CHANGED * max(abs(a), abs(b)) and max(abs(a), abs(b)) > 1e-9
    return a != b


def main() -> int:
    """Record or compare."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    one = verbs.add_parser("record")
    one.add_argument("file", type=Path)
    one.add_argument("names", nargs="*")
    one.add_argument("--full", action="store_true", help="also the whole skins")
    two = verbs.add_parser("compare")
    two.add_argument("before", type=Path)
    two.add_argument("after", type=Path)
    asked = parser.parse_args()
    return record(asked.file, asked.names, asked.full) if asked.verb == "record" else compare(asked.before, asked.after)


if __name__ == "__main__":
    sys.exit(main())
