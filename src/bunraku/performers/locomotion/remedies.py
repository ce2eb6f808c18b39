"""What helps where a gait is not proven: finer plans, shorter cycles, stated gains, higher swings, less speed, other footfalls.

Most plans that replays do not follow leave the support for too long (`tipping`): errors then grow like cosh(t / sqrt(h / g)).
Shorter cycles at the same speed cure that without costing any of the wish. Servos whose gains nobody states are replayed at half
and twice a guess; on a robot whose gains are set, which is then assumed, the plan needs to hold near those alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from bunraku.character import Motor
from bunraku.gait.pace import with_cycles
from bunraku.mechanics.servos.gains import servo_gains
from bunraku.motion import Gait
from bunraku.performers.locomotion.tipping import LONGEST
from bunraku.performers.remedy import Attempted, Remedies, Remedy, at_speed, slower_gaits

FINER = (1.5, 2.0)
"""Times as many samples as the plan had."""

SHORTEST = 0.4
"""Cycles are made shorter by no more than to this share."""

HIGHER = 1.5
"""Times the height of swings."""

LOADED = 2.0
"""Times the least force on feet that stand."""

ITERATIONS = 3
"""Times as many iterations where the plan was not finished."""

PLANNED = ("planned slip", "planned depth", "foot slip", "planned clearance")
"""What more samples mend."""

REPLAYED = ("velocity error", "distance error", "fell", "replays completed", "torque saturation", "rms torque", "winding", "trials")
"""What replays find broken."""

UNFINISHED = ("status", "largest residual", "missed", "wandered", "strayed")
"""What more iterations or an easier wish mend."""

CRAWL_FROM = ("trot", "pace", "bound", "best")
"""Patterns in whose place feet may go one after the other."""


class GaitRemedies(Remedies):
    """Those of walking, rolling and skating."""

    def against(self, attempt: Attempted) -> list[Remedy]:
        """From what costs nothing of the wish to less of it."""
        gait = attempt.clip.gait
        if gait is None:
            return []
        remedies: list[Remedy] = []
        if attempt.is_against(*UNFINISHED) and not attempt.performance.certificate.status.settled:
            most = int(attempt.options.get("max_iterations", 1000))
            if most == int(attempt.asked.get("max_iterations", 1000)):
                remedies.append(
                    Remedy(f"up to {ITERATIONS * most} iterations", "iterations", {"max_iterations": ITERATIONS * most})
                )
        if attempt.is_against(*PLANNED):
            remedies += _finer(attempt)
        if attempt.is_against(*REPLAYED):
            remedies += [*_quicker(attempt, gait), *_stated(attempt), *_higher(attempt, gait)]
            if not attempt.is_against(*PLANNED):
                remedies += list(_finer(attempt))[:1]
            remedies += _loaded(attempt)
        remedies += [*slower_gaits(attempt), *_crawling(attempt, gait)]
        return remedies

    def lesser(self, attempt: Attempted, share: float) -> Remedy | None:
        """The same gait at that share of its speed and turn."""
        return at_speed(attempt, share)


def _finer(attempt: Attempted) -> Iterator[Remedy]:
    """More samples of the plan."""
    first = attempt.performance.certificate.figures.get("samples", 0.0)
    used = float(attempt.options.get("samples", 0)) or first
    for times in FINER:
        samples = 2 * round(times * first / 2.0)
        if first and samples > used and not attempt.options.get("samples", 0) > attempt.asked.get("samples", 0):
            yield Remedy(f"planned with {samples} samples (--samples {samples})", "samples", {"samples": samples})


def _quicker(attempt: Attempted, gait: Gait) -> Iterator[Remedy]:
    """Shorter cycles at the same speed, where the centre of mass leaves the support for too long."""
    longest = attempt.performance.certificate.figures.get("tipping_time", 0.0)
    if not gait.periodic or longest <= LONGEST or gait.pattern == "roll":
        return
    wished = attempt.wish.gait or gait
    share = max(LONGEST / longest, SHORTEST * wished.duration / gait.duration)
    if share < 0.95:
        yield Remedy(
            f"cycles of {share * gait.duration:.2g} s instead of {wished.duration:.2g} s, at the same speed", "cycle",
            clip=attempt.clip.changed(gait=with_cycles(gait, share)),
        )  # fmt: skip


def _stated(attempt: Attempted) -> Iterator[Remedy]:
    """The gains that the servos are taken to have, stated: who plays it sets them."""
    gains = servo_gains(attempt.character)
    servos = zip(gains.names, gains.stiffness, gains.damping, gains.stated | gains.wheel, strict=True)
    table = {name: (float(f"{kp:.3g}"), float(f"{kv:.3g}")) for name, kp, kv, known in servos if not known}
    if not table:
        return

    def set_to(motor: Motor) -> Motor:
        stated: Motor = motor.changed(stiffness=table[motor.name][0], damping=table[motor.name][1])
        return stated

    motors = tuple(set_to(motor) if motor.name in table else motor for motor in attempt.character.motors)
    kp, kv = ([pair[k] for pair in table.values()] for k in (0, 1))
    words = f"assumes servo gains kp = {_span(kp)} N·m/rad and kv = {_span(kv)} N·m·s/rad, which must be set on the robot"
    yield Remedy(words, "gains", character=attempt.character.changed(motors=motors))


def _higher(attempt: Attempted, gait: Gait) -> Iterator[Remedy]:
    """Higher swings, so that a body that sags does not stumble."""
    wished = attempt.wish.gait or gait
    if gait.pattern != "roll" and gait.swing_height <= wished.swing_height:
        height = HIGHER * gait.swing_height
        clip = attempt.clip.changed(gait=gait.changed(swing_height=height))
        yield Remedy(f"swings of {1000 * height:.0f} mm instead of {1000 * wished.swing_height:.0f} mm", "swings", clip=clip)


def _loaded(attempt: Attempted) -> Iterator[Remedy]:
    """More force on feet that stand."""
    force = float(attempt.options.get("least_force", 0.5))
    if force == float(attempt.asked.get("least_force", 0.5)) and force > 0.0:
        yield Remedy(f"at least {LOADED * force:g} N on feet that stand", "least force", {"least_force": LOADED * force})


def _crawling(attempt: Attempted, gait: Gait) -> Iterator[Remedy]:
    """One foot after the other, which keeps the centre of mass over the support."""
    if gait.pattern in CRAWL_FROM and len(attempt.character.end_effectors) > 3:
        clip = attempt.clip.changed(gait=gait.changed(pattern="crawl", air=None))
        yield Remedy(f"feet go one after the other (crawl) instead of {gait.pattern}", "footfalls", clip=clip)


def _span(values: list[float]) -> str:
    low, high = min(values), max(values)
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


REMEDIES = GaitRemedies()
