"""The rows of one sample among its neighbours, written once for every sample: r = 0 or g <= 0, and the objective's terms.

Which rows of a sample are asked is decided outside (`statement`): this is the template.
"""

from __future__ import annotations

import math

import casadi as ca  # noqa: TID253
import numpy as np

from casadi_locomotion.data import PlanData
from casadi_locomotion.features import Features, Sample
from casadi_locomotion.ground import Ground

UP = ca.DM([0.0, 0.0, 1.0])
INEQUALITIES = ("friction", "normal", "range", "speed", "wheel speed", "apart", "clear", "torque", "wheel torque")
SMOOTH = {
    "speed": ("rate",),
    "wheel speed": ("spin",),
    "torque": ("share of torque", "torque line"),
    "wheel torque": ("share of drive", "drive line"),
}
"""Rows with corners, and the smooth rows between -1 and 1 that say the same, which IPOPT is given instead."""
HIDDEN = tuple(name for names in SMOOTH.values() for name in names)


class Rows:
    """The template: rows by kind of (s-, s, s+, p), with ``scale`` by kind and ``columns``, the joints or effectors of limits.

    p = (heights (ne), shares of backward and forward difference (2 ne), weights of smoothness, posture, force and its rate (4)).
    """

    def __init__(self, features: Features, plan: PlanData) -> None:
        self.features, self.robot, self.plan = features, features.robot, plan
        self.ground = Ground(plan.terrain)
        F0 = 0.1 * self.robot.mass * plan.gravity
        self.scale = {
            "newton": 1.0 / F0, "euler": 10.0 / F0, "height": 100.0, "slip": 10.0, "resistance": 1.0 / F0, "swing force": 1.0 / F0,
            "friction": 1.0 / F0, "normal": 1.0 / F0, "range": 10.0, "locked": 10.0, "speed": 1.0, "wheel speed": 1.0,
            "apart": 300.0, "clear": 300.0, "torque": 1.0, "wheel torque": 1.0, "goal": 10.0, "gauge": 10.0, "start": 10.0,
            "end": 10.0,
        } | dict.fromkeys(HIDDEN, 1.0)  # fmt: skip
        ns = features.ns
        self.before, self.now, self.after = (ca.SX.sym(name, ns) for name in ("before", "now", "after"))
        self.p = ca.SX.sym("p", 3 * self.robot.ne + 4)
        a, b, c = (features.sample(s) for s in (self.before, self.now, self.after))
        self.columns: dict[str, list[int]] = {}
        self.kinds = {kind: rows for kind, rows in self._kinds(a, b, c).items() if rows.numel()}
        self.objective = self._objective(a, b, c)

    def limited(self, limits: np.ndarray | None) -> list[int]:
        """Which of some limits are stated."""
        return [] if limits is None else [k for k, top in enumerate(limits) if math.isfinite(top)]

    def _kinds(self, a: Sample, b: Sample, c: Sample) -> dict[str, ca.SX]:
        robot, plan, h = self.robot, self.plan, self.plan.h
        tips = range(robot.ne)
        force = sum(b.f, ca.SX(3, 1))
        e = [[self.contact(s, j) for j in tips] for s in (a, b, c)]
        n = [self.ground.normal(b.C[j]) for j in tips]
        moment = sum((ca.cross(e[1][j] - b.x, b.f[j]) for j in tips), ca.SX(3, 1))
        turning = (self.momentum(b, c) - self.momentum(a, b)) / h
        rows = {
            "newton": force - robot.mass * (c.x - 2.0 * b.x + a.x) / h**2 - robot.mass * plan.gravity * UP,
            "euler": moment - turning,
            "height": ca.vertcat(*(e[1][j][2] - self.ground.height(e[1][j]) - self.p[j] for j in tips)),
            "slip": ca.vertcat(*(self._slip(b, c, e[1][j], e[2][j], n[j], j) for j in tips)),
            "resistance": self._resistance(b, e),
            "swing force": ca.vertcat(*b.f),
            "friction": ca.vertcat(*(self._friction(b.f[j], n[j], plan.friction[j]) for j in tips)),
            "normal": ca.vertcat(*(plan.f_min - ca.dot(b.f[j], n[j]) for j in tips)),
            "apart": ca.vertcat(*(plan.least[i] - ca.norm_2(e[1][j] - e[1][k]) for i, (j, k) in enumerate(plan.pairs))),
            "clear": ca.vertcat(*(self._clear(b, *spot) for spot in plan.spots)),
        }
        return rows | self._joints(a, b, c, e[1]) | self._wheels(b, c, e)

    def _clear(self, s: Sample, node: int, local: np.ndarray, least: float) -> ca.SX:
        """How far a spot is below its least height over the ground."""
        robot = self.robot
        R, p = robot.to_carrier(node)
        i = robot.lump_node.index(robot.carrier[node])
        place = s.c[i] + s.R[i] @ ca.DM(self.features.turned[i].T @ (p + R @ local - robot.lump_center[i]))
        return least - (place[2] - self.ground.height(place))

    def contact(self, s: Sample, j: int) -> ca.SX:
        """Where end effector j touches: under a ball's centre, at the lowest point of a wheel's rim."""
        tip = self.robot.effectors[j]
        if tip.kind == "ball":
            return s.C[j] - tip.radius * self.ground.normal(s.C[j])
        return s.C[j] + tip.radius * ca.cross(s.a[j], self.heading(s, j))

    def heading(self, s: Sample, j: int) -> ca.SX:
        """The unit vector t along the ground in which wheel j rolls."""
        t = ca.cross(s.a[j], self.ground.normal(s.C[j]))
        return t / ca.norm_2(t)

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
        """Unit vector of the mean heading of wheel j between two samples."""
        both = self.heading(b, j) + self.heading(c, j)
        return both / ca.norm_2(both)

    def _slip(self, b: Sample, c: Sample, e0: ca.SX, e1: ca.SX, n: ca.SX, j: int) -> ca.SX:
        tip, de = self.robot.effectors[j], e1 - e0
        if tip.kind == "ball":
            W = c.a[j] @ b.a[j].T
            phi = 0.5 * ca.vertcat(W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1])
            return (de - tip.radius * ca.cross(phi, n))[:2]
        t = self._middle(b, c, j)
        lateral = ca.dot(de, ca.cross(n, t))
        if tip.kind == "welded":
            return ca.vertcat(lateral, ca.dot(t, de) - tip.radius * self._turned(b, c, j))
        return lateral

    def _friction(self, f: ca.SX, n: ca.SX, mu: float) -> ca.SX:
        up = ca.dot(f, n)
        return ca.sqrt(ca.sumsqr(f - up * n) + 1e-6) - mu * up

    def _resistance(self, b: Sample, e: list[list[ca.SX]]) -> ca.SX:
        rows, ne = [], self.robot.ne
        for j, tip in enumerate(self.robot.effectors):
            if tip.kind == "passive":
                back, forth = self.p[ne + j], self.p[2 * ne + j]
                v = (back * (e[1][j] - e[0][j]) + forth * (e[2][j] - e[1][j])) / self.plan.h
                rows.append(ca.dot(b.f[j] + tip.rolling_resistance * v, self.heading(b, j)))
        return ca.vertcat(*rows)

    def _joints(self, a: Sample, b: Sample, c: Sample, e: list[ca.SX]) -> dict[str, ca.SX]:
        """Of the joints: |q - middle| - half, |rate| - limit, |tau|/stall + max(0, rate along tau)/no_load - 1."""
        plan, q, h = self.plan, b.q[6:], self.plan.h
        low, high = (np.full(self.robot.joints, np.inf),) * 2 if plan.ranges is None else np.asarray(plan.ranges, dtype=float).T
        self.columns["range"] = [k for k in range(self.robot.joints) if math.isfinite(high[k]) and high[k] > low[k]]
        self.columns["locked"] = [k for k in range(self.robot.joints) if high[k] == low[k] and math.isfinite(low[k])]
        self.columns["speed"], self.columns["torque"] = self.limited(plan.speeds), self.limited(plan.torques)
        middle = {k: 0.5 * (low[k] + high[k]) for k in (*self.columns["range"], *self.columns["locked"])}
        rate, mean = (c.q - b.q)[6:] / h, (c.q - a.q)[6:] / (2.0 * h)
        tau = self.torques(a, b, c, e) if self.columns["torque"] else []
        share = {k: tau[k] / plan.torques[k] for k in self.columns["torque"]}
        return {
            "range": ca.vertcat(*(ca.fabs(q[k] - middle[k]) - 0.5 * (high[k] - low[k]) for k in self.columns["range"])),
            "locked": ca.vertcat(*(q[k] - middle[k] for k in self.columns["locked"])),
            "speed": ca.vertcat(*(ca.fabs(rate[k]) - plan.speeds[k] for k in self.columns["speed"])),
            "rate": ca.vertcat(*(rate[k] / plan.speeds[k] for k in self.columns["speed"])),
            "torque": ca.vertcat(*(_line(s, mean[k] / plan.no_load[k]) for k, s in share.items())),
            "share of torque": ca.vertcat(*share.values()),
            "torque line": ca.vertcat(*(s + mean[k] / plan.no_load[k] for k, s in share.items())),
        }

    def _wheels(self, b: Sample, c: Sample, e: list[list[ca.SX]]) -> dict[str, ca.SX]:
        """Speed and torque of driven wheels, speed from this sample to the next, torque r f.t at this one."""
        plan, names = self.plan, ("wheel speed", "spin", "wheel torque", "share of drive", "drive line")
        rows: dict[str, list[ca.SX]] = {name: [] for name in names}
        driven = [j for j, tip in enumerate(self.robot.effectors) if tip.kind == "active"]
        self.columns["wheel speed"] = [j for j in driven if j in self.limited(plan.wheel_speeds)]
        self.columns["wheel torque"] = [j for j in driven if j in self.limited(plan.wheel_torques)]
        for j in driven:
            r = self.robot.effectors[j].radius
            rolled = ca.dot(self._middle(b, c, j), e[2][j] - e[1][j]) / r
            speed = (rolled - self._turned(b, c, j)) / plan.h
            if j in self.columns["wheel speed"]:
                rows["wheel speed"].append(ca.fabs(speed) - plan.wheel_speeds[j])
                rows["spin"].append(speed / plan.wheel_speeds[j])
            if j in self.columns["wheel torque"]:
                share, part = r * ca.dot(b.f[j], self.heading(b, j)) / plan.wheel_torques[j], speed / plan.wheel_no_load[j]
                rows["wheel torque"].append(_line(share, part))
                rows["share of drive"].append(share)
                rows["drive line"].append(share + part)
        return {name: ca.vertcat(*parts) for name, parts in rows.items()}

    def torques(self, a: Sample, b: Sample, c: Sample, e: list[ca.SX]) -> list[ca.SX]:
        """Torque of each joint: axis . (moment of inertia forces and weight below it, less that of the ground)."""
        robot, h, found = self.robot, self.plan.h, []
        pulls, spins = [], []
        for i, m in enumerate(robot.lump_mass):
            pulls.append(m * ((c.c[i] - 2.0 * b.c[i] + a.c[i]) / h**2 + self.plan.gravity * UP))
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


def _line(torque: ca.SX, speed: ca.SX) -> ca.SX:
    """Torque, a share of stall, and speed, a share of no load, against the line between them."""
    return ca.fabs(torque) + ca.fmax(0.0, ca.if_else(torque >= 0.0, speed, -speed)) - 1.0


def _axial(M: ca.SX) -> ca.SX:
    """Sum of u x v where M is the sum of u vᵀ."""
    return ca.vertcat(M[1, 2] - M[2, 1], M[2, 0] - M[0, 2], M[0, 1] - M[1, 0])
