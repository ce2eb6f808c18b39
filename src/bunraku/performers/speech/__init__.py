"""Gestures that stay in time with the voice under joint limits."""
