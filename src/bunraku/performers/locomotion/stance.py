"""Stance at the playing rate: between the samples of a plan, feet stay where they stand and wheels roll without sliding.

A plan keeps its contact rows from sample to sample; splines of its coordinates keep them only there, and ring where a foot lifts
or lands. The smallest smooth change c(t) of the coordinates that restores the rows at every played moment is found by
Gauss-Newton: it minimises W |r + J c|² + sum_k |M (c_{k+1} - 2 c_k + c_{k-1})|² (h / dt)⁴ + EASE |M c|², r the height of every
standing end effector over the ground, its slip between successive moments [m] and what joints move too fast [rad], h the plan's
step and dt the playing one [s], M a weight of the base's coordinates, whose motion carries the dynamics. In the air c is free, so
that legs swing into their corrected stance without a jump.

All moments are solved at once, by a banded factorization of 16 nq² bytes a moment: with 18 coordinates 1 MB a second at 200 Hz,
0.3 GB for a minute at 1 kHz. Nothing is done in windows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline
from scipy.linalg import LinAlgError, solveh_banded
from scipy.sparse import coo_array, diags_array, eye_array, kron, vstack

from bunraku.arrays import Array
from bunraku.mechanics.centroidal.kinematics import Kinematics, kinematics
from bunraku.mechanics.centroidal.kinematics_kernels import BALL, WELDED
from bunraku.mechanics.centroidal.model import CentroidalModel
from bunraku.mechanics.tree.tree_kernels import HINGE
from bunraku.motion import HeightField
from bunraku.performers.locomotion.track import End, Track

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

LOOSE = 1e-5
"""The residual [m, rad] from one moment to the next above which stance is not kept: 2 mm/s of slip at 200 Hz."""


@dataclass(frozen=True)
class StanceMotion:
    """The motion at the playing rate: coordinates ``q`` (m, nq), their kinematics ``seen``, ``on`` (m, n_e) what stands.

    ``residual``: what is left, the largest height or slip of what stands [m] or step of a joint beyond its motor's speed [rad].
    """

    q: Array
    seen: Kinematics
    on: Flags
    residual: float


def moments(track: Track, rate: float) -> Array:
    """The times (m,) [s] at which a track is played at ``rate`` [Hz]."""
    return np.arange(int(np.floor(track.duration * rate + 1e-9)) + 1) / rate


def splined(track: Track, at: Array) -> Array:
    """Cubic splines of the coordinates at times ``at`` (m,) [s]; a motion that starts or ends at rest does so with speed zero."""
    t, q, m = track.times, track.q, track.margin
    first, last = 0 if track.ends[0] == "through" else m, len(t) if track.ends[1] == "through" else len(t) - m
    bc: list[Any] = []
    for end, i in zip(track.ends, (m, len(t) - 1 - m), strict=True):
        if end == "rest":
            bc.append((1, np.zeros(q.shape[1])))
        else:
            bc.append((1, (q[i + 1] - q[i - 1]) / (2.0 * track.step)) if end == "speed" else "not-a-knot")
    curve = CubicSpline(t[first:last], q[first:last], bc_type=(bc[0], bc[1]))
    return np.asarray(curve(np.clip(at, t[m], t[-1 - m])))


def standing(track: Track, at: Array) -> Flags:
    """Which end effectors (m, n_e) stand at times ``at`` (m,) [s]: those on the ground at the plan's samples around."""
    place = at / track.step + track.margin
    before = np.clip(np.floor(place + 1e-9).astype(np.int64), 0, len(track.samples) - 1)
    after = np.clip(np.ceil(place - 1e-9).astype(np.int64), 0, len(track.samples) - 1)
    return (track.contacts[before] * track.contacts[after]).astype(bool)


def stand(track: Track, at: Array, q: Array) -> StanceMotion:
    """The coordinates ``q`` (m, nq) at times ``at`` (m,) changed as little as keeps every stance."""
    on = standing(track, at)
    if len(at) < 3 or not on.any():
        return StanceMotion(q, kinematics(track.model, q, track.terrain), on, 0.0)
    step = (at[-1] - at[0]) / (len(at) - 1)
    smooth = _smoothness(track.model, len(at), track.step / step, track.ends)
    for left in reversed(range(ROUNDS + 1)):
        seen = kinematics(track.model, q, track.terrain, jacobians=True)
        r, J = contact_rows(track.model, seen, on, track.terrain)
        fast, F = _speed_rows(track.model, q, step)
        residual = max(float(np.abs(part).max(initial=0.0)) for part in (r, fast))
        change = _solve(vstack([J, F]), np.concatenate([r, fast]), smooth, q) if left and residual >= EXACT else None
        if change is None:
            break
        q = q + change
    return StanceMotion(q, seen, on, residual)


