"""Tracking under limits on position, velocity, acceleration and jerk, one joint at a time."""
