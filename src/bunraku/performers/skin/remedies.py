"""What helps where a skinned character is not proven: pressure farther inside the soles, bent legs, other footfalls, less speed."""

from __future__ import annotations

from collections.abc import Iterator

from bunraku.performers.remedy import Attempted, Remedies, Remedy, at_speed, slower_gaits

INSIDE = 2.0
"""Times the margin within the soles."""

LOWER = 0.01
"""How much lower [m] the legs bend."""

FINER = 1.5
"""Times as many samples of the plan."""

TIPPED = ("fell", "pressure outside", "slip", "replays completed", "replay", "velocity error", "distance error", "foot slip")
"""What a wider margin mends."""

WEAK = ("peak torque", "torque", "rms torque", "frames that gave up", "velocity", "winding")
"""What other times of footfalls mend."""

LOW = ("foot clearance", "planned swings", "frames that gave up", "distance error")
"""What bent legs mend."""


class SkinRemedies(Remedies):
    """Those of skinned characters that walk."""

    def against(self, attempt: Attempted) -> list[Remedy]:
        """What keeps the wish first, less speed last."""
        options, asked = attempt.options, attempt.asked
        remedies: list[Remedy] = []
        margin = INSIDE * float(asked.get("margin", 0.005))
        if attempt.is_against(*TIPPED) and margin > float(options.get("margin", 0.005)):
            words = f"pressure at least {1000 * margin:g} mm inside the soles (--margin {margin:g})"
            remedies.append(Remedy(words, "margin", {"margin": margin}))
        crouch = float(asked.get("crouch", 0.0)) + LOWER
        if attempt.is_against(*LOW) and crouch > float(options.get("crouch", 0.0)):
            remedies.append(Remedy(f"{1000 * crouch:g} mm lower than at home (--crouch {crouch:g})", "crouch", {"crouch": crouch}))
        if attempt.is_against(*WEAK) and not options.get("retime", False):
            remedies.append(Remedy("footfalls moved in time where motors are too weak (--retime)", "footfalls", {"retime": True}))
        return [*remedies, *_finer(attempt), *slower_gaits(attempt)]

    def lesser(self, attempt: Attempted, share: float) -> Remedy | None:
        """The same gait at that share of its speed and turn."""
        return at_speed(attempt, share)


def _finer(attempt: Attempted) -> Iterator[Remedy]:
    planned = attempt.performance.certificate.figures.get("samples", 0.0)
    if planned and int(attempt.options.get("samples", 0)) == int(attempt.asked.get("samples", 0)):
        samples = 2 * round(FINER * planned / 2.0)
        yield Remedy(f"planned with {samples} samples (--samples {samples})", "samples", {"samples": samples})


REMEDIES = SkinRemedies()
