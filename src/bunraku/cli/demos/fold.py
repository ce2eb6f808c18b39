"""The demo of folds: a smooth skin round an ankle stalls its motor near 20 degrees, a folded one lets it turn by 70 either way."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bunraku.assets.examples import Demo
from bunraku.cli.console import exit_code, say, show_checks, watching
from bunraku.cli.demos.runner import Figures
from bunraku.formats.registry import write_performance
from bunraku.motion import Check, Performance
from bunraku.optimization.monitor import Monitor
from bunraku.verification.plots.figure import save_figure
from bunraku.verification.plots.folds import draw_bent, draw_torques
from bunraku.verification.skin.ankles import Ankles


class FoldKind:
    """It has no wish: both skins are bent and compared with the motor; without a folder on coarse meshes."""

    def perform(self, example: Demo, quick: bool, monitor: Monitor) -> tuple[Performance, None]:
        """The two ankles, whatever their promises."""
        ankles = Ankles(quick)
        return ankles.performance(ankles.skins(), ankles.promises(ankles.figures())), None

    def run(self, name: str, example: Demo, folder: Path | None) -> tuple[Figures, int]:
        """Bend, measure, and leave the results in ``folder``; the figures and the exit code."""
        with watching():
            ankles = Ankles(folder is None)
            figures = ankles.figures()
        promises = ankles.promises(figures)
        holds = not any(check.stands_against for check in promises)
        show_checks(promises)
        say(
            f"the smooth skin needs {ankles.limit:g} N·m at {figures['stall_angle_deg']:.1f} deg; the folded one reaches"
            f" {figures['reached_deg']:.0f} deg either way with at most {figures['max_torque_nm']:.2f} N·m"
        )
        if folder is not None:
            _leave(folder, ankles, promises)
        leading = {
            "demo": name,
            "performer": "",
            "status": ankles.status.value,
            "duration_s": 0.0,
            "solve_s": ankles.seconds,
            "worst_limit_violation": max(0.0, figures["max_torque_nm"] / ankles.limit - 1.0),
            "verified": holds,
        }
        return leading | figures, exit_code(ankles.status, holds)


def _leave(folder: Path, ankles: Ankles, promises: tuple[Check, ...]) -> None:
    """Plots, and the performance of the two ankles."""
    folder.mkdir(parents=True, exist_ok=True)
    skins = ankles.skins()
    save_figure(draw_torques(skins, ankles.limit), folder / "torque.png")
    stages = []
    for skin in skins:
        last, middle = len(skin.angle) - 1, int(np.argmin(np.abs(skin.angle)))
        stages.append([middle, (middle + last) // 2, last])
    save_figure(draw_bent(skins, stages), folder / "shapes.png")
    path = folder / "fold.performance.npz"
    write_performance(path, ankles.performance(skins, promises))
    say(f"torque.png, shapes.png and {path.name} are in {folder}/")


KIND = FoldKind()
