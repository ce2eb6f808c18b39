import numpy as np
import pytest

from bunraku.mechanics.identification.alignment import find_alignment, view_planes


def path(seed=0, n=60):
    t = np.linspace(0.0, 1.0, n)
    x = np.column_stack([np.sin(3 * t), 0.3 * np.cos(5 * t), 0.2 * t**2])
    rng = np.random.default_rng(seed)
    R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return x, R * np.linalg.det(R), rng.normal(size=3)


@pytest.mark.parametrize("scale", [1.0, 730.0])
def test_a_moved_turned_and_scaled_path_is_brought_back_exactly(scale):
    x, R, o = path()
    found = find_alignment(x, scale * x @ R.T + o, np.eye(3), free_scale=scale != 1.0)
    np.testing.assert_allclose(found.rotation, R, atol=1e-12)
    assert found.scale == pytest.approx(scale, rel=1e-12)
    np.testing.assert_allclose(found.apply(x), scale * x @ R.T + o, atol=1e-12 * scale)


def test_the_tangent_holds_every_small_change_of_the_alignment():
    x, R, o = path()
    found = find_alignment(x, 2.0 * x @ R.T + o, np.eye(3), free_scale=True)
    T = found.tangent(x)
    assert T.shape == (180, found.parameters) == (180, 7)
    y, h = found.apply(x), 1e-6
    turn = np.array([[0.0, -0.3, 0.5], [0.3, 0.0, -0.2], [-0.5, 0.2, 0.0]])
    change = ((y - o) @ (np.eye(3) + h * turn).T * (1 + 0.4 * h) + o + h - y).ravel() / h
    np.testing.assert_allclose(T @ (T.T @ change), change, atol=1e-5)


def test_a_camera_on_the_other_side_is_one_of_the_views():
    x, R, _ = path()
    flat = x.copy()
    flat[:, 2] = 0.0
    seen = flat[:, :2] * [1.0, -1.0]
    left = [
        np.abs(find_alignment(flat @ R.T, seen, view, free_scale=False).apply(flat @ R.T) - seen).max()
        for view in view_planes(flat @ R.T, 2)
    ]
    assert min(left) < 1e-12
    assert max(left) > 1e-2
