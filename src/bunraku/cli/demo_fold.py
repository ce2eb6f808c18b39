"""The demo of folds: a smooth skin round an ankle stalls its motor near 20 degrees, a folded one lets it turn by 70 either way.

After Fig. 11 of the skin paper: a sleeve of rubber clamped to both links of the joint, of the same outer radius, length and rubber,
once smooth and 4 mm thick, once with teeth cut into it and thinner there; bent slowly, its walls touching each other.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bunraku.assets.examples import Demo
from bunraku.optimization.solution import worst

if TYPE_CHECKING:
    from bunraku.mechanics.elastic.tubes.bending import Bend
    from bunraku.motion import Check
    from bunraku.verification.plots.folds import BentSkin

MOTOR, YOUNG, REACH, STALL = "MG995R", 1.32e6, 70.0, 20.0
"""The ankle's motor, the rubber's Young's modulus [Pa], and the angles of the paper [deg]."""

SMOOTH: dict[str, Any] = {"around": 32, "rows": 16}
FOLDED: dict[str, Any] = {"folds": 2, "depth": 0.010, "wall": 0.0025, "shape": "teeth", "around": 20, "rows": 8}
COARSE: tuple[dict[str, Any], dict[str, Any]] = {"around": 12, "rows": 8}, {"around": 12, "rows": 4}
"""What of these is coarser when it must be quick."""


def run(name: str, example: Demo, folder: Path | None) -> tuple[dict[str, Any], int]:
    """Bend both skins and compare with the motor; without a folder on coarse meshes."""
    from bunraku.building.servos import servo
    from bunraku.cli.console import exit_code, say, show_checks
    from bunraku.mechanics.coupled.collisions.surface import SurfaceCollisions
    from bunraku.mechanics.elastic.material import Material
    from bunraku.mechanics.elastic.solid import ElasticSolid
    from bunraku.mechanics.elastic.tubes.mesh import Tube, tube_mesh

    quick = folder is None
    smooth = Tube(**(SMOOTH | (COARSE[0] if quick else {})))
    folded = Tube(**(FOLDED | (COARSE[1] if quick else {})))
    rubber = Material(young=YOUNG, poisson=0.46, density=1100.0)
    limit = servo(MOTOR).stall_torque
    solids = [ElasticSolid(tube_mesh(one), rubber) for one in (smooth, folded)]
    touching = SurfaceCollisions(solids[1].mesh)
    began = time.thread_time()
    plain = _bent(solids[0], None, 1.0, 40.0, 2.0, limit)
    ways = [_bent(solids[1], touching, sign, REACH, 10.0 if quick else 5.0, float("inf")) for sign in (1.0, -1.0)]
    seconds = time.thread_time() - began
    figures = _figures(name, plain, ways, limit, seconds)
    pairs = [touching.find(solids[1].mesh.nodes + way.u[-1]) for way in ways]
    figures |= {
        "skin_vertices": solids[1].nodes,
        "smooth_vertices": solids[0].nodes,
        "young_mpa": YOUNG / 1e6,
        "fold_count": folded.folds,
        "fold_depth_mm": 1e3 * folded.depth,
        "fold_wall_mm": 1e3 * folded.wall,
        "contact_pairs": min(one.count for one in pairs),
        "overlap_mm": 1e3 * max(one.deepest for one in pairs),
    }
    promises = _promises(figures, quick)
    figures["verified"] = all(check.holds for check in promises)
    show_checks(promises)
    say(
        f"the smooth skin needs {limit:g} N·m at {figures['stall_angle_deg']:.1f} deg; the folded one reaches"
        f" {figures['reached_deg']:.0f} deg either way with at most {figures['max_torque_nm']:.2f} N·m"
    )
    if folder is not None:
        other = _bent(solids[0], None, -1.0, 40.0, 2.0, limit)  # only to be seen: the smooth skin is as stiff the other way
        _leave(folder, solids, [other, plain], ways, promises)
    return figures, exit_code(worst(one.status for one in (plain, *ways)), figures["verified"])


def _bent(solid: Any, contact: Any, sign: float, furthest: float, every: float, limit: float) -> Bend:
    """Bend a skin to ``sign`` times ``furthest`` [deg], listing it ``every`` so many, until a torque [N·m] is passed."""
    import numpy as np

    from bunraku.mechanics.elastic.tubes.bending import bend_tube

    angles = np.radians(sign * np.arange(every, furthest + 0.5 * every, every))
    return bend_tube(solid, list(angles), contact=contact, step=np.radians(every), torque_limit=limit)


