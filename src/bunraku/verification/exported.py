"""The verdict on an exported file: its commands, put in the place of those of the performance, or judged alone.

Against the performance that was exported everything is judged as ever, and the commands of the file must be the performance's: to
the last bit, or to half a step of a format that counts in steps. Where a format counts in steps, or holds fewer samples, limits,
certificate and wish are judged on the values that the steps stand for, and the replay plays what the file holds.

Alone a file says what motors are sent, and no more. Limits, balance, self-collision and the replay of servos on a fixed base or on
planted feet need nothing else; what needs the plan or the wish is *not checked*, and the verdict says what to add.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.mechanics.measures.motion import measure_motion
from bunraku.mechanics.measures.prediction import predicted_motion
from bunraku.mechanics.servos.gains import servo_gains
from bunraku.motion import Certificate, Channel, Check, JointCurves, Performance, Provenance
from bunraku.motion.performance import position_commands
from bunraku.optimization.monitor import Monitor
from bunraku.optimization.solution import Status
from bunraku.verification.fits import bends, goes_over_ground, is_skinned
from bunraku.verification.limits import limit_figures, recomputed_limits, wheel_check
from bunraku.verification.servos.heat import some
from bunraku.verification.verifier import REPLAY, Findings, Judge, Picture, Replay, Verdict
from bunraku.verification.verify import verify
from bunraku.verification.wording import HOLDING, is_proven

ADD = "give --against PERFORMANCE"
"""What to add so that everything is checked."""
SLACK = 1e-6
"""Half a step is kept to this share of a step: what rounding leaves."""
ORDERS = {"range": 0, "velocity": 1, "acceleration": 2, "jerk": 3}


@dataclass(frozen=True)
class FileCommands:
    """A ``performance`` with the commands of a file, and the ``original`` that was exported, where it is at hand.

    ``steps``: by channel name the steps in which the file counts [unit of the channel]; ``every``: of how many samples of the
    original the file holds one.
    """

    performance: Performance
    original: Performance | None = None
    steps: Mapping[str, float] = field(default_factory=dict)
    every: int = 1

    def verify(self, **options: Any) -> Verdict:
        """The verdict; ``options`` as of `verify.verify`."""
        if self.original is not None:
            return _against(self, self.original, options)
        return _alone(self, options)


def in_place_of(
    original: Performance, channels: Sequence[Channel], steps: Mapping[str, float], *, rate_error: float = 0.0
) -> FileCommands:
    """The ``channels`` of a file in the place of those of the performance that was exported.

    The file has all its commands, at its rate or at one that divides it, to a share ``rate_error``; torques beside places and
    speeds are the proof and may be missing.
    """
    every = _every(original, channels, rate_error)
    rate = original.rate if every == 1 else original.rate / every
    own = {(channel.name, channel.kind): channel for channel in original.channels}
    given = {(channel.name, channel.kind): channel for channel in channels}
    if len(given) < len(channels):
        raise BadInput("holds the commands of one channel twice; which of them counts cannot be told")
    for name, kind in given:
        if (name, kind) not in own:
            raise BadInput(f"holds the {kind} of {name[:60]!r}, which the performance of {original.clip_name!r} does not move")
    proof = () if original.dynamic else ("torque",)
    missing = next((name for name, kind in own if (name, kind) not in given and kind not in proof), None)
    if missing is not None:
        raise BadInput(f"lacks the channel {missing[:60]!r}; whoever plays it would not move that")
    thin = original if every == 1 else _thinned(original, every)
    new = tuple(
        replace(channel, values=given[key].values, rate=rate) if (key := (channel.name, channel.kind)) in given else channel
        for channel in thin.channels
    )
    return FileCommands(thin.changed(channels=new, verdict=None), original, dict(steps), every)


def alone(character: Character, channels: Sequence[Channel], steps: Mapping[str, float], *, name: str) -> FileCommands:
    """The ``channels`` of a file as a performance of which only the commands are known; ``name``: that of its clip."""
    if not channels:
        raise BadInput("holds no channel; there is nothing to judge")
    if character.strings or all(channel.kind == "torque" for channel in channels):
        why = "physics moves this character, and how it starts is not in the file"
        raise BadInput(f"{why}: give --against with the .performance.npz that was exported")
    first = channels[0]
    if len(first.values) < 2:
        raise BadInput("holds a single sample, a pose; a motion has at least two")
    if any(channel.kind == "position" for channel in channels):
        sent = position_commands(channels, "the file")
    else:
        sent = JointCurves((), first.rate, np.zeros((len(first.values), 0)))
    made = Performance(
        character,
        name,
        tuple(channels),
        None,
        predicted_motion(character, sent),
        Certificate(Status.CONVERGED, ()),
        Provenance("file", {}, {}, {}),
    )
    return FileCommands(made, None, dict(steps))


def _every(original: Performance, channels: Sequence[Channel], rate_error: float) -> int:
    """Of how many samples of the performance the file holds one; BadInput when rate or length do not fit."""
    if not channels:
        raise BadInput("holds no channel; there is nothing to judge")
    rate, count, whole = channels[0].rate, len(channels[0].values), len(original.motion.values)
    if any(channel.rate != rate or len(channel.values) != count for channel in channels):
        raise BadInput("holds channels of different rates or lengths; those of a performance share both")
    every = max(1, round(original.rate / rate))
    if abs(original.rate / every - rate) > max(rate_error, 1e-12) * rate:
        raise BadInput(f"is at {rate:g} Hz, which does not divide the {original.rate:g} Hz of the performance: it is another one")
    if count != -(-whole // every):
        raise BadInput(f"holds {count} samples, and {-(-whole // every)} were exported at this rate; it was cut or is another one")
    if every > 1 and (original.dynamic or original.feedback is not None):
        own = f"what physics moves or feedback corrects is judged at {original.rate:g} Hz"
        raise BadInput(f"holds one sample of {every}; {own}: export it at that rate")
    return every


def _thinned(original: Performance, every: int) -> Performance:
    """Every so many samples of a performance of servos."""
    rate = original.rate / every

    def thin(curves: JointCurves | None) -> Any:
        return None if curves is None else JointCurves(curves.names, rate, curves.values[::every])

    channels = tuple(replace(channel, rate=rate, values=channel.values[::every]) for channel in original.channels)
    return original.changed(channels=channels, wish=thin(original.wish), motion=thin(original.motion), surface=None)


def _against(commands: FileCommands, original: Performance, options: Mapping[str, Any]) -> Verdict:
    same = _same_commands(commands, original)
    lossy = bool(commands.steps) or commands.every > 1
    verdict = verify(commands.performance, **options)
    if lossy and same.holds:
        still = {**options, "replay": False}
        judged, rounded = verify(original, **still), verify(commands.performance, **still)
        replayed = _replayed(verdict, [*judged.checks, *rounded.checks])
        verdict = _with(verdict, [*(check for check in judged.checks if check.name != REPLAY), *replayed], judged.figures)
    return _with(verdict, [same, *verdict.checks])


def _same_commands(commands: FileCommands, original: Performance) -> Check:
    """How far the commands of the file are from those of the performance: in steps, or exactly."""
    own = {(channel.name, channel.kind): channel.values[:: commands.every] for channel in original.channels}
    apart = []
    for channel in commands.performance.channels:
        off = np.abs(channel.values - own[channel.name, channel.kind]) / commands.steps.get(channel.name, 1.0)
        apart.append((float(off.max()), f"{channel.name} at {int(off.argmax()) / channel.rate:.3f} s"))
    worst, where = max(apart)
    held = "every command is the performance's" + (", to half a step of the file" if commands.steps else "")
    threshold = 0.5 + SLACK if commands.steps else 0.0
    note = held if worst <= threshold else where
    return Check("commands of the file against the performance", worst, "steps" if commands.steps else "", threshold, note=note)


def _alone(commands: FileCommands, options: Mapping[str, Any]) -> Verdict:
    performance = commands.performance
    checks: list[Check] = [*_limit_checks(commands), *_left_out(performance)]
    figures = limit_figures(checks)
    if bends(performance) or goes_over_ground(performance) or is_skinned(performance):
        verdict = CommandsJudge(performance).verify(replay=False)
        checks.append(Check.not_checked(REPLAY, ADD, "where the body is and how fast when it starts is not in the file"))
    else:
        verdict = verify(performance, **options)
        still = verify(performance, **{**options, "replay": False})
        checks += _body_checks(performance)
        checks += [_tracked(check, performance.character) for check in _replayed(verdict, still.checks)]
        figures = verdict.figures | figures
    checks.append(Check.not_checked("what was wished", ADD, "a file of commands does not say it"))
    checks.append(Check.not_checked("its plan", ADD, "how it was planned is not in the file"))
    return _with(replace(verdict, figures=figures), checks)


def _left_out(performance: Performance) -> list[Check]:
    """Motors of the character of which the file holds no command."""
    sent = {channel.name for channel in performance.channels}
    lacking = [motor.name for motor in performance.character.motors if not sent & {motor.coordinate, motor.name}]
    return [Check.not_checked(f"commands of {some(lacking)}", "add their columns")] if lacking else []


def _replayed(verdict: Verdict, recomputed: Sequence[Check]) -> list[Check]:
    """The checks of the replay: those that are not recomputed without one, and the one that says that nothing was replayed."""
    known = {check.name for check in recomputed} - {REPLAY}
    return [check for check in verdict.checks if check.name not in known]


def _with(verdict: Verdict, checks: Sequence[Check], figures: Mapping[str, float] | None = None) -> Verdict:
    """The verdict with other checks, and ``figures`` beside its own."""
    holds = is_proven(checks)
    return replace(
        verdict, holds=holds, checks=tuple(checks), figures=verdict.figures | dict(figures or {}) | {"verified": float(holds)}
    )


def _body_checks(performance: Performance) -> list[Check]:
    """Balance on planted feet, the distance of limbs, shaking: what follows from places alone, but for their limits."""
    measured = measure_motion(performance.character, None, performance.sent()).checks
    others = ("range", "velocity", "acceleration", "jerk", "worst limit", "largest deviation", "motion followed")
    return [check for check in measured if (check.state or check.name == HOLDING) and not check.name.startswith(others)]


def _tracked(check: Check, character: Character) -> Check:
    """A check of tracking, which needs the plan where servos of stated gains are sent more than the planned angles."""
    if check.name.startswith("tracking") and servo_gains(character).stated.any():
        return Check.not_checked(check.name, ADD, "servos of stated gains are sent more than the planned angles")
    return check


def _limit_checks(commands: FileCommands) -> list[Check]:
    """Limits of the commands; an excess that the steps of the file can make by themselves is not checked.

    A difference of order n of values that are off by half a step s is off by at most 2^(n-1) s rate^n.
    """
    performance = commands.performance
    if not any(channel.kind == "position" for channel in performance.channels):
        return [wheel_check(performance, "worst limit violation")]
    checks = list(recomputed_limits(performance))
    out: list[Check] = []
    most = max(commands.steps.values(), default=0.0)
    unsure = False
    for check in checks:
        kind = check.name.partition(" ")[0]
        blur = 0.5 * most * (2.0 * performance.rate) ** ORDERS[kind] if kind in ORDERS else 0.0
        doubtful = check.broken and (check.value <= blur if kind in ORDERS else unsure and not any(one.broken for one in out))
        unsure = unsure or doubtful
        note = f"{check.value:.3g} {check.unit} too much, and its steps alone make up to {blur:.3g}" if kind in ORDERS else ""
        out.append(Check.not_checked(check.name, ADD, note) if doubtful else check)
    rolls = any(channel.kind == "velocity" for channel in performance.channels)
    return [*out, wheel_check(performance, "excess speed of wheels")] if rolls else out


class CommandsJudge(Judge[None, Replay]):
    """Of a file whose motion nobody knows: nothing can be replayed, and there are no pictures."""

    recomputed = "Limits were recomputed from the commands of the file."
    replayed = ""

    def recompute(self, monitor: Monitor) -> Findings:
        """Nothing: the limits are those of every file."""
        return [], {}

    def build(self) -> None:
        """No model."""
        raise BadInput(f"a file of commands does not say where the body starts: {ADD}")

    def replay(self, foreign: None, monitor: Monitor) -> Replay:
        """No replay."""
        raise BadInput(f"a file of commands does not say where the body starts: {ADD}")

    def judge(self, replay: Replay) -> Findings:
        """Nothing."""
        return [], {}

    def pictures(self, replay: Replay | None) -> Iterator[Picture]:
        """None."""
        return iter(())
