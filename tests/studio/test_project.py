"""Projects: what is saved comes back, files stay inside, and what a user brings is kept under names of ours."""

from __future__ import annotations

import hashlib
import io
import zipfile
from pathlib import Path

import numpy as np
import pytest

from bunraku.character import PartShape
from bunraku.errors import BadInput
from bunraku.formats.character_yaml import write_character_yaml
from bunraku.formats.gmsh_mesh import gmsh_bytes
from bunraku.formats.project_yaml import read_project_yaml
from bunraku.formats.registry import read_character
from bunraku.mechanics.elastic.part import part_mesh
from bunraku.motion import Audio, Clip
from bunraku.studio.document import EMPTY
from bunraku.studio.edits.registry import Edit, apply
from bunraku.studio.project import Project, plain


def test_a_saved_project_comes_back(tmp_path: Path) -> None:
    project = Project(tmp_path / "one")
    document = EMPTY
    for one in (
        Edit("open.example", {"name": "walker-crawl"}),
        Edit("gait.goal", {"forward": 0.123, "turn": 0.1}),
        Edit("gait.toggle", {"foot": "LF", "cell": 20}),
        Edit("design.mode", {"mode": "automatic"}),
        Edit("joint.mute", {"joint": "LF.knee"}),
    ):
        document = apply(document, one)
    saved = project.save(document)
    again = Project(tmp_path / "one").load()
    assert again == saved
    assert again.key == document.key
    assert saved.sources["character"] == "walker"
    assert saved.sources["clip"] == "crawl.clip.yaml"


def test_an_edited_character_and_its_skin_are_written(tmp_path: Path) -> None:
    project = Project(tmp_path)
    document = apply(EMPTY, Edit("open.example", {"name": "beetle-lift"}))
    assert document.base is not None
    mine = document.changed(base=document.base.changed(name="mine"), sources={"clip": document.sources["clip"]})
    project.save(mine)
    again = Project(tmp_path).load()
    assert again.base == mine.base
    assert (tmp_path / document.base.skin.file).is_file()


def test_nothing_that_lies_in_the_project_is_overwritten(tmp_path: Path) -> None:
    """Neither skins nor voices, though the names of their clip and character are free."""
    project = Project(tmp_path)
    document = apply(EMPTY, Edit("open.example", {"name": "beetle-lift"}))
    assert document.base is not None
    assert document.base.skin is not None
    talk = Clip("talk", audio=Audio(np.arange(8.0) / 8.0, 8000.0))
    mine = document.changed(base=document.base.changed(name="mine"), clip=talk, sources={})
    (tmp_path / "elsewhere").write_bytes(b"not for you")
    (tmp_path / document.base.skin.file).write_bytes(b"another skin")
    (tmp_path / "talk.wav").write_bytes(b"another voice")
    (tmp_path / "mine.character.yaml").symlink_to("elsewhere")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    saved = project.save(mine)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.name in before} == before
    again = project.load()
    assert again == saved
    assert again.key == mine.key, "a performance that was made before would not be found"
    assert again.base is not None
    assert again.base.skin is not None
    assert again.base.skin.digest == document.base.skin.digest
    assert again.need_clip().audio is not None
    names = sorted(path.name for path in tmp_path.iterdir())
    project.save(mine)  # it lies there already
    assert sorted(path.name for path in tmp_path.iterdir()) == names


def test_what_cannot_be_read_again_is_not_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = Project(tmp_path)
    document = apply(EMPTY, Edit("open.example", {"name": "walker-crawl"}))
    project.save(document)
    before = (tmp_path / "project.yaml").read_bytes()

    def refused(self: Project, source: str) -> None:
        raise BadInput("holds nothing")

    monkeypatch.setattr(Project, "read_clip", refused)
    with pytest.raises(BadInput, match="holds nothing"):
        project.save(apply(document, Edit("gait.goal", {"forward": 0.07})))
    assert (tmp_path / "project.yaml").read_bytes() == before


def test_meshes_of_parts_are_written_beside_an_edited_character(tmp_path: Path) -> None:
    """A ZIP with a character and the mesh of its part; after an edit and Save the project opens, and it is the same part."""
    rod = read_character("one-rod")
    mesh = part_mesh(rod.flexibles[0].shape)
    part = rod.flexibles[0].changed(shape=PartShape(kind="mesh", file="rod.msh"))
    members = {"one.character.yaml": write_character_yaml(rod.changed(flexibles=(part,))).encode(), "rod.msh": gmsh_bytes(mesh)}
    project = Project(tmp_path)
    [source] = [name for name in project.keep("one.zip", zipped(members)) if name.endswith(".yaml")]
    opened = apply(EMPTY, Edit("open.character", {"source": source}), folder=tmp_path)
    edited = apply(opened, Edit("component.servo", {"motor": "shoulder", "servo": "Dynamixel XL430-W250"}), folder=tmp_path)
    (tmp_path / "rod.msh").write_bytes(b"another mesh")
    saved = project.save(edited)
    again = Project(tmp_path).load()
    assert again == saved
    assert again.key == edited.key
    assert again.need_character().flexibles[0].shape.digest == opened.need_character().flexibles[0].shape.digest != ""
    assert (tmp_path / "rod.msh").read_bytes() == b"another mesh"


def test_an_empty_folder_is_an_empty_document(tmp_path: Path) -> None:
    assert Project(tmp_path / "nowhere").load() == EMPTY
    assert not (tmp_path / "nowhere").exists()
    (tmp_path / "file").write_text("x")
    with pytest.raises(BadInput, match="folder"):
        Project(tmp_path / "file")


