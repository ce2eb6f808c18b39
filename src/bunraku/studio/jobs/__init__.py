"""Computations of the studio, in a process of their own."""
