"""Where motors are too weak for a motion: why, in a sentence, and the least change of its footfalls' times that spares them.

The paper's trot fails when its mass is doubled. Legs that stand for a short time between flights push hard: with the soles on the
ground for the time s of a step and in the air for f, the mean load while they stand is (s + f) / s weights. Flights are shortened
first, at the same speed; where that does not help the motion is slowed down.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.gait.retiming import flights, grounded, slower
from bunraku.mechanics.measures.statics import GRAVITY
from bunraku.motion import Clip
from bunraku.performers.skin.spacetime.plan import SpacetimePlan

SPARE = 0.98
"""The share of the torque it has at its speed that a motor may need in a plan: frames need the rest to follow it."""

WAYS = ((0.0, 1.0), (0.5, 1.0), (1.0, 1.0), (1.0, 1.15), (1.0, 1.3), (1.0, 1.5), (1.0, 2.0))
"""What is tried, in this order: by which share flights are shorter, how many times longer all of it takes."""


@dataclass(frozen=True)
class Retimed:
    """The ``clip`` to perform, what was done to it (a pair of `WAYS`), why (empty: nothing had to be), whether that helped.

    ``flew``: whether the clip had flights.
    """

    clip: Clip
    way: tuple[float, float]
    why: str
    helped: bool
    flew: bool

    @property
    def sentence(self) -> str:
        """What was found and done."""
        if not self.why:
            return "the motors can make its footfalls as they are"
        share, factor = self.way
        shorter = [f"flights {100.0 * share:.0f} % shorter"] if self.flew and share > 0.0 else []
        done = ", ".join(shorter + ([f"all of it {factor:g} times slower"] if factor > 1.0 else []))
        return f"{self.why}; {done} {'spares the motors' if self.helped else 'does not help enough'}"


def torque_use(character: Character, plan: SpacetimePlan) -> Array:
    """The share (T, na) of what each motor has at its speed that a plan needs; 1: on the torque-speed line."""
    names = list(plan.problem.model.names)
    columns = [names.index(motor.coordinate) for motor in character.motors]
    step = plan.problem.step
    speed = np.gradient(plan.q[:, columns], step, axis=0)
    torque = plan.torque[:, columns]
    stall = np.array([(motor.stall_torque or np.inf) * motor.torque_fraction for motor in character.motors])
    free = np.array([motor.no_load_speed or np.inf for motor in character.motors])
    there = stall * np.clip(1.0 - np.maximum(0.0, np.sign(torque) * speed) / free, 1e-3, 1.0)
    return np.asarray(np.abs(torque) / there)


def diagnosis(character: Character, plan: SpacetimePlan) -> str:
    """Which motor is asked most, when, and what the feet push meanwhile: a sentence."""
    use = torque_use(character, plan)
    when, which = (int(k) for k in np.unravel_index(int(use.argmax()), use.shape))
    weight = GRAVITY * plan.problem.model.mass
    stands = plan.problem.contacts.astype(bool)
    push = plan.force[:, :, 2].sum(axis=1) / weight
    ended = "" if plan.status.good else f"the plan ended {plan.status.value} and "
    air = float((~stands.any(axis=1)).mean())
    flying = f"; in the air for {100.0 * air:.0f} % of the time, its feet push {push.max():.1f} weights at the most" if air else ""
    return (
        f"{ended}{character.motors[which].name} needs {100.0 * use.max():.0f} % of its torque at {plan.times[when]:.2f} s, "
        f"with {int(stands[when].sum())} feet on the ground{flying}"
    )


def retime(character: Character, clip: Clip, planned: Callable[[Clip], SpacetimePlan]) -> Retimed:
    """The first of `WAYS` to time the clip's footfalls that spares the motors of a ``character``; ``planned`` plans a clip.

    The last that was tried, and said not to have helped, if none does.
    """
    why, tried = "", (clip, WAYS[0])
    feet = [tip.name for tip in character.end_effectors]
    flew = clip.gait is not None and bool(flights(clip.gait, feet))
    for share, factor in WAYS:
        gait = clip.gait
        if gait is None or (share > 0.0 and factor == 1.0 and not flights(gait, feet)):
            continue
        changed = replace(clip, gait=grounded(gait, feet, share)) if share > 0.0 else clip
        changed = slower(changed, factor) if factor > 1.0 else changed
        plan = planned(changed)
        if plan.status.good and float(torque_use(character, plan).max()) <= SPARE:
            return Retimed(changed, (share, factor), why, True, flew)
        why, tried = why or diagnosis(character, plan), (changed, (share, factor))
    return Retimed(*tried, why, False, flew)
