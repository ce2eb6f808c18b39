"""Links, brackets, bay and bracing units: screw holes that no edit moves, free servos, shells at their distance from the skin."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from bunraku.fabrication.checks import measure_hole
from bunraku.fabrication.draft import Hole
from bunraku.fabrication.mesh import TriangleMesh
from bunraku.fabrication.shaping import Solid, overlap, triangles
from bunraku.fabrication.skinned.bracing import GAP
from bunraku.fabrication.skinned.drawing import Skeleton
from bunraku.fabrication.skinned.layout import Layout
from bunraku.fabrication.skinned.links import draw_link
from bunraku.fabrication.skinned.report import SkinnedFabrication
from bunraku.fabrication.skinned.servos import PlacedServo, place_servos
from bunraku.fabrication.skinned.shell import SkinShell
from bunraku.geometry.surfaces.distance import closest_points
from bunraku.geometry.surfaces.surface import Surface


@pytest.fixture(scope="module")
def skeleton(made: tuple[SkinnedFabrication, Path]) -> Skeleton:
    return made[0].skeleton


def _mesh(solid: Solid) -> TriangleMesh:
    x, t = triangles(solid)
    return TriangleMesh(x[t])


def _pattern(holes: list[Hole], mesh: TriangleMesh, group: str) -> tuple[NDArray[np.float64], list[float]]:
    found = [measure_hole(mesh, hole) for hole in holes if hole.group == group]
    places = np.array([each.center for each in found])
    return np.linalg.norm(places[:, None] - places[None], axis=2), [each.diameter for each in found]


def test_screw_holes_keep_their_size_when_the_link_is_edited(layout: Layout) -> None:
    servos = place_servos(layout)
    hip, knee = servos["L.hip"], servos["L.knee"]
    seen = []
    for longer, width in ((0.0, 22.0), (35.0, 16.0), (60.0, 30.0)):
        moved = _moved(knee, np.array([0.0, longer, 0.0]))
        link = draw_link("link", (moved,), (hip,), np.zeros(3), width=width)
        mesh = _mesh(link.draft.solid())
        horn = _pattern(link.draft.holes, mesh, "horn of L.hip")
        ears = _pattern(link.draft.holes, mesh, "ears of L.knee")
        seen.append((horn, ears, float(mesh.volume()), mesh.size()))
    for horn, ears, _, _ in seen:
        assert sorted(horn[0][0]) == pytest.approx([0.0, 7.0 * np.sqrt(2.0), 7.0 * np.sqrt(2.0), 14.0], abs=0.02)
        assert horn[1] == pytest.approx([3.2] * 4, abs=0.05)
        assert sorted(ears[0][0]) == pytest.approx([0.0, 10.0, 49.5, np.hypot(49.5, 10.0)], abs=0.02)
        assert ears[1] == pytest.approx([4.5] * 4, abs=0.05)
    assert seen[2][3][1] - seen[0][3][1] == pytest.approx(60.0, abs=0.5)  # the edit itself did happen
    assert seen[2][2] > seen[0][2]


def _moved(servo: PlacedServo, by: NDArray[np.float64]) -> PlacedServo:
    from dataclasses import replace

    case = servo.case
    shift = by / 1000.0
    new = replace(case, center=case.center + shift, horn=case.horn + shift, flange=case.flange + shift)
    return replace(servo, case=new, hinge=replace(servo.hinge, place=servo.hinge.place + by))


def test_cases_come_from_the_dark_boxes_of_the_character(layout: Layout) -> None:
    servos = place_servos(layout)
    assert set(servos) == {"L.hip", "L.knee", "R.hip", "R.knee"}
    knee = servos["L.knee"]
    assert knee.carrier == "L.hip_link"
    assert 1000.0 * knee.case.center == pytest.approx([0.0, 200.0 - 10.2, 160.0], abs=1e-6)
    shaft = 1000.0 * knee.case.horn - knee.hinge.place
    assert np.linalg.norm(np.cross(shaft, knee.hinge.axis)) < 1e-6
    assert float(shaft @ knee.hinge.axis) == pytest.approx(19.0 + 4.0)


def test_every_part_is_whole_and_nothing_overlaps(skeleton: Skeleton) -> None:
    assert skeleton.faults == []
    kinds = {part.kind for part in skeleton.parts}
    assert kinds == {"link", "bracing", "bay", "bracket"}
    things = [(part.name, part.solid) for part in skeleton.parts]
    things += [(name, servo.body()) for name, servo in skeleton.servos.items()]
    for i, (one, solid) in enumerate(things):
        assert len(solid.decompose()) == 1, one
        for other, second in things[i + 1 :]:
            assert overlap(solid, second) < 1.0, (one, other)


def test_bracing_stands_off_the_skin_by_its_gap(skeleton: Skeleton, shell: SkinShell) -> None:
    x, t = triangles(shell.inner)
    inner = Surface(x, t)
    for part in skeleton.parts:
        if part.kind == "bracing":
            corners = triangles(part.solid)[0]
            apart = closest_points(inner, corners)[0]
            assert apart.min() > 0.5 * GAP, part.name
            assert overlap(part.solid, shell.rubber) < 0.5
            on_outside = apart < GAP + 0.1
            assert on_outside.sum() > 30  # much of it follows the skin
    cup = next(part for part in skeleton.parts if "cup" in part.name)
    assert cup.solid.volume() < 0.6 * cup.solid.hull().volume()


def test_screws_of_bracing_meet_pilots_in_their_link(skeleton: Skeleton) -> None:
    for body in ("L.hip_link", "R.hip_link"):
        own = [part for part in skeleton.parts if part.body == body]
        pilots = [hole for part in own for hole in part.holes if hole.pilot]
        screws = [hole for part in own if part.kind == "bracing" for hole in part.holes]
        assert len(screws) == len(pilots) == 4
        for screw in screws:
            near = min(pilots, key=lambda pilot, at=screw.center: float(np.linalg.norm(pilot.center - at)))
            assert near.center == pytest.approx(screw.center)
            assert near.axis == pytest.approx(-screw.axis)
