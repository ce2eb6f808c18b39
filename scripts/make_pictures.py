"""Make the pictures of the README and the documentation: `MUJOCO_GL=osmesa python scripts/make_pictures.py` (or egl).

The robot is drawn by MuJoCo at the strokes of the clip, the curves by the project's own plots.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bunraku.formats.mjcf import coordinates_to_qpos, write_mjcf
from bunraku.formats.registry import read_character, read_clip
from bunraku.motion import MotionLimits
from bunraku.performers.performer import make_performer

STATIC = Path(__file__).resolve().parents[1] / "docs" / "static"
CLIP = "not-done-yet"
SKY = '<asset><texture type="skybox" builtin="gradient" rgb1="0.93 0.95 0.97" rgb2="1 1 1" width="64" height="64"/></asset>'


def frames(performance, times, width=300, height=400):
    """The performed character at some times, drawn by MuJoCo."""
    import mujoco

    character = performance.character
    model = mujoco.MjModel.from_xml_string(write_mjcf(character).replace("</mujoco>", SKY + "</mujoco>"))
    model.vis.global_.offwidth, model.vis.global_.offheight = width, height
    state, camera = mujoco.MjData(model), mujoco.MjvCamera()
    camera.lookat[:] = (0.02, 0.0, 0.29)
    camera.distance, camera.azimuth, camera.elevation = 1.05, 165, -8
    renderer = mujoco.Renderer(model, height, width)
    pictures = []
    for time in times:
        q = performance.motion.values[round(time * performance.rate)]
        state.qpos[:] = coordinates_to_qpos(character, model, q[None])[0]
        mujoco.mj_forward(model, state)
        renderer.update_scene(state, camera)
        renderer.scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = 0
        pictures.append(renderer.render().copy())
    renderer.close()
    return pictures


def main() -> None:
    """Draw the strip above the two curves and save it."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    character, clip = read_character("nao"), read_clip(CLIP)
    performance = make_performer("speech", {"acceleration": 80.0}).perform(character, clip)
    control = make_performer("stretch").perform(character, clip)
    strokes = [word for word in clip.words if word.stroke is not None and word.stroke > 2.0]
    pictures = frames(performance, [word.stroke for word in strokes])
    figure = pyplot.figure(figsize=(10, 6.2), layout="constrained")
    grid = figure.add_gridspec(3, len(strokes), height_ratios=(2.4, 1.2, 1.2))
    for i, (word, picture) in enumerate(zip(strokes, pictures, strict=True)):
        axis = figure.add_subplot(grid[0, i])
        axis.imshow(picture)
        axis.set_title(f"“{word.text}”  {word.stroke:.2f} s", fontsize=9)
        axis.axis("off")
    joint = "RShoulderPitch"
    angle, speed = figure.add_subplot(grid[1, :]), figure.add_subplot(grid[2, :])
    limit = MotionLimits.of(character).chosen((joint,)).velocity[0]
    drawn = (("wish", performance.wish, "#8a8f98"), ("stretched control", control.positions(), "#2b5c8a"))
    for name, curves, color in (*drawn, ("performance", performance.positions(), "#c1272d")):
        angle.plot(curves.times, np.degrees(curves.column(joint)), color=color, label=name, lw=1.4)
        speed.plot(curves.times[1:], np.diff(curves.column(joint)) * curves.rate, color=color, lw=1.4)
    for sign in (-1, 1):
        speed.axhline(sign * limit, ls="--", color="#444", lw=0.9)
    for axis, text in ((angle, f"{joint} [°]"), (speed, "velocity [rad/s]")):
        axis.set_ylabel(text, fontsize=8)
        axis.tick_params(labelsize=8)
        axis.spines[["top", "right"]].set_visible(False)
        axis.set_xlim(2.2, performance.duration)
        for phrase in clip.phrases:
            axis.axvspan(phrase.start, phrase.end, color="#d8c9a8", alpha=0.35, lw=0)
    speed.annotate("motor limit", (2.22, limit), fontsize=7, va="bottom")
    angle.legend(fontsize=8, frameon=False, ncols=3, loc="lower left", bbox_to_anchor=(0.0, 0.95))
    speed.set_xlabel("time [s]; shaded: spoken phrases", fontsize=8)
    STATIC.mkdir(exist_ok=True)
    figure.savefig(STATIC / "not-done-yet.png", dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    main()
