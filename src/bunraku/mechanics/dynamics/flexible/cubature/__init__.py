"""The Neo-Hookean energy of flexible segments, summed over weighted points."""
