"""How fast is a picture? CPU time of one picture of a film, drawn by our rasterizer, against matplotlib's triangles.

NAO's solids (19,080 triangles) with shadows, ground and four samples a pixel, 640 x 360, as `bunraku render` draws them, alone and
with the see-through target over them. The same triangles by matplotlib's Poly3DCollection, shaded, of that size, in this process.
CPU time of the process, the least of several. Bar: 20 ms a picture on an idle machine.

Run: python benchmarks/how_fast_is_a_picture.py
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from bunraku.formats.registry import read_character
from bunraku.motion import JointCurves
from bunraku.stage.figure.motion import DrawnMotion, drawn_curves
from bunraku.stage.picture.shot import Shot, arranged

RUNS = 30
BAR = 20.0


def waving() -> DrawnMotion:
    """NAO, all of whose joints move, for a second."""
    character = read_character("nao")
    rng = np.random.default_rng(1)
    t = np.arange(31)[:, None] / 30.0
    speed, phase = rng.uniform(3.0, 9.0, (2, 1, len(character.driven)))
    return drawn_curves(character, JointCurves(character.driven, 30.0, 0.3 * np.sin(speed * t + phase)))


def least(function: Callable[[], object], runs: int) -> float:
    """The least CPU time [ms] of several runs."""
    found = []
    for _ in range(runs):
        start = time.process_time()
        function()
        found.append(time.process_time() - start)
    return 1e3 * min(found)


def by_matplotlib(scene: Shot) -> Callable[[], object]:
    """The same triangles drawn by matplotlib."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    def draw() -> object:
        figure = Figure(figsize=(6.4, 3.6), dpi=100)
        canvas = FigureCanvasAgg(figure)
        axis = figure.add_subplot(projection="3d")
        shown = scene.solid.at(0.5)
        colors = np.column_stack([shown.colors, np.ones(len(shown.faces))])
        axis.add_collection3d(Poly3DCollection(shown.points[shown.faces], facecolors=colors, shade=True))
        axis.set(xlim=(-0.3, 0.3), ylim=(-0.3, 0.3), zlim=(0.0, 0.6))
        canvas.draw()
        return canvas

    return draw


def main() -> None:
    """Print the table."""
    motion = waving()
    alone, both = arranged(motion), arranged(motion, motion)
    count = len(alone.solid.at(0.0).faces)
    alone.picture(0.0), both.picture(0.0)  # compiled
    ours, haunted = least(lambda: alone.picture(0.5), RUNS), least(lambda: both.picture(0.5), RUNS)
    theirs = least(by_matplotlib(alone), 2)
    print(f"{count} triangles, 640 x 360, CPU ms a picture")
    print(f"ours                 {ours:8.1f}   bar {BAR:g}: {'holds' if ours <= BAR else 'MISSED (is the machine idle?)'}")
    print(f"ours with a target   {haunted:8.1f}")
    print(f"matplotlib           {theirs:8.1f}   {theirs / ours:.0f} times ours")


if __name__ == "__main__":
    main()