def contact_rows(model: CentroidalModel, seen: Kinematics, on: Flags, terrain: HeightField | None) -> tuple[Array, coo_array]:
    """Residuals (n,) [m] of all stances and their Jacobian over the coordinates of all moments, (n, m nq).

    Of an end effector with contact point e: its height over the ground at each moment; from each moment to the next, with de and
    dphi the steps of e and of its body's turn, n the normal and t the rolling direction: de - r dphi x n along the ground
    of a ball, de . (n x t) of a wheel, and de . t - r dsigma of one that cannot spin. The Jacobian of slip takes n as constant.
    """
    nq, kinds, K = model.nq, model.tree.kind, seen.arrays
    R, A, Je, Jt, Js, n = K.R, K.A, K.Je, K.Jt, K.Js, K.n
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
        chain = model.tips.chain[j]
        chain = chain[chain >= 0]
        c, radius, kind = len(chain), model.tips.radius[j], model.tips.kind[j]
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
            dphi, G = _turns(R[k, model.tips.node[j]], R[k + 1, model.tips.node[j]])
            slide = de - radius * np.cross(dphi, up)
            for u in _tangents(up):
                lever = radius * np.cross(up, u)
                after = np.einsum("kac,ka->kc", E[k + 1], u) - np.einsum("kca,kba,kb->kc", axes[k + 1], G, lever)
                before = np.einsum("kca,kab,kb->kc", axes[k], G, lever) - np.einsum("kac,ka->kc", E[k], u)
                add(np.einsum("ka,ka->k", slide, u), (k, chain, before), (k + 1, chain, after))
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
    x, y = places[:, 0], places[:, 1]
    return terrain.height(x, y), terrain.gradient(x, y)


def _tangents(n: Array) -> tuple[Array, Array]:
    """Two unit directions (k, 3) across the normals ``n`` (k, 3), which point up more than sideways."""
    u = np.cross(np.array([0.0, 1.0, 0.0]), n)
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    return u, np.cross(n, u)


def _turns(R: Array, R_next: Array) -> tuple[Array, Array]:
    """Small turns (k, 3) from rotations to the next, vee(D - D') / 2 of D = R+ R', and G (k, 3, 3): they change by G w+ - G' w.

    w and w+ are small turns of R and R+ in the world; G = (tr(D) 1 - D) / 2.
    """
    D = R_next @ np.swapaxes(R, 1, 2)
    turn = 0.5 * np.stack([D[:, 2, 1] - D[:, 1, 2], D[:, 0, 2] - D[:, 2, 0], D[:, 1, 0] - D[:, 0, 1]], axis=-1)
    return turn, 0.5 * (np.trace(D, axis1=1, axis2=2)[:, None, None] * np.eye(3) - D)


def _smoothness(model: CentroidalModel, m: int, finer: float, ends: tuple[End, End]) -> coo_array:
    """The part of the normal matrix that keeps changes smooth and small; ``finer``: playing steps to a step of the plan.

    At rest a change comes back as it went: its second difference is that with itself mirrored.
    """
    inner = diags_array([1.0, -2.0, 1.0], offsets=[0, 1, 2], shape=(m - 2, m))
    mirrored = coo_array(([-2.0, 2.0] * 2, ([0, 0, 1, 1], [0, 1, m - 1, m - 2])), shape=(2, m)).tocsr()
    D = vstack([inner, mirrored[[k for k in (0, 1) if ends[k] == "rest"]]])
    weight = np.where(np.arange(model.nq) < 6, BASE**2, 1.0)
    return coo_array(kron(finer**4 * (D.T @ D) + EASE * eye_array(m), diags_array(weight)))


def _solve(J: coo_array, r: Array, smooth: coo_array, q: Array) -> Array | None:
    """The change (m, nq): a banded Cholesky factorization, coordinates of a moment side by side; None when it breaks down."""
    m, nq = q.shape
    rows = J.tocsr()
    H = (FIRM * (rows.T @ rows) + smooth).tocoo()
    band = np.zeros((2 * nq + 1, m * nq))  # second differences couple a moment with the next but one
    lower = H.row >= H.col
    np.add.at(band, (H.row[lower] - H.col[lower], H.col[lower]), H.data[lower])
    try:
        return np.asarray(solveh_banded(band, -FIRM * (rows.T @ r), lower=True)).reshape(m, nq)
    except LinAlgError:
        return None
