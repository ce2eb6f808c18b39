"""Inverse kinematics over the tree arrays: residuals, their Jacobians, and Levenberg-Marquardt in a box.

A frame with 26 joints and 9 targets takes about 0.1 ms (`benchmarks/how_fast_is_inverse_kinematics.py`).
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.mechanics.tree.tree_kernels import HINGE, SLIDE, TreeArrays, forward_kinematics


class TargetArrays(NamedTuple):
    """Targets, one a row: the frame X_NB = (turn, point) on ``node``, seen from X_FA = (base_turn, base_point) on ``base``.

    ``base`` is an ancestor of the node, or -1: the world.
    """

    node: NDArray[np.int64]
    point: Array
    turn: Array
    base: NDArray[np.int64]
    base_point: Array
    base_turn: Array
    position_weight: Array
    rotation_weight: Array


class Variables(NamedTuple):
    """What the unknowns x move: coordinate c is gain[c] * x[variable[c]] + offset[c], or fixed where variable[c] < 0."""

    variable: NDArray[np.int64]
    gain: Array
    offset: Array


class Box(NamedTuple):
    """Static bounds of x, the largest step from the previous frame, and ranges of x[dependent[i]] that depend on x[depends_on[i]].

    Their knots (value, lower, upper) are the rows knot_start[i] to knot_start[i + 1].
    """

    lower: Array
    upper: Array
    step: Array
    dependent: NDArray[np.int64]
    depends_on: NDArray[np.int64]
    knot_start: NDArray[np.int64]
    knots: Array


class Pulls(NamedTuple):
    """What pulls on each variable alone, see `pull_cost`; all (nv,)."""

    temporal: Array
    home: Array
    weight: Array
    low: Array
    high: Array
    soft: Array


class PoseProblem(NamedTuple):
    """What all frames of a motion have in common."""

    tree: TreeArrays
    targets: TargetArrays
    variables: Variables
    box: Box
    pulls: Pulls


class SolveEffort(NamedTuple):
    """Most iterations a frame, how many times as many for the first, and the step [rad or m] below which one ends."""

    iterations: int
    first_frame_factor: int
    tolerance: float


class PoseWork(NamedTuple):
    """Workspace: of `linearize` the poses of the nodes to ``marked``; then the step's. ``g``, ``H``: see there."""

    rotation: Array
    position: Array
    world_axis: Array
    J: Array
    touched: NDArray[np.int64]
    marked: NDArray[np.int64]
    residual: Array
    H: Array
    g: Array
    L: Array
    d: Array
    trial: Array
    order: NDArray[np.int64]
    fixed: NDArray[np.int64]
    temporal: Array
    lower: Array
    upper: Array


def pose_work(nodes: int, targets: int, nv: int) -> PoseWork:
    """Workspace for a tree of so many nodes, and so many targets and variables."""
    poses = {"rotation": (nodes, 3, 3), "position": (nodes, 3), "world_axis": (nodes, 3)}
    shapes: dict[str, tuple[int, ...]] = poses | {"J": (6, nv), "residual": (targets, 6), "H": (nv, nv), "L": (nv, nv)}
    indices = ("touched", "marked", "order", "fixed")
    arrays: dict[str, Any] = {name: np.zeros(shapes.get(name, (nv,)), dtype=np.float64) for name in PoseWork._fields}
    return PoseWork(**arrays | {name: np.zeros(nv, dtype=np.int64) for name in indices})


