"""Damaged surfaces come back closed with what was done noted, or are refused by name."""

from __future__ import annotations

import numpy as np
import pytest

from _surfaces import RoundLimb, box, limb_surface, sphere
from bunraku.errors import BadInput
from bunraku.geometry.surfaces.checks import check_surface
from bunraku.geometry.surfaces.mending import merged, unpinched, with_holes_filled, without_doubles
from bunraku.geometry.surfaces.repair import extracted, repaired, united
from bunraku.geometry.surfaces.surface import Surface, joined
from bunraku.geometry.surfaces.topology import boundary_loops, genus

pytest.importorskip("igl")
pytest.importorskip("manifold3d")
BALL = sphere(0.1, 12)


def near(surface: Surface, place: list[float], reach: float) -> np.ndarray:
    """Which faces have their middle within ``reach`` of a place."""
    return np.linalg.norm(surface.corners.mean(axis=1) - place, axis=1) < reach


def test_a_sound_surface_stays_as_it_is() -> None:
    found = repaired(BALL)
    assert found.notes == ()
    np.testing.assert_array_equal(found.surface.vertices, BALL.vertices)
    np.testing.assert_array_equal(found.surface.faces, BALL.faces)


def test_triangles_of_their_own_are_put_together() -> None:
    rng = np.random.default_rng(2)
    soup = BALL.corners.reshape(-1, 3) + 1e-10 * rng.normal(size=(3 * len(BALL.faces), 3))
    found = repaired(Surface(soup, np.arange(len(soup)).reshape(-1, 3)))
    assert found.notes == (f"merged {len(soup) - len(BALL.vertices)} vertices with others at the same place",)
    assert found.surface.volume() == pytest.approx(BALL.volume(), rel=1e-7)
    assert genus(found.surface.faces) == 0


def test_faces_that_look_inwards_are_turned() -> None:
    flipped = near(BALL, BALL.corners[0].mean(axis=0).tolist(), 0.04)
    assert flipped.sum() > 5
    faces = np.where(flipped[:, None], BALL.faces[:, ::-1], BALL.faces)
    found = repaired(Surface(BALL.vertices, faces))
    assert found.notes == (f"turned over {flipped.sum()} faces to look the same way as their neighbours",)
    assert found.surface.volume() == pytest.approx(BALL.volume())
    assert repaired(BALL.flipped()).surface.volume() == pytest.approx(BALL.volume())


def test_doubles_and_faces_without_area_are_dropped() -> None:
    fin = [[0, 1, 0], [5, 5, 7]]
    found = repaired(Surface(BALL.vertices, np.concatenate([BALL.faces, BALL.faces[:4], fin])))
    assert found.notes == ("dropped 6 faces without area or there twice",)
    assert len(found.surface.faces) == len(BALL.faces)
    # A face and its back enclose nothing: both go.
    both, count = without_doubles(Surface(BALL.vertices, np.concatenate([BALL.faces, [[0, 40, 80], [80, 40, 0]]])))
    assert (count, len(both.faces)) == (2, len(BALL.faces))


def test_a_small_hole_is_filled_and_a_large_one_refused_with_its_place() -> None:
    at = BALL.vertices[50]
    small = BALL.part(~(BALL.faces == 50).any(axis=1))
    found = repaired(small, largest_hole=0.15)
    across = max(
        np.linalg.norm(p - q)
        for p in small.vertices[boundary_loops(small.faces)[0]]
        for q in small.vertices[boundary_loops(small.faces)[0]]
    )
    place = "({:.0f}, {:.0f}, {:.0f})".format(*1e3 * small.vertices[boundary_loops(small.faces)[0]].mean(axis=0))
    assert found.notes == (f"filled 1 hole, the largest {1e3 * across:.3g} mm across at {place} mm",)
    assert found.surface.volume() == pytest.approx(BALL.volume(), rel=0.01)
    assert np.linalg.norm(found.surface.vertices - at, axis=1).min() < 0.1 * across
    large = BALL.part(~near(BALL, [0, 0, 0.1], 0.05) & ~near(BALL, [0.1, 0, 0], 0.02))
    with pytest.raises(BadInput, match=r"2 holes, the largest 1\d\d mm across at \(-?0, -?0, 8\d\) mm; holes up to 17[\d.]* mm"):
        repaired(large)


def test_a_filled_hole_of_three_edges_is_one_face() -> None:
    cut = Surface(BALL.vertices, BALL.faces[1:])
    filled = with_holes_filled(cut, boundary_loops(cut.faces))
    assert len(filled.vertices) == len(BALL.vertices)
    assert {*filled.faces[-1].tolist()} == {*BALL.faces[0].tolist()}
    assert filled.volume() == pytest.approx(BALL.volume())


def test_bodies_that_overlap_are_united() -> None:
    shift = 0.12
    other = sphere(0.1, 20)
    both = joined([other, other.moved(lambda points: points + np.array([shift, 0.003, 0.002]))])
    found = repaired(both)
    assert found.notes == ("united 2 bodies",)
    d = np.linalg.norm([shift, 0.003, 0.002])
    lens = np.pi / 12 * (0.4 + d) * (0.2 - d) ** 2
    assert found.surface.volume() == pytest.approx(2 * 4 / 3 * np.pi * 1e-3 - lens, rel=0.01)
    assert check_surface(found.surface).genus == (0,)
    # What lies wholly inside, a cavity or another body, is swallowed.
    nested = repaired(joined([BALL, BALL.moved(lambda points: 0.5 * points).flipped()]))
    assert nested.surface.volume() == pytest.approx(BALL.volume())
    assert united([BALL]).volume() == pytest.approx(BALL.volume())