def _figures(name: str, plain: Bend, ways: list[Bend], limit: float, seconds: float) -> dict[str, Any]:
    import numpy as np

    most = max(float(np.abs(way.torque).max(initial=0.0)) for way in ways)
    return {
        "demo": name,
        "performer": "",
        "status": worst(one.status for one in (plain, *ways)).value,
        "duration_s": 0.0,
        "solve_s": seconds,
        "worst_limit_violation": max(0.0, most / limit - 1.0),
        "verified": False,
        "stall_angle_deg": float(np.degrees(plain.angle_at(limit))),
        "reached_deg": min(float(np.degrees(np.abs(way.angle).max(initial=0.0))) for way in ways),
        "max_torque_nm": most,
        "torque_limit_nm": limit,
        "joints": 1,
        "residual": max(float(one.residual.max(initial=0.0)) for one in (plain, *ways)),
        "work_error": max(_work_error(way) for way in ways),
    }


def _work_error(bend: Bend) -> float:
    """How far the work of the torque is from the energy stored at the last angle, as a share: a check of the torque by energy."""
    import numpy as np
    from scipy.interpolate import CubicSpline

    a, t = np.concatenate([[0.0], bend.angle]), np.concatenate([[0.0], bend.torque])
    if len(a) < 4:
        return float("nan")
    sign = np.sign(a[-1])
    work = float(CubicSpline(sign * a, sign * t).integrate(0.0, sign * a[-1]))
    return abs(work / float(bend.energy[-1]) - 1.0)


def _promises(figures: dict[str, Any], quick: bool) -> tuple[Check, ...]:
    from bunraku.motion import Check

    off = abs(figures["stall_angle_deg"] - STALL)
    return (
        Check("smooth skin: stall against 20 deg", off, "deg", 8.0 if quick else 2.0, note="coarse mesh" if quick else ""),
        Check("folded skin: angle reached either way", figures["reached_deg"], "deg", REACH - 1e-6, at_least=True),
        Check("folded skin: greatest torque", figures["max_torque_nm"], "N·m", figures["torque_limit_nm"]),
        Check("walls of the folds touch: pairs", figures["contact_pairs"], "", 1, at_least=True),
        Check("overlap of touching walls", figures["overlap_mm"], "mm", 1.0),
        Check("unbalanced force against the clamp's", figures["residual"], "", 1e-5),
        Check("work of the torque against the energy stored", figures["work_error"], "", 0.02),
    )


def _leave(folder: Path, solids: list[Any], plain: list[Bend], ways: list[Bend], promises: tuple[Check, ...]) -> None:
    """Plots, and the performance of two ankles, to be filmed: the smooth skin up to where its motor stalls, the folded one."""
    import numpy as np

    from bunraku.building.servos import servo
    from bunraku.cli.console import say
    from bunraku.formats.registry import write_performance
    from bunraku.motion import Certificate
    from bunraku.verification.plots.figure import save_figure
    from bunraku.verification.plots.folds import draw_bent, draw_torques
    from bunraku.verification.skin.fold_motion import bent_performance

    folder.mkdir(parents=True, exist_ok=True)
    limit = servo(MOTOR).stall_torque
    skins = [_skin("smooth", solids[0], plain), _skin("folded", solids[1], ways[::-1])]
    save_figure(draw_torques(skins, limit), folder / "torque.png")
    stages = []
    for skin in skins:
        last, middle = len(skin.angle) - 1, int(np.argmin(np.abs(skin.angle)))
        stages.append([middle, (middle + last) // 2, last])
    save_figure(draw_bent(skins, stages), folder / "shapes.png")
    torn = worst(one.status for one in (*plain, *ways))
    motor = servo(MOTOR).motor("ankle", "ankle", None)
    path = folder / "fold.performance.npz"
    write_performance(
        path, bent_performance([_within(skins[0], limit), skins[1]], np.radians(REACH), motor, Certificate(torn, promises))
    )
    say(f"torque.png, shapes.png and {path.name} are in {folder}/")


def _skin(name: str, solid: Any, parts: list[Bend]) -> BentSkin:
    """A skin bent to one side and to the other, from the first angle to the last."""
    import numpy as np

    from bunraku.mechanics.coupled.collisions.surface import surface_triangles
    from bunraku.verification.plots.folds import BentSkin

    back, on = parts
    x = [(solid.mesh.nodes + back.u)[::-1], np.array(solid.mesh.nodes)[None], solid.mesh.nodes + on.u]
    angle, torque = ([getattr(back, what)[::-1], np.zeros(1), getattr(on, what)] for what in ("angle", "torque"))
    return BentSkin(name, surface_triangles(solid.mesh), np.concatenate(x), np.concatenate(angle), np.concatenate(torque))


def _within(skin: BentSkin, limit: float) -> BentSkin:
    """The part of a skin's way whose torque a motor can give [N·m]."""
    import numpy as np

    from bunraku.verification.plots.folds import BentSkin

    kept = np.abs(skin.torque) <= limit
    return BentSkin(skin.name, skin.triangles, skin.x[kept], skin.angle[kept], skin.torque[kept])
