"""Eight numbers side by side in compiled kernels."""
