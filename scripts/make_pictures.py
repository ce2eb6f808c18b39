"""Make the pictures of the README and the documentation: `MUJOCO_GL=osmesa python scripts/make_pictures.py [NAME...]` (or egl).

Characters are drawn by MuJoCo, curves by matplotlib. Names: not-done-yet, chicken-dance, marionette-show,
one-rod, legs-and-wheels; all if none is given.
The dance takes some minutes.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from bunraku.formats.mjcf_coordinates import coordinates_to_qpos
from bunraku.formats.mjcf_write import write_mjcf
from bunraku.formats.registry import read_character, read_clip
from bunraku.mechanics.centroidal.kinematics import kinematics
from bunraku.mechanics.centroidal.model import centroidal_model
from bunraku.mechanics.dynamics.points import Points
from bunraku.mechanics.integrators.driven.outputs import track
from bunraku.mechanics.measures.driven_motion import replayed
from bunraku.motion import MotionLimits
from bunraku.performers.choreography.choreographer import Choreographer
from bunraku.performers.marionette.baselines import best_quasi_static
from bunraku.performers.marionette.performer import MarionettePerformer
from bunraku.performers.marionette.problem import cut_wish, state_puppet_problem
from bunraku.performers.performer import make_performer
from bunraku.retargeting.retarget import retarget
from bunraku.verification.flexible.judge import judged_again

STATIC = Path(__file__).resolve().parents[1] / "docs" / "static"
CLIP = "not-done-yet"
SKY = '<asset><texture type="skybox" builtin="gradient" rgb1="0.93 0.95 0.97" rgb2="1 1 1" width="64" height="64"/></asset>'
PAPER = (
    '<asset><texture type="skybox" builtin="flat" rgb1="1 1 1" rgb2="1 1 1" width="8" height="8"/></asset>'
    '<visual><headlight ambient="0.35 0.35 0.35" diffuse="0.3 0.3 0.3" specular="0 0 0"/><quality offsamples="8"/></visual>'
    '<worldbody><light directional="true" pos="2 2 4" dir="-0.8 0.7 -0.8" diffuse="0.55 0.55 0.55" castshadow="false"/></worldbody>'
)
RED, BLUE, GREY = "#c1272d", "#2b5c8a", "#8a8f98"
GHOST = np.array([176, 203, 232])
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
    """Draws a puppet on its strings at configurations of its system, and behind it another one as a ghost."""

    def __init__(self, character, system, width=640, height=1280):
        import mujoco

        text = write_mjcf(character, free_base_as_quaternion=False, floor=False, actuators=False)
        self.model = mujoco.MjModel.from_xml_string(text.replace("</mujoco>", PAPER + "</mujoco>"))
        self.model.vis.global_.offwidth, self.model.vis.global_.offheight = width, height
        self.model.vis.global_.fovy = 15
        self.renderer = mujoco.Renderer(self.model, height, width, max_geom=200)
        self.option = mujoco.MjvOption()
        self.option.flags[mujoco.mjtVisFlag.mjVIS_TENDON] = 0
        self.option.sitegroup[:] = 0
        self.camera = mujoco.MjvCamera()
        self.camera.lookat[:] = (0.0, 0.0, 0.965)
        self.camera.distance, self.camera.azimuth, self.camera.elevation = 7.2, 160, -2
        names = [system.names[i] for i in system.dynamic]
        self.columns, self.places = system.dynamic, [int(self.model.joint(name).qposadr[0]) for name in names]
        self.ends = [Points(system, (string.hook, string.carriage)) for string in character.strings]

    def draw(self, q, ghost):
        """The picture (height, width, 3) of the configuration q (nq,) before that of ``ghost`` (nq,)."""
        back = self._render(ghost)
        self._scene(q)
        for ends in self.ends:
            self._string(*ends.positions(q[None])[0])
        front = self.renderer.render().copy()
        seen, pale = ((picture < 250).any(axis=2, keepdims=True) for picture in (front, back))
        return np.where(seen, front, np.where(pale, GHOST, 255)).astype(np.uint8)

    def _render(self, q):
        self._scene(q)
        return self.renderer.render().copy()

    def _scene(self, q):
        import mujoco

        state = mujoco.MjData(self.model)
        state.qpos[self.places] = q[self.columns]
        mujoco.mj_forward(self.model, state)
        self.renderer.update_scene(state, self.camera, self.option)
        self.renderer.scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = 0

    def _string(self, hook, carriage):
        """A line, and the carriage as a small dark box at its upper end."""
        import mujoco

        scene, line, box = self.renderer.scene, mujoco.mjtGeom.mjGEOM_CAPSULE, mujoco.mjtGeom.mjGEOM_BOX
        for kind, size, place in ((line, np.zeros(3), hook), (box, np.array([0.02, 0.02, 0.008]), carriage)):
            geom = scene.geoms[scene.ngeom]
            mujoco.mjv_initGeom(geom, kind, size, place, np.eye(3).ravel(), STRING)
            if kind == line:
                mujoco.mjv_connector(geom, kind, 0.0017, hook, carriage)
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
    performance = performance or MarionettePerformer().perform(character, clip)
    problem = state_puppet_problem(character, cut_wish(clip.joints, rate=rate))
    system, q, points = problem.system, performance.motion.values, problem.points
    rest = problem.rest[: system.nq]
    slow = best_quasi_static(character, system, problem.q, points, np.full(len(points.names), 100.0), rate=rate, q_start=rest)
    times = (1.3, 3.2, 3.8, 4.4, 5.2, 6.3)
    stage = PuppetStage(character, system, width=840)
    pictures = [stage.draw(q[round(t * rate)], problem.q[round(t * rate)]) for t in times]
    figure = pyplot.figure(figsize=(10, 4.7), layout="constrained")
    top, bottom = figure.add_gridspec(2, 1, height_ratios=(2.7, 1.35))
    strip(figure, top.subgridspec(1, len(times), wspace=0.0), pictures, [f"{t:.2f} s" for t in times])
    error, pull = (figure.add_subplot(cell) for cell in bottom.subgridspec(1, 2))
    t = np.arange(len(q)) / rate
    for motion, color, name in ((slow.q, BLUE, "from rest to rest"), (q, RED, "performance")):
        off = np.linalg.norm(points.positions(motion) - problem.targets, axis=2)
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
    moments = [*accents[:3], (4.1, "wave"), accents[4], (7.3, "bow"), accents[5]]
    pictures = [stage.draw(at(found.best, time), at(found.equal, time)) for time, _ in moments]
    figure = pyplot.figure(figsize=(10, 4.9), layout="constrained")
    top, bottom = figure.add_gridspec(2, 1, height_ratios=(2.9, 1.35))
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
    axes[2].legend(fontsize=8, frameon=False, loc="lower left")
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


def bent_rod(flexible, q):
    """The middle line (frames, points, 3) of the one-rod's rod in the configurations q (frames, nq)."""
    part = flexible.parts["rod"]
    nodes = part.whole.solid.mesh.nodes
    middle = np.flatnonzero(np.hypot(nodes[:, 0], nodes[:, 1]) < 1e-6)
    middle = middle[np.argsort(nodes[middle, 2])]
    shapes = part.reduction.shapes.reshape(len(part.reduction.shapes), -1, 3)[:, middle]
    local = nodes[middle] + np.einsum("fr,rni->fni", q[:, flexible.coordinates("rod")], shapes)
    hub = track(flexible.system, ["hub"]).observe(np.ascontiguousarray(q))
    return np.einsum("fij,fnj->fni", hub.rotations[:, 0], local) + hub.positions


