"""Condensation of a large sparse positive definite matrix onto a few unknowns: fixed pattern, new numbers every frame."""
