"""Replays of a performance in worlds drawn at random, judged one by one as the fixed worlds are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from bunraku.errors import BadInput
from bunraku.motion import Check, Performance
from bunraku.optimization.monitor import SILENT, Monitor
from bunraku.verification.many import replay_many
from bunraku.verification.trials.outcome import Trial, Trials, trial_of
from bunraku.verification.trials.spread import DrawnWorld, Spread, draw_worlds, most_play
from bunraku.verification.verifier import Judge, Verdict
from bunraku.verification.worlds import FRICTIONS

ONLY_RIGID = "trials are for robots on servos: gestures, gaits and skins"


def with_trials(
    verdict: Verdict,
    count: int,
    seed: int = 0,
    *,
    least: float | None = None,
    threads: int | None = None,
    monitor: Monitor = SILENT,
) -> Verdict:
    """The verdict with the share of ``count`` drawn worlds in which its performance holds; ``least``: what is asked for."""
    seen = run_trials(verdict.judge, count, seed, threads=threads, monitor=monitor)
    if seen is None and least is not None:
        raise BadInput(f"a share of trials was asked for, and {ONLY_RIGID}; leave out --share, or --trials too")
    if seen is None:
        missing = Check.not_checked("trials that hold", ONLY_RIGID)
        return replace(verdict, checks=(*verdict.checks, missing))
    more = seen.checks(least)
    if len(seen.trials) < count:
        more.append(Check("trials completed", len(seen.trials), f"of {count} trials", count, at_least=True, note="cancelled"))
    holds = verdict.holds and not any(check.stands_against for check in more)
    figures = verdict.figures | seen.figures | {"verified": float(holds)}
    return replace(verdict, holds=holds, checks=(*verdict.checks, *more), figures=figures, trials=seen)


def run_trials(
    judge: Judge[Any, Any], count: int, seed: int = 0, *, spread: Spread | None = None, threads: int | None = None,
    monitor: Monitor = SILENT,
) -> Trials | None:  # fmt: skip
    """The trials of a judge's performance, on ``threads`` threads (None: one for each core); None for what has no servos to vary.

    Fewer than ``count`` when the monitor cancels.
    """
    spread = Spread() if spread is None else spread
    from bunraku.verification.rigid.judge import RigidJudge

    if isinstance(judge, RigidJudge):
        made = _rigid(judge, count, seed, spread, threads, monitor)
    else:
        from bunraku.verification.ground.judge import ContactJudge

        if not isinstance(judge, ContactJudge):
            return None
        made = _ground(judge, count, seed, spread, threads, monitor)
    return Trials(seed, made)


def _ground(judge: Any, count: int, seed: int, spread: Spread, threads: int | None, monitor: Monitor) -> tuple[Trial, ...]:
    from bunraku.verification.ground.replay import plan_model, replay_plan
    from bunraku.verification.ground.replays import GroundReplays
    from bunraku.verification.servos.bank import ServoBank

    plan = judge.plan
    bank = ServoBank.of(plan.character)
    model = plan_model(plan, replace(bank, backlash=most_play(bank, spread)))
    friction = max([*FRICTIONS, plan.friction or 0.0])
    drawn = draw_worlds(plan.character, count, seed, duration=plan.duration, rate=plan.rate, friction=friction, spread=spread)
    of = {draw.world.name: draw for draw in drawn}

    def one(world: Any) -> Trial:
        replayed = replay_plan(plan, world, model=model)
        checks, figures = judge.judge(GroundReplays((replayed,), replayed.complete))
        return trial_of(of[world.name], checks, figures, replayed.coordinates)

    return replay_many(one, [draw.world for draw in drawn], threads=threads, monitor=monitor)


def _rigid(judge: Any, count: int, seed: int, spread: Spread, threads: int | None, monitor: Monitor) -> tuple[Trial, ...]:
    from bunraku.verification.rigid.replay import model_for, play
    from bunraku.verification.rigid.replays import RigidReplays
    from bunraku.verification.servos.bank import ServoBank

    performance: Performance = judge.performance
    character, bank = performance.character, ServoBank.of(performance.character)
    slides = {axis.name for axis in character.axes if axis.kind == "slide"}
    rigid = [0.0 if name in slides else 1.0 for name in bank.coordinates]
    model = model_for(performance, servos=replace(bank, backlash=most_play(bank, spread) * rigid))
    drawn = draw_worlds(character, count, seed, duration=performance.duration, rate=performance.rate, friction=None, spread=spread)
    of: dict[str, DrawnWorld] = {draw.world.name: draw for draw in drawn}

    def one(world: Any) -> Trial:
        replayed = play(performance, model, world)
        checks, figures = judge.judge(RigidReplays((replayed,), replayed.complete))
        return trial_of(of[world.name], checks, figures, replayed.motion)

    return replay_many(one, [draw.world for draw in drawn], threads=threads, monitor=monitor)
