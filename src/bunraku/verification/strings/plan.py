"""A performance that physics carries out, as arrays: system, channels, motion, feedback, and the points looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Character, Frame, Pose
from bunraku.errors import BadInput
from bunraku.formats.poses import as_pose, of_pose
from bunraku.geometry.poses import compose
from bunraku.mechanics.dynamics.points import Points
from bunraku.mechanics.dynamics.system import System
from bunraku.mechanics.integrators.variational import VariationalIntegrator
from bunraku.mechanics.systems.character_system import character_system
from bunraku.motion import Performance


@dataclass(frozen=True)
class StringPlan:
    """What is to happen, in the coordinates of ``system`` (nq = nd + nk), with N steps of dt.

    ``q`` (N + 1, nq): the predicted motion; ``u`` (N, nu): the force inputs over each step; ``k`` (N + 1, nk): the prescribed
    coordinates at the nodes; ``p`` (N + 1, nd): momenta of the variational integrator; ``commands`` (N, nu + nk), ``gains``
    (N, nu + nk, nq + nd) and ``states`` (N + 1, nq + nd): the feedback, no gain where there is none. ``points``: frames of the
    character and hooks of its strings; also the centres of mass of its bodies if it has no frames.
    """

    character: Character
    system: System
    integrator: VariationalIntegrator
    points: Points
    q: Array
    p: Array
    u: Array
    k: Array
    states: Array
    commands: Array
    gains: Array | None

    @property
    def dt(self) -> float:
        """The step [s]."""
        return self.integrator.dt

    @property
    def steps(self) -> int:
        """Number of steps N."""
        return len(self.u)

    @property
    def predicted(self) -> Array:
        """The points (N + 1, points, 3) [m] of the predicted motion."""
        return self.points.positions(self.q)


def plan_of(performance: Performance) -> StringPlan:
    """The plan of a performance that physics carries out; BadInput for one of servos."""
    if not performance.dynamic:
        raise BadInput(f"the performance of {performance.clip_name!r} is one of servos; there are no strings or torques to follow")
    if len(performance.motion.values) < 3:
        raise BadInput(f"the performance of {performance.clip_name!r} has fewer than 3 samples; there is nothing to follow")
    character = performance.character
    marked, names = _with_points(character)
    torques = any(channel.kind == "torque" for channel in performance.channels)
    system = character_system(marked, torques=torques)
    integrator = VariationalIntegrator(system, 1.0 / performance.rate)
    q = np.column_stack([performance.motion.column(name) for name in system.names])
    channels = {channel.name: channel for channel in performance.channels if channel.kind == "torque"}
    alias = {motor.name: motor.coordinate for motor in character.motors}
    force = [name if name in channels else alias.get(name, name) for name in system.inputs]
    u = np.column_stack(
        [channels[n].values[:-1] if n in channels else np.zeros(len(q) - 1) for n in force] or [np.zeros((len(q) - 1, 0))]
    )
    k = performance.commands([system.names[i] for i in system.kinematic])
    commands, feedback = np.hstack([u, k[1:]]), performance.feedback
    p = np.array([integrator.momentum(q[max(j - 1, 0)], q[j]) for j in range(len(q))])
    gains = None
    if feedback is not None:
        _fits(feedback.coordinates, system.names, "coordinates")
        _fits(feedback.momenta, [system.names[i] for i in system.dynamic], "momenta")
        inputs = [*force, *(system.names[i] for i in system.kinematic)]
        stray = next((name for name in feedback.inputs if name not in inputs), None)
        if stray is not None:
            raise BadInput(
                f"the feedback corrects {stray!r}, which is no input of {character.name!r}; there are {', '.join(inputs[:12])}"
            )
        gains = np.zeros((len(u), len(inputs), system.nq + system.nd))
        place = [inputs.index(name) for name in feedback.inputs]
        gains[:, place] = feedback.gains
        commands = commands.copy()
        commands[:, place] = feedback.commands
        p = feedback.states[:, system.nq :]
    states = np.hstack([q, p]) if feedback is None else feedback.states
    return StringPlan(
        character, system, integrator, Points(system, names), q, np.ascontiguousarray(p), u, k, states, commands, gains
    )


def _fits(given: tuple[str, ...], expected: Sequence[str], what: str) -> None:
    names = tuple(expected)
    if given != names:
        raise BadInput(
            f"the feedback's {what} are {', '.join(given[:8])}; the character's are {', '.join(names[:8])}, in this order"
        )


def _with_points(character: Character) -> tuple[Character, tuple[str, ...]]:
    """The character with a frame at each hook that is none yet, or at its bodies' centres of mass, and the points to look at."""
    frames = {frame.name: frame for frame in character.frames}
    added = []
    for string in character.strings:
        if string.hook in frames and not any(string.point):
            continue
        on = frames.get(string.hook, Frame(name=string.hook, body=string.hook))
        pose = as_pose(compose(of_pose(on.pose), of_pose(Pose(position=string.point))))
        added.append(Frame(name=f"{string.name}.hook", body=on.body, pose=pose))
    if not frames:
        heavy = [body for body in character.bodies if body.mass > 0.0]
        added += [Frame(name=f"{body.name}.center", body=body.name, pose=Pose(position=body.center_of_mass)) for body in heavy]
    points = (*character.frames, *added)
    return character.changed(frames=points), tuple(frame.name for frame in points)
