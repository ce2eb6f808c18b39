from __future__ import annotations

import numpy as np
import pytest

from bunraku.geometry.meshing.shapes import box, rod
from bunraku.geometry.rotations import exponential
from bunraku.geometry.tet_mesh import with_patch
from bunraku.mechanics.elastic.interface import Interface, make_interface
from bunraku.optimization.derivative_check import check_jacobian

MESH = rod(0.1, 0.02, layers=4)
END = make_interface(MESH, "end")


def motion(R: np.ndarray, t: np.ndarray) -> np.ndarray:
    return (MESH.nodes @ (R - np.eye(3)).T + t).ravel()


def test_an_end_face_has_its_area_centroid_and_normal() -> None:
    assert END.area == pytest.approx(0.9987 * np.pi * 0.01**2, rel=1e-4)
    np.testing.assert_allclose(END.centroid, [0, 0, 0.1], atol=1e-15)
    np.testing.assert_allclose(END.normal, [0, 0, 1], atol=1e-14)
    assert END.weights.sum() == pytest.approx(1.0, rel=1e-14)
    np.testing.assert_allclose(END.stretch(np.zeros(3 * len(MESH.nodes))), np.diag([1.0, 1.0, 0.0]), atol=1e-12)


def test_it_follows_a_rigid_motion_exactly() -> None:
    R, t = exponential([0.7, -0.4, 2.0]), np.array([0.3, 0.1, -0.2])
    u = motion(R, t)
    np.testing.assert_allclose(END.rotation(u), R, atol=1e-12)
    np.testing.assert_allclose(END.position(u), R @ [0, 0, 0.1] + t, atol=1e-14)


def test_warping_that_averages_out_does_not_turn_it() -> None:
    x, y, _ = MESH.nodes.T
    u = np.zeros((len(MESH.nodes), 3))
    u[:, 2] = 5.0 * (x**2 - y**2)
    u[:, 0] = 0.1 * x
    np.testing.assert_allclose(END.rotation(u.ravel()), np.eye(3), atol=1e-6)


@pytest.mark.parametrize("patch", ["end", "side"], ids=["flat", "round"])
def test_velocities_are_the_derivative_of_the_pose(patch: str) -> None:
    face: Interface = make_interface(MESH, patch)
    R, rng = exponential([0.7, -0.4, 1.0]), np.random.default_rng(0)
    u = motion(R, np.zeros(3)) + 1e-3 * rng.normal(size=MESH.nodes.size)
    own = face.unknowns

    def pose(x: np.ndarray) -> np.ndarray:
        whole = u.copy()
        whole[own] = x
        turn = face.rotation(whole) @ face.rotation(u).T
        return np.concatenate([[turn[2, 1], turn[0, 2], turn[1, 0]], face.position(whole)])

    def jacobian(x: np.ndarray) -> np.ndarray:
        return face.jacobian(u)

    assert check_jacobian(pose, jacobian, u[own], scale=1e-3, noise=1e-12).holds


def test_loads_do_the_work_of_force_and_moment() -> None:
    u = motion(exponential([0.2, 0.1, 0.0]), np.zeros(3))
    force, moment = np.array([1.0, 2.0, 3.0]), np.array([0.1, -0.2, 0.3])
    f = END.load(u, force=force, moment=moment).reshape(-1, 3)
    x = MESH.nodes + u.reshape(-1, 3)
    np.testing.assert_allclose(f.sum(axis=0), force, atol=1e-12)
    np.testing.assert_allclose(np.cross(x - END.position(u), f).sum(axis=0), moment, atol=1e-12)


def test_a_patch_by_place_serves_too() -> None:
    mesh = with_patch(box((1, 1, 1), (2, 2, 2), order=1), "half", lambda x: (x[:, 2] > 1 - 1e-9) & (x[:, 0] > -1e-9))
    half = make_interface(mesh, "half")
    assert half.area == pytest.approx(0.5)
    np.testing.assert_allclose(half.centroid, [0.25, 0, 1], atol=1e-15)
