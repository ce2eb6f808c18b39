"""Whether the limbs of a character touch: signed distances of primitive shapes over a motion."""

from bunraku.mechanics.collision.collision import CollisionReport, Proximity, self_collisions, shape_distance

__all__ = ["CollisionReport", "Proximity", "self_collisions", "shape_distance"]
