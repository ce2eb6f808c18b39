"""Meshes of flexible parts beside a character file: they are the part, and what is wrong with them is said with file and line."""

from __future__ import annotations

import numpy as np
import pytest
from tet_meshes import linear

from bunraku.errors import BadInput
from bunraku.formats.character_yaml import write_character_yaml
from bunraku.formats.part_meshes import read_part_meshes
from bunraku.formats.registry import read_character
from bunraku.geometry.meshing.shapes import box
from bunraku.geometry.tet_mesh import TetMesh
from bunraku.mechanics.elastic.known_meshes import KNOWN_MESHES
from bunraku.mechanics.flexible.system import flexible_system

YAML = """bunraku: character/1
name: strip
bodies:
- {name: tip, mass_kg: 0.1, inertia_kg_m2: [1.0e-5, 1.0e-5, 1.0e-5, 0, 0, 0]}
joints:
- {name: strip, parent: world, child: tip, kind: fixed, pose: {position_m: [0, 0, 0.2]}}
materials:
- {name: pla, young_gpa: 3.5, poisson: 0.35, density_kg_m3: 1240}
flexibles:
- name: strip
  material: pla
  shape: SHAPE
  base: world
  base_patch: start
  children: [{body: tip, patch: end}]
"""
OWN = "{kind: box, size_m: [0.004, 0.012, 0.2], cell_m: 0.0125}"


def msh(mesh: TetMesh) -> str:
    """A gmsh 2.2 file of a linear mesh with its patches as physical surfaces."""
    names = sorted(mesh.patches)
    lines = ["$MeshFormat", "2.2 0 8", "$EndMeshFormat", "$PhysicalNames", str(len(names))]
    lines += [f'2 {i + 1} "{name}"' for i, name in enumerate(names)] + ["$EndPhysicalNames", "$Nodes", str(len(mesh.nodes))]
    lines += [f"{i + 1} {x!r} {y!r} {z!r}" for i, (x, y, z) in enumerate(mesh.nodes.tolist())]
    rows = [f"2 2 {i + 1} 1 " + " ".join(map(str, row)) for i, name in enumerate(names) for row in mesh.patches[name] + 1]
    rows += ["4 2 9 1 " + " ".join(map(str, row)) for row in mesh.cells + 1]
    lines += ["$EndNodes", "$Elements", str(len(rows)), *(f"{i + 1} {row}" for i, row in enumerate(rows)), "$EndElements", ""]
    return "\n".join(lines)


@pytest.fixture
def strip() -> TetMesh:
    return linear(box((0.004, 0.012, 0.2), (2, 2, 16)))


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Write a character whose part has the given shape, beside the given files; returns its path."""
    monkeypatch.setenv("BUNRAKU_CACHE", str(tmp_path / "cache"))

    def write(shape: str, **files: str):
        for name, text in files.items():
            (tmp_path / name.replace("_", ".")).write_text(text)
        path = tmp_path / "strip.character.yaml"
        path.write_text(YAML.replace("SHAPE", shape))
        return path

    return write


def test_a_mesh_beside_the_character_is_the_part(written, strip, monkeypatch) -> None:
    """Linear tetrahedra of a strip, read and made quadratic, vibrate as the strip of the mesher does."""
    own = flexible_system(read_character(written(OWN))).parts["strip"]
    path = written("{kind: mesh, file: arm.msh}", arm_msh=msh(strip))
    character = read_character(path)
    digest = character.flexibles[0].shape.digest
    assert len(digest) == 32
    part = flexible_system(character).parts["strip"]
    assert part.whole.solid.mesh.order == 2
    assert part.frequency == pytest.approx(own.frequency, rel=1e-6)
    assert flexible_system(character, meshes=read_part_meshes(character, path.parent)).parts["strip"].frequency == part.frequency
    monkeypatch.delitem(KNOWN_MESHES.known, digest)
    again = flexible_system(character).parts["strip"]
    np.testing.assert_array_equal(again.whole.solid.mesh.nodes, part.whole.solid.mesh.nodes)
    path.write_text(write_character_yaml(character))
    assert read_character(path) == character


def test_a_mesh_that_is_nowhere_is_asked_for(written, strip, monkeypatch) -> None:
    character = read_character(written("{kind: mesh, file: arm.msh}", arm_msh=msh(strip)))
    monkeypatch.setenv("BUNRAKU_CACHE", "off")
    monkeypatch.delitem(KNOWN_MESHES.known, character.flexibles[0].shape.digest)
    with pytest.raises(BadInput, match=r"the mesh 'arm.msh' of the flexible part 'strip' was not read; read the character"):
        flexible_system(character)


def inverted(mesh: TetMesh) -> TetMesh:
    cells = mesh.cells.copy()
    cells[3] = cells[3][[1, 0, 2, 3]]
    return TetMesh(mesh.nodes, cells, mesh.patches)


def twice(mesh: TetMesh) -> TetMesh:
    n = len(mesh.nodes)
    return TetMesh(np.vstack([mesh.nodes, mesh.nodes + 1.0]), np.vstack([mesh.cells, mesh.cells + n]), mesh.patches)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (inverted, r"line 12, flexibles\[0\]\.shape\.file: the flexible part 'strip': arm.msh: cell 3 is inverted"),
        (twice, r"line 12, .* the mesh falls into 2 pieces that share no node"),
        (
            lambda mesh: TetMesh(mesh.nodes, mesh.cells, {"start": mesh.patches["start"], "End": mesh.patches["end"]}),
            r"line 12, .* has no patch 'end'; did you mean End. known: End",
        ),
    ],
)
def test_bad_meshes_are_named_with_file_and_line(written, strip, change, words) -> None:
    with pytest.raises(BadInput, match=words) as caught:
        read_character(written("{kind: mesh, file: arm.msh}", arm_msh=msh(change(strip))))
    assert "strip.character.yaml" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("arm.stl", r"'arm.stl', a surface; tetrahedra are needed: .*gmsh -3 arm.stl -order 2 -o arm.msh"),
        ("arm.step", r"a mesh of kind '.step' is not read; these are: .msh, .vtk, .vtu"),
        ("gone.msh", r"the file 'gone.msh' it refers to: there is no such file"),
        ("../arm.msh", r"leads out of the folder"),
        ("/arm.msh", r"is not a relative path"),
    ],
)
def test_files_that_are_no_mesh_of_the_character_are_refused(written, file, words) -> None:
    with pytest.raises(BadInput, match=words):
        read_character(written(f"{{kind: mesh, file: {file}}}"))


def test_a_mesh_in_millimetres_does_not_touch(written, strip) -> None:
    big = strip.moved(lambda X: 1000.0 * X)
    character = read_character(written("{kind: mesh, file: arm.msh}", arm_msh=msh(big)))
    with pytest.raises(
        BadInput, match=r"'strip' does not touch the body 'tip': its patch 'end' is 200 m away .* the unit \(metres\)"
    ):
        flexible_system(character)
