"""The problem as a whole in CasADi: samples beyond the ends, goals and pins, and which rows are asked of which sample.

Unknowns z = [q_0, f_0, q_1, f_1, ..., D]. A shift D = (dx, dy, dyaw) turns places, yaw and forces about z and then moves places.
"""

from __future__ import annotations

import casadi as ca  # noqa: TID253
import numpy as np

from bunraku.character import Character
from casadi_locomotion.data import BASE, COM, PlanData, Robot
from casadi_locomotion.features import Features, Sample
from casadi_locomotion.rows import Rows

SHIFTED = (0, 1, 3)
"""Coordinates that a shift D moves: x, y and yaw of the base."""


class Statement:
    """The parts of the problem.

    ``U``: z -> (v_-1, v_0, ..., v_T, D); ``p``: numbers of every sample; ``global_rows`` and ``global_objective`` of the wide
    vector ``W`` = (s_-1, ..., s_T, D); ``places`` (sample, column) and ``index`` (among all rows) of the rows asked, by kind.
    """

    def __init__(self, character: Character, plan: PlanData) -> None:
        self.plan, self.robot = plan, Robot(character)
        self.features = Features(self.robot)
        self.template = Rows(self.features, plan)
        self.n = plan.T * self.robot.nv + 3
        self._ends()
        self._numbers()
        self._globals()
        self._select()

    def _ends(self) -> None:
        """Samples beyond the ends and contacts there."""
        plan, robot, T = self.plan, self.robot, self.plan.T
        z = ca.SX.sym("z", self.n)
        v = [z[i * robot.nv : (i + 1) * robot.nv] for i in range(T)]
        D = z[T * robot.nv :]
        contacts = np.asarray(plan.contacts, dtype=bool)
        if plan.periodic:
            first, last = self._mirrored(self._unshift(v[T - 1], D)), self._shift(self._mirrored(v[0]), D)
            tips = np.arange(robot.ne)
            if plan.mirror is not None:
                tips = (np.asarray(plan.mirror[0])[robot.nq :: 3] - robot.nq) // 3
            before, after = contacts[-1][tips], contacts[0][tips]
            has_before = has_after = True
        else:
            has_before, has_after = plan.before is not None, plan.after is not None
            first = ca.DM(plan.before) if has_before else v[0]
            last = self._shift(ca.DM(plan.after), D) if has_after else v[T - 1]
            before = contacts[0] if plan.contacts_before is None else np.asarray(plan.contacts_before, dtype=bool)
            after = contacts[-1] if plan.contacts_after is None else np.asarray(plan.contacts_after, dtype=bool)
        self.U = ca.Function("U", [z], [ca.vertcat(first, *v, last, D)])
        self.contacts = np.vstack([before, contacts, after])
        self.prev = np.array([has_before] + [True] * (T - 1))
        self.next = np.array([True] * (T - 1) + [has_after])

    def _numbers(self) -> None:
        """Heights, shares of differences in the rolling speed, weights of the objective: (·, T)."""
        plan, c = self.plan, self.contacts.astype(float)
        back, forth = c[:-2] * c[1:-1] * self.prev[:, None], c[2:] * c[1:-1] * self.next[:, None]
        both = np.maximum(back + forth, 1.0)
        n = plan.intervals / 12.0
        smooth, posture, force, rate = plan.weights
        one = np.ones(plan.T)
        weights = np.stack(
            [smooth * n**3 * (self.prev & self.next), posture / n * one, force / n * one, rate * n * self.next], axis=1
        )
        heights = np.where(self.contacts[1:-1], 0.0, plan.heights)
        self.p = np.hstack([heights, back / both, forth / both, weights]).T

    def _shift(self, v: ca.SX, D: ca.SX) -> ca.SX:
        return self._moved(v, D[0], D[1], D[2], 0.0, 0.0)

    def _unshift(self, v: ca.SX, D: ca.SX) -> ca.SX:
        return self._moved(v, 0.0, 0.0, -D[2], D[0], D[1])

    def _moved(self, v: ca.SX, x: ca.SX, y: ca.SX, yaw: ca.SX, x0: ca.SX, y0: ca.SX) -> ca.SX:
        """Coordinates and forces turned about z after taking (x0, y0) off, then moved by (x, y)."""
        c, s = ca.cos(yaw), ca.sin(yaw)
        tx, ty = v[0] - x0, v[1] - y0
        parts = [c * tx - s * ty + x, s * tx + c * ty + y, v[2], v[3] + yaw, v[4 : self.robot.nq]]
        for j in range(self.robot.nq, self.robot.nv, 3):
            parts += [c * v[j] - s * v[j + 1], s * v[j] + c * v[j + 1], v[j + 2]]
        return ca.vertcat(*parts)

    def _mirrored(self, v: ca.SX) -> ca.SX:
        if self.plan.mirror is None:
            return v
        return ca.DM(np.asarray(self.plan.mirror[1], dtype=float)) * v[[int(k) for k in self.plan.mirror[0]]]

    def _globals(self) -> None:
        """Rows and objective of the motion as a whole: goals, gauge, ends, targets."""
        plan, ns, T = self.plan, self.features.ns, self.plan.T
        W = ca.SX.sym("W", (T + 2) * ns + 3)
        D = W[(T + 2) * ns :]
        sample = [self.features.sample(W[i * ns : (i + 1) * ns]) for i in range(T + 2)]
        first, last = sample[1], sample[T]
        rows: dict[str, list[ca.SX]] = {}
        if not plan.periodic and plan.start is not None:
            rows["start"] = [first.q - ca.DM(plan.start)]
        if not plan.periodic and plan.end is not None:
            shifted = self._shift(ca.vertcat(ca.DM(plan.end), ca.DM.zeros(3 * self.robot.ne)), D)
            rows["end"] = [last.q - shifted[: self.robot.nq]]
        if plan.periodic or plan.start is None:
            rows["gauge"] = [first.q[k] for k in SHIFTED]
        wishes = (*plan.goal_xy, plan.goal_yaw)
        rows["goal"] = [gone - wish for gone, wish in zip(self._gone(first, last, D), wishes, strict=True) if wish is not None]
        objective = ca.SX(0)
        for target in plan.targets:
            ends = [self._place(sample[target.index + 1 + k], target.what) for k in (0, 1)]
            at = (1.0 - target.share) * ends[0] + target.share * ends[1] if target.share > 0.0 else ends[0]
            for k in range(3):
                if target.weight[k] > 0.0:
                    objective += float(target.weight[k]) * (at[k] - float(target.place[k])) ** 2
        self.W = W
        self.global_rows = {kind: ca.vertcat(*parts) for kind, parts in rows.items() if parts}
        self.global_objective = objective

    def _gone(self, first: Sample, last: Sample, D: ca.SX) -> list[ca.SX]:
        """How far the motion goes: x, y of the centre of mass, yaw."""
        plan, c, s = self.plan, ca.cos(D[2]), ca.sin(D[2])
        if not plan.periodic:
            reference = self.robot.home if plan.reference is None else plan.reference
            x = np.asarray(self.features.y(reference)).ravel()[:3]
            return [last.x[0] - x[0], last.x[1] - x[1], last.q[3] - reference[3]]
        if plan.mirror is not None:
            # twice shift after mirror: a point at the origin goes to D, then to Rz(dyaw) (dx, -dy) + D
            return [D[0] + c * D[0] + s * D[1], D[1] + s * D[0] - c * D[1], D[2]]
        x, y = first.x[0], first.x[1]
        return [c * x - s * y + D[0] - x, s * x + c * y + D[1] - y, D[2]]

    def _place(self, sample: Sample, what: int) -> ca.SX:
        return sample.x if what == COM else sample.base if what == BASE else self.template.contact(sample, what)

    def _asked(self, kind: str, width: int) -> np.ndarray:
        """Which rows of the template are asked: (T, width)."""
        here, tips = self.contacts[1:-1], self.robot.effectors
        on = here & self.contacts[2:] & self.next[:, None]
        if kind in ("newton", "euler", "torque", "share of torque", "torque line"):
            return np.repeat((self.prev & self.next)[:, None], width, axis=1)
        if kind in ("speed", "rate"):
            return np.repeat(self.next[:, None], width, axis=1)
        if kind == "slip":
            return np.repeat(on, [1 if tip.spins else 2 for tip in tips], axis=1)
        if kind == "resistance":
            return here[:, [tip.kind == "passive" for tip in tips]]
        if kind == "swing force":
            return np.repeat(~here, 3, axis=1)
        if kind in ("friction", "normal"):
            return here
        if kind in ("wheel speed", "spin"):
            return on[:, self.template.columns["wheel speed"]]
        if kind in ("wheel torque", "share of drive", "drive line"):
            return on[:, self.template.columns["wheel torque"]]
        return np.ones((self.plan.T, width), dtype=bool)

    def _select(self) -> None:
        """Number the rows: of the template sample by sample, then those of the whole."""
        T, start = self.plan.T, 0
        self.m = m = sum(rows.numel() for rows in self.template.kinds.values())
        self.places: dict[str, np.ndarray] = {}
        self.index: dict[str, np.ndarray] = {}
        for kind, rows in self.template.kinds.items():
            i, col = np.nonzero(self._asked(kind, rows.numel()))
            self.places[kind], self.index[kind] = np.stack([i, col], axis=1), i * m + start + col
            start += rows.numel()
        start = T * m
        for kind, rows in self.global_rows.items():
            col = np.arange(rows.numel())
            self.places[kind], self.index[kind] = np.stack([0 * col, col], axis=1), start + col
            start += rows.numel()
        self.all_rows = start
