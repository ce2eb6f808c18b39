"""Weights of the objective of the space-time step."""

from __future__ import annotations

from dataclasses import dataclass, replace

REFERENCE = 50.0


@dataclass(frozen=True, kw_only=True)
class SpacetimeWeights:
    """Weights of squares, summed over a motion of 50 intervals; other numbers of them are scaled to keep their integrals.

    ``torque`` of motors, as shares of the weight times the height of the centre of mass at home; ``smooth`` of second differences
    of q [1/rad²]; ``com`` of the centre of mass forward and up, ``com_sideways`` across [1/m²]; ``feet`` of the soles' places
    [1/m²]; ``level`` of |R a - z|², how far a sole at or near the ground is from flat; ``follow`` of q from the motion to follow
    [1/rad²]; ``force`` and ``force_rate`` of the ground's forces, as shares of the weight, and of their differences; torques of
    the ground count as forces at the radius of the sole.
    """

    torque: float = 0.4
    smooth: float = 0.5
    com: float = 100.0
    com_sideways: float = 2.0
    feet: float = 5000.0
    level: float = 1e3
    follow: float = 1.0
    force: float = 0.2
    force_rate: float = 2.0

    def at(self, intervals: int) -> SpacetimeWeights:
        """The weights of a sum over so many intervals."""
        n = intervals / REFERENCE
        return SpacetimeWeights(
            torque=self.torque / n,
            smooth=self.smooth * n**3,
            com=self.com / n,
            com_sideways=self.com_sideways / n,
            feet=self.feet / n,
            level=self.level / n,
            follow=self.follow / n,
            force=self.force / n,
            force_rate=self.force_rate * n,
        )

    def leaning(self, growth: float) -> SpacetimeWeights:
        """The same with the weight of the motion to follow grown by a factor, as after each pass over the frames."""
        return replace(self, follow=self.follow * growth)


WEIGHTS = SpacetimeWeights()
