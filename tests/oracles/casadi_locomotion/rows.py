"""The rows of one sample among its neighbours, written once for every sample: r = 0 or g <= 0, and the objective's terms.

Which rows of a sample are asked is decided outside (`oracle`): this is the template. Ground: z = 0, normal z.
"""

from __future__ import annotations

import math

import casadi as ca  # noqa: TID253
import numpy as np
from casadi_locomotion.data import PlanData
from casadi_locomotion.features import Features, Sample

GRAVITY = 9.81
UP = ca.DM([0.0, 0.0, 1.0])
INEQUALITIES = ("friction", "normal", "range", "speed", "wheel speed", "apart", "torque", "torque line")


class Rows:
    """The template: rows by kind of (s-, s, s+, p), p = (heights (ne), shares of the backward and forward difference (2 ne), weights
    of acceleration, posture, force, force rate (4)). ``scale`` by kind."""

    def __init__(self, features: Features, plan: PlanData) -> None:
        self.features, self.robot, self.plan = features, features.robot, plan
        F0 = 0.1 * self.robot.mass * GRAVITY
        self.scale: dict[str, float | np.ndarray] = {
            "newton": 1.0 / F0, "euler": 10.0 / F0, "height": 100.0, "slip": 10.0, "resistance": 1.0 / F0, "swing force": 1.0 / F0,
            "friction": 1.0 / F0, "normal": 1.0 / F0, "range": 10.0, "speed": plan.h, "wheel speed": plan.h, "apart": 300.0,
            "goal": 10.0, "yaw goal": 10.0, "gauge": 10.0, "start": 10.0, "end": 10.0,
        }  # fmt: skip
        if plan.torques is not None:
            stated = [k for k in range(self.robot.joints) if math.isfinite(plan.torques[k])]
            self.scale["torque"] = 1.0 / np.asarray(plan.torques)[stated]
            self.scale["torque line"] = np.repeat(self.scale["torque"], 4)
        ns = features.ns
        self.before, self.now, self.after = (ca.SX.sym(name, ns) for name in ("before", "now", "after"))
        self.p = ca.SX.sym("p", 3 * self.robot.ne + 4)
        a, b, c = (features.sample(s) for s in (self.before, self.now, self.after))
        self.kinds = {kind: rows for kind, rows in self._kinds(a, b, c).items() if rows.numel()}
        self.objective = self._objective(a, b, c)

    def _kinds(self, a: Sample, b: Sample, c: Sample) -> dict[str, ca.SX]:
        robot, plan, h = self.robot, self.plan, self.plan.h
        tips = range(robot.ne)
        force = sum(b.f, ca.SX(3, 1))
        e = [[self.contact(s, j) for j in tips] for s in (a, b, c)]
        moment = sum((ca.cross(e[1][j] - b.x, b.f[j]) for j in tips), ca.SX(3, 1))
        turning = (self.momentum(b, c) - self.momentum(a, b)) / h
        rows = {
            "newton": force - robot.mass * (c.x - 2.0 * b.x + a.x) / h**2 - robot.mass * GRAVITY * UP,
            "euler": moment - turning,
            "height": ca.vertcat(*(e[1][j][2] - self.p[j] for j in tips)),
            "slip": ca.vertcat(*(self._slip(b, c, e[1][j], e[2][j], j) for j in tips)),
            "resistance": self._resistance(b, e),
            "swing force": ca.vertcat(*b.f),
            "friction": ca.vertcat(*(ca.sqrt(b.f[j][0] ** 2 + b.f[j][1] ** 2 + 1e-6) - plan.friction[j] * b.f[j][2] for j in tips)),
            "normal": ca.vertcat(*(plan.f_min - b.f[j][2] for j in tips)),
            "range": ca.vertcat(*(part for k in range(robot.joints) for part in self._range(b.q[6 + k], k))),
            "speed": ca.vertcat(*(part for k in range(robot.joints) for part in self._speed((c.q[6 + k] - b.q[6 + k]) / h, k))),
            "wheel speed": self._wheel_speed(b, c, e),
            "apart": ca.vertcat(
                *(
                    robot.effectors[j].radius + robot.effectors[k].radius + plan.apart[i] - ca.norm_2(e[1][j] - e[1][k])
                    for i, (j, k) in enumerate(plan.pairs)
                )
            ),
        }
        return rows | (self._torque(a, b, c, e[1]) if plan.torques is not None else {})

    def contact(self, s: Sample, j: int) -> ca.SX:
        """Where end effector j touches: under a ball's centre, at the lowest point of a wheel's rim."""
        r = self.robot.effectors[j].radius
        return s.C[j] - r * UP if self.robot.effectors[j].kind == "ball" else s.C[j] + r * ca.cross(s.a[j], self.heading(s, j))

    def heading(self, s: Sample, j: int) -> ca.SX:
        """The horizontal unit vector t along which wheel j rolls."""
        t = ca.cross(s.a[j], UP)
        return t / ca.norm_2(t[:2])

    def momentum(self, b: Sample, c: Sample) -> ca.SX:
        """Angular momentum between two samples, (1/h) ∫ d x d+ dm: that of the lumps' centres and of R S R+ᵀ."""
        total = ca.SX(3, 1)
        for m, s, c0, c1, R0, R1 in zip(self.robot.lump_mass, self.features.squares, b.c, c.c, b.R, c.R, strict=True):
            total += m * ca.cross(c0, c1) + _axial(R0 @ ca.diag(ca.DM(s)) @ R1.T)
        return (total - self.robot.mass * ca.cross(b.x, c.x)) / self.plan.h

    def _turned(self, b: Sample, c: Sample, j: int) -> ca.SX:
        """How far wheel j's carrier has spun about the axle between two samples, seen from its heading and tilt."""
        cs = []
        for s in (b, c):
            t = self.heading(s, j)
            cs.append((ca.dot(s.b[j], t), ca.dot(s.b[j], ca.cross(s.a[j], t))))
        (c0, s0), (c1, s1) = cs
        return ca.atan2(c0 * s1 - s0 * c1, c0 * c1 + s0 * s1)

    def _middle(self, b: Sample, c: Sample, j: int) -> ca.SX:
        """Unit vector (x, y) of the mean heading of wheel j between two samples."""
        both = (self.heading(b, j) + self.heading(c, j))[:2]
        return both / ca.norm_2(both)

    def _slip(self, b: Sample, c: Sample, e0: ca.SX, e1: ca.SX, j: int) -> ca.SX:
        tip, de = self.robot.effectors[j], (e1 - e0)[:2]
        if tip.kind == "ball":
            W = c.a[j] @ b.a[j].T
            phi = 0.5 * ca.vertcat(W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1])
            return de - tip.radius * ca.cross(phi, UP)[:2]
        t = self._middle(b, c, j)
        lateral = -t[1] * de[0] + t[0] * de[1]
        if tip.kind == "welded":
            return ca.vertcat(lateral, ca.dot(t, de) - tip.radius * self._turned(b, c, j))
        return lateral

    def _resistance(self, b: Sample, e: list[list[ca.SX]]) -> ca.SX:
        rows, ne = [], self.robot.ne
        for j, tip in enumerate(self.robot.effectors):
            if tip.kind == "passive":
                back, forth = self.p[ne + j], self.p[2 * ne + j]
                v = (back * (e[1][j] - e[0][j]) + forth * (e[2][j] - e[1][j])) / self.plan.h
                rows.append(ca.dot(b.f[j] + tip.rolling_resistance * v, self.heading(b, j)))
        return ca.vertcat(*rows)

    def _range(self, q: ca.SX, k: int) -> list[ca.SX]:
        low, high = (-math.inf, math.inf) if self.plan.ranges is None else self.plan.ranges[k]
        return [low - q, q - high] if math.isfinite(low) and math.isfinite(high) else []

    def _speed(self, rate: ca.SX, k: int) -> list[ca.SX]:
        top = math.inf if self.plan.speeds is None else self.plan.speeds[k]
        return [rate - top, -rate - top] if math.isfinite(top) else []

    def _wheel_speed(self, b: Sample, c: Sample, e: list[list[ca.SX]]) -> ca.SX:
        rows = []
        for j, tip in enumerate(self.robot.effectors):
            top = math.inf if self.plan.wheel_speeds is None else self.plan.wheel_speeds[j]
            if tip.kind == "active" and math.isfinite(top):
                rolled = ca.dot(self._middle(b, c, j), (e[2][j] - e[1][j])[:2]) / tip.radius
                rate = (rolled - self._turned(b, c, j)) / self.plan.h
                rows += [rate - top, -rate - top]
        return ca.vertcat(*rows)

    def torques(self, a: Sample, b: Sample, c: Sample, e: list[ca.SX]) -> list[ca.SX]:
        """Torque of each joint: axis . (moment of inertia forces and weight below it, less that of the ground)."""
        robot, h, found = self.robot, self.plan.h, []
        pulls, spins = [], []
        for i, m in enumerate(robot.lump_mass):
            pulls.append(m * ((c.c[i] - 2.0 * b.c[i] + a.c[i]) / h**2 + GRAVITY * UP))
            spins.append(_axial(b.R[i] @ ca.diag(ca.DM(self.features.squares[i])) @ (c.R[i] - 2.0 * b.R[i] + a.R[i]).T) / h**2)
        for k, node in enumerate(robot.joint_node):
            moment = ca.SX(3, 1)
            for i, lump in enumerate(robot.lump_node):
                if robot.below(lump, node):
                    moment += ca.cross(b.c[i] - b.O[k], pulls[i]) + spins[i]
            for j, tip in enumerate(robot.tip_node):
                if robot.below(tip, node):
                    moment -= ca.cross(e[j] - b.O[k], b.f[j])
            found.append(ca.dot(b.A[k], moment))
        return found

    def _torque(self, a: Sample, b: Sample, c: Sample, e: list[ca.SX]) -> dict[str, ca.SX]:
        """|tau| + (tau_s / w0) max(0, sign(tau) qdot) - tau_s, and the same as four smooth rows, which IPOPT is given."""
        rows, smooth = [], []
        for k, tau in enumerate(self.torques(a, b, c, e)):
            top, free = self.plan.torques[k], self.plan.no_load[k]
            if math.isfinite(top):
                rate = (c.q[6 + k] - a.q[6 + k]) / (2.0 * self.plan.h)
                rows.append(ca.fabs(tau) + top / free * ca.fmax(0.0, ca.sign(tau) * rate) - top)
                smooth += [tau - top, -tau - top, tau + top / free * rate - top, -tau - top / free * rate - top]
        return {"torque": ca.vertcat(*rows), "torque line": ca.vertcat(*smooth)}

    def _objective(self, a: Sample, b: Sample, c: Sample) -> ca.SX:
        acceleration, posture, force, rate = (self.p[3 * self.robot.ne + i] for i in range(4))
        away = b.q - ca.DM(self.robot.home)
        f, f1 = ca.vertcat(*b.f), ca.vertcat(*c.f)
        return (
            acceleration * ca.sumsqr(a.q - 2.0 * b.q + c.q)
            + posture * (away[2] ** 2 + ca.sumsqr(away[4:]))
            + force * ca.sumsqr(f)
            + rate * ca.sumsqr(f1 - f)
        )


def _axial(M: ca.SX) -> ca.SX:
    """Sum of u x v where M is the sum of u vᵀ."""
    return ca.vertcat(M[1, 2] - M[2, 1], M[2, 0] - M[0, 2], M[0, 1] - M[1, 0])
