"""What a record cannot tell, and where the model does not fit it, in sentences."""

from __future__ import annotations

import numpy as np

from bunraku.mechanics.identification.intervals import Estimate, Uncertainty
from bunraku.mechanics.identification.record import MarkerRecord
from bunraku.mechanics.identification.vibration import DecayingOscillation
from bunraku.optimization.solution import Status


def find_remarks(
    record: MarkerRecord,
    seen: DecayingOscillation,
    young: Estimate,
    damping: Estimate,
    delay: Estimate | None,
    sure: Uncertainty,
    explained: float,
    status: Status,
) -> tuple[str, ...]:
    """Warnings about a fit; none when everything is well determined."""
    said = []
    if not status.good:
        said.append(f"the fit did not end well: {status.sentence}")
    if explained < 0.95:
        share = f"{100 * max(explained, 0.0):.0f} %"
        said.append(f"the model explains only {share} of the marker's motion; check the command, the part and the marker's place")
    if not young.half_width <= 0.05 * young.value:
        said.append("Young's modulus is not identifiable from this record (interval above 5 %); record more cycles after the stop")
    if not damping.half_width <= 0.5 * damping.value:
        said.append("damping is not identifiable from this record (interval above 50 %); record for longer after the motor stops")
    if delay is not None and not delay.half_width <= 1.0 / record.rate:
        said.append("the delay is not identifiable from this record (interval above one sample); record the motor's motion too")
    if delay is not None and delay.high < 0.0:
        said.append(f"the marker moves {-1e3 * delay.value:.1f} ms before its command; the clocks of record and command differ")
    if seen.cycles < 3.0:
        said.append(f"only {seen.cycles:.1f} cycles of free vibration were seen; a dozen or more are better")
    if seen.frequency > 0.35 * record.rate:
        said.append(f"{seen.frequency:.3g} Hz is near half the record's rate: it may be the mirror of a faster one; record faster")
    if sure.correlation > 3.0 / np.sqrt(record.points.size):
        rho = f"{sure.correlation:.2f}"
        said.append(f"neighbouring residuals are correlated ({rho}): the model misses something; intervals were widened for it")
    return tuple(said)
