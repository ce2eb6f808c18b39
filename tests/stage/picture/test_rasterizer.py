"""The rasterizer against closed forms: where points are seen, how far planes are, who is in front, how bright a ball is."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.stage.figure.solids import unit_mesh
from bunraku.stage.picture.camera import Camera, nearer, standing
from bunraku.stage.picture.painter import Painter, Theme, encoded
from bunraku.stage.picture.raster_kernels import blurred, fill, vertex_normals
from bunraku.stage.picture.triangles import Triangles, creased, linear

WIDTH, HEIGHT = 160, 120
CAMERA = Camera(np.array([4.0, -3.0, 2.0]), np.array([0.2, 0.1, 0.4]), 0.6)
BLACK = ((0.0, 0.0, 0.0),) * 5
GLOW = Theme(BLACK, shadow=0.0, key=0.0, fill=0.0, sky=(1.0,) * 3, earth=(1.0,) * 3, gloss=0.0)
"""Everything shines in its own colour alone."""
LAMBERT = Theme(BLACK, shadow=0.0, key=1.0, fill=0.0, sky=(0.0,) * 3, earth=(0.0,) * 3, gloss=0.0)


def mesh(vertices, faces, color=(1.0, 1.0, 1.0), single: int = 0) -> Triangles:
    points, faces = np.asarray(vertices, dtype=np.float32), np.asarray(faces, dtype=np.int32)
    colors = np.broadcast_to(np.array(color, dtype=np.float32), faces.shape).copy()
    return Triangles(points, vertex_normals(points, faces), faces, colors, single)


def ball(radius: float, middle, around: int = 96) -> Triangles:
    u, v = np.meshgrid(np.linspace(0.0, 2.0 * np.pi, around, endpoint=False), np.linspace(0.0, np.pi, around // 2 + 1))
    points = np.stack([np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v)], axis=-1).reshape(-1, 3)
    row, column = np.meshgrid(np.arange(around // 2), np.arange(around), indexing="ij")
    a, b = row * around + column, row * around + (column + 1) % around
    faces = np.concatenate([np.stack([a, a + around, b + around], -1), np.stack([a, b + around, b], -1)]).reshape(-1, 3)
    made = mesh(radius * points + middle, faces)
    return Triangles(made.points, points.astype(np.float32), made.faces, made.colors)


def rays(camera: Camera, width: int, height: int) -> np.ndarray:
    """The way (h, w, 3) of one unit of depth along each pixel's ray."""
    step = 2.0 * np.tan(0.5 * camera.field) / height
    u, v = step * (np.arange(width) + 0.5 - 0.5 * width), step * (0.5 * height - np.arange(height) - 0.5)
    right, up, forward = camera.frame
    return forward + u[None, :, None] * right + v[:, None, None] * up


def buffers(figure: Triangles, camera: Camera = CAMERA) -> tuple[np.ndarray, np.ndarray]:
    vertices = np.column_stack(camera.seen(figure.points, WIDTH, HEIGHT)).astype(np.float32)
    near, owner = np.zeros((HEIGHT, WIDTH), np.float32), np.full((HEIGHT, WIDTH), -1, np.int32)
    fill(vertices, figure.faces, figure.single, near, owner)
    return near, owner


def painter(theme: Theme, **options) -> Painter:
    return Painter(CAMERA, WIDTH, HEIGHT, 2.0, theme=theme, **({"floor": -50.0} | options))


def test_points_are_seen_along_their_rays() -> None:
    rng = np.random.default_rng(3)
    depth, row, column = rng.uniform(1.0, 9.0, 50), rng.integers(0, HEIGHT, 50), rng.integers(0, WIDTH, 50)
    points = CAMERA.place + depth[:, None] * rays(CAMERA, WIDTH, HEIGHT)[row, column]
    x, y, w = CAMERA.seen(points.astype(np.float32), WIDTH, HEIGHT)
    np.testing.assert_allclose(x, column + 0.5, atol=2e-3)
    np.testing.assert_allclose(y, row + 0.5, atol=2e-3)
    np.testing.assert_allclose(w, 1.0 / depth, rtol=1e-5)


def test_what_is_behind_the_camera_is_not_drawn() -> None:
    away = CAMERA.place - 2.0 * CAMERA.frame[2]
    _, owner = buffers(mesh(away + np.eye(3), [[0, 1, 2]]))
    assert (owner < 0).all()


