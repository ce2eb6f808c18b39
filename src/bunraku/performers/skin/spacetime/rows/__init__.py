"""Rows of a plan on soles."""
