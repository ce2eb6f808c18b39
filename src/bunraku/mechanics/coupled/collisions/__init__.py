"""Collisions of a skin by penalty: its surface with itself, and with the bodies inside it."""
