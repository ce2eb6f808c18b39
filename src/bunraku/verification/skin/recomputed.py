"""What the certificate of a skinned character promises, computed again with rigid bodies that carry the skin."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bunraku.motion import Check, Performance
from bunraku.verification.ground.plan import SWINGS, GroundPlan
from bunraku.verification.ground.recomputed import ELSEWHERE, own_words, recomputed_promises
from bunraku.verification.ground.slide import planned_slides

DYNAMICS = 0.05
"""The ground may fail to give rigid bodies this part of the weight [RMS]: flesh gives way, which they do not."""

SOFT = 0.002
"""A sole that is this near [m] the ground presses on it: it is soft, and sags by about a millimetre."""

LIFT, SLIP = 0.005, 0.005
"""How high [m] every swing lifts its sole, and how far [m] a sole may slide while it stands."""

STANDS_FOR = ELSEWHERE | {
    "pressure outside the polygon": "dynamics residual",
    "frames whose contact is not Coulomb's": "dynamics residual",
    "support against weight": "dynamics residual",
}
"""Promises of frames and the checks that answer for them: forces inside cones at the soles are pressure inside the polygon."""


def skin_promises(performance: Performance, plan: GroundPlan, judged: Sequence[Check]) -> list[Check]:
    """The promises that ``judged`` does not speak of yet, and those of the certificate that the file does not tell."""
    checks = recomputed_promises(performance, plan, judged, DYNAMICS, near=SOFT, words=False)
    slides, tips = planned_slides(plan).sum(axis=0), plan.character.end_effectors
    worst = int(slides.argmax())
    checks.append(Check("slip of a sole", float(slides[worst]), "m", SLIP, note=f"{tips[worst].name}, all its stances together"))
    lifts = [(float(plan.clearance[span, j].max()), tips[j].name) for j in range(len(tips)) for span in _swings(plan, j)]
    if lifts:
        least, name = min(lifts)
        checks.append(Check("foot clearance", least, "m", LIFT, at_least=True, note=name))
    known = {check.name for check in (*judged, *checks)}
    return [*checks, *own_words(performance, known, STANDS_FOR)]


def _swings(plan: GroundPlan, j: int) -> list[np.ndarray]:
    """The samples of each swing of an end effector."""
    where = np.flatnonzero(plan.clearance[:, j] > SWINGS)
    return [span for span in np.split(where, np.flatnonzero(np.diff(where) > 1) + 1) if len(span)]