@pytest.mark.parametrize("name", ["../out.character.yaml", "/etc/passwd", "a/../../b", "..\\..\\x", "\x00", "C:\\x"])
def test_nothing_outside_is_read(tmp_path: Path, name: str) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "out.character.yaml").write_text("bunraku: character/1\nname: x\n")
    project = Project(tmp_path / "in")
    with pytest.raises(BadInput):
        project.read_character(name)
    with pytest.raises(BadInput):
        apply(EMPTY, Edit("open.character", {"source": name}), folder=tmp_path / "in")


def test_links_that_lead_out_are_refused(tmp_path: Path) -> None:
    inside = tmp_path / "in"
    inside.mkdir()
    (tmp_path / "secret.clip.yaml").write_text("bunraku: clip/1\nname: secret\n")
    (inside / "link.clip.yaml").symlink_to(tmp_path / "secret.clip.yaml")
    with pytest.raises(BadInput, match="leads out"):
        Project(inside).read_clip("link.clip.yaml")


@pytest.mark.parametrize(
    "name", ["../../etc/passwd.csv", "..\\x.csv", "/root/a.csv", "a\x00b.csv", "x" * 500 + ".csv", "ünï 😀.csv"]
)
def test_what_is_brought_gets_a_name_of_ours(tmp_path: Path, name: str) -> None:
    project = Project(tmp_path / "p")
    kept = project.keep(name, b"time,a\n0,0\n1,1\n")
    assert len(kept) == 1
    path = (tmp_path / "p" / kept[0]).resolve()
    assert path.is_relative_to((tmp_path / "p" / "files").resolve())
    assert path.is_file()
    assert sorted(one.name for one in tmp_path.iterdir()) == ["p"]


def test_names_are_made_plain() -> None:
    assert plain("a b/../c") == "a-b-..-c"
    assert plain("...") == "unnamed"
    assert plain("") == "unnamed"
    assert not plain(".hidden").startswith(".")


def test_files_of_no_use_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="can be opened"):
        Project(tmp_path).keep("virus.exe", b"MZ")


def zipped(members: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()


def test_a_zip_is_unpacked_inside(tmp_path: Path) -> None:
    kept = Project(tmp_path).keep("bundle.zip", zipped({"a/b.csv": b"time,a\n0,0\n", "c.csv": b"time,a\n0,0\n"}))
    assert [Path(one).name for one in kept] == ["b.csv", "c.csv"]
    assert all((tmp_path / one).is_file() for one in kept)


@pytest.mark.parametrize("name", ["../x.csv", "/x.csv", "a/../../x.csv", "..\\x.csv", "C:\\x.csv"])
def test_zips_that_lead_out_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput, match="leads out"):
        Project(tmp_path / "p").keep("bundle.zip", zipped({name: b"x"}))
    assert not any(path.suffix == ".csv" for path in tmp_path.rglob("*"))


@pytest.mark.parametrize("target", ["../../../out", "../../../nowhere", "loop"])
def test_a_zip_is_not_unpacked_through_a_link(tmp_path: Path, target: str) -> None:
    """A project from a stranger: where its ZIP would be unpacked lies a link; nothing is written, not even beside the link."""
    (tmp_path / "out").mkdir()
    data = zipped({"first.csv": b"time,a\n0,0\n", "loop/deep/x.csv": b"x"})
    home = tmp_path / "p" / "files" / hashlib.sha256(data).hexdigest()[:10]
    home.mkdir(parents=True)
    (home / "loop").symlink_to(target)
    with pytest.raises(BadInput, match="link"):
        Project(tmp_path / "p").keep("bundle.zip", data)
    assert not any(path.suffix == ".csv" for path in tmp_path.rglob("*"))
    assert sorted(one.name for one in tmp_path.iterdir()) == ["out", "p"]
    assert list((tmp_path / "out").iterdir()) == []


def test_zip_bombs_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="more than"):
        Project(tmp_path).keep("bomb.zip", zipped({f"{k}.csv": bytes(40 * 2**20) for k in range(8)}))
    with pytest.raises(BadInput, match="files"):
        Project(tmp_path).keep("many.zip", zipped({f"{k}.csv": b"" for k in range(600)}))
    link = zipfile.ZipInfo("link.csv")
    link.external_attr = 0o120777 << 16
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(link, "/etc/passwd")
    with pytest.raises(BadInput, match="link"):
        Project(tmp_path).keep("link.zip", stream.getvalue())
    with pytest.raises(BadInput, match="ZIP"):
        Project(tmp_path).keep("no.zip", b"PK\x03\x04 nothing")


def test_project_files_are_checked() -> None:
    assert read_project_yaml(b"bunraku: project/1\ncharacter: nao\n", file="p").character == "nao"
    for text in (
        b"bunraku: project/2\n",
        b"bunraku: clip/1\n",
        b"bunraku: project/1\nodd: 1\n",
        b"bunraku: project/1\nmode: fast\n",
    ):
        with pytest.raises(BadInput):
            read_project_yaml(text, file="p")
    bomb = b"bunraku: project/1\nrecipe:\n  a: &a [1,1,1,1,1,1,1,1,1,1]\n" + b"".join(
        f"  {chr(98 + k)}: &{chr(98 + k)} [{', '.join(['*' + chr(97 + k)] * 10)}]\n".encode() for k in range(8)
    )
    with pytest.raises(BadInput):
        read_project_yaml(bomb, file="p")
