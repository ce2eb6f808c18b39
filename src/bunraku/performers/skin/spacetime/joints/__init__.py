"""Limits and torques of the joints of a plan on soles."""