def test_depth_is_that_of_the_plane() -> None:
    corners = np.array([[0.9, 0.3, -0.1], [-1.2, 0.8, 0.5], [0.2, -0.9, 1.3]])
    near, owner = buffers(mesh(corners, [[0, 1, 2]]))
    normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
    depth = (corners[0] - CAMERA.place) @ normal / (rays(CAMERA, WIDTH, HEIGHT) @ normal)
    assert (owner == 0).sum() > 200
    np.testing.assert_allclose(1.0 / near[owner == 0], depth[owner == 0], rtol=1e-4)


def test_nearer_triangles_hide_farther_ones_pixel_by_pixel() -> None:
    rng = np.random.default_rng(5)
    points = rng.uniform(-0.8, 0.8, (30, 3, 3)) + CAMERA.target
    _, owner = buffers(mesh(points.reshape(-1, 3), np.arange(90).reshape(-1, 3)))
    way = rays(CAMERA, WIDTH, HEIGHT)
    best = np.full((HEIGHT, WIDTH), np.inf)
    wanted, sure = np.full((HEIGHT, WIDTH), -1), np.ones((HEIGHT, WIDTH), dtype=bool)
    for k, (a, b, c) in enumerate(points):
        # depth and shares by solving place + t way = a + s (b - a) + r (c - a)
        A = np.stack([way, np.broadcast_to(a - b, way.shape), np.broadcast_to(a - c, way.shape)], axis=-1)
        t, s, r = np.moveaxis(np.linalg.solve(A, np.broadcast_to(a - CAMERA.place, way.shape)[..., None])[..., 0], -1, 0)
        inside = np.minimum.reduce([s, r, 1.0 - s - r])
        sure &= np.abs(inside) > 2e-3
        sure &= ~((inside > 0.0) & (np.abs(t - best) < 1e-3))
        hit = (inside > 0.0) & (t < best)
        best[hit], wanted[hit] = t[hit], k
    assert len(np.unique(owner)) > 15
    assert sure.mean() > 0.8
    np.testing.assert_array_equal(owner[sure], wanted[sure])


@pytest.mark.parametrize("samples", [1, 2, 3])
def test_coverage_is_the_projected_area(samples: int) -> None:
    rng = np.random.default_rng(7)
    right, up, forward = CAMERA.frame
    off = []
    for _ in range(12):
        flat = rng.uniform(-40.0, 40.0, (3, 2))
        area = 0.5 * abs(np.linalg.det(flat[1:] - flat[0]))
        pixel = 2.0 * np.tan(0.5 * CAMERA.field) / HEIGHT
        corners = CAMERA.place + 5.0 * (forward + pixel * (flat[:, :1] * right + flat[:, 1:] * up))
        light = painter(GLOW, samples=samples).light(mesh(corners, [[0, 1, 2]]))
        around = np.linalg.norm(flat - np.roll(flat, 1, axis=0), axis=1).sum()
        off.append((light[..., 0].sum() - area) / around)
    assert np.abs(off).max() < 0.25 / samples  # an edge along the rows is half a sample off at most
    assert abs(np.mean(off)) < 0.02


def test_neighbours_leave_no_gap_and_cover_nothing_else() -> None:
    rng = np.random.default_rng(11)
    right, up, _ = CAMERA.frame
    n = 14
    u, v = np.meshgrid(np.linspace(-0.9, 0.9, n), np.linspace(-0.6, 0.6, n))
    inner = np.zeros((n, n), dtype=bool)
    inner[1:-1, 1:-1] = True
    u, v = u + np.where(inner, rng.uniform(-0.04, 0.04, (n, n)), 0.0), v + np.where(inner, rng.uniform(-0.03, 0.03, (n, n)), 0.0)
    points = CAMERA.target + u[..., None] * right + v[..., None] * up
    k = np.arange(n * n).reshape(n, n)
    a, b, c, d = k[:-1, :-1], k[:-1, 1:], k[1:, 1:], k[1:, :-1]
    faces = np.concatenate([np.stack([a, b, c], -1), np.stack([a, c, d], -1)]).reshape(-1, 3)
    _, owner = buffers(mesh(points.reshape(-1, 3), faces))
    _, plain = buffers(mesh(points.reshape(-1, 3), [[k[0, 0], k[0, -1], k[-1, -1]], [k[0, 0], k[-1, -1], k[-1, 0]]]))
    np.testing.assert_array_equal(owner >= 0, plain >= 0)


