"""gmsh files written here by hand, after the format's documentation, and read back."""

from __future__ import annotations

import random

import numpy as np
import pytest

from bunraku.errors import BadInput, BunrakuError
from bunraku.formats.gmsh_mesh import read_gmsh
from bunraku.geometry.meshing.shapes import box, rod
from bunraku.geometry.tet_mesh import TetMesh

TO_GMSH = [0, 1, 2, 3, 4, 5, 6, 7, 9, 8]


def version_2(mesh: TetMesh) -> str:
    """Version 2.2 with node numbers that begin at 11, and the patch ``end`` as physical surface 5."""
    tet, tri = (4, 2) if mesh.order == 1 else (11, 9)
    lines = ["$MeshFormat", "2.2 0 8", "$EndMeshFormat", "$PhysicalNames", "2", '2 5 "tip face"', '3 6 "rod"', "$EndPhysicalNames"]
    lines += ["$Nodes", str(len(mesh.nodes) + 1)]
    lines += [f"{i + 11} {x!r} {y!r} {z!r}" for i, (x, y, z) in enumerate(mesh.nodes.tolist())]
    lines += ["7 9.0 9.0 9.0", "$EndNodes", "$Elements", str(len(mesh.cells) + len(mesh.faces("end")) + 1), "1 15 2 0 1 7"]
    for row in mesh.faces("end") + 11:
        lines.append(f"{len(lines)} {tri} 2 5 1 " + " ".join(map(str, row)))
    for row in mesh.cells + 11:
        lines.append(f"{len(lines)} {tet} 2 6 1 " + " ".join(str(row[i]) for i in TO_GMSH[: len(row)]))
    return "\n".join([*lines, "$EndElements", ""])


def version_4(mesh: TetMesh) -> str:
    """Version 4.1 with the nodes in two blocks and entities that carry the physical groups."""
    tet, tri = (4, 2) if mesh.order == 1 else (11, 9)
    n, half = len(mesh.nodes), len(mesh.nodes) // 2
    box_of = "0 0 0 1 1 1"
    lines = ["$MeshFormat", "4.1 0 8", "$EndMeshFormat", "$PhysicalNames", "1", '2 5 "tip face"', "$EndPhysicalNames"]
    lines += [
        "$Entities",
        "1 1 2 1",
        "1 0 0 0 0 ",
        f"1 {box_of} 0 2 1 -1",
        f"1 {box_of} 1 5 1 1",
        f"2 {box_of} 0 1 1",
        f"1 {box_of} 0 2 1 2",
    ]
    lines += ["$EndEntities", "$Nodes", f"2 {n} 1 {n}"]
    for dimension, rows in ((2, range(half)), (3, range(half, n))):
        lines += [f"{dimension} 1 0 {len(rows)}", *(str(i + 1) for i in rows)]
        lines += [" ".join(repr(x) for x in mesh.nodes[i].tolist()) for i in rows]
    lines += ["$EndNodes", "$Elements", f"2 {len(mesh.cells) + len(mesh.faces('end'))} 1 9999"]
    lines += [f"2 1 {tri} {len(mesh.faces('end'))}"]
    lines += [f"{k + 1} " + " ".join(map(str, row + 1)) for k, row in enumerate(mesh.faces("end"))]
    lines += [f"3 1 {tet} {len(mesh.cells)}"]
    lines += [f"{k + 900} " + " ".join(str(row[i] + 1) for i in TO_GMSH[: len(row)]) for k, row in enumerate(mesh.cells)]
    return "\n".join([*lines, "$EndElements", "$Periodic", "0", "$EndPeriodic", ""])


@pytest.mark.parametrize("write", [version_2, version_4])
@pytest.mark.parametrize("mesh", [box((1, 2, 3), (1, 1, 2), order=1), rod(0.1, 0.02, layers=2)], ids=["linear", "curved"])
def test_a_mesh_is_read_back(mesh: TetMesh, write: object) -> None:
    found = read_gmsh(write(mesh).encode(), file="part.msh")  # type: ignore[operator]
    np.testing.assert_array_equal(found.nodes, mesh.nodes)
    np.testing.assert_array_equal(found.cells, mesh.cells)
    assert set(found.patches) == {"tip face"}
    np.testing.assert_array_equal(np.unique(found.faces("tip face")), np.unique(mesh.faces("end")))


def test_cells_numbered_the_other_way_round_are_refused() -> None:
    mesh = box((1, 2, 3), (1, 1, 1), order=1)
    mirrored = TetMesh(mesh.nodes, mesh.cells[:, [1, 0, 2, 3]], mesh.patches)
    with pytest.raises(BadInput, match=r"part.msh: cell 0 is inverted .*6 of 6"):
        read_gmsh(version_2(mirrored).encode(), file="part.msh")


GOOD = version_2(box((1, 1, 1), (1, 1, 1), order=1))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (GOOD.replace("2.2 0 8", "3.0 0 8"), "line 2: version"),
        (GOOD.replace("2.2 0 8", "2.2 1 8"), "line 2: the file is binary"),
        (GOOD.replace("$MeshFormat", "solid", 1), "line 1: .*does not start"),
        (GOOD.replace("\n9\n", "\n900000000\n"), "line 10: 900000000 nodes are announced"),
        (GOOD.replace("11 -0.5", "11 nan"), "line 11: node 11.*not finite"),
        (GOOD.replace("12 0.5", "11 0.5"), "line 12: node 11 occurs twice"),
        (GOOD.replace(" 4 2 6 1 ", " 5 2 6 1 ", 1), "has 8|type 5 is not read"),
        (GOOD.replace("2 6 1 ", "2 6 1 77 ", 1), "has 4 nodes; 5 arrived"),
        ("\n".join(GOOD.split("\n")[:16]), "cut short"),
        (GOOD[: len(GOOD) // 2], "line 19: a node is written"),
        ("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n", "no .Nodes"),
    ],
)
def test_damaged_files_are_named_with_their_line(text: str, words: str) -> None:
    with pytest.raises(BadInput, match=words) as caught:
        read_gmsh(text.encode(), file="part.msh")
    assert str(caught.value).startswith("part.msh")
    assert "\n" not in str(caught.value)


def test_a_mesh_in_two_pieces_is_refused() -> None:
    mesh = box((1, 1, 1), (1, 1, 1), order=1)
    both = TetMesh(np.vstack([mesh.nodes, mesh.nodes + 5]), np.vstack([mesh.cells, mesh.cells + 8]), mesh.patches)
    with pytest.raises(BadInput, match=r"part.msh: the mesh falls into 2 pieces"):
        read_gmsh(version_4(both).encode(), file="part.msh")


@pytest.mark.parametrize("write", [version_2, version_4])
def test_mutated_files_end_well(write: object) -> None:
    good = write(box((1, 1, 1), (1, 1, 1), order=1))  # type: ignore[operator]
    rng = random.Random(7)
    absurd = ["1e400", "nan", "-1", "99999999999999999999", "9" * 5000, "x", "", "\n", "$Nodes", "0"]
    for _ in range(600):
        words = good.split(" ")
        for _ in range(rng.randint(1, 3)):
            words[rng.randrange(len(words))] = rng.choice(absurd)
        text = " ".join(words)[: rng.randint(0, 2 * len(good))]
        message = "part.msh"
        try:
            read_gmsh(text.encode(), file="part.msh")
        except BunrakuError as error:
            message = str(error)
        assert message.startswith("part.msh")
