"""Does the character come back? Starts pushed away from the plan, carried out with the performance's feedback."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.mechanics.dynamics.initial import make_consistent
from bunraku.mechanics.systems.marionette import string_rows
from bunraku.motion import Performance
from bunraku.optimization.monitor import SILENT, Event, Monitor
from bunraku.verification.foreign import without_log_file
from bunraku.verification.strings.clamp import CarriageClamp, ForceClamp
from bunraku.verification.strings.plan import StringPlan, plan_of
from bunraku.verification.strings.replay import player_of
from bunraku.verification.strings.state import StateMap

NEAR = 0.02
"""A character has returned when all its points stay within this distance [m] of the plan over the last half second."""

_LAST = 0.5


@dataclass(frozen=True)
class Returns:
    """How many came back.

    ``fraction`` of the starts: near the plan at the end; ``errors`` (starts,) [m]: the largest error of a point in the last half
    second, infinite when the motion broke off, and the ``worst`` of them; ``pushed`` (starts,) [m]: the largest error of a point at
    the start; ``least_tension`` (starts,) [N] of a string in each run, infinite without strings. Our strings are two-sided: a
    negative tension is a push that no string gives. MuJoCo's go slack instead.
    """

    fraction: float
    worst: float
    errors: Array = field(repr=False)
    pushed: Array = field(repr=False)
    least_tension: Array = field(repr=False)


def returns(
    performance: Performance,
    *,
    starts: int = 100,
    angle: float = 0.1,
    rate: float = 0.2,
    seed: int = 0,
    clamped: bool = True,
    foreign: bool = False,
    monitor: Monitor = SILENT,
) -> Returns:
    """Start the plan ``starts`` times from perturbed states and count who comes back to it.

    Every turning coordinate that physics moves gets a Gaussian error of standard deviation ``angle`` [rad] and its velocity one of
    ``rate`` [rad/s]; strings and loops are then met by the least change of all coordinates, which also moves the base. The closed
    loop u = u_k - K_k (x - x_k) runs with the steps of the variational integrator, commands cut to the limits of carriages, winches
    and motors when ``clamped``; with ``foreign`` in MuJoCo instead, always cut. A start that meets no pose is drawn again.
    """
    plan = plan_of(performance)
    if plan.gains is None:
        raise BadInput(f"the performance of {performance.clip_name!r} has no feedback; nothing would bring it back")
    if starts < 1 or not (np.isfinite(angle) and np.isfinite(rate)):
        raise BadInput(f"{starts} starts, {angle} rad, {rate} rad/s arrived; at least one start and finite errors are needed")
    states, predicted = StateMap(plan), plan.predicted
    begin = max(0, plan.steps - round(_LAST / plan.dt))
    rng, errors, pushed = np.random.default_rng(seed), np.full(starts, np.inf), np.zeros(starts)
    least = np.full(starts, np.inf)
    with without_log_file():
        player = player_of(plan) if foreign else None
        for i in range(starts):
            q, v = _start(plan, states, rng, angle, rate)
            pushed[i] = np.linalg.norm(plan.points.positions(q[None])[0] - predicted[0], axis=1).max()
            if player is not None:
                run = player.run(q, v, feedback=True)
                moved, tensions = run.q, run.tensions
            else:
                moved, tensions = _closed_loop(plan, states, q, v, clamped)
            least[i] = tensions.min(initial=np.inf)
            if len(moved) == len(predicted) and np.isfinite(moved).all():
                away = np.linalg.norm(plan.points.positions(moved[begin:]) - predicted[begin:], axis=2)
                errors[i] = away.max()
            back = errors <= NEAR
            monitor.report(Event("perturbed starts", (i + 1) / starts, f"{int(back.sum())} came back"))
            if monitor.cancelled:
                break
    return Returns(float(np.mean(back)), float(errors.max()), errors, pushed, least)


def _start(plan: StringPlan, states: StateMap, rng: np.random.Generator, angle: float, rate: float) -> tuple[Array, Array]:
    """A perturbed start q, v (nq,) that meets the constraints."""
    kinds = {axis.name: axis.kind for axis in plan.character.axes}
    turning = np.array([i for i in plan.system.dynamic if kinds[plan.system.names[i]] == "hinge"], dtype=np.int64)
    for _ in range(20):
        q, v = plan.q[0].copy(), states.v[0].copy()
        q[turning] += angle * rng.standard_normal(len(turning))
        v[turning] += rate * rng.standard_normal(len(turning))
        start = make_consistent(plan.system, q, v)
        if start.status.good:
            return start.q, start.v
    raise BadInput(f"no pose within {angle} rad of the start fits the strings; give a smaller angle")


def _closed_loop(plan: StringPlan, states: StateMap, q: Array, v: Array, clamped: bool) -> tuple[Array, Array]:
    """The motion (n, nq) from q, v with feedback, shorter than the plan when a step fails, and tensions (n - 1, strings) [N]."""
    system, integrator = plan.system, plan.integrator
    assert plan.gains is not None  # noqa: S101 (checked by the caller)
    clamp, forces = CarriageClamp(plan.character, plan.dt), ForceClamp(plan.character, system.inputs)
    at = [0 if name is None else system.names.index(name) for name in forces.coordinates]
    nu, x = system.nu, states.state(0, q, v, plan.commands[0, : system.nu])
    rows, lengths = string_rows(system)
    tensions: list[Array] = []
    moved, speed, lam = [q], np.zeros(system.nk), np.zeros(system.nc)
    for j in range(plan.steps):
        q, p = x[: system.nq], x[system.nq :]
        command = plan.commands[j] - plan.gains[j] @ (x - plan.states[j])
        before = moved[-2] if j else q
        u, k2 = command[:nu], command[nu:]
        if clamped:
            u, k2 = forces(u, (q - before)[at] / plan.dt), clamp(k2, q[system.kinematic], speed)
        step = integrator.step(q, p, u, k2, guess=(2.0 * q - before, lam))
        if not step.status.good:
            break
        speed, lam = (k2 - q[system.kinematic]) / plan.dt, step.lam
        x = np.concatenate([step.q2, step.p2])
        tensions.append(2.0 / plan.dt * q[lengths] * lam[rows])
        moved.append(step.q2)
    return np.array(moved), np.array(tensions).reshape(len(tensions), len(rows))
