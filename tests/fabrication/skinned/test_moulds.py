"""Moulds fill the room round their casting, part without overlap, and come in blocks that fit the printer."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.fabrication.checks import fits_printer
from bunraku.fabrication.shaping import box, overlap
from bunraku.fabrication.skinned.blocks import divided, local_size, numbers_of_blocks
from bunraku.fabrication.skinned.layout import Layout
from bunraku.fabrication.skinned.moulds import Mould, make_mould
from bunraku.fabrication.skinned.pieces import PartedSkin


@pytest.fixture(scope="module")
def moulds(parted: PartedSkin, layout: Layout) -> list[Mould]:
    axes = [hinge.axis for hinge in layout.hinges]
    return [make_mould(parted.pieces[number], axes) for number in (0, 2)]


@pytest.mark.parametrize("which", [0, 1], ids=["limb", "torso"])
def test_halves_core_and_casting_share_nothing(moulds: list[Mould], which: int) -> None:
    mould = moulds[which]
    solids = [solid for _, solid in mould.parts] + [mould.piece.rubber]
    for i, one in enumerate(solids):
        assert len(one.decompose()) == 1
        for other in solids[i + 1 :]:
            assert overlap(one, other) < 2.0


def test_the_casting_is_all_that_is_left_between_halves_and_core(moulds: list[Mould]) -> None:
    mould = moulds[0]
    piece = mould.piece
    for name, solid in mould.parts[:2]:
        x = (piece.outer ^ solid).volume()
        assert x < 1.0, name
    left = piece.outer - mould.parts[2][1]  # what core and halves leave of the outer shape is the rubber
    assert left.volume() == pytest.approx(float(piece.rubber.volume()), rel=2e-3)


def test_a_limb_parts_in_its_own_plane_without_hooks(moulds: list[Mould]) -> None:
    mould = moulds[0]
    assert abs(mould.parting.normal @ np.array([1.0, 0.0, 0.0])) > 0.99  # the leg bends in the plane x = 0
    assert all(draw.hooked < 0.02 and draw.depth < 0.5 for draw in mould.draws)
    assert mould.comes_out
    assert 0.0 < mould.core_strain < 0.5  # the knee is bent by a right angle


def test_pulling_a_half_off_meets_nothing(moulds: list[Mould]) -> None:
    mould = moulds[0]
    half = mould.parts[0][1]
    for by in (2.0, 10.0, 30.0):
        lifted = half.translate((by * mould.parting.normal).tolist())
        assert overlap(lifted, mould.piece.outer) < 5.0


def test_blocks_fit_and_together_are_the_part() -> None:
    part = box((0, 0, 0), (500.0, 100.0, 60.0)) - box((0, 0, 20.0), (460.0, 60.0, 40.0))
    blocks, pins = divided(part, np.eye(3), (220.0, 220.0, 250.0))
    assert len(blocks) == 3
    assert pins >= 4
    assert all(fits_printer(local_size(block, np.eye(3)), (220.0, 220.0, 250.0)) for block in blocks)
    drilled = pins * np.pi * 2.1**2 * 17.0
    assert sum(block.volume() for block in blocks) == pytest.approx(float(part.volume()) - drilled, rel=2e-3)
    assert all(overlap(a, b) < 1e-3 for i, a in enumerate(blocks) for b in blocks[i + 1 :])


def test_the_longest_side_lies_along_the_printers_longest() -> None:
    assert numbers_of_blocks((240.0, 100.0, 50.0), (220.0, 220.0, 250.0)) == (1, 1, 1)
    assert numbers_of_blocks((100.0, 600.0, 230.0), (220.0, 220.0, 250.0)) == (1, 3, 2)
