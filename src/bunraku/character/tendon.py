"""Tendons: strings inside a limb that turn its joints over pulleys."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import model_validator

from bunraku.character.description import Description, Name, quantity


class Tendon(Description):
    """A tendon that runs over pulleys at some joints and is pulled with a tension: an input, from 0 to ``max_tension``.

    A tension T [N] turns coordinate i with the torque ``moment_arms[i]`` T; the moment arm [m] is the pulley's radius, positive
    when the tendon pulls towards larger values of the coordinate. It shortens by the sum of moment_arms[i] dq_i. It cannot push.
    """

    name: Name
    moment_arms: dict[Name, float] = quantity("length", min_length=1)
    max_tension: float = quantity("force", gt=0.0)

    @model_validator(mode="after")
    def _check(self) -> Tendon:
        idle = [name for name, arm in self.moment_arms.items() if arm == 0.0]
        if idle:
            raise ValueError(f"tendon {self.name}: a moment arm of 0 at {idle[0]!r} does nothing; leave it out")
        return self


def check_tendons(tendons: Iterable[Tendon], hinges: set[str], coordinates: set[str]) -> None:
    """Raise ValueError when a tendon runs over a coordinate that is not there or that slides."""
    for tendon in tendons:
        for name in tendon.moment_arms:
            if name in coordinates and name not in hinges:
                raise ValueError(f"tendon {tendon.name!r} runs over {name!r}, which slides; pulleys stand at hinges")
