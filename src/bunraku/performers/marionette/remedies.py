"""What helps where a puppet's performance is not proven: more iterations, tauter strings, more time to begin, slower, smaller."""

from __future__ import annotations

from collections.abc import Iterator

from bunraku.performers.remedy import LEAST, Attempted, Remedies, Remedy, sized

ITERATIONS = 3
"""Times as many iterations where the cost had not settled."""

TAUTER = 3.0
"""Times the least tension of every string."""

BLEND = 2.0
"""Times the time to come from hanging into the clip."""

PACES = (0.8, LEAST)
"""Shares of the pace."""

SIZES = (0.85, LEAST)
"""Shares of the size."""

MOST_TENSION = 10.0
"""No string is asked for more [N] by a remedy."""

SLACK = ("least tension", "slack", "string", "replay", "largest replay error", "velocity error")
"""What tauter strings mend."""


class PuppetRemedies(Remedies):
    """Those of puppets and of machines that physics moves."""

    add_up = True

    def against(self, attempt: Attempted) -> list[Remedy]:
        """More iterations first, which cost nothing of the wish; a smaller wish last."""
        remedies: list[Remedy] = []
        if not attempt.performance.certificate.status.settled:
            remedies += _longer(attempt)
        if attempt.character.strings:
            if attempt.is_against(*SLACK):
                remedies += _tauter(attempt)
            remedies += _later(attempt)
        return [*remedies, *_slower(attempt), *_smaller(attempt)]

    def lesser(self, attempt: Attempted, share: float) -> Remedy | None:
        """The motion at that share of its size."""
        return sized(attempt, share) if attempt.clip.joints is not None else None


def _longer(attempt: Attempted) -> Iterator[Remedy]:
    most = ITERATIONS * int(attempt.asked.get("max_iterations", 100))
    if most > int(attempt.options.get("max_iterations", 100)):
        yield Remedy(f"up to {most} iterations (--max-iterations {most})", "iterations", {"max_iterations": most})


def _tauter(attempt: Attempted) -> Iterator[Remedy]:
    tension = min(TAUTER * float(attempt.asked.get("tension_margin", 0.1)), MOST_TENSION)
    if tension > float(attempt.options.get("tension_margin", 0.1)):
        yield Remedy(
            f"every string at least {tension:g} N taut (--tension-margin {tension:g})", "tension", {"tension_margin": tension}
        )


def _later(attempt: Attempted) -> Iterator[Remedy]:
    blend = max(BLEND * float(attempt.asked.get("blend", 1.2)), 1.0)
    if blend > float(attempt.options.get("blend", 1.2)):
        yield Remedy(f"{blend:g} s to come into the clip (--blend {blend:g})", "blend", {"blend": blend})


def _slower(attempt: Attempted) -> Iterator[Remedy]:
    asked = float(attempt.asked.get("tempo", 1.0))
    for pace in PACES:
        if pace * asked < float(attempt.options.get("tempo", 1.0)) - 1e-9:
            tempo = round(pace * asked, 3)
            yield Remedy(f"played at {100 * pace:.0f} % of its pace (--tempo {tempo:g})", "pace", {"tempo": tempo})


def _smaller(attempt: Attempted) -> Iterator[Remedy]:
    if attempt.clip.joints is not None:
        yield from (sized(attempt, size) for size in SIZES)


REMEDIES = PuppetRemedies()
