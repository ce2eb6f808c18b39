"""One case of the open world through the public door: `bunraku perform`, then `bunraku verify`, and what came of it.

Outcomes:

- proven: both end with 0;
- honest refusal: bad input, said in one line with exit code 2 and nothing written; or not proven with a reason and the nearest wish
  that was proven;
- not proven: not proven without that, or too long: the budget of seconds was spent;
- empty green: proven, but what was proven is not what a person would take it for (`_open_empty`);
- broken: a traceback, a crash, output that cannot be read, exit codes that contradict each other.

Every command runs in a process group of its own, which is ended when the budget is spent. No question of its own.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from _open_case import OpenCase

OUTCOMES = ("proven", "honest refusal", "not proven", "empty green", "broken")
PROGRAM = "from bunraku.cli.main import run; run()"


@dataclass(frozen=True)
class Ran:
    """How a command ended: its exit code (None: the budget was spent), what it printed, how long it took and its CPU time [s]."""

    code: int | None
    out: str
    err: str
    seconds: float
    cpu: float = 0.0

    @property
    def crashed(self) -> str:
        """How it crashed, in words; nothing if it did not."""
        if self.code is not None and self.code < 0:
            return f"ended by signal {-self.code}"
        if "Traceback (most recent call last)" in self.err or self.code == 70:
            return self.err.strip().splitlines()[-1][:200]
        return ""

    @property
    def json(self) -> dict[str, Any] | None:
        """What it printed, read; None if that cannot be."""
        try:
            read = json.loads(self.out)
        except json.JSONDecodeError:
            return None
        return read if isinstance(read, dict) else None


@dataclass
class Row:
    """What came of a case. ``why`` says it in words, ``changed`` what was changed to prove it."""

    outcome: str
    why: str = ""
    changed: str = ""
    seconds: float = 0.0
    cpu: float = 0.0
    figures: dict[str, Any] = field(default_factory=dict)


def run(words: list[str], budget: float) -> Ran:
    """A command with a budget [s]."""
    began = time.monotonic()
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen(words, stdout=out, stderr=err, stdin=subprocess.DEVNULL, start_new_session=True)
        code, cpu = _waited(process, began + budget)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read())
    return Ran(code, texts[0], texts[1], time.monotonic() - began, cpu)


def _waited(process: subprocess.Popen[bytes], until: float) -> tuple[int | None, float]:
    """The exit code of a process, or None where it was ended at the time ``until``; and its CPU time [s]."""
    done, status, usage = os.wait4(process.pid, os.WNOHANG)
    while not done and time.monotonic() < until:
        time.sleep(0.05)
        done, status, usage = os.wait4(process.pid, os.WNOHANG)
    if not done:
        os.killpg(process.pid, signal.SIGKILL)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode if done else None, usage.ru_utime + usage.ru_stime


def bunraku(words: list[str], budget: float) -> Ran:
    """The command line of whichever sources are found first."""
    return run([sys.executable, "-c", PROGRAM, *words], budget)


def examine(case: OpenCase, budget: float, *, keep: Path | None = None) -> Row:
    """Perform and verify a case in a folder of its own (``keep``, if given), within the budget [s]."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        character, clip = case.write(folder)
        out = folder / "result.performance.npz"
        out.unlink(missing_ok=True)
        made = bunraku(["perform", character, str(clip), "-o", str(out), "--json"], budget)
        (folder / "perform.txt").write_text(made.err)
        row = _refused(made, out)
        if row is None:
            judged = bunraku(["verify", str(out), "--json"], budget - made.seconds)
            (folder / "verify.txt").write_text(judged.err)
            row = _judged(made, judged, out, character, clip)
            row.seconds, row.cpu = judged.seconds, judged.cpu
        row.seconds, row.cpu = row.seconds + made.seconds, row.cpu + made.cpu
        return row


def _refused(made: Ran, out: Path) -> Row | None:
    """What came of a case that has no performance to verify; None if it has one."""
    if made.code is None:
        return Row("not proven", "too long: the budget was spent in perform")
    if made.crashed:
        return Row("broken", f"perform: {made.crashed}")
    if made.code == 2:
        lines = [line for line in made.err.splitlines() if line.startswith("bunraku: ")]
        if len(lines) == 1 and not out.exists():
            return Row("honest refusal", lines[0].removeprefix("bunraku: ")[:300])
        return Row("broken", f"exit 2 with {len(lines)} lines that say why{', and a file' if out.exists() else ''}")
    if made.code not in (0, 1, 3) or not out.exists() or made.json is None:
        return Row(
            "broken", f"perform ended with {made.code}, {'a' if out.exists() else 'no'} file, and {made.out[:80]!r} on stdout"
        )
    return None


def _judged(made: Ran, judged: Ran, out: Path, character: str, clip: Path) -> Row:
    """What came of a case whose performance was verified."""
    if judged.code is None:
        return Row("not proven", "too long: the budget was spent in verify")
    verdict, performed = judged.json, made.json or {}
    if judged.crashed or judged.code not in (0, 1) or verdict is None:
        return Row("broken", f"verify: {judged.crashed or f'ended with {judged.code} and {judged.out[:80]!r} on stdout'}")
    checks = verdict.get("checks", [])
    changed, nearest = str(performed.get("changed") or ""), str(performed.get("nearest") or "")
    against = [check["name"] for check in checks if not check["holds"] and check.get("state") not in ("does not apply", "")]
    broken = [check["name"] for check in checks if check.get("state") == "broken"] or against
    if bool(verdict.get("verified")) != (judged.code == 0):
        return Row("broken", f"verify ended with {judged.code} and says verified {verdict.get('verified')}")
    if (made.code == 0) != (judged.code == 0) or bool(performed.get("proven")) != (made.code == 0):
        return Row("broken", f"perform ended with {made.code}, verify with {judged.code} ({', '.join(broken[:4])})", changed)
    if judged.code == 1:
        said = [line.partition(": ")[2] for line in made.err.splitlines() if line.startswith("in the way")]
        why = said[-1] if said else ", ".join(broken[:6])
        return Row("honest refusal" if why and nearest else "not proven", f"{why}; nearest: {nearest}" if nearest else why, changed)
    return _proven(out, character, clip, verdict, changed)


def _proven(out: Path, character: str, clip: Path, verdict: dict[str, Any], changed: str) -> Row:
    """A proven case, or an empty green."""
    file = out.with_name("verdict.json")
    file.write_text(json.dumps(verdict))
    looked = run(
        [sys.executable, str(Path(__file__).with_name("_open_empty.py")), str(out), character, str(clip), str(file)], 120.0
    )
    if looked.code != 0 or looked.json is None:
        return Row("broken", f"what was proven cannot be looked at: {looked.err.strip()[-200:]}", changed)
    empty, figures = looked.json["empty"], looked.json["figures"]
    stated = bool(changed)
    empty = [words for words, mended in empty if not (mended and stated)]
    return Row("empty green" if empty else "proven", "; ".join(empty), changed, figures=figures)
