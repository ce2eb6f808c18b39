"""Make the pictures of the README and the documentation: `MUJOCO_GL=osmesa python scripts/make_pictures.py [NAME...]` (or egl).

Characters are drawn by MuJoCo, curves by matplotlib. Names: not-done-yet, chicken-dance, marionette-show; all if none is given.
The dance takes some minutes.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from bunraku.formats.mjcf import coordinates_to_qpos, write_mjcf
from bunraku.formats.registry import read_character, read_clip
from bunraku.mechanics.driven_measures import replayed
from bunraku.mechanics.points import Points
from bunraku.motion import MotionLimits
from bunraku.performers.choreography.choreographer import Choreographer
from bunraku.performers.marionette.baselines import best_quasi_static
from bunraku.performers.marionette.performer import MarionettePerformer
from bunraku.performers.marionette.problem import cut_wish, state_puppet_problem
from bunraku.performers.performer import make_performer
from bunraku.retargeting import retarget

STATIC = Path(__file__).resolve().parents[1] / "docs" / "static"
CLIP = "not-done-yet"
SKY = '<asset><texture type="skybox" builtin="gradient" rgb1="0.93 0.95 0.97" rgb2="1 1 1" width="64" height="64"/></asset>'
BRIGHT = (
    '<visual><headlight ambient="0.45 0.45 0.45" diffuse="0.4 0.4 0.4" specular="0 0 0"/><quality offsamples="8"/></visual>'
    '<worldbody><light directional="true" pos="2 2 4" dir="-0.7 -0.4 -1" diffuse="0.35 0.35 0.35" castshadow="false"/></worldbody>'
)
RED, BLUE, GREY = "#c1272d", "#2b5c8a", "#8a8f98"
GHOST = np.array([0.17, 0.36, 0.62, 0.30], dtype=np.float32)
STRING = np.array([0.25, 0.27, 0.30, 1.0], dtype=np.float32)


def robot_frames(performance, times, width=300, height=400):
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


class PuppetStage:
    """Draws a puppet on its strings at configurations of its system, and another one as a ghost."""

    def __init__(self, character, system, width=520, height=1040):
        import mujoco

        text = write_mjcf(character, free_base_as_quaternion=False, floor=False, actuators=False)
        self.model = mujoco.MjModel.from_xml_string(text.replace("</mujoco>", SKY + BRIGHT + "</mujoco>"))
        self.model.vis.global_.offwidth, self.model.vis.global_.offheight = width, height
        self.renderer = mujoco.Renderer(self.model, height, width)
        self.option = mujoco.MjvOption()
        self.option.flags[mujoco.mjtVisFlag.mjVIS_TENDON] = 0
        self.option.sitegroup[:] = 0
        self.camera = mujoco.MjvCamera()
        self.camera.lookat[:] = (0.0, 0.0, 0.82)
        self.camera.distance, self.camera.azimuth, self.camera.elevation = 2.55, 168, -3
        names = [system.names[i] for i in system.dynamic]
        self.columns, self.places = system.dynamic, [int(self.model.joint(name).qposadr[0]) for name in names]
        self.ends = [Points(system, (string.hook, string.carriage)) for string in character.strings]

    def draw(self, q, ghost):
        """The picture (height, width, 3) of the configuration q (nq,) over that of ``ghost`` (nq,)."""
        import mujoco

        solid, pale = mujoco.MjData(self.model), mujoco.MjData(self.model)
        for state, at in ((solid, q), (pale, ghost)):
            state.qpos[self.places] = at[self.columns]
            mujoco.mj_forward(self.model, state)
        scene = self.renderer.scene
        self.renderer.update_scene(solid, self.camera, self.option)
        for ends in self.ends:
            self._line(*ends.positions(q[None])[0])
        first = scene.ngeom
        mujoco.mjv_addGeoms(self.model, pale, self.option, mujoco.MjvPerturb(), mujoco.mjtCatBit.mjCAT_DYNAMIC, scene)
        for geom in scene.geoms[first : scene.ngeom]:
            geom.rgba[:], geom.transparent, geom.emission, geom.specular = GHOST, 1, 0.5, 0.0
        scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = 0
        return self.renderer.render().copy()

    def _line(self, hook, carriage):
        """A string, and the carriage as a small dark box."""
        import mujoco

        scene = self.renderer.scene
        for kind, size, at in (
            (mujoco.mjtGeom.mjGEOM_CAPSULE, np.zeros(3), None),
            (mujoco.mjtGeom.mjGEOM_BOX, [0.018, 0.018, 0.009], carriage),
        ):
            geom = scene.geoms[scene.ngeom]
            place = np.zeros(3) if at is None else at
            mujoco.mjv_initGeom(geom, kind, np.array(size), place, np.eye(3).ravel(), STRING)
            if at is None:
                mujoco.mjv_connector(geom, kind, 0.0016, hook, carriage)
            scene.ngeom += 1


def strip(figure, grid, pictures, titles):
    """Pictures side by side without frames."""
    for i, (picture, title) in enumerate(zip(pictures, titles, strict=True)):
        axis = figure.add_subplot(grid[i])
        axis.imshow(picture, interpolation="antialiased")
        axis.set_title(title, fontsize=8, pad=3)
        axis.axis("off")


def plain(axis, text, last):
    """A small axis with its label."""
    axis.set_ylabel(text, fontsize=8)
    axis.tick_params(labelsize=8)
    axis.spines[["top", "right"]].set_visible(False)
    axis.set_xlim(0.0, last)


def dance(performance=None):
    """The whole dance, wish as a ghost; how far points are off, with and without optimal control; what the strings carry."""
    from matplotlib import pyplot

    character, rate = read_character("marionette"), 100.0
    clip = retarget(read_clip("chicken-dance"), character, rate=rate).clip
    performance = performance or MarionettePerformer(max_iterations=200).perform(character, clip)
    problem = state_puppet_problem(character, cut_wish(clip.joints, rate=rate))
    system, q, points = problem.system, performance.motion.values, problem.points
    rest = problem.rest[: system.nq]
    slow = best_quasi_static(character, system, problem.q, points, np.full(len(points.names), 100.0), rate=rate, q_start=rest)
    times = (0.9, 2.0, 2.75, 3.2, 3.8, 4.4, 5.2, 6.3)
    stage = PuppetStage(character, system)
    pictures = [stage.draw(q[round(t * rate)], problem.q[round(t * rate)]) for t in times]
    figure = pyplot.figure(figsize=(10, 4.9), layout="constrained")
    top, bottom = figure.add_gridspec(2, 1, height_ratios=(2.45, 1.0))
    strip(figure, top.subgridspec(1, len(times), wspace=0.0), pictures, [f"{t:.2f} s" for t in times])
    error, pull = (figure.add_subplot(cell) for cell in bottom.subgridspec(1, 2))
    t = np.arange(len(q)) / rate
    for motion, color, name in ((slow.q, BLUE, "from rest to rest"), (q, RED, "performance")):
        off = np.linalg.norm(points.positions(motion) - problem.aims, axis=2)
        error.plot(t, 100 * np.sqrt((off**2).mean(axis=1)), color=color, lw=1.3, label=name)
    tensions = replayed(system, q, rate, np.zeros((len(t) - 1, 0))).tensions
    pull.semilogy(t[1:], tensions, color=RED, lw=0.8)
    pull.axhline(0.1, ls="--", color="#444444", lw=0.9)
    plain(error, "hands, knees, head\noff the wish [cm]", t[-1])
    plain(pull, "tension of\nsix strings [N]", t[-1])
    error.set_ylim(0.0, None)
    error.legend(fontsize=8, frameon=False, loc="upper left")
    pull.annotate("margin", (0.05, 0.11), fontsize=7, va="bottom")
    for axis in (error, pull):
        axis.set_xlabel("time [s]", fontsize=8)
    return figure


def show():
    """The show at the moments of its score, equal spacing as a ghost; the times, and what they do."""
    from matplotlib import pyplot

    character, clip = read_character("marionette"), read_clip("marionette-show")
    artist = Choreographer()
    found = artist.choreograph(character, clip)
    problem = state_puppet_problem(character, found.clip.joints)
    system, modes = problem.system, clip.modes
    stage = PuppetStage(character, system)

    def at(timing, time):
        q, k = problem.rest[: system.nq].copy(), round(time / artist.dt)
        q[system.dynamic], q[system.kinematic] = timing.q[k], timing.carriages[k]
        return q

    accents = [(a.time, a.primitive.removeprefix("puppet-")) for a in modes.accents]
    moments = [*accents[:4], (4.2, "wave"), accents[4], (7.3, "bow"), accents[5]]
    pictures = [stage.draw(at(found.best, time), at(found.equal, time)) for time, _ in moments]
    figure = pyplot.figure(figsize=(10, 4.9), layout="constrained")
    top, bottom = figure.add_gridspec(2, 1, height_ratios=(2.45, 1.0))
    strip(figure, top.subgridspec(1, len(moments), wspace=0.0), pictures, [f"{what}, {time:.1f} s" for time, what in moments])
    axes = [figure.add_subplot(cell) for cell in bottom.subgridspec(1, 3)]
    watched = (("l_hip.y", "left hip [rad]"), ("r_shoulder.z", "right arm [rad]"), ("base.tz", "height [m]"))
    names = found.clip.joints.names
    for axis, (joint, text) in zip(axes, watched, strict=True):
        for timing, color, name in ((found.equal, BLUE, "equal times"), (found.best, RED, "best times")):
            t = artist.dt * np.arange(len(timing.q))
            axis.plot(t, timing.q[:, names.index(joint)], color=color, lw=1.3, label=name)
            for time in timing.times:
                axis.axvline(time, color=color, lw=0.8, ls=":")
        for accent in modes.accents:
            if joint in accent.coordinates:
                curves = modes.primitive(accent.primitive).curves
                axis.plot(
                    accent.time, np.interp(modes.moment(accent), curves.times, curves.column(joint)), "o", color="#222222", ms=5
                )
        plain(axis, text, modes.duration)
        axis.set_xlabel("time [s]", fontsize=8)
    axes[0].legend(fontsize=8, frameon=False)
    return figure


def robot():
    """A protest too fast for the motors: the strip above the two curves."""
    from matplotlib import pyplot

    character, clip = read_character("nao"), read_clip(CLIP)
    performance = make_performer("speech", {"acceleration": 80.0}).perform(character, clip)
    control = make_performer("stretch").perform(character, clip)
    strokes = [word for word in clip.words if word.stroke is not None and word.stroke > 2.0]
    pictures = robot_frames(performance, [word.stroke for word in strokes])
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
    drawn = (("wish", performance.wish, GREY), ("stretched control", control.positions(), BLUE))
    for name, curves, color in (*drawn, ("performance", performance.positions(), RED)):
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
    return figure


PICTURES = {"not-done-yet": robot, "chicken-dance": dance, "marionette-show": show}


def main() -> None:
    """Draw the pictures that were asked for and save them."""
    import matplotlib

    matplotlib.use("Agg")
    STATIC.mkdir(exist_ok=True)
    for name in sys.argv[1:] or PICTURES:
        PICTURES[name]().savefig(STATIC / f"{name}.png", dpi=110 if name == CLIP else 150, metadata={"Software": None})


if __name__ == "__main__":
    main()
