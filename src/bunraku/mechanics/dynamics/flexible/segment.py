"""A part that bends: the data of a flexible segment, and one made of point masses.

Points X of the segment move with r modal coordinates u (rates v) in its floating frame F, p = X + sum_a phi_a(X) u_a; F is fixed to
the part's parent-side interface. Everything the dynamics needs are integrals over the part:

    N_a = int rho phi_a,    E_ab = int rho phi_a phi_b'    (phi_0 = X)
    c(u) = c0 + C u,    A(u) = A0 + sum_a A_a u_a    (each child interface: centroid, and deformation about it)
    s(u) = L1 u + Q(u, u)/2,    V = s.s/2,    f = J'(s + beta J v),  J = ds/du    (strains scaled by the root of the stiffness)

With Neo-Hookean ``points``, V = sum_p w_p W(I + sum_a u_a G_pa) takes the place of s.s/2; the damping beta J'J v stays, which is
that of Green's strain rate, exact for any material.

The frame of a child interface has its origin at c and the rotation R of the polar decomposition A = Q R. At a flat interface A0 is
the projector on its plane, not the identity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.arrays import Array
from bunraku.errors import BadInput

Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ChildInterface:
    """A child interface: ``c0`` (3,) [m], ``C`` (3, r), ``A0`` (3, 3), ``A`` (r, 3, 3)."""

    c0: Array
    C: Array
    A0: Array
    A: Array


@dataclass(frozen=True, eq=False)
class NeoHookeanPoints:
    """Points of a Neo-Hookean part that stand for all of it: V = sum_p w_p W(I + sum_a u_a G_pa).

    ``weights`` w (n,) [m^3], ``lame`` (n, 2) [Pa]: lam and mu, ``gradients`` G (n, r, 3, 3): the displacement gradient of every
    mode, in the frame of the part.
    """

    weights: Array
    lame: Array
    gradients: Array

    def __post_init__(self) -> None:
        n, r = len(self.weights), self.gradients.shape[1] if self.gradients.ndim == 4 else -1
        for name, shape in {"weights": (n,), "lame": (n, 2), "gradients": (n, r, 3, 3)}.items():
            _check(f"{name} of the points of a flexible segment", getattr(self, name), shape)
        if not n or self.weights.min() <= 0.0 or self.lame[:, 1].min() <= 0.0:
            raise BadInput("the points of a flexible segment must be at least one, with positive weights and shear moduli")

    @property
    def packed(self) -> tuple[Array, Array]:
        """[w, lam, mu] (n, 3) and G (n, 9, r), as the kernels read them."""
        n, r = self.gradients.shape[:2]
        return np.column_stack([self.weights, self.lame]), np.ascontiguousarray(self.gradients.reshape(n, r, 9).swapaxes(1, 2))

    def scaled(self, factor: float) -> NeoHookeanPoints:
        """The points of a material ``factor`` times as stiff."""
        return NeoHookeanPoints(self.weights, factor * self.lame, self.gradients)


@dataclass(frozen=True, eq=False)
class FlexibleSegment:
    """Mass [kg], invariants N (3, r + 1) and E (r + 1, r + 1, 3, 3), child interfaces, and elasticity.

    ``L1`` (r, k); ``pairs`` (m, 2) of modes a <= b, each once, with ``Qp`` (m, k) = Q(a, b); ``beta`` [s]: damping proportional to
    stiffness. k = 0: no elastic force. ``points``: the elastic energy is theirs, and the strains serve the damping.
    """

    mass: float
    N: Array
    E: Array
    interfaces: tuple[ChildInterface, ...]
    L1: Array
    pairs: Indices = field(default_factory=lambda: np.zeros((0, 2), dtype=np.int64))
    Qp: Array | None = None
    beta: float = 0.0
    points: NeoHookeanPoints | None = None

    def __post_init__(self) -> None:
        r, k, m = self.r, self.k, len(self.pairs)
        Q = np.zeros((m, k)) if self.Qp is None else np.asarray(self.Qp, dtype=np.float64)
        object.__setattr__(self, "Qp", Q)
        shapes = {"N": (3, r + 1), "E": (r + 1, r + 1, 3, 3), "L1": (r, k), "pairs": (m, 2), "Qp": (m, k)}
        for name, shape in shapes.items():
            _check(f"{name} of a flexible segment", getattr(self, name), shape)
        if self.points is not None:
            _check("the gradients of the points of a flexible segment", self.points.gradients, (len(self.points.weights), r, 3, 3))
        if not self.interfaces:
            raise BadInput("a flexible segment has no child interface; give at least one")
        for i, interface in enumerate(self.interfaces):
            for name, shape in {"c0": (3,), "C": (3, r), "A0": (3, 3), "A": (r, 3, 3)}.items():
                _check(f"{name} of child interface {i} of a flexible segment", getattr(interface, name), shape)
        if not (np.isfinite(self.mass) and self.mass >= 0.0 and np.isfinite(self.beta) and self.beta >= 0.0):
            raise BadInput(f"a flexible segment has mass {self.mass} and beta {self.beta}; both must be finite and 0 or more")
        order = np.asarray(self.pairs)
        if m and (order.min() < 0 or order.max() >= r or np.any(order[:, 0] > order[:, 1])):
            raise BadInput(f"the pairs of a flexible segment must be modes a <= b from 0 to {r - 1}")
        if len({tuple(pair) for pair in order.tolist()}) < m:
            raise BadInput("the pairs of a flexible segment repeat; give each pair of modes once")

    @property
    def r(self) -> int:
        """Number of modes."""
        return int(np.shape(self.L1)[0])

    @property
    def k(self) -> int:
        """Number of strain rows."""
        return int(np.shape(self.L1)[1])

    def strain(self, u: ArrayLike) -> Array:
        """Strains s (k,) at the modal coordinates u (r,)."""
        x = np.asarray(u, dtype=np.float64)
        result: Array = x @ self.L1
        for (a, b), Q in zip(self.pairs, np.asarray(self.Qp), strict=True):
            result = result + (0.5 if a == b else 1.0) * x[a] * x[b] * Q
        return result


def _check(what: str, value: ArrayLike, shape: tuple[int, ...]) -> None:
    array = np.asarray(value)
    if array.shape != shape or not np.isfinite(array).all():
        raise BadInput(f"{what} has shape {array.shape}; it must be {shape}, all finite")


def interface_from_points(positions: ArrayLike, shapes: ArrayLike, weights: ArrayLike) -> ChildInterface:
    """The child interface of weighted points: positions (n, 3) [m], mode shapes (n, 3, r), weights (n,) of any sum.

    With d the positions about their centroid, D = sum w d d' and + the pseudo-inverse (a face is flat): A = (sum w p d') D+.
    """
    X, phi, w = (np.asarray(part, dtype=np.float64) for part in (positions, shapes, weights))
    if not (np.isfinite(w).all() and w.min() >= 0.0 and w.sum() > 0.0):
        raise BadInput("the weights of an interface must be finite, 0 or more, and not all zero")
    w = w / w.sum()
    c0 = w @ X
    d = X - c0
    D = np.einsum("n,ni,nj->ij", w, d, d)
    values = np.linalg.eigvalsh(D)
    if not values[1] > 1e-10 * values[2] > 0.0:
        raise BadInput("the points of an interface lie on a line; its rotation needs points that span a plane")
    inverse = np.linalg.pinv(D, rcond=1e-9, hermitian=True)
    return ChildInterface(c0, np.einsum("n,nia->ia", w, phi), D @ inverse, np.einsum("n,nia,nj,jk->aik", w, phi, d, inverse))


def segment_from_points(
    positions: ArrayLike,
    masses: ArrayLike,
    shapes: ArrayLike,
    interfaces: Sequence[ArrayLike],
    *,
    L1: ArrayLike | None = None,
    pairs: ArrayLike | None = None,
    Qp: ArrayLike | None = None,
    beta: float = 0.0,
) -> FlexibleSegment:
    """A segment of point masses: positions (n, 3) [m], masses (n,) [kg], mode shapes (n, 3, r), weights (n,) for each interface."""
    X, m, phi = (np.asarray(part, dtype=np.float64) for part in (positions, masses, shapes))
    n = len(X)
    r = phi.shape[-1] if phi.ndim == 3 else -1
    for what, value, shape in (("positions", X, (n, 3)), ("masses", m, (n,)), ("mode shapes", phi, (n, 3, r))):
        _check(f"{what} of the points", value, shape)
    every = np.concatenate([X[:, :, None], phi], axis=2)
    return FlexibleSegment(
        float(m.sum()),
        np.einsum("n,nia->ia", m, every),
        np.einsum("n,nia,njb->abij", m, every, every),
        tuple(interface_from_points(X, phi, weights) for weights in interfaces),
        np.zeros((r, 0)) if L1 is None else np.asarray(L1, dtype=np.float64),
        np.zeros((0, 2), dtype=np.int64) if pairs is None else np.asarray(pairs, dtype=np.int64),
        None if Qp is None else np.asarray(Qp, dtype=np.float64),
        beta,
    )
