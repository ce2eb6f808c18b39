"""Seats at a servo's sides, lightening holes, blocks, closed files: each against its own geometry."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.typing import NDArray

from bunraku.building.placement import Case
from bunraku.building.servos import servo
from bunraku.fabrication.checks import fits_printer, measure_hole
from bunraku.fabrication.draft import Draft
from bunraku.fabrication.mesh import TriangleMesh
from bunraku.fabrication.shaping import Solid, ball, box, cylinder, difference, overlap, triangles, union
from bunraku.fabrication.skinned.blocks import local_size
from bunraku.fabrication.skinned.bracing import BACKED, RIM, THICK, WEB, lightening
from bunraku.fabrication.skinned.drawing import DrawnPart, Skeleton
from bunraku.fabrication.skinned.layout import DrivenHinge
from bunraku.fabrication.skinned.links import clearance, draw_link
from bunraku.fabrication.skinned.report import backed_glue, free_ranges, shut_in
from bunraku.fabrication.skinned.servos import PlacedServo, servo_seat
from bunraku.fabrication.skinned.shell import printable
from bunraku.fabrication.skinned.torso_bracing import _cuts

Array = NDArray[np.float64]
LARGE, MIDDLE = "Dynamixel XW540-T140 at 14.8 V", "Dynamixel XM430-W210 at 14.8 V"


def _placed(name: str, model: str, place: Array, lean: Array, carrier: str, axis: Array | None = None) -> PlacedServo:
    """A servo whose shaft is the ``axis`` (y) at ``place`` [mm], its case leaning to ``lean``."""
    chosen, out = servo(model), np.array([0.0, 1.0, 0.0]) if axis is None else axis
    center = place / 1000.0 + chosen.shaft_offset * lean
    axes = np.stack([np.cross(lean, out), lean, out], axis=1)
    horn = place / 1000.0 + (chosen.size[2] / 2.0 + chosen.horn_height) * out
    hinge = DrivenHinge(name, "above", "below", place, out, model, (-1.2, 1.2))
    return PlacedServo(hinge, Case(chosen, center, axes, horn, center + lean * chosen.size[1] / 2.0), carrier)


def _mesh(solid: Solid) -> TriangleMesh:
    x, t = triangles(solid)
    return TriangleMesh(x[t])


@pytest.mark.parametrize("model", [LARGE, MIDDLE])
def test_cheeks_have_the_holes_of_the_sides_and_leave_the_case_free(model: str) -> None:
    down = np.array([0.0, 0.0, -1.0])
    placed = _placed("knee", model, np.zeros(3), down, "below")
    draft = Draft("seat")
    servo_seat(draft, placed)
    solid = draft.solid()
    assert len(solid.decompose()) == 1
    assert overlap(solid, placed.body()) == 0.0
    pattern = servo(model).sides
    assert pattern is not None
    assert pattern.spacing is not None
    mesh = _mesh(solid)
    holes = [hole for hole in draft.holes if hole.group == "side of knee"]
    found = [measure_hole(mesh, hole) for hole in holes]
    assert len(holes) == 8
    assert all(each.open and each.around for each in found)
    for sign in (1.0, -1.0):  # four in each cheek, at the corners of the pattern's rectangle about the middle of the case
        places = np.array([each.center for hole, each in zip(holes, found, strict=True) if hole.axis[0] * sign > 0.0])
        assert np.ptp(places[:, 2]) == pytest.approx(1000.0 * pattern.spacing[0], abs=0.02)
        assert np.ptp(places[:, 1]) == pytest.approx(1000.0 * pattern.spacing[1], abs=0.02)
        assert places.mean(axis=0)[1:] == pytest.approx([0.0, -1000.0 * servo(model).shaft_offset], abs=0.02)


def test_servos_back_to_back_are_screwed_from_their_sides() -> None:
    up, down = np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.0, -1.0])
    knee = _placed("knee", LARGE, np.zeros(3), down, "below")
    ankle = _placed("ankle", MIDDLE, np.array([0.0, 0.0, -87.6]), up, "below")
    found = []
    for sides in (True, False):
        pair = [knee, ankle] if sides else [_without_sides(each) for each in (knee, ankle)]
        link = draw_link("below", tuple(pair), (), np.array([0.0, 0.0, -44.0]))
        part = DrawnPart("below", "link", "below", link.draft.solid(), np.eye(3), link.draft.holes)
        found.append(shut_in(Skeleton([part], {each.hinge.name: each for each in pair}, [], [])))
    assert found == [[], [("ankle", "knee")]]


def _without_sides(placed: PlacedServo) -> PlacedServo:
    return replace(placed, case=replace(placed.case, servo=replace(placed.case.servo, sides=None)))


def test_a_yoke_holds_a_large_servo_and_lets_it_turn() -> None:
    down = np.array([0.0, 0.0, -1.0])
    held = _placed("knee", LARGE, np.zeros(3), down, "below")
    link = draw_link("above", (), (held,), np.array([0.0, 0.0, 60.0]))
    solid = link.draft.solid()
    assert len(solid.decompose()) == 1
    for angle in np.radians([0.0, 40.0, 70.0, -70.0]):
        c, s = np.cos(angle), np.sin(angle)
        lean = np.array([-s, 0.0, -c])
        assert overlap(solid, _placed("knee", LARGE, np.zeros(3), lean, "below").body()) == 0.0
    assert clearance(held) == pytest.approx(np.hypot(58.5 / 2.0 - 15.5, 33.5 / 2.0) + 1.0)


def test_lightening_keeps_webs_rims_and_glue() -> None:
    tube = cylinder([0, 0, 0], [0, 0, 90], 40.0) - cylinder([0, 0, -1], [0, 0, 91], 40.0 - THICK)
    angles = np.linspace(0.0, 2.0 * np.pi, 6, endpoint=False)
    glue = np.stack([40.3 * np.cos(angles), 40.3 * np.sin(angles), np.linspace(15.0, 75.0, 6)], axis=1)
    post = box([40.0, 0.0, 45.0], [12.0, 12.0, 12.0])
    holes = lightening(tube, [post], glue, (12.0, 8.0, 5.0))
    lighter = difference(tube, holes)
    assert len(lighter.decompose()) == 1
    assert float(lighter.volume()) < 0.62 * float(tube.volume())
    middles = np.array([np.array(hole.bounding_box()).reshape(2, 3).mean(axis=0) for hole in holes])
    radii = np.array([np.sqrt(float(hole.volume()) / (np.pi * (THICK + 8.0))) for hole in holes])
    apart = np.linalg.norm(middles[:, None] - middles[None], axis=2) - radii[:, None] - radii[None]
    assert apart[~np.eye(len(holes), dtype=bool)].min() > 0.8 * WEB
    assert (middles[:, 2] - radii).min() > 0.9 * RIM
    assert (middles[:, 2] + radii).max() < 90.0 - 0.9 * RIM
    assert overlap(union(holes), post) == 0.0
    for point in glue:
        assert overlap(ball(point, 0.8 * BACKED), union(holes)) < 0.5
    made = Skeleton([DrawnPart("unit", "bracing", "leg", lighter, np.eye(3))], {}, [], [])
    assert backed_glue(SimpleNamespace(glue={"leg": glue}), made) == (6, 6)
    assert backed_glue(SimpleNamespace(glue={"leg": glue + np.array([0.0, 0.0, 80.0])}), made)[0] < 3


def test_solids_that_touch_in_an_edge_are_drawn_apart_for_the_file() -> None:
    touching = union([box([5, 5, 5], [10, 10, 10]), box([15, 15, 5], [10, 10, 10]), box([10, 10, -1.5], [20, 20, 3])])
    assert _mesh(touching).open_edges() > 0
    mended = printable(touching)
    assert _mesh(mended).open_edges() == 0
    assert float(mended.volume()) == pytest.approx(float(touching.volume()), rel=2e-3)


def test_blocks_of_a_long_unit_fit_the_printer() -> None:
    long = union([box([150.0, 0.0, 0.0], [530.0, 60.0, 130.0]), box([365.0, 0.0, 115.0], [100.0, 60.0, 100.0])])
    printer = (220.0, 220.0, 250.0)
    assert not fits_printer(local_size(long, np.eye(3)), printer)
    cuts = _cuts(long, np.eye(3), printer, [])
    blocks = [(long, ())]
    for cut in cuts:
        found = [each for each in blocks if list(map(id, each[1])) == list(map(id, cut.within))]
        assert len(found) == 1
        blocks.remove(found[0])
        blocks += [(side.above(found[0][0]), (*cut.within, side)) for side in cut.sides]
    assert all(fits_printer(local_size(block, np.eye(3)), printer) for block, _ in blocks)
    assert sum(float(block.volume()) for block, _ in blocks) == pytest.approx(float(long.volume()))
    assert len(blocks) == 3  # only along its length: no block is as high as the whole


def test_the_free_range_ends_where_a_bar_meets_a_wall() -> None:
    """A bar of half width 5 about the origin along x meets, turned about z, a plane y = 30 with its corner at 100: closed form."""
    bar, wall = box([50.0, 0.0, 0.0], [100.0, 10.0, 10.0]), box([0.0, 45.0, 0.0], [400.0, 30.0, 30.0])
    hinge = DrivenHinge("swing", "still", "bar", np.zeros(3), np.array([0.0, 0.0, 1.0]), LARGE, (-0.8, 0.8))
    made = Skeleton(
        [DrawnPart("wall", "link", "still", wall, np.eye(3)), DrawnPart("bar", "link", "bar", bar, np.eye(3))], {}, [], []
    )
    low, high = free_ranges(SimpleNamespace(hinges=[hinge]), made)[0].free
    touch = np.arcsin(30.0 / np.hypot(100.0, 5.0)) - np.arctan2(5.0, 100.0)
    assert low == pytest.approx(-0.8)
    assert touch - 0.025 * 0.8 < high < touch + 0.02
