"""Elastic solids: materials, finite elements, damping, interfaces, rest under load, vibration modes."""
