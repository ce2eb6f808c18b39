"""What a performance of a skinned character promises, measured on its frames: limits, contact, pressure, steps, agreement."""

from __future__ import annotations

import numpy as np

from bunraku.motion import Certificate, Check
from bunraku.optimization.solution import Status
from bunraku.performers.certify import certify
from bunraku.performers.performer import Uncertified
from bunraku.performers.skin.alternate import AGREEMENT, Alternated
from bunraku.performers.skin.measures import measure

CLEARANCE, SLIP = 0.005, 0.005
"""How high [m] every swing lifts its sole, and how far [m] a sole may slip while it carries."""

SUPPORT = 0.01
"""How far the mean support of a motion may be from weight and momentum gained. What touches inside gains and loses none, so that
only steps which the skin could not take whole show here; otherwise it is below 0.001."""

PRESSURE = 1e-6
"""How far [m] the centre of pressure may lie outside the polygon: rounding."""


def certificate_of(solution: Alternated, played: Uncertified) -> Certificate:
    """The certificate of the last pass."""
    last, model, h = solution.passes[-1], solution.puppet.model, solution.puppet.h
    seen = measure(model, last.tracked, h)
    status = _status(solution)
    walked = last.tracked.com[-1] - last.tracked.com[0]
    seconds = h * len(last.tracked.records)
    swings = bool((~last.tracked.stands).any())
    checks = [
        Check("peak torque", seen.torque_use, "of the torque-speed line", 1.0 + 1e-9),
        Check("pressure outside the polygon", seen.cop_violation, "m", PRESSURE),
        Check("frames whose contact is not Coulomb's", float(sum(not r.check.ok for r in last.tracked.records)), "", 0.0),
        Check("frames that gave up a limit", float(sum(not r.rows_ok for r in last.tracked.records)), "", 0.0),
        Check("plan and frames apart", np.degrees(last.gap), "deg RMS", float(np.degrees(AGREEMENT))),
        Check("support against weight", seen.support_error, "of the weight", SUPPORT),
        Check("glue drift", seen.glue_drift, "m", 1e-6),
    ]
    if swings:
        checks += [
            Check("foot clearance", seen.clearance, "m", CLEARANCE, at_least=True),
            Check("slip of a sole", seen.slip, "m", SLIP),
        ]
    figures = {
        "skin_vertices": float(model.solid.nodes),
        "glue_vertices": float(len(model.glue)),
        "joints": float(len(model.driven)),
        "mass_kg": model.total_mass,
        "frames": float(len(last.tracked.records)),
        "max_torque_nm": seen.torque,
        "torque_limit_nm": float(max(motor.stall_torque or 0.0 for motor in model.character.motors)),
        "cop_violation_m": seen.cop_violation,
        "complementarity_residual": seen.complementarity,
        "speed_m_s": float(np.hypot(walked[0], walked[1]) / seconds),
        "distance_m": float(np.hypot(walked[0], walked[1])),
        "foot_clearance_m": seen.clearance,
        "slip_per_step_m": seen.slip,
        "alternations": float(solution.tried),
        "agreement_deg": float(np.degrees(last.gap)),
        "support_force_error": seen.support_error,
        "shifted_frames": float(seen.shifted),
        "samples": float(last.plan.problem.samples),
        "plan_residual": last.plan.residual,
        "plan_iterations": float(last.plan.iterations),
    }
    notes = list(solution.notes) + (
        [] if solution.agreed else [f"plan and frames still differ by {np.degrees(last.gap):.2f} deg after {solution.tried} passes"]
    )
    if last.tracked.failed:
        notes.append(f"the frames ended early, {last.tracked.failed}")
    if not last.plan.status.good:
        notes.append(f"the plan ended {last.plan.status.value}: residual {last.plan.residual:.2g}")
    return certify(model.character, played.wish, played.positions, status=status, checks=checks, notes=notes, figures=figures)


def solve_times(solution: Alternated) -> dict[str, float]:
    """CPU seconds: of a frame and its contact (medians), of the first plan. They differ from run to run, so no file holds them."""
    records = solution.passes[-1].tracked.records
    return {
        "frame_s": float(np.median([record.seconds for record in records])),
        "contact_s": float(np.median([record.contact_seconds for record in records])),
        "spacetime_s": solution.passes[0].plan_seconds,
    }


def _status(solution: Alternated) -> Status:
    last = solution.passes[-1]
    if solution.cancelled:
        return Status.CANCELLED
    if last.tracked.failed:
        return Status.STALLED
    return Status.CONVERGED if solution.agreed else Status.MAX_ITERATIONS
