"""Do the tests kill mutants? Small faults are put into the code that keeps shows safe and promises true; a test should notice each.

Folders: the player and the drivers (safety), verification without its pictures and pages, limits, certificate, servos and measures
(truth). Drawn are lines, each equally often, and of each line one change (_mutants.py). For each mutant the tests that reach its
line run, quick ones first, until one fails (_tested.py); a test that also fails alone and without the mutant does not count. The
tree is not touched. What the tests reach is read first and kept in build/mutants, as are verdicts: given again, the same command
goes on where it was stopped. A kernel that is mutated runs in Python. Tests of more than 30 s are left out.

Bars: at least 90 % of the mutants killed, over all folders. A mutant that no test reaches, or whose time ran out, is not killed.
Needs fork (Linux, macOS); elsewhere it ends with 77.

Run: python benchmarks/do_the_tests_kill_mutants.py [--mutants 200] [--seed 1] [--only verification] [--seconds 90] [--reach]
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import random
import re
import shutil
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from _mutants import Mutant, mutants_of
from _tested import KEPT, ROOT, SOURCES, digest, first_failure, reach, warm, watched_code

FOLDERS = {
    "stage/player": ("stage/player",),
    "stage/devices": ("stage/devices",),
    "verification": ("verification",),
    "motion": ("motion/certificate.py", "motion/limits.py", "motion/dependent_ranges.py"),
    "mechanics/servos": ("mechanics/servos",),
    "mechanics/measures": ("mechanics/measures",),
}
LOOKS = ("verification/plots", "verification/report", "verification/trials/film.py")
"""What draws pictures and pages is neither safety nor truth."""
TESTED = ("motion", "mechanics/servos", "mechanics/*.py", "retargeting/test_coverage.py", "verification")
TESTED += ("stage/test_verify_exported.py", "stage/test_read_back.py", "stage/player", "stage/devices")
"""Where tests are sought; those of other folders also reach this code, but they take long, and are about something else."""
LONG, WHOLE = 30.0, 120.0
"""A test that takes longer is left out, and what of the tests of one file comes later than that [s]."""
BAR = 0.90
NOT_MEASURED = 77


@dataclass(frozen=True)
class Test:
    """A test, and what it reaches."""

    node: str
    file: str
    seconds: float
    lines: dict[str, frozenset[int]]
    """Lines reached of each file; 0 where it was entered at all."""


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant."""

    mutant: Mutant
    outcome: str
    """killed | survived | time ran out | no test reaches it"""
    words: str


def watched() -> dict[str, list[Path]]:
    """Files to be mutated, by folder."""
    looks = tuple(str(SOURCES / name) for name in LOOKS)
    return {
        folder: [path for name in names for path in _python(SOURCES / name) if not str(path).startswith(looks)]
        for folder, names in FOLDERS.items()
    }


@functools.cache
def _python(place: Path) -> list[Path]:
    return [place] if place.is_file() else sorted(place.rglob("*.py"))


def tests(files: dict[str, list[Path]], where: list[str]) -> tuple[list[Test], dict[str, str]]:
    """All tests that pass and are not too long, and a digest of each test file with all it loads."""
    names = [path for paths in files.values() for path in paths]
    codes = watched_code(names, {ROOT / user for path in names for user in importers(path)})
    sources = digest(*(path.read_bytes() for path in _python(SOURCES)))
    if not (KEPT / "parts" / sources).exists():
        shutil.rmtree(KEPT / "parts", ignore_errors=True)
        (KEPT / "parts" / sources).mkdir(parents=True)
    places = [place for name in where for place in sorted((ROOT / "tests").glob(name))]
    listed = [path for place in places for path in _python(place) if path.name.startswith("test_")]
    found, digests = [], {}
    for k, path in enumerate(listed):
        print(f"\rreading what the tests reach: {k + 1} of {len(listed)}", end="", file=sys.stderr, flush=True)
        entry = reach(path, codes, seconds=WHOLE)
        name = str(path.relative_to(ROOT))
        digests[name] = digest(entry["own"], json.dumps(entry["modules"], sort_keys=True))
        for node, test in entry["tests"].items():
            if test["passed"] and test.get("seconds", LONG) < LONG:
                lines = {file: frozenset(numbers) for file, numbers in test["lines"].items()}
                found.append(Test(node, name, test["seconds"], lines))
    print(file=sys.stderr)
    return found, digests


def draw(files: list[Path], count: int, seed: int) -> list[Mutant]:
    """Lines, each equally often, and of each line one mutant."""
    by_line: dict[tuple[Path, int], list[Mutant]] = {}
    for path in files:
        for mutant in mutants_of(path):
            by_line.setdefault((path, mutant.line), []).append(mutant)
    rng = random.Random(seed)
    chosen = rng.sample(sorted(by_line), min(count, len(by_line)))
    return [rng.choice(by_line[line]) for line in chosen]


@functools.cache
def importers(path: Path) -> list[str]:
    """Files that import a module by name: for what stands outside functions, they are where it is used."""
    module = ".".join(path.relative_to(SOURCES.parent).with_suffix("").parts)
    package, _, name = module.rpartition(".")
    told = re.compile(
        rf"(from {re.escape(module)} import|import {re.escape(module)}\b|from {re.escape(package)} import [^#]*\b{name}\b)"
    )
    users = [user for user in _python(SOURCES) if told.search(_text(user))]
    return [str(user.relative_to(ROOT)) for user in [path, *users]]


