"""Second derivatives of places, for curvatures of energies."""
