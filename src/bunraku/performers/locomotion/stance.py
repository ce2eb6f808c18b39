"""Stance at the playing rate: between the samples of a plan, feet stay where they stand and wheels roll without sliding.

A plan keeps its contact rows from sample to sample; splines of its coordinates keep them only there, and ring where a foot lifts
or lands. The smallest smooth change c(t) of the coordinates that restores the rows at every played moment is found by
Gauss-Newton: it minimises W |r + J c|² + sum_k |M (c_{k+1} - 2 c_k + c_{k-1})|² (h / dt)⁴ + EASE |M c|², r the height of every
standing end effector over the ground, its slip between successive moments [m] and what joints move too fast [rad], h the plan's
step and dt the playing one [s], M a weight of the base's coordinates, whose motion carries the dynamics. In the air c is free, so
that legs swing into their corrected stance without a jump.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, solveh_banded
from scipy.sparse import coo_array, diags_array, eye_array, kron, vstack

from bunraku.mechanics.centroidal._kernels import BALL, WELDED
from bunraku.mechanics.centroidal.kinematics import Kinematics, kinematics
from bunraku.mechanics.centroidal.model import CentroidalModel
from bunraku.mechanics.tree._kernels import HINGE
from bunraku.motion import HeightField
from bunraku.performers.locomotion.track import Track

__all__ = ["contact_rows", "stand", "standing"]

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Indices = NDArray[np.int64]

FIRM = 1e9
"""W [1/m²]: a slip of 0.03 mm weighs as much as a change by a radian."""

EASE = 1.0
"""Weight of the change itself: as much as its second differences over a step of the plan, so that changes fade within one."""

BASE = 1000.0
"""How much more a change of the base counts, 1 m as 1 rad, than one of a joint: it moves only where the legs alone cannot."""

ROUNDS, EXACT = 5, 1e-7
"""Most Gauss-Newton steps, and the residual [m, rad] that ends them; the splines are near, so two or three are enough."""


def standing(track: Track, at: Array) -> Flags:
    """Which end effectors (m, n_e) stand at times ``at`` (m,) [s]: those on the ground at the plan's samples around."""
    place = at / track.step + track.margin
    before = np.clip(np.floor(place + 1e-9).astype(np.int64), 0, len(track.samples) - 1)
    after = np.clip(np.ceil(place - 1e-9).astype(np.int64), 0, len(track.samples) - 1)
    return (track.contacts[before] * track.contacts[after]).astype(bool)


def stand(track: Track, at: Array, q: Array) -> tuple[Array, Kinematics]:
    """The coordinates ``q`` (m, nq) at times ``at`` (m,) changed as little as keeps every stance, and their kinematics."""
    on = standing(track, at)
    seen = kinematics(track.model, q, track.terrain, jacobians=True)
    if len(at) < 3 or not on.any():
        return q, seen
    smooth = _smoothness(track.model, len(at), track.step * (len(at) - 1) / (at[-1] - at[0]))
    step = (at[-1] - at[0]) / (len(at) - 1)
    for _ in range(ROUNDS):
        r, J = contact_rows(track.model, seen, on, track.terrain)
        fast, F = _speed_rows(track.model, q, step)
        if max(np.abs(r).max(initial=0.0), np.abs(fast).max(initial=0.0)) < EXACT:
            break
        change = _solve(vstack([J, F]), np.concatenate([r, fast]), smooth, q)
        if change is None:
            break
        q = q + change
        seen = kinematics(track.model, q, track.terrain, jacobians=True)
    return q, seen


