"""Retargeting of motor profiles to a flexible character, stated.

Minimise over the control points p of all motors

    F(p) = 1/S sum_s int_0^T sum_k 1/2 w_k(t) |e_k(t)|^2 dt
         + int_0^T sum_j 1/2 ( w_pro (theta_j - wish_j)^2 + w_acc theta_j''^2 ) dt

(Hoshyari et al. 2019, Eq. 19-24). e_k: position of a tracked place minus where it would be at rest under gravity with the motors as
wished, or its tilt against that (Eq. 20); w_k: 1, times the clip's emphasis. s: stiffness scenarios (one, unless it is to be
robust). The motion starts at rest. Hard limits: range, velocity, acceleration and jerk of the motors at every time, and their
torque-speed line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.formats.places import known_names
from bunraku.mechanics.flexible.places import place_of, tracked_places
from bunraku.mechanics.flexible.reduced_parts import ReducedPart
from bunraku.mechanics.flexible.system import FlexibleCharacterSystem, flexible_system
from bunraku.mechanics.flexible.torque_lines import TorqueLines, torque_lines
from bunraku.mechanics.integrators.driven.curves import Curves, make_curves
from bunraku.mechanics.integrators.driven.outputs import Outputs, OutputTargets, track
from bunraku.mechanics.integrators.driven.rest import RestMotion, rest_motion
from bunraku.motion import Emphasis, JointCurves
from bunraku.performers.vibration.limits import ProfileLimits, profile_limits
from bunraku.performers.vibration.profile import Profile, fit_profile, make_profile

OUTPUT_STEP = 4e-3
"""Tracked places are compared with their targets about this often [s]."""

REST_STEP = 8e-3
"""Poses at rest are solved for about this often [s] and interpolated by cubics between."""


@dataclass(frozen=True)
class VibrationWeights:
    """``profile`` w_pro [m^2/rad^2]: a motor 1 rad off counts as a place sqrt(w) m off; ``acceleration`` w_acc [m^2 s^4/rad^2]."""

    profile: float = 1e-3
    acceleration: float = 1e-9


@dataclass(frozen=True, eq=False)
class Scenario:
    """The character with its ``stiffness`` times what is stated: system, tracked places, and the wish at rest under gravity."""

    stiffness: float
    flexible: FlexibleCharacterSystem
    outputs: Outputs
    rest: RestMotion
    targets: OutputTargets


@dataclass(frozen=True, eq=False)
class VibrationProblem:
    """The problem as a value.

    ``wish``: parameters (n m,) of the profiles fitted to the clip. ``curves``: the profiles as the integrator takes them.
    ``weights`` (frames, rows) of the outputs, integration over time included; every ``stride``-th node is a frame.
    """

    character: Character
    scenarios: tuple[Scenario, ...]
    profile: Profile
    wish: Array
    curves: Curves
    stride: int
    weights: Array
    regularizers: VibrationWeights
    limits: ProfileLimits
    lines: TorqueLines

    @property
    def nominal(self) -> Scenario:
        """The scenario whose stiffness is nearest to what is stated."""
        return min(self.scenarios, key=lambda one: abs(np.log(one.stiffness)))

    @cached_property
    def free(self) -> NDArray[np.int64]:
        """Which of the parameters may change."""
        return self.profile.free

    @cached_property
    def smoothness(self) -> tuple[Any, Any]:
        """Sparse matrices (n m, n m) of the two regularizers: R = 1/2 (p - wish).P (p - wish) + 1/2 p.C p."""
        profile, w, m = self.profile, self.regularizers, len(self.profile.motors)
        value, bend = profile.nodes, profile.rows(profile.times, 2)
        each = sparse.eye_array(m, format="csr")
        P = sparse.kron(w.profile * profile.dt * (value.T @ value), each, format="csr")
        C = sparse.kron(w.acceleration * profile.dt * (bend.T @ bend), each, format="csr")
        return P, C

    def regularizer(self, parameters: Array) -> tuple[float, Array]:
        """The value of R and its gradient over the free parameters."""
        P, C = self.smoothness
        off = parameters - self.wish
        gradient = P @ off + C @ parameters
        value = 0.5 * float(off @ (P @ off)) + 0.5 * float(parameters @ (C @ parameters))
        return value, np.asarray(gradient)[self.free]

    def angles(self, parameters: Array) -> Array:
        """The motors at the nodes (N + 1, m)."""
        return self.profile.angles(parameters)

    def with_free(self, parameters: Array, change: Array) -> Array:
        """Parameters whose free ones are changed."""
        out: Array = parameters.copy()
        out[self.free] += change
        return out


def state_problem(
    character: Character,
    wish: JointCurves,
    *,
    dt: float = 2e-3,
    points: int = 100,
    settle: bool = False,
    tracked: Sequence[str] = (),
    emphasis: Sequence[Emphasis] = (),
    weights: VibrationWeights | None = None,
    stiffness: Sequence[float] = (1.0,),
    flexible: FlexibleCharacterSystem | None = None,
) -> VibrationProblem:
    """State the problem for the curves of ``wish``, steps of ``dt`` [s], ``points`` control points a motor at least.

    ``stiffness``: factors of the scenarios. ``flexible``: the character's system, if it was made before.
    """
    flexible = flexible or flexible_system(character)
    system = flexible.system
    motors = tuple(system.names[i] for i in system.kinematic)
    completed = _completed(character, wish, motors)
    profile = make_profile(motors, wish.duration, dt, points, settle=settle)
    start = fit_profile(profile, completed)
    places = tracked_places(character, tracked)
    turned = tuple(dict.fromkeys(part.frame for part in emphasis if part.kind == "orientation"))
    places += tuple(dict.fromkeys(part.frame for part in emphasis if part.kind == "position" and part.frame not in places))
    stride = max(1, round(OUTPUT_STEP / dt))
    frames = profile.steps // stride + 1
    scenarios = tuple(_scenario(flexible, factor, profile, start, places, turned, stride) for factor in stiffness)
    free = np.zeros(profile.parameters, dtype=bool)
    free[profile.free] = True
    return VibrationProblem(
        character,
        scenarios,
        profile,
        start,
        make_curves(profile.nodes, free[:: len(motors)]),
        stride,
        _weights(places, turned, emphasis, np.arange(frames, dtype=np.float64) * (stride * dt), stride * dt),
        weights or VibrationWeights(),
        profile_limits(character, profile),
        torque_lines(character, motors),
    )


def refined(problem: VibrationProblem) -> VibrationProblem:
    """The same problem at half the step: the parameters are the same, and so are the times at which places are compared."""
    old = problem.profile
    profile = replace(old, dt=0.5 * old.dt, steps=2 * old.steps)
    return replace(
        problem,
        scenarios=tuple(replace(one, rest=_rest(one.flexible, profile, problem.wish)) for one in problem.scenarios),
        profile=profile,
        curves=make_curves(profile.nodes, problem.curves.free),
        stride=2 * problem.stride,
    )


def _completed(character: Character, wish: JointCurves, motors: tuple[str, ...]) -> JointCurves:
    """The wish of all motors; those it does not name stay at home."""
    unknown = [name for name in wish.names if name not in motors]
    if unknown:
        raise BadInput(
            f"the clip moves {unknown[0]!r}, which no motor of {character.name!r} drives; {known_names(unknown[0], motors)}"
        )
    values = [
        wish.column(name) if name in wish.names else np.full(len(wish.values), character.home.get(name, 0.0)) for name in motors
    ]
    return JointCurves(motors, wish.rate, np.column_stack(values))


def _scenario(
    flexible: FlexibleCharacterSystem,
    factor: float,
    profile: Profile,
    parameters: Array,
    places: tuple[str, ...],
    turned: tuple[str, ...],
    stride: int,
) -> Scenario:
    character = flexible.character
    model = flexible if factor == 1.0 else stiffened(flexible, factor)
    outputs = track(model.system, [place_of(character, name) for name in places], [place_of(character, name) for name in turned])
    rest = _rest(model, profile, parameters)
    return Scenario(factor, model, outputs, rest, outputs.observe(np.ascontiguousarray(rest.q[::stride])))


def _rest(model: FlexibleCharacterSystem, profile: Profile, parameters: Array) -> RestMotion:
    rest = rest_motion(model.system, profile.angles(parameters), start=model.home, stride=max(1, round(REST_STEP / profile.dt)))
    if not rest.status.good:
        raise BadInput(f"{model.character.name!r} cannot hold the poses of the clip at rest: {rest.message}")
    return rest


def stiffened(flexible: FlexibleCharacterSystem, factor: float) -> FlexibleCharacterSystem:
    """The character with all its flexible parts ``factor`` times as stiff."""
    if not factor > 0.0:
        raise BadInput(f"a stiffness factor of {factor} was asked for; it must be positive")
    root = float(np.sqrt(factor))

    def changed(part: ReducedPart) -> ReducedPart:
        segment = part.reduction.segment
        points = None if segment.points is None else segment.points.scaled(factor)
        stiffer = replace(segment, L1=root * segment.L1, Qp=root * np.asarray(segment.Qp), points=points)
        return replace(part, reduction=replace(part.reduction, segment=stiffer))

    parts = {name: changed(part) for name, part in flexible.parts.items()}
    soft = {motor.motor: motor.stiffness for motor in flexible.soft}
    return flexible_system(flexible.character, reductions=parts, motor_stiffness=soft or False)


def _weights(places: tuple[str, ...], turned: tuple[str, ...], emphasis: Sequence[Emphasis], times: Array, step: float) -> Array:
    """Weights (frames, 3 places) by the trapezoidal rule over time: 1 for positions, 0 for orientations, and the emphasis."""
    w = np.zeros((len(times), len(places) + len(turned)))
    w[:, : len(places)] = 1.0
    for part in emphasis:
        when = part.active(times)
        if part.kind == "position":
            w[when, places.index(part.frame)] *= part.weight
        else:
            w[when, len(places) + turned.index(part.frame)] += part.weight
    w *= step
    w[[0, -1]] *= 0.5
    return np.repeat(w, 3, axis=1)
