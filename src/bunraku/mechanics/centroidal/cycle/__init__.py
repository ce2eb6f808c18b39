"""Ends and cycles of a motion over the ground."""
