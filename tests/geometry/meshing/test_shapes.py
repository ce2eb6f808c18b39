"""Sections, extrusion and ready shapes: volumes, conformity, curved nodes on their surfaces, the same mesh every time."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.geometry.meshing.extrude import extrude
from bunraku.geometry.meshing.outline import Circle, fill
from bunraku.geometry.meshing.section import disk, rectangle, ring
from bunraku.geometry.meshing.shapes import box, plate, rod, tube
from bunraku.geometry.tet_checks import check_mesh
from bunraku.geometry.tet_mesh import TetMesh, boundary_faces, cell_volumes

ANGLE = [(0, 0), (1, 0), (1, 0.3), (0.3, 0.3), (0.3, 1), (0, 1)]
SHAPES = {
    "rod": (rod(0.1, 0.01, layers=4, rings=2), np.pi * 0.005**2 * 0.1, 2e-4),
    "linear rod": (rod(0.1, 0.01, layers=4, order=1), 7 / 2 * np.sin(2 * np.pi / 7) * 0.005**2 * 0.1, 1e-12),
    "tube": (tube(0.1, 0.01, 0.001, layers=3), np.pi * (0.005**2 - 0.004**2) * 0.1, 2e-4),
    "box": (box((1, 2, 3), (2, 1, 2)), 6.0, 1e-12),
    "angle": (plate(ANGLE, 0.1, size=0.12, holes={"screw": Circle((0.15, 0.15), 0.05)}), 0.1 * (0.51 - np.pi * 0.05**2), 1e-4),
    "disk with holes": (
        plate(
            Circle((0, 0), 1), 0.1, size=0.3, layers=2, holes={"a": Circle((0.4, 0), 0.2), "b": [(-0.5, 0), (-0.3, 0), (-0.4, 0.2)]}
        ),
        0.1 * (np.pi * 0.96 - 0.02),
        1e-4,
    ),
}


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_are_sound_and_have_their_volume(name: str) -> None:
    mesh, volume, tolerance = SHAPES[name]
    check_mesh(mesh)
    assert cell_volumes(mesh).sum() == pytest.approx(volume, rel=tolerance)
    named = np.sort(np.vstack(list(mesh.patches.values()))[:, :3], axis=1)
    assert len(np.unique(named, axis=0)) == len(named) == len(boundary_faces(mesh))


def test_the_rod_of_the_study_has_its_size() -> None:
    mesh = rod(0.7, 0.004, layers=200)
    assert (3 * len(mesh.nodes), len(mesh.cells)) == (26466, 4200)
    assert cell_volumes(mesh).sum() / (np.pi * 0.002**2 * 0.7) == pytest.approx(0.9987, abs=1e-4)


def test_all_nodes_of_a_rod_s_side_lie_on_the_cylinder() -> None:
    mesh = rod(0.1, 0.01, layers=3, rings=2)
    np.testing.assert_allclose(np.hypot(*mesh.nodes[np.unique(mesh.faces("side")), :2].T), 0.005, rtol=1e-14)
    pipe = tube(0.1, 0.01, 0.001, layers=2, rings=2)
    np.testing.assert_allclose(np.hypot(*pipe.nodes[np.unique(pipe.faces("hole")), :2].T), 0.004, rtol=1e-14)
    wall = SHAPES["angle"][0]
    np.testing.assert_allclose(np.hypot(*(wall.nodes[np.unique(wall.faces("screw")), :2] - 0.15).T), 0.05, rtol=1e-14)


def test_ends_and_sides_are_where_their_names_say() -> None:
    mesh = box((1, 2, 3), (2, 2, 2))
    for name, axis, value in (("start", 2, 0), ("end", 2, 3), ("-x", 0, -0.5), ("+x", 0, 0.5), ("-y", 1, -1), ("+y", 1, 1)):
        np.testing.assert_allclose(mesh.nodes[np.unique(mesh.faces(name)), axis], value, atol=1e-15)
        assert len(mesh.faces(name)) == 8


def test_the_same_input_gives_the_same_bytes() -> None:
    again = plate(ANGLE, 0.1, size=0.12, holes={"screw": Circle((0.15, 0.15), 0.05)})
    assert again.nodes.tobytes() == SHAPES["angle"][0].nodes.tobytes()
    assert again.cells.tobytes() == SHAPES["angle"][0].cells.tobytes()


def test_triangles_of_an_outline_are_well_shaped() -> None:
    section = fill(ANGLE, 0.05)
    X = section.points[section.triangles]
    sides = np.linalg.norm(X - np.roll(X, 1, axis=1), axis=2)
    half = sides.sum(axis=1) / 2
    area = np.sqrt(half * (half - sides[:, 0]) * (half - sides[:, 1]) * (half - sides[:, 2]))
    assert (4 * np.sqrt(3) * area / (sides**2).sum(axis=1)).min() > 0.6
    assert section.area == pytest.approx(0.51, rel=1e-12)
    for corner in ANGLE:
        assert np.hypot(*(section.points - corner).T).min() == 0


def test_the_area_of_curved_sections() -> None:
    assert disk(1.0, rings=3, sectors=8).area == pytest.approx(np.pi, rel=1e-5)
    assert ring(0.5, 1.0, sectors=24).area == pytest.approx(0.75 * np.pi, rel=2e-5)
    assert rectangle(2, 3, columns=2, rows=3).area == pytest.approx(6, rel=1e-14)


def test_neighbouring_prisms_agree_however_vertices_are_numbered() -> None:
    section = disk(1.0, rings=3, sectors=6)
    number = np.random.default_rng(3).permutation(len(section.points))
    shuffled = type(section)(
        section.points[np.argsort(number)],
        number[section.triangles],
        np.sort(number[section.edges], axis=1),
        section.middles,
        section.loops,
    )
    mesh = check_mesh(extrude(shuffled, [0.0, 0.3, 0.5]))
    assert cell_volumes(mesh).sum() == pytest.approx(0.5 * section.area, rel=1e-12)


def test_bent_rods_are_still_sound() -> None:
    def bent(X: np.ndarray) -> np.ndarray:
        angle = X[:, 2] / 0.1
        return np.column_stack([0.1 - (0.1 - X[:, 0]) * np.cos(angle), X[:, 1], (0.1 - X[:, 0]) * np.sin(angle)])

    mesh = check_mesh(rod(0.1, 0.01, layers=20).moved(bent))
    assert cell_volumes(mesh).sum() == pytest.approx(0.9987 * np.pi * 0.005**2 * 0.1, rel=1e-3)
    assert isinstance(mesh, TetMesh)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: rod(0.0, 0.01, layers=3), "length along z is 0"),
        (lambda: rod(0.1, -1.0, layers=3), "radius is -0.5"),
        (lambda: rod(0.1, 0.01, layers=0), "0 layers"),
        (lambda: rod(0.1, 0.01, layers=3, sectors=2), "sectors is 2; at least 3"),
        (lambda: rod(0.1, 0.01, layers=3, order=3), "order 3"),
        (lambda: rod(0.1, 0.01, layers=10**7), "at most 3000000"),
        (lambda: tube(0.1, 0.01, 0.006, layers=3), "inner is -0.001"),
        (lambda: plate([(0, 0), (1, 1)], 0.1, size=0.1), "at least three"),
        (lambda: plate([(0, 0), (1, 1), (1, 0), (0, 1)], 0.1, size=0.1), "cross|larger than"),
        (lambda: plate([(0, 0), (1, 0), (2, 0)], 0.1, size=0.1), "larger than|no area"),
        (lambda: plate(ANGLE, 0.1, size=0.1, holes={"a": Circle((3, 3), 0.1)}), "outside"),
        (lambda: plate(ANGLE, 0.1, size=0.1, holes={"end": Circle((0.1, 0.1), 0.05)}), "named 'end'"),
        (lambda: plate(ANGLE, 0.1, size=1e-6), "at most 200000"),
        (lambda: plate([(0, 0), (1, 0), (1, 0.1), (0, 0.1)], 0.1, size=0.5), "triangles of 0.5 m do not fit into an outline 0.1 m"),
        (lambda: plate([(0, 0), (0, 0), (1, 0), (1, 1)], 0.1, size=0.1), "repeats the corner"),
    ],
)
def test_impossible_shapes_are_refused(make: object, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        make()  # type: ignore[operator]
