"""The skin as solids, offsets, and the pieces it is cut into."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bunraku.fabrication.shaping import ball, box, overlap, triangles
from bunraku.fabrication.skinned.layout import Layout
from bunraku.fabrication.skinned.pieces import PartedSkin
from bunraku.fabrication.skinned.shell import SkinShell, cleaned, mesh_solid, offset


def _cells_volume(layout: Layout) -> float:
    """Volume [mm³] of the skin from its tetrahedra: Σ |(b - a) · (c - a) × (d - a)| / 6."""
    x = 1000.0 * layout.mesh.nodes
    a, b, c, d = (x[layout.mesh.cells[:, k]] for k in range(4))
    return float(np.abs(np.einsum("ij,ij->i", b - a, np.cross(c - a, d - a))).sum() / 6.0)


def test_the_boundary_encloses_what_the_tetrahedra_fill(layout: Layout, shell: SkinShell) -> None:
    assert shell.rubber.volume() == pytest.approx(_cells_volume(layout), rel=1e-6)
    assert shell.outer.volume() - shell.inner.volume() == pytest.approx(shell.rubber.volume(), rel=1e-6)
    assert [shell.outer.genus(), shell.inner.genus()] == [0, 0]


def test_an_offset_box_has_its_faces_moved() -> None:
    larger = offset(box((1.0, 2.0, 3.0), (10.0, 20.0, 30.0)), 0.5)
    assert larger.volume() == pytest.approx(11.0 * 21.0 * 31.0, rel=1e-5)
    smaller = offset(ball((0, 0, 0), 20.0), -3.0)
    radii = np.linalg.norm(triangles(smaller)[0], axis=1)
    assert radii == pytest.approx(np.full(len(radii), 17.0), abs=0.05)


def test_crumbs_go_and_hollows_stay() -> None:
    hollow = box((0, 0, 0), (20, 20, 20)) - box((0, 0, 0), (10, 10, 10))
    assert cleaned(hollow + box((50, 0, 0), (1, 1, 1))).volume() == pytest.approx(7000.0)


def test_an_open_surface_is_refused() -> None:
    from bunraku.errors import BadInput

    x, t = triangles(box((0, 0, 0), (1, 1, 1)))
    with pytest.raises(BadInput, match="encloses nothing"):
        mesh_solid(x, t[:-1])


def test_one_piece_a_limb_two_for_the_torso_and_nothing_lost(parted: PartedSkin, shell: SkinShell) -> None:
    assert [piece.name for piece in parted.pieces] == ["skin L", "skin R", "skin torso upper", "skin torso lower"]
    volumes = [float(piece.rubber.volume()) for piece in parted.pieces]
    assert sum(volumes) == pytest.approx(shell.rubber.volume(), rel=1e-6)
    for i, piece in enumerate(parted.pieces):
        assert len(piece.rubber.decompose()) == 1  # a cavity that a film closes would be a surface of its own
        assert all(overlap(piece.rubber, other.rubber) < 1e-3 for other in parted.pieces[i + 1 :])
        assert float((piece.outer - piece.core).volume()) == pytest.approx(float(piece.rubber.volume()), rel=1e-4)


def test_a_limb_piece_is_open_at_its_cut_and_closed_at_its_sole(parted: PartedSkin, layout: Layout) -> None:
    for piece, limb in zip(parted.pieces[:2], layout.limbs, strict=True):
        assert piece.rubber.genus() == 0
        middle = piece.path[0] if piece.path is not None else np.zeros(3)
        probe = box(middle, (1.0, 1.0, 1.0))
        assert overlap(probe, piece.rubber) == 0.0  # no film over the opening
        below = box(limb.sole + np.array([0.0, 0.0, 2.0]), (4.0, 4.0, 3.0))
        assert overlap(below, piece.rubber) > 0.9 * 48.0


def test_the_layout_finds_limbs_and_torso(layout: Any) -> None:
    assert layout.torso == ("body",)
    assert [limb.bodies for limb in layout.limbs] == [("L.hip_link", "L.knee_link"), ("R.hip_link", "R.knee_link")]
    assert layout.limbs[0].sole == pytest.approx([0.0, 200.0, 0.0], abs=1e-9)
    assert layout.limbs[1].hinges[1].place == pytest.approx([0.0, -200.0, 160.0], abs=1e-9)
