"""STEP files: their entities exist, their shells are closed, what they enclose is the mesh's volume. Read by our own parser."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from bunraku.errors import BadInput
from bunraku.fabrication.shaping import Solid, ball, box, cylinder
from bunraku.formats.step_file import flat_faces, step_bytes, write_step

Array = NDArray[np.float64]


def _mesh(solid: Solid) -> tuple[Array, NDArray[np.int64]]:
    mesh = solid.to_mesh64()
    return np.asarray(mesh.vert_properties)[:, :3], np.asarray(mesh.tri_verts, dtype=np.int64)


class _Reader:
    """The entities of a STEP file by number: (name, text of their arguments)."""

    def __init__(self, text: str) -> None:
        data = text[text.index("DATA;") : text.rindex("ENDSEC;")]
        self.found = {
            int(number): (name, arguments)
            for number, name, arguments in re.findall(r"#(\d+)\s*=\s*([A-Z0-9_]*)\s*(\(.*?\));\n", data, flags=re.S)
        }

    def all(self, name: str) -> list[int]:
        return [number for number, (kind, _) in self.found.items() if kind == name]

    def references(self, number: int) -> list[int]:
        return [int(each) for each in re.findall(r"#(\d+)", self.found[number][1])]

    def triple(self, number: int) -> Array:
        inside = self.found[number][1]
        return np.array([float(part) for part in inside[inside.index(",(") + 2 : inside.index("))")].split(",")])

    def loop(self, bound: int) -> tuple[list[int], list[tuple[int, int]]]:
        """Vertices in order, and directed edges, of a bound."""
        (ring,) = self.references(bound)
        vertices, edges = [], []
        for oriented in self.references(ring):
            (curve,) = self.references(oriented)
            start, end, _ = self.references(curve)
            forward = self.found[oriented][1].rstrip(")").endswith(".T.")
            a, b = (start, end) if forward else (end, start)
            vertices.append(a)
            edges.append((a, b))
        return vertices, edges

    def place(self, vertex: int) -> Array:
        return self.triple(self.references(vertex)[0])


def _check(solid: Solid) -> tuple[_Reader, float]:
    """Every claim of the file's structure; returns the reader and the volume that the faces enclose."""
    text = step_bytes(*_mesh(solid), "a part").decode()
    file = _Reader(text)
    assert len(file.found) == text.count("\n#")
    for number in file.found:
        assert all(each in file.found for each in file.references(number))
    (brep,) = file.all("MANIFOLD_SOLID_BREP")
    (shell,) = file.references(brep)
    assert file.found[shell][0] == "CLOSED_SHELL"
    faces = file.references(shell)
    assert sorted(faces) == sorted(file.all("ADVANCED_FACE"))
    volume, used = 0.0, Counter[tuple[int, int]]()
    for face in faces:
        *bounds, plane = file.references(face)
        assert [file.found[bound][0] for bound in bounds] == ["FACE_OUTER_BOUND"] + ["FACE_BOUND"] * (len(bounds) - 1)
        origin, normal, _ = (file.triple(each) for each in file.references(file.references(plane)[0]))
        vector = np.zeros(3)
        for bound in bounds:
            vertices, edges = file.loop(bound)
            assert [end for _, end in edges] == [*vertices[1:], vertices[0]]
            used.update(edges)
            points = np.array([file.place(vertex) for vertex in vertices])
            assert np.abs((points - origin) @ normal).max() < 2e-4
            vector += np.cross(points - origin, np.roll(points, -1, axis=0) - origin).sum(axis=0) / 2.0
        assert vector @ normal > 0.999 * np.linalg.norm(vector)
        volume += float(origin @ vector) / 3.0
    assert set(used.values()) == {1}
    assert all((end, start) in used for start, end in used)
    return file, volume


@pytest.mark.parametrize(
    "solid",
    [
        box((10.0, -3.0, 2.0), (4.0, 5.0, 6.0)),
        box((0.0, 0.0, 0.0), (40.0, 30.0, 20.0)) - cylinder((0, 0, -20), (0, 0, 20), 5.0) - cylinder((-30, 0, 3), (30, 0, 3), 3.0),
        ball((100.0, 0.0, 0.0), 30.0) - box((100.0, 0.0, 20.0), (100.0, 100.0, 20.0)),
        box((0, 0, 0), (10, 10, 10)) + box((5, 5, 5), (10, 10, 10)),
    ],
    ids=["box", "drilled", "ball", "steps"],
)
def test_the_faces_of_the_file_enclose_the_solid(solid: Solid) -> None:
    _, volume = _check(solid)
    assert volume == pytest.approx(float(solid.volume()), rel=1e-6)


def test_a_box_has_six_faces_twelve_edges_eight_corners() -> None:
    file, _ = _check(box((0, 0, 0), (1, 2, 3)) + box((0, 0, 3), (1, 2, 3)))  # the two are one box, its middle edges are gone
    assert [len(file.all(kind)) for kind in ("ADVANCED_FACE", "EDGE_CURVE", "VERTEX_POINT")] == [6, 12, 8]


def test_a_hole_through_a_plate_is_a_second_bound() -> None:
    plate = box((0, 0, 0), (20, 20, 2)) - box((0, 0, 0), (4, 4, 4))
    faces = flat_faces(*_mesh(plate))
    assert sorted(len(face.loops) for face in faces) == [1] * 8 + [2, 2]
    x = _mesh(plate)[0]
    for face in faces:
        areas = []
        for loop in face.loops:
            points = x[loop]
            areas.append(float(np.cross(points, np.roll(points, -1, axis=0)).sum(axis=0) @ face.normal) / 2.0)
        assert areas[0] > 0.0
        assert all(area < 0.0 for area in areas[1:])


def test_units_are_millimetres_and_the_schema_is_named(tmp_path: Path) -> None:
    write_step(tmp_path / "part.step", *_mesh(box((0, 0, 0), (1, 1, 1))), "it's a bär")
    text = (tmp_path / "part.step").read_text("ascii")
    assert text.startswith("ISO-10303-21;\nHEADER;")
    assert text.endswith("END-ISO-10303-21;\n")
    assert "AUTOMOTIVE_DESIGN" in text
    assert "SI_UNIT(.MILLI.,.METRE.)" in text
    assert "'it_s a b_r'" in text


def test_an_open_mesh_is_refused() -> None:
    x, t = _mesh(box((0, 0, 0), (1, 1, 1)))
    with pytest.raises(BadInput, match="closed"):
        step_bytes(x, t[:-1])
    with pytest.raises(BadInput, match="both ways"):
        step_bytes(x, np.concatenate([t[:-1], t[-1:, ::-1]]))
