"""Materials from measurements: Young's modulus, damping and servo delay of a part from the recorded motion of a marker."""
