"""Rows of constraints: derivatives against central differences, and what they let move."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.geometry.rotations import exponential, nearest_rotation
from bunraku.mechanics.full_order.description import Freedom, Link
from bunraku.mechanics.full_order.interfaces import held_rows, held_values
from bunraku.mechanics.full_order.links import LinkRows, outer_rows

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
KINDS = {
    "fixed": (),
    "hinge": (Freedom("hinge", (0.6, 0.0, 0.8)),),
    "motor": (Freedom("hinge", Y, motor=0),),
    "universal": (Freedom("hinge", X), Freedom("hinge", Y)),
    "half driven": (Freedom("hinge", X, motor=0), Freedom("hinge", Y)),
    "driven between": (Freedom("hinge", Z), Freedom("hinge", Y, motor=0), Freedom("hinge", X)),
    "ball": (Freedom("hinge", Z), Freedom("hinge", Y), Freedom("hinge", X)),
    "slide": (Freedom("slide", (0.6, 0.0, 0.8)),),
    "planar": (Freedom("slide", X), Freedom("slide", Y), Freedom("hinge", Z)),
}


def random_pose(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return exponential(rng.normal(size=3)), rng.normal(size=3)


@pytest.mark.parametrize("kind", KINDS)
def test_derivatives_of_links(kind: str) -> None:
    rng = np.random.default_rng(1)
    link = Link("link", "a", "b", KINDS[kind], random_pose(rng), random_pose(rng))
    rows = LinkRows([outer_rows(0, 1, link, (rng.normal(size=3), rng.normal(size=3)), np.array([0.3]))], 2)
    c, R = rng.normal(size=(3, 3)), exponential(rng.normal(size=(3, 3)))
    lam = rng.normal(size=rows.count)
    C, J, H = rows.assemble(c, R, lam)
    np.testing.assert_allclose(C, rows.values(c, R), atol=1e-14)
    e = 1e-6
    for k in range(12):
        d = np.zeros(12)
        d[k] = e
        move = d.reshape(2, 2, 3)
        up = c[:2] + move[:, 0], exponential(move[:, 1]) @ R[:2]
        down = c[:2] - move[:, 0], exponential(-move[:, 1]) @ R[:2]
        ends = [(np.vstack([a, c[2:]]), np.concatenate([b, R[2:]])) for a, b in (up, down)]
        np.testing.assert_allclose((rows.values(*ends[0]) - rows.values(*ends[1])) / (2 * e), J[:, k], atol=1e-8)
        forces = [rows.assemble(*end, lam)[1].T @ lam for end in ends]
        np.testing.assert_allclose((forces[0] - forces[1]) / (2 * e), H[:, k], atol=1e-8)


@pytest.mark.parametrize(("kind", "free"), [("fixed", 0), ("hinge", 1), ("motor", 0), ("universal", 2), ("half driven", 1),
                                            ("driven between", 2), ("ball", 3), ("slide", 1), ("planar", 3)])  # fmt: skip
def test_links_hold_what_they_should(kind: str, free: int) -> None:
    """Put the child where the freedoms say: all rows hold, and their rank leaves just the free ones."""
    rng = np.random.default_rng(2)
    link = Link("link", "a", "b", KINDS[kind], random_pose(rng), random_pose(rng))
    values = np.array([0.4])
    R, p = link.pose
    for freedom, q in zip(link.freedoms, rng.uniform(-0.5, 0.5, len(link.freedoms)), strict=True):
        value = 0.4 if freedom.motor >= 0 else q
        n = np.array(freedom.direction) / np.linalg.norm(freedom.direction)
        R, p = (R @ exponential(value * n), p) if freedom.kind == "hinge" else (R, p + R @ (value * n))
    X_BG = link.child_pose
    R_B = R @ X_BG[0].T
    c, turns = np.array([np.zeros(3), p - R_B @ X_BG[1], np.zeros(3)]), np.array([np.eye(3), R_B, np.eye(3)])
    rows = LinkRows([outer_rows(0, 1, link, (np.zeros(3), np.zeros(3)), values)], 2)
    C, J, _ = rows.assemble(c, turns, np.zeros(rows.count))
    np.testing.assert_allclose(C, 0.0, atol=1e-13)
    assert np.linalg.matrix_rank(J[:, 6:], tol=1e-8) == 6 - free == rows.count


def test_derivatives_of_interfaces() -> None:
    rng = np.random.default_rng(3)
    R_b, R_BP, r, c, lam = (
        exponential(rng.normal(size=3)),
        exponential(rng.normal(size=3)),
        rng.normal(size=3),
        rng.normal(size=3),
        rng.normal(size=6),
    )
    Y = rng.normal(size=(4, 3))
    rows = held_rows(Y, c, R_b, r, R_BP, lam)
    np.testing.assert_allclose(rows.values, held_values(Y, c, R_b, r, R_BP), atol=1e-14)
    np.testing.assert_allclose(rows.force, rows.by_body.T @ lam, atol=1e-13)
    e = 1e-6
    for k in range(12):
        d = np.zeros(12)
        d[k] = e
        up, down = (held_rows(Y + s * d.reshape(4, 3), c, R_b, r, R_BP, lam) for s in (1.0, -1.0))
        np.testing.assert_allclose((up.values - down.values) / (2 * e), rows.by_means[:, k], atol=1e-8)
        np.testing.assert_allclose((up.force - down.force) / (2 * e), rows.q_by_body.T[:, k], atol=1e-8)
    for k in range(6):
        d = np.zeros(6)
        d[k] = e
        up, down = (held_rows(Y, c + s * d[:3], exponential(s * d[3:]) @ R_b, r, R_BP, lam) for s in (1.0, -1.0))
        np.testing.assert_allclose((up.values - down.values) / (2 * e), rows.by_body[:, k], atol=1e-8)
        np.testing.assert_allclose((up.q - down.q) / (2 * e), rows.q_by_body[:, k], atol=1e-8)
        np.testing.assert_allclose((up.force - down.force) / (2 * e), rows.force_by_body[:, k], atol=1e-8)


def test_flat_interfaces_turn_with_the_polar_rotation() -> None:
    """For a flat patch (A of rank two) the three rows vanish at the polar rotation of A, and only there nearby."""
    rng = np.random.default_rng(4)
    flat = np.eye(3) - np.outer([0.0, 0.0, 1.0], [0.0, 0.0, 1.0])
    A = exponential(np.array([0.3, -0.2, 0.5])) @ (flat + 0.05 * flat @ rng.normal(size=(3, 3)) @ flat)
    R = nearest_rotation(A)
    values = held_values(np.vstack([np.zeros(3), A.T]), np.zeros(3), R, np.zeros(3), np.eye(3))
    np.testing.assert_allclose(values, 0.0, atol=1e-14)
    turned = held_values(
        np.vstack([np.zeros(3), A.T]), np.zeros(3), exponential(np.array([0.0, 0.0, 1e-3])) @ R, np.zeros(3), np.eye(3)
    )
    assert np.abs(turned).max() > 1e-3
