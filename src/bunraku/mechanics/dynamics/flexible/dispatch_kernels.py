"""What a tree with flexible segments does otherwise than a rigid one, chosen by the type of its model when a kernel is compiled.

Where ``segments`` of a `Model` is (), kernels contain nothing of them and are as small and fast as if there were none.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

import numpy as np
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


def either(rigid, flexible):
    """A function of the model first that is ``rigid`` or ``flexible`` in a compiled kernel, by the type of the model."""

    def chosen(*arguments):
        raise NotImplementedError("this is known to compiled kernels only")

    def choose(model, *arguments):
        return flexible if len(model.types[model.fields.index("segments")]) else rigid

    overload(chosen, inline="always", strict=False)(choose)
    return chosen


# (model): whether it has flexible segments, a constant of the compiled kernel
bends = either(lambda model: False, lambda model: True)

# (model, q, W): world poses and screws of all slots at q into the rows of W
pose = either(
    lambda model, q, W: kinematics(model.node_i, model.node_f, q, W), lambda model, q, W: flexible_kinematics(model, q, W)
)


def _move(model, q, v, W, Lv, Lq):
    velocities(model.node_i, v, W, model.sizes.heavy)
    momenta(model.node_i, model.node_f, model.gravity, W, model.sizes.heavy, Lv, Lq)


def _move_flexible(model, q, v, W, Lv, Lq):
    flexible_velocities(model, v, W)
    flexible_momenta(model, q, v, W, Lv, Lq)
    elastic_forces(model, q, v, W, Lq)


# (model, q, v, W, Lv, Lq): twists, momenta and (of segments) strains from poses; adds kinetic, gravity and elastic terms to Lv, Lq
move = either(_move, _move_flexible)


def _curve(model, q, W, Lvv, Lvq, Lqq):
    hessian(model.node_i, model.gravity, W, model.sizes.heavy, Lvv, Lvq, Lqq)


def _curve_flexible(model, q, W, Lvv, Lvq, Lqq):
    strains(model, q, W)
    flexible_hessian(model, W, Lvv, Lvq, Lqq)
    elastic_hessian(model, q, W, Lqq)


# (model, q, W, Lvv, Lvq, Lqq): adds the second derivatives (nq, nq) of kinetic, gravity and elastic terms
curve = either(_curve, _curve_flexible)


def _whole(model, W, out):
    for k in range(16):
        out[k] = 0.0
    for i in range(model.sizes.heavy):
        if model.node_i[i, PARENT] < 0:
            for k in range(16):
                out[k] += W[i, MASS + k]
    return 0.0 * out[0]


def _whole_flexible(model, W, out):
    for k in range(16):
        out[k] = W[W.shape[0] - 1, MASS + k]
    return elastic_energy(model, W)


# (model, W, out): mass, first moment, inertia and momentum of everything into out (16,); returns the elastic energy
whole = either(_whole, _whole_flexible)


def _damp(model, v, W, scale, F, Fq, Fv, want):
    pass


def _damp_flexible(model, v, W, scale, F, Fq, Fv, want):
    elastic_damping(model, v, W, scale, F, Fq, Fv, want)


# (model, v, W, scale, F, Fq, Fv, want): adds scale times the damping of segments to F (nq,) and, if want >= 1, its derivatives.
# Alone after move with the same v; with derivatives after curve or strain.
damp = either(_damp, _damp_flexible)


def _strain(model, q, W):
    pass


# (model, q, W): the strains of segments at q, into the work array
strain = either(_strain, lambda model, q, W: strains(model, q, W))


def _damp_curved(model, q, v, weights, out):
    pass


def _damp_curved_flexible(model, q, v, weights, out):
    damping_curvature(model, q, v, weights, np.empty((model.sizes.rows, WORK)), out)


# (model, q, v, weights, out): adds the Hessian of weights.F of the damping of segments to out (2 nq + nu, 2 nq + nu)
damp_curved = either(_damp_curved, _damp_curved_flexible)


def _bend_pairs(model, f, x, z, scale, W, H):
    pass


# (model, f, x, z, scale, W, H): adds what pairs of modes contribute to scale z.d2x of the feature f with value x
bend_pairs = either(_bend_pairs, lambda model, f, x, z, scale, W, H: bend_modes(model, f, x, z, scale, W, H))


def _wrench_pairs(model, f, spatial, x, torque, force, W, Fq):
    pass


def _wrench_pairs_flexible(model, f, spatial, x, torque, force, W, Fq):
    wrench_modes(model, f, spatial, x, torque, force, W, Fq)


# (model, f, spatial, x, torque, force, W, Fq): corrects the derivatives of a wrench at x on the feature f for pairs of modes
wrench_pairs = either(_wrench_pairs, _wrench_pairs_flexible)
