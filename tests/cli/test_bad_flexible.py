"""Flexible characters that cannot be: one line that names what is wrong, exit code 2, and nothing written."""

from __future__ import annotations

import numpy as np
import pytest
from tet_meshes import linear

from bunraku.character import Body, Character, ElasticMaterial, FlexiblePart, Joint, Motor, PartShape, Pose
from bunraku.cli.main import _run
from bunraku.flow import compiling
from bunraku.formats.character_yaml import write_character_yaml
from bunraku.formats.registry import write_clip
from bunraku.geometry.meshing.shapes import box
from bunraku.geometry.tet_mesh import TetMesh
from bunraku.motion import Clip, JointCurves

STRIP = (0.004, 0.012, 0.2)
MESHED = PartShape(kind="mesh", file="arm.msh")


def described(shape: PartShape, tip: float = 0.2, **motor) -> str:
    """A part of 0.2 m upright on a motor, as a file."""
    return write_character_yaml(
        Character(
            name="arm",
            bodies=(
                Body(name="hub", mass=0.1, inertia=(1e-4,) * 3 + (0.0,) * 3),
                Body(name="tip", mass=0.1, inertia=(1e-5,) * 3 + (0.0,) * 3),
            ),
            joints=(
                Joint(name="shoulder", kind="hinge", parent="world", child="hub", axis=(0.0, 1.0, 0.0)),
                Joint(name="arm", kind="fixed", parent="hub", child="tip", pose=Pose(position=(0.0, 0.0, tip))),
            ),
            motors=(Motor(name="shoulder", coordinate="shoulder", **motor),),
            materials=(ElasticMaterial(name="pla", young=3.5e9, poisson=0.35, density=1240.0),),
            flexibles=(FlexiblePart(name="arm", material="pla", shape=shape, base="hub", children=({"body": "tip"},)),),
        )
    )


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
def refused(tmp_path, monkeypatch, capfd):
    """Run inspect and perform on what was written; both must end with the words in one line, exit code 2, and no new file."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(compiling, "compile_ahead", lambda *_, **__: None)

    def check(text: str, clip: np.ndarray, *words: str, inspects: bool = True, mesh: TetMesh | None = None) -> str:
        (tmp_path / "arm.character.yaml").write_text(text)
        if mesh is not None:
            (tmp_path / "arm.msh").write_text(msh(mesh))
        write_clip(tmp_path / "move.clip.yaml", Clip("move", joints=JointCurves(("shoulder",), 50.0, clip[:, None])))
        before = {path.name for path in tmp_path.iterdir()}
        commands = [["perform", "arm.character.yaml", "move.clip.yaml", "-o", "out.performance.npz"]]
        commands += [["inspect", "arm.character.yaml"]] if inspects else []
        said = ""
        for command in commands:
            assert _run(command) == 2, command
            out, err = capfd.readouterr()
            said = err.strip().splitlines()[-1]
            assert said.startswith("bunraku: ")
            assert "internal error" not in said
            assert out == ""
            for word in words:
                assert word in said
        assert {path.name for path in tmp_path.iterdir()} == before
        return said

    return check


NOD = 0.1 * np.sin(2.0 * np.arange(51) / 50.0)


def inverted(mesh: TetMesh) -> TetMesh:
    cells = mesh.cells.copy()
    cells[3] = cells[3][[1, 0, 2, 3]]
    return TetMesh(mesh.nodes, cells, mesh.patches)


def twice(mesh: TetMesh) -> TetMesh:
    n = len(mesh.nodes)
    return TetMesh(np.vstack([mesh.nodes, mesh.nodes + 1.0]), np.vstack([mesh.cells, mesh.cells + n]), mesh.patches)


def test_an_inverted_mesh(refused) -> None:
    refused(described(MESHED), NOD, "'arm'", "arm.msh", "cell 3 is inverted", mesh=inverted(linear(box(STRIP, (1, 1, 8)))))


def test_a_mesh_in_two_pieces(refused) -> None:
    refused(described(MESHED), NOD, "'arm'", "arm.msh", "2 pieces that share no node", mesh=twice(linear(box(STRIP, (1, 1, 8)))))


def test_interfaces_that_do_not_touch(refused) -> None:
    """A mesh in millimetres; a body that is said to stand a metre beyond the end of its rod."""
    big = linear(box(STRIP, (1, 1, 8))).moved(lambda X: 1000.0 * X)
    refused(described(MESHED), NOD, "'arm' does not touch the body 'tip'", "'end' is 200 m away", "metres", mesh=big)
    far = described(PartShape(kind="box", size=STRIP, cell=0.05), tip=1.2)
    refused(far, NOD, "'arm' does not touch the body 'tip'", "'end' is 1 m away")


@pytest.mark.parametrize("poisson", ["0.5", "0.7"])
def test_a_material_that_cannot_be_compressed(refused, poisson) -> None:
    text = described(PartShape(kind="box", size=STRIP, cell=0.05))
    assert "poisson: 0.35" in text
    line = text[: text.index("poisson: 0.35")].count("\n") + 1
    said = refused(text.replace("poisson: 0.35", f"poisson: {poisson}"), NOD, "materials[0].poisson", "less than 0.5")
    assert f"line {line}" in said


def test_cells_larger_than_the_plate(refused) -> None:
    outline = ((-0.02, -0.002), (0.02, -0.002), (0.02, 0.002), (-0.02, 0.002))
    plate = PartShape(kind="plate", outline=outline, thickness=0.2, cell=0.05)
    refused(described(plate), NOD, "triangles of 0.05 m do not fit into an outline 0.004 m wide")


def test_a_clip_faster_than_the_motors(refused) -> None:
    """10 rad/s at 0.5 s on a motor of 4 rad/s; and on one whose speed without load is 4 rad/s."""
    fast = np.where(np.arange(51) > 25, 0.2, 0.0)
    shape = PartShape(kind="box", size=STRIP, cell=0.05)
    for motor in ({"velocity": 4.0}, {"no_load_speed": 4.0, "stall_torque": 1.0}):
        words = ("'shoulder'", "10 rad/s at 0.5 s", "reaches 4 rad/s", "slow the clip down by 2.5")
        refused(described(shape, **motor), fast, *words, inspects=False)


def test_a_simulation_that_diverges_says_when_where_and_why(refused) -> None:
    """A motor without any limit that jumps by six turns: the time, the part and the cause are said."""
    jump = NOD + np.where(np.arange(51) > 30, 40.0, 0.0)
    shape = PartShape(kind="box", size=STRIP, cell=0.05)
    said = refused(described(shape), jump, "ended at t = 0.", "of the flexible part 'arm'", "motors", inspects=False)
    time = float(said.split("ended at t = ")[1].split(" s")[0])
    assert 0.3 < time < 0.7