def test_a_ball_is_as_bright_as_lamberts_law_says() -> None:
    middle, radius = np.array([0.2, 0.1, 0.4]), 0.7
    drawn = painter(LAMBERT)
    light = drawn.light(ball(radius, middle))[..., 0]
    way = rays(CAMERA, WIDTH, HEIGHT)
    b, c = way @ (CAMERA.place - middle), ((CAMERA.place - middle) ** 2).sum() - radius**2
    a = (way**2).sum(axis=-1)
    inside = b * b - a * c
    t = (-b - np.sqrt(np.maximum(inside, 0.0))) / a
    normal = (CAMERA.place + t[..., None] * way - middle) / radius
    key, _ = drawn._lights(CAMERA.frame)
    wanted = normal @ key
    sure = (inside > 0.02) & (wanted > 0.25)  # away from the rim and from where the ball's own shadow begins
    dark = (inside > 0.02) & (wanted < -0.02)
    assert sure.sum() > 800
    assert dark.sum() > 100
    np.testing.assert_allclose(light[sure], wanted[sure], atol=0.02)
    assert light[dark].max() < 0.02


def test_one_figure_shades_another() -> None:
    drawn = painter(LAMBERT)
    key, _ = drawn._lights(CAMERA.frame)
    low, high = ball(0.4, np.array([0.2, 0.1, 0.2])), ball(0.15, np.array([0.2, 0.1, 0.2]) + 0.9 * key)
    both = Triangles(
        np.vstack([low.points, high.points]), np.vstack([low.normals, high.normals]),
        np.vstack([low.faces, high.faces + len(low.points)]).astype(np.int32), np.vstack([low.colors, high.colors]),
    )  # fmt: skip
    x, y, _ = CAMERA.seen((np.array([[0.2, 0.1, 0.2]]) + 0.4 * key).astype(np.float32), WIDTH, HEIGHT)
    at = (int(y[0]), int(x[0]))
    assert drawn.light(low)[at][0] > 0.95
    assert drawn.light(both)[at][0] < 0.02


def test_the_ground_is_darkest_where_the_light_is_taken_away() -> None:
    white = Theme(((1.0, 1.0, 1.0),) * 5, shadow=0.6)
    drawn = painter(white, floor=0.0)
    middle = np.array([0.2, 0.1, 0.5])
    plain, light = drawn._ground(), drawn.light(ball(0.25, middle))
    key, _ = drawn._lights(CAMERA.frame)
    x, y, _ = CAMERA.seen((middle - middle[2] / key[2] * key)[None].astype(np.float32), WIDTH, HEIGHT)
    assert light[int(y[0]), int(x[0]), 0] == pytest.approx(1.0 - 0.6 * np.exp(-1.1 * 0.5 / 2.0), abs=0.06)
    gone = np.argwhere((light[..., 0] < 0.999) & (np.indices(light.shape[:2])[0] > y[0] - 12))
    assert len(gone) > 50
    assert plain.min() > 0.999


def test_only_the_changed_part_is_drawn_anew_and_nothing_is_lost() -> None:
    figure = ball(0.5, np.array([0.2, 0.1, 0.5]))
    drawn = painter(Theme(((0.9, 0.9, 0.9), (0.8, 0.8, 0.8), (0.7, 0.7, 0.7), (0.5, 0.5, 0.5), (0.3, 0.3, 0.3))), floor=0.0)
    part, _ = drawn._part(figure, None, 0.5)
    whole = drawn.light(figure)
    everything = drawn.__class__(CAMERA, WIDTH, HEIGHT, 2.0, 0.0, theme=drawn.theme)
    object.__setattr__(everything, "_bounds", lambda *_: (slice(0, HEIGHT), slice(0, WIDTH)))
    assert (part[0].stop - part[0].start) * (part[1].stop - part[1].start) < 0.7 * WIDTH * HEIGHT
    np.testing.assert_allclose(everything.light(figure), whole, atol=1e-3)


