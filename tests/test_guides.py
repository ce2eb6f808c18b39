"""Every command, file and Python example of the README and the guides runs, in a folder of its own, in the order of the page.

What a block holds is seen as a reader sees it: lines that begin with a program are commands, YAML and tables whose paragraph names
a file go into that file (else into one named after what is in it), Python is Python. Output is not compared; the exit code is 0.
A comment of the page before a block says what a reader cannot see:

    <!-- not run: WHY -->                    nothing of it is run
    <!-- run instead: COMMAND -->            a quicker variant, or one without a machine; lines are commands
    <!-- first: COMMAND -->                  what makes a file that the reader is told to have
    <!-- given: NAME = PATH -->              such a file from this repository
    <!-- slow -->                            more than 20 s: run with the exhaustive tests alone
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "guide").glob("*.md"))]
NOT_RUN = 10
"""How many blocks of all pages are not run at all; each says why."""
PROGRAMS = ("bunraku", "python")
INSTALLS = ("pip", "make", "source")
"""Programs that install: the tests run in an installation."""
MOST = 1800.0
"""Time [s] after which a command counts as hanging."""
NAMED = re.compile(r"`[^`\n]*?([\w-]+(?:\.[\w-]+)*\.(?:csv|yaml))`")
COMMENT = re.compile(r"<!--\s*(not run|run instead|first|given|slow)\s*:?\s*(.*?)\s*-->", re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A block of code of a page: the line it begins at, its language, its text, the paragraph and the comments before it."""

    line: int
    language: str
    text: str
    before: str
    comments: tuple[tuple[str, str], ...]

    def comment(self, kind: str) -> str | None:
        """What the comment of that kind says; None if there is none."""
        return next((said for name, said in self.comments if name == kind), None)

    @property
    def programs(self) -> list[str]:
        """The first word of each line."""
        return [line.split()[0] for line in self.text.splitlines() if line.strip() and not line.lstrip().startswith("#")]

    @property
    def file(self) -> str:
        """The name of the file that it shows, or nothing."""
        head = re.match(r"bunraku: (\w+)/1", self.text)
        if self.language not in ("", "csv", "yaml") or set(self.programs) & {*PROGRAMS, *INSTALLS}:
            return ""
        named = NAMED.findall(self.before) if self.before.rstrip().endswith(":") else []
        if named:
            return str(named[-1])
        return f"{yaml.load(self.text, yaml.BaseLoader).get('name', head[1])}.{head[1]}.yaml" if head else ""


def blocks(page: Path) -> list[Block]:
    """The blocks of a page, fenced and indented, in their order."""
    lines, found, before = page.read_text(encoding="utf-8").splitlines(), list[Block](), list[str]()
    number = 0
    while number < len(lines):
        line = lines[number]
        fence = re.match(r"(\s*)```(\w*)", line)
        start = number
        if fence:
            number = next(k for k in range(number + 1, len(lines)) if lines[k].strip() == "```")
            body, language = lines[start + 1 : number], fence[2]
        elif re.match(r" {4,}\S", line) and not lines[number - 1].strip():
            while number < len(lines) and (not lines[number].strip() or lines[number].startswith("    ")):
                number += 1
            body, language = lines[start:number], ""
            number -= 1
        else:
            before.append(line)
            number += 1
            continue
        text = "\n".join(before).rstrip()
        comments = tuple((kind, said) for kind, said in COMMENT.findall(text))
        paragraph = re.split(r"\n\s*\n", COMMENT.sub("", text).rstrip())[-1]
        found.append(Block(start + 1, language, textwrap.dedent("\n".join(body)).strip() + "\n", paragraph, comments))
        before = []
        number += 1
    return found


def commands(block: Block) -> Iterator[list[str]]:
    """What is run of a block: each as words for a shell, or Python."""
    instead, lines = block.comment("run instead"), (block.comment("first") or "").splitlines()
    if instead is not None:
        lines += instead.splitlines()
    elif block.language != "python" and set(block.programs) & set(PROGRAMS):
        lines += block.text.splitlines()
    for line in lines:
        if line.strip() and line.split()[0] not in INSTALLS:
            yield ["bash", "-euo", "pipefail", "-c", line.strip()]
    if block.language == "python" and instead is None:
        yield [sys.executable, "-c", block.text]


def run_page(page: Path, folder: Path, *, slow: bool) -> list[str]:
    """Run a page in a folder; what failed, in words."""
    programs = folder.parent / f"{folder.name}-programs"
    programs.mkdir()
    for name, words in (("bunraku", ' -c "from bunraku.cli.main import run; run()"'), ("python", "")):
        (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}"{words} "$@"\n')
        (programs / name).chmod(0o755)
    env = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "MPLBACKEND": "Agg"}
    for name in ("examples", "benchmarks"):
        (folder / name).symlink_to(ROOT / name)
    failed = list[str]()
    for block in blocks(page):
        for kind, said in block.comments:
            if kind == "given":
                given, _, source = (part.strip() for part in said.partition("="))
                shutil.copy(ROOT / source, folder / given)
        if block.comment("not run") is not None or (block.comment("slow") is not None and not slow):
            continue
        if block.file:
            (folder / block.file).write_text(block.text, encoding="utf-8")
        for command in commands(block):
            ran = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=MOST, check=False)
            if ran.returncode:
                failed.append(
                    f"{page.name}:{block.line}: {command[-1].strip()}: exit {ran.returncode}: {ran.stderr.strip()[-400:]}"
                )
    return failed


def test_what_is_not_run_says_why_and_is_counted() -> None:
    reasons = [said for page in PAGES for block in blocks(page) for kind, said in block.comments if kind == "not run"]
    assert all(len(reason.split()) >= 2 for reason in reasons)
    assert len(reasons) == NOT_RUN


def test_every_line_of_a_block_of_commands_is_a_program_that_is_run_or_installs() -> None:
    for page in PAGES:
        for block in blocks(page):
            aside = block.language in ("python", "text", "csv", "yaml") or {"not run", "run instead"} & {
                kind for kind, _ in block.comments
            }
            commanding = block.language == "bash" or set(block.programs) & {*PROGRAMS, *INSTALLS}
            assert aside or not commanding or set(block.programs) <= {*PROGRAMS, *INSTALLS}, f"{page.name}:{block.line}"


def test_every_python_example_compiles() -> None:
    for page in PAGES:
        for block in blocks(page):
            if block.language == "python":
                compile(block.text, f"{page.name}:{block.line}", "exec")


@pytest.mark.skipif(shutil.which("bash") is None, reason="the guides' commands are lines for a shell")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_its_examples_run(page: Path, tmp_path: Path) -> None:
    assert run_page(page, tmp_path, slow=False) == []


@pytest.mark.exhaustive
@pytest.mark.skipif(shutil.which("bash") is None, reason="the guides' commands are lines for a shell")
@pytest.mark.parametrize("page", [page for page in PAGES if "<!-- slow" in page.read_text("utf-8")], ids=lambda page: page.stem)
def test_its_slow_examples_run_too(page: Path, tmp_path: Path) -> None:
    assert run_page(page, tmp_path, slow=True) == []
