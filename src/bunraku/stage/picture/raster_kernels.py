"""The rasterizer: triangles into a depth buffer, a shadow map, a ground with lines, and one colour a pixel from all of them.

Colours are linear light. Buffers are ``samples`` times finer than the picture in both directions. Depth is kept as w = 1 / distance
along the view (a plane's w is linear over the picture), so that larger is nearer and 0 is nothing. A picture of 640 x 360 with
20,000 triangles takes 18 ms on one core of a busy server, a seventh of matplotlib (benchmarks/how_fast_is_a_picture.py).
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit

ZERO, HALF, ONE, BIG = np.float32(0.0), np.float32(0.5), np.float32(1.0), np.float32(1e6)
LEAST, MOST = np.float32(-1e-5), np.float32(1.0 + 1e-5)
"""Shares of a corner within the triangle, with room for rounding."""


@njit(cache=True, fastmath=True, error_model="numpy")
def fill(vertices, faces, single, near, owner):
    """Draw triangles into the buffers ``near`` (h, w) of the largest w and ``owner`` (h, w) of the triangle that has it.

    The first three columns of ``vertices`` (v, 3 or more) are x, y in pixels of the buffer, whose pixel (i, j) is sampled at
    x = j + 0.5, y = i + 0.5, and w. Triangles with a corner at w <= 0 (behind the camera) are left out. The first ``single`` faces
    are seen from outside only, from where they go around counter-clockwise. Triangles that share an edge leave no gap there.
    """
    rows, columns = near.shape
    for f in range(len(faces)):
        a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
        wa, wb, wc = vertices[a, 2], vertices[b, 2], vertices[c, 2]
        if wa <= 0.0 or wb <= 0.0 or wc <= 0.0:
            continue
        xa, ya, xb, yb = vertices[a, 0], vertices[a, 1], vertices[b, 0], vertices[b, 1]
        xc, yc = vertices[c, 0], vertices[c, 1]
        area = (xb - xa) * (yc - ya) - (xc - xa) * (yb - ya)
        if area == 0.0 or (area > 0.0 and f < single):
            continue
        low_y, high_y = min(ya, yb, yc), max(ya, yb, yc)
        low_x, high_x = min(xa, xb, xc), max(xa, xb, xc)
        if high_x < 0.5 or high_y < 0.5 or low_x > columns - 0.5 or low_y > rows - 0.5:
            continue
        top, bottom = int(max(low_y + HALF, ZERO)), int(min(high_y - HALF, BIG))
        left, right = int(max(low_x + HALF, ZERO)), int(min(high_x - HALF, BIG))
        bottom, right = min(bottom, rows - 1), min(right, columns - 1)
        if top > bottom or left > right:
            continue
        scale = ONE / area
        # shares of a and b, linear over the picture: s = s0 + sx (x - xc) + sy (y - yc)
        ax, ay = (yb - yc) * scale, (xc - xb) * scale
        bx, by = (yc - ya) * scale, (xa - xc) * scale
        wx, wy = ax * (wa - wc) + bx * (wb - wc), ay * (wa - wc) + by * (wb - wc)
        for i in range(top, bottom + 1):
            dy, dx = np.float32(i) + HALF - yc, np.float32(left) + HALF - xc
            sa, sb = ax * dx + ay * dy, bx * dx + by * dy
            here = wc + wx * dx + wy * dy
            for j in range(left, right + 1):
                if sa >= LEAST and sb >= LEAST and sa + sb <= MOST and here > near[i, j]:
                    near[i, j] = here
                    owner[i, j] = f
                sa += ax
                sb += bx
                here += wx


@njit(cache=True)
def vertex_normals(points, faces):
    """Unit normals (v, 3) of vertices: the mean of their triangles' normals, weighted by area."""
    normals = np.zeros_like(points)
    for f in range(len(faces)):
        a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
        ux, uy, uz = points[b, 0] - points[a, 0], points[b, 1] - points[a, 1], points[b, 2] - points[a, 2]
        vx, vy, vz = points[c, 0] - points[a, 0], points[c, 1] - points[a, 1], points[c, 2] - points[a, 2]
        nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        for k in (a, b, c):
            normals[k, 0] += nx
            normals[k, 1] += ny
            normals[k, 2] += nz
    for k in range(len(points)):
        length = np.sqrt(normals[k, 0] ** 2 + normals[k, 1] ** 2 + normals[k, 2] ** 2)
        if length > 0.0:
            for i in range(3):
                normals[k, i] /= length
        else:
            normals[k, 2] = 1.0
    return normals