@njit(cache=True)
def logarithm(E, out):
    """Rotation vector of a rotation matrix, angle in [0, pi], by its quaternion; accurate near 0 and near pi."""
    t = E[0, 0] + E[1, 1] + E[2, 2]
    if t > E[0, 0] and t > E[1, 1] and t > E[2, 2]:
        w = 1.0 + t
        out[0], out[1], out[2] = E[2, 1] - E[1, 2], E[0, 2] - E[2, 0], E[1, 0] - E[0, 1]
    elif E[0, 0] >= E[1, 1] and E[0, 0] >= E[2, 2]:
        w = E[2, 1] - E[1, 2]
        out[0], out[1], out[2] = 1.0 + E[0, 0] - E[1, 1] - E[2, 2], E[0, 1] + E[1, 0], E[0, 2] + E[2, 0]
    elif E[1, 1] >= E[2, 2]:
        w = E[0, 2] - E[2, 0]
        out[0], out[1], out[2] = E[0, 1] + E[1, 0], 1.0 + E[1, 1] - E[0, 0] - E[2, 2], E[1, 2] + E[2, 1]
    else:
        w = E[1, 0] - E[0, 1]
        out[0], out[1], out[2] = E[0, 2] + E[2, 0], E[1, 2] + E[2, 1], 1.0 + E[2, 2] - E[0, 0] - E[1, 1]
    if w < 0.0:
        w = -w
        for a in range(3):
            out[a] = -out[a]
    s = np.sqrt(out[0] * out[0] + out[1] * out[1] + out[2] * out[2])
    scale = 2.0 / w if s < 1e-12 * w else 2.0 * np.arctan2(s, w) / s
    for a in range(3):
        out[a] *= scale


@njit(cache=True)
def configure(x, variables, q):
    """Write the coordinates that the variables ``x`` drive into ``q``."""
    variable, gain, offset = variables
    for c in range(q.shape[0]):
        if variable[c] >= 0:
            q[c] = gain[c] * x[variable[c]] + offset[c]


@njit(cache=True)
def linearize(tree, targets, variables, place, turn_to, q, work, derivatives):
    """Weighted residuals (6 a target) at ``q``, and with ``derivatives`` H += J^T J, g += J^T r; returns r^T r / 2.

    Position: w_p (R_A^T (p_B - p_A) - place). Rotation: w_r log(turn_to^T R_A^T R_B), whose derivative for a turn w of B,
    seen in A, is J_l(e)^-1 turn_to^T w with J_l^-1 = 1 - [e]/2 + (1/t^2 - cot(t/2) / (2 t)) [e]^2, t = |e|.
    """
    node, point, turn, base, base_point, base_turn, position_weight, rotation_weight = targets
    parent, kind, coordinate, variable, gain = tree.parent, tree.kind, tree.coordinate, variables.variable, variables.gain
    rotation, position, world_axis, residual, H, g = work.rotation, work.position, work.world_axis, work.residual, work.H, work.g
    J, touched, marked = work.J, work.touched, work.marked
    forward_kinematics(tree, q, rotation, position, world_axis)
    A, B, E, M = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    p, o, d, e, u = np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    cost = 0.0
    for k in range(node.shape[0]):
        n, f, wp, wr = node[k], base[k], position_weight[k], rotation_weight[k]
        for a in range(3):
            p[a] = position[n, a]
            for b in range(3):
                p[a] += rotation[n, a, b] * point[k, b]
            if f < 0:
                o[a] = base_point[k, a]
                for b in range(3):
                    A[a, b] = base_turn[k, a, b]
            else:
                o[a] = position[f, a]
                for b in range(3):
                    o[a] += rotation[f, a, b] * base_point[k, b]
                    A[a, b] = (
                        rotation[f, a, 0] * base_turn[k, 0, b]
                        + rotation[f, a, 1] * base_turn[k, 1, b]
                        + rotation[f, a, 2] * base_turn[k, 2, b]
                    )
        for a in range(3):
            s = 0.0
            for b in range(3):
                s += A[b, a] * (p[b] - o[b])
            residual[k, a] = wp * (s - place[k, a])
            residual[k, 3 + a] = 0.0
        if wr > 0.0:
            for a in range(3):
                for b in range(3):  # M = turn_to^T A^T
                    M[a, b] = turn_to[k, 0, a] * A[b, 0] + turn_to[k, 1, a] * A[b, 1] + turn_to[k, 2, a] * A[b, 2]
                    B[a, b] = (
                        rotation[n, a, 0] * turn[k, 0, b] + rotation[n, a, 1] * turn[k, 1, b] + rotation[n, a, 2] * turn[k, 2, b]
                    )
            for a in range(3):
                for b in range(3):
                    E[a, b] = M[a, 0] * B[0, b] + M[a, 1] * B[1, b] + M[a, 2] * B[2, b]
            logarithm(E, e)
            for a in range(3):
                residual[k, 3 + a] = wr * e[a]
        for a in range(6):
            cost += 0.5 * residual[k, a] * residual[k, a]
        if not derivatives:
            continue
        t = np.sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2]) if wr > 0.0 else 0.0
        c2 = 1.0 / 12.0 + t * t / 720.0 if t < 1e-2 else 1.0 / (t * t) - 1.0 / (2.0 * t * np.tan(0.5 * t))
        count = 0
        i = n
        while i >= 0 and i != f:
            c = coordinate[i]
            v = variable[c] if kind[i] == HINGE or kind[i] == SLIDE else -1
            if v >= 0:
                if marked[v] == 0:
                    marked[v] = 1
                    touched[count] = v
                    count += 1
                    for a in range(6):
                        J[a, v] = 0.0
                h0, h1, h2 = gain[c] * world_axis[i, 0], gain[c] * world_axis[i, 1], gain[c] * world_axis[i, 2]
                if kind[i] == HINGE:
                    d0, d1, d2 = p[0] - position[i, 0], p[1] - position[i, 1], p[2] - position[i, 2]
                    d[0], d[1], d[2] = h1 * d2 - h2 * d1, h2 * d0 - h0 * d2, h0 * d1 - h1 * d0
                    if wr > 0.0:
                        for a in range(3):
                            u[a] = M[a, 0] * h0 + M[a, 1] * h1 + M[a, 2] * h2
                        m0, m1, m2 = e[1] * u[2] - e[2] * u[1], e[2] * u[0] - e[0] * u[2], e[0] * u[1] - e[1] * u[0]
                        J[3, v] += wr * (u[0] - 0.5 * m0 + c2 * (e[1] * m2 - e[2] * m1))
                        J[4, v] += wr * (u[1] - 0.5 * m1 + c2 * (e[2] * m0 - e[0] * m2))
                        J[5, v] += wr * (u[2] - 0.5 * m2 + c2 * (e[0] * m1 - e[1] * m0))
                else:
                    d[0], d[1], d[2] = h0, h1, h2
                for a in range(3):
                    J[a, v] += wp * (A[0, a] * d[0] + A[1, a] * d[1] + A[2, a] * d[2])
            i = parent[i]
        for s1 in range(count):
            v1 = touched[s1]
            marked[v1] = 0
            for a in range(6):
                g[v1] += J[a, v1] * residual[k, a]
            for s2 in range(count):
                v2 = touched[s2]
                total = 0.0
                for a in range(6):
                    total += J[a, v1] * J[a, v2]
                H[v1, v2] += total
    return cost