def rod():
    """A rod that shall turn and stop, as wished and performed: many exposures on one plate, and the tip over time."""
    from matplotlib import pyplot

    performance = make_performer("vibration").perform(read_character("one-rod"), read_clip("tick"))
    flexible, judged = judged_again(performance)
    figure = pyplot.figure(figsize=(10, 3.5), layout="constrained")
    grid = figure.add_gridspec(2, 3, width_ratios=(1.0, 1.0, 1.9))
    sides = ((judged.before, "the wish, played as it is", BLUE), (judged.after, "performance", RED))
    spans = ((0.2, 0.75, 0.05, 0.35), (0.8, 2.2, 0.01, 0.07))  # from, to, every [s]; how dark
    for i, (error, title, color) in enumerate(sides):
        axis = figure.add_subplot(grid[:, i])
        dt = error.motion.dt
        for start, end, every, alpha in spans:
            for line in bent_rod(flexible, error.motion.q[round(start / dt) : round(end / dt) : round(every / dt)]):
                axis.plot(line[:, 0], line[:, 2], color=color, alpha=alpha, lw=1.2)
                axis.plot(*line[-1, ::2], "o", color=color, alpha=alpha, ms=7, mew=0)
        axis.plot(0.0, 0.06, "s", color="#33373d", ms=9)
        axis.set(aspect="equal", xlim=(-0.06, 0.46), ylim=(0.03, 0.79))
        axis.set_title(title, fontsize=9)
        axis.axis("off")
    tip, motor = figure.add_subplot(grid[0, 2]), figure.add_subplot(grid[1, 2])
    t = judged.after.times
    tip.plot(t, 100 * judged.targets.positions[:, 0, 0], color=GREY, lw=4, alpha=0.5, label="target")
    tip.plot(t, 100 * judged.before.seen.positions[:, 0, 0], color=BLUE, lw=1.1, label="the wish")
    tip.plot(t, 100 * judged.after.seen.positions[:, 0, 0], color=RED, lw=1.2, label="performance")
    motor.plot(performance.wish.times, np.degrees(performance.wish.values), color=BLUE, lw=1.1)
    motor.plot(performance.wish.times, np.degrees(performance.positions().values), color=RED, lw=1.2)
    for axis, text in ((tip, "tip, x [cm]"), (motor, "motor [°]")):
        plain(axis, text, t[-1])
    motor.set_xlabel("time [s]", fontsize=8)
    tip.legend(fontsize=8, frameon=False)
    return figure


