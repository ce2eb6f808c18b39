"""Which foreign elasticity bends a plate right: the flexes of MuJoCo, or cells of scikit-fem? And how fast is each stepped?

A cantilever of printed ABS, 0.3 x 0.028 x 0.008 m, whose lowest frequency out of its plane beams state in closed form,
1.8751^2 / (2 pi) sqrt(E I / (rho A L^4)). MuJoCo takes the corners of a mesh as a flex of linear tetrahedra, pinned at one end:
its stiffness by differences of the passive forces, its mass matrix, and the longest stable step 2 / w of its fastest mode;
scikit-fem takes the same mesh with quadratic cells, reduced as the judge of flexible characters does. The bar: within 2 %.

Run: python benchmarks/which_foreign_elasticity_bends_right.py [--fine]
"""

from __future__ import annotations

import argparse
import sys
import time

import mujoco  # noqa: TID253
import numpy as np
from scipy.linalg import eigh

from bunraku.geometry.meshing.shapes import box
from bunraku.verification.flexible.elastic_part import Elasticity, elastic_part
from bunraku.verification.foreign import mass_matrix, without_log_file

LENGTH, WIDE, THICK = 0.3, 0.028, 0.008
ABS = Elasticity(2e9, 0.38, 1175.0, 0.0)
BRICKS = ((2, 1, 15), (4, 1, 30))
FINE = (4, 2, 60)
BAR = 0.02
_EPS = 1e-7


def closed_form() -> float:
    """The lowest frequency [Hz] of a slender cantilever."""
    stiff = ABS.young * WIDE * THICK**3 / 12.0 / (ABS.density * WIDE * THICK * LENGTH**4)
    return float(1.875104**2 / (2.0 * np.pi) * np.sqrt(stiff))


def flex(bricks: tuple[int, int, int]) -> tuple[float, float, float]:
    """The lowest frequency [Hz] of MuJoCo's flex, its longest stable step [s], and seconds of CPU for a step."""
    mesh = box((WIDE, THICK, LENGTH), bricks, order=1)
    numbers = " ".join(f"{value:.12g}" for value in mesh.nodes.ravel()), " ".join(map(str, mesh.cells.ravel()))
    pinned = " ".join(map(str, np.flatnonzero(mesh.nodes[:, 2] < 1e-9)))
    mass = ABS.density * LENGTH * WIDE * THICK
    text = f"""<mujoco><option timestep="1e-6" gravity="0 0 0" jacobian="dense"/><size memory="200M"/><worldbody>
      <flexcomp name="plate" type="direct" dim="3" mass="{mass}" radius="1e-4" point="{numbers[0]}" element="{numbers[1]}">
        <elasticity young="{ABS.young}" poisson="{ABS.poisson}"/><contact contype="0" conaffinity="0" selfcollide="none"/>
        <pin id="{pinned}"/><edge equality="false"/></flexcomp></worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(text)
    data, K = mujoco.MjData(model), np.zeros((model.nv, model.nv))

    def force(place: int, off: float) -> np.ndarray:
        data.qpos[:], data.qvel[:] = 0.0, 0.0
        data.qpos[place] = off
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_fwdVelocity(model, data)
        return data.qfrc_passive.copy()

    for j in range(model.nv):
        K[:, j] = (force(j, -_EPS) - force(j, _EPS)) / (2.0 * _EPS)
    force(0, 0.0)
    squares = eigh(0.5 * (K + K.T), mass_matrix(model, data), eigvals_only=True)
    start = time.process_time()
    for _ in range(200):
        mujoco.mj_step(model, data)
    return float(np.sqrt(squares[0]) / (2.0 * np.pi)), float(2.0 / np.sqrt(squares[-1])), (time.process_time() - start) / 200


def cells(bricks: tuple[int, int, int]) -> tuple[float, float]:
    """The lowest frequency [Hz] of scikit-fem's cells, and seconds of CPU to assemble and reduce them."""
    start = time.process_time()
    end = ("end", (np.eye(3), np.array([0.0, 0.0, LENGTH])))
    part = elastic_part(box((WIDE, THICK, LENGTH), bricks), ABS, "start", [end])
    seconds = time.process_time() - start
    squares = eigh(part.stiffness, np.einsum("abii->ab", part.second[1:, 1:]), eigvals_only=True)
    return float(np.sqrt(squares[0]) / (2.0 * np.pi)), seconds


def main() -> int:
    """Print the table; 1 when scikit-fem misses the bar."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fine", action="store_true", help="a third, fine mesh, which takes a minute")
    given = parser.parse_args()
    expected, missed = closed_form(), 0
    print(f"closed form {expected:.3f} Hz")
    print(f"{'bricks':>14}{'MuJoCo / closed':>17}{'step us':>9}{'CPU s a s':>11}{'scikit-fem / closed':>21}{'CPU s':>7}")
    for bricks in (*BRICKS, FINE) if given.fine else BRICKS:
        with without_log_file():
            found, step, seconds = flex(bricks)
        ours, taken = cells(bricks)
        missed += abs(ours / expected - 1.0) > BAR
        name = " x ".join(map(str, bricks))
        numbers = f"{found / expected:17.3f}{1e6 * step:9.2f}{seconds / step:11.0f}{ours / expected:21.4f}{taken:7.2f}"
        print(f"{name:>14}{numbers}", flush=True)
    print(f"the bar is met: {'NO' if missed else 'yes'}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
