"""The demos of the small characters: a pendulum stands on its cart, one Newton step does most of the work, an arm waves."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bunraku.assets.examples import Demo
from bunraku.cli.demo_tail import finish, leading, timed

if TYPE_CHECKING:
    from bunraku.motion import Check, Performance


def run(name: str, example: Demo, folder: Path | None) -> tuple[dict[str, Any], int]:
    """Perform, verify, disturb, and what each of them is there to show."""
    from bunraku.cli.console import say, watching
    from bunraku.formats.registry import read_character, read_clip
    from bunraku.performers.performer import make_performer
    from bunraku.verification.promises import return_promises
    from bunraku.verification.stability import returns
    from bunraku.verification.verify import verify

    character, clip = read_character(example.character), read_clip(example.clip)
    with watching() as monitor:
        result, solve_s = timed(make_performer(example.performer, example.options), character, clip, monitor)
        verdict = verify(result, monitor=monitor)
        back = returns(result, monitor=monitor)
        own, promises, words = OWN[name](result)
    certificate, seen = result.certificate.figures, verdict.figures
    strung: dict[str, float] = {key: seen[key] for key in ("constraint_residual_m", "minimum_tension_n") if key in seen}
    figures: dict[str, Any] = {
        **leading(name, result, solve_s, verdict),
        "iterations": int(certificate["iterations"]),
        "cost_initial": certificate["initial cost"],
        "cost_final": certificate["final cost"],
        **own,
        **strung,
        "imitation_rms_m": seen["imitation_rms_m"],
        "replay_rms_m": seen.get("replay_rms_m"),
        "open_loop_replay_rms_m": seen.get("open_loop_replay_rms_m"),
        "returned_fraction": back.fraction,
    }
    say(f"{result.clip_name}: {words}; solved {result.duration:.1f} s of motion in {solve_s:.2f} s")
    return figures, finish(result, verdict, (*promises, *return_promises(back)), folder)


def _standing(result: Performance) -> tuple[dict[str, Any], tuple[Check, ...], str]:
    from bunraku.verification.promises import standing_promises

    checks = standing_promises(result.motion, "theta", math.pi)
    standing, end = checks[0].value, checks[1].value
    words = f"the pendulum stands for {standing:.2f} s and hangs {math.degrees(end):.2f} degrees off at the end"
    return {"standing_s": standing, "angle_at_end_rad": end}, checks, words


def _first_step(result: Performance) -> tuple[dict[str, Any], tuple[Check, ...], str]:
    from bunraku.performers.marionette.actuated import state_problem
    from bunraku.performers.marionette.first_step import first_newton_step
    from bunraku.verification.promises import first_step_promises

    found = first_newton_step(state_problem(result.character, result.wish, rate=result.rate))
    own = {"cost_first_iterate": found.first, "first_iterate_ratio": found.ratio, "newton_order": found.solution.exponent}
    words = f"one Newton step from hanging still comes to {found.ratio:.3f} times the cost of the optimum"
    return own, first_step_promises(found.ratio, found.solution.exponent), words


def _straight(result: Performance) -> tuple[dict[str, Any], tuple[Check, ...], str]:
    from bunraku.mechanics.systems.conditioning import point_condition, step_condition
    from bunraku.verification.promises import passing_promises
    from bunraku.verification.strings.plan import plan_of

    plan = plan_of(result)
    step, hand = step_condition(plan.system, plan.q).max(), point_condition(plan.system, "hand", plan.q).max()
    checks = passing_promises(result.motion, "elbow")
    own = {"straight_arm_passed": int(checks[0].value), "condition_step_max": float(step), "condition_hand_max": float(hand)}
    words = (
        f"{own['straight_arm_passed']} times through the straight arm, where the condition number of the hand's Jacobian rises to "
        f"{hand:.2g} and that of a step's matrix stays below {step:.2g}"
    )
    return own, checks, words


OWN = {"cart-pendulum": _standing, "double-pendulum": _first_step, "puppet-arm": _straight}
"""What each has to show: its figures, its promises, and a sentence."""
