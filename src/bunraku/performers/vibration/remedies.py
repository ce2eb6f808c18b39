"""What helps where a performance of flexible parts is not proven: finer splines, gentler motors, slower, smaller."""

from __future__ import annotations

from collections.abc import Iterator

from bunraku.motion.excerpt import at_tempo
from bunraku.performers.remedy import LEAST, Attempted, Remedies, Remedy, sized

FINER = 40.0
"""Control points in a second, where a performance is made with fewer."""

ITERATIONS = 3
"""Times as many iterations where the cost had not settled."""

GENTLER = 100.0
"""Times the weight of motor accelerations."""

PACES = (0.8, LEAST)
"""Shares of the pace of a motion that keeps no time with a voice."""

SIZES = (0.85, LEAST)
"""Shares of the size."""

VIBRATES = ("peak error", "RMS error", "tracked error", "error of", "promised suppression", "suppression")
"""What finer splines mend."""

FORCED = ("torque", "peak torque", "rms torque", "velocity", "acceleration", "worst limit", "winding", "tracking", "replay")
"""What gentler motors mend."""


class FlexibleRemedies(Remedies):
    """Those of characters with parts that bend."""

    add_up = True

    def against(self, attempt: Attempted) -> list[Remedy]:
        """What the solver can do first; a slower and a smaller wish last."""
        remedies: list[Remedy] = []
        if not attempt.performance.certificate.status.settled:
            most = ITERATIONS * int(attempt.asked.get("max_iterations", 20))
            remedies.append(Remedy(f"up to {most} iterations (--max-iterations {most})", "iterations", {"max_iterations": most}))
        if attempt.is_against(*VIBRATES):
            remedies += _finer(attempt)
        if attempt.is_against(*FORCED):
            weight = GENTLER * float(attempt.asked.get("acceleration_weight", 1e-9))
            if weight <= 1.0:
                words = f"gentler motors (--acceleration-weight {weight:g})"
                remedies.append(Remedy(words, "acceleration", {"acceleration_weight": weight}))
        if attempt.clip.joints is not None:
            remedies += [*_slower(attempt), *(sized(attempt, size) for size in SIZES)]
        return remedies

    def lesser(self, attempt: Attempted, share: float) -> Remedy | None:
        """The motion at that share of its size."""
        return None if attempt.clip.joints is None else sized(attempt, share)


def _finer(attempt: Attempted) -> Iterator[Remedy]:
    points = round(FINER * attempt.performance.duration)
    asked = int(attempt.options.get("points", 0))
    if not asked or asked < points:
        yield Remedy(f"{points} control points (--points {points})", "points", {"points": points})


def _slower(attempt: Attempted) -> Iterator[Remedy]:
    played = attempt.wish.duration / max(attempt.clip.duration, 1e-9)
    for pace in PACES if attempt.wish.audio is None else ():
        if pace < played - 1e-3:
            yield Remedy(f"played at {100 * pace:.0f} % of its pace", "pace", clip=at_tempo(attempt.clip, pace / played))


REMEDIES = FlexibleRemedies()
