"""How much of the wished motion is in the performance.

With w the wish and x what is performed, of one joint over all samples: followed = 1 - sum (x - w)^2 / sum (w - mean w)^2. It is 1
for the wish itself, 0 for a joint that stands at its mean, and 0 for what does something else. A gesture made half as large has
1 - 0.5^2 = 0.75. Of several joints both sums are added, so that a joint counts by how far it was to move.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bunraku.arrays import Array
from bunraku.mechanics.measures.shaking import FAST
from bunraku.motion import Check

FOLLOWED = 0.7
"""At least this share of the wished motion is performed: a little less than the 0.75 of a wish made half as large, the most
that performers compress by themselves. Clips and captured motion on the built-in robots have 0.86 to 1."""

JOINT_FOLLOWED = 0.25
"""A single joint that carries a good part of the motion may have this little: better than if it stood still at its mean (0)."""

GOOD_PART = 0.1
"""A joint carries a good part of the motion when this share of its energy, sum (w - mean w)^2, is its own."""

ALMOST_STILL = 1e-3
"""Wishes whose RMS about their mean [rad or m] is below this have no motion to follow."""

STILL = 1e-2
"""And of these everything that moves by more than this (RMS about its mean, rad or m) is something else."""


def share_followed(values: Array, wished: Array) -> float:
    """The share of the ``wished`` (n, k) motion that ``values`` (n, k) follow; 1 where the wish stands still."""
    own = float(((wished - wished.mean(axis=0)) ** 2).sum())
    still = own <= wished.size * ALMOST_STILL**2
    return 1.0 if still else max(0.0, 1.0 - float(((values - wished) ** 2).sum()) / own)


def share_moved(places: Array, wished: Array, rate: float) -> float:
    """The share of the ``wished`` (n, k) motion that is in ``places``, by their speeds as far as people move on purpose.

    With v and u their velocities below `FAST`: sum v u / sum u^2, from 0 to 1. Displacements would hardly tell whether a hand that
    was lifted waves. 1 where the wish stands still.
    """
    if len(wished) < 3 or float(((wished - wished.mean(axis=0)) ** 2).sum()) <= wished.size * ALMOST_STILL**2:
        return 1.0
    n = len(wished) - 1
    velocities = (np.diff(values, axis=0) for values in (places, wished))
    slow = np.arange(n + 1) * rate / (2.0 * n) <= FAST
    v, u = (np.fft.rfft(np.concatenate([speed, speed[::-1]]), axis=0)[slow] for speed in velocities)
    v[0] *= 0.5  # the others stand for two frequencies each
    own = float((np.abs(u[1:]) ** 2).sum() + 0.5 * (np.abs(u[0]) ** 2).sum())
    return float(np.clip((v * u.conj()).real.sum() / own, 0.0, 1.0)) if own > 0.0 else 1.0


def followed_checks(names: Sequence[str], values: Array, wished: Array, home: Array, suffix: str = "") -> tuple[Check, ...]:
    """The share of the ``wished`` (n, k) motion that ``values`` (n, k) follow, of all joints and of the worst.

    Of a wish that stands still it is the share of the way from ``home`` (k,) to its pose.
    """
    about = wished - wished.mean(axis=0)
    own, off = (about**2).sum(axis=0), ((values - wished) ** 2).sum(axis=0)
    name = f"motion followed{suffix}"
    if not own.size or np.sqrt(own.max(initial=0.0) / max(len(wished), 1)) < ALMOST_STILL:
        return (_pose_check(name, names, values, wished, home),)
    total = max(0.0, 1.0 - float(off.sum() / own.sum()))
    weighty = own >= GOOD_PART * own.sum()
    shares = np.where(weighty, np.maximum(0.0, 1.0 - off / np.where(own > 0.0, own, 1.0)), np.inf)
    worst = int(np.argmin(shares))
    note = f"worst: {names[worst]}, {100.0 * shares[worst]:.0f} %" if np.isfinite(shares[worst]) else ""
    checks = [Check(name, total, "of the wish", FOLLOWED, at_least=True, note=note)]
    if np.isfinite(shares[worst]):
        joint = float(shares[worst])
        checks.append(
            Check(
                f"motion followed by the worst joint{suffix}",
                joint,
                "of its wish",
                JOINT_FOLLOWED,
                at_least=True,
                note=names[worst],
            )
        )
    return tuple(checks)


def _pose_check(name: str, names: Sequence[str], values: Array, wished: Array, home: Array) -> Check:
    """How much of the way from home to a pose that stands still is gone, and that nothing moves there."""
    if not wished.size:
        return Check.not_applicable(name, "nothing is wished")
    off, way = (np.sqrt((part**2).mean(axis=0)) for part in (values - wished, wished - home))
    moved = values.std(axis=0)
    if moved.max() > STILL:
        note = f"the wish stands still, and {names[int(np.argmax(moved))]} does not"
        return Check(name, 0.0, "of the wish", FOLLOWED, at_least=True, note=note)
    if max(way.max(), off.max()) <= STILL:
        return Check.not_applicable(name, "the wish stands still, at home")
    share = max(0.0, 1.0 - float((off**2).sum() / max((way**2).sum(), STILL**2)))
    note = f"of the way to a pose that is held; worst: {names[int(np.argmax(off))]}"
    return Check(name, share, "of the wish", FOLLOWED, at_least=True, note=note)
