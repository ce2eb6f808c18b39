"""A name that cannot be written to is found before anything heavy is imported, read or computed, at every door with an output."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import bunraku
from bunraku.cli.files import PICTURES
from bunraku.cli.main import _run
from bunraku.errors import BadInput
from bunraku.verification.plots.figure import check_picture

DOORS = {
    "perform": (["perform", "nao", "missing.bvh", "-o"], "x.xyz"),
    "perform --log": (["perform", "nao", "missing.bvh", "--log"], "nowhere/x.log"),
    "choreograph": (["choreograph", "missing.clip.yaml", "-o"], "x.csv"),
    "retarget": (["retarget", "missing.bvh", "nao", "-o"], "x.bvh"),
    "retarget --write-rig": (["retarget", "missing.bvh", "nao", "--write-rig"], "x.csv"),
    "design": (["design", "missing.urdf", "missing.clip.yaml", "-o"], "x.urdf"),
    "design --plot": (["design", "missing.urdf", "missing.clip.yaml", "--plot"], "x.gif"),
    "fit": (["fit", "missing.character.yaml", "missing.csv", "--part", "rod", "-o"], "x.json"),
    "plot": (["plot", "missing.performance.npz", "-o"], "x.mp4"),
    "render": (["render", "missing.performance.npz", "-o"], "x.bar"),
    "render --demos": (["render", "--demos", "missing", "-o"], "afile"),
    "report": (["report", "missing.performance.npz", "-o"], "x.docx"),
    "compare": (["compare", "missing.urdf", "missing.bvh", "-o"], "x.mp4"),
    "export": (["export", "missing.performance.npz", "-o"], "x.foo"),
    "export -f": (["export", "missing.performance.npz", "-f", "csv", "-o"], "nowhere/x.csv"),
    "export of a character": (["export", "missing.urdf", "-o"], "x.stl"),
    "play --log": (["play", "missing.performance.npz", "--log"], "x.txt"),
    "calibrate": (["calibrate", "--from", "missing.performance.npz"], "x.yaml"),
    "fabricate": (["fabricate", "missing.character.yaml", "-o"], "afile"),
    "batch": (["batch", "missing.batch.yaml", "-o"], "afile"),
    "study": (["study", "missing.study.yaml", "-o"], "afile"),
    "demo": (["demo", "speech", "-o"], "afile"),
}
HEAVY = ("scipy", "numba", "mujoco", "matplotlib", "distributed")


def test_a_wrong_output_is_found_before_anything_heavy_is_imported(tmp_path: Path) -> None:
    (tmp_path / "afile").touch()
    program = f"""
        import contextlib, io, json, sys
        from bunraku.cli.main import _run
        for door, (words, output) in {DOORS!r}.items():
            said = io.StringIO()
            with contextlib.redirect_stderr(said):
                code = _run([*words, output])
            loaded = [name for name in {HEAVY!r} if name in sys.modules]
            assert code == 2 and output in said.getvalue() and "missing" not in said.getvalue(), (door, code, said.getvalue())
            assert len(said.getvalue().splitlines()) == 1, said.getvalue()
            assert not loaded, (door, loaded)
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
    )
    assert run.returncode == 0, run.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["afile"]


@pytest.mark.parametrize("verb", [bunraku.export, bunraku.render])
def test_python_finds_a_wrong_output_before_it_reads(verb, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"x\.foo"):
        verb("missing.performance.npz", tmp_path / "x.foo")
    with pytest.raises(BadInput, match="nowhere"):
        verb("missing.performance.npz", tmp_path / "nowhere" / "x.png", **({"form": "csv"} if verb is bunraku.export else {}))


def test_a_folder_without_rights_is_found_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setattr("os.access", lambda place, mode, **_: Path(place) != tmp_path)
    assert _run(["perform", "nao", "missing.bvh", "-o", str(tmp_path / "x.performance.npz")]) == 2
    assert "nothing may be written into" in capsys.readouterr().err


def test_pictures_are_what_can_be_drawn() -> None:
    assert [check_picture(Path(f"x{suffix}")) for suffix in PICTURES] == [suffix[1:] for suffix in PICTURES]
