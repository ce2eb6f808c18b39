"""Faces of a surface that pass through each other."""