@njit(cache=True)
def range_at(i, at, box):
    """Lower and upper end of dependent range i where the coordinate it depends on is ``at``."""
    knot_start, knots = box.knot_start, box.knots
    k, last = knot_start[i], knot_start[i + 1] - 1
    while k < last - 1 and knots[k + 1, 0] < at:
        k += 1
    share = min(max((at - knots[k, 0]) / (knots[k + 1, 0] - knots[k, 0]), 0.0), 1.0)
    return knots[k, 1] + share * (knots[k + 1, 1] - knots[k, 1]), knots[k, 2] + share * (knots[k + 1, 2] - knots[k, 2])


@njit(cache=True)
def settle_dependents(x, previous, box, lower, upper):
    """Where ``x`` breaks a dependent range: fix the coordinate it depends on, narrow the range's own box; true if any did.

    Where range and step leave nothing, the coordinate it depends on goes back towards where it was, just far enough.
    """
    dependent, depends_on = box.dependent, box.depends_on
    broken = False
    for i in range(dependent.shape[0]):
        least, most = range_at(i, x[depends_on[i]], box)
        if x[dependent[i]] < least or x[dependent[i]] > most:
            broken = True
    if not broken:
        return False
    for i in range(dependent.shape[0]):
        v, on = dependent[i], depends_on[i]
        least, most = range_at(i, x[on], box)
        if max(least, lower[v]) > min(most, upper[v]):
            back, wish = min(max(previous[on], lower[on]), upper[on]), x[on]
            good, bad = 0.0, 1.0
            for _ in range(50):
                share = 0.5 * (good + bad)
                least, most = range_at(i, back + share * (wish - back), box)
                if max(least, lower[v]) > min(most, upper[v]):
                    bad = share
                else:
                    good = share
            x[on] = back + good * (wish - back)
            least, most = range_at(i, x[on], box)
        lower[on] = upper[on] = x[on]
        lower[v], upper[v] = max(lower[v], least), min(upper[v], most)
        if lower[v] > upper[v]:  # the previous frame broke the range: the range comes first
            lower[v], upper[v] = least, most
    return True


