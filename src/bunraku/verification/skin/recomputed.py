"""What the certificate of a skinned character promises, computed again with rigid bodies that carry the skin."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bunraku.motion import Check, Performance
from bunraku.verification.ground.plan import SWINGS, GroundPlan
from bunraku.verification.ground.recomputed import ELSEWHERE, own_words, recomputed_promises

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
    tips = plan.character.end_effectors
    farthest, name = max(((_farthest(plan, j), tip.name) for j, tip in enumerate(tips)), default=(0.0, ""))
    checks.append(Check("slip of a sole", farthest, "m", SLIP, note=f"{name}, in one stance"))
    swings = [(j, span) for j in range(len(tips)) for span in _runs(plan.clearance[:, j] > SWINGS)]
    lifts = [(float(plan.clearance[span, j].max()), tips[j].name) for j, span in swings]
    if lifts:
        least, name = min(lifts)
        checks.append(Check("foot clearance", least, "m", LIFT, at_least=True, note=name))
    known = {check.name for check in (*judged, *checks)}
    return [*checks, *own_words(performance, known, STANDS_FOR)]


def _farthest(plan: GroundPlan, j: int) -> float:
    """How far [m] an end effector that stands is from where it came to stand, seen from above, at most."""
    places = plan.tip_center[:, j, :2]
    ways = [float(np.linalg.norm(places[span] - places[span[0]], axis=1).max()) for span in _runs(plan.standing[:, j])]
    return max(ways, default=0.0)


def _runs(flags: NDArray[np.bool_]) -> list[NDArray[np.int64]]:
    """The samples of each run in which a flag is set."""
    where = np.flatnonzero(flags)
    return [span for span in np.split(where, np.flatnonzero(np.diff(where) > 1) + 1) if len(span)]
