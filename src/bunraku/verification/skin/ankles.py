"""Two ankles in skins: a smooth one stalls its motor near 20 degrees, a folded one lets it turn by 70 either way.

After Fig. 11 of the skin paper: a sleeve of rubber clamped to both links of the joint, of the same outer radius, length and rubber,
once smooth and 4 mm thick, once with teeth cut into it and thinner there; bent slowly, its walls touching each other.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline

from bunraku.building.servos import servo
from bunraku.mechanics.coupled.collisions.surface import SurfaceCollisions, surface_triangles
from bunraku.mechanics.coupled.tubes.bending import Bend, bend_tube
from bunraku.mechanics.coupled.tubes.mesh import Tube, tube_mesh
from bunraku.mechanics.elastic.material import Material
from bunraku.mechanics.elastic.solid import ElasticSolid
from bunraku.motion import Certificate, Check, Performance
from bunraku.optimization.solution import worst
from bunraku.verification.plots.folds import BentSkin
from bunraku.verification.skin.fold_motion import bent_performance

MOTOR, YOUNG, REACH, STALL = "MG995R", 1.32e6, 70.0, 20.0
"""The ankle's motor, the rubber's Young's modulus [Pa], and the angles of the paper [deg]."""

SMOOTH: dict[str, Any] = {"around": 32, "rows": 16}
FOLDED: dict[str, Any] = {"folds": 2, "depth": 0.010, "wall": 0.0025, "around": 20, "rows": 8}
COARSE: tuple[dict[str, Any], dict[str, Any]] = {"around": 12, "rows": 8}, {"around": 12, "rows": 4}
"""What of these is coarser when it must be quick."""


class Ankles:
    """Both skins on their ankles, bent: the smooth one until its motor stalls, the folded one both ways."""

    def __init__(self, quick: bool) -> None:
        self.quick = quick
        smooth, folded = Tube(**(SMOOTH | (COARSE[0] if quick else {}))), Tube(**(FOLDED | (COARSE[1] if quick else {})))
        rubber = Material(young=YOUNG, poisson=0.46, density=1100.0)
        self.folded, self.limit = folded, servo(MOTOR).stall_torque
        self.solids = [ElasticSolid(tube_mesh(one), rubber) for one in (smooth, folded)]
        self.touching = SurfaceCollisions(self.solids[1].mesh)
        clock = time.thread_time()
        self.plain = self.bent_smooth(1.0)
        every = 10.0 if quick else 5.0
        self.sides = [_bent(self.solids[1], self.touching, sign, REACH, every, float("inf")) for sign in (1.0, -1.0)]
        self.seconds = time.thread_time() - clock
        self.status = worst(one.status for one in (self.plain, *self.sides))

    def bent_smooth(self, sign: float) -> Bend:
        """The smooth skin bent one way until its motor stalls."""
        return _bent(self.solids[0], None, sign, 40.0, 2.0, self.limit)

    def figures(self) -> dict[str, Any]:
        """What was measured."""
        most = max(float(np.abs(side.torque).max(initial=0.0)) for side in self.sides)
        solid = self.solids[1]
        pairs = [self.touching.find(solid.mesh.nodes + side.u[-1]) for side in self.sides]
        return {
            "stall_angle_deg": float(np.degrees(self.plain.angle_at(self.limit))),
            "reached_deg": min(float(np.degrees(np.abs(side.angle).max(initial=0.0))) for side in self.sides),
            "max_torque_nm": most,
            "torque_limit_nm": self.limit,
            "joints": 1,
            "residual": max(float(one.residual.max(initial=0.0)) for one in (self.plain, *self.sides)),
            "work_error": max(_work_error(side) for side in self.sides),
            "skin_vertices": solid.nodes,
            "smooth_vertices": self.solids[0].nodes,
            "young_mpa": YOUNG / 1e6,
            "fold_count": self.folded.folds,
            "fold_depth_mm": 1e3 * self.folded.depth,
            "fold_wall_mm": 1e3 * self.folded.wall,
            "contact_pairs": min(one.count for one in pairs),
            "overlap_mm": 1e3 * max(one.deepest for one in pairs),
        }

    def promises(self, figures: dict[str, Any]) -> tuple[Check, ...]:
        """What the paper says of both skins, and what a computation must keep."""
        off, coarse = abs(figures["stall_angle_deg"] - STALL), self.quick
        return (
            Check("smooth skin: stall against 20 deg", off, "deg", 8.0 if coarse else 2.0, note="coarse mesh" if coarse else ""),
            Check("folded skin: angle reached either way", figures["reached_deg"], "deg", REACH - 1e-6, at_least=True),
            Check("folded skin: greatest torque", figures["max_torque_nm"], "N·m", figures["torque_limit_nm"]),
            Check("walls of the folds touch: pairs", figures["contact_pairs"], "", 1, at_least=True),
            Check("overlap of touching walls", figures["overlap_mm"], "mm", 1.0),
            Check("unbalanced force against the clamp's", figures["residual"], "", 1e-5),
            Check("work of the torque against the energy stored", figures["work_error"], "", 0.02),
        )

    def skins(self) -> list[BentSkin]:
        """Both skins from one side to the other; the smooth one is bent the other way too, only to be seen."""
        return [
            _skin("smooth", self.solids[0], [self.bent_smooth(-1.0), self.plain]),
            _skin("folded", self.solids[1], self.sides[::-1]),
        ]

    def performance(self, skins: list[BentSkin], promises: tuple[Check, ...]) -> Performance:
        """Two ankles, to be filmed: the smooth skin up to where its motor stalls, the folded one."""
        smooth, folded = skins
        kept = np.abs(smooth.torque) <= self.limit
        short = BentSkin(smooth.name, smooth.triangles, smooth.x[kept], smooth.angle[kept], smooth.torque[kept])
        motor = servo(MOTOR).motor("ankle", "ankle", None)
        return bent_performance([short, folded], np.radians(REACH), motor, Certificate(self.status, promises))


def _bent(solid: Any, contact: Any, sign: float, furthest: float, every: float, limit: float) -> Bend:
    """Bend a skin to ``sign`` times ``furthest`` [deg], listing it ``every`` so many, until a torque [N·m] is passed."""
    angles = np.radians(sign * np.arange(every, furthest + 0.5 * every, every))
    return bend_tube(solid, list(angles), contact=contact, step=np.radians(every), torque_limit=limit)


def _work_error(bend: Bend) -> float:
    """How far the work of the torque is from the energy stored at the last angle, as a share: a check of the torque by energy."""
    a, t = np.concatenate([[0.0], bend.angle]), np.concatenate([[0.0], bend.torque])
    if len(a) < 4:
        return float("nan")
    sign = np.sign(a[-1])
    work = float(CubicSpline(sign * a, sign * t).integrate(0.0, sign * a[-1]))
    return abs(work / float(bend.energy[-1]) - 1.0)


def _skin(name: str, solid: Any, parts: list[Bend]) -> BentSkin:
    """A skin bent to one side and to the other, from the first angle to the last."""
    back, on = parts
    x = [(solid.mesh.nodes + back.u)[::-1], np.array(solid.mesh.nodes)[None], solid.mesh.nodes + on.u]
    angle, torque = ([getattr(back, what)[::-1], np.zeros(1), getattr(on, what)] for what in ("angle", "torque"))
    return BentSkin(name, surface_triangles(solid.mesh), np.concatenate(x), np.concatenate(angle), np.concatenate(torque))
