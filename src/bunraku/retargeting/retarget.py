"""Retargeting: a captured skeleton in, joint curves of a character out, with a report of how well they fit.

The artificial first frame is dropped, bones are resampled, and inverse kinematics follows them. Two modes of speed:

- **as captured** (``speed_factor`` = 3, the default): the wish keeps the speed of the person, also where motors are slower; making
  it performable in time is the performer's work. The temporal term keeps singular poses from spinning; the bound of 3 times
  the motor's speed is a guard against what is left of spikes (on a NAO none of five CMU recordings meets it).
- **within speed** (``speed_factor`` = 1): no joint moves by more than v h between frames, v its motor's velocity limit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.mechanics.measures.coverage import MISSING, CapturedLimb
from bunraku.mechanics.tree import Tree, compile_tree
from bunraku.motion import Clip, JointCurves, MotionLimits
from bunraku.optimization.monitor import SILENT, Event, Monitor
from bunraku.optimization.solution import Status
from bunraku.retargeting.bends import with_natural_bends
from bunraku.retargeting.calibration import calibrate
from bunraku.retargeting.coverage import covered_limbs, limb_energies
from bunraku.retargeting.guess import guess_rig
from bunraku.retargeting.inverse_kinematics import MotionSolution, Solver, solve_motion
from bunraku.retargeting.only import limbs_asked, rig_of
from bunraku.retargeting.rig_map import RigMap, check_names
from bunraku.retargeting.skeleton import bone_motion, dropped_first, first_frame_is_artificial
from bunraku.retargeting.targets import branch
from bunraku.retargeting.wished import is_wished_whole, middle_angles, wish_limits, wished_coordinates
from bunraku.retargeting.wishes import Wishes, make_wishes

STANDS_STILL = "legs"
LOW_PASS = 6.0
LOOSE = 3e-5


@dataclass(frozen=True)
class TargetError:
    """Distance [m], in the character's scale, of one target from its wish: over all frames and over the reachable ones.

    A frame counts as unreachable when a joint between target and trunk stands at an end of its range: its error may come from the
    range. ``unreachable`` is their share; when it is 1, no frame is left and ``rms_reachable`` is NaN.
    """

    name: str
    rms: float
    worst: float
    rms_reachable: float
    unreachable: float

    @property
    def sentence(self) -> str:
        """The errors in words."""
        where = "no frame was reachable with all joints inside their ranges"
        if self.unreachable < 1.0:
            where = f"{100 * self.rms_reachable:.2f} cm RMS where reachable, {100 * self.unreachable:.0f} % of the frames are not"
        return f"{self.name}: {100 * self.rms:.2f} cm RMS, {100 * self.worst:.1f} cm at worst; {where}."


@dataclass(frozen=True)
class RetargetReport:
    """How well a retargeted motion fits. ``speed_ratio`` is the largest joint speed over its motor's limit (0: no limit)."""

    status: Status
    targets: tuple[TargetError, ...]
    dropped_first_frame: bool
    calibration: str
    fastest_joint: str
    fastest_speed: float
    speed_ratio: float
    too_fast: int
    missing: tuple[str, ...]
    held: tuple[str, ...]
    limbs: tuple[CapturedLimb, ...] = ()

    def target(self, name: str) -> TargetError:
        """The errors of one target."""
        return next(error for error in self.targets if error.name == name)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The report in words."""
        lines = [f"{self.status.sentence} Calibrated at {self.calibration}."]
        if self.dropped_first_frame:
            lines.append("The first frame was no motion (an artificial pose) and was dropped.")
        lines += [error.sentence for error in self.targets]
        lines += [f"Left out: the {limb.name}; no bone of it drives a joint." for limb in self.limbs if limb.fate == MISSING]
        if self.fastest_joint:
            lines.append(
                f"Fastest against its motor: {self.fastest_joint} at {self.fastest_speed:.2f} rad/s or m/s, "
                f"{self.speed_ratio:.2f} times the limit; {self.too_fast} steps are faster than a motor."
            )
        if self.missing:
            lines.append(f"Not found by name: {', '.join(self.missing)}.")
        return tuple(lines)


@dataclass(frozen=True)
class RetargetResult:
    """The clip with joint curves of the character's wished coordinates (`wished.py`), the report, and the rig map that was used."""

    clip: Clip
    report: RetargetReport
    rig: RigMap


