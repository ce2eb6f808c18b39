"""Whether limbs touch each other, as checks: judged where bodies have shapes, and said to be unchecked where they have none."""

from __future__ import annotations

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.mechanics.collision import CollisionReport, Proximity, self_collisions
from bunraku.mechanics.tree import Tree
from bunraku.motion import Check

COLLISION_SLACK = 1e-3
"""Two bodies that collide in the wish may come this much [m] deeper in the performance."""

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
    """The least clearance over the configurations ``q`` (m, nq) at ``rate`` [Hz] against zero or against that of ``wished_q``.

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
    """The clearance of the pair of bodies that is worst against its own threshold: zero, or its depth in the wish and the slack."""
    own = {(contact.body_a, contact.body_b): contact.distance for contact in of_wish.nearest}

    def threshold_of(contact: Proximity) -> float:
        distance = own.get((contact.body_a, contact.body_b), np.inf)
        return distance - COLLISION_SLACK if distance < 0.0 else 0.0

    worst = min(report.nearest, key=lambda contact: contact.distance - threshold_of(contact))
    where = f"{worst.body_a} and {worst.body_b} at {worst.index / rate:.3f} s"
    if threshold_of(worst) < 0.0:
        where += "; they collide in the wish, and no worse is asked"
    for contact in of_wish.pairs[:5]:
        pair, depth = f"{contact.body_a} and {contact.body_b}", -1e3 * contact.distance
        notes.append(f"the wish itself lets {pair} collide, {depth:.1f} mm deep")
    for contact in report.pairs[:5]:
        pair, depth = f"{contact.body_a} and {contact.body_b}", -1e3 * contact.distance
        notes.append(f"the shapes of {pair} overlap by {depth:.1f} mm at {contact.index / rate:.3f} s")
    return Check(NAME, worst.distance, "m", threshold_of(worst), at_least=True, note=where)