@njit(cache=True, fastmath=True, error_model="numpy")
def blurred(mask, radius):
    """The mean of (h, w) over squares of 2 radius + 1, with 0 outside."""
    rows, columns = mask.shape
    share = np.float32(1.0 / (2 * radius + 1))
    across, both = np.zeros_like(mask), np.zeros_like(mask)
    for i in range(rows):
        total = np.float32(0.0)
        for j in range(-radius, columns):
            if j + radius < columns:
                total += mask[i, j + radius]
            if j - radius - 1 >= 0:
                total -= mask[i, j - radius - 1]
            if j >= 0:
                across[i, j] = total * share
    totals = np.zeros(columns, dtype=np.float32)
    for i in range(-radius, rows):
        for j in range(columns):
            if i + radius < rows:
                totals[j] += across[i + radius, j]
            if i - radius - 1 >= 0:
                totals[j] -= across[i - radius - 1, j]
            if i >= 0:
                both[i, j] = max(totals[j] * share, np.float32(0.0))
    return both


@njit(cache=True, fastmath=True, error_model="numpy", inline="always")
def _line(at, spacing, wide, footprint):
    """How much of a pixel of width ``footprint`` about ``at`` is covered by lines ``wide`` thick, ``spacing`` apart."""
    off = abs(at - spacing * np.round(at / spacing))
    covered = (0.5 * (wide + footprint) - off) / footprint
    return min(max(covered, 0.0), 1.0) * min(1.0, wide / footprint if wide < footprint else 1.0)


@njit(cache=True, fastmath=True, error_model="numpy")
def ground(place, frame, tangent, height, middle, cell, reach, colors, picture):
    """The backdrop and the ground at z = ``height``, with a line every ``cell`` and a stronger one every fifth.

    ``place`` (3,) of the camera, ``frame`` (3, 3) rows right, up, forward, ``tangent`` of half the vertical field; lines fade with
    the distance from ``middle`` (2,), over ``reach``. ``colors`` (5, 3): backdrop above, horizon, floor, lines, strong lines.
    """
    rows, columns, _ = picture.shape
    step = 2.0 * tangent / rows
    for i in range(rows):
        v = tangent * (1.0 - 2.0 * (i + 0.5) / rows)
        for j in range(columns):
            u = step * (j + 0.5 - 0.5 * columns)
            dx = frame[2, 0] + u * frame[0, 0] + v * frame[1, 0]
            dy = frame[2, 1] + u * frame[0, 1] + v * frame[1, 1]
            dz = frame[2, 2] + u * frame[0, 2] + v * frame[1, 2]
            length = np.sqrt(dx * dx + dy * dy + dz * dz)
            up = dz / length
            share = min(max(up * 1.6, 0.0), 1.0)
            for k in range(3):
                picture[i, j, k] = colors[1, k] + share * (colors[0, k] - colors[1, k])
            if dz > -1e-6:
                continue
            t = (height - place[2]) / dz
            if t <= 0.0:
                continue
            gx, gy = place[0] + t * dx, place[1] + t * dy
            off = np.sqrt((gx - middle[0]) ** 2 + (gy - middle[1]) ** 2) / reach
            near = 1.0 / (1.0 + off * off * off)
            # how far a step of one pixel goes on the ground, along its x and its y
            foot_x = t * step * (abs(frame[0, 0] - dx * frame[0, 2] / dz) + abs(frame[1, 0] - dx * frame[1, 2] / dz)) + 1e-9
            foot_y = t * step * (abs(frame[0, 1] - dy * frame[0, 2] / dz) + abs(frame[1, 1] - dy * frame[1, 2] / dz)) + 1e-9
            thin, thick = 0.012 * cell, 0.03 * cell
            weak = max(_line(gx, cell, thin, foot_x), _line(gy, cell, thin, foot_y))
            strong = max(_line(gx, 5.0 * cell, thick, foot_x), _line(gy, 5.0 * cell, thick, foot_y))
            fade = near * near
            for k in range(3):
                floor = colors[2, k] + fade * weak * (colors[3, k] - colors[2, k])
                floor += fade * strong * (colors[4, k] - floor)
                picture[i, j, k] += near * (floor - picture[i, j, k])


@njit(cache=True, fastmath=True, error_model="numpy", inline="always")
def _shared(a, b, c, px, py, vertices):
    """The shares of a triangle's corners, on the triangle itself, of what is seen at (px, py) of the buffer."""
    xc, yc = vertices[c, 0], vertices[c, 1]
    xa, ya, xb, yb = vertices[a, 0] - xc, vertices[a, 1] - yc, vertices[b, 0] - xc, vertices[b, 1] - yc
    area = xa * yb - xb * ya
    sa = (yb * (px - xc) - xb * (py - yc)) / area
    sb = (xa * (py - yc) - ya * (px - xc)) / area
    sa, sb = min(max(sa, ZERO), ONE), min(max(sb, ZERO), ONE)
    sa, sb, sc = sa * vertices[a, 2], sb * vertices[b, 2], max(ONE - sa - sb, ZERO) * vertices[c, 2]
    total = ONE / (sa + sb + sc)
    return sa * total, sb * total, sc * total


