"""What a tree with flexible segments does otherwise than a rigid one, chosen by the type of its model when a kernel is compiled.

A rigid `Model` has no field of segments: its kernels contain nothing of them and are as small and fast as if there were none.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

import numpy as np
from numba import types
from numba.extending import overload

from bunraku.mechanics.dynamics.flexible.elastic_kernels import (
    damping_curvature,
    elastic_damping,
    elastic_energy,
    elastic_forces,
    elastic_hessian,
    strains,
)
from bunraku.mechanics.dynamics.flexible.hessian_kernels import flexible_hessian
from bunraku.mechanics.dynamics.flexible.mode_pair_kernels import bend_modes, wrench_modes
from bunraku.mechanics.dynamics.flexible.recursion_kernels import flexible_kinematics, flexible_momenta, flexible_velocities
from bunraku.mechanics.dynamics.lagrangian_kernels import hessian, kinematics, momenta, velocities
from bunraku.mechanics.dynamics.lagrangian_layout import MASS, PARENT, WORK


def _bends(model):
    """Whether a model type has flexible segments."""
    return isinstance(model.types[model.fields.index("segments")], types.NamedTuple)


def bends(model):
    """Whether the model has flexible segments: a constant of the compiled kernel."""


@overload(bends, inline="always")
def _either_bends(model):
    if _bends(model):
        return lambda model: True
    return lambda model: False


def pose(model, q, W):
    """World poses and screws of all slots at ``q`` into the rows of ``W``."""


@overload(pose, inline="always")
def _either_pose(model, q, W):
    if _bends(model):
        return lambda model, q, W: flexible_kinematics(model, q, W)
    return lambda model, q, W: kinematics(model.node_i, model.node_f, q, W)


def move(model, q, v, W, Lv, Lq):
    """Twists, momenta and (of segments) strains from poses; adds kinetic, gravity and elastic terms to ``Lv``, ``Lq`` (nq,)."""


@overload(move, inline="always")
def _either_move(model, q, v, W, Lv, Lq):
    def flexible(model, q, v, W, Lv, Lq):
        flexible_velocities(model, v, W)
        flexible_momenta(model, q, v, W, Lv, Lq)
        elastic_forces(model, q, v, W, Lq)

    def rigid(model, q, v, W, Lv, Lq):
        velocities(model.node_i, v, W, model.sizes.heavy)
        momenta(model.node_i, model.node_f, model.gravity, W, model.sizes.heavy, Lv, Lq)

    return flexible if _bends(model) else rigid


def curve(model, q, W, Lvv, Lvq, Lqq):
    """Adds the second derivatives (nq, nq) of kinetic, gravity and elastic terms."""


@overload(curve, inline="always")
def _either_curve(model, q, W, Lvv, Lvq, Lqq):
    def flexible(model, q, W, Lvv, Lvq, Lqq):
        strains(model, q, W)
        flexible_hessian(model, W, Lvv, Lvq, Lqq)
        elastic_hessian(model, q, W, Lqq)

    def rigid(model, q, W, Lvv, Lvq, Lqq):
        hessian(model.node_i, model.gravity, W, model.sizes.heavy, Lvv, Lvq, Lqq)

    return flexible if _bends(model) else rigid


def whole(model, W, out):
    """Mass, first moment, inertia and momentum of everything into ``out`` (16,); returns the elastic energy."""


@overload(whole, inline="always")
def _either_whole(model, W, out):
    def flexible(model, W, out):
        for k in range(16):
            out[k] = W[W.shape[0] - 1, MASS + k]
        return elastic_energy(model, W)

    def rigid(model, W, out):
        for k in range(16):
            out[k] = 0.0
        for i in range(model.sizes.heavy):
            if model.node_i[i, PARENT] < 0:
                for k in range(16):
                    out[k] += W[i, MASS + k]
        return 0.0 * out[0]

    return flexible if _bends(model) else rigid


def damp(model, v, W, scale, F, Fq, Fv, want):
    """Adds scale times the damping of segments to ``F`` (nq,) and, if want >= 1, its derivatives.

    Alone after :func:`move` with the same v; with derivatives after :func:`curve` or :func:`strain`.
    """


@overload(damp, inline="always")
def _either_damp(model, v, W, scale, F, Fq, Fv, want):
    def flexible(model, v, W, scale, F, Fq, Fv, want):
        elastic_damping(model, v, W, scale, F, Fq, Fv, want)

    def rigid(model, v, W, scale, F, Fq, Fv, want):
        pass

    return flexible if _bends(model) else rigid


def strain(model, q, W):
    """The strains of segments at ``q``, into the work array."""


@overload(strain, inline="always")
def _either_strain(model, q, W):
    def rigid(model, q, W):
        pass

    return (lambda model, q, W: strains(model, q, W)) if _bends(model) else rigid


def damp_curved(model, q, v, weights, out):
    """Adds the Hessian of weights.F of the damping of segments to ``out`` (2 nq + nu, 2 nq + nu)."""


@overload(damp_curved, inline="always")
def _either_damp_curved(model, q, v, weights, out):
    def flexible(model, q, v, weights, out):
        damping_curvature(model, q, v, weights, np.empty((model.sizes.rows, WORK)), out)

    def rigid(model, q, v, weights, out):
        pass

    return flexible if _bends(model) else rigid


def bend_pairs(model, f, x, z, scale, W, H):
    """Adds what pairs of modes contribute to scale z.d2x of the feature ``f`` with value x."""


@overload(bend_pairs, inline="always")
def _either_bend(model, f, x, z, scale, W, H):
    def flexible(model, f, x, z, scale, W, H):
        bend_modes(model, f, x, z, scale, W, H)

    def rigid(model, f, x, z, scale, W, H):
        pass

    return flexible if _bends(model) else rigid


def wrench_pairs(model, f, spatial, x, torque, force, W, Fq):
    """Corrects the derivatives of a wrench at x on the feature ``f`` for pairs of modes."""


@overload(wrench_pairs, inline="always")
def _either_wrench(model, f, spatial, x, torque, force, W, Fq):
    def flexible(model, f, spatial, x, torque, force, W, Fq):
        wrench_modes(model, f, spatial, x, torque, force, W, Fq)

    def rigid(model, f, spatial, x, torque, force, W, Fq):
        pass

    return flexible if _bends(model) else rigid
