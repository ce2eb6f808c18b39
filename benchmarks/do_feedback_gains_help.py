"""Do feedback gains help? Rods that are 5 % softer or stiffer than stated, and pushed: open loop against feedback.

The plan is made for the rods as stated, with feedback gains (option ``feedback``) at the planning step of 2 ms. Simulated: rods as
stated, of 0.95 and 1.05 of the stiffness, each without and with a push of the tip (0.02 N.s at once, in the plane of motion), in
the pause of the one-rod and after the stop of the two-rods. The feedback sees the whole modal state; a real one would estimate it
from markers or strain gauges; and an instant push makes it ask the motor for an acceleration beyond its limit (last columns: the
most it adds to the angle, and speed and acceleration of the motor). Of the second after the push (or the same second without one):
RMS distance of all tracked places from where the plan wants them, and what of it is vibration, about its own mean; the rest is sag
that the motors cannot undo. Bar: with a push or a wrong stiffness feedback at least halves the vibration and does not add to the
distance.

Run: python benchmarks/do_feedback_gains_help.py
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

from _flexible import Case, case, rms
from bunraku.mechanics.flexible.places import place_of, tracked_places
from bunraku.mechanics.flexible.system import FlexibleCharacterSystem, flexible_system
from bunraku.mechanics.integrators.driven.outputs import OutputTargets, track
from bunraku.mechanics.integrators.driven.rest import rest_start
from bunraku.mechanics.integrators.variational import VariationalIntegrator
from bunraku.motion.feedback import Feedback
from bunraku.performers.vibration.problem import stiffened

PUSHED = {"one-rod": 1.0, "two-rods": 1.8}
"""When [s]."""
IMPULSE = np.array([0.02, 0.0, 0.0])
"""Of the push [N.s], along x, in the plane of the motion."""
WINDOW, RATIO_THRESHOLD = 1.0, 2.0
STIFFNESS = (0.95, 1.0, 1.05)


@dataclass(frozen=True)
class Run:
    """The places (N + 1, m, 3) of a simulated motion and the motors (N, nk) that it was given."""

    places: np.ndarray
    motors: np.ndarray


def simulated(model: FlexibleCharacterSystem, feedback: Feedback, *, closed: bool, push: int | None) -> Run:
    """The motion from rest under the plan's commands, corrected by its gains if ``closed``; pushed at step ``push``."""
    system, N = model.system, feedback.steps
    integrator = VariationalIntegrator(system, 1.0 / feedback.rate)
    names = tracked_places(model.character)
    outputs = track(system, [place_of(model.character, name) for name in names])
    start, _ = rest_start(system, feedback.states[0, system.kinematic], model.home)
    state = integrator.initial(start, start)
    q, p, paths, motors = state.q, state.p, [], []
    for first, last in ((0, N),) if push is None else ((0, push), (push, N)):
        if first:
            here = np.ascontiguousarray(q[None])
            _, D = outputs.jacobian(q, outputs.observe(here))
            p = p + (D[3 * names.index("tip") :][:3].T @ IMPULSE)[system.dynamic]
        part = slice(first, last)
        law = {"reference": feedback.states[first : last + 1], "gain": feedback.gains[part]} if closed else {}
        run = integrator.rollout(q, p, np.zeros((last - first, 0)), feedback.commands[part], **law)
        if not run.status.good:
            raise SystemExit(f"the simulation ended after {first + run.steps} of {N} steps")
        paths.append(run.q[:-1] if last < N else run.q)
        motors.append(run.q[1:, system.kinematic])
        q, p = run.q[-1], run.p[-1]
    return Run(outputs.observe(np.concatenate(paths)).positions, np.concatenate(motors))


def targets(one: Case, model: FlexibleCharacterSystem) -> OutputTargets:
    """Where the plan wants the places: at rest under the wish, rods as stated, at every step."""
    scenario = one.problem().nominal
    names = tracked_places(one.character)
    return track(model.system, [place_of(one.character, name) for name in names]).observe(np.ascontiguousarray(scenario.rest.q))


def distance(errors: np.ndarray) -> float:
    """Root of the mean squared distance [m] of errors (n, m, 3) in the plane of the motion, x and z."""
    return rms(np.linalg.norm(errors[..., [0, 2]], axis=-1))


def examine(name: str) -> bool:
    """Print the rows of one character; whether the bar is met."""
    one = case(name)
    performance, _ = one.perform(feedback=True)
    feedback = performance.feedback
    assert feedback is not None
    stated = flexible_system(one.character)
    aim = targets(one, stated).positions[: feedback.steps + 1]
    dt, moment = 1.0 / feedback.rate, round(PUSHED[name] * feedback.rate)
    after = slice(moment, moment + round(WINDOW / dt))
    met = True
    for factor in STIFFNESS:
        model = stated if factor == 1.0 else stiffened(stated, factor)
        for push in (None, moment):
            runs = [simulated(model, feedback, closed=closed, push=push) for closed in (False, True)]
            off = [run.places - aim[: len(run.places)] for run in runs]
            late, whole = ([1e3 * distance(each[when]) for each in off] for when in (after, slice(None)))
            sways = [1e3 * distance(each[after] - each[after].mean(axis=0)) for each in off]
            added = runs[1].motors - runs[0].motors
            speed, bend = (np.abs(np.diff(runs[1].motors, n, axis=0)).max() / dt**n for n in (1, 2))
            bound = factor != 1.0 or push is not None
            good = not bound or (sways[0] >= RATIO_THRESHOLD * sways[1] and late[1] <= late[0])
            met = met and good
            print(
                f"{name:10}{factor:6.2f}{'push' if push else '':>6}{sways[0]:11.3f}{sways[1]:9.3f}{sways[0] / sways[1]:7.1f}"
                f"{late[0]:11.3f}{late[1]:9.3f}{whole[0]:11.3f}{whole[1]:9.3f}"
                f"{np.degrees(np.abs(added).max()):11.2f}{speed:8.1f}{bend:9.0f}"
                f"{'' if good else '   BELOW ITS BAR'}",
                flush=True,
            )
    return met


def main() -> int:
    """Print the table; 1 when the bar is missed."""
    print(
        f"{'RMS mm':10}{'stiff':>6}{'':6}{'sway, open':>11}{'closed':>9}{'ratio':>7}{'off, open':>11}{'closed':>9}"
        f"{'whole, open':>12}{'closed':>8}"
        f"{'motor deg':>11}{'rad/s':>8}{'rad/s^2':>9}"
    )
    met = [examine(name) for name in PUSHED]
    print(f"feedback at least halves the vibration that a push or a wrong stiffness leaves: {'yes' if all(met) else 'NO'}")
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
