"""A disk that is full, broken or read-only, at every operation of every writer: a line, what was there stays, nothing is half."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from _faults import ERRORS, Faults, injected
from bunraku.batch.store import Store
from bunraku.character import Body, Character, Joint, Motor
from bunraku.errors import BadInput
from bunraku.formats.checkpoint import Checkpoint
from bunraku.formats.registry import write_character, write_clip, write_performance
from bunraku.mechanics.cache import save_result
from bunraku.motion import Audio, Certificate, Channel, Clip, JointCurves, Performance, Provenance
from bunraku.optimization.solution import Status
from bunraku.stage.devices.device_yaml import write_device
from bunraku.stage.player.described import described_device
from bunraku.stage.registry import export
from bunraku.studio.jobs.exchange import write_arrays
from bunraku.studio.journal import Journal

CURVES = JointCurves(("nod",), 50.0, np.sin(np.arange(50) / 10.0)[:, None])
WHO = Character(
    name="one",
    bodies=(Body(name="b", mass=1.0),),
    joints=(Joint(name="nod", kind="hinge", parent="world", child="b", axis=(0, 1, 0), range=(-2.0, 2.0)),),
    motors=(Motor(name="m", coordinate="nod", velocity=4.0),),
)
SHOW = Performance(
    WHO, "one", (Channel("nod", "position", "rad", 50.0, CURVES.values[:, 0]),), CURVES, CURVES,
    Certificate(Status.CONVERGED, ()), Provenance("test", {}, {}, {}),
)  # fmt: skip
DONE = {
    "status": "done",
    "reason": "",
    "figures": {"a": 1.0},
    "performance": b"x" * 100,
    "seconds": 1.0,
    "worker": "",
    "report": "",
}
WRITERS: dict[str, Callable[[Path], Any]] = {
    "performance": lambda folder: write_performance(folder / "x.performance.npz", SHOW),
    "clip": lambda folder: write_clip(folder / "x.clip.yaml", Clip("x", joints=CURVES, audio=Audio(np.zeros(80), 8000.0))),
    "character": lambda folder: write_character(folder / "x.urdf", WHO),
    "export": lambda folder: export(SHOW, "mcap", folder / "x.mcap"),
    "device": lambda folder: write_device(folder / "x.device.yaml", described_device(WHO, "dry-run", name="x")),
    "checkpoint": lambda folder: Checkpoint(folder / "x.checkpoint", "k").save({"a": np.zeros(9)}),
    "run of a batch": lambda folder: Store(folder / "out").keep("k" * 40, {}, DONE, 1),
    "journal": lambda folder: Journal(folder / "journal").append("a step"),
    "arrays of the studio": lambda folder: write_arrays(folder / "x.npz", {"a": np.zeros(9)}),
}


def whole(folder: Path) -> dict[str, bytes]:
    """All files by name; those of runs that are kept are kept together, so one counts for all."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("kind", ERRORS)
@pytest.mark.parametrize("what", WRITERS)
def test_what_cannot_be_written_is_said_and_leaves_what_was(what: str, kind: str, tmp_path: Path) -> None:
    write = WRITERS[what]
    (tmp_path / "whole").mkdir()
    with injected(Faults(tmp_path, kind, 0)) as counted:
        write(tmp_path / "whole")
    expected = whole(tmp_path / "whole")
    assert counted.count >= 4
    said = happened = 0
    for at in range(1, counted.count + 1):
        folder = tmp_path / f"at {at}"
        folder.mkdir()
        before = {name: b"old" for name in expected if "/" not in name and name != "journal"}
        for name, content in before.items():
            (folder / name).write_bytes(content)
        refusal = ""
        try:
            with injected(Faults(folder, kind, at)) as faults:
                write(folder)
        except BadInput as error:
            refusal = str(error)
            said += 1
        assert not refusal or (str(folder) in refusal and "\n" not in refusal)
        found = whole(folder)
        for name, content in before.items():
            assert found[name] in (content, expected[name]), (at, name)
        stray = {name: content for name, content in found.items() if name not in before and content != expected.get(name)}
        if kind in ("full", "broken"):  # where nothing may be removed either, what was begun stays under another name
            assert not any(content for name, content in stray.items()), (at, stray)
        assert all(Path(name).name.startswith(".") or ".part/" in name for name in stray if name != "journal"), (at, stray)
        happened += faults.happened
    assert happened >= said >= 1


@pytest.mark.parametrize("kind", ERRORS)
def test_a_cache_that_cannot_be_written_is_no_error(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for at in range(1, 9):
        folder = tmp_path / f"at {at}"
        monkeypatch.setenv("BUNRAKU_CACHE", str(folder))
        with injected(Faults(tmp_path, kind, at)):
            save_result("k", "0", {"a": np.zeros(9)})
        left = [path.name for path in folder.iterdir()] if folder.is_dir() else []
        assert left in ([], ["k-0.kept"]) or (kind in ("read-only", "forbidden") and left[0].endswith(".part")), (at, left)


def test_the_injection_can_fail(tmp_path: Path) -> None:
    with injected(Faults(tmp_path, "full", 2)), pytest.raises(OSError, match="No space left"), (tmp_path / "a").open("w") as file:
        file.write("four")
    assert (tmp_path / "a").read_text() == "fo"
    (tmp_path / "b").write_text("four")
    assert (tmp_path / "b").read_text() == "four"