@functools.cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def reaching(mutant: Mutant, known: list[Test]) -> list[Test]:
    """The tests that reach a mutant, in the order they are tried: quick ones before slow ones, its own folder's before others."""
    name = str(mutant.path.relative_to(ROOT))
    compiled = mutant.path.name.endswith("_kernels.py")  # its lines are not seen, only who imports it
    if mutant.reached and not compiled:
        chosen = [test for test in known if mutant.reached in test.lines.get(name, ())]
    else:
        users = importers(mutant.path)
        chosen = [test for test in known if any(0 in test.lines.get(user, ()) for user in users)]
    mirror = "tests/" + str(mutant.path.parent.relative_to(SOURCES))

    def order(test: Test) -> tuple[int, bool, str, float]:
        return (test.seconds > 2.0) + (test.seconds > 10.0), not test.file.startswith(mirror), test.file, test.seconds

    return sorted(chosen, key=order)


class Judge:
    """Runs tests against mutants, and keeps what came out."""

    def __init__(self, known: list[Test], digests: dict[str, str], seconds: float) -> None:
        self.known, self.digests, self.seconds = known, digests, seconds
        self.sound: dict[str, bool] = {}

    def verdict(self, mutant: Mutant) -> Verdict:
        """The verdict that was kept, when its tests are still the same; else a new one."""
        chosen = reaching(mutant, self.known)
        place = KEPT / "verdicts" / (digest(str(mutant.path.relative_to(ROOT)), mutant.source) + ".json")
        files = {test.file: self.digests[test.file] for test in chosen}
        if place.exists():
            kept = json.loads(place.read_text())
            same = all(files.get(file) == content for file, content in kept["files"].items())
            if same and (kept["killer"] or len(kept["files"]) == len(files)):
                return Verdict(mutant, kept["outcome"], kept["words"])
        outcome, killer, words = self._tried(mutant, chosen)
        seen = {file: content for file, content in files.items() if not killer or killer.startswith(file)}
        kept = {"outcome": outcome, "killer": killer, "words": words, "files": seen}
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps(kept))
        return Verdict(mutant, outcome, words)

    def _tried(self, mutant: Mutant, chosen: list[Test]) -> tuple[str, str, str]:
        """Outcome, the test that killed it, and words about it."""
        left = list(chosen)
        while left:
            run = first_failure([test.node for test in left], mutant, seconds=self.seconds)
            if not run.failed and not run.finished:
                test = next((test for test in left if test.node == run.unfinished), left[0])
                if run.unfinished_seconds > 5.0 * test.seconds + 15.0:
                    return "killed", test.node, f"{test.node} never ended"
                return "time ran out", "", f"{run.ran} of {len(chosen)} tests ran"
            test = next((test for test in left if run.failed in (test.node, test.file)), left[0])
            if not run.failed:
                names = Counter(test.file for test in chosen)
                return "survived", "", f"{len(chosen)} tests ran: " + ", ".join(f"{file} ({n})" for file, n in names.most_common(4))
            if self._sound(test):
                return "killed", test.node, test.node
            left = [other for other in left if other is not test]
        return "no test reaches it" if not chosen else "survived", "", ""

    def _sound(self, test: Test) -> bool:
        """Whether a test passes alone and without a mutant."""
        if test.node not in self.sound:
            self.sound[test.node] = not first_failure([test.node], None, seconds=5.0 * test.seconds + LONG).failed
        return self.sound[test.node]


def table(verdicts: list[tuple[str, Verdict]]) -> float:
    """Print the outcomes by folder; the share of all that was killed."""
    from bunraku.statistics.proportions import clopper_pearson

    print(f"\n{'folder':<20} {'mutants':>8} {'killed':>7} {'survived':>9} {'time out':>9} {'unreached':>10}   killed, 95 %")
    folders = list(dict.fromkeys(folder for folder, _ in verdicts))
    for folder in [*folders, "all"]:
        counts = Counter(verdict.outcome for name, verdict in verdicts if folder in (name, "all"))
        total = sum(counts.values())
        low, high = clopper_pearson(counts["killed"], total)
        columns = f"{counts['killed']:>7} {counts['survived']:>9} {counts['time ran out']:>9} {counts['no test reaches it']:>10}"
        print(f"{folder:<20} {total:>8} {columns}   {counts['killed'] / total:.0%} ({low:.0%} to {high:.0%})")
    return counts["killed"] / total


def main() -> int:
    """Print the survivors and the table; 0 when enough were killed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutants", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="+", choices=list(FOLDERS), default=list(FOLDERS), help="folders to draw from")
    parser.add_argument("--tests", nargs="+", default=list(TESTED), help="files and folders of tests/ to choose from")
    parser.add_argument("--seconds", type=float, default=90.0, help="for the tests of one mutant")
    parser.add_argument("--reach", action="store_true", help="only read what the tests reach")
    given = parser.parse_args()
    if not hasattr(os, "fork"):
        print("mutants are loaded in forked processes, which this system does not have")
        return NOT_MEASURED
    warm()
    files = watched()
    known, digests = tests(files, given.tests)
    if given.reach:
        return 0
    folder_of = {path: folder for folder in given.only for path in files[folder]}
    judge = Judge(known, digests, given.seconds)
    verdicts = []
    for k, mutant in enumerate(draw(sorted(folder_of), given.mutants, given.seed)):
        verdict = judge.verdict(mutant)
        verdicts.append((folder_of[mutant.path], verdict))
        place = f"{mutant.path.relative_to(SOURCES)}:{mutant.line}"
        print(f"{k + 1:>4} {verdict.outcome:<18} {place}  {mutant.what}", flush=True)
        if verdict.outcome != "killed":
            print(f"       - {mutant.before}\n       + {mutant.after}\n       {verdict.words}", flush=True)
    return 0 if table(verdicts) >= BAR else 1


EXHAUSTIVE = True  # takes many minutes: `bunraku bench` asks it with --exhaustive, or by name

if __name__ == "__main__":
    sys.exit(main())