@njit(cache=True)
def box_step(H, g, damping, x, lower, upper, L, order, fixed, d):
    """A Newton step d of g^T d + d^T (H + damping diag H) d / 2 within lower <= x + d <= upper; false if H is singular.

    Variables at a bound that the gradient presses on are fixed; those that would leave are fixed at the bound they meet,
    and the rest is solved again (Cholesky on the free ones).
    """
    n = x.shape[0]
    for v in range(n):
        d[v] = 0.0
        fixed[v] = 1 if (x[v] <= lower[v] and g[v] > 0.0) or (x[v] >= upper[v] and g[v] < 0.0) else 0
    for _ in range(n + 1):
        m = 0
        for v in range(n):
            if fixed[v] == 0:
                order[m] = v
                m += 1
        if m == 0:
            return True
        for i in range(m):
            for j in range(i + 1):
                s = H[order[i], order[j]]
                if i == j:
                    s += damping * s + 1e-14
                for k in range(j):
                    s -= L[i, k] * L[j, k]
                if i == j:
                    if s <= 0.0:
                        return False
                    L[i, i] = np.sqrt(s)
                else:
                    L[i, j] = s / L[j, j]
        for i in range(m):
            v = order[i]
            s = -g[v]
            for w in range(n):
                if fixed[w] != 0:
                    s -= H[v, w] * d[w]
            for k in range(i):
                s -= L[i, k] * d[order[k]]
            d[v] = s / L[i, i]
        for back in range(m):
            i = m - 1 - back
            s = d[order[i]]
            for k in range(i + 1, m):
                s -= L[k, i] * d[order[k]]
            d[order[i]] = s / L[i, i]
        left = False
        for i in range(m):
            v = order[i]
            if x[v] + d[v] < lower[v]:
                d[v], fixed[v], left = lower[v] - x[v], 1, True
            elif x[v] + d[v] > upper[v]:
                d[v], fixed[v], left = upper[v] - x[v], 1, True
        if not left:
            return True
    return True


@njit(cache=True)
def pull_cost(x, last, temporal, pulls, H, g, derivatives):
    """What pulls on each variable alone, with ``derivatives`` added to H and g; w is the pull's weight, s its ``soft``.

    sum_v (temporal (x - last)^2 + w (x - home)^2 + s max(0, low - x, x - high)^2)_v / 2
    """
    _, home, weight, low, high, soft = pulls
    cost = 0.0
    for v in range(x.shape[0]):
        a, b, c = x[v] - last[v], x[v] - home[v], max(x[v] - high[v], 0.0) + min(x[v] - low[v], 0.0)
        cost += 0.5 * (temporal[v] * a * a + weight[v] * b * b + soft[v] * c * c)
        if derivatives:
            g[v] += temporal[v] * a + weight[v] * b + soft[v] * c
            H[v, v] += temporal[v] + weight[v] + (soft[v] if c != 0.0 else 0.0)
    return cost