@njit(cache=True, fastmath=True, error_model="numpy", inline="always")
def _lit(X, Y, Z, light_frame, shadow, bias):
    """How much of the key light reaches a point: nine looks into the shadow map about its place there."""
    rows, columns = shadow.shape
    u = light_frame[0, 0] * X + light_frame[0, 1] * Y + light_frame[0, 2] * Z + light_frame[0, 3]
    v = light_frame[1, 0] * X + light_frame[1, 1] * Y + light_frame[1, 2] * Z + light_frame[1, 3]
    d = light_frame[2, 0] * X + light_frame[2, 1] * Y + light_frame[2, 2] * Z + light_frame[2, 3] + bias
    j, i = int(np.floor(u)), int(np.floor(v))
    if i < 1 or j < 1 or i >= rows - 1 or j >= columns - 1:
        return 1.0
    total = 0.0
    for k in range(-1, 2):
        for l in range(-1, 2):  # noqa: E741
            if shadow[i + k, j + l] <= d:
                total += 1.0 / 9.0
    return total


@njit(cache=True, fastmath=True, error_model="numpy", inline="always")
def _between(mask, u, v):
    """A value of a mask between its pixels; 0 outside."""
    rows, columns = mask.shape
    u, v = u - 0.5, v - 0.5
    j, i = int(np.floor(u)), int(np.floor(v))
    if i < 0 or j < 0 or i >= rows - 1 or j >= columns - 1:
        return 0.0
    s, t = u - j, v - i
    return (1 - t) * ((1 - s) * mask[i, j] + s * mask[i, j + 1]) + t * ((1 - s) * mask[i + 1, j] + s * mask[i + 1, j + 1])


@njit(cache=True, fastmath=True, error_model="numpy", inline="always")
def _shade(f, px, py, vertices, faces, colors, place, lights, light_frame, shadow, bias, out):
    """The light that comes from a triangle at a place of the picture: key by Lambert's law, sky and earth, fill, a little gloss."""
    a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
    sa, sb, sc = _shared(a, b, c, np.float32(px), np.float32(py), vertices)
    nx = sa * vertices[a, 6] + sb * vertices[b, 6] + sc * vertices[c, 6]
    ny = sa * vertices[a, 7] + sb * vertices[b, 7] + sc * vertices[c, 7]
    nz = sa * vertices[a, 8] + sb * vertices[b, 8] + sc * vertices[c, 8]
    X = sa * vertices[a, 3] + sb * vertices[b, 3] + sc * vertices[c, 3]
    Y = sa * vertices[a, 4] + sb * vertices[b, 4] + sc * vertices[c, 4]
    Z = sa * vertices[a, 5] + sb * vertices[b, 5] + sc * vertices[c, 5]
    vx, vy, vz = place[0] - X, place[1] - Y, place[2] - Z
    inverse = 1.0 / np.sqrt(vx * vx + vy * vy + vz * vz)
    vx, vy, vz = vx * inverse, vy * inverse, vz * inverse
    inverse = 1.0 / np.sqrt(nx * nx + ny * ny + nz * nz + 1e-30)
    if nx * vx + ny * vy + nz * vz < 0.0:
        inverse = -inverse
    nx, ny, nz = nx * inverse, ny * inverse, nz * inverse
    key = max(nx * lights[0, 0] + ny * lights[0, 1] + nz * lights[0, 2], 0.0)
    fill_light = max(nx * lights[1, 0] + ny * lights[1, 1] + nz * lights[1, 2], 0.0)
    lit = 1.0
    if key > 0.0 and bias > 0.0:
        slope = min(np.sqrt(max(1.0 - key * key, 0.0)) / max(key, 0.15), 4.0)
        lit = _lit(X, Y, Z, light_frame, shadow, bias * (1.0 + slope))
    hx, hy, hz = vx + lights[0, 0], vy + lights[0, 1], vz + lights[0, 2]
    inverse = 1.0 / np.sqrt(hx * hx + hy * hy + hz * hz + 1e-30)
    shine = max((nx * hx + ny * hy + nz * hz) * inverse, 0.0)
    shine = shine * shine
    shine = shine * shine
    shine = shine * shine
    shine = shine * shine
    shine = shine * shine  # to the power of 32
    over = 0.5 * (1.0 + nz)
    for k in range(3):
        ambient = lights[3, k] + over * (lights[2, k] - lights[3, k])
        out[k] = colors[f, k] * (lights[4, k] * key * lit + lights[5, k] * fill_light + ambient) + lights[6, k] * shine * lit * key


