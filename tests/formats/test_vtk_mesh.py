"""VTK files written here by hand, after the format's documentation, and read back."""

from __future__ import annotations

import random

import numpy as np
import pytest

from bunraku.errors import BadInput, BunrakuError
from bunraku.formats.vtk_mesh import read_vtk, read_vtu
from bunraku.geometry.meshing.shapes import box, rod
from bunraku.geometry.tet_mesh import TetMesh

LINEAR, CURVED = box((1, 2, 3), (1, 1, 2), order=1), rod(0.1, 0.02, layers=2)


def words(values: object) -> str:
    return " ".join(repr(v) for v in np.ravel(values).tolist())


def legacy(mesh: TetMesh, new: bool = False) -> str:
    """Either form of CELLS, with one triangle before the tetrahedra, points nine numbers a line."""
    k, kind = mesh.cells.shape[1], 10 if mesh.order == 1 else 24
    flat = mesh.nodes.ravel().tolist()
    lines = [f"# vtk DataFile Version {'5.1' if new else '3.0'}", "a part", "ASCII", "DATASET UNSTRUCTURED_GRID"]
    lines += ["FIELD FieldData 1", "TIME 1 2 double", "0 1"] if new else []
    lines += [f"POINTS {len(mesh.nodes)} double", *(words(flat[i : i + 9]) for i in range(0, len(flat), 9))]
    count = len(mesh.cells) + 1
    if new:
        lines += ["METADATA", "INFORMATION 0", ""]
        lines += [f"CELLS {count + 1} {3 + mesh.cells.size}", "OFFSETS vtktypeint64", words([0, *(3 + k * np.arange(count))])]
        lines += ["CONNECTIVITY vtktypeint64", "0 1 2", *(words(row) for row in mesh.cells)]
    else:
        lines += [f"CELLS {count} {4 + (k + 1) * len(mesh.cells)}", "3 0 1 2", *(f"{k} " + words(row) for row in mesh.cells)]
    lines += [f"CELL_TYPES {count}", "5", *([str(kind)] * len(mesh.cells)), f"CELL_DATA {count}", "SCALARS s int", "whatever"]
    return "\n".join(lines)


def xml(mesh: TetMesh) -> str:
    k, kind = mesh.cells.shape[1], 10 if mesh.order == 1 else 24
    return f"""<?xml version="1.0"?>
<VTKFile type="UnstructuredGrid" version="0.1" byte_order="LittleEndian">
<UnstructuredGrid><Piece NumberOfPoints="{len(mesh.nodes)}" NumberOfCells="{len(mesh.cells)}">
<PointData/><Points><DataArray type="Float64" NumberOfComponents="3" format="ascii">
{words(mesh.nodes)}
</DataArray></Points>
<Cells><DataArray type="Int64" Name="connectivity" format="ascii">{words(mesh.cells)}</DataArray>
<DataArray type="Int64" Name="offsets" format="ascii">{words(k * np.arange(1, len(mesh.cells) + 1))}</DataArray>
<DataArray type="UInt8" Name="types" format="ascii">{words(np.full(len(mesh.cells), kind))}</DataArray></Cells>
</Piece></UnstructuredGrid></VTKFile>"""


@pytest.mark.parametrize("mesh", [LINEAR, CURVED], ids=["linear", "curved"])
def test_a_mesh_is_read_back(mesh: TetMesh) -> None:
    for found in (
        read_vtk(legacy(mesh).encode(), file="part.vtk"),
        read_vtk(legacy(mesh, new=True).encode(), file="part.vtk"),
        read_vtu(xml(mesh).encode(), file="part.vtu"),
    ):
        np.testing.assert_array_equal(found.nodes, mesh.nodes)
        np.testing.assert_array_equal(found.cells, mesh.cells)


GOOD, XML = legacy(LINEAR), xml(LINEAR)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (GOOD.replace("# vtk", "vtk"), "line 1"),
        (GOOD.replace("ASCII", "BINARY"), "line 3: .*save it as ASCII"),
        (GOOD.replace("UNSTRUCTURED_GRID", "POLYDATA"), "line 4: .*no unstructured grid"),
        (GOOD.replace("POINTS 12", "POINTS 1200000000"), "line 5: .*more than the file can hold"),
        (GOOD.replace("-0.5", "inf", 1), "not finite"),
        (GOOD.replace("POINTS 12", "POINTS -3"), "line 5: .*negative"),
        (GOOD.replace("\n10\n", "\n12\n", 1), "cell 1 has type 12"),
        (GOOD.replace("4 0", "4 99", 1), "names a point that is not there"),
        (GOOD.replace("CELL_TYPES 13", "CELL_TYPES 12"), "13 cells and 12 cell types|must begin"),
        (GOOD.replace("POINTS 12", "POINTS 11"), "is left over"),
        (GOOD[:200], "cut short"),
    ],
)
def test_damaged_legacy_files_are_named(text: str, expected: str) -> None:
    with pytest.raises(BadInput, match=expected) as caught:
        read_vtk(text.encode(), file="part.vtk")
    assert str(caught.value).startswith("part.vtk")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (XML.replace('format="ascii"', 'format="binary"', 1), "line 4, DataArray: .*save the file as ASCII"),
        (XML.replace('type="UnstructuredGrid"', 'type="PolyData"'), "line 2, VTKFile: .*UnstructuredGrid is needed"),
        (XML.replace("-0.5", "x", 1), "line 4, DataArray: .*no number"),
        (XML.replace('Name="types"', 'Name="kinds"'), "types is missing"),
        (XML.replace("<?xml", '<!DOCTYPE a [<!ENTITY b "c">]><?xml'), "part.vtu"),
        (XML[:300], "not well-formed"),
        (XML.replace("10 10", "10.5 10", 1), "no whole number"),
    ],
)
def test_damaged_xml_files_are_named(text: str, expected: str) -> None:
    with pytest.raises(BadInput, match=expected) as caught:
        read_vtu(text.encode(), file="part.vtu")
    assert str(caught.value).startswith("part.vtu")


@pytest.mark.parametrize("form", ["old", "new", "xml"])
def test_mutated_files_end_well(form: str) -> None:
    good = xml(LINEAR) if form == "xml" else legacy(LINEAR, new=form == "new")
    rng = random.Random(11)
    absurd = ["1e400", "nan", "-1", "99999999999999999999", "9" * 5000, "x", "", "\n", "CELLS", "0", "<"]
    for _ in range(500):
        parts = good.split(" ")
        for _ in range(rng.randint(1, 3)):
            parts[rng.randrange(len(parts))] = rng.choice(absurd)
        text = " ".join(parts)[: rng.randint(0, 2 * len(good))].encode()
        message = "part"
        try:
            (read_vtu if form == "xml" else read_vtk)(text, file="part")
        except BunrakuError as error:
            message = str(error)
        assert message.startswith("part")