def test_a_figure_over_the_whole_picture_leaves_the_ground_as_it_was() -> None:
    drawn, plain = painter(Theme(((0.9, 0.9, 0.9),) * 5), floor=0.0), painter(Theme(((0.9, 0.9, 0.9),) * 5), floor=0.0)
    drawn.light(ball(3.0, CAMERA.place + 6.0 * CAMERA.frame[2]))
    small = ball(0.2, np.array([0.2, 0.1, 0.5]))
    np.testing.assert_array_equal(drawn.light(small), plain.light(small))
    np.testing.assert_array_equal(drawn.draw(small), plain.draw(small))


def test_a_ghost_that_agrees_is_hidden_and_one_in_front_is_mixed_in() -> None:
    figure = ball(0.5, np.array([0.2, 0.1, 0.5]))
    red = Triangles(figure.points, figure.normals, figure.faces, np.array([1.0, 0.0, 0.0], np.float32) * figure.colors)
    drawn = painter(GLOW)
    np.testing.assert_array_equal(drawn.light(figure, red), drawn.light(figure))
    moved = Triangles(red.points - (0.5 * CAMERA.frame[2]).astype(np.float32), red.normals, red.faces, red.colors)
    x, y, _ = CAMERA.seen(np.array([[0.2, 0.1, 0.5]], np.float32), WIDTH, HEIGHT)
    seen = drawn.light(figure, moved, opacity=0.4)[int(y[0]), int(x[0])]
    np.testing.assert_allclose(seen, [1.0, 0.6, 0.6], atol=1e-5)


@pytest.mark.parametrize("kind", ["box", "ball", "tube"])
def test_closed_solids_look_the_same_without_their_inner_side(kind: str) -> None:
    vertices, faces = unit_mesh(kind)
    figure = mesh(0.5 * vertices + CAMERA.target.astype(np.float32), faces)
    culled = mesh(0.5 * vertices + CAMERA.target.astype(np.float32), faces, single=len(faces))
    _, one = buffers(figure)
    _, two = buffers(culled)
    assert (one >= 0).sum() > 1000
    assert (one != two).mean() < 1e-3


def test_sharp_edges_are_kept_and_smooth_ones_too() -> None:
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=np.float32)
    squares = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    sides = np.array([[a, *pair] for a, b, c, d in squares for pair in ((b, c), (c, d))], dtype=np.int32)
    vertices, faces = creased(corners, sides)
    assert len(vertices) == 24
    np.testing.assert_array_equal(vertices[faces], corners[sides])
    normals = vertex_normals(vertices, faces)
    assert np.abs(np.abs(normals).max(axis=1) - 1.0).max() < 1e-6
    round_one = ball(1.0, np.zeros(3), 40)
    vertices, faces = creased(round_one.points, round_one.faces)
    middle = np.abs(vertices[:, 2]) < 0.95
    normals = vertex_normals(vertices, faces)
    assert np.abs(normals[middle] - vertices[middle]).max() < 0.02


@pytest.mark.parametrize("view", ["three-quarter", "front", "side", "back"])
@pytest.mark.parametrize("aspect", [0.5, 1.0, 1.8])
def test_the_camera_is_as_near_as_it_can_be(view: str, aspect: float) -> None:
    rng = np.random.default_rng(1)
    points = (rng.normal(size=(400, 3)) * [0.2, 0.4, 0.7] + [1.0, 2.0, 0.8]).astype(np.float32)
    camera = nearer(standing(points.min(axis=0), points.max(axis=0), view=view, aspect=aspect), points, aspect=aspect, share=0.8)
    x, y, w = camera.seen(points, 1000, round(1000 / aspect))
    height = round(1000 / aspect)
    across, down = np.abs(x - 500.0).max() / 500.0, np.abs(y - 0.5 * height).max() / (0.5 * height)
    assert (w > 0.0).all()
    assert max(across, down) == pytest.approx(0.8, abs=2e-3)


def test_a_blur_is_a_mean_over_squares() -> None:
    mask = np.random.default_rng(2).random((23, 31)).astype(np.float32)
    wide = np.pad(mask.astype(np.float64), 3)
    wanted = np.array([[wide[i : i + 7, j : j + 7].mean() for j in range(31)] for i in range(23)])
    np.testing.assert_allclose(blurred(mask, 3), wanted, atol=1e-5)


def test_colours_come_back_from_linear_light() -> None:
    levels = np.arange(256, dtype=np.float64)
    assert np.abs(encoded(linear(levels / 255.0)).astype(int) - levels).max() <= 1
