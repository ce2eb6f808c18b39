"""Closed triangle surfaces: checked, repaired, sampled, contracted to a line and hollowed."""
