"""Which integrator: the paper's comparison (supplement, section 3) on any full-order model.

Explicit Runge-Kutta is limited by the fastest motion of the mesh, w_max = sqrt(max eigenvalue of M^-1 K): without damping it is
stable up to h = 2.83 / w_max; with strain-rate damping beta the fastest motion decays at beta w_max^2 and the limit is
2.79 / (beta w_max^2).
The implicit schemes are compared by how far they get, how rough the forces of the constraints are, and what they lose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.linalg import LinearOperator, eigsh

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.mechanics.elastic.solid import Collapsed, ElasticSolid
from bunraku.mechanics.full_order.model import FullOrderModel
from bunraku.mechanics.full_order.motion import FullMotion
from bunraku.mechanics.full_order.state import FullState
from bunraku.optimization.linear import analyse


@dataclass(frozen=True)
class StudyRow:
    """One scheme: how long it got [s], how rough the first motor's torque is (largest second difference [N m]), its largest value.

    ``note`` says why it ended early; ``motion`` is all of it.
    """

    method: str
    reached: float
    roughness: float
    largest: float
    note: str
    motion: FullMotion


def fastest(solid: ElasticSolid) -> float:
    """w_max [rad/s]: the highest frequency of the free solid."""
    plan = analyse(solid.mass)
    factor = plan.factorize(solid.mass, definite=True)
    K = solid.stiffness()
    inverse = LinearOperator(K.shape, matvec=factor.solve, dtype=np.float64)
    first = np.random.default_rng(0).normal(size=solid.size)
    top = eigsh(K, 1, M=solid.mass, Minv=inverse, which="LM", v0=first, tol=1e-4, return_eigenvectors=False)
    return float(np.sqrt(top[0]))


def explicit_limits(solid: ElasticSolid) -> tuple[float, float]:
    """The largest stable steps [s] of the classical Runge-Kutta scheme: without damping, and with the material's."""
    w = fastest(solid)
    beta = solid.material.strain_damping
    return 2.83 / w, min(2.83 / w, 2.785 / (beta * w * w)) if beta > 0.0 else 2.83 / w


def runge_kutta_growth(solid: ElasticSolid, step: float, steps: int, *, kick: float = 1e-9, seed: int = 0) -> float:
    """How much a free solid at rest, its nodes shaken by ``kick`` [m], grows in some steps of Runge-Kutta; infinite: it collapsed.

    The largest displacement at the end over that at the start: about one when stable.
    """
    if not step > 0.0 or steps < 1:
        raise BadInput(f"{steps} steps of {step:g} s arrived; both must be positive")
    factor = analyse(solid.mass).factorize(solid.mass, definite=True)
    u = kick * np.random.default_rng(seed).uniform(-1.0, 1.0, solid.size)
    v = np.zeros(solid.size)

    def slope(u: Array, v: Array) -> tuple[Array, Array]:
        return v, factor.solve(-solid.force(u) - solid.damping_force(u, v))

    for _ in range(steps):
        try:
            k1 = slope(u, v)
            k2 = slope(u + 0.5 * step * k1[0], v + 0.5 * step * k1[1])
            k3 = slope(u + 0.5 * step * k2[0], v + 0.5 * step * k2[1])
            k4 = slope(u + step * k3[0], v + step * k3[1])
        except (Collapsed, BadInput):  # turned inside out, or no numbers any more
            return np.inf
        u = u + step / 6.0 * (k1[0] + 2.0 * k2[0] + 2.0 * k3[0] + k4[0])
        v = v + step / 6.0 * (k1[1] + 2.0 * k2[1] + 2.0 * k3[1] + k4[1])
    return float(np.abs(u).max() / kick)


def implicit_study(
    model: FullOrderModel,
    curve: ArrayLike,
    dt: float,
    methods: Sequence[str] = ("bdf2", "generalized-alpha", "newmark"),
    start: FullState | None = None,
) -> list[StudyRow]:
    """The same motion with several implicit schemes, constraints at the level of positions in all of them."""
    rows = []
    begin = start if start is not None else model.rest(np.asarray(curve, dtype=np.float64)[0]).state
    for method in methods:
        motion = model.simulate(curve, dt, start=begin, method=method)
        torque = motion.torques[:, 0]
        rough = float(np.abs(np.diff(torque, n=2)).max()) if len(torque) > 2 else np.inf
        rows.append(StudyRow(method, float(motion.times[-1]), rough, float(np.abs(torque).max()), motion.note, motion))
    return rows