@njit(cache=True)
def minimise(problem, place, turn_to, q, x, last, most, tolerance, work, end):
    """Levenberg-Marquardt within the bounds in ``work``, from ``x`` and in place; ``end`` = (cost, iterations, converged).

    The step is accepted when it does not raise the cost (to rounding); it stops when one is below ``tolerance``. Converged
    means that the last one was below 1e-6 rad or m and little damped. No step is longer than 1 rad or m: joints do not wind up.
    """
    tree, targets, variables, pulls = problem.tree, problem.targets, problem.variables, problem.pulls
    H, g, d, trial, lower, upper, temporal = work.H, work.g, work.d, work.trial, work.lower, work.upper, work.temporal
    nv = x.shape[0]
    for v in range(nv):
        x[v] = min(max(x[v], lower[v]), upper[v])
    configure(x, variables, q)
    damping, count, converged = 1e-8, 0, 0.0
    fresh = count < most
    cost = 0.0
    while count < most:
        count += 1
        if fresh:  # passed on as the flag for derivatives, not True here and False below: literals compile a kernel once each
            H[:, :] = 0.0
            g[:] = 0.0
            cost = linearize(tree, targets, variables, place, turn_to, q, work, fresh)
            cost += pull_cost(x, last, temporal, pulls, H, g, fresh)
            fresh = False
        if not box_step(H, g, damping, x, lower, upper, work.L, work.order, work.fixed, d):
            damping = max(10.0 * damping, 1e-6)
            continue
        longest = 1.0
        for v in range(nv):
            longest = max(longest, abs(d[v]))
        biggest = 0.0
        for v in range(nv):
            trial[v] = min(max(x[v] + d[v] / longest, lower[v]), upper[v])
            biggest = max(biggest, abs(trial[v] - x[v]))
        configure(trial, variables, q)
        value = linearize(tree, targets, variables, place, turn_to, q, work, fresh)
        value += pull_cost(trial, last, temporal, pulls, H, g, fresh)
        predicted = 0.0
        for v in range(nv):
            a = trial[v] - x[v]
            s = g[v]
            for w in range(nv):
                s += 0.5 * H[v, w] * (trial[w] - x[w])
            predicted -= a * s
        small, noise = biggest < tolerance, 1e-15 + 1e-13 * cost
        if value <= cost + noise or small:
            if predicted > 10.0 * noise and cost - value < 0.25 * predicted:
                damping = max(4.0 * damping, 1e-3)  # accepted, but the model promised much more: it overshoots
            else:
                damping = max(0.1 * damping, 1e-10)
            for v in range(nv):
                x[v] = trial[v]
            cost = value
            fresh = True
            converged = 1.0 if biggest < 1e-6 and damping < 1.0 else 0.0
            if small:
                break
        else:
            configure(x, variables, q)
            damping = max(10.0 * damping, 1e-4)
            if damping > 1e12:
                break
    end[0], end[1], end[2] = cost, end[1] + count, converged


@njit(cache=True)
def solve_frames(problem, places, turns, q, start, has_previous, effort, work, out, ends):
    """All frames of a clip, one after the other, each from the one before: ``out`` (m, nv), ``ends`` (m, 3).

    Frame k minimises |r(x)|^2 / 2 + `pull_cost` in the box, from and towards x_{k-1}. Ranges that
    depend on another coordinate are met in a second pass, with that coordinate where the first pass left it. The first frame,
    without a previous one, has no temporal term and no step bound, and may iterate longer. ``ends[k]`` = (cost, iterations, 1 when
    converged). ``q`` (nq,) is scratch, holding the coordinates that do not move.
    """
    nv, box, lower, upper = start.shape[0], problem.box, work.lower, work.upper
    x, last = start.copy(), start.copy()
    for frame in range(places.shape[0]):
        first = frame == 0 and not has_previous
        most = effort.iterations * effort.first_frame_factor if first else effort.iterations
        for v in range(nv):
            work.temporal[v] = 0.0 if first else problem.pulls.temporal[v]
            step = np.inf if first else box.step[v]
            back = min(max(last[v], box.lower[v]), box.upper[v])
            lower[v], upper[v] = max(box.lower[v], back - step), min(box.upper[v], back + step)
        for attempt in range(2):
            minimise(problem, places[frame], turns[frame], q, x, last, most, effort.tolerance, work, ends[frame])
            if attempt == 1 or not settle_dependents(x, last, box, lower, upper):
                break
        for v in range(nv):
            out[frame, v] = last[v] = x[v]
