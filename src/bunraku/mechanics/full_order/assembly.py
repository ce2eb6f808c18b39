"""One Newton step of the whole model: residuals, elimination of the nodes, one small dense system.

Equations at a trial state (the same for every time scheme, which only says how velocities and accelerations follow positions):

    bodies    m a - m g + (C_b' lam) = 0,   I alpha + w x I w + (C_b' lam) + damping of links = 0,   I = R I_b R'
    nodes     M a + f_damping + f_elastic - M g + S q(lam) = 0
    rows      C = 0

The nodes of each piece are eliminated onto its means (:mod:`pieces`), which leaves bodies, multipliers and, in statics, pins.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.geometry.rotations import cross_matrix, matrix_of_quaternion, multiply_quaternions, quaternion_of_vector
from bunraku.mechanics.full_order.description import GROUND, ElasticPiece, Link, RigidBody
from bunraku.mechanics.full_order.friction import damping_torques
from bunraku.mechanics.full_order.interfaces import HeldRows, arm, held_rows, held_values
from bunraku.mechanics.full_order.links import LinkRows, Turned, outer_rows
from bunraku.mechanics.full_order.pieces import Eliminated, Turns, WorldPiece


@dataclass(frozen=True)
class TrialState:
    """Positions under trial, and multipliers: c (B, 3), q (B, 4), x of each piece (n, 3), lam (rows,)."""

    c: Array
    q: Array
    x: tuple[Array, ...]
    lam: Array


@dataclass(frozen=True)
class Rates:
    """Velocities and accelerations of a trial, and how they follow its positions.

    Bodies: v, a, w, alpha (B, 3), dw and dalpha by a small turn (B, 3, 3). Nodes: velocities xv and accelerations xa a piece, None
    in statics. ``speed`` = dv/dc [1/s], ``inertia`` = da/dc [1/s^2]; in statics an ``inertia`` only holds the step back.
    """

    v: Array
    a: Array
    w: Array
    alpha: Array
    w_by: Array
    alpha_by: Array
    xv: tuple[Array, ...] | None
    xa: tuple[Array, ...] | None
    speed: float
    inertia: float


@dataclass(frozen=True)
class Change:
    """A Newton step: the new trial, the largest motion of each piece's nodes [m] and of the bodies (turns times ``reach``)."""

    trial: TrialState
    nodes: Array
    bodies: float
    gap: float

    @property
    def size(self) -> float:
        """The largest motion [m] of anything."""
        return float(max(self.nodes.max(initial=0.0), self.bodies))


