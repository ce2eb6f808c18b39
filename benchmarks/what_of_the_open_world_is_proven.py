"""What of the open world is proven? Cases that nobody tuned for, performed and verified with no option touched; a rate a kind.

| kind | drawn at random |
|---|---|
| gaits | gaits on built-in robots with legs and wheels, and on robots drawn from components |
| mocap | windows of captured motion on NAO, humanoid and humanoids of other makers |
| clips | curves of the motors of every flexible character, and of chains of rods |
| puppets | windows of captured motion on the marionette |
| skins | walks on creatures in coarse skins |

Every case goes through `bunraku perform` and `bunraku verify`, each in a process of its own (`_open_run` says what counts as what).
A seed and a number make a case, whichever others are drawn; none is dropped. Seeds are for development; ``--judging`` draws from
seeds 9000 to 9999, which are for judging alone: rates are printed and kept, and nothing that would tell a case. Rows are appended
to a file as they come; the same command goes on with what is missing.

Threshold: nothing broken, no empty green.

Run: python benchmarks/what_of_the_open_world_is_proven.py [--kind gaits] [--cases 8] [--seed 1] [--number 3] [--budget 600]
     [--jobs 1] [--rows FILE.jsonl] [--keep FOLDER] [--judging]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import _open_clips
import _open_gaits
import _open_mocap
import _open_skins
from _open_case import JUDGING, OpenCase
from _open_run import examine
from _open_table import table

DATA = Path(os.environ.get("BUNRAKU_SHARED", Path(__file__).resolve().parents[2] / "shared")) / "data"
KINDS: dict[str, Callable[[int, int, Path], OpenCase]] = {
    "gaits": _open_gaits.draw,
    "mocap": _open_mocap.draw,
    "clips": _open_clips.draw,
    "puppets": _open_mocap.draw_puppet,
    "skins": _open_skins.draw,
}
CAPTURED = ("mocap", "puppets")
"""Kinds that need recordings."""
NOT_MEASURED = 77


def answer(kind: str, number: int, asked: argparse.Namespace) -> dict[str, Any]:
    """Draw a case, examine it, and its row."""
    case = KINDS[kind](asked.seed, number, asked.data)
    keep = asked.keep / f"{kind}-{asked.seed}-{number}" if asked.keep else None
    row = examine(case, asked.budget, keep=keep)
    facts: dict[str, Any] = {
        "kind": kind,
        "seed": asked.seed,
        "number": number,
        "outcome": row.outcome,
        "seconds": round(row.seconds, 1),
        "cpu": round(row.cpu, 1),
    }
    if not asked.judging:
        facts |= {"who": case.who, "what": case.what, "why": row.why, "changed": row.changed, "figures": row.figures}
    return facts


def say(row: dict[str, Any]) -> None:
    """A line for a case of development."""
    if "who" in row:
        words = "; ".join(part for part in (row["why"], row["changed"] and f"changed: {row['changed']}") if part)
        head = f"{row['kind']:8}{row['number']:4} {row['who'][:24]:25}{row['what'][:46]:47}{row['cpu']:7.1f} s"
        print(f"{head}  {row['outcome']}: {words[:300]}")


def arguments() -> argparse.Namespace:
    """What is asked."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kind", choices=KINDS, action="append", help="one kind, or several; all if not given")
    parser.add_argument("--cases", type=int, default=8, help="of each kind")
    parser.add_argument("--seed", type=int, default=1, help="of the draw")
    parser.add_argument("--number", type=int, help="this case alone")
    parser.add_argument("--budget", type=float, default=600.0, help="seconds for a case")
    parser.add_argument("--jobs", type=int, default=1, help="cases at the same time")
    parser.add_argument("--rows", type=Path, help="file that rows are appended to, and taken from [open-world-SEED.jsonl]")
    parser.add_argument("--keep", type=Path, help="folder that keeps wish, performance and what was printed, a folder a case")
    parser.add_argument("--data", type=Path, default=DATA, help="folder with recordings")
    parser.add_argument("--judging", action="store_true", help="draw from seed 9000 on; rates alone are printed and kept")
    asked = parser.parse_args()
    asked.seed += JUDGING.start if asked.judging and asked.seed not in JUDGING else 0
    if not asked.judging and asked.seed in JUDGING:
        parser.error(f"seed {asked.seed} is for judging: add --judging, or take one below {JUDGING.start}")
    if asked.judging and (asked.keep or asked.number is not None or asked.seed not in JUDGING):
        parser.error("nobody looks at the cases for judging: leave out --keep and --number, and give a seed below 1000")
    asked.rows = asked.rows or Path(f"open-world-{asked.seed}.jsonl")
    return asked


def main() -> int:
    """Ask, print the table; 1 when something is broken or an empty green."""
    asked = arguments()
    kinds = asked.kind or list(KINDS)
    if not any(asked.data.glob("**/*.bvh")):
        print(f"no recordings in {asked.data}: {' and '.join(set(kinds) & set(CAPTURED)) or 'nothing'} left out")
        kinds = [kind for kind in kinds if kind not in CAPTURED]
        if not kinds:
            return NOT_MEASURED
    numbers = range(asked.cases) if asked.number is None else [asked.number]
    wanted = [(kind, asked.seed, number) for number in numbers for kind in kinds]
    kept = [json.loads(line) for line in asked.rows.read_text().splitlines()] if asked.rows.exists() else []
    rows = {key: row for row in kept if (key := (row["kind"], row["seed"], row["number"])) in wanted}
    if asked.number is not None:
        rows = {}
    with ThreadPoolExecutor(asked.jobs) as pool:
        for row in pool.map(lambda key: answer(key[0], key[2], asked), [key for key in wanted if key not in rows]):
            rows[row["kind"], row["seed"], row["number"]] = row
            with asked.rows.open("a") as out:
                out.write(json.dumps(row) + "\n")
            say(row)
            sys.stdout.flush()
    print("\n".join(table(rows.values())))
    return int(any(row["outcome"] in ("broken", "empty green") for row in rows.values()))


EXHAUSTIVE = True  # takes many minutes: `bunraku bench` asks it with --exhaustive, or by name

if __name__ == "__main__":
    sys.exit(main())
