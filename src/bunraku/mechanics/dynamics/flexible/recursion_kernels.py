"""Poses, twists and momenta of a tree with flexible segments: the gradient of its Lagrangian.

Beyond an interface everything is as for rigid joints: its r slots form a chain, the last of which carries the pose of the child
frame and all that hangs on it. Slots with the same mode at several interfaces add to one coordinate; the segment's own mass adds to
it once.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from bunraku.mechanics.dynamics.compiled import kernel
from bunraku.mechanics.dynamics.flexible.layout import (
    BASE,
    CENTER,
    CENTER_RATE,
    COORDINATE_0,
    COUNT,
    F_LOCAL,
    F_POSITION,
    F_ROTATION,
    F_TWIST,
    FIRST,
    FIRST_SLOT,
    FRAME_F,
    INTERFACE_ROW,
    MASS_F,
    MODE,
    OM,
    OM_RATE,
    PI,
    ROW,
    SEGMENT,
    SHIFT,
    TURN,
    B,
)
from bunraku.mechanics.dynamics.flexible.mass_kernels import segment_mass
from bunraku.mechanics.dynamics.flexible.segment_kernels import (
    apply,
    apply_transposed,
    frame_map,
    frame_rates,
)
from bunraku.mechanics.dynamics.flexible.slot_kernels import momentum_slot, own_momentum, place_slot, velocity_slot
from bunraku.mechanics.dynamics.lagrangian_kernels import cross
from bunraku.mechanics.dynamics.lagrangian_layout import (
    ANGULAR,
    FIRST_MOMENT,
    FIXED_POSITION,
    FIXED_ROTATION,
    GRAVITY_ARM,
    INERTIA,
    KIND,
    LINEAR,
    MASS,
    MOMENTUM,
    PARENT,
    PLAIN,
    POSITION,
    RATE,
    ROTATION,
    TWIST,
)


@kernel
def world_screw(W, row, w0, w1, w2, v0, v1, v2):
    """A screw (w; v) of the frame F of segment row ``row``, or a wrench (f; n) likewise, about the world origin in world axes."""
    w0, w1, w2 = apply(W, row, F_ROTATION, w0, w1, w2)
    v0, v1, v2 = apply(W, row, F_ROTATION, v0, v1, v2)
    x0, x1, x2 = cross(W[row, F_POSITION], W[row, F_POSITION + 1], W[row, F_POSITION + 2], w0, w1, w2)
    return w0, w1, w2, v0 + x0, v1 + x1, v2 + x2


@kernel
def local_wrench(W, row, n0, n1, n2, f0, f1, f2):
    """The wrench (n; f) about the world origin, seen in the frame F of segment row ``row``."""
    x0, x1, x2 = cross(W[row, F_POSITION], W[row, F_POSITION + 1], W[row, F_POSITION + 2], f0, f1, f2)
    n0, n1, n2 = apply_transposed(W, row, F_ROTATION, n0 - x0, n1 - x1, n2 - x2)
    f0, f1, f2 = apply_transposed(W, row, F_ROTATION, f0, f1, f2)
    return n0, n1, n2, f0, f1, f2


@kernel
def place_interface(model, i, q, W):
    """Pose of the child frame and screws of the modes of interface ``i``."""
    segment_i, interface_i, flexible_f = model.segments.segment_i, model.segments.interface_i, model.segments.flexible_f
    g, first, row = interface_i[i, SEGMENT], interface_i[i, FIRST_SLOT], interface_i[i, INTERFACE_ROW]
    r, p, base, c = segment_i[g, COUNT], segment_i[g, BASE], segment_i[g, ROW], segment_i[g, COORDINATE_0]
    for k in range(3):
        W[base, F_POSITION + k] = model.node_f[first, FIXED_POSITION + k]
    for k in range(9):
        W[base, F_ROTATION + k] = model.node_f[first, FIXED_ROTATION + k]
    if p >= 0:
        x0, x1, x2 = apply(W, p, ROTATION, W[base, F_POSITION], W[base, F_POSITION + 1], W[base, F_POSITION + 2])
        W[base, F_POSITION] = W[p, POSITION] + x0
        W[base, F_POSITION + 1] = W[p, POSITION + 1] + x1
        W[base, F_POSITION + 2] = W[p, POSITION + 2] + x2
        for k in range(3):
            x0, x1, x2 = apply(W, p, ROTATION, W[base, F_ROTATION + k], W[base, F_ROTATION + 3 + k], W[base, F_ROTATION + 6 + k])
            W[base, F_ROTATION + k], W[base, F_ROTATION + 3 + k], W[base, F_ROTATION + 6 + k] = x0, x1, x2
    frame_map(flexible_f[interface_i[i, FRAME_F] :], q[c : c + r], W, row)
    last = first + r - 1
    c0, c1, c2 = W[row, CENTER], W[row, CENTER + 1], W[row, CENTER + 2]
    x0, x1, x2 = apply(W, base, F_ROTATION, c0, c1, c2)
    W[last, POSITION] = W[base, F_POSITION] + x0
    W[last, POSITION + 1] = W[base, F_POSITION + 1] + x1
    W[last, POSITION + 2] = W[base, F_POSITION + 2] + x2
    for k in range(3):
        x0, x1, x2 = apply(W, base, F_ROTATION, W[row, TURN + k], W[row, TURN + 3 + k], W[row, TURN + 6 + k])
        W[last, ROTATION + k], W[last, ROTATION + 3 + k], W[last, ROTATION + 6 + k] = x0, x1, x2
    for a in range(r):
        m, s = row + 1 + a, first + a
        o0, o1, o2 = W[m, OM], W[m, OM + 1], W[m, OM + 2]
        x0, x1, x2 = cross(o0, o1, o2, c0, c1, c2)
        w0, w1, w2, v0, v1, v2 = world_screw(W, base, o0, o1, o2, W[m, SHIFT] - x0, W[m, SHIFT + 1] - x1, W[m, SHIFT + 2] - x2)
        W[s, ANGULAR], W[s, ANGULAR + 1], W[s, ANGULAR + 2] = w0, w1, w2
        W[s, LINEAR], W[s, LINEAR + 1], W[s, LINEAR + 2] = v0, v1, v2


@kernel
def flexible_kinematics(model, q, W):
    """World poses and screws of all slots of a tree with segments."""
    segment_i, interface_i = model.segments.segment_i, model.segments.interface_i
    i, n = 0, model.node_i.shape[0]
    while i < n:
        if model.node_i[i, KIND] == MODE:
            place_interface(model, model.node_i[i, PLAIN], q, W)
            i += segment_i[interface_i[model.node_i[i, PLAIN], SEGMENT], COUNT]
        else:
            place_slot(i, model.node_i, model.node_f, q, W)
            i += 1


@kernel
def turn_interface(model, i, v, W):
    """Twist after interface ``i`` and rates of its screws: Sdot_a = [V_F, S_a] + world(T_a')."""
    segment_i, interface_i = model.segments.segment_i, model.segments.interface_i
    g, first, row = interface_i[i, SEGMENT], interface_i[i, FIRST_SLOT], interface_i[i, INTERFACE_ROW]
    r, p, base, c = segment_i[g, COUNT], segment_i[g, BASE], segment_i[g, ROW], segment_i[g, COORDINATE_0]
    frame_rates(v[c : c + r], W, row)
    for k in range(6):
        W[base, F_TWIST + k] = W[p, TWIST + k] if p >= 0 else 0.0 * v[0]
    a0, a1, a2 = W[base, F_TWIST], W[base, F_TWIST + 1], W[base, F_TWIST + 2]
    b0, b1, b2 = W[base, F_TWIST + 3], W[base, F_TWIST + 4], W[base, F_TWIST + 5]
    x0, x1, x2 = cross(a0, a1, a2, W[base, F_POSITION], W[base, F_POSITION + 1], W[base, F_POSITION + 2])
    x0, x1, x2 = apply_transposed(W, base, F_ROTATION, b0 + x0, b1 + x1, b2 + x2)
    y0, y1, y2 = apply_transposed(W, base, F_ROTATION, a0, a1, a2)
    W[base, F_LOCAL], W[base, F_LOCAL + 1], W[base, F_LOCAL + 2] = y0, y1, y2
    W[base, F_LOCAL + 3], W[base, F_LOCAL + 4], W[base, F_LOCAL + 5] = x0, x1, x2
    last = first + r - 1
    t0, t1, t2, t3, t4, t5 = a0, a1, a2, b0, b1, b2
    for a in range(r):
        m, s, rate = row + 1 + a, first + a, v[c + a]
        w0, w1, w2 = W[s, ANGULAR], W[s, ANGULAR + 1], W[s, ANGULAR + 2]
        v0, v1, v2 = W[s, LINEAR], W[s, LINEAR + 1], W[s, LINEAR + 2]
        t0, t1, t2, t3, t4, t5 = t0 + rate * w0, t1 + rate * w1, t2 + rate * w2, t3 + rate * v0, t4 + rate * v1, t5 + rate * v2
        d0, d1, d2 = W[m, OM_RATE], W[m, OM_RATE + 1], W[m, OM_RATE + 2]
        e0, e1, e2 = cross(d0, d1, d2, W[row, CENTER], W[row, CENTER + 1], W[row, CENTER + 2])
        f0, f1, f2 = cross(
            W[m, OM], W[m, OM + 1], W[m, OM + 2], W[row, CENTER_RATE], W[row, CENTER_RATE + 1], W[row, CENTER_RATE + 2]
        )
        d0, d1, d2, e0, e1, e2 = world_screw(W, base, d0, d1, d2, -e0 - f0, -e1 - f1, -e2 - f2)
        x0, x1, x2 = cross(a0, a1, a2, w0, w1, w2)
        y0, y1, y2 = cross(a0, a1, a2, v0, v1, v2)
        z0, z1, z2 = cross(b0, b1, b2, w0, w1, w2)
        W[s, RATE], W[s, RATE + 1], W[s, RATE + 2] = x0 + d0, x1 + d1, x2 + d2
        W[s, RATE + 3], W[s, RATE + 4], W[s, RATE + 5] = y0 + z0 + e0, y1 + z1 + e1, y2 + z2 + e2
    W[last, TWIST], W[last, TWIST + 1], W[last, TWIST + 2] = t0, t1, t2
    W[last, TWIST + 3], W[last, TWIST + 4], W[last, TWIST + 5] = t3, t4, t5


@kernel
def flexible_velocities(model, v, W):
    """Twists and screw rates of the slots that move mass."""
    segment_i, interface_i = model.segments.segment_i, model.segments.interface_i
    i = 0
    while i < model.sizes.heavy:
        if model.node_i[i, KIND] == MODE:
            turn_interface(model, model.node_i[i, PLAIN], v, W)
            i += segment_i[interface_i[model.node_i[i, PLAIN], SEGMENT], COUNT]
        else:
            velocity_slot(i, model.node_i, v, W)
            i += 1


@kernel
def own_mass(model, g, q, v, W, Lv, Lq, modes, whole):
    """The mass of segment ``g`` itself: adds to Lv, Lq of its modes and to the composite of what it stands on."""
    segment_i, flexible_f = model.segments.segment_i, model.segments.flexible_f
    r, base, c, p = (
        segment_i[g, COUNT],
        segment_i[g, ROW],
        segment_i[g, COORDINATE_0],
        segment_i[g, BASE],
    )
    segment_mass(
        flexible_f[segment_i[g, MASS_F] :],
        q[c : c + r],
        v[c : c + r],
        W[base, F_LOCAL],
        W[base, F_LOCAL + 1],
        W[base, F_LOCAL + 2],
        W[base, F_LOCAL + 3],
        W[base, F_LOCAL + 4],
        W[base, F_LOCAL + 5],
        modes,
        whole,
    )
    g0, g1, g2 = model.gravity[0], model.gravity[1], model.gravity[2]
    for a in range(r):
        m = base + 1 + a
        x3, x4, x5, x0, x1, x2 = world_screw(W, base, modes[a, 3], modes[a, 4], modes[a, 5], modes[a, 0], modes[a, 1], modes[a, 2])
        W[m, PI], W[m, PI + 1], W[m, PI + 2], W[m, PI + 3], W[m, PI + 4], W[m, PI + 5] = x0, x1, x2, x3, x4, x5
        W[m, FIRST], W[m, FIRST + 1], W[m, FIRST + 2] = x3, x4, x5
        y3, y4, y5, y0, y1, y2 = world_screw(
            W, base, modes[a, 9], modes[a, 10], modes[a, 11], modes[a, 6], modes[a, 7], modes[a, 8]
        )
        W[m, B], W[m, B + 1], W[m, B + 2], W[m, B + 3], W[m, B + 4], W[m, B + 5] = y0, y1, y2, y3, y4, y5
        Lv[c + a] += modes[a, 12]
        Lq[c + a] += modes[a, 13] + g0 * x3 + g1 * x4 + g2 * x5
    to = p if p >= 0 else W.shape[0] - 1
    mass = whole[0]
    s0, s1, s2 = apply(W, base, F_ROTATION, whole[1], whole[2], whole[3])
    p0, p1, p2 = W[base, F_POSITION], W[base, F_POSITION + 1], W[base, F_POSITION + 2]
    J = np.empty((3, 3), W.dtype)  # R J, then its rows times R'
    for k in range(3):
        x, y, z = W[base, F_ROTATION + 3 * k], W[base, F_ROTATION + 3 * k + 1], W[base, F_ROTATION + 3 * k + 2]
        J[k, 0] = x * whole[4] + y * whole[7] + z * whole[8]
        J[k, 1] = x * whole[7] + y * whole[5] + z * whole[9]
        J[k, 2] = x * whole[8] + y * whole[9] + z * whole[6]
    x0, x1, x2 = apply(W, base, F_ROTATION, J[0, 0], J[0, 1], J[0, 2])
    y0, y1, y2 = apply(W, base, F_ROTATION, J[1, 0], J[1, 1], J[1, 2])
    z2 = apply(W, base, F_ROTATION, J[2, 0], J[2, 1], J[2, 2])[2]
    d0, d1, d2 = p0 * (mass * p0 + 2.0 * s0), p1 * (mass * p1 + 2.0 * s1), p2 * (mass * p2 + 2.0 * s2)
    W[to, MASS] += mass
    W[to, FIRST_MOMENT] += s0 + mass * p0
    W[to, FIRST_MOMENT + 1] += s1 + mass * p1
    W[to, FIRST_MOMENT + 2] += s2 + mass * p2
    W[to, INERTIA] += x0 + d1 + d2
    W[to, INERTIA + 1] += y1 + d0 + d2
    W[to, INERTIA + 2] += z2 + d0 + d1
    W[to, INERTIA + 3] += x1 - p0 * (s1 + mass * p1) - s0 * p1
    W[to, INERTIA + 4] += x2 - p0 * (s2 + mass * p2) - s0 * p2
    W[to, INERTIA + 5] += y2 - p1 * (s2 + mass * p2) - s1 * p2
    f0, f1, f2, n0, n1, n2 = world_screw(W, base, whole[13], whole[14], whole[15], whole[10], whole[11], whole[12])
    W[to, MOMENTUM] += n0
    W[to, MOMENTUM + 1] += n1
    W[to, MOMENTUM + 2] += n2
    W[to, MOMENTUM + 3] += f0
    W[to, MOMENTUM + 4] += f1
    W[to, MOMENTUM + 5] += f2


@kernel
def interface_momentum(model, i, W, Lv, Lq):
    """What hangs on interface ``i``: adds its momentum and weight to the modes, and its composite to what the segment stands on."""
    segment_i, interface_i = model.segments.segment_i, model.segments.interface_i
    g, first = interface_i[i, SEGMENT], interface_i[i, FIRST_SLOT]
    r, p, c = segment_i[g, COUNT], segment_i[g, BASE], segment_i[g, COORDINATE_0]
    g0, g1, g2 = model.gravity[0], model.gravity[1], model.gravity[2]
    last = first + r - 1
    m = W[last, MASS]
    c0, c1, c2 = W[last, FIRST_MOMENT], W[last, FIRST_MOMENT + 1], W[last, FIRST_MOMENT + 2]
    for a in range(r):
        s = first + a
        d0, d1, d2 = cross(W[s, ANGULAR], W[s, ANGULAR + 1], W[s, ANGULAR + 2], c0, c1, c2)
        d0, d1, d2 = d0 + m * W[s, LINEAR], d1 + m * W[s, LINEAR + 1], d2 + m * W[s, LINEAR + 2]
        W[s, GRAVITY_ARM], W[s, GRAVITY_ARM + 1], W[s, GRAVITY_ARM + 2] = d0, d1, d2
        x, y = W[s, ANGULAR] * W[last, MOMENTUM], W[s, RATE] * W[last, MOMENTUM]
        for k in range(1, 6):
            x += W[s, ANGULAR + k] * W[last, MOMENTUM + k]
            y += W[s, RATE + k] * W[last, MOMENTUM + k]
        Lv[c + a] += x
        Lq[c + a] += y + g0 * d0 + g1 * d1 + g2 * d2
    to = p if p >= 0 else W.shape[0] - 1
    for k in range(16):
        W[to, MASS + k] += W[last, MASS + k]


@kernel
def flexible_momenta(model, q, v, W, Lv, Lq):
    """Composite inertias and momenta from the leaves to the root, whose total is left in the last row of ``W``."""
    segment_i, interface_i = model.segments.segment_i, model.segments.interface_i
    count, root = model.sizes.heavy, W.shape[0] - 1
    for k in range(16):
        W[root, MASS + k] = 0.0
    for i in range(count):
        last = True
        if model.node_i[i, KIND] == MODE:
            g = interface_i[model.node_i[i, PLAIN], SEGMENT]
            last = i == interface_i[model.node_i[i, PLAIN], FIRST_SLOT] + segment_i[g, COUNT] - 1
        if last:
            own_momentum(i, model.node_i, model.node_f, W)
    most = 0
    for g in range(segment_i.shape[0]):
        most = max(most, segment_i[g, COUNT])
    modes, whole = np.empty((most, 14), W.dtype), np.empty(16, W.dtype)
    for g in range(segment_i.shape[0]):
        own_mass(model, g, q, v, W, Lv, Lq, modes, whole)
    i = count - 1
    while i >= 0:
        if model.node_i[i, KIND] == MODE:
            interface_momentum(model, model.node_i[i, PLAIN], W, Lv, Lq)
            i -= segment_i[interface_i[model.node_i[i, PLAIN], SEGMENT], COUNT]
        else:
            momentum_slot(i, model.node_i, model.gravity, W, Lv, Lq)
            if model.node_i[i, PARENT] < 0:
                for k in range(16):
                    W[root, MASS + k] += W[i, MASS + k]
            i -= 1
