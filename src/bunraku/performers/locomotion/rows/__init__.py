"""Rows of one sample: dynamics, contact, limits."""