def contact_rows(model: CentroidalModel, seen: Kinematics, on: Flags, terrain: HeightField | None) -> tuple[Array, coo_array]:
    """Residuals (n,) [m] of all stances and their Jacobian over the coordinates of all moments, (n, m nq).

    Of an end effector with contact point e: its height over the ground at each moment; from each moment to the next, with de and
    dphi the steps of e and of its body's turn, n the normal and t the rolling direction: de - r dphi x n along the ground
    of a ball, de . (n x t) of a wheel, and de . t - r dsigma of one that cannot spin.
    """
    nq, (R, _, A, *_, Je, Jt, Js, _) = model.nq, seen.arrays
    n, kinds = seen.arrays[9], model.tree[1]
    residuals: list[Array] = []
    entries: list[tuple[Indices, Indices, Array]] = []
    count = 0

    def add(r: Array, *parts: tuple[Indices, Indices, Array]) -> None:
        """Rows ``r`` (k,), with parts (moments (k,), coordinates (c,), coefficients (k, c))."""
        nonlocal count
        row = count + np.arange(len(r))
        for moment, chain, value in parts:
            columns = moment[:, None] * nq + chain[None, :]
            entries.append((np.repeat(row, len(chain)), columns.ravel(), value.ravel()))
        residuals.append(r)
        count += len(r)

    for j in range(model.n_tips):
        chain = model.tips[6][j]
        chain = chain[chain >= 0]
        c, radius, kind = len(chain), model.tips[4][j], model.tips[5][j]
        k = np.flatnonzero(on[:, j]).astype(np.int64)
        if not len(k) or not c:
            continue
        e, E = seen.contact[:, j], Je[:, j, :, :c]
        height, slope = _ground(terrain, e[k])
        add(e[k, 2] - height, (k, chain, E[k, 2] - np.einsum("ka,kac->kc", slope, E[k, :2])))
        k = np.flatnonzero(on[1:, j] & on[:-1, j]).astype(np.int64)
        if not len(k):
            continue
        de, up = e[k + 1] - e[k], n[k, j]
        if kind == BALL:
            hinges = kinds[model.nodes[chain]] == HINGE
            axes = A[:, model.nodes[chain]] * hinges[None, :, None]
            dphi = _turns(R[:, model.tips[0][j]])[k]
            slide = de - radius * np.cross(dphi, up)
            after = E[k + 1] - radius * np.swapaxes(np.cross(axes[k + 1], up[:, None]), 1, 2)
            before = -E[k] + radius * np.swapaxes(np.cross(axes[k], up[:, None]), 1, 2)
            for u in _tangents(up):
                add(
                    np.einsum("ka,ka->k", slide, u),
                    (k, chain, np.einsum("kac,ka->kc", before, u)),
                    (k + 1, chain, np.einsum("kac,ka->kc", after, u)),
                )
            continue
        T = seen.rolling[k, j] + seen.rolling[k + 1, j]
        length = np.linalg.norm(T, axis=1, keepdims=True)
        T = T / length
        directions = [(np.cross(up, T), np.cross(de, up), 0.0)]
        if kind == WELDED:
            directions.append((T, de, radius))
        for u, p, rolled in directions:
            # u = B T with B = [n]x or 1, and p = B' de: the direction turns with both samples
            lean = (p - np.einsum("ka,ka->k", p, T)[:, None] * T) / length
            turned = (seen.spin[k + 1, j] - seen.spin[k, j] + np.pi) % (2.0 * np.pi) - np.pi
            parts = [
                (
                    k + side,
                    chain,
                    sign * (np.einsum("kac,ka->kc", E[k + side], u) - rolled * Js[k + side, j, :c])
                    + np.einsum("kac,ka->kc", Jt[k + side, j, :, :c], lean),
                )
                for side, sign in ((0, -1.0), (1, 1.0))
            ]
            add(np.einsum("ka,ka->k", de, u) - rolled * turned, *parts)
    if not residuals:
        return np.zeros(0), coo_array((0, len(on) * nq))
    rows, columns, values = (np.concatenate(part) for part in zip(*entries, strict=True))
    return np.concatenate(residuals), coo_array((values, (rows, columns)), shape=(count, len(on) * nq))


def _speed_rows(model: CentroidalModel, q: Array, step: float) -> tuple[Array, coo_array]:
    """By how much (n,) [rad] joints move too far from one moment to the next for their motors, and the Jacobian of that."""
    m, nq = q.shape
    moved = np.diff(q, axis=0)
    k, c = np.nonzero(np.abs(moved) > model.speed * step)
    excess = moved[k, c] - np.sign(moved[k, c]) * model.speed[c] * step
    row, one = np.arange(len(k)), np.ones(len(k))
    places = np.concatenate([row, row]), np.concatenate([(k + 1) * nq + c, k * nq + c])
    return excess, coo_array((np.concatenate([one, -one]), places), shape=(len(k), m * nq))


def _ground(terrain: HeightField | None, places: Array) -> tuple[Array, Array]:
    """Height (k,) and slope (k, 2) of the ground at places (k, 3)."""
    if terrain is None:
        return np.zeros(len(places)), np.zeros((len(places), 2))
    x, y, d = places[:, 0], places[:, 1], 1e-6
    slope = [(terrain.height(x + a, y + b) - terrain.height(x - a, y - b)) / (2.0 * d) for a, b in ((d, 0.0), (0.0, d))]
    return np.asarray(terrain.height(x, y)), np.column_stack(slope)


def _tangents(n: Array) -> tuple[Array, Array]:
    """Two unit directions (k, 3) across the normals ``n`` (k, 3), which point up more than sideways."""
    u = np.cross(np.array([0.0, 1.0, 0.0]), n)
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    return u, np.cross(n, u)


def _turns(R: Array) -> Array:
    """Small turns (m - 1, 3) between successive rotations (m, 3, 3), in the world: vee of (R+ R' - R R+') / 2."""
    D = R[1:] @ np.swapaxes(R[:-1], 1, 2)
    return 0.5 * np.stack([D[:, 2, 1] - D[:, 1, 2], D[:, 0, 2] - D[:, 2, 0], D[:, 1, 0] - D[:, 0, 1]], axis=-1)


def _smoothness(model: CentroidalModel, m: int, finer: float) -> coo_array:
    """The part of the normal matrix that keeps changes smooth and small; ``finer``: playing steps to a step of the plan."""
    D = diags_array([1.0, -2.0, 1.0], offsets=[0, 1, 2], shape=(m - 2, m))
    weight = np.where(np.arange(model.nq) < 6, BASE**2, 1.0)
    return coo_array(kron(finer**4 * (D.T @ D) + EASE * eye_array(m), diags_array(weight)))


def _solve(J: coo_array, r: Array, smooth: coo_array, q: Array) -> Array | None:
    """The change (m, nq): a banded Cholesky factorization, coordinates of a moment side by side; None when it breaks down."""
    m, nq = q.shape
    rows = J.tocsr()
    H = (FIRM * (rows.T @ rows) + smooth).tocoo()
    width = 3 * nq
    band = np.zeros((width, m * nq))
    lower = H.row >= H.col
    np.add.at(band, (H.row[lower] - H.col[lower], H.col[lower]), H.data[lower])
    try:
        return np.asarray(solveh_banded(band, -FIRM * (rows.T @ r), lower=True)).reshape(m, nq)
    except LinAlgError:
        return None