class Assembly:
    """The model as arrays: bodies by number (ground last), links and pieces resolved."""

    def __init__(
        self, bodies: tuple[RigidBody, ...], links: tuple[Link, ...], pieces: tuple[ElasticPiece, ...], gravity: Array, motors: int
    ) -> None:
        self.bodies, self.links, self.gravity, self.motors = bodies, links, gravity, motors
        self.number = {body.name: k for k, body in enumerate(bodies)} | {GROUND: len(bodies)}
        B = self.count = len(bodies)
        self.mass = np.array([body.mass for body in bodies])
        self.inertia = np.array([body.inertia_matrix for body in bodies]).reshape(B, 3, 3)
        self.centers = np.vstack([np.array([body.center for body in bodies], dtype=np.float64).reshape(B, 3), np.zeros(3)])
        self.ends = [(self._number(link.parent, link.name), self._number(link.child, link.name)) for link in links]
        self.pieces = tuple(
            WorldPiece(piece, np.array([self._number(held.body, piece.name) for held in piece.held]), gravity) for piece in pieces
        )
        self.arms = [
            [arm(h.interface, h.pose, self.centers[b]) for h, b in zip(p.piece.held, p.bodies, strict=True)] for p in self.pieces
        ]
        self.drivers = [frozenset(freedom.motor for freedom in link.freedoms if freedom.motor >= 0) for link in links]
        used = frozenset[int]().union(*self.drivers)
        if used and max(used) >= motors:
            raise BadInput(f"a link is driven by motor {max(used)}; there are {motors}")
        self._still = [self._turned(k, np.zeros(motors)) for k in range(len(links))]
        self.all_rows = self.rows(np.zeros(motors)).count
        self.kept = np.arange(self.all_rows)
        self.held_count = sum(len(p.piece.held) for p in self.pieces)
        self.reach = max([p.extent for p in self.pieces], default=1.0)

    def _number(self, name: str, where: str) -> int:
        if name not in self.number:
            raise BadInput(f"{where!r} names the body {name!r}, which is not described; known: {', '.join(self.number)}")
        return self.number[name]

    @property
    def multipliers(self) -> int:
        """How many rows of constraints there are: those kept of the links, then six for each interface."""
        return len(self.kept) + 6 * self.held_count

    def rows(self, motors: Array) -> LinkRows:
        """The rows of the links at values (motors,) of the motors."""
        return LinkRows(self.turned(motors), self.count)

    def turned(self, motors: Array) -> list[Turned]:
        """The rows of each link."""
        return [self._turned(k, motors) if drivers else self._still[k] for k, drivers in enumerate(self.drivers)]

    def turned_by(self, motor: int, motors: Array, known: list[Turned]) -> list[Turned]:
        """The rows of each link where only ``motor`` differs from the values at which they are ``known``."""
        return [self._turned(k, motors) if motor in drivers else known[k] for k, drivers in enumerate(self.drivers)]

    def _turned(self, k: int, motors: Array) -> Turned:
        i, j = self.ends[k]
        return outer_rows(i, j, self.links[k], (self.centers[i], self.centers[j]), motors)

    def placed(self, c: Array, q: Array) -> tuple[Array, Array]:
        """Centres (B + 1, 3) and rotations (B + 1, 3, 3) with the ground."""
        R = matrix_of_quaternion(q) if len(q) else np.zeros((0, 3, 3))
        return np.vstack([c, np.zeros(3)]), np.concatenate([R, np.eye(3)[None]])

    def frame(self, piece: int, R: Array) -> Array:
        """The turn of a piece's floating frame: that of its base."""
        part = self.pieces[piece]
        return np.asarray(R[part.bodies[0]] @ part.piece.held[0].pose[0])

    def gaps(self, trial: TrialState, rows: LinkRows) -> tuple[Array, Array]:
        """How far all links' rows (also those left out) and the interfaces' (6 each) are from holding."""
        c, R = self.placed(trial.c, trial.q)
        held = [
            held_values(part.mean_values(x)[4 * k : 4 * k + 4], c[b], R[b], self.arms[p][k], h.pose[0])
            for p, (part, x) in enumerate(zip(self.pieces, trial.x, strict=True))
            for k, (h, b) in enumerate(zip(part.piece.held, part.bodies, strict=True))
        ]
        return rows.values(c, R), np.array(held).ravel()

    def newton(
        self, trial: TrialState, rates: Rates, rows: LinkRows, eliminated: list[Eliminated], turns: list[Turns], share: float = 1.0
    ) -> Change:
        """One Newton step with the factors ``made``; ``share`` of gravity. Raises Collapsed (with the piece's number first)."""
        c, R = self.placed(trial.c, trial.q)
        n, m = 6 * self.count, len(self.kept)
        total = self.multipliers
        pins = sum(9 for e in eliminated if e.spring)
        A, b = np.zeros((n + total + pins, n + total + pins)), np.zeros(n + total + pins)
        self._rigid(A, b, R, rates, share)
        lam_links = np.zeros(self.all_rows)
        lam_links[self.kept] = trial.lam[:m]
        C, J, H = rows.assemble(c, R, lam_links)
        J = J[self.kept]
        A[:n, :n] += H
        A[:n, n : n + m], A[n : n + m, :n] = J.T, J
        b[:n] -= J.T @ trial.lam[:m]
        b[n : n + m] = -C[self.kept]
        gap, at, pin, kept = float(np.abs(C).max(initial=0.0)), n + m, n + total, []
        for p, part in enumerate(self.pieces):
            k = len(part.piece.held)
            step = self._piece(p, trial, rates, c, R, trial.lam[at - n : at - n + 6 * k], eliminated[p], turns[p], share)
            free, P, Q, held = step
            where = _columns(self.count, part.bodies, at, pin if eliminated[p].spring else -1)
            self._add_piece(A, b, where, P, Q, step_y=free[1], W=free[2], held=held, at=at)
            if eliminated[p].spring:
                A[pin : pin + 9, pin : pin + 9] -= np.eye(9)
                pin += 9
            gap = max(gap, max(float(np.abs(h.values).max()) for h in held))
            kept.append((free[0], P, where))
            at += 6 * k
        z = _scaled_solve(A, b)
        return self._applied(trial, z, kept, eliminated, turns, gap)

    def _rigid(self, A: Array, b: Array, R: Array, rates: Rates, share: float) -> None:
        """Newton and Euler, and the damping of links."""
        B = self.count
        if not B:
            return
        J = R[:B] @ self.inertia @ R[:B].transpose(0, 2, 1)
        h, Ia = np.einsum("bij,bj->bi", J, rates.w), np.einsum("bij,bj->bi", J, rates.alpha)
        wx, turn = cross_matrix(rates.w), np.zeros((B, 3, 3))
        force = self.mass[:, None] * (rates.a - share * self.gravity)
        torque = Ia + np.cross(rates.w, h)
        turn += J @ rates.alpha_by + J @ cross_matrix(rates.alpha) - cross_matrix(Ia)
        turn += (wx @ J - cross_matrix(h)) @ rates.w_by + wx @ (J @ wx - cross_matrix(h))
        block = A[: 6 * B, : 6 * B].reshape(B, 2, 3, B, 2, 3)
        for k in range(B):
            block[k, 0, :, k, 0, :] += rates.inertia * self.mass[k] * np.eye(3)
            block[k, 1, :, k, 1, :] += turn[k]
        if rates.xv is not None:
            damping_torques(self.links, self.ends, R, rates, torque, block)
        b[: 6 * B] -= np.concatenate([force[:, None], torque[:, None]], axis=1).ravel()

    def _piece(
        self, p: int, trial: TrialState, rates: Rates, c: Array, R: Array, lam: Array, kept: Eliminated, turns: Turns, share: float
    ) -> tuple[tuple[Array, Array, Array], Array, Array, list[HeldRows]]:
        """Of piece p: (A^-1 r, its means, W); how forces on means follow bodies, multipliers and pins (3 k, columns); residual."""
        part, x = self.pieces[p], trial.x[p]
        Y = part.mean_values(x)
        held = [
            held_rows(Y[4 * k : 4 * k + 4], c[b], R[b], self.arms[p][k], h.pose[0], lam[6 * k : 6 * k + 6])
            for k, (h, b) in enumerate(zip(part.piece.held, part.bodies, strict=True))
        ]
        forces = part.forces(x, None if rates.xv is None else rates.xv[p])
        r = share * part.weight - forces.elastic - forces.damping - part.spread(np.concatenate([h.q for h in held]).reshape(-1, 3))
        if rates.xa is not None:
            r -= part.mass @ rates.xa[p]
        free = part.solved(kept, r, turns)
        k = len(held)
        P = np.zeros((kept.W.shape[0], 12 * k + (9 if kept.spring else 0)))
        for e, h in enumerate(held):
            P[12 * e : 12 * e + 12, 6 * e : 6 * e + 6] = h.q_by_body
            P[12 * e : 12 * e + 12, 6 * k + 6 * e : 6 * k + 6 * e + 6] = h.by_means.T
        Q = P.copy()
        if kept.spring:
            P[12 * k :, 12 * k :], Q[12 * k :, 12 * k :] = -kept.spring * np.eye(9), np.eye(9)
        return free, P, Q, held

    def _add_piece(
        self,
        A: Array,
        b: Array,
        where: NDArray[np.int64],
        P: Array,
        Q: Array,
        *,
        step_y: Array,
        W: Array,
        held: list[HeldRows],
        at: int,
    ) -> None:
        """Add an eliminated piece: dY = y - W P z enters bodies, rows and pins through Q'."""
        k = len(held)
        S = -Q.T @ W @ P
        s = -Q.T @ step_y
        for e, h in enumerate(held):
            rows, body = slice(6 * k + 6 * e, 6 * k + 6 * e + 6), slice(6 * e, 6 * e + 6)
            S[body, body] += h.force_by_body
            S[body, rows] += h.by_body.T
            S[rows, body] += h.by_body
            s[body] -= h.force
            s[rows] -= h.values
        real = where >= 0
        np.add.at(A, np.ix_(where[real], where[real]), S[np.ix_(real, real)])
        np.add.at(b, where[real], s[real])

    def _applied(
        self,
        trial: TrialState,
        z: Array,
        kept: list[tuple[Array, Array, NDArray[np.int64]]],
        eliminated: list[Eliminated],
        turns: list[Turns],
        gap: float,
    ) -> Change:
        B, n = self.count, 6 * self.count
        body = z[:n].reshape(B, 2, 3)
        x, moves = [], []
        for p, (free, P, where) in enumerate(kept):
            local = np.where(where >= 0, z[np.maximum(where, 0)], 0.0)
            dx = free - self.pieces[p].moved(eliminated[p], (P @ local).reshape(-1, 3), turns[p])
            x.append(trial.x[p] + dx)
            moves.append(float(np.abs(dx).max()))
        q = multiply_quaternions(quaternion_of_vector(body[:, 1]), trial.q) if B else trial.q
        new = TrialState(trial.c + body[:, 0], q, tuple(x), trial.lam + z[n : n + len(trial.lam)])
        size = float(max(np.abs(body[:, 0]).max(initial=0.0), self.reach * np.abs(body[:, 1]).max(initial=0.0)))
        return Change(new, np.array(moves), size, gap)

    def drop(self, keep: NDArray[np.int64]) -> None:
        """Keep only these of the links' rows."""
        self.kept = keep

    def with_normal(self, trial: TrialState) -> TrialState:
        """The trial with quaternions of unit length."""
        return replace(trial, q=trial.q / np.linalg.norm(trial.q, axis=1, keepdims=True)) if len(trial.q) else trial


def _columns(bodies: int, ends: NDArray[np.int64], at: int, pin: int) -> NDArray[np.int64]:
    """The places of a piece's bodies (-1: ground), multipliers and pins among the unknowns of the small system."""
    body = np.where(ends[:, None] < bodies, 6 * ends[:, None] + np.arange(6), -1).ravel()
    rows = at + np.arange(6 * len(ends))
    return np.concatenate([body, rows, pin + np.arange(9) if pin >= 0 else np.zeros(0, dtype=np.int64)]).astype(np.int64)


def _scaled_solve(A: Array, b: Array) -> Array:
    """Solve A z = b, rows and columns scaled to like size first. Raises LinAlgError when singular."""
    scale, sizes = np.ones(len(A)), np.abs(A)
    for _ in range(4):
        size = np.sqrt(scale * np.max(sizes * scale, axis=1, initial=0.0))
        scale /= np.where(size > 0.0, size, 1.0)
    z = scale * np.linalg.solve(A * scale[:, None] * scale, scale * b)
    if not np.isfinite(z).all():
        raise np.linalg.LinAlgError("not finite")
    return np.asarray(z)
