"""Robots on servos: a model that stands on a floor, its replay, its judge."""
