"""Surfaces known by the lengths of their edges alone."""
