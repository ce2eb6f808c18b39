"""The same wish through four doors gives the same bytes: command line, Python, studio job, batch."""

from __future__ import annotations

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

WISHES = {
    "speech": ("nao", "not-done-yet", {"intensity": 0.8}),
    "vibration": ("one-rod", "tick", {"points": 40}),
    "marionette": ("cart-pendulum", "stand-up", {"max_iterations": 150}),
    "locomotion": ("swizzlebot", "swizzle", {"posture": 1e-2}),
}


def by_command_line(who: str, clip: str, performer: str, options: dict[str, Any], folder: Path) -> bytes:
    target = folder / "by-command.performance.npz"
    words = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    assert _run(["perform", who, clip, "--performer", performer, "-o", str(target), *words]) in (0, 1)
    return target.read_bytes()


def by_python(who: str, clip: str, performer: str, options: dict[str, Any], folder: Path) -> bytes:
    return write_performance_npz(bunraku.perform(who, clip, performer=performer, **options))


def by_studio(who: str, clip: str, performer: str, options: dict[str, Any], folder: Path) -> bytes:
    facts, _ = job({"character": who, "clip": clip, "performer": performer, "options": options}, folder, SILENT)
    return Path(facts["path"]).read_bytes()


def by_batch(who: str, clip: str, performer: str, options: dict[str, Any], folder: Path) -> bytes:
    vary = [{"option": name, "values": [value]} for name, value in options.items()]
    plan = {"bunraku": "batch/1", "characters": [who], "clips": [clip], "performers": [performer], "keep_performances": True}
    (folder / "one.batch.yaml").write_text(yaml.safe_dump(plan | {"vary": vary, "measure": ["holds"]}))
    made = read_plan(folder / "one.batch.yaml")
    found = carry_out(made.job(made.runs[0]))
    assert found["status"] == "done", found["reason"]
    return bytes(found["performance"])


@pytest.mark.parametrize("performer", WISHES)
def test_every_door_gives_the_same_bytes(performer: str, tmp_path: Path) -> None:
    who, clip, options = WISHES[performer]
    first = by_command_line(who, clip, performer, options, tmp_path)
    for door in (by_python, by_studio, by_batch):
        assert door(who, clip, performer, options, tmp_path) == first, door.__name__
