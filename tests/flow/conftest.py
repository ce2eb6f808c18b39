"""The doors to a performance: each takes a wish and gives the bytes of the performance."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

import bunraku
from bunraku.batch.plan import read_plan
from bunraku.batch.working import carry_out
from bunraku.cli.main import _run
from bunraku.formats.performance_npz import write_performance_npz
from bunraku.optimization.monitor import SILENT
from bunraku.studio.jobs.verbs.perform import perform as job

Door = Callable[..., bytes]


def by_command_line(who: str, clip: str, performer: str, options: dict[str, Any], folder: Path, effort: str = "once") -> bytes:
    target = folder / "by-command.performance.npz"
    words = [f"--{name.replace('_', '-')}={str(value).lower()}" for name, value in options.items()]
    assert _run(["perform", who, clip, "--performer", performer, "-o", str(target), "--effort", effort, *words]) in (0, 1)
    return target.read_bytes()


def by_python(who: str, clip: str, performer: str, options: dict[str, Any], folder: Path, effort: str = "once") -> bytes:
    return write_performance_npz(bunraku.perform(who, clip, performer=performer, effort=effort, **options))


def by_studio(who: str, clip: str, performer: str, options: dict[str, Any], folder: Path, effort: str = "once") -> bytes:
    wish = {"character": who, "clip": clip, "performer": performer, "options": options, "effort": effort}
    facts, _ = job(wish, folder, SILENT)
    return Path(facts["path"]).read_bytes()


def by_batch(who: str, clip: str, performer: str, options: dict[str, Any], folder: Path, effort: str = "once") -> bytes:
    vary = [{"option": name, "values": [value]} for name, value in options.items()]
    plan = {"bunraku": "batch/1", "characters": [who], "clips": [clip], "performers": [performer], "keep_performances": True}
    plan |= {"effort": effort}
    (folder / "one.batch.yaml").write_text(yaml.safe_dump(plan | {"vary": vary, "measure": ["holds"]}))
    plan_of_one = read_plan(folder / "one.batch.yaml")
    row = carry_out(plan_of_one.job(plan_of_one.runs[0]))
    assert row["status"] == "done", row["reason"]
    return bytes(row["performance"])


@pytest.fixture
def doors() -> tuple[Door, ...]:
    """Command line, Python, studio job, batch."""
    return by_command_line, by_python, by_studio, by_batch
