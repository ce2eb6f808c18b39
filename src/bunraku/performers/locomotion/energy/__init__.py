"""The energy of a motion, its gradient and Gauss-Newton blocks."""
