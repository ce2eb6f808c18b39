"""Checks that parts must pass: each is seen to pass and to fail."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bunraku.building.servos import HolePattern, rectangle
from bunraku.fabrication.checks import check_part, fits_printer, measure_hole
from bunraku.fabrication.draft import PLATE, Draft, Hole, holes_of
from bunraku.fabrication.kit import Part, lie_down
from bunraku.fabrication.shaping import box, cylinder, union

PRINTER = (220.0, 220.0, 250.0)
PATTERN = rectangle(0.024, 0.018, 0.0027, "M2.5", "a test")
UP = np.array([0.0, 0.0, 1.0])


def plate(pattern: HolePattern = PATTERN, size: tuple[float, float] = (40.0, 30.0)) -> Draft:
    draft = Draft("plate", [box((0.0, 0.0, PLATE / 2.0), (*size, PLATE))])
    draft.drill(holes_of(pattern, (0, 0, 0), (1, 0, 0), (0, 1, 0), UP, "case"))
    return draft


def part(draft: Draft) -> Part:
    return Part("plate", "plate", draft.solid(), draft.holes, draft.cases, [])


def test_a_drilled_plate_is_sound_and_its_holes_measure_as_drawn() -> None:
    made = part(plate())
    found = check_part(made, PRINTER)
    assert found.sound
    assert found.fits
    assert found.hole_error < 0.01
    assert found.least_seat == pytest.approx(1.6, abs=1e-4)
    figures = measure_hole(made.mesh(), made.holes[0])
    np.testing.assert_allclose(figures.center[:2], [12.0, 9.0], atol=1e-4)
    assert figures.diameter == pytest.approx(2.7, abs=0.02)


def test_holes_elsewhere_than_the_motor_has_them_are_found() -> None:
    made = part(plate())
    made.holes = holes_of(rectangle(0.0245, 0.018, 0.0027, "M2.5", "a test"), (0, 0, 0), (1, 0, 0), (0, 1, 0), UP, "case")
    found = check_part(made, PRINTER)
    assert not found.sound
    assert found.hole_error == pytest.approx(0.5, abs=0.02)
    narrow = replace(PATTERN, hole_diameter=0.0022)
    made.holes = holes_of(narrow, (0, 0, 0), (1, 0, 0), (0, 1, 0), UP, "case")
    assert not check_part(made, PRINTER).sound


def test_a_blocked_hole_and_a_blocked_driver_are_found() -> None:
    draft = plate()
    blocked = part(draft)
    blocked.solid = union([blocked.solid, cylinder((12.0, 9.0, 0.0), (12.0, 9.0, 2.0), 1.5)])
    assert "blocked" in " ".join(check_part(blocked, PRINTER).bad_holes)
    roofed = part(draft)
    roofed.solid = union([roofed.solid, box((0, 0, 20.0), (40.0, 30.0, 2.0)), box((0, 0, 10.0), (4.0, 4.0, 20.0))])
    assert "blocked" in " ".join(check_part(roofed, PRINTER).bad_holes)


def test_a_hole_at_the_edge_and_a_thin_seat_are_found() -> None:
    assert "around" in " ".join(check_part(part(plate(size=(28.0, 30.0))), PRINTER).bad_holes)
    thin = Draft("thin", [box((0, 0, 2.0), (20.0, 20.0, 4.0))])
    thin.drill([Hole(np.zeros(3), UP, 3.4, 0.8, "M3", "deck")])
    assert "under" in " ".join(check_part(part(thin), PRINTER).bad_holes)


def test_two_pieces_and_a_servo_in_the_way_are_found() -> None:
    apart = Draft("two", [box((0, 0, 0), (1, 1, 1)), box((5, 0, 0), (1, 1, 1))])
    assert check_part(part(apart), PRINTER).pieces == 2
    inside = plate()
    inside.cases.append(("servo", box((0, 0, 0), (10, 10, 2))))
    found = check_part(part(inside), PRINTER)
    assert found.overlap == pytest.approx(100.0, rel=1e-4)
    assert not found.sound


def test_printers() -> None:
    assert fits_printer((250.0, 100.0, 40.0), PRINTER)
    assert fits_printer((100.0, 250.0, 220.0), PRINTER)
    assert not fits_printer((251.0, 100.0, 40.0), PRINTER)
    assert not fits_printer((230.0, 230.0, 10.0), PRINTER)


def test_a_part_lies_on_its_largest_side_and_stands_up_if_it_must() -> None:
    made = part(Draft("slab", [box((5.0, 6.0, 7.0), (4.0, 100.0, 60.0))]))
    flat = lie_down(made.mesh(), PRINTER)
    assert flat.contact == pytest.approx(6000.0, rel=1e-5)
    on_bed = flat.put(made.mesh())
    np.testing.assert_allclose(on_bed.corners.reshape(-1, 3).min(axis=0), 0.0, atol=1e-5)
    assert on_bed.size()[2] == pytest.approx(4.0, abs=1e-5)
    assert on_bed.volume() == pytest.approx(24000.0, rel=1e-5)
    np.testing.assert_allclose(flat.take(on_bed).corners, made.mesh().corners, atol=1e-9)
    upright = lie_down(made.mesh(), (70.0, 70.0, 110.0))
    assert upright.put(made.mesh()).size()[2] == pytest.approx(100.0, abs=1e-5)
