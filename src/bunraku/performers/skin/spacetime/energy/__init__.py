"""The energy of a plan on soles."""
