"""What a gait's certificate promises, computed again from the file: measures of servos, travel, the forces of the ground."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from bunraku.mechanics.measures.motion import measure_motion
from bunraku.mechanics.measures.travelled import Wished, travel_checks
from bunraku.motion import Check, Performance
from bunraku.rhythm.timing import timing_checks
from bunraku.verification.agreement import own_word
from bunraku.verification.ground.forces import force_residual
from bunraku.verification.ground.plan import STANDS, GroundPlan

DYNAMICS = 0.03
"""The ground may fail to give this part of the weight [RMS over the motion]: plans of the built-in robots leave 0 to 0.003."""

SAMPLES = 200
"""The forces of the ground are computed at about so many samples."""

ELSEWHERE = {
    "largest residual": "dynamics residual",
    "peak torque": "planned torque on the motor's line",
    "self-collision clearance": "self-collision clearance",
}
"""Promises of plans, and the checks that answer for them from the motion."""


def recomputed_promises(
    performance: Performance,
    plan: GroundPlan,
    judged: Sequence[Check],
    dynamics: float = DYNAMICS,
    *,
    near: float = STANDS,
    words: bool = True,
) -> list[Check]:
    """The promises that ``judged`` does not speak of yet, and those of the certificate that the file does not tell.

    ``dynamics``: the part of the weight that the ground may fail to give to what is ``near`` [m] it. Without ``words`` the latter
    are left out.
    """
    known = {check.name for check in judged}
    checks = [check for check in _servo_measures(performance) if check.name not in known]
    checks += travel_checks(_displacement(plan), Wished.of(performance.certificate.figures))
    checks.append(_dynamics_check(plan, dynamics, near))
    known |= {check.name for check in checks}
    return [*checks, *(own_words(performance, known) if words else [])]


def own_words(performance: Performance, judged: Collection[str], elsewhere: Mapping[str, str] = ELSEWHERE) -> list[Check]:
    """The promises of the certificate that no check of those names, nor one that stands for it ``elsewhere``, has judged."""
    promises = [check for check in performance.certificate.checks if check.state in ("holds", "broken")]
    return [own_word(check) for check in promises if check.name not in judged and elsewhere.get(check.name) not in judged]


def _servo_measures(performance: Performance) -> tuple[Check, ...]:
    """The common measures of what is sent places."""
    positions = performance.motion.chosen([channel.name for channel in performance.channels if channel.kind == "position"])
    measured = measure_motion(performance.character, performance.wish, positions)
    return (*measured.checks, *timing_checks(performance.wish, positions, performance.words))


def _displacement(plan: GroundPlan) -> tuple[float, float, float]:
    """How far the centre of mass goes (x, y) [m], and the base turns [rad]: of a cycle, or of all that does not repeat."""
    end = min(plan.period, plan.duration) if plan.repeats else plan.duration
    x, y, turn = (float(np.interp(end, plan.times, part) - part[0]) for part in (plan.com[:, 0], plan.com[:, 1], plan.yaw))
    return x, y, turn


def _dynamics_check(plan: GroundPlan, threshold: float, near: float) -> Check:
    """How much of the forces that the motion takes the ground cannot give."""
    if not plan.tree.mass.sum() > 0.0:
        return Check.not_checked("dynamics residual", "add the masses of its bodies to the character")
    if len(plan.q) < 6:
        return Check.not_applicable("dynamics residual", "there are too few samples to tell accelerations")
    left = force_residual(plan, max(1, len(plan.q) // SAMPLES), near)
    worst = int(np.argmax(left.share))
    note = f"what the ground cannot give of the motion's forces; most, {left.share[worst]:.2g}, at {left.times[worst]:.3f} s"
    return Check("dynamics residual", float(np.sqrt((left.share**2).mean())), "of the weight, RMS", threshold, note=note)
