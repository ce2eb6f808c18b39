"""Does MuJoCo agree on rods? The reduced model against chains of rigid links in foreign physics.

Chains of 10 and 20 links a rod and their Richardson limit against the reduced model at 0.5 ms, for a level rod swept by 20 degrees
(bent out of the plane of its sag), the study's upright rod, and two rods in series with a motor between them. Twice: with the
beam's own stiffness and mass, which shows the error of the mesh, and with a material that makes the beam as stiff across and as
heavy as the mesh, which shows that of everything else.
Judged: the sweep with the mesh's within 0.1 mm RMS, and the level rod's sag of 55.64 mm within 0.2 % (the elastica's is 55.84 mm:
the mesh is stiffer).

Run: python benchmarks/does_mujoco_agree_on_rods.py
"""

from __future__ import annotations

import sys
import time

import numpy as np

from _frames import predict_frames
from _rods import STEEL, dance, one_rod, ramp, rms, two_rods
from bunraku.character import Character
from bunraku.mechanics.elastic.coarse_part import end_compliances
from bunraku.mechanics.elastic.part import part_solid
from bunraku.mechanics.flexible.system import flexible_system
from bunraku.verification.flexible.replay import chain_models, play_chains

DT, EVERY = 5e-4, 10
SWEEP_THRESHOLD, SAG, SAG_THRESHOLD = 1e-4, 0.05564, 2e-3


def like_its_mesh(character: Character) -> Character:
    """The character of a steel that makes the catalogue's rod as stiff and as heavy as the mesh of its first rod.

    Across, a unit force at the end gives L^3 / (3 E I) in the beam; all rods of a character here have one length and thickness.
    """
    part = character.flexibles[0]
    mesh, length, radius = part_solid(character, part), float(part.shape.length or 0.0), 0.5 * float(part.shape.diameter or 0.0)
    young = length**3 / 3.0 / (np.pi / 4.0 * radius**4) / float(end_compliances(mesh)[0])
    density = mesh.solid.total_mass / (np.pi * radius**2 * length)
    return character.changed(materials=(STEEL.changed(young=young, density=density),))


def compared(name: str, character: Character, path, seconds: float, frames: tuple[str, ...]) -> tuple[float, float]:
    """Prints a row for each stiffness; returns RMS difference [m] and first height [m] with that of the mesh."""
    steps = round(seconds / DT)
    model = flexible_system(character)
    own = predict_frames(model, frames, path(DT * np.arange(steps + 1)), DT, every=EVERY)
    times = DT * EVERY * np.arange(len(own.times))
    found = (np.nan, np.nan)
    for kind, judged in (("beam", character), ("mesh", like_its_mesh(character))):
        begin = time.thread_time()
        replay = play_chains(chain_models(judged, frames=frames, links=(10, 20), timestep=1e-4), path, frames=frames, times=times)
        spent = time.thread_time() - begin
        coarse, fine = (rms(run.positions - own.positions) for run in replay.runs)
        found = rms(replay.positions - own.positions), float(replay.positions[0, 0, 2])
        peak = float(replay.deviation(own.positions).max())
        print(
            f"{name:22s} {kind:5s} {1e3 * coarse:8.3f} {1e3 * fine:8.3f} {1e3 * found[0]:8.4f} {1e3 * peak:8.4f} "
            f"{1e3 * np.ptp(own.positions[:, -1], axis=0).max():9.1f} {spent:8.1f}  {replay.lost}"
        )
    return found


def main() -> int:
    """Prints the table; 1 when a bar is missed."""
    print("differences to the reduced model [mm]")
    print(f"{'motion':22s} {'as':5s} {'n = 10':>8s} {'n = 20':>8s} {'limit':>8s} {'peak':>8s} {'moves mm':>9s} {'cpu s':>8s}")
    off, height = compared("level rod, 20 deg", one_rod(level=True), lambda t: np.radians(20.0) * ramp(t)[:, None], 2.0, ("tip",))
    compared("upright rod, dance", one_rod(level=False), lambda t: dance(t)[:, None], 4.0, ("tip",))

    def both(t: np.ndarray) -> np.ndarray:
        return np.column_stack([np.radians(10.0) * (ramp(t) - ramp(t, 1.5)), np.radians(40.0) * ramp(t, 0.4, 0.7)])

    compared("two rods, two motors", two_rods(), both, 3.0, ("top", "tip"))
    sag = abs(-height / SAG - 1.0)
    print(f"sweep {1e3 * off:.4f} mm RMS (bar {1e3 * SWEEP_THRESHOLD:g})")
    print(f"sag {-1e3 * height:.3f} mm, {100 * sag:.3f} % from {1e3 * SAG:g} (bar {100 * SAG_THRESHOLD:g} %)")
    return int(not (off <= SWEEP_THRESHOLD and sag <= SAG_THRESHOLD))


if __name__ == "__main__":
    sys.exit(main())
