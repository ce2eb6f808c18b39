"""Flexible segments: parts of a tree that bend, in modal coordinates, with exact inertia and quadratic strains."""
