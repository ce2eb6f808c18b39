"""Dynamics of trees with strings, loops, springs and forces: values and derivatives."""