def test_separate_bodies_are_refused_or_crumbs_dropped() -> None:
    far = BALL.moved(lambda points: points + np.array([0.5, 0, 0]))
    with pytest.raises(BadInput, match=r"2 separate bodies: 4\.\d* l around \(-?\d+, .*join them or give one"):
        repaired(joined([BALL, far]))
    crumb = BALL.moved(lambda points: 0.01 * points + [0.5, 0, 0])
    assert repaired(joined([BALL, crumb])).notes == ("dropped 1 bodies of less than 0.01 % of the volume",)
    pebble = BALL.moved(lambda points: 0.2 * points + [0.5, 0, 0])
    assert "dropped 1 separate bodies of less than 5 % of the volume" in repaired(joined([BALL, pebble])).notes


def test_a_surface_that_crosses_itself_is_extracted_anew() -> None:
    """A tube bent to more than a full circle, its ends in each other: one body with a handle, a torus."""
    R, r = 0.2, 0.04
    straight = limb_surface(
        [RoundLimb(np.array([[0, 0, 0], [R * (2 * np.pi + 0.3), 0, 0]]), np.array([r, r]))], spacing=0.011, blend=0.01
    )

    def bent(p: np.ndarray) -> np.ndarray:
        angle, ring = p[:, 0] / R, R - p[:, 1]
        return np.stack([ring * np.sin(angle), R - ring * np.cos(angle), p[:, 2]], axis=1)

    tube = straight.moved(bent)
    assert check_surface(tube, crossings=False).sound
    found = repaired(tube, spacing=0.007)
    assert len(found.notes) == 1
    assert found.notes[0].startswith("extracted anew on a grid of 7 mm because of ")
    assert "pairs of faces that cross" in found.notes[0]
    assert found.notes[0].endswith("it has 1 handles")
    assert found.surface.volume() == pytest.approx(2 * np.pi**2 * R * r * r, rel=0.03)
    report = check_surface(found.surface)
    assert report.sound
    assert report.genus == (1,)


def test_what_would_be_lost_is_refused() -> None:
    """A ball of which one half is mirrored: it goes around that half minus once, and extracting it would lose it."""
    mirrored = sphere(0.1, 12).moved(
        lambda points: points * np.stack([np.ones(len(points)), np.sign(points[:, 0] + 1e-9), np.ones(len(points))], axis=1)
    )
    with pytest.raises(BadInput, match=r"pairs of faces that cross, around \(-?\d+, .* lost: mend it by hand"):
        repaired(mirrored, spacing=0.008)


def test_edges_with_more_than_two_faces() -> None:
    # Two boxes that share an edge: extracted as one body; a fin on an edge: dropped.
    one = box([0.1, 0.1, 0.1])
    found = repaired(joined([one, one.moved(lambda points: points + np.array([0.1, 0.1, 0.0]))]), spacing=0.005)
    assert "1 edges with more than two faces" in found.notes[-1]
    assert found.surface.volume() == pytest.approx(0.002, rel=0.02)
    a, b = BALL.faces[0, :2]
    finned = Surface(
        np.concatenate([BALL.vertices, [1.2 * BALL.vertices[a]]]), np.concatenate([BALL.faces, [[a, b, len(BALL.vertices)]]])
    )
    assert repaired(finned).notes == ("dropped 1 faces of fins that stand on an edge and enclose nothing",)


def test_pinched_vertices_are_taken_apart() -> None:
    one = box([1.0, 1.0, 1.0])
    both, count = merged(joined([one, one.moved(lambda points: points + 1.0)]), 1e-9)
    assert count == 1
    apart, count = unpinched(both)
    assert count == 1
    assert check_surface(apart, crossings=False).components == 2


def test_a_band_with_one_side_is_refused() -> None:
    n, across = 30, np.linspace(-0.3, 0.3, 4)
    u, w = np.meshgrid(2 * np.pi * np.arange(n) / n, across, indexing="ij")
    ring = 1 + w * np.cos(u / 2)
    points = np.stack([ring * np.cos(u), ring * np.sin(u), w * np.sin(u / 2)], axis=-1).reshape(-1, 3)
    faces = []
    for i in range(n):
        for j in range(3):
            a, b = 4 * i + j, 4 * i + j + 1
            c, d = (a + 4, b + 4) if i < n - 1 else (3 - j, 2 - j)
            faces += [[a, c, d], [a, d, b]]
    with pytest.raises(BadInput, match="one side only"):
        repaired(Surface(points, np.array(faces)))


def test_extraction_keeps_what_is_sound() -> None:
    found = extracted(BALL, 0.005)
    assert np.abs(np.linalg.norm(found.vertices, axis=1) - 0.1).max() < 0.001
    assert found.volume() == pytest.approx(BALL.volume(), rel=0.01)