@njit(cache=True, fastmath=True, error_model="numpy", inline="always")
def _darkness(u, v, place, frame, light_frame, mask, height):
    """How much light is left on the ground at z = ``height`` that is seen along a ray."""
    dz = frame[2, 2] + u * frame[0, 2] + v * frame[1, 2]
    t = (height - place[2]) / dz if dz < -1e-6 else -1.0
    if t <= 0.0:
        return 1.0
    X = place[0] + t * (frame[2, 0] + u * frame[0, 0] + v * frame[1, 0])
    Y = place[1] + t * (frame[2, 1] + u * frame[0, 1] + v * frame[1, 1])
    su = light_frame[0, 0] * X + light_frame[0, 1] * Y + light_frame[0, 2] * height + light_frame[0, 3]
    sv = light_frame[1, 0] * X + light_frame[1, 1] * Y + light_frame[1, 2] * height + light_frame[1, 3]
    return 1.0 - _between(mask, 0.5 * su, 0.5 * sv)


@njit(cache=True, fastmath=True, error_model="numpy")
def resolve(picture, samples, view, light, bias, height, solid, ghost, opacity, behind):
    """Put the figures over the ``picture`` (h, w, 3) of the ground, in place; it may be a part of a larger one.

    A pixel all of whose samples see one triangle is shaded once in its middle, others sample by sample. The ghost goes over the
    rest by ``opacity`` where it is nearer by more than ``behind`` [m].

    ``view``: place (3,) of the camera, its frame (3, 3), the size of a pixel at the distance 1, and where the camera's axis is in
    pixels of the picture, x and y. ``light``: the lights (7, 3) of `Theme.lights`, frame (3, 4) of the shadow map, that map, and
    how dark the ground is at every second of its pixels. ``bias`` [m] of a look into that map. ``solid`` and ``ghost``: vertices
    (v, 9) (x, y, w, point, normal), faces (f, 3), colours (f, 3), buffers near and owner.
    """
    rows, columns, _ = picture.shape
    place, frame, step, axis_x, axis_y = view
    lights, light_frame, shadow, mask = light
    vertices, faces, colors, near, owner = solid
    ghost_vertices, ghost_faces, ghost_colors, ghost_near, ghost_owner = ghost
    haunted = len(ghost_faces) > 0
    part, one = np.zeros(3, dtype=np.float32), np.zeros(3, dtype=np.float32)
    middle = 0.5 * samples
    for i in range(rows):
        v = step * (axis_y - i - 0.5)
        for j in range(columns):
            f, g = owner[i * samples, j * samples], -1
            alike, empty = True, True
            for k in range(i * samples, (i + 1) * samples):
                for m in range(j * samples, (j + 1) * samples):
                    alike = alike and owner[k, m] == f
                    empty = empty and owner[k, m] < 0
            if haunted:
                g = ghost_owner[i * samples, j * samples]
                for k in range(i * samples, (i + 1) * samples):
                    for m in range(j * samples, (j + 1) * samples):
                        alike = alike and ghost_owner[k, m] == g
                        empty = empty and ghost_owner[k, m] < 0
            if not alike or f < 0:
                dark = _darkness(step * (j + 0.5 - axis_x), v, place, frame, light_frame, mask, height)
                for c in range(3):
                    picture[i, j, c] *= dark
            if empty:
                continue
            red, green, blue = 0.0, 0.0, 0.0
            count = 1 if alike else samples * samples
            for s in range(count):
                k, m = i * samples + s // samples, j * samples + s % samples
                py = i * samples + middle if alike else k + 0.5
                px = j * samples + middle if alike else m + 0.5
                f = owner[k, m]
                if f >= 0:
                    _shade(f, px, py, vertices, faces, colors, place, lights, light_frame, shadow, bias, one)
                else:
                    for c in range(3):
                        one[c] = picture[i, j, c]
                if haunted:
                    g = ghost_owner[k, m]
                    if g >= 0 and (f < 0 or (1.0 / ghost_near[k, m] + behind) * near[k, m] < 1.0):
                        _shade(g, px, py, ghost_vertices, ghost_faces, ghost_colors, place, lights, light_frame, shadow, 0.0, part)
                        for c in range(3):
                            one[c] += opacity * (part[c] - one[c])
                red += one[0]
                green += one[1]
                blue += one[2]
            picture[i, j, 0], picture[i, j, 1], picture[i, j, 2] = red / count, green / count, blue / count
