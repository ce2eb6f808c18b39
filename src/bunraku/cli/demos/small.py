"""The demos of the small characters: a pendulum stands on its cart, one Newton step does most of the work, an arm waves."""

from __future__ import annotations

import math
from collections.abc import Callable

from bunraku.cli.demos.marionette import WARM
from bunraku.cli.demos.runner import Addition, DemoTake, Figures, Kind, picked
from bunraku.motion import Check, Performance
from bunraku.verification.promises import first_step_promises, passing_promises, return_promises, standing_promises
from bunraku.verification.stability import returns

Shown = tuple[Figures, tuple[Check, ...], str]


def add(take: DemoTake) -> Addition:
    """Disturbed starts, and what each of them is there to show."""
    result, seen, certified = take.performance, take.verdict.figures, take.performance.certificate.figures
    back = returns(result, monitor=take.monitor)
    own, promises, words = OWN[take.name](result)
    figures: Figures = {
        "iterations": int(certified["iterations"]),
        "cost_initial": certified["initial cost"],
        "cost_final": certified["final cost"],
        **own,
        **{key: seen[key] for key in ("constraint_residual_m", "minimum_tension_n") if key in seen},
        **picked(seen, "imitation_rms_m", "replay_rms_m", "open_loop_replay_rms_m"),
        "returned_fraction": back.fraction,
    }
    sentence = f"{result.clip_name}: {words}; solved {result.duration:.1f} s of motion in {take.solve_s:.2f} s"
    return Addition(figures, sentence, (*promises, *return_promises(back)))


def _standing(result: Performance) -> Shown:
    checks = standing_promises(result.motion, "theta", math.pi)
    standing, end = checks[0].value, checks[1].value
    words = f"the pendulum stands for {standing:.2f} s and hangs {math.degrees(end):.2f} degrees off at the end"
    return {"standing_s": standing, "angle_at_end_rad": end}, checks, words


def _first_step(result: Performance) -> Shown:
    from bunraku.performers.marionette.actuated import state_problem
    from bunraku.performers.marionette.first_step import first_newton_step

    step = first_newton_step(state_problem(result.character, result.wish_or_plan(), rate=result.rate))
    order = step.solution.exponent
    own = {"cost_first_iterate": step.first, "first_iterate_ratio": step.ratio, "newton_order": order}
    words = f"one Newton step from hanging still comes to {step.ratio:.3f} times the cost of the optimum"
    return own, first_step_promises(step.ratio, order), words


def _straight(result: Performance) -> Shown:
    from bunraku.mechanics.systems.conditioning import point_condition, step_condition
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


OWN: dict[str, Callable[[Performance], Shown]] = {
    "cart-pendulum": _standing,
    "double-pendulum": _first_step,
    "puppet-arm": _straight,
}
"""What each has to show: its figures, its promises, and a sentence."""

KIND = Kind(add, warm=WARM)
