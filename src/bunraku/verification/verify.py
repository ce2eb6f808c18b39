"""The verdict on a performance: are its promises true? Everything recomputed that can be, the motion replayed."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from bunraku.errors import BadInput
from bunraku.motion import Performance
from bunraku.optimization.monitor import SILENT, Monitor
from bunraku.verification.fits import bends, goes_over_ground, is_skinned
from bunraku.verification.verifier import Judge, Verdict

JUDGES: tuple[tuple[Callable[[Performance], bool], str, str], ...] = (
    (lambda performance: performance.dynamic, "verification.strings.judge", "StringJudge"),
    (bends, "verification.flexible.judge", "FlexibleJudge"),
    (is_skinned, "verification.skin.judge", "SkinJudge"),
    (goes_over_ground, "verification.ground.judge", "GroundJudge"),
    (lambda _: True, "verification.rigid.judge", "RigidJudge"),
)
"""What each room judges: the first that fits does, and is the only one imported."""


def verify(performance: Performance, *, replay: bool = True, full_order: bool = False, monitor: Monitor = SILENT) -> Verdict:
    """Judge a performance by itself: nothing is believed that can be computed again.

    Checks: motor limits at the rate of the channels; the convergence status, which only the performer knows; the certificate's
    numbers and the predicted motion against the same recomputed; its promises; and, with ``replay``, what MuJoCo made of the
    channels. A replay that cannot be made or was cancelled is a check that does not hold. What else is checked depends on the
    physics: see the ``judge.py`` of its room. ``full_order``: flexible parts also in the full elastic model.
    """
    if full_order and not bends(performance):
        raise BadInput(
            f"no part of {performance.character.name!r} bends; the full-order model is for characters with flexible parts"
        )
    return judge_of(performance, full_order=full_order).verify(replay=replay, monitor=monitor)


def judge_of(performance: Performance, *, full_order: bool = False) -> Judge[Any, Any]:
    """The judge of the physics that the performance is made of."""
    module, name = next((module, name) for fits, module, name in JUDGES if fits(performance))
    judge: Judge[Any, Any] = getattr(import_module(f"bunraku.{module}"), name)(performance, full_order=full_order)
    return judge
