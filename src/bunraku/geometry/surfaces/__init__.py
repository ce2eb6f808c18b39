"""Closed triangle surfaces: checked, repaired, sampled and contracted to a line."""
