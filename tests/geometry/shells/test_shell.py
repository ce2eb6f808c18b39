"""Whole skins: tube, elbow, four-legged body; closed, of the right genus, thick enough, with good cells and exact folds."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from bunraku.errors import BadInput
from bunraku.geometry.shells.fold_region import FoldRegion, fold_profile
from bunraku.geometry.shells.shell import Shell, make_shell, shell_quality
from bunraku.geometry.shells.sole import SoleShell
from bunraku.geometry.shells.thickness import thickness_ratios
from bunraku.geometry.tet_checks import check_mesh
from bunraku.geometry.tet_mesh import boundary_faces, cell_volumes, straightened

Array = NDArray[np.float64]
Surface = tuple[Array, NDArray[np.int64]]
LEGS = [(x, y) for x in (-0.13, 0.13) for y in (-0.08, 0.08)]


def soft_soles(points: Array) -> Array:
    return np.where(points[:, 2] < 0.03, 0.008, 0.004)


def two_folds(around: int = 16) -> list[FoldRegion]:
    return [FoldRegion((0.0, 0.0, z), (0.0, 0.0, 1.0), 0.06, 2, 0.010, 0.0025, around) for z in (0.08, -0.06)]


@pytest.fixture(scope="module")
def folded_tube(tube: Surface) -> Shell:
    return make_shell(*tube, two_folds(), 0.022, 0.004)


def holds(shell: Shell, degrees: float = 8.0) -> None:
    """What every skin must be, counted anew from the mesh."""
    check_mesh(shell.mesh)
    assert shell.mesh.order == 2
    np.testing.assert_allclose(straightened(shell.mesh).nodes, shell.mesh.nodes, atol=1e-15)
    np.testing.assert_array_equal(shell.mesh.nodes[: 2 * len(shell.outer)], np.vstack([shell.outer, shell.inner]))
    V, F = len(shell.outer), shell.faces
    assert V - len(F) // 2 == 2
    assert len(shell.mesh.nodes) == 12 * V - 18
    boundary = {tuple(sorted(face)) for face in boundary_faces(shell.mesh)[:, :3].tolist()}
    assert boundary == {tuple(sorted(face)) for face in np.vstack([F, F + V]).tolist()}
    T = shell.outer[F]
    outside = np.einsum("ij,ij->i", T[:, 0], np.cross(T[:, 1], T[:, 2])).sum() / 6.0
    T = shell.inner[F]
    inside = np.einsum("ij,ij->i", T[:, 0], np.cross(T[:, 1], T[:, 2])).sum() / 6.0
    np.testing.assert_allclose(cell_volumes(shell.mesh).sum(), outside - inside, rtol=1e-9)
    q = shell_quality(shell)
    assert q.least_volume > 0.0
    assert np.degrees(q.least_angle) >= degrees
    assert q.thinnest >= 0.85
    assert (q.genus, q.crossings) == (0, 0)


def test_a_tube_with_two_folds_holds(folded_tube: Shell) -> None:
    holds(folded_tube)
    assert [int((folded_tube.region == r).sum()) for r in (0, 1)] == [160, 160]
    np.testing.assert_array_equal(folded_tube.thickness, folded_tube.asked)


def test_ring_vertices_lie_on_the_profile_and_walls_are_parallel(folded_tube: Shell) -> None:
    for fold, numbers in zip(two_folds(), folded_tube.rings, strict=True):
        s, cut = fold_profile(fold)
        X, Y = folded_tube.outer[numbers], folded_tube.inner[numbers]
        np.testing.assert_allclose(X[:, :, 2] - fold.middle[2], np.outer(s, np.ones(16)), atol=1e-12)
        flat = 0.038 * np.cos(np.pi / 40)
        radius = np.linalg.norm(X[:, :, :2], axis=2) + cut[:, None]
        assert (radius < 0.038 + 1e-12).all()
        assert (radius > flat - 1e-12).all()
        slope = np.arctan2(np.diff(cut), np.diff(s))
        normal = np.stack([np.sin(slope), np.cos(slope)], axis=1)
        mid = 0.5 * (X + np.roll(X, -1, axis=1))
        side = mid[:, :, :2] / np.linalg.norm(mid[:, :, :2], axis=2, keepdims=True)
        for row in range(2, len(s) - 3):
            for outer, inner in ((X[row], Y[row]), (X[row + 1], Y[row + 1])):
                offset = outer - inner
                across = (offset[:, :2] * side[row]).sum(axis=1) * normal[row, 1] + offset[:, 2] * normal[row, 0]
                np.testing.assert_allclose(across, 0.0025, rtol=0.03)


def test_volume_is_area_times_thickness_for_a_thin_skin(tube: Surface) -> None:
    shell = make_shell(*tube, [FoldRegion((0, 0, 0), (0, 0, 1), 0.1, 0, 0.0, 0.003, 18)], 0.018, 0.003)
    holds(shell)
    T = shell.outer[shell.faces]
    area = 0.5 * np.linalg.norm(np.cross(T[:, 1] - T[:, 0], T[:, 2] - T[:, 0]), axis=1).sum()
    curved = 1.0 - 0.0015 * (0.3 / 0.038 + 4.0) / (0.3 + 2 * 0.038)
    np.testing.assert_allclose(cell_volumes(shell.mesh).sum(), 0.003 * area * curved, rtol=0.01)


def test_thickness_goes_from_wall_to_body(folded_tube: Shell) -> None:
    far = np.abs(folded_tube.outer[:, 2]) > 0.14
    np.testing.assert_allclose(folded_tube.thickness[far], 0.004)
    np.testing.assert_allclose(folded_tube.thickness[folded_tube.region >= 0], 0.0025)
    ratios, _ = thickness_ratios(folded_tube.outer, folded_tube.inner, folded_tube.faces, folded_tube.thickness)
    in_fold = (folded_tube.region[folded_tube.faces] >= 0).all(axis=1)
    assert ratios[:, in_fold].min() > 0.93
    assert np.median(ratios[:, in_fold]) < 1.1


def test_an_elbow_with_a_fold_in_each_limb(elbow: Surface) -> None:
    folds = [
        FoldRegion((0.1, 0.0, 0.0), (1.0, 0.0, 0.0), 0.05, 2, 0.008, 0.0025, 14, profile="triangle", flank_rows=2),
        FoldRegion((0.0, 0.0, -0.1), (0.0, 0.0, -1.0), 0.05, 1, 0.008, 0.0025, 14),
    ]
    holds(make_shell(*elbow, folds, 0.024, 0.004))


def test_a_four_legged_body_with_eight_folds_and_flat_soles(quadruped: Surface) -> None:
    folds = [FoldRegion((x, y, z), (0, 0, 1), 0.056, 2, 0.008, 0.003, 14) for x, y in LEGS for z in (0.165, 0.07)]
    soles = [SoleShell((x, y, 0.0), (0, 0, 1), 0.016, 12) for x, y in LEGS]
    shell = make_shell(*quadruped, folds, 0.024, soft_soles, soles=soles)
    holds(shell)
    assert len(shell.mesh.nodes) > 14_000
    for numbers, (x, y) in zip(shell.soles, LEGS, strict=True):
        assert np.abs(shell.outer[numbers, 2]).max() < 1e-12
        np.testing.assert_allclose(shell.outer[numbers[-1], :2], [x, y], atol=0.002)
        np.testing.assert_allclose(shell.inner[numbers[12:], 2], 0.008, rtol=1e-3)


def test_the_same_body_coarsely(quadruped: Surface) -> None:
    folds = [FoldRegion((x, y, z), (0, 0, 1), 0.05, 0, 0.0, 0.004, 6, rows=1) for x, y in LEGS for z in (0.165, 0.07)]
    shell = make_shell(*quadruped, folds, 0.075, soft_soles, least_angle=np.radians(3.0))
    holds(shell, 3.0)
    assert 1_500 < len(shell.mesh.nodes) < 3_000


def test_a_skin_thicker_than_its_limb_is_thinned(tube: Surface) -> None:
    X = tube[0] * [0.25, 0.25, 0.5]
    shell = make_shell(X, tube[1], [], 0.007, 0.008)
    assert shell_quality(shell).thinned > 0.9 * len(shell.outer)
    assert shell.thickness.max() < 0.0095
    holds(shell)


def test_bad_surfaces_and_fields_are_refused(tube: Surface) -> None:
    X, F = tube
    for faces, words in ((F[1:], "not closed"), (F[:, ::-1], "inside out"), (F + 1, "vertices it does not have")):
        with pytest.raises(BadInput, match=words):
            make_shell(X, faces, [], 0.02, 0.004)
    with pytest.raises(BadInput, match="the size field"):
        make_shell(X, F, [], lambda P: np.zeros(len(P)), 0.004)


def test_flat_cells_are_refused_with_their_fold(tube: Surface) -> None:
    fold = FoldRegion((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), 0.25, 0, 0.0, 0.002, 8, rows=5)
    with pytest.raises(BadInput, match=r"near \(.*\) m in fold 0: a cell has a dihedral angle of .* more points a ring"):
        make_shell(*tube, [fold], 0.03, 0.004)
