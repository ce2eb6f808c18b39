"""The space-time step: the motion of the skeleton over all samples at once."""
