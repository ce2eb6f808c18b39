"""Compiled loops of the module above."""
