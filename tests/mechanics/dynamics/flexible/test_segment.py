"""One flexible segment: child frames against singular vectors, inertia against point masses, derivatives by complex steps."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.mechanics.dynamics.flexible import layout
from bunraku.mechanics.dynamics.flexible import mass_kernels as inertia
from bunraku.mechanics.dynamics.flexible import segment_kernels as frames
from bunraku.mechanics.dynamics.flexible.segment import interface_from_points, segment_from_points

TINY = 1e-40


def frame_data(interface):
    modes = np.hstack([interface.C.T, interface.A.reshape(len(interface.A), 9)])
    return np.concatenate([interface.c0, interface.A0.ravel(), modes.ravel()])


def mass_data(segment):
    return np.concatenate([[segment.mass, segment.beta], segment.N.T.ravel(), segment.E.ravel()])


def child_frame(interface, u, v=None):
    W = np.zeros((1 + len(u), 49), dtype=np.result_type(u, float))
    frames.frame_map(frame_data(interface), u, W, 0)
    if v is not None:
        frames.frame_rates(v, W, 0)
    return W


def polar_of_points(X, phi, w, u):
    """Rotation and centroid of the deformed face: least squares map of the rest offsets, then its singular vectors."""
    p = X + phi @ u
    w = w / w.sum()
    c, d = w @ p, X - w @ X
    face = w > 0
    root = np.sqrt(w[face])[:, None]
    A = np.linalg.lstsq(root * d[face], root * (p - c)[face], rcond=1e-9)[0].T
    U, _, Vt = np.linalg.svd(A)
    return U @ np.diag([1.0, 1.0, np.linalg.det(U @ Vt)]) @ Vt, c


@pytest.mark.parametrize("amount", [0.0, 0.02, 0.1, 0.25])
def test_the_child_frame_is_the_polar_frame_of_the_points(point_segment, amount) -> None:
    rng = np.random.default_rng(3)
    segment, X, _, phi, weights = point_segment(rng, faces=2)
    u = amount * rng.normal(size=15)
    for interface, w in zip(segment.interfaces, weights, strict=True):
        W = child_frame(interface, u)
        R, c = polar_of_points(X, phi, w, u)
        np.testing.assert_allclose(W[0, layout.TURN : layout.TURN + 9].reshape(3, 3), R, atol=1e-12)
        np.testing.assert_allclose(W[0, layout.CENTER : layout.CENTER + 3], c, atol=1e-14)


def test_a_face_turned_far_over_is_still_found() -> None:
    """Newton from the identity would end at another symmetric Q for some of these turns; the nearest rotation is taken."""
    rng = np.random.default_rng(0)
    X = np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, -2.0, 0.0]])
    for _ in range(30):
        axis = rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        K = np.cross(np.eye(3), axis)
        angle = rng.uniform(2.0, 3.0)
        R = np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K
        interface = interface_from_points(X, (X @ R.T - X)[:, :, None], np.ones(4))
        W = child_frame(interface, np.ones(1))
        np.testing.assert_allclose(W[0, layout.TURN : layout.TURN + 9].reshape(3, 3), R, atol=1e-12)


def test_a_flat_face_tilts_by_the_full_angle() -> None:
    """A rank-2 A0: a small tilt about x of a face in the plane z = 0 turns the frame by that angle, not half of it."""
    X = np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, -1.0, 0.0]])
    tilt = np.cross([1.0, 0.0, 0.0], X)[:, :, None]
    interface = interface_from_points(X, tilt, np.ones(4))
    np.testing.assert_allclose(interface.A0, np.diag([1.0, 1.0, 0.0]), atol=1e-15)
    W = child_frame(interface, np.array([1e-8]))
    np.testing.assert_allclose(W[1, layout.OM : layout.OM + 3], [1.0, 0.0, 0.0], atol=1e-12)


def test_screws_and_their_rates_are_derivatives(point_segment) -> None:
    rng = np.random.default_rng(1)
    interface = point_segment(rng)[0].interfaces[0]
    u, v = 0.1 * rng.normal(size=15), rng.normal(size=15)
    W = child_frame(interface, u, v)
    R = W[0, layout.TURN : layout.TURN + 9].reshape(3, 3)
    for a in range(15):
        at = u.astype(complex)
        at[a] += TINY * 1j
        dR = child_frame(interface, at)[0, layout.TURN : layout.TURN + 9].reshape(3, 3).imag / TINY @ R.T
        om = W[1 + a, layout.OM : layout.OM + 3]
        np.testing.assert_allclose(dR, np.cross(np.eye(3), om), atol=1e-12)
    along = child_frame(interface, u + TINY * 1j * v)
    rate = along[1:, layout.OM : layout.OM + 3].imag / TINY
    np.testing.assert_allclose(W[1:, layout.OM_RATE : layout.OM_RATE + 3], rate, atol=1e-11)
    spin = along[0, layout.TURN : layout.TURN + 9].reshape(3, 3).imag / TINY @ R.T
    np.testing.assert_allclose(spin, np.cross(np.eye(3), W[0, layout.SPIN : layout.SPIN + 3]), atol=1e-12)


def test_wrench_arms_give_the_second_derivatives(point_segment) -> None:
    """H_ab(h) = dT_a/du_b . h, entry by entry, and its rate along v."""
    rng = np.random.default_rng(2)
    interface = point_segment(rng, r=6)[0].interfaces[0]
    u, v, h = 0.1 * rng.normal(size=6), rng.normal(size=6), rng.normal(size=6)

    def screws(W):
        om, c = W[1:, layout.OM : layout.OM + 3], W[0, layout.CENTER : layout.CENTER + 3]
        return np.hstack([om, W[1:, layout.SHIFT : layout.SHIFT + 3] - np.cross(om, c)])

    def pairs(at):
        W = child_frame(interface, at, v.astype(at.dtype))
        s, t = np.empty((3, 6), at.dtype), np.empty((3, 6), at.dtype)
        k = frames.wrench_arms(W, 0, 6, *h.astype(at.dtype), s, t)
        om = W[1:, layout.OM : layout.OM + 3]
        return W, s, t, np.array(k), s.T @ om.T + om @ t

    W, s, t, k, H = pairs(u)
    for b in range(6):
        at = u.astype(complex)
        at[b] += TINY * 1j
        np.testing.assert_allclose(H[:, b], (screws(child_frame(interface, at)) @ h).imag / TINY, atol=1e-12)
    rate = pairs(u + TINY * 1j * v)[-1].imag / TINY
    ds, dt = np.zeros((3, 6)), np.zeros((3, 6))
    frames.wrench_arm_rates(W, 0, 6, *k, *h[3:], ds, dt)
    om, dom = W[1:, layout.OM : layout.OM + 3], W[1:, layout.OM_RATE : layout.OM_RATE + 3]
    np.testing.assert_allclose(ds.T @ om.T + s.T @ dom.T + dom @ t + om @ dt, rate, atol=1e-11)


def test_inertia_is_that_of_the_point_masses(point_segment) -> None:
    rng = np.random.default_rng(4)
    segment, X, m, phi, _ = point_segment(rng)
    u, v, twist = 0.1 * rng.normal(size=15), rng.normal(size=15), rng.normal(size=6)
    modes, whole = np.empty((15, 14)), np.empty(16)
    inertia.segment_mass(mass_data(segment), u, v, *twist, modes, whole)
    p = X + phi @ u
    speed = twist[3:] + np.cross(twist[:3], p) + phi @ v
    np.testing.assert_allclose(whole[13:], m @ speed, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(whole[10:13], m @ np.cross(p, speed), rtol=1e-12, atol=1e-13)
    kinetic = 0.5 * np.sum(m[:, None] * speed**2)
    mine = 0.5 * (twist @ whole[10:] + v @ modes[:, 12])
    assert mine == pytest.approx(kinetic, rel=1e-12)
    np.testing.assert_allclose(modes[:, 12], np.einsum("n,nia,ni->a", m, phi, speed), atol=1e-12)
    # derivatives with respect to u
    for a in range(15):
        at = u.astype(complex)
        at[a] += TINY * 1j
        there, total = np.empty((15, 14), complex), np.empty(16, complex)
        inertia.segment_mass(mass_data(segment), at, v.astype(complex), *twist.astype(complex), there, total)
        energy = 0.5 * (twist @ total[10:] + v @ there[:, 12])
        assert modes[a, 13] == pytest.approx(energy.imag / TINY, rel=1e-11, abs=1e-13)
        np.testing.assert_allclose(modes[a, 6:12], total[10:].imag / TINY, atol=1e-12)


def test_bad_segments_are_refused(point_segment) -> None:
    X, phi = np.eye(3), np.zeros((3, 3, 2))
    with pytest.raises(BadInput, match="lie on a line"):
        interface_from_points(np.outer([0.0, 1.0, 2.0], [1.0, 1.0, 0.0]), phi, np.ones(3))
    with pytest.raises(BadInput, match="no child interface"):
        segment_from_points(X, np.ones(3), phi, [])
    with pytest.raises(BadInput, match="repeat"):
        segment_from_points(X, np.ones(3), phi, [np.ones(3)], L1=np.zeros((2, 1)), pairs=[[0, 1], [0, 1]], Qp=np.zeros((2, 1)))
    with pytest.raises(BadInput, match="L1 of a flexible segment"):
        segment_from_points(X, np.ones(3), phi, [np.ones(3)], L1=np.full((2, 1), np.nan))
