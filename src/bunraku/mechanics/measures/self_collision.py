"""Whether limbs touch each other, as checks: judged where bodies have shapes, and said to be unchecked where they have none."""

from __future__ import annotations

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.mechanics.collision import CollisionReport, self_collisions
from bunraku.mechanics.tree import Tree
from bunraku.motion import Check

COLLISION_SLACK = 1e-3
"""Two bodies may overlap by this much [m]: shapes are no more exact than that."""

NAME = "self-collision clearance"

_LISTED = 6


def self_collision_checks(
    character: Character,
    tree: Tree,
    q: Array,
    wished_q: Array | None,
    rate: float,
    notes: list[str],
    figures: dict[str, float],
) -> tuple[Check, ...]:
    """The least clearance over the configurations ``q`` (m, nq) at ``rate`` [Hz]; that of ``wished_q`` is told.

    Bodies without a shape that collides are named. ``notes`` and ``figures`` are added to.
    """
    report = self_collisions(character, tree, q)
    notes += report.notes
    checks = []
    if report.nearest:
        of_wish = CollisionReport(np.inf, (), (), (), ()) if wished_q is None else self_collisions(character, tree, wished_q)
        checks.append(clearance_of(report, of_wish, rate, notes))
        figures["self_collision_clearance_m"] = report.least_distance
    return (*checks, *unwatched_check(report))


def unwatched_check(report: CollisionReport) -> tuple[Check, ...]:
    """That bodies without shapes were not judged; that there is nothing to judge; nothing where all bodies were watched."""
    if report.shapeless:
        listed = ", ".join(report.shapeless[:_LISTED])
        more = f" and {len(report.shapeless) - _LISTED} more" if len(report.shapeless) > _LISTED else ""
        missing = f"give primitive shapes that collide to {listed}{more} (meshes are not judged)"
        return (Check.not_checked(f"{NAME} of bodies without shapes" if report.nearest else NAME, missing),)
    return () if report.nearest else (Check.not_applicable(NAME, "no two of its bodies can touch"),)


def clearance_of(report: CollisionReport, of_wish: CollisionReport, rate: float, notes: list[str]) -> Check:
    """The clearance of the pair of bodies that comes nearest, against zero and the slack; what collides in the wish is noted.

    Whoever wished it, a collision breaks a limb. Pairs whose shapes overlap at home are not in the reports.
    """
    worst = min(report.nearest, key=lambda contact: contact.distance)
    where = f"{worst.body_a} and {worst.body_b} at {worst.index / rate:.3f} s"
    if worst.distance < 0.0 and (worst.body_a, worst.body_b) in {(contact.body_a, contact.body_b) for contact in of_wish.pairs}:
        where += "; they collide in the wish too"
    for contact in of_wish.pairs[:5]:
        pair, depth = f"{contact.body_a} and {contact.body_b}", -1e3 * contact.distance
        notes.append(f"the wish itself lets {pair} collide, {depth:.1f} mm deep")
    for contact in report.pairs[:5]:
        pair, depth = f"{contact.body_a} and {contact.body_b}", -1e3 * contact.distance
        notes.append(f"the shapes of {pair} overlap by {depth:.1f} mm at {contact.index / rate:.3f} s")
    return Check(NAME, worst.distance, "m", -COLLISION_SLACK, at_least=True, note=where)
