"""The steps of a redesign, whoever asks: the family of a character, its first motion, improving some of its dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bunraku.building.character_design import character_design
from bunraku.building.components.dimensions import dimensions
from bunraku.building.design import Design
from bunraku.building.robot_design import built_in_design
from bunraku.building.robots.builtin import ROBOTS
from bunraku.character import Character
from bunraku.design.automatic import Energy, Improvement, Misses, MotionFunction, Objective, improve
from bunraku.design.features import joint_torque
from bunraku.design.study import Study, Variant
from bunraku.errors import BadInput
from bunraku.formats.registry import read_character
from bunraku.optimization.monitor import SILENT, Monitor

AIMS = ("energy", "target", "torque")
"""What a design can improve by itself: the energy of the motion, how near it comes to its targets, the torque of the joints."""


def family_of(source: str | Character) -> Design:
    """The design of a built-in robot, of a character, or of one in a file: its dimensions as parameters."""
    if isinstance(source, Character):
        return dimensions(source)
    return built_in_design(source) if source in ROBOTS else character_design(read_character(source))


def chosen_names(study: Study, asked: Sequence[str]) -> list[str]:
    """The full names of some parameters of a study; of all of them if none are named."""
    return [study.design.names[study.index(name)] for name in asked] or list(study.design.names)


def first_variant(
    study: Study, parameters: NDArray[np.float64] | None = None, *, monitor: Monitor = SILENT
) -> tuple[Study, Variant, Variant | None]:
    """The motion of the design as it is, or with ``parameters`` (k,).

    Where there is none, the softened study with what comes nearest, and what was refused.
    """
    begun = study.design.initial if parameters is None else parameters
    variant = study.solve(begun, monitor=monitor)
    if variant.solution.status.good:
        return study, variant, None
    soft = study.softened()
    return soft, soft.solve(begun, monitor=monitor), variant


def objective_of(aim: str) -> Objective:
    """What is improved, by name."""
    if aim not in AIMS:
        raise BadInput(f"a design improves one of {', '.join(AIMS)}; {aim!r} arrived")
    if aim == "target":
        return Misses()
    return Energy() if aim == "energy" else MotionFunction(joint_torque)


def improved(
    study: Study, family: Design, begun: Variant, aim: str, free: Sequence[str], *, steps: int = 10, monitor: Monitor = SILENT
) -> tuple[Study, Variant, Improvement]:
    """The design with the ``free`` parameters improved, the others as they are; hard rows again where they can be met."""
    now = tuple(replace(one, value=float(value)) for one, value in zip(family.parameters, begun.parameters, strict=True))
    whole = Design(family.name, now, family.make)
    part = replace(study, design=whole.only(*free))
    place = [family.index(name) for name in free]
    start = replace(begun, parameters=begun.parameters[place])
    improvement = improve(part, objective_of(aim), start, steps=steps, radius=0.05 if aim == "target" else 0.02, monitor=monitor)
    p = begun.parameters.copy()
    p[place] = improvement.variant.parameters
    if study.soft:
        hard = replace(study, soft=False).solve(p, start=improvement.variant.motion, monitor=monitor)
        if hard.solution.status.good:
            return replace(study, soft=False), hard, improvement
    return study, replace(improvement.variant, parameters=p), improvement