def retarget(
    clip: Clip,
    character: Character,
    *,
    rig: RigMap | None = None,
    rate: float | None = None,
    speed_factor: float = 3.0,
    held: tuple[str, ...] | None = None,
    only: tuple[str, ...] | None = None,
    root_motion: float = 1.0,
    low_pass: float | None = None,
    solver: Solver | None = None,
    monitor: Monitor = SILENT,
) -> RetargetResult:
    """Joint curves of ``character`` that follow the skeleton of ``clip``; audio, words and phrases are passed on.

    ``rig`` defaults to a guess from names. ``rate`` [Hz] defaults to the skeleton's, but not above the fastest motor's command
    rate. ``speed_factor`` bounds every step by that many times v h (infinite: no bound). ``held`` names coordinates or groups that
    stay at home, in place of the clip's own; by default also the group ``legs`` of a character that stands on feet, if legs are
    not asked for. ``only`` (arms, legs, upper, or names of limbs; the clip's own by default): what is to be followed, if not all.
    ``root_motion`` multiplies the path of a root that moves. ``low_pass`` [Hz] takes out faster motion without delay (infinite:
    nothing); by default 6 Hz for a character wished as a whole (`wished.py`), else nothing.
    """
    if clip.skeleton is None:
        raise BadInput(f"the clip {clip.name!r} has no skeleton to retarget (it has: {', '.join(clip.tracks) or 'nothing'})")
    if not speed_factor > 0.0:
        raise BadInput(f"a speed factor of {speed_factor} leaves no motion; give 1 for the motors' own speed, inf for no bound")
    if not (math.isfinite(root_motion) and root_motion >= 0.0):
        raise BadInput(f"a root motion of {root_motion} is no scale; give 1 for the person's own, 0 to stay on the spot")
    whole, wished = is_wished_whole(character), wished_coordinates(character)
    if not wished:
        raise BadInput(f"the character {character.name!r} has no joint that moves, so nothing of it can follow")
    missing: tuple[str, ...] = ()
    if rig is None:
        guess = guess_rig(clip.skeleton, character)
        rig, missing = guess.rig, guess.missing
    asked = clip.only if only is None else only
    full, rig = rig, rig_of(rig, asked)
    tree = compile_tree(character)
    check_names(rig, clip.skeleton.names, tuple(dict.fromkeys([*tree.frames, *tree.nodes])))
    monitor.report(Event("skeleton", 0.0, "reading bones"))
    first = first_frame_is_artificial(clip.skeleton)
    motion = bone_motion(dropped_first(clip.skeleton) if first else clip.skeleton, rig.bones)
    calibration = calibrate(clip.skeleton, rig, motion, first)
    top = max((motor.rate for motor in character.motors), default=clip.skeleton.rate)
    cutoff = (LOW_PASS if whole else math.inf) if low_pass is None else low_pass
    motion = motion.low_passed(cutoff).resampled(rate if rate is not None else min(clip.skeleton.rate, top))
    still = _held(clip, character, held, asked)
    if asked and "trunk" not in limbs_asked(asked):
        still = _with_trunk(still, rig, tree, wished)
    all_limits = wish_limits(character)
    moving = tuple(name for name in all_limits.names if name not in still)
    wishes = make_wishes(motion, rig, calibration, tree, moving, root_motion)
    followed = {tree.names[c] for k in range(len(wishes.targets.targets)) for c in wishes.targets.between(k)}
    drivers = {tree.names[d] for d, f, _, _ in tree.couplings if tree.names[f] in followed}
    limits = all_limits.chosen(tuple(name for name in moving if name in followed | drivers))
    if whole:
        limits = with_natural_bends(limits, rig, tree)
    solution = solve_motion(
        wishes.targets,
        wishes.places,
        wishes.turns,
        limits=limits,
        rate=motion.rate,
        step=speed_factor * limits.velocity / motion.rate if math.isfinite(speed_factor) else None,
        middle=middle_angles(character) if whole else (),
        solver=solver or (Solver(temporal_weight=LOOSE) if whole else None),
        monitor=monitor,
    )
    at = [tree.index(name) for name in wished]
    curves = JointCurves(wished, motion.rate, solution.q[:, at])
    report = _report(wishes, solution, limits, all_limits, curves, first, calibration.pose, missing, still)
    skeleton = dropped_first(clip.skeleton) if first else clip.skeleton
    limbs = covered_limbs(
        limb_energies(skeleton, full), full, rig, character, wishes.targets, solution.q, wishes.places, wishes.turns, still
    )
    return RetargetResult(clip.changed(joints=curves, skeleton=None, held=still), replace(report, limbs=limbs), rig)


