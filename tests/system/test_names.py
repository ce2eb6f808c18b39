"""Names of files that every system takes, and takes for different ones."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

import pytest
from tests.system.conftest import OtherSystem

from bunraku.errors import BadInput
from bunraku.formats.atomic import check_output, write_atomically
from bunraku.formats.zip_folder import unpack_folder
from bunraku.studio.project import plain
from bunraku.system import names


@pytest.mark.parametrize(
    "name",
    ["CON", "nul", "aux.csv", "Com1.clip.yaml", "lpt9", "COM¹.txt", "CONIN$", "prn .txt", "arm.", "arm ", "a:b", "a/b", "a\\b",
     "what?", "a*b", "<b>", 'say "b"', "a|b", "line\nbreak", "\x00", ""],
)  # fmt: skip
def test_names_that_not_every_system_takes_become_some_that_it_does(name: str) -> None:
    assert names.name_trouble(name) or not name
    safe = names.safe_name(name)
    assert safe
    assert names.name_trouble(safe) == ""


@pytest.mark.parametrize("name", ["console", "null.csv", "com", "com10", "auxiliary", ".hidden", "a b.stl", "人形.yaml", "x..y"])
def test_others_are_left_as_they_are(name: str) -> None:
    assert names.name_trouble(name) == ""
    assert names.safe_name(name) == name


def test_long_names_keep_their_ending() -> None:
    assert names.safe_name("a" * 500 + ".stl").endswith("a.stl")
    assert len(names.safe_name("a" * 500 + ".stl")) <= names.LONGEST


def test_two_names_that_are_one_file() -> None:
    assert names.same_file(["Arm.stl", "leg.stl", "arm.STL"]) == ("Arm.stl", "arm.STL")
    assert names.same_file(["Zo\u00eb", "zoe\u0308"]) == ("Zo\u00eb", "zoe\u0308")
    assert names.same_file(["arm", "arms", "Leg"]) is None
    with pytest.raises(BadInput, match=r"the parts 'Arm.stl' and 'arm.stl' are one file on Windows and macOS; rename"):
        names.refuse_same_file(["Arm.stl", "arm.stl"], "parts")


def test_windows_is_told_what_its_names_cannot_be(tmp_path: Path, other: OtherSystem) -> None:
    """What is written to NUL is lost there, and to the others goes to a device."""
    write_atomically(tmp_path / "nul.csv", b"x")  # a name like any other here
    other.windows(names)
    for name, reason in (("NUL.csv", "a device"), ("show.csv.", "a dot"), ("a" * 240 + "/" * 0 + "b" * 60, "259")):
        with pytest.raises(BadInput, match=reason):
            check_output(tmp_path / name)
    check_output(tmp_path / "show.csv")


def zipped(*members: str) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for member in members:
            archive.writestr(member, member)
    return data.getvalue()


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        (["robot/Arm.stl", "robot/arm.stl"], "one file on Windows and macOS"),
        (["robot/arm.stl", "Robot/arm.stl"], "one file on Windows and macOS"),
        (["aux/arm.stl"], "keeps this name for a device"),
        (["robot/arm.stl."], "a dot or a space"),
    ],
)
def test_a_zip_that_would_unpack_differently_elsewhere_is_refused(members: list[str], reason: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=reason):
        unpack_folder(zipped(*members), tmp_path, file="robot.zip")
    assert os.listdir(tmp_path) == []


def test_files_of_a_project_have_names_for_every_system() -> None:
    assert plain("con") == "_con"
    assert plain("Com1.bvh") == "_Com1.bvh"
    assert plain("..") == "unnamed"
    assert plain("wave") == "wave"
