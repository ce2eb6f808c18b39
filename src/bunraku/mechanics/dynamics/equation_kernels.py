"""Terms of the equations of motion, and the continuous dynamics with its first and second derivatives.

Letters: L the Lagrangian, F the other forces, h the constraints; d the dynamic and k the kinematic coordinates; a the
acceleration, l the multipliers. Subscripts are derivatives: ``Lvq[i, j]`` is d2L / dv_i dq_j. The equations are

    G = Lvv a + Lvq v - Lq - F - Dh' l = 0 (rows d),      C = Dh a + v' D2h v = 0.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from bunraku.mechanics.dynamics.compiled import kernel
from bunraku.mechanics.dynamics.element_kernels import constraint, constraints, forces, locate, make_room, springs, touched
from bunraku.mechanics.dynamics.elimination_kernels import factor, solve, solve_many, solve_transposed
from bunraku.mechanics.dynamics.flexible.dispatch_kernels import curve, damp, damp_curved, move, pose, strain, whole
from bunraku.mechanics.dynamics.lagrangian_layout import REST, STIFFNESS

TINY = 1e-40
SINGULAR = 1e-14


@kernel
def gradient(model, q, v, room, Lv, Lq):
    """``Lv``, ``Lq`` (nq,) at (q, v); leaves poses, screws, twists and momenta in ``room.W``."""
    for i in range(Lv.shape[0]):
        Lv[i] = 0.0
        Lq[i] = 0.0
    pose(model, q, room.W)
    move(model, q, v, room.W, Lv, Lq)
    springs(model, q, v, room, Lv, Lq, np.empty((0, 0), room.W.dtype), np.empty((0, 0), room.W.dtype), np.int64(1))


@kernel
def curvature(model, q, v, room, Lvv, Lvq, Lqq):
    """``Lvv``, ``Lvq``, ``Lqq`` (nq, nq) from what :func:`gradient` left in ``room.W``."""
    for i in range(Lvv.shape[0]):
        for j in range(Lvv.shape[1]):
            Lvv[i, j] = 0.0
            Lvq[i, j] = 0.0
            Lqq[i, j] = 0.0
    curve(model, q, room.W, Lvv, Lvq, Lqq)
    springs(model, q, v, room, np.empty(0, room.W.dtype), np.empty(0, room.W.dtype), Lvv, Lqq, np.int64(2))


@kernel
def second_derivatives(model, q, v, Lvv, Lvq, Lqq):
    """Hessian of L at real or complex (q, v)."""
    n = q.shape[0]
    room = make_room(model, q)
    gradient(model, q, v, room, np.empty(n, q.dtype), np.empty(n, q.dtype))
    curvature(model, q, v, room, Lvv, Lvq, Lqq)


@kernel
def stepped(q, direction):
    """The complex q + i TINY direction: the imaginary part of what is computed from it, over TINY, is its derivative there."""
    x = np.empty(q.shape[0], np.complex128)
    for i in range(q.shape[0]):
        x[i] = complex(q[i], TINY * direction[i])
    return x


@kernel
def third_derivatives(model, q, v, a, b, Mvv, Mvq, Mqq):
    """Directional derivative of the Hessian of L along (a, b) in (q, v), exact to rounding: one complex evaluation."""
    n = q.shape[0]
    H = np.empty((3, n, n), np.complex128)
    second_derivatives(model, stepped(q, a), stepped(v, b), H[0], H[1], H[2])
    for i in range(n):
        for j in range(n):
            Mvv[i, j], Mvq[i, j], Mqq[i, j] = H[0, i, j].imag / TINY, H[1, i, j].imag / TINY, H[2, i, j].imag / TINY


@kernel
def constraint_hessian(model, q, weights, H):
    """Adds the Hessian of weights.h at real or complex q to ``H`` (nq, nq)."""
    room = make_room(model, q)
    pose(model, q, room.W)
    unused = np.empty(q.shape[0], q.dtype)
    for c in range(weights.shape[0]):
        if weights[c] != 0.0:
            constraint(model, c, q, room, unused, weights[c], H, np.int64(2))


@kernel
def constraint_third(model, q, weights, direction, scale, out):
    """Adds scale times the derivative of the Hessian of weights.h along ``direction`` to ``out`` (nq, nq)."""
    n = q.shape[0]
    H = np.zeros((n, n), np.complex128)
    constraint_hessian(model, stepped(q, direction), weights, H)
    for i in range(n):
        for j in range(n):
            out[i, j] += scale * (H[i, j].imag / TINY)


@kernel
def constraint_fourth(model, q, weights, v, out):
    """Adds the second derivative along ``v`` of the Hessian of weights.h to ``out``: a mean over 8 points of a circle around q.

    f'' = 2/(8 r^2) sum f(r w) / w^2 over w^8 = -1; conjugate points give conjugate values, so four are computed. The error is of
    order r^8, below rounding at r = 0.05 / |v|.
    """
    n = q.shape[0]
    most = 0.0
    for i in range(n):
        most = max(most, abs(v[i]))
    if most == 0.0:
        return
    r = 0.05 / most
    x = np.empty(n, np.complex128)
    H = np.empty((n, n), np.complex128)
    for k in range(4):
        w = np.exp(1j * np.pi * (2 * k + 1) / 8.0)
        for i in range(n):
            x[i] = q[i] + r * w * v[i]
        H[:, :] = 0.0
        constraint_hessian(model, x, weights, H)
        f = 1.0 / (w * w * 2.0 * r * r)
        for i in range(n):
            for j in range(n):
                out[i, j] += (H[i, j] * f).real


@kernel
def energies(model, q, v):
    """Kinetic and potential energy."""
    n = q.shape[0]
    room = make_room(model, q)
    Lv = np.empty(n, q.dtype)
    gradient(model, q, v, room, Lv, np.empty(n, q.dtype))
    kinetic, potential = 0.0, 0.0
    for c in range(n):
        kinetic += 0.5 * Lv[c] * v[c]
        potential += 0.5 * model.coordinate_f[c, STIFFNESS] * (q[c] - model.coordinate_f[c, REST]) ** 2
    total = np.empty(16, q.dtype)
    potential += whole(model, room.W, total)
    for k in range(3):
        potential -= model.gravity[k] * total[1 + k]
    for r in range(model.pair_i.shape[0]):
        a0, a1, a2 = locate(model, model.pair_i[r, 0], room.W)
        b0, b1, b2 = locate(model, model.pair_i[r, 1], room.W)
        length = np.sqrt((a0 - b0) ** 2 + (a1 - b1) ** 2 + (a2 - b2) ** 2)
        potential += 0.5 * model.pair_f[r, 0] * (length - model.pair_f[r, 1]) ** 2
    return kinetic, potential


@kernel
def poses(model, q):
    """The work array at ``q``: poses and screws of all slots."""
    W = make_room(model, q).W
    pose(model, q, W)
    return W


@kernel
def lagrangian(model, q, v):
    """Gradient and Hessian of L: Lv, Lq, Lvv, Lvq, Lqq."""
    n = q.shape[0]
    room = make_room(model, q)
    Lv, Lq = np.empty(n, q.dtype), np.empty(n, q.dtype)
    H = np.empty((3, n, n), q.dtype)
    gradient(model, q, v, room, Lv, Lq)
    curvature(model, q, v, room, H[0], H[1], H[2])
    return Lv, Lq, H[0], H[1], H[2]


@kernel
def constraint_terms(model, q, weights):
    """H (nc,), Dh (nc, nq), and the Hessian of weights.h (nq, nq)."""
    n, m = q.shape[0], weights.shape[0]
    room = make_room(model, q)
    h, Dh, H = np.empty(m, q.dtype), np.empty((m, n), q.dtype), np.zeros((n, n), q.dtype)
    pose(model, q, room.W)
    constraints(model, q, room, h, Dh, weights, H, np.int64(2))
    return h, Dh, H


@kernel
def force_parts(model, q, v, u, damped):
    """F (nq,), Fq, Fv (nq, nq), Fu (nq, nu) at real or complex (q, v, u); ``damped``: with the damping of flexible segments."""
    n = q.shape[0]
    room = make_room(model, q)
    F, Fq, Fv, Fu = np.zeros(n, q.dtype), np.zeros((n, n), q.dtype), np.zeros((n, n), q.dtype), np.zeros((n, u.shape[0]), q.dtype)
    pose(model, q, room.W)
    forces(model, v, u, room, F, Fq, Fv, Fu, np.int64(1))
    if damped:
        strain(model, q, room.W)
        damp(model, v, room.W, 1.0, F, Fq, Fv, np.int64(1))
    return F, Fq, Fv, Fu


@kernel
def force_terms(model, q, v, u):
    """F (nq,), Fq, Fv (nq, nq), Fu (nq, nu) of all forces at real or complex (q, v, u)."""
    return force_parts(model, q, v, u, True)


@kernel
def force_curvature(model, q, v, u, mu, inner):
    """Hessian of mu.F over (q, v, u): the derivative of its gradient along each number, by complex steps.

    ``inner`` (nq,): the weights of the damping of flexible segments, in closed form.
    """
    n, nu = q.shape[0], u.shape[0]
    size = 2 * n + nu
    out = np.zeros((size, size))
    if not model.sizes.curved:
        return out
    damp_curved(model, q, v, inner, out)
    if not model.sizes.curved_alone:
        return out
    x = np.empty(size, np.complex128)
    x[:n], x[n : 2 * n], x[2 * n :] = q, v, u
    for j in range(size):
        x[j] += 1j * TINY
        _, Fq, Fv, Fu = force_parts(model, x[:n], x[n : 2 * n], x[2 * n :], False)
        x[j] = x[j].real
        for k in range(n):
            if mu[k] != 0.0:
                for i in range(n):
                    out[j, i] += mu[k] * (Fq[k, i].imag / TINY)
                    out[j, n + i] += mu[k] * (Fv[k, i].imag / TINY)
                for i in range(nu):
                    out[j, 2 * n + i] += mu[k] * (Fu[k, i].imag / TINY)
    for i in range(size):
        for j in range(i):
            mean = 0.5 * (out[i, j] + out[j, i])
            out[i, j] = mean
            out[j, i] = mean
    return out


@kernel
def accelerate(model, q, v, u, kinematic_acceleration):
    """Acceleration (nq,) of all coordinates, multipliers (nc,), and 0 where the equations are singular."""
    n, nc, nd = q.shape[0], model.constraint_i.shape[0], model.dynamic.shape[0]
    dynamic, kinematic = model.dynamic, model.kinematic
    room = make_room(model, q)
    Lv, Lq, F = np.empty(n), np.empty(n), np.zeros(n)
    H = np.empty((3, n, n))
    gradient(model, q, v, room, Lv, Lq)
    curvature(model, q, v, room, H[0], H[1], H[2])
    none = np.empty((0, 0))
    forces(model, v, u, room, F, none, none, none, np.int64(0))
    damp(model, v, room.W, 1.0, F, none, none, np.int64(0))
    a = np.zeros(n)
    for i in range(kinematic.shape[0]):
        a[kinematic[i]] = kinematic_acceleration[i]
    A, x = np.zeros((nd + nc, nd + nc)), np.empty(nd + nc)
    for i in range(nd):
        r = dynamic[i]
        s = Lq[r] + F[r]
        for j in range(n):
            s -= H[1, r, j] * v[j] + H[0, r, j] * a[j]
        x[nc + i] = s
        for j in range(nd):
            A[nc + i, nc + j] = H[0, r, dynamic[j]]
    D2, Dh, places = H[2], np.zeros(n), np.empty(model.sizes.longest + 1, np.int64)
    D2[:, :] = 0.0
    for c in range(nc):
        _, count = constraint(model, c, q, room, Dh, 1.0, D2, np.int64(2))
        m = touched(model, c, room.where, count, places)
        s = 0.0
        for k in range(m):
            i = places[k]
            s -= Dh[i] * a[i]
            for j in places[:m]:
                s -= v[i] * D2[i, j] * v[j]
                D2[i, j] = 0.0
        x[c] = s
        for i in range(nd):
            A[nc + i, c] = -Dh[dynamic[i]]
            A[c, nc + i] = Dh[dynamic[i]]
        for k in range(m):
            Dh[places[k]] = 0.0
    pivot = np.empty(nd + nc, np.int64)
    if not factor(A, pivot) > SINGULAR:
        return a, x[:nc], 0
    solve(A, pivot, x)
    for i in range(nd):
        a[dynamic[i]] = x[nc + i]
    return a, x[:nc], 1


@kernel
def accelerate_first(model, q, v, u, a, lam):
    """Derivatives (nc + nd, 2 nq + nu + nk) of (l, a_d) over (q, v, u, a_k) at a solution, and the factors of the equations.

    One complex evaluation at (q + i e v, v + i e a) gives Im Lvq / e and Im Lvv / e, the rates of the Hessian along the motion:
    G_q = Lvq' - Lqq - Fq - l.D2h, G_v = Lvv' + Lvq - Lvq^T - Fv; likewise C_q = D2h a + D3h[v] v, C_v = 2 D2h v.
    """
    n, nc, nd, nk, nu = q.shape[0], model.constraint_i.shape[0], model.dynamic.shape[0], model.kinematic.shape[0], u.shape[0]
    dynamic, kinematic = model.dynamic, model.kinematic
    x, y = stepped(q, v), stepped(v, a)
    room = make_room(model, x)
    H = np.empty((3, n, n), np.complex128)
    gradient(model, x, y, room, np.empty(n, np.complex128), np.empty(n, np.complex128))
    curvature(model, x, y, room, H[0], H[1], H[2])
    _, Fq, Fv, Fu = force_terms(model, q, v, u)
    A = np.zeros((nd + nc, nd + nc))
    Y = np.zeros((nd + nc, 2 * n + nu + nk))
    for i in range(nd):
        r = dynamic[i]
        for j in range(n):
            Y[nc + i, j] = -(H[1, r, j].imag / TINY - H[2, r, j].real - Fq[r, j])
            Y[nc + i, n + j] = -(H[0, r, j].imag / TINY + H[1, r, j].real - H[1, j, r].real - Fv[r, j])
        for j in range(nu):
            Y[nc + i, 2 * n + j] = Fu[r, j]
        for j in range(nk):
            Y[nc + i, 2 * n + nu + j] = -H[0, r, kinematic[j]].real
        for j in range(nd):
            A[nc + i, nc + j] = H[0, r, dynamic[j]].real
    D2, Dh, places = H[2], np.zeros(n, np.complex128), np.empty(model.sizes.longest + 1, np.int64)
    row = np.full(n, -1, np.int64)
    for i in range(nd):
        row[dynamic[i]] = nc + i
    D2[:, :] = 0.0
    for c in range(nc):
        _, count = constraint(model, c, x, room, Dh, 1.0, D2, np.int64(2))
        m = touched(model, c, room.where, count, places)
        for k in range(m):
            i = places[k]
            r = row[i]
            s, t = 0.0, 0.0
            for j in places[:m]:
                s += D2[i, j].real * a[j] + (D2[i, j].imag / TINY) * v[j]
                t += D2[i, j].real * v[j]
                if r >= 0:
                    Y[r, j] += lam[c] * D2[i, j].real
                D2[i, j] = 0.0
            Y[c, i] = -s
            Y[c, n + i] = -2.0 * t
            if r >= 0:
                A[r, c] = -Dh[i].real
                A[c, r] = Dh[i].real
        for j in range(nk):
            Y[c, 2 * n + nu + j] = -Dh[kinematic[j]].real
        for k in range(m):
            Dh[places[k]] = 0.0
    pivot = np.empty(nd + nc, np.int64)
    good = factor(A, pivot) > SINGULAR
    if good:
        solve_many(A, pivot, Y)
    return Y, A, pivot, good


@kernel
def accelerate_second(model, q, v, u, a, lam, Y, LU, pivot, za, zl):
    """Hessian (2 nq + nu + nk square) of za.a_d + zl.l over (q, v, u, a_k).

    With m = A^-T (zl, za), it is -(m.G, m.C)_ww pulled back by w = (q, v, u, a, l). The fourth derivatives of L that G needs come
    from T being quadratic in v: m' M(q) v = (T(q, v + m) - T(q, v - m)) / 2, differentiated along the motion by one complex step.
    """
    n, nc, nd, nk, nu = q.shape[0], model.constraint_i.shape[0], model.dynamic.shape[0], model.kinematic.shape[0], u.shape[0]
    dynamic, kinematic = model.dynamic, model.kinematic
    m = np.empty(nd + nc)
    m[:nc], m[nc:] = zl, za
    solve_transposed(LU, pivot, m)
    mu = np.zeros(n)
    for i in range(nd):
        mu[dynamic[i]] = m[nc + i]
    x, y = stepped(q, v), stepped(v + mu, a)
    H, K = np.empty((3, n, n), np.complex128), np.empty((3, n, n), np.complex128)
    second_derivatives(model, x, y, H[0], H[1], H[2])
    for i in range(n):
        y[i] -= 2.0 * mu[i]
    second_derivatives(model, x, y, K[0], K[1], K[2])
    M = np.empty((3, n, n))
    third_derivatives(model, q, v, mu, np.zeros(n), M[0], M[1], M[2])
    size = 2 * n + nu + nk
    out = np.zeros((size, size))
    qa = np.zeros((n, nd + nc))  # second derivatives over (q; l, a_d), pulled back by Y below
    for i in range(n):
        for j in range(n):
            out[i, j] -= 0.5 * (H[2, i, j].imag - K[2, i, j].imag) / TINY - M[2, i, j]
            cell = 0.5 * ((H[1, j, i].imag - K[1, j, i].imag) / TINY + H[2, i, j].real - K[2, i, j].real) - M[1, j, i]
            out[i, n + j] -= cell
            out[n + j, i] -= cell
            out[n + i, n + j] -= 0.5 * (H[1, i, j].real - K[1, i, j].real + H[1, j, i].real - K[1, j, i].real) - M[0, i, j]
        for j in range(nd):
            qa[i, nc + j] -= 0.5 * (H[1, dynamic[j], i].real - K[1, dynamic[j], i].real)
        for j in range(nk):
            cell = 0.5 * (H[1, kinematic[j], i].real - K[1, kinematic[j], i].real)
            out[i, 2 * n + nu + j] -= cell
            out[2 * n + nu + j, i] -= cell
    if model.sizes.curved:
        out[: 2 * n + nu, : 2 * n + nu] += force_curvature(model, q, v, u, mu, mu)
    if nc > 0:
        constraint_third(model, q, lam, mu, 1.0, out)
        D2 = np.zeros((n, n))
        for c in range(nc):
            D2[:, :] = 0.0
            one = np.zeros(nc)
            one[c] = 1.0
            constraint_hessian(model, q, one, D2)
            for i in range(n):
                s = 0.0
                for j in range(n):
                    s += D2[i, j] * mu[j]
                qa[i, c] += s
        mh = m[:nc].copy()
        D2[:, :] = 0.0
        constraint_hessian(model, q, mh, D2)
        D3 = np.zeros((n, n))
        constraint_third(model, q, mh, v, 1.0, D3)
        D4 = np.zeros((n, n))
        constraint_fourth(model, q, mh, v, D4)
        constraint_third(model, q, mh, a, 1.0, D4)
        for i in range(n):
            for j in range(n):
                out[i, j] -= D4[i, j]
                out[i, n + j] -= 2.0 * D3[i, j]
                out[n + j, i] -= 2.0 * D3[i, j]
                out[n + i, n + j] -= 2.0 * D2[i, j]
            for j in range(nd):
                qa[i, nc + j] -= D2[i, dynamic[j]]
            for j in range(nk):
                out[i, 2 * n + nu + j] -= D2[i, kinematic[j]]
                out[2 * n + nu + j, i] -= D2[i, kinematic[j]]
    mixed = np.dot(qa, Y)
    for i in range(n):
        for j in range(size):
            out[i, j] += mixed[i, j]
            out[j, i] += mixed[i, j]
    return out