def _with_trunk(still: tuple[str, ...], rig: RigMap, tree: Tree, wished: tuple[str, ...]) -> tuple[str, ...]:
    """What is held, with the joints between pelvis and chest."""
    if rig.pelvis is None:
        return still
    way, stop = branch(tree, tree.node(rig.chest.frame)[0]), tree.node(rig.pelvis.frame)[0]
    waist = way[: way.index(stop)] if stop in way else []
    trunk = {tree.names[int(tree.coordinate[node])] for node in waist if int(tree.coordinate[node]) >= 0}
    return tuple(name for name in wished if name in trunk or name in still)


def _held(clip: Clip, character: Character, held: tuple[str, ...] | None, only: tuple[str, ...]) -> tuple[str, ...]:
    """The wished coordinates that stay at home."""
    names = list(clip.held if held is None else held)
    legs = any("leg" in name for name in limbs_asked(only))
    if held is None and STANDS_STILL in character.groups and character.feet and not legs:
        names.append(STANDS_STILL)
    try:
        still = character.expand(names)
    except BadInput as error:
        raise BadInput(f"to be held: {error}") from error
    return tuple(name for name in wished_coordinates(character) if name in still)


def _rms(values: Array) -> float:
    """Root mean square; NaN of nothing."""
    return float(np.sqrt(np.mean(values**2))) if len(values) else math.nan


def _report(
    wishes: Wishes,
    solution: MotionSolution,
    limits: MotionLimits,
    all_limits: MotionLimits,
    curves: JointCurves,
    first: bool,
    pose: str,
    missing: tuple[str, ...],
    held: tuple[str, ...],
) -> RetargetReport:
    tree = wishes.targets.tree
    x = solution.q[:, [tree.index(name) for name in limits.names]]
    lower, upper = limits.bounds(x)
    ended = (x <= lower + 1e-6) | (x >= upper - 1e-6)
    driver_of = {tree.names[f]: tree.names[d] for d, f, _, _ in tree.couplings}
    reached, _ = wishes.targets.poses(solution.q)
    distance = np.linalg.norm(reached - wishes.places, axis=2)
    errors = []
    for k, target in enumerate(wishes.targets.targets):
        if target.position_weight == 0.0:
            continue
        chain = {driver_of.get(tree.names[c], tree.names[c]) for c in wishes.targets.between(k)}
        bound = ended[:, [j for j, name in enumerate(limits.names) if name in chain]].any(axis=1)
        d = distance[:, k]
        errors.append(TargetError(target.title, _rms(d), float(d.max()), _rms(d[~bound]), float(bound.mean())))
    chosen = [curves.names.index(name) for name in all_limits.names]
    speed = np.abs(np.diff(curves.values[:, chosen], axis=0)) * curves.rate
    fastest, value, ratio, too_fast = "", 0.0, 0.0, 0
    if len(speed):
        relative = speed / all_limits.velocity
        row, column = np.unravel_index(int(np.argmax(relative)), relative.shape)
        ratio, too_fast = float(relative[row, column]), int(np.count_nonzero(relative > 1.0 + 1e-9))
        if ratio == 0.0:
            row, column = np.unravel_index(int(np.argmax(speed)), speed.shape)
        fastest, value = all_limits.names[int(column)], float(speed[row, column])
    return RetargetReport(solution.status, tuple(errors), first, pose, fastest, value, ratio, too_fast, missing, held)