def ground_frames(performance, times, width=400, height=320):
    """A character that goes over the ground at some times, the camera going along, drawn by MuJoCo."""
    import mujoco

    character = performance.character
    model = mujoco.MjModel.from_xml_string(write_mjcf(character, floor=False).replace("</mujoco>", PAPER + "</mujoco>"))
    model.vis.global_.offwidth, model.vis.global_.offheight = width, height
    model.vis.global_.fovy = 22
    state, camera = mujoco.MjData(model), mujoco.MjvCamera()
    camera.distance, camera.azimuth, camera.elevation = 1.0, 215, -20
    renderer = mujoco.Renderer(model, height, width)
    pictures = []
    for time in times:
        q = performance.motion.values[round(time * performance.rate)]
        state.qpos[:] = coordinates_to_qpos(character, model, q[None])[0]
        mujoco.mj_forward(model, state)
        camera.lookat[:] = (q[0], q[1], 0.09)
        renderer.update_scene(state, camera)
        renderer.scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = 0
        pictures.append(renderer.render().copy())
    renderer.close()
    return pictures


def tracks(axis, performance):
    """Paths of the contact points (drawn where they are on the ground) and of the centre of mass, from above."""
    model = centroidal_model(performance.character)
    seen = kinematics(model, np.column_stack([performance.motion.column(name) for name in model.names]))
    for j in range(model.n_tips):
        e = seen.contact[:, j]
        on = e[:, 2] < 1e-3
        axis.plot(*(np.where(on, 100.0 * e[:, a], np.nan) for a in (0, 1)), color=BLUE, lw=1.3, solid_capstyle="round")
    axis.plot(100.0 * seen.com[:, 0], 100.0 * seen.com[:, 1], color=RED, lw=1.0, ls=(0, (4, 2)))
    axis.set(aspect="equal", anchor="C")
    axis.tick_params(labelsize=7)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)


GOING = (
    ("swizzlebot", "swizzle", "swizzle on passive wheels"),
    ("agilebot", "slalom", "slalom on driven wheels"),
    ("skatebot", "skate", "skating, two wheels a foot"),
    ("walker", "crawl", "a crawl on ball feet"),
)


def going():
    """Four robots, four moments of a cycle each, and the tracks of their wheels and feet from above."""
    from matplotlib import pyplot

    figure = pyplot.figure(figsize=(10, 5.4), layout="constrained")
    grid = figure.add_gridspec(len(GOING), 5, width_ratios=(1.0, 1.0, 1.0, 1.0, 1.9))
    for i, (name, clip, title) in enumerate(GOING):
        performance = make_performer("locomotion").perform(read_character(name), read_clip(clip))
        period = performance.certificate.figures["period_s"]
        times = [(0.5 + 0.25 * k) * period for k in range(4)]
        for k, picture in enumerate(ground_frames(performance, times)):
            axis = figure.add_subplot(grid[i, k])
            axis.imshow(picture)
            axis.axis("off")
            if k == 0:
                axis.set_title(title, fontsize=9, loc="left")
        axis = figure.add_subplot(grid[i, 4])
        tracks(axis, performance)
        if i == len(GOING) - 1:
            axis.set_xlabel("from above [cm]", fontsize=8)
    return figure


PICTURES = {"not-done-yet": robot, "chicken-dance": dance, "marionette-show": show, "one-rod": rod, "legs-and-wheels": going}


def main() -> None:
    """Draw the pictures that were asked for and save them."""
    import matplotlib

    matplotlib.use("Agg")
    STATIC.mkdir(exist_ok=True)
    for name in sys.argv[1:] or PICTURES:
        PICTURES[name]().savefig(STATIC / f"{name}.png", dpi=110 if name == CLIP else 150, metadata={"Software": None})


if __name__ == "__main__":
    main()
