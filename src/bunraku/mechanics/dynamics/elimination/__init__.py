"""Gaussian elimination of small dense matrices."""
